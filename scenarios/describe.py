"""Describe a scenario parameter by parameter: path, value, default, unit, bounds and origin."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass
from typing import Any, cast

from ckptsim.scenarios.dialect import Choice, Entry, Kind, Many, Nested, OneOf
from ckptsim.scenarios.files import document
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.spec import Link, Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """One parameter as a person reads it.

    value, default: as in a file, in the human form. Default is None where the key is required.
    plain: the value in base units, as JSON data.
    changed: whether the value differs from the default.
    """

    path: str
    value: object
    plain: object
    default: object
    changed: bool
    unit: str
    bounds: str
    says: str
    source: str


def describe(scenario: Scenario, links: Mapping[str, Link] = LINKS) -> list[Description]:
    """Return every parameter of a scenario with its value, in the order of declaration."""
    link = links[scenario.link]
    found: list[Description] = []
    for entry in document.entries(link):
        value = scenario.model if entry.name == link.key else getattr(scenario, entry.name)
        found.extend(_parameter(entry, value, entry.name))
    return found


def _table(made: object, entries: Sequence[Entry], path: str) -> Iterator[Description]:
    for entry in entries:
        yield from _parameter(entry, getattr(made, entry.name), f"{path}.{entry.name}")


def _parameter(entry: Entry, value: object, path: str) -> Iterator[Description]:
    match entry.kind:
        case Nested() as kind if value is not None:
            yield from _table(value, kind.entries(), path)
        case OneOf() as kind if value is not None:
            yield from _alternative(entry, kind, value, path)
        case Many(item=OneOf() as kind) if value:
            for index, item in enumerate(cast("tuple[object, ...]", value)):
                yield from _alternative(entry, kind, item, f"{path}[{index}]")
        case Many(item=Nested() as kind) if value:
            for index, item in enumerate(cast("tuple[object, ...]", value)):
                yield from _table(item, kind.entries(), f"{path}[{index}]")
        case _:
            yield _line(entry, entry.kind, value, path)


def _alternative(entry: Entry, kind: OneOf, value: object, path: str) -> Iterator[Description]:
    word = Choice(options=tuple(kind.tables))
    name = kind.kind_of(value)
    same = type(entry.default) is type(value)
    shown = dataclasses.replace(entry, default=name if same else MISSING)
    yield _line(shown, word, name, f"{path}.kind")
    yield from _table(value, kind.entries(name), path)


def reference(link: Link) -> list[Description]:
    """Return every parameter that scenarios of a link can have, with its default as its value.

    The items of an array `nodes` are shown as `nodes[]`, the alternatives of a table with a kind
    as `delay(fixed)`.
    """
    return list(_declared(document.entries(link), ""))


def _declared(entries: Sequence[Entry], path: str) -> Iterator[Description]:
    for entry in entries:
        inner = f"{path}.{entry.name}" if path else entry.name
        if not isinstance(entry.kind, Nested):
            yield _line(entry, entry.kind, entry.default, inner)
        for place, _, declared in _tables(entry.kind, inner):
            yield from _declared(declared, place)


def reference_tables(link: Link) -> dict[str, str]:
    """Return what each table of a link's scenarios is, by its path as in `reference`."""
    return dict(_said(document.entries(link), ""))


def _said(entries: Sequence[Entry], path: str) -> Iterator[tuple[str, str]]:
    for entry in entries:
        inner = f"{path}.{entry.name}" if path else entry.name
        for place, table, declared in _tables(entry.kind, inner):
            yield place, (table.__doc__ or "").partition("\n")[0]
            yield from _said(declared, place)


def _tables(kind: Kind, path: str) -> Iterator[tuple[str, type[Any], tuple[Entry, ...]]]:
    match kind:
        case Nested():
            yield path, kind.table, kind.entries()
        case OneOf():
            for name, table in kind.tables.items():
                yield f"{path}({name})", table, kind.entries(name)
        case Many(item=OneOf()):
            yield from _tables(kind.item, path)
        case Many():
            yield from _tables(kind.item, f"{path}[]")


def _line(entry: Entry, kind: Kind, value: object, path: str) -> Description:
    return Description(
        path=path,
        value=None if value is MISSING else kind.human(value),
        plain=None if value is MISSING else kind.plain(value),
        default=None if entry.default is MISSING else kind.human(entry.default),
        changed=value != entry.default,
        unit=kind.unit,
        bounds=kind.bounds(),
        says=entry.says,
        source=entry.source,
    )
