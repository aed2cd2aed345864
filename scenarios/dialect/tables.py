"""Tables: dataclasses as parameters, and the places in which a parameter means nothing.

The declaration names places of this kind, such as a plane or a pipeline.  In such a place the
parameter has its declared default and no other value.

A table's keys are the fields of its dataclass.  A field with a unit in its name, such as
`interval_ns`, may also be given under its short key with a unit in the value: `interval = "1 s"`.
After the single values a table's own `problems()` is asked, which knows what must hold between
them.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, cast

from ckptsim.scenarios.dialect.kinds import BAD, At, Bad, Defaults, Kind, suggestion
from ckptsim.scenarios.errors import Problem


@dataclass(frozen=True, slots=True)
class Limit:
    """A place in which a parameter means nothing, and why.

    place, says: the place as a word and in words, such as `records` and `on plane "records"`.
    noted: another value is kept there and noted, as the one of a model moved there. Else refused.
    """

    place: str
    says: str
    because: str
    noted: bool = False


Limits = tuple[Limit, ...]

# Given to a parameter of a table that has limits of its own: the parameter has none.
EVERYWHERE: Limits = ()


METADATA_KEY = "parameter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """What a field's metadata says: kind, meaning and origin. The default is the field's own.

    source: its origin. An empty one leaves that to the table's `SOURCE`.  limits: where it means
    nothing. None leaves that to the table's `LIMITS`.
    """

    kind: Kind
    says: str
    source: str
    limits: Limits | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One parameter of a table. `short` is its key without the unit that its name carries."""

    name: str
    short: str | None
    default: object
    kind: Kind
    says: str
    source: str
    limits: Limits = ()

    @property
    def required(self) -> bool:
        """Return whether the key must be given."""
        return self.default is dataclasses.MISSING


class Checked(Protocol):
    """A table that knows what must hold between its values."""

    def problems(self) -> list[Problem]:
        """Return the problems, with paths relative to this table."""


def schema(table: type[Any]) -> tuple[Entry, ...]:
    """Return the parameters that a dataclass declares, in the order of its fields.

    Raises TypeError when a field is declared without metadata, carries the wrong unit in its name
    or has a default that it would refuse: mistakes of ours, found by the tests.
    """
    return _schema(cast("Hashable", table))


@cache
def _schema(table: Any) -> tuple[Entry, ...]:
    fields = dataclasses.fields(table)
    entries = [_entry(table, field) for field in fields]
    keys = [key for entry in entries for key in (entry.name, entry.short)]
    # A short key that could be two parameters, such as upload of upload_ns and of
    # upload_bytes_per_s, is none.
    return tuple(
        dataclasses.replace(entry, short=entry.short if keys.count(entry.short) == 1 else None)
        for entry in entries
    )


def _entry(table: type[Any], field: dataclasses.Field[Any]) -> Entry:
    where = f"{table.__name__}.{field.name}"
    parameter = field.metadata.get(METADATA_KEY)
    if not isinstance(parameter, Parameter):
        raise TypeError(f"{where} is declared without a helper of ckptsim.scenarios.fields")
    kind = parameter.kind
    short = short_key(field.name, kind.mark) if kind.mark else None
    if kind.mark and short is None and field.name != kind.mark[1:]:
        raise TypeError(f"{where} must carry its unit {kind.mark} in its name")
    if field.default is not dataclasses.MISSING:
        notes: list[Problem] = []
        if kind.read(kind.plain(field.default), At(where, "", notes)) != field.default or notes:
            raise TypeError(f"{where}: the default is refused by its own bounds: {notes}")
    return Entry(
        name=field.name,
        short=short,
        default=field.default,
        kind=kind,
        says=parameter.says,
        source=parameter.source or getattr(table, "SOURCE", ""),
        limits=getattr(table, "LIMITS", ()) if parameter.limits is None else parameter.limits,
    )


def short_key(name: str, mark: str) -> str | None:
    """Return the name without its unit mark, or None when it has none (or nothing else)."""
    match = re.fullmatch(rf"(.+?){mark}(_.+|)", name)
    return match[1] + match[2] if match else None


def entries_of(table: type[Any], defaults: Defaults) -> tuple[Entry, ...]:
    """Return the parameters of a table with other defaults, which may lie inside its tables."""
    return _entries_of(cast("Hashable", table), defaults)


