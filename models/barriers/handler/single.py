"""The barrier handler of one task: one checkpoint at a time, over all channels of all its gates.

Inside are two machines.  The outer one, here, keeps the checkpoint's identity: the highest number
seen (`latest`), the last ended one, the aligned channels, the number of needed ones, and whether
all barriers have come.  The inner one (`machine.py`) runs a state table (`states.py`) that decides
about blocking, persisting and the snapshot.

* aligned: a channel is blocked from its barrier until the last one. Then trigger, then resume.
* alternating: begins aligned. When the checkpoint is older than its time-out (by the timer, or seen
  when a barrier comes), queued barriers overtake, in-flight data is persisted, the snapshot is
  taken at once.  Channels that were blocked before stay so until the checkpoint ends.
* unaligned: the snapshot is taken at the first barrier. Nothing is blocked.

Promised: per checkpoint at most one trigger and one abort, in this order (the aligned handler never
does both). Triggered numbers increase. Every channel that was blocked is resumed when its
checkpoint ends, unless the channel itself has ended.  Not promised: that a cancelled checkpoint
with only an announcement is aborted, or that one is triggered when all channels end before any
barrier.

Source: Apache Flink 1.20.3, SingleCheckpointBarrierHandler.
"""

from __future__ import annotations

from typing import assert_never

from ckptsim.models.barriers.barrier import Barrier
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.handler.events import AllBarriers, HandlerKind
from ckptsim.models.barriers.handler.machine import AlignmentClock, BarrierMachine, Run
from ckptsim.models.barriers.handler.states import (
    ALIGNED_TABLE,
    ALTERNATING_TABLE,
    UNALIGNED_TABLE,
    Input,
    State,
    Table,
)
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.core import ProtocolError

_TABLES: dict[HandlerKind, tuple[Table, State]] = {
    HandlerKind.ALIGNED: (ALIGNED_TABLE, State.WAITING),
    HandlerKind.ALTERNATING: (ALTERNATING_TABLE, State.ALTERNATING_WAITING),
    HandlerKind.UNALIGNED: (UNALIGNED_TABLE, State.WAITING_UNALIGNED),
}

# By name: members are looked up in the metaclass of their class, and every barrier asks for these.
_OPEN, _ALTERNATING_WAITING = AllBarriers.OPEN, State.ALTERNATING_WAITING
_BARRIER, _UNALIGNED_BARRIER = Input.BARRIER, Input.UNALIGNED_BARRIER

_Undo = tuple[int | None, int, AllBarriers]


