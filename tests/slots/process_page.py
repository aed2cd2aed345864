"""Write the tables of `docs/process-cores.md`: `python -m tests.slots.process_page`."""

from __future__ import annotations

import dataclasses
import re
import types
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path
from textwrap import fill
from typing import Any, Union, get_args, get_origin

from ckptsim.sim.slots.process.codec import DOORS, Door, fields_of, text_of

PAGE = Path(__file__).parents[2] / "docs" / "process-cores.md"
MARK = "<!-- Below this line: python -m tests.slots.process_page -->\n"


def tables() -> str:
    """Return the sections of all slots, and their objects and names."""
    parts = ["\n".join(_section(door)) for door in DOORS.values()]
    found: dict[type, None] = {}
    for door in DOORS.values():
        for kind in (*door.arguments.values(), *_of_questions(door)):
            _collect(kind, found)
        for each in (*_members(door.events), *_members(door.effects)):
            for _, kind, _ in fields_of(each):
                _collect(kind, found)
    objects = [kind for kind in found if dataclasses.is_dataclass(kind)]
    names = [kind for kind in found if issubclass(kind, Enum)]
    parts.append("\n".join(["## Objects\n", *_kinds(_sorted(objects))]))
    enums = [f"* `{kind.__name__}`: `{', '.join(kind.__members__)}`" for kind in _sorted(names)]
    parts.append("\n".join(["## Names\n", *enums]))
    return "\n\n".join(map(_wrapped, parts)) + "\n"


def _wrapped(part: str) -> str:
    return "\n".join(
        fill(line, 118, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)
        for line in part.splitlines()
    )


def _section(door: Door) -> list[str]:
    lines = [f"## Slot {door.slot}\n", f"Make: `{_signature('make', door.arguments)}`\n"]
    lines += ["Events:\n", *_kinds(_members(door.events), sent=True), ""]
    lines += ["Effects:\n", *_kinds(_members(door.effects))]
    if door.questions:
        lines += ["", "Questions:\n"]
    for name, question in door.questions.items():
        lines.append(f"* `{_signature(name, question.takes)} -> {_short(question.gives)}`")
    return lines


def _signature(name: str, takes: Mapping[str, Any]) -> str:
    return f"{name}({', '.join(_field(each, kind) for each, kind in takes.items())})"


def _field(name: str, kind: Any) -> str:
    return name if kind is int else f"{name}: {_short(kind)}"


def _short(kind: Any) -> str:
    """Return a type in few characters: `[X]` is an array, `X|null` may be null."""
    text = text_of(kind).replace(" or null", "|null")
    return re.sub(r"array of (\[.*\]|\w+)", r"[\1]", text)


def _kinds(kinds: Iterable[type], *, sent: bool = False) -> list[str]:
    """Return a line per class, with a question mark after fields that an answer may leave out."""
    return [
        "* `{}({})`".format(
            kind.__name__,
            ", ".join(
                _field(name if needed or sent else f"{name}?", of)
                for name, of, needed in fields_of(kind)
            ),
        )
        for kind in kinds
    ]


def _sorted(kinds: list[type]) -> list[type]:
    return sorted(kinds, key=lambda kind: kind.__name__)


def _members(union: Any) -> tuple[type, ...]:
    return get_args(union) or (union,)


def _of_questions(door: Door) -> list[Any]:
    return [
        kind
        for question in door.questions.values()
        for kind in (question.gives, *question.takes.values())
    ]


def _collect(kind: Any, found: dict[type, None]) -> None:
    if get_origin(kind) in (Union, types.UnionType, tuple, list):
        for each in get_args(kind):
            if each is not Ellipsis:
                _collect(each, found)
    elif isinstance(kind, type) and kind not in found:
        if issubclass(kind, Enum):
            found[kind] = None
        elif dataclasses.is_dataclass(kind):
            found[kind] = None
            for _, each, _ in fields_of(kind):
                _collect(each, found)


if __name__ == "__main__":
    head = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    PAGE.write_text(head + MARK + "\n" + tables(), encoding="utf-8")
