"""The terms of the ordering protocol: streams, media, states, levels, keys, counts, refusals.

Each stream counts its intervals from 1.  The interval's number is the index of the state that will
end it. As a decimal string it is the id of its records, so the id is known before the state.

Source: airbytehq/airbyte, bulk load CDK, `PipelineEventBookkeepingRouter`. One counter for all
streams attributed records to the wrong interval where streams interleave (PR #66686).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

# The wire's `partition_id`: unique, unordered. Says *which records* a state covers.
CheckpointId = str
# The wire's `id`: 1, 2, 3, ... without gaps. Says *when* a state may be released.
CheckpointIndex = int


@dataclass(frozen=True, slots=True)
class StreamDescriptor:
    """A stream's identity: its name and namespace, never a text joined from the two.

    Source: airbytehq/airbyte protocol, `StreamDescriptor`.  Joined texts collide: `a-b` + `c` and
    `a` + `b-c` are different streams.
    """

    name: str
    namespace: str | None = None

    # Ledgers are looked up by stream for every event.  A string computes its hash once, and the few
    # streams of a catalog that share a name may collide.
    def __hash__(self) -> int:
        return self.name.__hash__()

    def __str__(self) -> str:
        return self.name if self.namespace is None else f"{self.namespace}.{self.name}"


# What a sequence of states belongs to: one stream, or (None) the whole sync.
Scope = StreamDescriptor | None


def scope_text(scope: Scope) -> str:
    """Return the scope as the result tables spell it: the stream, or `*` for the whole sync."""
    return "*" if scope is None else str(scope)


class Medium(IntEnum):
    """How records and states travel: one ordered pipe, or several unordered sockets."""

    STDIO = 1
    SOCKET = 2


class Design(StrEnum):
    """By what a destination attributes records to states, and in which order it returns these."""

    INDEXES = "indexes"  # states have an index and an id, and arrive in any order
    ARRIVAL = "arrival"  # the same, but a state that arrives out of its order is refused
    RANGES = "ranges"  # by position: the records read since the state before


class StateKind(IntEnum):
    """What a state speaks of: one stream, the whole sync, or the whole sync with own partitions."""

    STREAM = 1
    GLOBAL = 2
    SNAPSHOT = 3


class Level(IntEnum):
    """How durable records are. COMPLETE implies PERSISTED and counts the same records again."""

    PERSISTED = 1
    COMPLETE = 2


class Verdict(IntEnum):
    """How the processing of a stream ended. The first verdict sticks."""

    PENDING = 0
    SUCCEEDED = 1
    FAILED = 2


@dataclass(frozen=True, slots=True, order=True)
class CheckpointKey:
    """Index and id of a state. Compared by the index alone.

    Source: airbytehq/airbyte, PR #60886.
    """

    index: CheckpointIndex
    id: CheckpointId = field(compare=False)


class Refusal(StrEnum):
    """Why an input is refused, or why a sync cannot end well."""

    UNKNOWN_STREAM = "unknown_stream"
    MISSING_PARTITION_ID = "missing_partition_id"
    MISSING_CHECKPOINT_KEY = "missing_checkpoint_key"
    MISSING_SOURCE_STATS = "missing_source_stats"
    MIXED_STATE_TYPES = "mixed_state_types"
    INVALID_INDEX = "invalid_index"
    DUPLICATE_INDEX = "duplicate_index"
    STALE_INDEX = "stale_index"
    DUPLICATE_ID = "duplicate_id"
    OUT_OF_ORDER = "out_of_order"  # by `Design.ARRIVAL` alone
    OVER_COUNT = "over_count"
    ORDINAL_MISMATCH = "ordinal_mismatch"
    STREAM_CLOSED = "stream_closed"
    ALREADY_CLOSED = "already_closed"
    NOT_CLOSED = "not_closed"
    # Verdicts of the end of a sync and of a send. They come as effects, not as exceptions.
    INCOMPLETE_STREAMS = "incomplete_streams"
    UNFLUSHED_STATES = "unflushed_states"
    SEND_FAILED = "send_failed"
    # The source side.
    READER_FAILED = "reader_failed"
    UNKNOWN_READER = "unknown_reader"
    READER_ENDED = "reader_ended"
    ROUND_UNDER_WAY = "round_under_way"
    # What no protocol message can cause: mistakes of the host.
    INVALID_COUNT = "invalid_count"
    UNKNOWN_CHANNEL = "unknown_channel"
    UNEXPECTED_SEND_RESULT = "unexpected_send_result"
    ALREADY_FINISHING = "already_finishing"


@dataclass(frozen=True, slots=True)
class Count:
    """Committed records, their serialized size, and records rejected to a dead-letter place."""

    records: int = 0
    size_bytes: int = 0
    rejected: int = 0

    @property
    def accounted(self) -> int:
        """The number of settled records: committed or rejected."""
        return self.records + self.rejected

    def __add__(self, other: Count) -> Count:
        return Count(
            self.records + other.records,
            self.size_bytes + other.size_bytes,
            self.rejected + other.rejected,
        )

    def __sub__(self, other: Count) -> Count:
        return Count(
            self.records - other.records,
            self.size_bytes - other.size_bytes,
            self.rejected - other.rejected,
        )


ZERO = Count()


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderingParameters:
    """The parameters of one attempt's ordering core.

    streams: the catalog, in its order. Every other stream is refused.
    channels: how many channels must end before the input is closed (sockets, 1 on STDIO).
    design: which of the designs decides. Cores of yours need not look at it.
    released_ids_kept: how many released ids per stream keep exact counters, for late reports of
        their records; older ones are folded into one sum per stream.  An assumption: generous for
        reports that trail a release by some batches, and a few hundred kilobytes at most.
    """

    medium: Medium
    streams: tuple[StreamDescriptor, ...]
    channels: int = 1
    released_ids_kept: int = 1024
    design: Design = Design.INDEXES

    def __post_init__(self) -> None:
        if len(dict.fromkeys(self.streams)) != len(self.streams):
            raise ValueError(f"streams: a stream is listed twice in {self.streams}")
        if self.channels < 1:
            raise ValueError(f"channels: found {self.channels}, expected at least 1")
        if self.released_ids_kept < 0:
            raise ValueError(f"released_ids_kept: found {self.released_ids_kept}, expected >= 0")


class Obstacle(IntEnum):
    """The obstacle between a scope's next state and its release."""

    PREDECESSOR = 1  # the next index has not arrived.
    DURABILITY = 2  # records that were read for an id are not all durable.
    SOURCE_COUNT = 3  # the source counted another number than is accounted for.
    SEND = 4  # its send is outstanding.
    FLUSH = 5  # nothing: it goes with the next flush.


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """One condition that does not hold: `found` is not yet, or no more, `expected` records.

    stream, id: the owner of the records, for DURABILITY. `expected` are the records read for them.
    """

    obstacle: Obstacle
    expected: int
    found: int
    stream: StreamDescriptor | None = None
    id: CheckpointId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """One scope with unsent states: which index is next, and what it waits for.

    key: the key of the next state. None when that state has not arrived.
    next_index: the only index that may go next. lowest: the lowest index that is here.
    pending: how many states of the scope are unsent.
    """

    scope: Scope
    next_index: CheckpointIndex
    lowest: CheckpointIndex
    pending: int
    obstacle: Obstacle
    key: CheckpointKey | None = None
    shortfall: Shortfall | None = None

    def __str__(self) -> str:
        whose = "the sync" if self.scope is None else f"stream {scope_text(self.scope)}"
        return f"{whose}: {self._why()} ({self.pending} unsent)"

    def _why(self) -> str:
        if self.key is None:
            return f"state {self.lowest} waits for state {self.next_index}, which has not arrived"
        name = f"state {self.key.index} (id {self.key.id})"
        short = self.shortfall
        if short is not None and self.obstacle is Obstacle.DURABILITY:
            of = f" of stream {short.stream}, id {short.id}"
            return f"{name} waits for records{of}: {short.expected} read, {short.found} durable"
        if short is not None and self.obstacle is Obstacle.SOURCE_COUNT:
            return (
                f"{name} waits for its count: the source sent {short.expected} records, "
                f"{short.found} are accounted for"
            )
        if self.obstacle is Obstacle.SEND:
            return f"{name} waits for its send to return"
        return f"{name} waits for a flush"


