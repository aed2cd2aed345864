"""Messages in a trace: which entry at one entity led to which entry at another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ckptsim.sim.kernel import Entry
from ckptsim.sim.story.telling import Vocabulary, span_keys


@dataclass(frozen=True, slots=True)
class Span:
    """Something with a beginning and an end; `end` is None when it never ended.

    start, end: positions of the entries in the trace; a message when their entities differ.
    """

    name: str
    start: int
    end: int | None


def spans(entries: Sequence[Entry], vocabulary: Vocabulary) -> list[Span]:
    """Return the spans of a trace by their start; of equal keys, the first begun ends first."""
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
