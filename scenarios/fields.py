"""Helpers that declare a parameter: one field, one default, its unit, bounds, meaning and origin.

A table of parameters is a frozen dataclass with fields from these helpers:

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Timer:
        interval_ns: int = duration_ns(
            "1 s", minimum="1 ms", says="time between two flushes", source="assumption"
        )

Names carry their unit (`_ns`, `_bytes`, `_per_s`, `_bytes_per_s`), qualifiers follow
(`latency_ns_max`).  A default of REQUIRED makes the key mandatory. Of None (with `optional=True`)
makes it absent unless given.  `says` is one clause without a full stop.  `source` is where default
and meaning come from: `Source: system, version, place`, or `assumption` with its reason.

`limits` says where a parameter means nothing, as `ckptsim.scenarios.limits` writes it.  A table
may say so for all its parameters by a class attribute `LIMITS`, and where they come from by
`SOURCE`.  What a parameter says of its own takes their place.

A dataclass may have `problems(self) -> list[Problem]` for what must hold between its values, with
paths relative to itself, such as `Problem("edges[1].upstream", '"x"', "the name of a task")`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, get_args

from ckptsim.scenarios.dialect import (
    METADATA_KEY,
    Choice,
    Flag,
    Kind,
    Limits,
    Many,
    Nested,
    OneOf,
    Parameter,
    Real,
    Text,
    Whole,
    schema,
    snake_case,
    units,
)

REQUIRED: Any = dataclasses.MISSING

_YEAR_NS = 365 * units.DURATION_UNITS["d"]
_LARGEST_COUNT = 10**12
_LARGEST_SIZE = 1 << 50
NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9_.\-]*"


class Planned:
    """A fault: what strikes, where and when is the choice of anyone who plans it."""

    __slots__ = ()
    SOURCE = "assumption: part of the fault plan"


def kinds_of(union: object) -> dict[str, type]:
    """Return the tables of a closed union by their kinds: `CrashAt` is `crash_at` in a file."""
    return {snake_case(one.__name__): one for one in get_args(union)}


def duration_ns(
    default: int | str | None,
    *,
    says: str,
    source: str = "",
    minimum: int | str = 0,
    maximum: int | str = _YEAR_NS,
    optional: bool = False,
    limits: Limits | None = None,
) -> Any:
    """Declare a duration or an instant in nanoseconds. Bounds may be texts such as `"1 ms"`."""
    kind = duration(minimum=minimum, maximum=maximum, optional=optional)
    return _field(kind, _base(default, units.DURATION_UNITS), says, source, limits)


def size_bytes(
    default: int | str | None,
    *,
    says: str,
    source: str = "",
    minimum: int | str = 0,
    maximum: int | str = _LARGEST_SIZE,
    optional: bool = False,
    limits: Limits | None = None,
) -> Any:
    """Declare a size in bytes. Bounds may be texts such as `"32 KiB"`."""
    kind = size(minimum=minimum, maximum=maximum, optional=optional)
    return _field(kind, _base(default, units.SIZE_UNITS), says, source, limits)


def rate_bytes_per_s(
    default: int | str | None,
    *,
    says: str,
    source: str = "",
    minimum: int | str = 1,
    maximum: int | str = _LARGEST_SIZE,
    optional: bool = False,
    limits: Limits | None = None,
) -> Any:
    """Declare a bandwidth in bytes per second. Bounds may be texts such as `"20 MB/s"`."""
    kind = Whole(
        minimum=_base(minimum, units.BYTE_RATE_UNITS),
        maximum=_base(maximum, units.BYTE_RATE_UNITS),
        unit="bytes per second",
        mark="_bytes_per_s",
        optional=optional,
        scale=units.BYTE_RATE_UNITS,
        example="20 MB/s",
    )
    return _field(kind, _base(default, units.BYTE_RATE_UNITS), says, source, limits)


def rate_per_s(
    default: float | None,
    *,
    says: str,
    source: str = "",
    minimum: float = 0.0,
    maximum: float = 1e9,
    optional: bool = False,
    limits: Limits | None = None,
) -> Any:
    """Declare a rate per second (a float). Files may say `"600 /min"`."""
    kind = Real(
        minimum=float(minimum),
        maximum=float(maximum),
        unit="per second",
        mark="_per_s",
        optional=optional,
        suffixes={"/s": 1, "/min": 60, "/h": 3600},
        example="100 /s",
    )
    return _field(kind, _real(default), says, source, limits)


def ratio(
    default: float | None,
    *,
    says: str,
    source: str = "",
    minimum: float = 0.0,
    maximum: float = 1.0,
    optional: bool = False,
    limits: Limits | None = None,
) -> Any:
    """Declare a ratio, by default from 0 to 1. Files may say `"25 %"`."""
    kind = Real(
        minimum=float(minimum),
        maximum=float(maximum),
        unit="ratio",
        optional=optional,
        suffixes={"%": 100},
        example="25 %",
    )
    return _field(kind, _real(default), says, source, limits)


def number(
    default: float | None,
    *,
    says: str,
    source: str = "",
    minimum: float,
    maximum: float,
    unit: str = "",
    optional: bool = False,
    limits: Limits | None = None,
) -> Any:
    """Declare a finite number without a unit of the kinds above."""
    kind = Real(minimum=float(minimum), maximum=float(maximum), unit=unit, optional=optional)
    return _field(kind, _real(default), says, source, limits)


def count(
    default: int | None,
    *,
    says: str,
    source: str = "",
    minimum: int = 0,
    maximum: int = _LARGEST_COUNT,
    unit: str = "",
    optional: bool = False,
    limits: Limits | None = None,
) -> Any:
    """Declare a whole number: a count, an index, an identifier. `unit` says of what."""
    kind = Whole(minimum=minimum, maximum=maximum, unit=unit, optional=optional)
    return _field(kind, default, says, source, limits)


def flag(
    default: bool | None,  # noqa: FBT001
    *,
    says: str,
    source: str = "",
    optional: bool = False,
    limits: Limits | None = None,
) -> Any:
    """Declare a switch."""
    return _field(Flag(optional=optional), default, says, source, limits)


def choice(
    default: str,
    options: type[StrEnum] | Sequence[str],
    *,
    says: str,
    source: str = "",
    limits: Limits | None = None,
) -> Any:
    """Declare one of a few words: members of a StrEnum, or plain texts."""
    if isinstance(options, type):
        words = tuple(member.value for member in options)
        member = default if default is REQUIRED else options(default)
        return _field(Choice(options=words, members=options), member, says, source, limits)
    return _field(Choice(options=tuple(options)), default, says, source, limits)


def text(
    default: str,
    *,
    says: str,
    source: str = "",
    pattern: str = r"[^\x00-\x08\x0b-\x1f\x7f]*",
    expected: str = "a text without control characters",
    longest: int = 2000,
) -> Any:
    """Declare a text. `expected` says in words what the pattern asks for."""
    return _field(Text(pattern=pattern, says=expected, longest=longest), default, says, source)


def name(default: str, *, says: str, source: str = "") -> Any:
    """Declare a name: letters, digits, `_`, `.` and `-`, at most 80, beginning with neither."""
    return _field(name_kind(), default, says, source)


def nested(
    table: type, *, says: str, source: str = "", optional: bool = False, default: Any = REQUIRED
) -> Any:
    """Declare a table of its own.

    Unless a default is given, it is the table with all its defaults, None where `optional`, and
    required where the table has required keys.
    """
    if default is REQUIRED and optional:
        default = None
    elif default is REQUIRED and not any(entry.required for entry in schema(table)):
        default = table()
    return _field(Nested(table=table, optional=optional), default, says, source)


def one_of(
    tables: Mapping[str, type],
    default: Any = REQUIRED,
    *,
    says: str,
    source: str = "",
    optional: bool = False,
) -> Any:
    """Declare a table with one of the given dataclasses, by its key `kind`."""
    if default is REQUIRED and optional:
        default = None
    return _field(OneOf(tables=dict(tables), optional=optional), default, says, source)


def many(
    item: type | Kind | Mapping[str, type],
    default: tuple[Any, ...] = (),
    *,
    says: str,
    source: str = "",
    minimum: int = 0,
    maximum: int = 1000,
    limits: Limits | None = None,
) -> Any:
    """Declare an array: of tables (a dataclass), of alternatives (kind -> dataclass), of values."""
    if isinstance(item, type):
        item = Nested(table=item)
    elif isinstance(item, Mapping):
        item = OneOf(tables=dict(item))
    return _field(Many(item=item, minimum=minimum, maximum=maximum), default, says, source, limits)


def duration(
    *, minimum: int | str = 0, maximum: int | str = _YEAR_NS, optional: bool = False
) -> Whole:
    """Return the kind of a duration, for arrays of durations."""
    return Whole(
        minimum=_base(minimum, units.DURATION_UNITS),
        maximum=_base(maximum, units.DURATION_UNITS),
        unit="nanoseconds",
        mark="_ns",
        optional=optional,
        scale=units.DURATION_UNITS,
        example="1 s",
    )


def size(
    *, minimum: int | str = 0, maximum: int | str = _LARGEST_SIZE, optional: bool = False
) -> Whole:
    """Return the kind of a size, for arrays of sizes."""
    return Whole(
        minimum=_base(minimum, units.SIZE_UNITS),
        maximum=_base(maximum, units.SIZE_UNITS),
        unit="bytes",
        mark="_bytes",
        optional=optional,
        scale=units.SIZE_UNITS,
        example="32 KiB",
    )


def whole(*, minimum: int = 0, maximum: int = _LARGEST_COUNT) -> Whole:
    """Return the kind of a whole number, for arrays of numbers."""
    return Whole(minimum=minimum, maximum=maximum)


def real(*, minimum: float = 0.0, maximum: float) -> Real:
    """Return the kind of a finite number, for arrays of numbers."""
    return Real(minimum=float(minimum), maximum=float(maximum))


def name_kind() -> Text:
    """Return the kind of a name, for arrays of names."""
    return Text(pattern=NAME_PATTERN, says="a name of letters, digits, _ . and -", longest=80)


def _field(
    kind: Kind, default: object, says: str, source: str, limits: Limits | None = None
) -> Any:
    origin = re.sub(r"\s+", " ", source)
    parameter = Parameter(kind=kind, says=says, source=origin, limits=limits)
    return dataclasses.field(default=default, metadata={METADATA_KEY: parameter})


def _base(amount: int | str | None, scale: Mapping[str, int]) -> Any:
    if not isinstance(amount, str):
        return amount
    value = units.parse(amount, scale)
    if value is None:
        raise TypeError(f"{amount!r} is not a quantity")
    return value


def _real(value: float | None) -> Any:
    return float(value) if isinstance(value, int | float) else value
