"""The at-least-once tracker: counts barriers, blocks nothing, keeps several checkpoints in mind.

Each open checkpoint is an entry: its barrier, the channels that have delivered, how many are needed
(frozen when the entry is made) and whether it was cancelled.  Completing an entry drops all older
ones without an abort.  The alignment clock serves the newest checkpoint only.

Promised, for input with increasing numbers per channel: triggered numbers increase, at most one
trigger and one abort per checkpoint.  Not promised: that every checkpoint that began is triggered
or aborted.  While a single channel is open a barrier triggers at once and leaves no entry, so
repeated numbers there trigger repeatedly.

Source: Apache Flink 1.20.3, CheckpointBarrierTracker.
"""

from __future__ import annotations

from typing import assert_never

from ckptsim.models.barriers.barrier import Barrier
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.handler.events import AllBarriers
from ckptsim.models.barriers.handler.machine import AlignmentClock
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.core import ProtocolError

MAX_TRACKED = 50
"""Entries kept; the oldest is dropped silently.  Source: Apache Flink 1.20.3, the same class."""


class _Entry:
    """One open checkpoint. `barrier` is None when it is known by a cancellation only."""

    __slots__ = ("aborted", "barrier", "channels", "checkpoint", "target")

    def __init__(self, checkpoint: int, channel: int, target: int, barrier: Barrier | None) -> None:
        self.checkpoint = checkpoint
        self.channels = {channel}
        self.target = target
        self.barrier = barrier
        self.aborted = barrier is None

    def count(self, channel: int) -> bool:
        """Count a channel and decide whether the entry is complete."""
        self.channels.add(channel)
        return len(self.channels) == self.target


class BarrierTracker:
    """Counts the barriers of several checkpoints at once.

    channels: how many channels all gates have together.
    after_finish: whether the end of a channel counts as its barrier. Otherwise it aborts.
    """

    __slots__ = (
        "_after_finish",
        "_channels",
        "_clock",
        "_effects",
        "_entries",
        "_now_ns",
        "_open",
        "_top",
    )

    def __init__(self, channels: int, *, after_finish: bool = True) -> None:
        self._channels = channels
        self._after_finish = after_finish
        self._open = channels
        self._entries: list[_Entry] = []
        self._top = -1
        self._clock = AlignmentClock()
        self._now_ns = 0
        self._effects: list[handler_events.HandlerEffect] = []

    @property
    def latest(self) -> int:
        """The newest open checkpoint, -1 for none."""
        return self._entries[-1].checkpoint if self._entries else -1

    @property
    def pending(self) -> bool:
        """Whether a checkpoint is open."""
        return bool(self._entries)

    @property
    def pending_checkpoints(self) -> tuple[int, ...]:
        """The open checkpoints, oldest first."""
        return tuple(entry.checkpoint for entry in self._entries)

    @property
    def open_channels(self) -> int:
        """How many channels have not ended."""
        return self._open

    @property
    def clock(self) -> AlignmentClock:
        """The alignment clock. Bytes may be counted on it directly, without an event."""
        return self._clock

    def all_barriers(self, checkpoint: int) -> AllBarriers:
        """Tell that nothing is waited for: the tracker never persists in-flight data."""
        return AllBarriers.DONE

    def step(self, event: handler_events.HandlerEvent) -> list[handler_events.HandlerEffect]:
        """Return an event's effects. Raises ProtocolError for events of other handlers."""
        effects: list[handler_events.HandlerEffect] = []
        self._effects = effects
        match event:
            case handler_events.BytesProcessed():
                self._clock.add_bytes(event.count)
            case handler_events.BarrierArrived():
                self._prepare(event.now_ns, event.channel, event)
                self._barrier(event.channel, event.barrier)
            case handler_events.CancellationArrived():
                self._prepare(event.now_ns, event.channel, event)
                self._cancellation(event.channel, event.checkpoint)
            case handler_events.ChannelEnded():
                self._prepare(event.now_ns, event.channel, event)
                self._channel_ended(event.channel)
            case handler_events.BarrierAnnounced() | handler_events.HandlerClosed():
                pass
            case handler_events.TimerFired() | handler_events.InputRefused():
                raise ProtocolError("not_of_a_tracker", state=self._words(), event=event)
            case _:
                assert_never(event)
        return effects

    def _prepare(self, now_ns: int, channel: int, event: object) -> None:
        if not 0 <= channel < self._channels:
            raise ProtocolError("unknown_channel", state=self._words(), event=event)
        self._now_ns = now_ns

    def _barrier(self, channel: int, barrier: Barrier) -> None:
        checkpoint = barrier.checkpoint
        if checkpoint > self._top and self._open == 1:
            self._clock.start(self._now_ns, barrier, self._effects)
            self._clock.stop_at_once(self._effects)
            self._clock.trigger(barrier, self._effects)
            return
        position = self._position(checkpoint)
        if position is not None:
            if self._entries[position].count(channel):
                self._finish(position)
        elif checkpoint > self._top:
            self._clock.start(self._now_ns, barrier, self._effects)
            self._top = checkpoint
            self._entries.append(_Entry(checkpoint, channel, self._open, barrier))
            if len(self._entries) > MAX_TRACKED:
                del self._entries[0]

    def _cancellation(self, channel: int, checkpoint: int) -> None:
        if checkpoint > self._top and self._open == 1:
            self._clock.reset(self._effects)
            self._abort(checkpoint)
            return
        while self._entries and self._entries[0].checkpoint < checkpoint:
            self._abort_entry(self._entries.pop(0))
        if self._entries and self._entries[0].checkpoint == checkpoint:
            head = self._entries[0]
            self._abort_entry(head)
            if head.count(channel):
                del self._entries[0]
        elif checkpoint > self._top:
            self._abort(checkpoint)
            self._top = checkpoint
            self._entries.insert(0, _Entry(checkpoint, channel, self._open, None))

    def _channel_ended(self, channel: int) -> None:
        self._open -= 1
        if not self._after_finish:
            entries, self._entries = self._entries, []
            for entry in entries:
                self._abort_entry(entry, FailureReason.CHECKPOINT_DECLINED_INPUT_END_OF_STREAM)
            self._clock.reset(self._effects)
            return
        for position in range(len(self._entries) - 1, -1, -1):
            if self._entries[position].count(channel):
                self._finish(position)
                return

    def _finish(self, position: int) -> None:
        """Drop an entry and all older ones. Trigger it unless it was aborted."""
        entry = self._entries[position]
        del self._entries[: position + 1]
        if entry.aborted or entry.barrier is None:
            return
        if entry.checkpoint == self._top and not self._clock.stop(self._now_ns, self._effects):
            # A barrier or cancellation of a newer checkpoint on the single open channel has
            # stopped the clock meanwhile.
            self._effects.append(
                handler_events.FailTask("the alignment ends but its clock does not run")
            )
            return
        self._clock.trigger(entry.barrier, self._effects)

    def _abort_entry(
        self,
        entry: _Entry,
        reason: FailureReason = FailureReason.CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER,
    ) -> None:
        if not entry.aborted:
            entry.aborted = True
            self._effects.append(handler_events.AbortCheckpoint(entry.checkpoint, reason))

    def _abort(self, checkpoint: int) -> None:
        reason = FailureReason.CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER
        self._effects.append(handler_events.AbortCheckpoint(checkpoint, reason))

    def _position(self, checkpoint: int) -> int | None:
        for position, entry in enumerate(self._entries):
            if entry.checkpoint == checkpoint:
                return position
        return None

    def _words(self) -> str:
        return f"open checkpoints {self.pending_checkpoints}, {self._open} channels open"
