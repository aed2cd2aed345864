"""The facts of one attempt of the ordering protocol, and what follows from them.

Of a stream's released ids the newest keep counters of their own; what older ones counted is one sum
per stream and level, in which their late reports may still come.  An id that is read again after
that begins anew.

Source: the protocol's own description (docs/ordering.md) and airbytehq/airbyte, PR #60886 with the
checks of the 2026 checkpoint manager; not the core.
"""

from __future__ import annotations

from dataclasses import dataclass

from ckptsim.models import ordering
from ckptsim.models.ordering import Count, Level, Medium, Obstacle, StateKind
from tests.rules.naive.naive import Naive

ZERO = Count()
LEVELS = tuple(Level)  # to go through a class of constants takes five times as long
Stream = ordering.StreamDescriptor
Portion = tuple[Stream, str]


@dataclass(frozen=True, slots=True)
class AcceptedState:
    """A state that was accepted, under the key by which it is ordered."""

    scope: ordering.Scope
    index: int
    id: str
    read: ordering.StateRead
    inner: tuple[Portion, ...]
    listed: tuple[Stream, ...]


class OrderingFacts(Naive):
    """The facts, in the order in which they happened, and what can be said of them."""

    def __init__(self, parameters: ordering.OrderingParameters) -> None:
        self._sockets = parameters.medium is Medium.SOCKET
        self._kept = parameters.released_ids_kept
        self._channels = range(parameters.channels)
        # Facts, in the order in which they happened.
        self._catalog = list(parameters.streams)
        self._reads: dict[Portion, tuple[int, ...]] = {}
        self._durable: dict[tuple[Stream, Level, str], tuple[Count, ...]] = {}
        self._states: list[AcceptedState] = []
        self._sent: list[AcceptedState] = []
        self._credits: list[tuple[Portion, Count]] = []  # of sent states
        # Sent states covered these; of a stream's only the newest keep counters of their own.
        self._released: list[Portion] = []
        self._folded_reads: list[tuple[Stream, int]] = []
        self._folded_durable: list[tuple[Stream, Level, int]] = []  # late reports among them
        self._folded_credits: list[tuple[Stream, Count]] = []
        self._completes: list[Stream] = []
        self._closed: list[int] = []
        self._verdicts: list[tuple[Stream, ordering.Verdict]] = []
        # The pass: the state whose send is outstanding, and whether a flush was wanted meanwhile.
        self._outstanding: AcceptedState | None = None
        self._credit: list[tuple[Portion, Count]] = []  # what its return adds
        self._wanted = False
        self._ending = "open"

    # What follows from the facts -----------------------------------------------------------

    def _read(self, stream: Stream, identity: str | None = None) -> int:
        if identity is not None:
            return sum(self._reads.get((stream, identity), ()))
        counted = [(s, sum(counts)) for (s, _), counts in self._reads.items()]
        return sum(count for s, count in counted + self._folded_reads if s == stream)

    def _folded_left(self, stream: Stream, level: Level) -> int:
        """Return how many records of folded ids a level has not accounted for."""
        read = sum(count for s, count in self._folded_reads if s == stream)
        known = (stream, level)
        return read - sum(count for *of, count in self._folded_durable if tuple(of) == known)

    def _at(self, level: Level, stream: Stream, identity: str) -> Count:
        return sum(self._durable.get((stream, level, identity), ()), ZERO)

    def _committed(self, portion: Portion) -> Count:
        """Return the word of the level that accounts for more; COMPLETE is the later one."""
        persisted, complete = (self._at(level, *portion) for level in LEVELS)
        return complete if complete.accounted >= persisted.accounted else persisted

    def _accounted(self, portion: Portion) -> int:
        return max(self._accounted_at(level, *portion) for level in LEVELS)

    def _accounted_at(self, level: Level, stream: Stream, identity: str) -> int:
        return sum(count.accounted for count in self._durable.get((stream, level, identity), ()))

    def _complete(self, stream: Stream) -> int:
        """Return how many records of a stream the later level accounts for."""
        known = (stream, Level.COMPLETE)
        folded = sum(count for *of, count in self._folded_durable if tuple(of) == known)
        ids = [identity for s, at, identity in self._durable if (s, at) == known]
        return folded + sum(self._accounted_at(Level.COMPLETE, stream, each) for each in ids)

    def _interval(self, stream: Stream) -> int:
        """Return the number of the interval that the stream's records count for, on one pipe."""
        return 1 + sum(state.scope in (None, stream) for state in self._states)

    def _unsent(self, scope: ordering.Scope) -> list[AcceptedState]:
        # Looked up by index: of hundreds of states each would be compared with each.
        sent: dict[int, list[AcceptedState]] = {}
        for state in self._sent:
            sent.setdefault(state.index, []).append(state)
        return [s for s in self._states if s.scope == scope and s not in sent.get(s.index, ())]

    def _last(self, scope: ordering.Scope) -> int:
        return max((state.index for state in self._sent if state.scope == scope), default=0)

    def _scopes(self) -> list[ordering.Scope]:
        if not self._states:
            return []
        return [None] if self._states[0].scope is None else list(self._catalog)

    def _closed_all(self) -> bool:
        return len(self._closed) == len(self._channels)

    def _ended(self, stream: Stream) -> bool:
        return stream in self._completes and (not self._sockets or self._closed_all())

    def _incomplete(self) -> tuple[Stream, ...]:
        return tuple(stream for stream in self._catalog if stream not in self._completes)

    def _covered(self, state: AcceptedState) -> list[Portion]:
        if state.scope is not None:
            return [(state.scope, state.id)]
        outer = [(stream, state.id) for stream in self._catalog]
        return list(dict.fromkeys((*state.inner, *outer)))

    def _short(self, state: AcceptedState) -> ordering.Shortfall | None:
        """Return what the state waits for, or None when it may be released."""
        covered = self._covered(state)
        if state.read.kind is StateKind.SNAPSHOT:
            inner = list(dict.fromkeys(state.inner))
            short = self._not_durable(inner)
            if short is not None or self._not_counted(state, inner) is None:
                return short
        return self._not_durable(covered) or self._not_counted(state, covered)

    def _not_durable(self, covered: list[Portion]) -> ordering.Shortfall | None:
        for portion in covered:
            read, found = self._read(*portion), self._accounted(portion)
            if read != found:
                stream, identity = portion
                return ordering.Shortfall(
                    obstacle=Obstacle.DURABILITY,
                    expected=read,
                    found=found,
                    stream=stream,
                    id=identity,
                )
        return None

    def _not_counted(
        self, state: AcceptedState, covered: list[Portion]
    ) -> ordering.Shortfall | None:
        found = sum(self._committed(portion).accounted for portion in covered)
        expected = state.read.source_count or 0
        if not self._sockets or found == expected:
            return None
        return ordering.Shortfall(obstacle=Obstacle.SOURCE_COUNT, expected=expected, found=found)

    # Facts ---------------------------------------------------------------------------------

    def _take_report(self, event: ordering.RecordsDurable) -> None:
        count = Count(event.count, event.size_bytes, event.rejected)
        if (event.stream, event.id) not in self._reads:
            self._folded_durable.append((event.stream, event.level, count.accounted))
            return
        report = (event.stream, event.level, event.id)
        self._durable[report] = (*self._durable.get(report, ()), count)

    def _fold_oldest(self, stream: Stream) -> None:
        """Give up the counters of the id released first when more are kept than may be."""
        released = [portion for portion in self._released if portion[0] == stream]
        if len(released) <= self._kept:
            return
        oldest = released[0]
        self._released.remove(oldest)
        self._folded_reads.append((stream, sum(self._reads.pop(oldest))))
        for level in LEVELS:
            counts = self._durable.pop((stream, level, oldest[1]), ())
            self._folded_durable.append((stream, level, sum(counts, ZERO).accounted))
        self._folded_credits += [(stream, count) for p, count in self._credits if p == oldest]
        self._credits = [(p, count) for p, count in self._credits if p != oldest]
