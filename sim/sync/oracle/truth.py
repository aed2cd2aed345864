"""The world's own account of every record and state, kept apart from what the core believes.

A record is a position of a feed. Packets are runs of positions.  Nothing here is asked by source,
destination or core: only properties, rows and goals read it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ckptsim.models.ordering import Level, StateKind, StreamDescriptor
from ckptsim.scenarios.sync import Medium, SyncModel
from ckptsim.scenarios.sync import StateKind as FeedKind
from ckptsim.sim.sync.intervals import Intervals, IntervalSet

LOG_FEED = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """What the source reads in one sequence: a stream, or the change log of all streams.

    index: place among the feeds. stream: index of its stream, None for the log.
    total: how many records it has, at positions 0 to total - 1.
    """

    index: int
    name: str
    stream: int | None
    total: int
    partition_records: int


class Partition:
    """What one reader reads in one attempt, and how far its records have come.

    ordinal: its number among the readers of its feed over the run, from 0.
    wire_id: the partition id on its records. Two readers may draw the same.
    low, high: its positions. `high` is the end that it reached, which may be less than planned.
    place: its number among the planned partitions of its feed, from 1, or 0 for none.
    """

    __slots__ = (
        "durable",
        "feed",
        "high",
        "last_durable_ns",
        "last_read_ns",
        "low",
        "ordinal",
        "place",
        "produced",
        "read",
        "socket",
        "source_count",
        "started_ns",
        "wire_id",
    )

    def __init__(self, feed: Feed, *, low: int, high: int) -> None:
        self.feed = feed
        self.ordinal = 0
        self.place = 0
        self.low = low
        self.high = high
        self.wire_id = ""
        self.socket = 0
        self.started_ns = 0
        self.source_count = 0
        self.produced = 0
        self.read = 0
        self.durable = 0
        self.last_read_ns = 0
        self.last_durable_ns = 0


class SourceState:
    """One state message of the source, from its making to its acknowledgement.

    index: its number in its scope, from 1. wire_index: what the wire says (sockets), the same
        unless a fault is planned.
    claims: per feed, every position that a restart from this state does not read again.
    partitions: the ones that it is the first to claim.
    unread: the ones that it claims though their readers were still at work when it was made.
    accounts: what the core has to wait for before it may release this state.
    settled: committed and rejected records with which it was returned.
    refused: whether the platform did not keep it when it was returned.
    """

    __slots__ = (
        "accepted_ns",
        "accepted_step",
        "accounts",
        "acknowledged_ns",
        "attempt",
        "claims",
        "first_send_ns",
        "index",
        "inner",
        "kind",
        "partitions",
        "payload",
        "refused",
        "reserved",
        "scope",
        "send_ns",
        "settled",
        "size_bytes",
        "socket",
        "source_count",
        "stream",
        "tries",
        "triggered_ns",
        "unread",
        "wire_id",
        "wire_index",
    )

    def __init__(self, *, attempt: int, scope: str, index: int, payload: str, now: int) -> None:
        self.attempt = attempt
        self.scope = scope
        self.index = index
        self.wire_index = index
        self.payload = payload
        self.triggered_ns = now
        self.kind = StateKind.STREAM
        self.stream: int | None = None
        self.wire_id: str | None = None
        self.inner: tuple[tuple[StreamDescriptor, str], ...] = ()
        self.source_count = 0
        self.size_bytes = 0
        self.claims: tuple[Intervals, ...] = ()
        self.partitions: tuple[Partition, ...] = ()
        self.unread: tuple[Partition, ...] = ()
        self.socket: int | None = None
        self.accepted_ns: int | None = None
        self.accepted_step = 0
        self.accounts: tuple[Account, ...] = ()
        self.settled = (0, 0)
        self.reserved = False
        self.refused = False
        self.first_send_ns: int | None = None
        self.send_ns: int | None = None
        self.acknowledged_ns: int | None = None
        self.tries = 0


@dataclass(slots=True, eq=False)
class Account:
    """Everything that was read, and the report to the core, of what one state has to wait for.

    On sockets: the records of one partition id of one stream.  On STDIO: the records of one stream
    that were read between two states.
    """

    stream: int
    read: int = 0
    persisted: tuple[int, int] = (0, 0)  # committed, rejected. Of the same records at each level
    complete: tuple[int, int] = (0, 0)
    persisted_bytes: int = 0  # of committed records
    complete_bytes: int = 0
    reported_step: int = 0  # `AttemptTruth.step` of the last report

    def report(self, level: Level, committed: int, rejected: int, size_bytes: int) -> None:
        """Enter a report of one level. size: of the committed records."""
        if level is Level.COMPLETE:
            self.complete = (self.complete[0] + committed, self.complete[1] + rejected)
            self.complete_bytes += size_bytes
        else:
            self.persisted = (self.persisted[0] + committed, self.persisted[1] + rejected)
            self.persisted_bytes += size_bytes

    @property
    def settled(self) -> tuple[int, int]:
        """Committed and rejected records, by the level that accounts for most, or the later one."""
        return self.complete if self._is_complete else self.persisted

    @property
    def settled_bytes(self) -> int:
        """Bytes of the committed records, by the same level."""
        return self.complete_bytes if self._is_complete else self.persisted_bytes

    @property
    def _is_complete(self) -> bool:
        return sum(self.complete) >= sum(self.persisted)

    @property
    def is_revised(self) -> bool:
        """Whether the later level says otherwise than the earlier one, as with late rejections."""
        levels = (self.persisted, self.persisted_bytes), (self.complete, self.complete_bytes)
        return levels[0] != levels[1] and sum(self.complete) > 0 and sum(self.persisted) > 0

    @property
    def reported(self) -> int:
        """How many records were reported durable, committed or rejected."""
        return sum(self.settled)


@dataclass(slots=True)
class AttemptTruth:
    """The account of one attempt.

    base: per feed, what the attempt was told not to read again.
    durable: per feed, what this attempt made durable, and the base.
    states: scope -> the source's states in their order. released: scope -> how many were returned.
    """

    number: int
    started_ns: int
    base: tuple[Intervals, ...]
    durable: list[IntervalSet]
    states: dict[str, list[SourceState]] = field(default_factory=dict)
    released: dict[str, int] = field(default_factory=dict)
    accounts: dict[tuple[int, str | int], Account] = field(default_factory=dict)
    intervals: dict[int, int] = field(default_factory=dict)  # per stream, on STDIO
    partitions: list[Partition] = field(default_factory=list)
    read: dict[int, int] = field(default_factory=dict)  # records per stream
    completed: dict[str, None] = field(default_factory=dict)  # scopes with a COMPLETE
    acknowledged: list[Intervals] = field(default_factory=list)  # per feed, by returned states
    unread: dict[int, str] = field(default_factory=dict)  # why a feed was not read to its end
    redelivered: int = 0
    got_data: bool = False  # the platform kept a state of some records
    step: int = 0  # a count of what happened, to say what came before what
    ended_ns: int | None = None
    reason: str | None = None

    def account(self, stream: int, key: str | int) -> Account:
        """Return the account of an id (sockets) or of an interval (STDIO) of a stream."""
        found = self.accounts.get((stream, key))
        if found is None:
            found = self.accounts[(stream, key)] = Account(stream)
        return found

    def end_interval(self, stream: int) -> Account:
        """End the present interval of a stream (STDIO) and return its account."""
        interval = self.intervals.get(stream, 0)
        self.intervals[stream] = interval + 1
        return self.account(stream, interval)

    def acknowledge(self, state: SourceState) -> None:
        """Enter that the send of a state has returned."""
        self.released[state.scope] = state.index
        if state.refused:
            return
        if state.stream is None:
            self.acknowledged = list(state.claims)
        else:
            self.acknowledged[state.stream] = state.claims[state.stream]

    def next_step(self) -> int:
        """Count one thing that happened."""
        self.step += 1
        return self.step


class Truth:
    """The account of a whole run, over all attempts."""

    def __init__(self, model: SyncModel) -> None:
        self.model = model
        self.descriptors = tuple(
            StreamDescriptor(stream.name, stream.namespace or None) for stream in model.streams
        )
        self.stream_index = {descriptor: i for i, descriptor in enumerate(self.descriptors)}
        self.scopes = tuple(str(descriptor) for descriptor in self.descriptors)
        self.feeds = _feeds(model, self.scopes)
        self.log_run = model.source.packet_records
        self.on_sockets = model.medium is Medium.SOCKET
        self.stored = [IntervalSet() for _ in self.feeds]  # durable over all attempts
        self.produced_count = 0
        self.attempts: list[AttemptTruth] = []

    def begin_attempt(self, base: tuple[Intervals, ...], now: int) -> AttemptTruth:
        """Open the account of the next attempt, which starts from `base`."""
        durable = [IntervalSet(intervals) for intervals in base]
        attempt = AttemptTruth(len(self.attempts) + 1, now, base, durable)
        attempt.acknowledged = list(base)
        self.attempts.append(attempt)
        return attempt

    def kept_claim(self, feed: Feed, position: int) -> SourceState | None:
        """Return the state that the attempts before this one left with a claim of a position."""
        states = [
            state
            for attempt in self.attempts[:-1]
            for own in attempt.states.values()
            for state in own
            if state.acknowledged_ns is not None and not state.refused and state.claims
        ]
        claiming = (
            state
            for state in states
            if any(low <= position < high for low, high in state.claims[feed.index])
        )
        return next(claiming, None)

    def left_out(self, feed: Feed) -> str:
        """Say why the last attempt has read a feed in part, as the end of a sentence."""
        why = self.attempts[-1].unread.get(feed.index)
        return f": the source ended {feed.name} though {why}" if why else ""

    def descriptor_of(self, feed: Feed) -> StreamDescriptor | None:
        """Return the stream of a feed, or None for the log."""
        return None if feed.stream is None else self.descriptors[feed.stream]

    def stream_at(self, feed: Feed, position: int) -> int:
        """Return the index of the stream that a record belongs to."""
        if feed.stream is not None:
            return feed.stream
        return position // self.log_run % len(self.descriptors)

    def piece_end(self, feed: Feed, low: int, high: int) -> int:
        """Return where the packet that begins at `low` ends: full, or at the end of its run."""
        size = self.log_run
        end = low + size if feed.stream is not None else (low // size + 1) * size
        return min(end, high)

    def rejected(self, stream: int, low: int, high: int) -> int:
        """Return how many records of a stream are rejected in low <= position < high."""
        every = self.model.streams[stream].reject_every
        return high // every - low // every if every else 0


def _feeds(model: SyncModel, scopes: tuple[str, ...]) -> tuple[Feed, ...]:
    feeds: list[Feed] = []
    if model.state_kind is not FeedKind.GLOBAL:
        for index, (stream, scope) in enumerate(zip(model.streams, scopes, strict=True)):
            feeds.append(
                Feed(
                    index=index,
                    name=scope,
                    stream=index,
                    total=stream.records,
                    partition_records=stream.partition_records,
                )
            )
    if model.state_kind is not FeedKind.STREAM:
        feeds.append(
            Feed(
                index=len(feeds),
                name=LOG_FEED,
                stream=None,
                total=model.source.log_records,
                partition_records=model.source.log_partition_records,
            )
        )
    return tuple(feeds)
