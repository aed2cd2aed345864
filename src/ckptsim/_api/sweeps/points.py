"""The swept parameters of a sweep's points, each value with its own type."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ckptsim.scenarios.planning import SCENARIO_AXIS, is_design

_STEP = re.compile(r"([A-Za-z0-9_-]+)|\[([^\]]*)\]")
_UNITS = ("", "_ns", "_bytes", "_per_s", "_bytes_per_s")
_MISSING = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class PointValues:
    """The values of every point, in the order of the points.

    places: scenario and parameters -> position. values: path -> a value per point, with the key of
    the document that has it, which says its unit.
    """

    places: Mapping[tuple[str, str], int]
    values: Mapping[str, Sequence[tuple[str, Any]]]

    def place(self, scenario: str, parameters: str) -> int:
        """Return the position of the point of a run."""
        return self.places[scenario, parameters]

    def columns(self, name: Callable[[str], str]) -> dict[str, Any]:
        """Return a column per swept parameter: durations as timedelta64, the rest as it is."""
        import pandas as pd

        from ckptsim._api.columns import timedeltas

        found: dict[str, Any] = {}
        for path, pairs in self.values.items():
            column = pd.Series([value for _, value in pairs])
            are_times = all(key.endswith("_ns") or value is None for key, value in pairs)
            if are_times and column.notna().any():
                column = timedeltas(column)
            found[name(path)] = column
        return found


def values_of_points(points: Sequence[Mapping[str, Any]], about: Mapping[str, Any]) -> PointValues:
    """Return the swept values of points, as the documents of their scenarios have them."""
    documents = [json.loads(point["document"]) for point in points]
    values: dict[str, list[tuple[str, Any]]] = {}
    for path, _ in about["axes"]:
        of_path = []
        for point, document in zip(points, documents, strict=True):
            swept = json.loads(point["parameters"])
            if path == SCENARIO_AXIS:
                of_path.append(("", point["scenario"]))
            elif is_design(path):
                of_path.append(("", swept.get(path)))
            else:
                of_path.append(_found(document, path, swept.get(path)))
        values[path] = of_path
    places = {(point["scenario"], point["parameters"]): place for place, point in enumerate(points)}
    return PointValues(places=places, values=values)


def _found(document: Any, path: str, otherwise: Any) -> tuple[str, Any]:
    """Return the key and the value at a path. Where it leads to a table, what the plan says."""
    held, key = document, ""
    for word, inside in _STEP.findall(path):
        if word and isinstance(held, dict):
            keys = [word + unit for unit in _UNITS if word + unit in held]
            key = keys[0] if keys else word
            held = held.get(key, _MISSING)
        elif isinstance(held, list) and held:
            held = _item(held, inside)
        else:
            held = _MISSING
        if held is _MISSING:
            return "", otherwise
    if isinstance(held, dict | list):
        return "", json.dumps(otherwise)
    return key, None if held == "none" else held


def _item(items: Sequence[Any], which: str) -> Any:
    """Return an item by its index or name. Of `*` the first, as all of them are set alike."""
    if which == "*":
        return items[0]
    if which.isdigit():
        return items[int(which)] if int(which) < len(items) else _MISSING
    named = [item for item in items if isinstance(item, dict) and item.get("name") == which]
    return named[0] if named else _MISSING