@cache
def _entries_of(table: Any, defaults: Defaults) -> tuple[Entry, ...]:
    return tuple(_with_defaults(entry, defaults) for entry in schema(table))


def _with_defaults(entry: Entry, defaults: Defaults) -> Entry:
    head = f".{entry.name}"
    own = [value for path, value in defaults if path == head]
    inside = tuple(
        (path.removeprefix(head), value)
        for path, value in defaults
        if path.startswith((f"{head}.", f"{head}[", f"{head}("))
    )
    kind = entry.kind.with_defaults(inside) if inside else entry.kind
    default = own[0] if own else entry.default
    return dataclasses.replace(entry, kind=kind, default=_redefaulted(default, inside))


def _redefaulted(default: object, defaults: Defaults) -> object:
    if not any(path.startswith(".") for path, _ in defaults) or default is dataclasses.MISSING:
        return default
    table = cast("type[Any]", type(default))
    pairs = zip(entries_of(table, defaults), schema(table), strict=True)
    changed = {own.name: own.default for own, other in pairs if own.default != other.default}
    return dataclasses.replace(cast("Any", default), **changed)


def read_table(table: type[Any], found: object, at: At, entries: Sequence[Entry]) -> object:
    """Return an instance, or BAD after noting all problems. entries: its parameters."""
    if not isinstance(found, Mapping):
        return at.refuse(found, "a table")
    values = read_keys(entries, found, at)
    if isinstance(values, Bad):
        return BAD
    made = table(**{entry.name: entry.default for entry in entries if not entry.required} | values)
    notes = [placed(problem, at) for problem in _own_problems(made)]
    at.problems.extend(notes)
    return BAD if notes else made


def read_keys(
    entries: Sequence[Entry], found: Mapping[str, object], at: At
) -> dict[str, object] | Bad:
    """Return values by full key, in the file's order, or BAD after noting all problems."""
    before = len(at.problems)
    by_key = {entry.name: (entry, False) for entry in entries}
    by_key |= {entry.short: (entry, True) for entry in entries if entry.short}
    values: dict[str, object] = {}
    for key, value in found.items():
        if key not in by_key:
            at.key(key).refuse_key(value, _known(key, entries))
            continue
        entry, is_short = by_key[key]
        if entry.name in values:
            at.key(key).refuse(value, f"one of {entry.short} and {entry.name}, not both")
        elif is_short and _bare(value):
            at.key(key).refuse(value, f"a text with a unit, or {entry.name} = a bare number")
        else:
            values[entry.name] = entry.kind.read(value, at.key(key))
    for entry in entries:
        if entry.required and entry.name not in values:
            at.key(entry.short or entry.name).note("nothing", _required(entry))
    return BAD if len(at.problems) > before else values


def _bare(value: object) -> bool:
    """Return whether a value is a number, or an array with one, and so says nothing of its unit."""
    values = value if isinstance(value, list) else [value]
    return any(isinstance(item, int | float) and not isinstance(item, bool) for item in values)


def _required(entry: Entry) -> str:
    return f"{entry.kind.expected()} (required: {entry.says})"


def _known(word: str, entries: Sequence[Entry]) -> str:
    keys = [entry.short or entry.name for entry in entries]
    every = keys + [entry.name for entry in entries]
    return "one of the keys " + ", ".join(keys) + suggestion(word, every)


def _own_problems(made: object) -> list[Problem]:
    return cast("Checked", made).problems() if hasattr(made, "problems") else []


def placed(problem: Problem, at: At) -> Problem:
    """Return a problem of a place with its full path."""
    dot = "." if at.path and not problem.path.startswith("[") else ""
    path = f"{at.path}{dot}{problem.path}".strip(".")
    full = f"{at.source}: {path}" if path else at.source
    return Problem(full, problem.found, problem.expected)


def plain_table(made: object, entries: Sequence[Entry] = ()) -> dict[str, object]:
    """Return a table as JSON data in base units, with every key written out."""
    return {
        entry.name: entry.kind.plain(getattr(made, entry.name))
        for entry in entries or schema(type(made))
    }


def human_table(made: object, entries: Sequence[Entry] = ()) -> dict[str, object]:
    """Return a table as people write it: short keys with units, and no key at its default."""
    written: dict[str, object] = {}
    for entry in entries or schema(type(made)):
        value = getattr(made, entry.name)
        if entry.default != value:
            human = entry.kind.human(value)
            written[entry.name if entry.short is None or _bare(human) else entry.short] = human
    return written
