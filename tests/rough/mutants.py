"""Scenario documents that are accepted and odd: values at their bounds, lists of other lengths."""

from __future__ import annotations

import copy
import math
from typing import Any

from hypothesis import strategies as st

from ckptsim.scenarios import ScenarioError
from ckptsim.scenarios.catalogue import all_scenarios
from ckptsim.scenarios.dialect import Choice, Flag, Kind, Many, Nested, OneOf, Real, Whole, schema
from ckptsim.scenarios.files import plain, read
from ckptsim.scenarios.files.document import entries
from ckptsim.scenarios.links import LINKS

Path = tuple[str | int, ...]
Document = dict[str, Any]
BASES: dict[str, Document] = {each.name: plain(each) for each in all_scenarios()}
_MOST_ITEMS = 6


@st.composite
def accepted(draw: st.DrawFn) -> Document:
    """Draw a scenario of the library with up to six values changed, which are accepted."""
    document = copy.deepcopy(BASES[draw(st.sampled_from(sorted(BASES)))])
    link = LINKS[document["link"]]
    for _ in range(draw(st.integers(1, 6))):
        places = list(_places(document, link.name))
        path, kind = draw(st.sampled_from(places))
        changed = copy.deepcopy(document)
        held = _inside(changed, path[:-1])
        held[path[-1]] = draw(_value(kind, held[path[-1]]))
        if _is_accepted(changed):
            document = changed
    document["goals"] = []
    document["violates"] = []
    return document


def _is_accepted(document: Document) -> bool:
    try:
        read(document, source="mutant")
    except ScenarioError:
        return False
    return True


def _value(kind: Kind, old: Any) -> st.SearchStrategy[Any]:
    """Return what a parameter may become: its bounds, their neighbours, and all magnitudes."""
    match kind:
        case Whole(minimum=low, maximum=high):
            edges = [low, low + 1, high - 1, high]
            return st.one_of(st.sampled_from(edges), _spread(low, high).map(round)).map(
                lambda n: min(max(n, low), high)
            )
        case Real(minimum=low, maximum=high):
            return st.one_of(st.sampled_from([low, high]), _spread(low, high))
        case Choice(options=options):
            return st.sampled_from(sorted(options))
        case Flag():
            return st.booleans()
        case Many():
            return _lists(old)
    return st.just(old)


def _spread(low: float, high: float) -> st.SearchStrategy[float]:
    """Draw from a range so that each magnitude is as likely as another."""
    span = math.log1p(float(high) - float(low))
    return st.floats(0, 1).map(lambda share: min(high, low + math.expm1(share * span)))


def _lists(old: list[Any]) -> st.SearchStrategy[list[Any]]:
    """Draw a list with items of the old one, fewer or repeated."""
    if not old:
        return st.just(old)
    items = st.lists(st.integers(0, len(old) - 1), max_size=_MOST_ITEMS)
    return items.map(lambda places: [copy.deepcopy(old[place]) for place in places])


def _places(document: Document, link: str) -> list[tuple[Path, Kind]]:
    found: list[tuple[Path, Kind]] = []
    for entry in entries(LINKS[link]):
        if entry.name in document and entry.name not in {"name", "link", "says", "goals"}:
            found += _below(entry.kind, document[entry.name], (entry.name,))
    return [
        (path, kind)
        for path, kind in found
        if isinstance(kind, Whole | Real | Choice | Flag | Many)
    ]


def _below(kind: Kind, value: Any, path: Path) -> list[tuple[Path, Kind]]:
    found = [(path, kind)] if value != "none" else []
    match kind:
        case Nested() if value != "none":
            table = schema(kind.table)
        case OneOf() if value != "none":
            table = schema(kind.tables[value["kind"]])
        case Many():
            for index, item in enumerate(value):
                found += _below(kind.item, item, (*path, index))
            return found
        case _:
            return found
    for entry in table:
        if entry.name in value:
            found += _below(entry.kind, value[entry.name], (*path, entry.name))
    return found


def _inside(document: Any, path: Path) -> Any:
    for step in path:
        document = document[step]
    return document
