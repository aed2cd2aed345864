"""Questions about graphs of names that cross-field checks ask: repeated names, cycles, orders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def repeated(names: Sequence[str]) -> list[tuple[int, str]]:
    """Return index and name of every item that occurred before."""
    seen: set[str] = set()
    found: list[tuple[int, str]] = []
    for index, name in enumerate(names):
        if name in seen:
            found.append((index, name))
        seen.add(name)
    return found


def unknown(names: Iterable[str], known: Iterable[str]) -> list[tuple[int, str]]:
    """Return index and name of every item that is not among the known ones."""
    allowed = frozenset(known)
    return [(index, name) for index, name in enumerate(names) if name not in allowed]


def cycle(before: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the names along one cycle, ending with the first again, or nothing.

    `before` maps a name to those that come before it; names that are no keys have none.
    """
    finished: set[str] = set()
    for start in before:
        path: list[str] = []
        pending = [iter([start])]
        while pending:
            name = next(pending[-1], None)
            if name is None:
                pending.pop()
                if path:
                    finished.add(path.pop())
            elif name in path:
                return list(reversed(path[path.index(name) :])) + [path[-1]]
            elif name not in finished:
                path.append(name)
                pending.append(iter(before.get(name, ())))
    return []


def layers(before: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """Return for each name the length of the longest way to it; the graph must have no cycle."""
    depth: dict[str, int] = {}
    waiting = list(before)
    while waiting:
        name = waiting[-1]
        missing = [other for other in before.get(name, ()) if other in before]
        missing = [other for other in missing if other not in depth]
        if missing:
            waiting.extend(missing)
            continue
        earlier = [depth[other] for other in before.get(name, ()) if other in depth]
        depth[waiting.pop()] = 1 + max(earlier, default=-1)
    return depth
