"""What travels between tasks besides data: checkpoint barriers, their kinds and other events.

A barrier carries the checkpoint's number, the time at which the coordinator triggered it and one of
six option kinds.  The kind decides three things: whether the receiver aligns, whether the sender's
queue stops, and whether a long alignment turns unaligned.

Source: Apache Flink 1.20.3, CheckpointOptions and CheckpointBarrier.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

MAX_TIMEOUT_NS = (2**63 - 1) * 1_000_000
"""An alignment time-out that never comes.  Source: Apache Flink 1.20.3, Long.MAX_VALUE ms."""


class OptionKind(IntEnum):
    """How a checkpoint treats in-flight data."""

    AT_LEAST_ONCE = 0
    ALIGNED = 1
    SAVEPOINT = 2
    TIMEOUTABLE = 3
    UNALIGNED = 4
    FORCED_ALIGNED = 5


# Barriers are asked for their kind all the time, and a member costs a look-up in its metaclass.
_AT_LEAST_ONCE, _TIMEOUTABLE = OptionKind.AT_LEAST_ONCE, OptionKind.TIMEOUTABLE
_UNALIGNED = OptionKind.UNALIGNED


class NetworkEvent:
    """Base of everything in a queue that is not data. Data is any other object."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Barrier(NetworkEvent):
    """A checkpoint barrier.

    timestamp_ns: when the coordinator triggered the checkpoint.
    timeout_ns: the alignment time-out, counted from `timestamp_ns`. None when it never comes.  A
    forced-aligned barrier keeps the time-out of the timeoutable one that it represents.
    """

    checkpoint: int
    timestamp_ns: int
    kind: OptionKind
    timeout_ns: int | None = None

    @property
    def is_unaligned(self) -> bool:
        """Return whether the barrier overtakes data everywhere."""
        return self.kind is _UNALIGNED

    @property
    def is_timeoutable(self) -> bool:
        """Return whether the barrier starts aligned and may become unaligned."""
        return self.kind is _TIMEOUTABLE

    @property
    def needs_alignment(self) -> bool:
        """Return whether the barrier blocks the channel that it passes through."""
        kind = self.kind
        return kind is not _UNALIGNED and kind is not _AT_LEAST_ONCE

    @property
    def may_turn_unaligned(self) -> bool:
        """Return whether the barrier is unaligned or of a kind that can become so.

        Source: Apache Flink 1.20.3, CheckpointOptions.toUnaligned.
        """
        return self.kind in (OptionKind.ALIGNED, OptionKind.TIMEOUTABLE, OptionKind.UNALIGNED)

    def as_unaligned(self) -> Barrier:
        """Return the same barrier as an unaligned one, which has no time-out."""
        if self.kind is OptionKind.UNALIGNED:
            return self
        return replace(self, kind=OptionKind.UNALIGNED, timeout_ns=None)

    def over_edge(self, *, supports_unaligned: bool) -> Barrier:
        """Return the barrier as it is sent over an edge.

        An edge that must keep its order (pointwise, broadcast, inside a sink) turns unaligned and
        timeoutable barriers into forced-aligned ones, which cannot time out.

        Source: Apache Flink 1.20.3, CheckpointOptions.withUnalignedUnsupported. Pull request 23850
        for the timeoutable kind.
        """
        if supports_unaligned or self.kind not in (OptionKind.UNALIGNED, OptionKind.TIMEOUTABLE):
            return self
        return replace(self, kind=OptionKind.FORCED_ALIGNED)

    def unforced(self) -> Barrier:
        """Return a forced-aligned barrier as the unaligned or timeoutable one that it was.

        Source: Apache Flink 1.20.3, CheckpointOptions.withUnalignedSupported.
        """
        if self.kind is not OptionKind.FORCED_ALIGNED:
            return self
        kind = OptionKind.UNALIGNED if self.timeout_ns is None else OptionKind.TIMEOUTABLE
        return replace(self, kind=kind)


@dataclass(frozen=True, slots=True)
class Announcement(NetworkEvent):
    """Says that a timeoutable barrier is in this channel's queue, and where."""

    barrier: Barrier
    sequence: int


@dataclass(frozen=True, slots=True)
class CancellationMarker(NetworkEvent):
    """Says that the sender will never send the barrier of a checkpoint."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class EndOfData(NetworkEvent):
    """Says that no more records follow. `drain` when results are to be flushed."""

    drain: bool = True


@dataclass(frozen=True, slots=True)
class EndOfPartition(NetworkEvent):
    """Says that nothing at all follows in this channel."""


@dataclass(frozen=True, slots=True)
class EndOfChannelState(NetworkEvent):
    """Marks the end of what a recovered channel or subpartition held. It blocks like a barrier."""


def select_kind(
    *, exactly_once: bool, savepoint: bool, unaligned_enabled: bool, timeout_ns: int | None
) -> OptionKind:
    """Choose the option kind of a new checkpoint. `timeout_ns` None or the maximum is infinite.

    A time-out of zero or infinity gives plainly unaligned barriers.

    Source: Apache Flink 1.20.3, CheckpointOptions.forConfig.
    """
    if not exactly_once:
        return OptionKind.AT_LEAST_ONCE
    if savepoint:
        return OptionKind.SAVEPOINT
    if not unaligned_enabled:
        return OptionKind.ALIGNED
    if timeout_ns is None or timeout_ns == 0 or timeout_ns >= MAX_TIMEOUT_NS:
        return OptionKind.UNALIGNED
    return OptionKind.TIMEOUTABLE


def is_blocking(event: NetworkEvent) -> bool:
    """Return whether a sender stops after this event until the receiver resumes it.

    Source: Apache Flink 1.20.3, Buffer.DataType (aligned barriers, recovery completion).
    """
    if isinstance(event, Barrier):
        return event.needs_alignment
    return isinstance(event, EndOfChannelState)
