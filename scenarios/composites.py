"""Kinds of composed values: tables, tables of one of several kinds, arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from ckptsim.scenarios.kinds import BAD, NONE_TEXT, At, Bad, Kind, suggestion
from ckptsim.scenarios.tables import human_table, plain_table, read_table, schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Nested(Kind):
    """A table of its own."""

    table: type[Any]
    optional: bool = False

    def read(self, found: object, at: At) -> object:
        """Take a table."""
        return None if self.optional and found == NONE_TEXT else read_table(self.table, found, at)

    def expected(self) -> str:
        """Return in words what may stand here."""
        return "a table with the keys " + ", ".join(e.short or e.name for e in schema(self.table))

    def plain(self, value: object) -> object:
        """Return the table with every key."""
        return NONE_TEXT if value is None else plain_table(value)

    def human(self, value: object) -> object:
        """Return the table without what is at its default."""
        return NONE_TEXT if value is None else human_table(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOf(Kind):
    """A table whose key `kind` says which dataclass it is."""

    tables: Mapping[str, type]
    optional: bool = False

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
        return read_table(self.tables[kind], rest, at)

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
        """Return the table with its kind, without what is at its default."""
        return NONE_TEXT if value is None else {"kind": self.kind_of(value)} | human_table(value)

    def _kinds(self) -> str:
        return "one of " + ", ".join(f'"{name}"' for name in self.tables)


@dataclass(frozen=True, slots=True, kw_only=True)
class Many(Kind):
    """An array of values of one kind; the typed form is a tuple."""

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
