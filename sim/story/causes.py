"""What led to an entry of a trace: backwards along entities and messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ckptsim.sim.kernel import Entry
from ckptsim.sim.story.telling import Vocabulary, span_keys


@dataclass(frozen=True, slots=True)
class Span:
    """Something with a beginning and an end. `end` is None when it never ended.

    start, end: positions of the entries in the trace. A message when their entities differ.
    """

    name: str
    start: int
    end: int | None


def spans(entries: Sequence[Entry], vocabulary: Vocabulary) -> list[Span]:
    """Return the spans of a trace by their start. Of equal keys, the first begun ends first."""
    begun: list[tuple[str, int]] = []
    ended: dict[int, int] = {}  # index in `begun` -> position of the end
    waiting: dict[tuple[str, ...], list[int]] = {}
    for position, entry in enumerate(entries):
        telling = vocabulary.get(str(entry[1]))
        if telling is None:
            continue
        named = telling.named(entry)
        for key in span_keys(telling.ends, named, entry[2]):
            if waiting.get(key):
                ended[waiting[key].pop(0)] = position
        for key in span_keys(telling.begins, named, entry[2]):
            waiting.setdefault(key, []).append(len(begun))
            begun.append((" ".join(key), position))
    return [Span(name, start, ended.get(index)) for index, (name, start) in enumerate(begun)]


def causes(
    entries: Sequence[Entry], vocabulary: Vocabulary, effects: Sequence[int], *, first: int = 0
) -> list[int]:
    """Return the positions of what can have led to some entries, ascending, these included.

    An entry can have led to the next one of its entity, to the end of its span, and to the next one
    of its receiver.  first: go back no further.
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
    """Return per entry the one before it at its entity, and all that was handed over since then."""
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
