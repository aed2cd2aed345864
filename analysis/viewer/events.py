"""The events of a page and what led to what, from the entries of a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ckptsim.sim.story import Telling, Vocabulary, span_keys

# Of a page below 1 MB, or 5 MB for a job of 500 subtasks.  Assumptions: bytes of an event.
_EVENTS_LEAST, _EVENTS_PER_LANE = 10_000, 100
_MESSAGES = ("triggered", "completed", "aborted")  # what the coordinator does for a checkpoint
Entry = tuple[Any, ...]


@dataclass(slots=True)
class Events:
    """The events of a page and their links, from the entries of a trace.

    lanes: the index of each lane by its name. senders: by receiver the sender of each channel.
    left_out: how many entries a page has no room for.
    """

    vocabulary: Vocabulary
    lanes: Mapping[str, int]
    senders: Mapping[str, Sequence[str]]
    kinds: dict[str, int] = field(default_factory=dict)
    events: list[list[Any]] = field(default_factory=list)
    links: list[tuple[int, int, str]] = field(default_factory=list)
    left_out: int = 0

    def take(self, trace: Sequence[Entry], ranked: Sequence[int]) -> None:
        """Take the entries: the ones of faults, then checkpoint by checkpoint, then all others."""
        most = max(_EVENTS_LEAST, _EVENTS_PER_LANE * len(self.lanes))
        kept = self._within(trace, ranked, most)
        self.left_out = len(trace) - len(kept)
        linked = _Links(self.senders)
        for number, place in enumerate(kept):
            entry = trace[place]
            kind, who = str(entry[1]), str(entry[2]).removeprefix("task ")
            self.kinds.setdefault(kind, len(self.kinds))
            lane = self.lanes[who]
            self.events.append([entry[0], self.kinds[kind], lane, *map(_plain, entry[3:])])
            causes = linked.causes(number, kind, who, entry, self.vocabulary.get(kind))
            self.links += [(cause, number, span) for cause, span in causes.items()]

    def _within(self, trace: Sequence[Entry], ranked: Sequence[int], most: int) -> list[int]:
        if len(trace) <= most:
            return list(range(len(trace)))
        always: list[int] = []
        by_number: dict[object, list[int]] = {}
        for place, entry in enumerate(trace):
            telling = self.vocabulary.get(str(entry[1]))
            number = None if telling is None else telling.named(entry).get("index")
            if (telling is not None and telling.always) or entry[1] in _MESSAGES:
                always.append(place)
            else:
                by_number.setdefault(number, []).append(place)
        kept = always[:most]
        for number in [*ranked, None]:
            own = by_number.pop(number, [])
            if len(kept) + len(own) <= most:
                kept += own
        return sorted(kept)

    def words(self, kind: str) -> tuple[str, list[str]]:
        """Return how a kind reads: a sentence with fields in braces, and the names of its fields.

        A kind that the vocabulary does not have reads as its name.
        """
        telling = self.vocabulary.get(kind)
        return (kind, []) if telling is None else (telling.says, list(telling.names))


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


class _Links:
    """Which event led to which: by spans of the vocabulary, by barriers, by checkpoints.

    senders: by receiver the sender of each channel.
    """

    def __init__(self, senders: Mapping[str, Sequence[str]]) -> None:
        self._senders = senders
        self._open: dict[tuple[str, ...], int] = {}
        self._sent: dict[tuple[str, object], int] = {}
        self._own: dict[tuple[str, object], int] = {}
        self._triggered: dict[object, int] = {}
        self._answered: dict[object, int] = {}

    def causes(
        self, number: int, kind: str, who: str, entry: Entry, telling: Telling | None
    ) -> dict[int, str]:
        """Return the events that led to this one, with the name of the span that ends here."""
        found: dict[int, str] = {}
        named = {} if telling is None else telling.named(entry)
        if telling is not None:
            for key in span_keys(telling.ends, named, who):
                if key in self._open:
                    found[self._open.pop(key)] = key[0]
            for key in span_keys(telling.begins, named, who):
                self._open[key] = number
        index = named.get("index")
        if self._senders and index is not None and not isinstance(index, bool):
            found = dict.fromkeys(self._of_checkpoint(number, kind, who, entry), "") | found
        return found

    def _of_checkpoint(self, number: int, kind: str, who: str, entry: Entry) -> list[int]:
        index = entry[3]
        if kind == "triggered":
            self._triggered[index] = number
            return []
        if kind in ("completed", "aborted"):
            answered = self._answered.get(index, self._triggered.get(index))
            self._own[who, index] = number
            return [] if answered is None else [answered]
        found: list[int | None] = []
        own = self._own.get((who, index))
        if kind == "barrier":
            sender = self._senders[who][int(entry[4])] if who in self._senders else ""
            found.append(self._sent.get((sender, index)))
        elif own is None:
            sent = [
                self._sent.get((one, index)) for one in dict.fromkeys(self._senders.get(who, ()))
            ]
            known = [one for one in sent if one is not None]
            found.append(max(known) if known else self._triggered.get(index))
        if kind == "committed":
            found.append(self._own.get(("coordinator", index)))
        found.append(own)
        self._own[who, index] = number
        if kind in ("sent_barrier", "performed"):
            self._sent[who, index] = number
        if kind in ("acknowledged", "declined"):
            self._answered[index] = number
        return [one for one in found if one is not None]
