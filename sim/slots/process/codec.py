"""Values as JSON and back, led by the types that dataclasses declare for their fields.

A dataclass is an object with its fields. `type` with the class's name is in it only where one of
several classes may stand, as at the top of events and effects.  A member of an enumeration is its
name, a tuple or list an array, a field of type `object` the number of what it represents: who reads
it gives it back and looks no further.  Nothing else occurs, and floats never do.

Slots with events alone are here.  The store has none (hosts call its methods and take its disk away
in the middle of one), and the parts of cores are subclasses of ours.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Any, Literal, Protocol, TypeAlias, Union, get_args, get_origin, get_type_hints

from ckptsim.models.barriers import HandlerKind
from ckptsim.models.coordinator import CoordinatorParameters
from ckptsim.models.lifecycle import TaskParameters
from ckptsim.models.ordering import OrderingParameters
from ckptsim.models.ordering.source import SourceParameters
from ckptsim.sim.slots import protocols
from ckptsim.sim.slots.protocols import members

Json: TypeAlias = Any
_PLAIN = (bool, int, str)


class Opaque(Protocol):
    """Keeps what crosses as a number."""

    def put(self, value: object) -> int:
        """Return the number of a value."""

    def get(self, number: int) -> object:
        """Return the value of a number. Raises KeyError for one that was never given out."""


class Numbered:
    """The opaque values of one core, numbered from 1 in the order in which they went out."""

    def __init__(self) -> None:
        self._values: list[object] = []

    def put(self, value: object) -> int:
        """Keep a value and return its number."""
        self._values.append(value)
        return len(self._values)

    def get(self, number: int) -> object:
        """Return the value of a number."""
        if not 1 <= number <= len(self._values):
            raise KeyError(number)
        return self._values[number - 1]


class AsNumbers:
    """The end that only ever sees the numbers."""

    def put(self, value: object) -> int:
        """Return the number that a value already is."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"found {value!r}, expected the number that was given")
        return value

    def get(self, number: int) -> object:
        """Return the number itself."""
        return number


class CodecError(ValueError):
    """JSON that is not what its place declares: the place, the value found and expected."""

    def __init__(self, place: str, found: object, expected: str) -> None:
        super().__init__(f"{place}: found {_short(found)}, expected {expected}")


Encode: TypeAlias = Callable[[Any, Opaque], Json]
Decode: TypeAlias = Callable[[Json, str, Opaque], Any]


def text_of(kind: Any) -> str:
    """Return a declared type as documents and error texts spell it."""
    if kind is object:
        return "handle"
    if kind is type(None):
        return "null"
    if _is_union(kind):
        return " or ".join(text_of(each) for each in get_args(kind))
    if get_origin(kind) is Literal:
        return " or ".join(f'"{each}"' for each in get_args(kind))
    if get_origin(kind) in (tuple, list):
        items = get_args(kind)
        if len(items) == 1 or items[-1] is Ellipsis:
            return f"array of {text_of(items[0])}"
        return f"[{', '.join(text_of(each) for each in items)}]"
    return str({int: "integer", str: "text", bool: "boolean"}.get(kind, kind.__name__))


@cache
def fields_of(kind: type) -> tuple[tuple[str, Any, bool], ...]:
    """Return the fields of a dataclass: name, type, and whether it must be there."""
    hints = get_type_hints(kind)
    missing = dataclasses.MISSING
    return tuple(
        (
            field.name,
            hints[field.name],
            field.default is missing and field.default_factory is missing,
        )
        for field in dataclasses.fields(kind)
    )