class SingleCheckpointHandler:
    """Collects the barriers of one checkpoint at a time.

    kind: any but TRACKER. channels: how many channels all gates have together. gates: how many
    gates there are. Each gets its own StartInput and StopInput. after_finish: whether checkpoints
    continue after some tasks have finished. Then the end of a channel counts as its barrier,
    otherwise it aborts.
    """

    __slots__ = (
        "_after_finish",
        "_aligned",
        "_all",
        "_channels",
        "_clock",
        "_current",
        "_effects",
        "_last",
        "_machine",
        "_now_ns",
        "_open",
        "_pending_barrier",
        "_table",
        "_target",
        "_timer",
        "_timers",
        "_undo",
    )

    def __init__(
        self, kind: HandlerKind, channels: int, *, gates: int = 1, after_finish: bool = True
    ) -> None:
        self._table, home = _TABLES[kind]
        self._clock = AlignmentClock()
        self._machine = BarrierMachine(home, gates=gates, clock=self._clock)
        self._channels = channels
        self._after_finish = after_finish
        self._open = channels
        self._current = -1
        self._last = -1
        self._pending_barrier: Barrier | None = None
        self._aligned: set[int] = set()
        self._target = 0
        self._all = AllBarriers.OPEN
        self._timer: int | None = None
        self._timers = 0
        self._undo: _Undo | None = None
        self._now_ns = 0
        self._effects: list[handler_events.HandlerEffect] = []

    @property
    def state(self) -> State:
        """The inner state."""
        return self._machine.state

    @property
    def latest(self) -> int:
        """The highest checkpoint seen, -1 before the first."""
        return self._current

    @property
    def pending(self) -> bool:
        """Whether a checkpoint is open."""
        return self._current >= 0 and self._current != self._last

    @property
    def open_channels(self) -> int:
        """How many channels have not ended."""
        return self._open

    @property
    def clock(self) -> AlignmentClock:
        """The alignment clock. Bytes may be counted on it directly, without an event."""
        return self._clock

    @property
    def blocked(self) -> tuple[int, ...]:
        """The channels that this handler has blocked, ascending."""
        return self._machine.blocked

    @property
    def announced(self) -> tuple[tuple[int, int], ...]:
        """Channels with a remembered announcement and its sequence, ascending."""
        return self._machine.announced

    @property
    def aligned(self) -> tuple[int, ...]:
        """The channels that count as aligned for the open checkpoint, ascending."""
        return tuple(sorted(self._aligned))

    @property
    def target(self) -> int:
        """How many aligned channels the open checkpoint needs."""
        return self._target

    def all_barriers(self, checkpoint: int) -> AllBarriers:
        """Return whether all barriers of a checkpoint have come. ProtocolError if it is unknown."""
        if checkpoint < self._current or self._open == 0:
            return AllBarriers.DONE
        if checkpoint > self._current:
            raise ProtocolError("unknown_checkpoint", state=self._words(), event=checkpoint)
        return self._all

    def step(self, event: handler_events.HandlerEvent) -> list[handler_events.HandlerEffect]:
        """Return an event's effects, in order. Raises ProtocolError for an unknown channel."""
        effects: list[handler_events.HandlerEffect] = []
        self._effects = self._machine.effects = effects
        undo, self._undo = self._undo, None
        match event:
            case handler_events.BarrierArrived():
                self._prepare(event.now_ns, event.channel, event)
                self._barrier(event)
            case handler_events.BytesProcessed():
                self._clock.add_bytes(event.count)
            case handler_events.BarrierAnnounced():
                self._prepare(event.now_ns, event.channel, event)
                self._announcement(event)
            case handler_events.CancellationArrived():
                self._prepare(event.now_ns, event.channel, event)
                self._cancellation(event.checkpoint)
            case handler_events.ChannelEnded():
                self._prepare(event.now_ns, event.channel, event)
                self._channel_ended(event.channel)
            case handler_events.TimerFired():
                self._now_ns = event.now_ns
                self._timer_fired(event.barrier)
            case handler_events.InputRefused():
                self._now_ns = event.now_ns
                self._refused(event, undo)
            case handler_events.HandlerClosed():
                self._cancel_timer()
                self._settle(AllBarriers.FAILED)
            case _:
                assert_never(event)
        return effects

    def _prepare(self, now_ns: int, channel: int, event: object) -> None:
        if not 0 <= channel < self._channels:
            raise ProtocolError("unknown_channel", state=self._words(), event=event)
        self._now_ns = now_ns

    def _barrier(self, event: handler_events.BarrierArrived) -> None:
        barrier = event.barrier
        if self._is_obsolete(barrier.checkpoint):
            # The sender has stopped after its aligned barrier and no one waits for it here. Left
            # blocked, the channel would never deliver again.  An unaligned one stops no sender.
            if not barrier.is_unaligned:
                self._effects.append(handler_events.ResumeChannels((event.channel,)))
            return
        self._open_if_new(barrier)
        given = _UNALIGNED_BARRIER if barrier.is_unaligned else _BARRIER
        self._mark(event.channel, barrier, given, by_rpc=event.by_rpc)

    def _announcement(self, event: handler_events.BarrierAnnounced) -> None:
        barrier = event.barrier
        self._open_if_new(barrier)
        if self._is_obsolete(barrier.checkpoint):
            return
        run = Run(
            barrier, checkpoint=barrier.checkpoint, channel=event.channel, sequence=event.sequence
        )
        self._take(Input.ANNOUNCEMENT, run)

    def _cancellation(self, checkpoint: int) -> None:
        # An open checkpoint without a barrier is known by an announcement only, and is left alone:
        # see "not promised" above.
        if checkpoint > self._current or (checkpoint == self._current and self._aligned):
            self._abort(checkpoint, FailureReason.CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER)

    def _channel_ended(self, channel: int) -> None:
        self._open -= 1
        if not self.pending:
            return
        if not self._after_finish:
            self._abort(self._current, FailureReason.CHECKPOINT_DECLINED_INPUT_END_OF_STREAM)
        elif self._pending_barrier is not None:
            self._mark(channel, self._pending_barrier, Input.END_OF_PARTITION, by_rpc=False)

    def _timer_fired(self, barrier: Barrier) -> None:
        still_open = self._open != 0 and self._all is AllBarriers.OPEN
        if self._current == barrier.checkpoint and still_open:
            self._take(Input.TIMEOUT, Run(barrier, checkpoint=barrier.checkpoint))
        # Also a stale timer clears the handle, so that a newer timer cannot be cancelled any more.
        self._timer = None

    def _refused(self, event: handler_events.InputRefused, undo: _Undo | None) -> None:
        if undo is None or not self._machine.undo():
            raise ProtocolError("nothing_to_refuse", state=self._words(), event=event)
        # No StopInput for the gates that had started, as in the released engine: there the call of
        # a later gate throws out of the state before it is left, and only the state after it would
        # stop inputs.  They persist until their barrier or a newer start comes, and the writer
        # drops that, since the abort has reached it (docs/decisions, 9).
        self._timer, self._last, self._all = undo
        self._clock.forget_trigger(self._current)
        self._abort(self._current, event.reason)

    def _is_obsolete(self, checkpoint: int) -> bool:
        return checkpoint < self._current or checkpoint == self._current == self._last

    def _open_if_new(self, barrier: Barrier) -> None:
        if self._current >= barrier.checkpoint:
            return
        if self.pending:
            self._abort(self._current, FailureReason.CHECKPOINT_DECLINED_SUBSUMED)
        self._current = barrier.checkpoint
        self._pending_barrier = barrier
        self._aligned.clear()
        # Frozen here: a channel that ends later counts as aligned, so it must stay in the count.
        # One that has ended before sends no barrier and is not waited for.
        self._target = self._open
        self._all = _OPEN
        if self._machine.home is _ALTERNATING_WAITING and barrier.is_timeoutable:
            self._set_timer(barrier)

    def _mark(self, channel: int, barrier: Barrier, given: Input, *, by_rpc: bool) -> None:
        self._aligned.add(channel)
        size = len(self._aligned)
        full = size == self._target
        if size == 1:
            self._clock.start(self._now_ns, barrier, self._effects)
            if full:
                self._clock.stop_at_once(self._effects)
        # The clock ends before the table runs, so that a trigger inside it finds the figures ready.
        elif full and not self._clock.stop(self._now_ns, self._effects):
            self._effects.append(
                handler_events.FailTask("the alignment ends but its clock does not run")
            )
            return
        run = Run(
            barrier,
            checkpoint=barrier.checkpoint,
            now_ns=self._now_ns,
            channel=channel,
            full=full,
            by_rpc=by_rpc,
        )
        # After the table: its last step resumes the channels, and until then the checkpoint is
        # open.
        if self._take(given, run) and full:
            self._aligned.clear()
            self._last = self._current
            self._cancel_timer()
            self._settle(AllBarriers.DONE)

    def _abort(self, checkpoint: int, reason: FailureReason) -> None:
        # Both numbers first: barriers of this checkpoint that are still on their way are obsolete
        # from now on, and each is answered by resuming its channel.
        self._current = checkpoint  # older ones are not aborted
        self._last = max(self._last, checkpoint)
        self._pending_barrier = None
        self._aligned.clear()
        self._target = 0
        self._cancel_timer()
        self._take(Input.ABORT, Run(None, checkpoint=checkpoint))
        self._clock.reset(self._effects)
        self._effects.append(handler_events.AbortCheckpoint(checkpoint, reason))
        self._settle(AllBarriers.FAILED)

    def _take(self, given: Input, run: Run) -> bool:
        self._undo = (self._timer, self._last, self._all)
        return self._machine.take(self._table, given, run)

    def _settle(self, outcome: AllBarriers) -> None:
        if self._all is not _OPEN:
            return
        self._all = outcome
        if outcome is AllBarriers.DONE:
            self._effects.append(handler_events.AllBarriersReceived(self._current))

    def _set_timer(self, barrier: Barrier) -> None:
        timeout_ns = barrier.timeout_ns if barrier.timeout_ns is not None else 0
        delay_ns = max(0, timeout_ns - (self._now_ns - barrier.timestamp_ns))
        self._timers += 1
        self._timer = self._timers
        self._effects.append(handler_events.SetTimer(self._timer, delay_ns, barrier))

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._effects.append(handler_events.CancelTimer(self._timer))
            self._timer = None

    def _words(self) -> str:
        return (
            f"{self.state.name}, checkpoint {self._current}, "
            f"{len(self._aligned)} of {self._target} channels aligned"
        )
