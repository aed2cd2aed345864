"""Pages of `ckptsim explain` about slots and the mutants that take them."""

from __future__ import annotations

from ckptsim.sim.answers.columns import aligned
from ckptsim.sim.cli.pages.topics import Page
from ckptsim.sim.mutants.registry import MUTANTS
from ckptsim.sim.slots import SLOTS
from ckptsim.sim.slots.protocols import used

HOW = (
    "--core SLOT=package.module:factory puts a core of yours into a slot: see docs/slots.md.\n"
    "--mutant NAME puts a faulty one of ours in (`ckptsim explain mutants`)."
)


def slots_page() -> Page:
    """Return every slot: who has it, how its factory is called, what it decides."""
    data = [
        {
            "slot": slot.name,
            "links": list(slot.links),
            "suites": list(slot.suites),
            "factory": f"{slot.takes} -> {slot.gives}",
            "ours": slot.ours,
            "whole": slot.whole,
            "must_have": {name: used(slot.protocol, name) for name in slot.offers}
            if slot.protocol
            else {},
            "says": slot.says,
        }
        for slot in SLOTS.values()
    ]
    blocks = [
        "cores, for which one of yours can stand, whatever it is made of",
        *_lines(whole=True),
        "",
        "parts of cores and of worlds, for which a subclass of ours can stand",
        *_lines(whole=False),
        "",
        HOW,
    ]
    return Page(text="\n".join(blocks), data=data)


def mutants_page() -> Page:
    """Return every mutant: its slot, and what is wrong with it."""
    data = [
        {"mutant": mutant.name, "slot": mutant.slot, "says": mutant.says}
        for mutant in MUTANTS.values()
    ]
    rows = [(mutant.name, mutant.slot, mutant.says) for mutant in MUTANTS.values()]
    return Page(text="\n".join(aligned(("mutant", "slot", "what is wrong"), rows)), data=data)


def _lines(*, whole: bool) -> list[str]:
    """Return lines per slot: what it decides, where it is, its factory, what hosts ask."""
    lines: list[str] = []
    for slot in SLOTS.values():
        if slot.whole is whole:
            lines += aligned((), [(f"  {slot.name:<20}", f"{slot.says}; {_where(slot.places)}")])
            lines += aligned((), [(" " * 22, f"{slot.takes} -> {slot.gives}")])
            if slot.protocol is not None:
                asked = (f"{name} ({used(slot.protocol, name)})" for name in slot.offers)
                lines += aligned((), [(" " * 22, f"must have {', '.join(asked)}")])
    return lines


def _where(places: tuple[str, ...]) -> str:
    return f"in {', '.join(places)}"
