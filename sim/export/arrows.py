"""Messages in a trace: which entry at one entity led to which entry at another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sim.kernel import Entry
from sim.story import Vocabulary, span_key


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
    open_spans: dict[tuple[str, ...], list[int]] = {}
    ended: dict[int, int] = {}
    names: dict[int, str] = {}
    for position, entry in enumerate(entries):
        telling = vocabulary.get(str(entry[1]))
        if telling is None:
            continue
        named = telling.named(entry)
        if telling.ends:
            waiting = open_spans.get(span_key(telling.ends, named))
            if waiting:
                ended[waiting.pop(0)] = position
        if telling.begins:
            key = span_key(telling.begins, named)
            open_spans.setdefault(key, []).append(position)
            names[position] = " ".join(key)
    return [Span(name, start, ended.get(start)) for start, name in names.items()]