class Inference:
    """The current interval of each stream."""

    def __init__(self, streams: tuple[StreamDescriptor, ...]) -> None:
        self._ordinals: dict[StreamDescriptor, CheckpointIndex] = dict.fromkeys(streams, 1)

    def announce(self, stream: StreamDescriptor, *, common: bool) -> None:
        """Add a stream. `common`: whether all streams end their intervals together."""
        key = self.common_key() if common else None
        self._ordinals[stream] = 1 if key is None else key.index

    def ordinal(self, stream: StreamDescriptor) -> CheckpointIndex:
        """Return the number of the stream's current interval."""
        return self._ordinals[stream]

    def current_id(self, stream: StreamDescriptor) -> CheckpointId:
        """Return the id of the stream's current interval."""
        return self.id_of(stream, self._ordinals[stream])

    def id_of(self, stream: StreamDescriptor, ordinal: CheckpointIndex) -> CheckpointId:
        """Return the id of the stream's n-th interval."""
        del stream  # ids are unique per stream already
        return str(ordinal)

    def stream_key(self, stream: StreamDescriptor) -> CheckpointKey:
        """Return the key of the state that ends the stream's current interval."""
        return CheckpointKey(self._ordinals[stream], self.current_id(stream))

    def common_key(self) -> CheckpointKey | None:
        """Return the key of the state that ends every stream's interval. None if they differ."""
        ordinals = self._ordinals.values()
        first = next(iter(ordinals), 1)
        if any(ordinal != first for ordinal in ordinals):
            return None
        return CheckpointKey(first, str(first))

    def end_interval(self, stream: StreamDescriptor) -> None:
        """Begin the stream's next interval."""
        self._ordinals[stream] += 1

    def end_all_intervals(self) -> None:
        """Begin every stream's next interval."""
        for stream in self._ordinals:
            self._ordinals[stream] += 1
