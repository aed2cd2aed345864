"""The source side: concurrent readers of partitions, and the states that come of their results.

A *feed* (a stream, or the shared feed of a global source) is read in rounds.  A round has readers
1..k that run concurrently, each on its own partition with its own `partition_id`.  Their results
are *absorbed* in reader order, whatever the order in which they end: the result of reader 2 waits
for reader 1.  Each absorbed result is followed by a checkpoint, so ids are free of gaps in the
order of absorption although records of later partitions were sent long before.

A checkpoint shows the one result that was absorbed since the last one, so that at most one feed is
fresh in a message.  A stream feed's message has its own state alone.  A global source's message
lists every stream: the fresh one with its key, the others as they stand, without. The shared state
is repeated, and its feed's records are counted when that feed is the fresh one.

The partitions of a round are known when it begins, or are *generated* one after the other while
readers are at work.  Such a round is over when its generation has ended and every result was
absorbed.  That all partitions generated so far have been read says nothing of those to come, and
a partition that was read says nothing of those that were generated before it.

A failed reader cancels all later ones of its round, also those generated later.  The failure
surfaces when the round reaches it, after a checkpoint of the progress before it.

Promised: indexes are 1, 2, 3, ... per feed, or per sync for global messages.  Every counted record
is in exactly one message.  There is one message per result, and none on request, because nothing is
ever left fresh.  No state claims a partition that is still being read or was not counted.

Not promised: how messages travel.  On sockets they queue for the next reader's socket, and may
overtake the records that they count.

Source: airbytehq/airbyte, bulk extract CDK, `FeedReader` and `StateManager` (socket version).  Its
lists of pending states serve feeds that checkpoint at the same time.  The world makes that race of
the messages of this core (`checkpoint_lock`).  A global message needs an id that no reader has.
The original draws four characters.  This core draws nothing and takes the index of the message,
which is longer than any drawn id.  Generated partitions: airbytehq/airbyte-python-cdk,
`ConcurrentCursor` (#343: a position waits for all partitions up to it), and airbytehq/airbyte
#34079, where it did not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from ckptsim.models.core import ProtocolError
from ckptsim.models.ordering import terms

# A feed: a stream, or None for the shared feed of a global source.
Feed = terms.StreamDescriptor | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceParameters:
    """What a source core is built from.

    streams: the catalog, in its order.  is_global: whether states speak of the whole sync.
    initial: the state each stream resumes from. initial_shared: the shared one.
    """

    medium: terms.Medium
    streams: tuple[terms.StreamDescriptor, ...]
    is_global: bool = False
    initial: tuple[tuple[terms.StreamDescriptor, object], ...] = ()
    initial_shared: object | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundStarted:
    """A feed's next round began, with readers 1..`readers`. generating: more partitions follow."""

    feed: Feed
    readers: int
    generating: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionGenerated:
    """The next partition of the round was generated. Its reader has the next number."""

    feed: Feed


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationEnded:
    """The round has all its partitions."""

    feed: Feed


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderFinished:
    """A reader ended: its position, its records, and their id (SOCKET only)."""

    feed: Feed
    reader: int
    state: object
    count: int
    partition_id: terms.CheckpointId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderFailed:
    """A reader failed."""

    feed: Feed
    reader: int


@dataclass(frozen=True, slots=True)
class CheckpointRequested:
    """A checkpoint is wanted beside the ones of the results. Nothing is fresh, so it gives none."""


_OfFeed = RoundStarted | PartitionGenerated | GenerationEnded | ReaderFinished | ReaderFailed
SourceEvent = _OfFeed | CheckpointRequested


