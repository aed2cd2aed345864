"""The events of an ordering core, in the past tense, and its effects, as commands."""

from __future__ import annotations

from dataclasses import dataclass

from ckptsim.models.ordering import terms
from ckptsim.models.ordering.terms import Blocked


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamAnnounced:
    """A stream that the catalog lacks joined the sync. A known one is ignored."""

    stream: terms.StreamDescriptor


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsRead:
    """Records of one stream were read from a channel. id: their `partition_id` (SOCKET only)."""

    stream: terms.StreamDescriptor
    size_bytes: int
    count: int = 1
    id: terms.CheckpointId | None = None
    channel: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsDurable:
    """Records of one id reached a level of durability: increments, not sums.

    id: the id that `PassRecords` named for them.
    count, size_bytes: committed. rejected: dead-lettered, durable in their own way.
    """

    stream: terms.StreamDescriptor
    id: terms.CheckpointId
    count: int
    size_bytes: int
    rejected: int = 0
    level: terms.Level = terms.Level.PERSISTED


@dataclass(frozen=True, slots=True, kw_only=True)
class StateRead:
    """A state message was read.

    stream: for kind STREAM.
    index, id: the wire's `id` and `partition_id`. Mandatory on SOCKET, not looked at on STDIO.
    source_count: the source's record count. Mandatory on SOCKET.
    payload: the message, opaque. It comes back untouched in `SendState`.
    inner: for kind SNAPSHOT, the (stream, partition id) of each entry that carries its own key.
    listed: for GLOBAL and SNAPSHOT, the streams that the message lists. None means the whole
        catalog for GLOBAL and the streams of `inner` for SNAPSHOT.
    """

    kind: terms.StateKind
    payload: object
    stream: terms.StreamDescriptor | None = None
    index: terms.CheckpointIndex | None = None
    id: terms.CheckpointId | None = None
    source_count: int | None = None
    inner: tuple[tuple[terms.StreamDescriptor, terms.CheckpointId | None], ...] = ()
    listed: tuple[terms.StreamDescriptor, ...] | None = None


@dataclass(frozen=True, slots=True)
class FlushRequested:
    """The host wants everything released that can be. During a send it is remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSent:
    """The send that `SendState` asked for has returned. The platform has the state."""

    scope: terms.Scope
    index: terms.CheckpointIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class SendFailed:
    """The send that `SendState` asked for has failed. The platform does not have the state."""

    scope: terms.Scope
    index: terms.CheckpointIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class CompleteRead:
    """The terminal status COMPLETE of a stream was read on a channel."""

    stream: terms.StreamDescriptor
    channel: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelClosed:
    """A channel reached its end. The last one closes the input."""

    channel: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessingSucceeded:
    """The processing of an ended stream succeeded."""

    stream: terms.StreamDescriptor


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessingFailed:
    """The processing of a stream failed. This may come at any time."""

    stream: terms.StreamDescriptor


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishRequested:
    """The sync is to end: one last pass, then a verdict (`CompleteSync` or `FailSync`).

    wait_ns: how long states may still become releasable.  Zero asks for the verdict right after
        the last pass.  Otherwise the core asks for a timer, releases whatever becomes releasable
        without being asked, and gives its verdict as soon as all is well or the timer has fired;
        a send that is outstanding then comes to its end first, so the host bounds its sends.
    """

    wait_ns: int = 0


@dataclass(frozen=True, slots=True)
class FinishTimerFired:
    """The timer that `SetFinishTimer` asked for has fired. One that was cancelled is ignored."""


Event = (
    RecordsRead
    | RecordsDurable
    | StateRead
    | FlushRequested
    | StateSent
    | SendFailed
    | CompleteRead
    | ChannelClosed
    | ProcessingSucceeded
    | ProcessingFailed
    | FinishRequested
    | FinishTimerFired
    | StreamAnnounced
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenStream:
    """Make the stream ready for its first records. Once per attempt, before they are passed on."""

    stream: terms.StreamDescriptor


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRecords:
    """Hand the records just read to the pipeline, which reports them durable under this id."""

    stream: terms.StreamDescriptor
    id: terms.CheckpointId
    count: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseStatistics:
    """The counts attached to a released state.

    destination: what this state's own ids committed and rejected (`destinationStats`).
    total: committed in this attempt up to and with this state: of its stream, or of all streams.
    per_stream: the same per listed stream, for GLOBAL and SNAPSHOT. The wire has it on SOCKET only.
    """

    destination: terms.Count
    total: terms.Count
    per_stream: tuple[tuple[terms.StreamDescriptor, terms.Count], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SendState:
    """Send this state, then report `StateSent` or `SendFailed`. At most one is outstanding."""

    scope: terms.Scope
    key: terms.CheckpointKey
    kind: terms.StateKind
    payload: object
    source_count: int | None
    statistics: ReleaseStatistics


@dataclass(frozen=True, slots=True, kw_only=True)
class EndStream:
    """Tell the pipelines that a stream has had all its records: `records_read` of them."""

    stream: terms.StreamDescriptor
    records_read: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EndChannel:
    """Tell a channel's pipeline that no record of any stream follows on this channel."""

    channel: int


@dataclass(frozen=True, slots=True)
class CloseInput:
    """Close what feeds the pipelines: every channel has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportIncomplete:
    """Report, as a transient error, that the input ended before these streams were COMPLETE."""

    streams: tuple[terms.StreamDescriptor, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFinishTimer:
    """Report `FinishTimerFired` after this time, unless the timer is cancelled."""

    wait_ns: int


@dataclass(frozen=True, slots=True)
class CancelFinishTimer:
    """Cancel the timer of `SetFinishTimer`."""


@dataclass(frozen=True, slots=True)
class CompleteSync:
    """End the sync well: every stream is COMPLETE and every state was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailSync:
    """Fail the sync. incomplete: streams without COMPLETE. blocked: scopes, and why."""

    kind: terms.Refusal
    incomplete: tuple[terms.StreamDescriptor, ...] = ()
    blocked: tuple[Blocked, ...] = ()

    def __str__(self) -> str:
        parts = [str(self.kind)]
        if self.incomplete:
            parts.append("not COMPLETE: " + ", ".join(str(stream) for stream in self.incomplete))
        parts.extend(str(blocked) for blocked in self.blocked)
        return "; ".join(parts)


Effect = (
    OpenStream
    | PassRecords
    | SendState
    | EndStream
    | EndChannel
    | CloseInput
    | ReportIncomplete
    | SetFinishTimer
    | CancelFinishTimer
    | CompleteSync
    | FailSync
)
