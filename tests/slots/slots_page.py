"""Write the lists of `docs/slots.md`: `python -m tests.slots.slots_page`."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any, get_args, get_type_hints

from ckptsim.sim.slots import SLOTS
from ckptsim.sim.slots.process.codec import DOORS
from ckptsim.sim.slots.protocols import members
from ckptsim.sim.slots.slot import Slot

PAGE = Path(__file__).parents[2] / "docs" / "slots.md"
BLOCK = re.compile(
    r"(<!-- (\w+): python -m tests\.slots\.slots_page -->\n).*?(<!-- end -->)", re.DOTALL
)


def written(page: str) -> str:
    """Return the page with the lists of its slots as the Protocols have them."""
    return BLOCK.sub(lambda found: f"{found[1]}{block(SLOTS[found[2]])}\n{found[3]}", page)


def block(slot: Slot) -> str:
    """Return how a core is made, its questions, and its events where no other page has them."""
    lines = [f"Factory: `make{slot.takes}`."]
    if "step" in slot.offers and slot.name not in DOORS:
        hints = get_type_hints(slot.protocol.step)  # type: ignore[union-attr]
        taken, returned = _names(hints["event"]), _names(get_args(hints["return"])[0])
        lines += [f"Events: {taken}.", f"Effects: {returned}."]
    asked = [_member(name, each) for name, each in members(slot.protocol).items() if name != "step"]  # type: ignore[arg-type]
    head = ["", "Hosts ask:" if "step" in slot.offers else "Hosts use:", ""] if asked else []
    return "\n".join([*lines, *head, *asked])


def _member(name: str, member: Any) -> str:
    """Return a member with its arguments and the sentence of its Protocol."""
    signature = ""
    if not isinstance(member, property):
        taken = [each for each in inspect.signature(member).parameters if each != "self"]
        signature = f"({', '.join(taken)})"
    says = (inspect.getdoc(member) or "").partition("\n")[0].partition(", used ")[0].rstrip(".")
    return f"* `{name}{signature}`: {says[:1].lower()}{says[1:]}."


def _names(union: Any) -> str:
    return ", ".join(f"`{kind.__name__}`" for kind in get_args(union) or (union,))


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