@cache
def encoder(kind: Any) -> Encode:
    """Return what makes JSON of values of a declared type."""
    if kind is object:
        return lambda value, opaque: opaque.put(value)
    if kind in _PLAIN or kind is type(None) or get_origin(kind) is Literal:
        return lambda value, _: value
    if _is_union(kind):
        return _union_encoder(get_args(kind))
    if get_origin(kind) in (tuple, list):
        return _items_encoder(get_args(kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return lambda value, _: kind(value).name
    if _is_class(kind):
        parts = [(name, encoder(of)) for name, of, _ in fields_of(kind)]
        return lambda value, opaque: {
            name: encode(getattr(value, name), opaque) for name, encode in parts
        }
    raise TypeError(f"found {kind!r}, expected a type that crosses as JSON")


def _items_encoder(items: tuple[Any, ...]) -> Encode:
    if len(items) == 1 or items[-1] is Ellipsis:
        one = encoder(items[0])
        return lambda value, opaque: [one(item, opaque) for item in value]
    each = [encoder(item) for item in items]
    return lambda value, opaque: [
        encode(item, opaque) for encode, item in zip(each, value, strict=True)
    ]


def _union_encoder(members: tuple[Any, ...]) -> Encode:
    classes: dict[Any, Encode] = {each: encoder(each) for each in members if _is_class(each)}
    others = [each for each in members if not _is_class(each) and each is not type(None)]
    other = encoder(others[0]) if others else None
    tagged = len(classes) > 1

    def encode(value: Any, opaque: Opaque) -> Json:
        if value is None:
            return None
        of = classes.get(type(value))
        if of is None and len(classes) == 1:
            (of,) = classes.values()  # what only looks like the class, such as a core's own object
        if of is None:
            if other is None:
                raise TypeError(f"found {value!r}, expected one of {', '.join(map(str, members))}")
            return other(value, opaque)
        found = of(value, opaque)
        return {"type": type(value).__name__} | found if tagged else found

    return encode


@cache
def decoder(kind: Any) -> Decode:
    """Return what makes values of a declared type of JSON. It raises CodecError."""
    if kind is object:
        return _opaque_value
    if kind in _PLAIN:
        return _plain_decoder(kind)
    if kind is type(None):
        return lambda found, place, _: _fits(found, place, found is None, "null")
    if get_origin(kind) is Literal:
        options = get_args(kind)
        return lambda found, place, _: _fits(found, place, found in options, text_of(kind))
    if _is_union(kind):
        return _union_decoder(kind)
    if get_origin(kind) in (tuple, list):
        return _items_decoder(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _enum_decoder(kind)
    if _is_class(kind):
        return _class_decoder(kind)
    raise TypeError(f"found {kind!r}, expected a type that crosses as JSON")


def _opaque_value(found: Json, place: str, opaque: Opaque) -> object:
    _fits(found, place, type(found) is int, "a handle")
    try:
        return opaque.get(found)
    except KeyError:
        raise CodecError(place, found, "a handle that came with an event") from None


def _plain_decoder(kind: type) -> Decode:
    return lambda found, place, _: _fits(found, place, type(found) is kind, text_of(kind))


def _enum_decoder(kind: type[Enum]) -> Decode:
    def decode(found: Json, place: str, _opaque: Opaque) -> Any:
        if not isinstance(found, str) or found not in kind.__members__:
            raise CodecError(place, found, f"one of {', '.join(kind.__members__)}")
        return kind[found]

    return decode


def _items_decoder(kind: Any) -> Decode:
    make, items = get_origin(kind), get_args(kind)
    same = len(items) == 1 or items[-1] is Ellipsis
    each = [decoder(item) for item in items if item is not Ellipsis]

    def decode(found: Json, place: str, opaque: Opaque) -> Any:
        _fits(found, place, isinstance(found, list), text_of(kind))
        if not same:
            _fits(found, place, len(found) == len(each), text_of(kind))
        of = each * len(found) if same else each
        return make(
            one(item, f"{place}[{at}]", opaque)
            for at, (one, item) in enumerate(zip(of, found, strict=True))
        )

    return decode


def _class_decoder(kind: type, *, tagged: bool = False) -> Decode:
    parts = [(name, decoder(of), needed) for name, of, needed in fields_of(kind)]
    known = {name for name, _, _ in parts} | ({"type"} if tagged else set())

    def decode(found: Json, place: str, opaque: Opaque) -> Any:
        _fits(found, place, isinstance(found, Mapping), f"{kind.__name__}, an object")
        strange = [name for name in found if name not in known]
        if strange:
            raise CodecError(f"{place}.{strange[0]}", found[strange[0]], f"{_names(parts)} only")
        values = {}
        for name, of, needed in parts:
            if name in found:
                values[name] = of(found[name], f"{place}.{name}", opaque)
            elif needed:
                raise CodecError(place, found, f"{kind.__name__} with {name}")
        return kind(**values)

    return decode


def _names(parts: Sequence[tuple[str, Decode, bool]]) -> str:
    return ", ".join(name for name, _, _ in parts) or "no field"


def _union_decoder(kind: Any) -> Decode:
    members = get_args(kind)
    found_classes = [each for each in members if _is_class(each)]
    tagged = len(found_classes) > 1
    classes = {each.__name__: _class_decoder(each, tagged=tagged) for each in found_classes}
    others = [(each, decoder(each)) for each in members if each not in found_classes]

    def decode(found: Json, place: str, opaque: Opaque) -> Any:
        if isinstance(found, Mapping) and classes:
            if not tagged:
                (only,) = classes.values()
                return only(found, place, opaque)
            name = found.get("type")
            if not isinstance(name, str) or name not in classes:
                raise CodecError(f"{place}.type", name, f"one of {', '.join(classes)}")
            return classes[name](found, f"{place} ({name})", opaque)
        for _, other in others:
            try:
                return other(found, place, opaque)
            except CodecError:
                continue
        raise CodecError(place, found, _union_text(kind))

    return decode


def _union_text(kind: Any) -> str:
    """Say what may stand somewhere. A long list of classes is everything that has a `type`."""
    members = get_args(kind)
    return text_of(kind) if len(members) <= 4 else 'an object with "type"'


def _fits(found: Json, place: str, ok: bool, expected: str) -> Json:  # noqa: FBT001
    if not ok:
        raise CodecError(place, found, expected)
    return found


def _is_class(kind: Any) -> bool:
    return isinstance(kind, type) and dataclasses.is_dataclass(kind)


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, types.UnionType)


def _short(found: object) -> str:
    text = repr(found)
    return text if len(text) <= 80 else f"{text[:77]}..."


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a host asks between events, and the answer's type. is_property: it is an attribute."""

    gives: Any
    takes: Mapping[str, Any] = field(default_factory=dict)
    is_property: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """One slot: the factory's arguments in order, its events, its effects, its questions."""

    slot: str
    arguments: Mapping[str, Any]
    events: Any
    effects: Any
    questions: Mapping[str, Question] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTransactions:
    """What a sink still holds: the checkpoints that pre-committed, ascending, and the open one."""

    pending: tuple[int, ...]
    open: bool


def _door(slot: str, protocol: Any, **arguments: Any) -> Door:
    """Return what crosses for a slot, all of it declared by the slot's Protocol."""
    step = get_type_hints(protocol.step)
    questions: dict[str, Question] = {}
    for name, member in members(protocol).items():
        if name == "clock":  # hosts count bytes on it. Here they are events, while it runs
            questions["clock_running"] = Question(gives=bool, is_property=True)
        elif isinstance(member, property):
            gives = get_type_hints(member.fget)["return"]
            questions[name] = Question(gives=_CROSSES.get(gives, gives), is_property=True)
        elif name != "step":
            hints = get_type_hints(member)
            gives = hints.pop("return")
            questions[name] = Question(takes=hints, gives=gives)
    return Door(
        slot=slot,
        arguments=arguments,
        events=step["event"],
        effects=get_args(step["return"])[0],
        questions=questions,
    )


# Of a type that is a Protocol itself, the dataclass that crosses.
_CROSSES: dict[Any, Any] = {protocols.HeldTransactions | None: KeptTransactions | None}

_ALL = (
    _door("ordering", protocols.OrderingDoor, parameters=OrderingParameters),
    _door("source", protocols.SourceDoor, parameters=SourceParameters),
    _door(
        "handler",
        protocols.BarrierHandler,
        kind=HandlerKind,
        channels=int,
        gates=int,
        after_finish=bool,
    ),
    _door(
        "coordinator",
        protocols.Coordinator,
        parameters=CoordinatorParameters,
        first_checkpoint=int,
        completed=tuple[int, ...],
    ),
    _door("lifecycle", protocols.Lifecycle, parameters=TaskParameters),
    _door("channel_state", protocols.ChannelStateWriter, subtasks=list[int]),
    _door("global_committer", protocols.GlobalCommitter, writers=int),
    _door("enumerator", protocols.SplitEnumerator, readers=int),
    _door("acknowledger", protocols.Acknowledger),
    _door("fence", protocols.FenceDoor),
    _door("positions", protocols.PositionsDoor),
)

DOORS: dict[str, Door] = {door.slot: door for door in _ALL}
