"""Malformed scenario documents, made from valid ones by one mistake each."""

from __future__ import annotations

import copy
import datetime as dt
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ckptsim.scenarios import dialect
from ckptsim.scenarios.files import plain
from ckptsim.scenarios.files.document import entries
from ckptsim.scenarios.spec import Link, Scenario

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Mutation:
    """A document with one mistake, and the place that an error text must name."""

    name: str
    document: dict[str, Any]
    place: str


def mutations(scenario: Scenario, link: Link) -> Iterator[Mutation]:
    """Yield documents with one mistake each, at every parameter of the scenario.

    Of a list with equal parameters in its items the first item and the last one have mistakes.
    """
    base = plain(scenario, {link.name: link})
    for path, kind in _parameters(entries(link), base, ()):
        for name, value in _wrong_values(kind):
            found = _changed(f"{name} at {_text(path)}", base, path, value)
            in_kind = isinstance(kind, dialect.OneOf) and isinstance(value, dict)
            yield replace(found, place=f"{found.place}.kind") if in_kind else found
    for path, table_entries in _tables(entries(link), base, ()):
        yield from _wrong_keys(base, path, table_entries)


def _wrong_values(kind: dialect.Kind) -> Iterator[tuple[str, object]]:
    """Yield values that the kind must refuse, with the name of the mistake."""
    yield "date", dt.date(2024, 1, 1)
    match kind:
        case dialect.Whole() | dialect.Real():
            whole = isinstance(kind, dialect.Whole)
            yield from (("boolean", True), ("text", "many"), ("array", [1]), ("table", {"x": 1}))
            yield from (("huge", 10**30), ("infinite", math.inf), ("no number", math.nan))
            yield from (("below", kind.minimum - 1), ("above", kind.maximum + 1))
            yield from (("bad unit", "3 parsecs"), ("negative text", "-1 s"), ("empty text", ""))
            if whole:
                yield "fraction", 1.5
        case dialect.Text():
            yield from (("number", 5), ("array", ["x"]), ("too long", "x" * (kind.longest + 1)))
            yield "control character", "a\x00b"
        case dialect.Choice():
            yield from (("number", 1), ("no option", "no_such_option"), ("boolean", False))
        case dialect.Flag():
            yield from (("number", 1), ("text", "true"), ("array", []))
        case dialect.Nested():
            yield from (("number", 1), ("text", "x"), ("array", []))
        case dialect.OneOf():
            yield from (("number", 1), ("no kind", {}), ("bad kind", {"kind": "no_such_kind"}))
            yield "kind of wrong type", {"kind": 3}
        case dialect.Many():
            yield from (("number", 1), ("text", "x"), ("table", {"x": 1}))
            if kind.minimum > 0:
                yield "too few", []


def _wrong_keys(
    base: dict[str, Any], path: Path, table_entries: Sequence[dialect.Entry]
) -> Iterator[Mutation]:
    yield _changed(f"unknown key in {_text(path)}", base, (*path, "no_such_key"), 1)
    yield _changed(f"empty key in {_text(path)}", base, (*path, "flavour"), {})
    for entry in table_entries:
        misspelt = entry.name[:-1] + ("x" if entry.name[-1] != "x" else "y")
        mutation = _changed(f"misspelt {_text(path)}.{entry.name}", base, (*path, misspelt), 1)
        del _inside(mutation.document, path)[entry.name]
        yield mutation
        if entry.required:
            place = (*path, entry.short or entry.name)
            mutation = _changed(f"missing {_text(place)}", base, place, None)
            del _inside(mutation.document, path)[place[-1]]
            _inside(mutation.document, path).pop(entry.name, None)
            yield mutation
        if entry.short:
            both = _changed(f"twice {entry.short}", base, (*path, entry.short), "1 s")
            yield both
            bare = _changed(f"bare number for {entry.short}", base, (*path, entry.short), 7)
            del _inside(bare.document, path)[entry.name]
            yield bare


def _parameters(
    table: Sequence[dialect.Entry], values: dict[str, Any], path: Path
) -> Iterator[tuple[Path, dialect.Kind]]:
    for entry in table:
        if entry.name in values:
            yield from _values(entry.kind, values[entry.name], (*path, entry.name))


def _values(kind: dialect.Kind, value: Any, path: Path) -> Iterator[tuple[Path, dialect.Kind]]:
    yield path, kind
    match kind:
        case dialect.Nested() if value != "none":
            yield from _parameters(dialect.schema(kind.table), value, path)
        case dialect.OneOf() if value != "none":
            yield from _parameters(dialect.schema(kind.tables[value["kind"]]), value, path)
        case dialect.Many():
            for index in _different(kind.item, value):
                yield from _values(kind.item, value[index], (*path, index))


def _different(kind: dialect.Kind, items: list[Any]) -> list[int]:
    """Return the places of the first item of each kind, and of the last item."""
    first: dict[str, int] = {}
    for index, item in enumerate(items):
        first.setdefault(item["kind"] if isinstance(kind, dialect.OneOf) else "", index)
    return sorted({*first.values(), *range(len(items))[-1:]})


def _tables(
    table: Sequence[dialect.Entry], values: dict[str, Any], path: Path
) -> Iterator[tuple[Path, Sequence[dialect.Entry]]]:
    yield path, table
    for inner, kind in _parameters(table, values, path):
        held = _inside({"": values}, ("", *inner[len(path) :]))
        if isinstance(kind, dialect.Nested) and held != "none":
            yield inner, dialect.schema(kind.table)
        elif isinstance(kind, dialect.OneOf) and held != "none":
            yield inner, dialect.schema(kind.tables[held["kind"]])


def _changed(name: str, base: dict[str, Any], path: Path, value: object) -> Mutation:
    document = copy.deepcopy(base)
    _inside(document, path[:-1])[path[-1]] = value
    return Mutation(name, document, _text(path))


def _inside(document: Any, path: Path) -> Any:
    for step in path:
        document = document[step]
    return document


def _text(path: Path) -> str:
    steps = "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in path)
    return steps.removeprefix(".")
