"""Questions about graphs of names that cross-field checks ask: repeated names and cycles."""

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


def cycle(before: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the names along one cycle, ending with the first again, or nothing.

    `before` maps a name to those that come before it. Names that are no keys have none.
    """
    finished: set[str] = set()
    for start in before:
        path: dict[str, None] = {}
        pending = [iter([start])]
        while pending:
            name = next(pending[-1], None)
            if name is None:
                pending.pop()
                if path:
                    finished.add(path.popitem()[0])
            elif name in path:
                names = list(path)
                return list(reversed(names[names.index(name) :])) + [names[-1]]
            elif name not in finished:
                path[name] = None
                pending.append(iter(before.get(name, ())))
    return []