@dataclass(frozen=True, slots=True, kw_only=True)
class EmitState:
    """Emit a state message.

    payload: the stream's state, or the shared state of a global message.
    states: of a global message, the state of every stream of the catalog, None where there is none.
    inner: of a global message, the key of the entry that is fresh in it. Empty where none is.
    """

    kind: terms.StateKind
    payload: object | None
    count: int
    stream: terms.StreamDescriptor | None = None
    index: terms.CheckpointIndex | None = None
    partition_id: terms.CheckpointId | None = None
    states: tuple[tuple[terms.StreamDescriptor, object | None], ...] = ()
    inner: tuple[tuple[terms.StreamDescriptor, terms.CheckpointIndex, terms.CheckpointId], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelReaders:
    """Cancel these readers of the feed's round. Their results are never absorbed."""

    feed: Feed
    readers: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailFeed:
    """Fail the feed: its round has reached the failed reader."""

    feed: Feed
    reader: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRound:
    """The feed's round is over: every reader's result was absorbed, and no partition follows."""

    feed: Feed


SourceEffect = EmitState | CancelReaders | FailFeed | EndRound


@dataclass(frozen=True, slots=True)
class _Fresh:
    """An absorbed result with its key: what one message shows."""

    state: object
    count: int
    index: terms.CheckpointIndex | None
    partition_id: terms.CheckpointId | None


@dataclass(slots=True)
class _Round:
    """One round: what each reader ended with (None: it failed), and who is next."""

    readers: int
    generating: bool = False
    ended: dict[int, ReaderFinished | None] = field(default_factory=dict)
    next_reader: int = 1
    failed: int | None = None  # the first failed reader. All later ones are cancelled

    @property
    def over(self) -> bool:
        """Whether all results were absorbed, or the failed reader was reached."""
        return self.absorbed or self.next_reader == self.failed

    @property
    def absorbed(self) -> bool:
        """Whether all results were absorbed, and no partition follows."""
        return self.next_reader > self.readers and not self.generating


@dataclass(slots=True)
class _FeedState:
    """One feed: its current state, its next index, its round."""

    current: object
    next_index: terms.CheckpointIndex = 1
    round: _Round | None = None


class SourceCore:
    """A source's readers and states: `step` takes an event and returns the effects it causes."""

    def __init__(self, parameters: SourceParameters) -> None:
        self.parameters = parameters
        self._socket = parameters.medium is terms.Medium.SOCKET
        initial = dict(parameters.initial)
        self._streams = {stream: _FeedState(initial.get(stream)) for stream in parameters.streams}
        self._shared = _FeedState(parameters.initial_shared) if parameters.is_global else None
        self._next_message: terms.CheckpointIndex = 1

    def step(self, event: SourceEvent) -> list[SourceEffect]:
        """Return an event's effects, in order. Raises ProtocolError, with nothing changed."""
        match event:
            case RoundStarted():
                return self._on_round_started(event)
            case PartitionGenerated():
                return self._on_partition_generated(event)
            case GenerationEnded():
                return self._on_generation_ended(event)
            case ReaderFinished():
                return self._on_reader_finished(event)
            case ReaderFailed():
                return self._on_reader_failed(event)
            case CheckpointRequested():
                return []  # every result was told when it was absorbed
            case _:
                assert_never(event)

    def current(self, feed: Feed) -> object:
        """Return the state that the feed's last message told, or the one it began with."""
        found = self._shared if feed is None else self._streams.get(feed)
        return None if found is None else found.current

    def _on_round_started(self, event: RoundStarted) -> list[SourceEffect]:
        feed = self._feed(event)
        if feed.round is not None and not feed.round.over:
            raise self._refused(terms.Refusal.ROUND_UNDER_WAY, event, feed.round)
        if event.readers < 0:
            raise ProtocolError(terms.Refusal.INVALID_COUNT, event=event)
        feed.round = _Round(event.readers, event.generating)
        return self._absorb(event.feed, feed, feed.round)

    def _on_partition_generated(self, event: PartitionGenerated) -> list[SourceEffect]:
        current = self._generated(self._feed(event), event)
        current.readers += 1
        if current.failed is None:
            return []
        return [CancelReaders(feed=event.feed, readers=(current.readers,))]

    def _on_generation_ended(self, event: GenerationEnded) -> list[SourceEffect]:
        feed = self._feed(event)
        current = self._generated(feed, event)
        current.generating = False
        return self._absorb(event.feed, feed, current)

    def _on_reader_finished(self, event: ReaderFinished) -> list[SourceEffect]:
        feed = self._feed(event)
        current = self._round_of(feed, event)
        if event.count < 0:
            raise ProtocolError(terms.Refusal.INVALID_COUNT, event=event)
        if self._socket and event.partition_id is None:
            raise ProtocolError(terms.Refusal.MISSING_PARTITION_ID, event=event)
        if current.failed is not None and event.reader > current.failed:
            return []  # cancelled before. The result comes too late to matter
        current.ended[event.reader] = event
        return self._absorb(event.feed, feed, current)

    def _on_reader_failed(self, event: ReaderFailed) -> list[SourceEffect]:
        feed = self._feed(event)
        current = self._round_of(feed, event)
        if current.failed is not None and event.reader > current.failed:
            return []
        current.ended[event.reader] = None
        current.failed = event.reader
        later = range(event.reader + 1, current.readers + 1)
        cancelled = tuple(reader for reader in later if reader not in current.ended)
        effects: list[SourceEffect] = []
        if cancelled:
            effects.append(CancelReaders(feed=event.feed, readers=cancelled))
        return effects + self._absorb(event.feed, feed, current)

    def _absorb(self, name: Feed, feed: _FeedState, current: _Round) -> list[SourceEffect]:
        """Absorb every result that is due, each followed by a checkpoint."""
        effects: list[SourceEffect] = []
        while current.next_reader in current.ended:
            result = current.ended[current.next_reader]
            if result is None:
                return [*effects, FailFeed(feed=name, reader=current.next_reader)]
            current.next_reader += 1
            feed.current = result.state
            effects.append(self._message(name, self._fresh(feed, result)))
        if current.absorbed:
            effects.append(EndRound(feed=name))
        return effects

    def _fresh(self, feed: _FeedState, result: ReaderFinished) -> _Fresh:
        if not self._socket:
            return _Fresh(result.state, result.count, None, None)
        index = feed.next_index
        feed.next_index += 1
        return _Fresh(result.state, result.count, index, result.partition_id)

    def _message(self, name: Feed, fresh: _Fresh) -> EmitState:
        """Return the message that shows a result. A global one shows all other feeds as well."""
        if self._shared is None:
            return EmitState(
                kind=terms.StateKind.STREAM,
                stream=name,
                payload=fresh.state,
                count=fresh.count,
                index=fresh.index,
                partition_id=fresh.partition_id,
            )
        inner: tuple[
            tuple[terms.StreamDescriptor, terms.CheckpointIndex, terms.CheckpointId], ...
        ] = ()
        if name is not None and fresh.index is not None and fresh.partition_id is not None:
            inner = ((name, fresh.index, fresh.partition_id),)
        index, partition_id = self._message_key(None if name is not None else fresh.partition_id)
        return EmitState(
            kind=terms.StateKind.SNAPSHOT if inner else terms.StateKind.GLOBAL,
            payload=self._shared.current,
            count=fresh.count,
            index=index,
            partition_id=partition_id,
            states=tuple((stream, feed.current) for stream, feed in self._streams.items()),
            inner=inner,
        )

    def _message_key(
        self, of_shared: terms.CheckpointId | None
    ) -> tuple[terms.CheckpointIndex | None, terms.CheckpointId | None]:
        """Return the key of the next global message. Its id is the shared reader's, or its own."""
        if not self._socket:
            return None, None
        index = self._next_message
        self._next_message += 1
        return index, f"message-{index}" if of_shared is None else of_shared

    def _feed(self, event: _OfFeed) -> _FeedState:
        feed = self._shared if event.feed is None else self._streams.get(event.feed)
        if feed is None:
            raise ProtocolError(terms.Refusal.UNKNOWN_STREAM, event=event)
        return feed

    def _generated(self, feed: _FeedState, event: PartitionGenerated | GenerationEnded) -> _Round:
        """Return the round of the feed, with partitions that must still be generated."""
        if feed.round is None or not feed.round.generating or feed.round.over:
            raise self._refused(terms.Refusal.UNKNOWN_READER, event, feed.round)
        return feed.round

    def _round_of(self, feed: _FeedState, event: ReaderFinished | ReaderFailed) -> _Round:
        """Return the feed's round, in which the reader must be and must not have ended."""
        current = feed.round
        if current is None or not 1 <= event.reader <= current.readers:
            raise self._refused(terms.Refusal.UNKNOWN_READER, event, current)
        if event.reader in current.ended:
            raise self._refused(terms.Refusal.READER_ENDED, event, current)
        return current

    def _refused(
        self, kind: terms.Refusal, event: SourceEvent, current: _Round | None
    ) -> ProtocolError:
        if current is None:
            return ProtocolError(kind, state="no round", event=event)
        due = f"round of {current.readers} readers, {current.next_reader} is due"
        return ProtocolError(kind, state=due, event=event)
