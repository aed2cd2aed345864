"""Events, effects and answers of cores as people read them: no Python, no nanoseconds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from typing import Any

from ckptsim.models.core import ProtocolError
from ckptsim.scenarios.dialect import SIZE_UNITS, duration_text
from ckptsim.scenarios.dialect.units import write

STORY = 8


@dataclass(frozen=True, slots=True)
class Refused:
    """A refused event. Refusals are the same, whatever their kinds."""

    kind: str = field(compare=False)

    @classmethod
    def of(cls, error: ProtocolError) -> Refused:
        """Return the refusal that a core gave."""
        return cls(str(error.kind))


Answer = tuple[Any, ...] | Refused
"""What a core gave: its effects, or `Refused` with the one kind."""


def given(core: Any, event: Any) -> Answer:
    """Return what a core answers. A refusal is an answer."""
    try:
        return tuple(core.step(event))
    except ProtocolError as error:
        return Refused.of(error)


_WORD = re.compile(r"[A-Z][a-z]*")
# Effects with such a last word state a fact. The others are commands.
_STATES_A_FACT = ("ed", "Written")
_ITEMS_MAX = 6
_EFFECTS_MAX = 4


def event_words(event: Any) -> str:
    """Return an event with its fields, such as `acknowledged (checkpoint 4, task 2)`."""
    if isinstance(event, Mapping):
        return ", ".join(f"{name} {value_words(value)}" for name, value in event.items())
    if isinstance(event, tuple):
        name, *arguments = event
        return f"{str(name).replace('_', ' ')} ({', '.join(map(value_words, arguments))})"
    return _with_fields(" ".join(_words(event)), event)


def answer_words(answer: Answer) -> str:
    """Return the effects of a step in their order, or the refusal."""
    if isinstance(answer, Refused):
        return f"refuses it ({answer.kind.replace('_', ' ')})"
    shown = [effect_words(effect) for effect in answer[:_EFFECTS_MAX]]
    left = len(answer) - len(shown)
    return ", then ".join([*shown, f"{left} more"] if left else shown) or "nothing"


def effect_words(effect: Any) -> str:
    """Return an effect as a person would tell it, such as `stores checkpoint 4`."""
    if not is_dataclass(effect):
        return f"answers {value_words(effect)}"
    verb, *rest = _words(effect)
    if type(effect).__name__.endswith(_STATES_A_FACT) and verb != "notify":
        return _with_fields(" ".join(["reports:", verb, *rest]), effect)
    return _with_fields(" ".join([_third_person(verb), *rest]), effect)


def _third_person(verb: str) -> str:
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "o")) else f"{verb}s"


def _words(thing: object) -> list[str]:
    name = type(thing).__name__
    return [word.lower() for word in _WORD.findall(name)] or [name]


def _with_fields(head: str, thing: Any) -> str:
    """Put the fields after the head. The one that it ends with becomes a part of it."""
    named: list[str] = []
    for each in fields(thing) if is_dataclass(thing) else ():
        name = each.name.removesuffix("_id").removesuffix("_ns").replace("_", " ")
        value = getattr(thing, each.name)
        text = _field(each.name, value)
        if text is None or each.name == "now_ns" or value == each.default:
            continue
        if head.endswith(f" {name}") and text:
            head = f"{head} {text}"
        else:
            named.append(f"{name} {text}".rstrip())
    return f"{head} ({', '.join(named)})" if named else head


def _field(name: str, value: object) -> str | None:
    """Return a field's value, empty where its name says all, or None where it says nothing."""
    if value is None or value is False or value == ():
        return None
    if value is True:
        return ""
    if isinstance(value, int) and name.endswith("_ns"):
        return duration_text(value)
    if isinstance(value, int) and name.endswith("bytes"):
        return write(value, SIZE_UNITS)
    return value_words(value) or None


def value_words(value: object) -> str:
    """Return a value as people read it. An empty text for one of the host's."""
    if isinstance(value, Enum):
        return value.name.lower().replace("_", " ")
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "yes", False: "no"}[value]
    if isinstance(value, int | str):
        return str(value)
    if isinstance(value, Sequence):
        shown = [value_words(item) or "one" for item in value[:_ITEMS_MAX]]
        left = len(value) - len(shown)
        return ", ".join([*shown, f"{left} more"] if left else shown) or "none"
    if is_dataclass(value):
        if type(value).__str__ is not object.__str__:
            return str(value)
        first = next((getattr(value, field.name) for field in fields(value)), None)
        name = " ".join(_words(value))
        return f"{name} {value_words(first)}" if isinstance(first, int | str) else name
    return ""
