"""Write the tables of `docs/process-cores.md`: `python -m tests.slots.process_page`."""

from __future__ import annotations

import dataclasses
import types
from enum import Enum
from pathlib import Path
from typing import Any, Union, get_args, get_origin

from ckptsim.sim.slots.process.codec import fields_of, text_of
from ckptsim.sim.slots.process.doors import DOORS, Door

PAGE = Path(__file__).parents[2] / "docs" / "process-cores.md"
MARK = "<!-- Below this line: python -m tests.slots.process_page -->\n"


def tables() -> str:
    """Return the sections of all slots, and the objects and names that stand in them."""
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
    parts.append("\n".join(["## Objects\n", *_rows("object", objects)]))
    enums = [f"| `{kind.__name__}` | {', '.join(kind.__members__)} |" for kind in _sorted(names)]
    parts.append("\n".join(["## Names\n", "| type | one of |", "| --- | --- |", *enums]))
    return "\n\n".join(parts) + "\n"


def _section(door: Door) -> list[str]:
    made = ", ".join(f"`{name}`: {text_of(kind)}" for name, kind in door.arguments.items())
    lines = [f"## Slot {door.slot}\n", f"Arguments of `make`: {made}.\n"]
    lines += [*_rows("event", list(_members(door.events))), ""]
    lines += _rows("effect", list(_members(door.effects)))
    if door.questions:
        lines += ["", "| question | arguments | answer |", "| --- | --- | --- |"]
    for name, question in door.questions.items():
        taken = ", ".join(f"`{each}`: {text_of(kind)}" for each, kind in question.takes.items())
        lines.append(f"| `{name}` | {taken or '-'} | {text_of(question.gives)} |")
    return lines


def _rows(head: str, kinds: list[type]) -> list[str]:
    lines = [f"| {head} | fields |", "| --- | --- |"]
    for kind in kinds if head != "object" else _sorted(kinds):
        parts = [
            f"`{name}`: {text_of(of)}{'' if needed or head == 'event' else ' (optional)'}"
            for name, of, needed in fields_of(kind)
        ]
        lines.append(f"| `{kind.__name__}` | {', '.join(parts) or '-'} |")
    return lines


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
