"""Simpler documents: what of a scenario's document can be taken away, and how large the rest is.

A delta is one thing in which a document differs from the one with everything at its default: an
item of an array (a fault, a stream, a vertex), or a value.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]
Size = tuple[int, int, int, int]
# Keys of a document's head that say what the scenario is, not what happens in it.
HEAD = frozenset({"name", "link", "says", "goals", "violates"})


@dataclass(frozen=True, slots=True)
class Delta:
    """An item to remove (`index` is its place in the array at `path`), or a value to reset."""

    path: Path
    index: int | None = None


def deltas(found: dict[str, Any], default: dict[str, Any]) -> list[Delta]:
    """Return everything that could go: faults first, then items, then values."""
    items = [
        Delta(path, index)
        for path, array in sorted(arrays(found), key=lambda item: (item[0][0] != "faults", item[0]))
        if weight(path, array, default)
        for index in range(len(array))
    ]
    # An array at a default of its own is reset as a whole, too.
    values = [
        Delta(path)
        for path, array in arrays(found)
        if isinstance(at(default, path), list) and at(default, path) != array
    ]
    for path, value in leaves(found):
        other = at(default, path)
        if other is not None and other != value:
            values.append(Delta(path))
    return [*items, *values]


def without(
    found: dict[str, Any], gone: Iterable[Delta], default: dict[str, Any]
) -> dict[str, Any]:
    """Return a document without some deltas. One inside another that goes is not looked for."""
    changed = copy.deepcopy(found)
    removed = [delta for delta in gone if delta.index is not None]
    for delta in gone:
        if delta.index is None:
            holder = at(changed, delta.path[:-1])
            if holder is not None:
                holder[delta.path[-1]] = copy.deepcopy(at(default, delta.path))
    # From the back, so that the places of those in front stay what they are.
    for delta in sorted(removed, key=lambda each: (str(each.path), -(each.index or 0))):
        array = at(changed, delta.path)
        if isinstance(array, list) and delta.index is not None and delta.index < len(array):
            del array[delta.index]
    return changed


def with_value(found: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """Return a document with another value at a path."""
    changed = copy.deepcopy(found)
    holder = at(changed, path[:-1])
    holder[path[-1]] = value
    return changed


def smaller_numbers(value: Any) -> list[int | float]:
    """Return what may stand in the place of a number, the simplest first."""
    if isinstance(value, bool):
        return []
    if isinstance(value, int):
        rounded = 10 ** (len(str(abs(value))) - 1)
        simpler = [0, 1, rounded, value // 10, value // 2, value // rounded * rounded, value - 1]
        return [number for number in dict.fromkeys(simpler) if 0 <= number < value]
    if isinstance(value, float):
        reals = [0.0, 1.0, float(round(value)), round(value, 1)]
        return [real for real in dict.fromkeys(reals) if 0 <= real != value]
    return []


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the single values of a document with their paths, arrays after what they hold."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if path or key not in HEAD:
                yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, (*path, index))
    else:
        yield path, value


def arrays(value: Any, path: Path = ()) -> Iterator[tuple[Path, list[Any]]]:
    """Yield the arrays of a document with their paths, outer ones first."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if path or key not in HEAD:
                yield from arrays(inner, (*path, key))
    elif isinstance(value, list):
        yield path, value
        for index, inner in enumerate(value):
            yield from arrays(inner, (*path, index))


def at(value: Any, path: Path) -> Any:
    """Return the value at a path, or None."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def weight(path: Path, array: list[Any], default: dict[str, Any]) -> int:
    """Return how many items an array counts for. One of single values at its default for none."""
    plain = not any(isinstance(item, dict) for item in array)
    return 0 if plain and array == at(default, path) else len(array)


def size(found: dict[str, Any], default: dict[str, Any]) -> Size:
    """Return how large a document is: items, parameters that differ, digits, sum of numbers."""
    items = sum(weight(path, array, default) for path, array in arrays(found))
    different = digits = total = 0
    for path, value in leaves(found):
        if value == at(default, path):
            continue
        different += 1
        if isinstance(value, int) and not isinstance(value, bool):
            digits += len(str(abs(value)).rstrip("0"))
            total += abs(value)
        elif isinstance(value, float):
            digits += len(repr(value).replace(".0", "").strip("0."))
            total += int(abs(value))
    return items, different, digits, total
