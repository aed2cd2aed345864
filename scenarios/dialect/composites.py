"""Kinds of composed values: tables, tables of one of several kinds, arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from ckptsim.scenarios.dialect.kinds import BAD, NONE_TEXT, At, Bad, Defaults, Kind, suggestion
from ckptsim.scenarios.dialect.tables import (
    Entry,
    entries_of,
    human_table,
    plain_table,
    read_table,
    schema,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Nested(Kind):
    """A table of its own. `defaults` take the place of those that its dataclass has."""

    table: type[Any]
    optional: bool = False
    defaults: Defaults = ()

    def entries(self) -> tuple[Entry, ...]:
        """Return the parameters of the table."""
        return entries_of(self.table, self.defaults)

    def with_defaults(self, defaults: Defaults) -> Nested:
        """Return the kind with other defaults of parameters inside the table."""
        return replace(self, defaults=defaults)

    def default(self) -> object:
        """Return the table with all its defaults, which it has to have."""
        return self.table(**{entry.name: entry.default for entry in self.entries()})

    def read(self, found: object, at: At) -> object:
        """Take a table."""
        if self.optional and found == NONE_TEXT:
            return None
        return read_table(self.table, found, at, self.entries())

    def expected(self) -> str:
        """Return in words what may stand here."""
        return "a table with the keys " + ", ".join(e.short or e.name for e in schema(self.table))

    def plain(self, value: object) -> object:
        """Return the table with every key."""
        return NONE_TEXT if value is None else plain_table(value)

    def human(self, value: object) -> object:
        """Return the table without defaults."""
        return NONE_TEXT if value is None else human_table(value, self.entries())


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOf(Kind):
    """A table with a dataclass per value of its key `kind`. `defaults` as in `Nested`."""

    tables: Mapping[str, type]
    optional: bool = False
    defaults: Defaults = ()

    def entries(self, kind: str) -> tuple[Entry, ...]:
        """Return the parameters of an alternative."""
        head = f"({kind})"
        inside = tuple((p.removeprefix(head), v) for p, v in self.defaults if p.startswith(head))
        return entries_of(self.tables[kind], inside)

    def with_defaults(self, defaults: Defaults) -> OneOf:
        """Return the kind with other defaults of parameters inside the alternatives."""
        return replace(self, defaults=defaults)

    def read(self, found: object, at: At) -> object:
        """Take a table with a `kind`."""
        if self.optional and found == NONE_TEXT:
            return None
        if not isinstance(found, Mapping):
            return at.refuse(found, self.expected())
        if "kind" not in found:
            return at.key("kind").note("nothing", self._kinds())
        kind = found["kind"]
        if not isinstance(kind, str) or kind not in self.tables:
            hint = suggestion(kind, self.tables) if isinstance(kind, str) else ""
            return at.key("kind").refuse(kind, self._kinds() + hint)
        rest = {key: value for key, value in found.items() if key != "kind"}
        return read_table(self.tables[kind], rest, at, self.entries(kind))

    def expected(self) -> str:
        """Return in words what may stand here."""
        return f"a table whose key kind is {self._kinds()}"

    def bounds(self) -> str:
        """Return the names of the alternatives."""
        return " | ".join(self.tables)

    def kind_of(self, value: object) -> str:
        """Return the name under which the value's dataclass is known here."""
        return next(name for name, table in self.tables.items() if table is type(value))

    def plain(self, value: object) -> object:
        """Return the table with its kind and every key."""
        return NONE_TEXT if value is None else {"kind": self.kind_of(value)} | plain_table(value)

    def human(self, value: object) -> object:
        """Return the table with its kind, without defaults."""
        if value is None:
            return NONE_TEXT
        kind = self.kind_of(value)
        return {"kind": kind} | human_table(value, self.entries(kind))

    def _kinds(self) -> str:
        return "one of " + ", ".join(f'"{name}"' for name in self.tables)


@dataclass(frozen=True, slots=True, kw_only=True)
class Many(Kind):
    """An array of values of one kind. The typed form is a tuple."""

    item: Kind
    minimum: int
    maximum: int

    @property
    def unit(self) -> str:
        """The unit of the items."""
        return self.item.unit

    @property
    def mark(self) -> str:
        """The items' mark, which the name of an array of theirs carries too."""
        return self.item.mark

    def with_defaults(self, defaults: Defaults) -> Many:
        """Return the kind with other defaults of parameters inside the items."""
        inside = tuple((path.removeprefix("[]"), value) for path, value in defaults)
        return replace(self, item=self.item.with_defaults(inside))

    def read(self, found: object, at: At) -> object:
        """Take an array, checking every item."""
        if not isinstance(found, list | tuple):
            return at.refuse(found, self.expected())
        if not self.minimum <= len(found) <= self.maximum:
            return at.refuse(found, self.expected())
        values = tuple(self.item.read(value, at.item(index)) for index, value in enumerate(found))
        return BAD if any(isinstance(value, Bad) for value in values) else values

    def expected(self) -> str:
        """Return in words what may stand here."""
        return f"an array of {self.bounds()}, each {self.item.expected()}"

    def bounds(self) -> str:
        """Return how many items there may be."""
        return f"{self.minimum} to {self.maximum} items"

    def plain(self, value: object) -> object:
        """Return the items as a list."""
        return [self.item.plain(item) for item in _items(value)]

    def human(self, value: object) -> object:
        """Return the items as people write them."""
        return [self.item.human(item) for item in _items(value)]


def _items(value: object) -> Iterator[object]:
    yield from cast("tuple[object, ...]", value)
