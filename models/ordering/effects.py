"""What an ordering core asks of its host: effects, as commands, to be carried out in order."""

from __future__ import annotations

from dataclasses import dataclass

from ckptsim.models.ordering import terms
from ckptsim.models.ordering.blocking import Blocked


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
    """Send this state to the platform, then report `StateSent` or `SendFailed`.

    At most one send is outstanding. Until its outcome is reported nothing counts as released.
    """

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
    """Fail the sync: `kind` is `incomplete_streams`, `unflushed_states` or `send_failed`.

    incomplete: streams without COMPLETE. blocked: every scope with unsent states and why.
    """

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
