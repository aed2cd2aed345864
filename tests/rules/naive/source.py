"""The rules of a source's readers and states, stated naively: from the results of each round.

Source: airbytehq/airbyte, bulk extract CDK, as docs/ordering.md tells it; not the core.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ckptsim.models.ordering import Medium, Refusal, StateKind, StreamDescriptor, source
from ckptsim.sim.rules.answers import Pick
from tests.rules.naive.naive import Naive


class SourceRules(Naive):
    """What a source is to answer: per feed its rounds, each a list of what its readers brought."""

    def __init__(self, parameters: source.SourceParameters) -> None:
        self._parameters = parameters
        self._sockets = parameters.medium is Medium.SOCKET
        self._rounds: dict[source.Feed, tuple[int, ...]] = {}  # readers of each round
        self._results: dict[tuple[source.Feed, int], dict[int, Any]] = {}  # of a round
        self._told: list[tuple[source.Feed, Any]] = []  # absorbed results, in order

    @property
    def _feeds(self) -> list[source.Feed]:
        shared: list[source.Feed] = [None] if self._parameters.is_global else []
        return [*self._parameters.streams, *shared]

    def _round(self, feed: source.Feed) -> tuple[int, dict[int, Any]]:
        """Return how many readers the feed's round has, and what came of them."""
        rounds = self._rounds.get(feed, ())
        if not rounds:
            return -1, {}
        return rounds[-1], self._results[feed, len(rounds)]

    def _absorbed(self, feed: source.Feed) -> int:
        """Return how many readers of the round, from the first on, have brought a result."""
        _, results = self._round(feed)
        count = 0
        while results.get(count + 1) is not None:
            count += 1
        return count

    def _is_over(self, feed: source.Feed) -> bool:
        readers, results = self._round(feed)
        done = self._absorbed(feed)
        return done >= readers or (done + 1 in results and results[done + 1] is None)

    def refusals(self, event: Any) -> list[str]:
        """Return why an event breaks a rule."""
        if isinstance(event, source.CheckpointRequested):
            return []
        if event.feed not in self._feeds:
            return [Refusal.UNKNOWN_STREAM]
        if isinstance(event, source.RoundStarted):
            under_way = [] if self._is_over(event.feed) else [Refusal.ROUND_UNDER_WAY]
            return [*under_way, *([Refusal.INVALID_COUNT] if event.readers < 0 else [])]
        readers, results = self._round(event.feed)
        if not 1 <= event.reader <= readers:
            return [Refusal.UNKNOWN_READER]
        if event.reader in results:
            return [Refusal.READER_ENDED]
        found: list[str] = []
        if isinstance(event, source.ReaderFinished):
            found = [Refusal.INVALID_COUNT] if event.count < 0 else []
            if self._sockets and event.partition_id is None:
                found.append(Refusal.MISSING_PARTITION_ID)
        return found

    def take(self, event: Any) -> Sequence[Any]:
        """Note an event, and return the effects that it has."""
        if isinstance(event, source.CheckpointRequested):
            return []
        feed = event.feed
        if isinstance(event, source.RoundStarted):
            self._rounds[feed] = (*self._rounds.get(feed, ()), event.readers)
            self._results[feed, len(self._rounds[feed])] = {}
            return [] if event.readers else [source.EndRound(feed=feed)]
        readers, results = self._round(feed)
        failed = [reader for reader, result in results.items() if result is None]
        if failed and event.reader > min(failed):
            return []
        before = self._absorbed(feed)
        after = {**results, event.reader: event if self._is_result(event) else None}
        self._results[feed, len(self._rounds[feed])] = after
        cancelled: list[Any] = []
        if not self._is_result(event):
            later = tuple(r for r in range(event.reader + 1, readers + 1) if r not in results)
            cancelled = [source.CancelReaders(feed=feed, readers=later)] if later else []
        return [*cancelled, *self._tell(feed, before)]

    def _is_result(self, event: Any) -> bool:
        return isinstance(event, source.ReaderFinished)

    def _tell(self, feed: source.Feed, before: int) -> list[Any]:
        readers, results = self._round(feed)
        effects: list[Any] = []
        for reader in range(before + 1, self._absorbed(feed) + 1):
            self._told.append((feed, results[reader]))
            effects.append(self._message(feed, results[reader]))
        following = self._absorbed(feed) + 1
        if following in results:
            effects.append(source.FailFeed(feed=feed, reader=following))
        elif following > readers:
            effects.append(source.EndRound(feed=feed))
        return effects

    def _current(self, feed: source.Feed) -> object:
        """Return the state that was told last of a feed, or the one that it began with."""
        told = [result.state for name, result in self._told if name == feed]
        if told:
            return told[-1]
        first = self._parameters.initial_shared
        return first if feed is None else self._parameters.initial.get(feed)

    def _message(self, feed: source.Feed, result: Any) -> Any:
        of_feed = sum(name == feed for name, _ in self._told)
        index = of_feed if self._sockets else None
        identity = result.partition_id if self._sockets else None
        if not self._parameters.is_global:
            return source.EmitState(
                kind=StateKind.STREAM,
                stream=feed,
                payload=result.state,
                count=result.count,
                index=index,
                partition_id=identity,
            )
        inner = ((feed, index, identity),) if feed is not None and self._sockets else ()
        number = len(self._told)
        own = identity if feed is None else f"message-{number}"
        return source.EmitState(
            kind=StateKind.SNAPSHOT if inner else StateKind.GLOBAL,
            payload=self._current(None),
            count=result.count,
            index=number if self._sockets else None,
            partition_id=own if self._sockets else None,
            states=tuple((each, self._current(each)) for each in self._parameters.streams),
            inner=inner,  # type: ignore[arg-type]
        )

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield the state that each feed stands at."""
        for feed in self._feeds:
            yield f"current of {feed}", core.current(feed), self._current(feed)
        yield "current of no feed", core.current(StreamDescriptor("none")), None

    def stray(self, pick: Pick) -> Any:
        """Return what readers and the host may bring next."""
        feed = pick.of(self._feeds)
        readers, results = self._round(feed)
        if pick.one_in(8):
            return self._careless(pick, feed)
        if self._is_over(feed):
            return source.RoundStarted(feed=feed, readers=pick.of((0, 1, 2, 3, 4)))
        reader = pick.of([r for r in range(1, readers + 1) if r not in results] or [1])
        if pick.one_in(6):
            return source.ReaderFailed(feed=feed, reader=reader)
        return self._result(pick, feed, reader)

    def _result(self, pick: Pick, feed: source.Feed, reader: int) -> Any:
        return source.ReaderFinished(
            feed=feed,
            reader=reader,
            state=f"{feed} {len(self._told)} {reader}",
            count=pick.integer(0, 4),
            partition_id=f"p{len(self._told)}-{reader}" if self._sockets else None,
        )

    def _careless(self, pick: Pick, feed: source.Feed) -> Any:
        other = pick.of((feed, feed, StreamDescriptor("nobody's"), None))
        reader = pick.integer(0, 4)
        bad = source.ReaderFinished(
            feed=feed, reader=reader, state="s", count=pick.of((-1, 1)), partition_id=None
        )
        return pick.of(
            (
                source.RoundStarted(feed=other, readers=pick.of((-1, 2))),
                source.ReaderFailed(feed=other, reader=reader),
                self._result(pick, other, reader),
                bad,
                source.CheckpointRequested(),
            )
        )


def drawn_source(pick: Pick) -> source.SourceParameters:
    """Return what a source may be built from."""
    streams = tuple(StreamDescriptor(name) for name in "ab"[: pick.integer(1, 2)])
    return source.SourceParameters(
        medium=pick.of(tuple(Medium)),
        streams=streams,
        is_global=pick.one_in(2),
        initial={streams[0]: "begun"} if pick.one_in(2) else {},
        initial_shared=pick.of((None, "shared")),
    )
