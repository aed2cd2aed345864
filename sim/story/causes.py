"""What led to an entry of a trace: backwards along entities and messages."""

from __future__ import annotations

from collections.abc import Sequence

from ckptsim.sim.kernel import Entry
from ckptsim.sim.story.spans import spans
from ckptsim.sim.story.telling import Vocabulary


def causes(
    entries: Sequence[Entry], vocabulary: Vocabulary, effects: Sequence[int], *, first: int = 0
) -> list[int]:
    """Return the positions of what can have led to some entries, ascending, these included.

    An entry can have led to the next one of its entity, to the end of a span that it begins, and to
    what comes next at the entity that it hands something to.  first: go back no further.
    """
    last = max(effects)
    arrived: dict[int, list[int]] = {}
    for span in spans(entries[: last + 1], vocabulary):
        if span.end is not None:
            arrived.setdefault(span.end, []).append(span.start)
    before = _before(entries, vocabulary, last)
    found: dict[int, None] = {}
    waiting = list(effects)
    while waiting:
        position = waiting.pop()
        if position < first or position in found:
            continue
        found[position] = None
        waiting += before[position]
        waiting += arrived.get(position, [])
    return sorted(found)


def _before(entries: Sequence[Entry], vocabulary: Vocabulary, last: int) -> list[list[int]]:
    """Return per entry the one before it at its entity, and what was handed over since then."""
    newest: dict[str, int] = {}
    handed: dict[str, list[int]] = {}
    before: list[list[int]] = []
    for position, entry in enumerate(entries[: last + 1]):
        here = str(entry[2])
        own = [newest[here]] if here in newest else []
        before.append([*own, *handed.pop(here, [])])
        newest[here] = position
        telling = vocabulary.get(str(entry[1]))
        to = None if telling is None else telling.named(entry).get("to")
        if to is not None and str(to) != here:
            handed.setdefault(str(to), []).append(position)
    return before
