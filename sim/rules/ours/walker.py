"""Draws the events of walks: of the types that a core takes, with values near the ones of the run.

A walk sends both cores events that did not come and could.  Nothing here knows a protocol.
Everything that is drawn is sent only if the host of our core may send it now, by its duties, and
our core takes it. So a user's core is asked for nothing that no host asks.

Half of the events repeat one of the run with another value or two, the others are of any type.  A
value is one that a field of the same name had lately, in an event, an effect or an argument of the
core's factory, or one beside it.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from ckptsim.sim.kernel import Stream
from ckptsim.sim.rules.duties import DUTIES, Duties

# How many values and events are remembered, how often a value is one beside those, and how often an
# event is tried again that may not come. assumptions.
_VALUES = 12
_EVENTS = 48
_BESIDE_EVERY = 6
_TRIES = 24
_ABSENT = object()


class Memory:
    """What the fields of events and effects were lately, by their names. Oldest first."""

    def __init__(self) -> None:
        self._values: dict[str, deque[Any]] = {}
        self._events: deque[Any] = deque(maxlen=_EVENTS)

    def event(self, event: Any) -> None:
        """Remember an event, and the values of its fields."""
        self._events.append(event)
        self.values(event)

    def values(self, thing: Any) -> None:
        """Remember the values of the fields of an effect or of any other value."""
        if is_dataclass(thing):
            for field in fields(thing):
                self.value(field.name, getattr(thing, field.name))

    def value(self, name: str, value: Any) -> None:
        """Remember the value of a field. Of several things each, and of a number all below."""
        known = self._values.setdefault(_plain(name), deque(maxlen=_VALUES))
        if not any(value is one or (type(value) is type(one) and value == one) for one in known):
            known.append(value)
        self.values(value)
        if isinstance(value, tuple | list):
            for item in value[:_VALUES]:
                self.value(name.removesuffix("s"), item)
        elif type(value) is int and name.endswith("s") and not name.endswith("ns"):
            for item in range(min(value, _VALUES)):
                self.value(name.removesuffix("s"), item)

    def copied(self) -> Memory:
        """Return another one that remembers the same."""
        other = Memory()
        other._values = {name: known.copy() for name, known in self._values.items()}
        other._events = self._events.copy()
        return other

    def lately(self, name: str, kinds: tuple[type, ...], stream: Stream) -> Any:
        """Return a value of these types that a field of that name had, rather a late one."""
        known = [one for one in self._values.get(_plain(name), ()) if isinstance(one, kinds)]
        if not known:
            return _ABSENT
        return known[max(stream.integer(0, len(known) - 1) for _ in range(2))]

    def template(self, stream: Stream) -> Any:
        """Return an event that came, or None."""
        return stream.choice(self._events) if self._events else None


class Walker:
    """Draws events of the given types for one core, as a host that does its duty sends them."""

    def __init__(self, slot: str, events: Any, memory: Memory, stream: Stream) -> None:
        self.memory = memory
        self.now_ns = 0
        self._types = _alternatives(events)
        self._stream = stream
        self._duties: Duties | None = DUTIES[slot]() if slot in DUTIES else None

    def take(self, now_ns: int, event: Any, effects: tuple[Any, ...]) -> bool:
        """Take an event that came and what our core answered. False where none could come."""
        self.now_ns = now_ns
        if self._duties is not None:
            if self._duties.event(now_ns, event) is not None:
                return False
            self._duties.effects(now_ns, effects)
        self.memory.event(event)
        for effect in effects:
            self.memory.values(effect)
        return True

    def copied(self) -> Walker:
        """Return a walker that goes another way from here."""
        other = copy.copy(self)
        other.memory = self.memory.copied()
        duties = self._duties
        other._duties = duties and duties.copied()  # noqa: SLF001 - of the same class
        return other

    def drawn(self) -> Iterator[tuple[int, Any]]:
        """Yield events that a host may send now, each with its instant."""
        for _ in range(_TRIES):
            now_ns = self._later()
            event = self._event(now_ns)
            duties = None if self._duties is None else self._duties.copied()
            if duties is None or duties.event(now_ns, event) is None:
                yield now_ns, event

    def _later(self) -> int:
        """Return the instant of the next event: mostly this one, or when a timer runs out."""
        if not self._stream.chance(1 / 3):
            return self.now_ns
        due = None if self._duties is None else self._duties.next_due_ns
        if due is not None and due >= self.now_ns and not self._stream.chance(1 / 4):
            return due
        delay = self.memory.lately("delay_ns", (int,), self._stream)
        step = 1_000_000 if delay is _ABSENT else max(1, delay // self._stream.integer(1, 4))
        later: int = self.now_ns + step
        return later if due is None else max(self.now_ns, min(later, due))

    def _event(self, now_ns: int) -> Any:
        template = None if self._stream.chance(1 / 2) else self.memory.template(self._stream)
        if template is not None:
            event, names = template, [each.name for each in fields(template)]
            for _ in range(self._stream.integer(0, 2) if names else 0):
                name = self._stream.choice(names)
                hint = _hints(template.__class__)[name]
                event = replace(event, **{name: self._value(name, hint)})
        else:
            event = self._made(self._stream.choice(self._types))
        return replace(event, now_ns=now_ns) if hasattr(event, "now_ns") else event

    def _made(self, kind: type) -> Any:
        hints = _hints(kind)
        return kind(**{each.name: self._field(each, hints[each.name]) for each in fields(kind)})

    def _field(self, field: Field[Any], hint: Any) -> Any:
        if field.default is not MISSING and self._stream.chance(1 / 3):
            return field.default
        return self._value(field.name, hint)

    def _value(self, name: str, hint: Any) -> Any:
        kinds = _alternatives(hint)
        plain = tuple(get_origin(kind) or kind for kind in kinds if kind is not Any)
        found = self.memory.lately(name, plain or (object,), self._stream)
        if found is _ABSENT or self._stream.chance(1 / _BESIDE_EVERY):
            return self._beside(name, self._stream.choice(kinds), found)
        return found

    def _beside(self, name: str, kind: Any, found: Any) -> Any:
        stream = self._stream
        if kind is int:
            least = found if type(found) is int else 1
            return max(0, least + stream.integer(-1, 1))
        if kind is bool:
            return bool(stream.integer(0, 1))
        if isinstance(kind, type) and issubclass(kind, Enum):
            return stream.choice(list(kind))
        if isinstance(kind, type) and is_dataclass(kind):
            if found is _ABSENT or not isinstance(found, kind):
                return self._made(kind)
            each = stream.choice(fields(kind))
            return replace(found, **{each.name: self._value(each.name, _hints(kind)[each.name])})
        if get_origin(kind) is tuple:
            return self._several(name, get_args(kind))
        if found is not _ABSENT:
            return found
        return stream.choice("abc") if kind is str else None

    def _several(self, name: str, kinds: tuple[Any, ...]) -> tuple[Any, ...]:
        one = name.removesuffix("s")
        if kinds[1:] == (Ellipsis,):
            count = self._stream.integer(0, 3)
            items = [self._value(one, kinds[0]) for _ in range(count)]
            return tuple(item for at, item in enumerate(items) if item not in items[:at])
        return tuple(self._value(one, kind) for kind in kinds)


def events_of(core: Any) -> Any:
    """Return the types of the events of a core of ours, or None for one without `step`."""
    step = getattr(type(core), "step", None)
    if step is None:
        return None
    hints = get_type_hints(step)
    hints.pop("return", None)
    return next(iter(hints.values()), None)


def _plain(name: str) -> str:
    return name.removesuffix("_id")


@cache
def _hints(kind: Any) -> Mapping[str, Any]:
    return get_type_hints(kind)


@cache
def _alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if isinstance(hint, UnionType) or get_origin(hint) is Union else (hint,)
