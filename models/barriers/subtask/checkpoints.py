"""The subtask side of a checkpoint: what one task does from the trigger to the acknowledgement.

The order of a trigger is fixed, and on the task's thread nothing comes in between: record the
number. Operators prepare. The barrier goes out on every output. The output timer is set. The output
part of the channel state closes. Operators take their synchronous snapshot. The rest happens beside
the work. The acknowledgement needs the operators' state and, where the checkpoint may hold
in-flight data, the channel state: its input part closes when all barriers have come (at once when
it cannot hold input), its output part when no subpartition's state is open any more.

Numbers only grow: what comes for an older checkpoint, or for one that was aborted, is dropped.  A
checkpoint that the coordinator gave up before it came here is answered by a cancellation marker, so
that the tasks below do not wait for it.

Promised: at most one acknowledgement or decline per trigger, an acknowledgement only after
everything is durable.  A decline precedes its cancellation marker.

Source: Apache Flink 1.20.3, SubtaskCheckpointCoordinatorImpl and AsyncCheckpointRunnable.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

from ckptsim.models.barriers.barrier import Barrier, OptionKind
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.barriers.subtask import events as subtask_events

MAX_REMEMBERED_ABORTS = 128
"""Early abort notifications that are kept.  Source: the same class."""

_PartEvent: TypeAlias = (
    subtask_events.BarrierSent
    | subtask_events.OutputSettled
    | subtask_events.SyncPartDone
    | subtask_events.AsyncPartDone
    | subtask_events.AsyncPartFailed
    | subtask_events.ChannelStateWritten
    | subtask_events.ChannelStateFailed
)


class _Part:
    """The missing parts for the acknowledgement of one checkpoint.

    captured: the operators have taken their snapshot.  durable: their state is.  written: the
    channel state is, or there can be none.  early_failure: why the channel state has failed before
    the snapshot was taken, perhaps before the trigger came.
    """

    __slots__ = (
        "barrier",
        "captured",
        "durable",
        "early_failure",
        "open_outputs",
        "persisted_bytes",
        "written",
    )

    def __init__(self, barrier: Barrier, early_failure: FailureReason | None) -> None:
        self.barrier = barrier
        self.early_failure = early_failure
        self.captured = False
        self.durable = False
        self.written = not (barrier.is_unaligned or barrier.is_timeoutable)
        self.open_outputs = 0
        self.persisted_bytes = 0


class SubtaskCheckpoints:
    """Takes one subtask through its checkpoints."""

    __slots__ = (
        "_aborted",
        "_awaiting_input",
        "_early_failures",
        "_effects",
        "_last",
        "_open_outputs",
        "_parts",
        "_timer",
    )

    def __init__(self) -> None:
        self._last = -1
        self._parts: dict[int, _Part] = {}
        self._aborted: dict[int, None] = {}  # in the order of arrival
        self._early_failures: dict[int, FailureReason] = {}
        self._awaiting_input: int | None = None
        self._open_outputs: int | None = None
        self._timer: int | None = None
        self._effects: list[subtask_events.SubtaskEffect] = []

    @property
    def last(self) -> int:
        """The newest checkpoint triggered or aborted here, -1 before the first."""
        return self._last

    @property
    def running(self) -> tuple[int, ...]:
        """Checkpoints that were triggered and are not durable yet, oldest first."""
        return tuple(self._parts)

    def step(self, event: subtask_events.SubtaskEvent) -> list[subtask_events.SubtaskEffect]:
        """Return an event's effects. Events of a checkpoint that no longer runs are dropped."""
        effects: list[subtask_events.SubtaskEffect] = []
        self._effects = effects
        match event:
            case subtask_events.CheckpointInitialized():
                self._initialize(event.barrier, all_received=event.all_received)
            case subtask_events.InputReceived():
                self._input_received(event.checkpoint)
            case subtask_events.CheckpointTriggered():
                self._trigger(event.barrier)
            case subtask_events.CheckpointAborted():
                self._abort(event.checkpoint, event.reason)
            case subtask_events.AbortNotified():
                self._abort_notified(event.checkpoint)
            case subtask_events.OutputTimerFired():
                if self._timer == event.checkpoint:
                    self._timer = None
                    effects.append(subtask_events.TimeOutOutputs(event.checkpoint))
            case _:
                part = self._parts.get(event.checkpoint)
                if part is not None:
                    self._progress(event, part)
                elif (
                    isinstance(event, subtask_events.ChannelStateFailed)
                    and event.checkpoint > self._last
                ):
                    self._early_failures[event.checkpoint] = event.reason
        return effects

    def _input_received(self, checkpoint: int) -> None:
        if checkpoint == self._awaiting_input:
            self._awaiting_input = None
            self._effects.append(subtask_events.CloseInputState(checkpoint))

    def _initialize(self, barrier: Barrier, *, all_received: bool) -> None:
        checkpoint = barrier.checkpoint
        if barrier.is_unaligned:
            self._effects.append(subtask_events.StartWriter(checkpoint))
            self._effects.append(subtask_events.SavePartialRecords(checkpoint))
            self._awaiting_input = checkpoint
            if all_received:
                self._input_received(checkpoint)
        elif barrier.is_timeoutable:
            # Nothing of the input is state, but the output may still be.
            self._effects.append(subtask_events.StartWriter(checkpoint))
            self._effects.append(subtask_events.CloseInputState(checkpoint))

    def _trigger(self, barrier: Barrier) -> None:
        checkpoint = barrier.checkpoint
        aborted_before = checkpoint in self._aborted
        self._aborted.pop(checkpoint, None)
        if checkpoint <= self._last:
            self._effects.append(
                subtask_events.AbortWriter(checkpoint, FailureReason.CHECKPOINT_DECLINED_SUBSUMED)
            )
            return
        self._last = checkpoint
        for early in [early for early in self._early_failures if early < checkpoint]:
            del self._early_failures[early]
        if aborted_before:
            self._drop(checkpoint)
            self._effects.append(subtask_events.BroadcastCancellation(checkpoint))
            self._effects.append(
                subtask_events.AbortWriter(checkpoint, FailureReason.CHECKPOINT_DECLINED)
            )
            return
        if barrier.kind is OptionKind.FORCED_ALIGNED:
            # The input edge could not be unaligned, but the outputs may be: all barriers are here.
            barrier = barrier.unforced()
            self._initialize(barrier, all_received=True)
        early_failure = self._early_failures.pop(checkpoint, None)
        self._parts[checkpoint] = _Part(barrier, early_failure)
        self._effects.append(subtask_events.PrepareOperators(checkpoint))
        self._effects.append(subtask_events.BroadcastBarrier(barrier))

    def _progress(self, event: _PartEvent, part: _Part) -> None:
        checkpoint = event.checkpoint
        match event:
            case subtask_events.BarrierSent():
                self._sent(event, part)
            case subtask_events.OutputSettled():
                part.open_outputs -= event.count
                if event.failed:
                    self._part_failed(part, FailureReason.CHECKPOINT_ASYNC_EXCEPTION)
                elif part.open_outputs == 0:
                    self._open_outputs = None
                    self._effects.append(subtask_events.CloseOutputState(checkpoint))
            case subtask_events.SyncPartDone():
                part.captured = True
                if part.early_failure is None:
                    self._effects.append(subtask_events.StartAsyncPart(checkpoint))
                else:
                    self._fail(checkpoint, part.early_failure)
            case subtask_events.AsyncPartDone():
                part.durable = True
                self._acknowledge_if_whole(checkpoint, part)
            case subtask_events.ChannelStateWritten():
                part.written = True
                part.persisted_bytes = event.bytes
                self._acknowledge_if_whole(checkpoint, part)
            case subtask_events.AsyncPartFailed() | subtask_events.ChannelStateFailed():
                self._part_failed(part, event.reason)
            case _:
                assert_never(event)

    def _sent(self, event: subtask_events.BarrierSent, part: _Part) -> None:
        barrier = part.barrier
        self._cancel_timer()
        if barrier.is_timeoutable and barrier.timeout_ns is not None:
            self._timer = barrier.checkpoint
            age_ns = event.now_ns - barrier.timestamp_ns
            delay_ns = max(0, barrier.timeout_ns - age_ns)
            self._effects.append(subtask_events.SetOutputTimer(barrier.checkpoint, delay_ns))
        part.open_outputs = event.open_outputs
        if part.open_outputs:
            self._open_outputs = barrier.checkpoint
        if not part.written and part.open_outputs == 0:
            self._effects.append(subtask_events.CloseOutputState(barrier.checkpoint))
        self._effects.append(subtask_events.SnapshotOperators(barrier))

    def _acknowledge_if_whole(self, checkpoint: int, part: _Part) -> None:
        if part.durable and part.written:
            del self._parts[checkpoint]
            size = part.persisted_bytes
            self._effects.append(
                subtask_events.AcknowledgeCheckpoint(checkpoint, size, unaligned=size > 0)
            )

    def _part_failed(self, part: _Part, reason: FailureReason) -> None:
        """Decline, but not before the operators have taken their snapshot.

        Nothing comes in between once a checkpoint is triggered: a failure of the channel state is
        found by the asynchronous part, which follows the snapshot.  Declining at once would leave
        out the snapshot of a barrier that has been sent.
        """
        if part.captured:
            self._fail(part.barrier.checkpoint, reason)
        elif part.early_failure is None:
            part.early_failure = reason

    def _fail(self, checkpoint: int, reason: FailureReason) -> None:
        """Decline a triggered checkpoint. The barrier is on its way, so no marker follows."""
        del self._parts[checkpoint]
        self._effects.append(subtask_events.CancelAsyncPart(checkpoint))
        self._effects.append(subtask_events.DeclineCheckpoint(checkpoint, reason))

    def _abort(self, checkpoint: int, reason: FailureReason) -> None:
        self._last = max(self._last, checkpoint)
        for early in [early for early in self._aborted if early < self._last]:
            del self._aborted[early]
        self._drop(checkpoint)
        self._effects.append(subtask_events.AbortWriter(checkpoint, reason))
        self._effects.append(subtask_events.DeclineCheckpoint(checkpoint, reason))
        self._effects.append(subtask_events.BroadcastCancellation(checkpoint))

    def _abort_notified(self, checkpoint: int) -> None:
        if checkpoint not in self._parts and checkpoint > self._last:
            self._aborted[checkpoint] = None
            if len(self._aborted) > MAX_REMEMBERED_ABORTS:
                del self._aborted[next(iter(self._aborted))]
        self._drop(checkpoint)
        self._effects.append(
            subtask_events.AbortWriter(checkpoint, FailureReason.CHECKPOINT_DECLINED)
        )

    def _drop(self, checkpoint: int) -> None:
        if self._awaiting_input == checkpoint:
            self._awaiting_input = None
        if self._parts.pop(checkpoint, None) is not None:
            self._effects.append(subtask_events.CancelAsyncPart(checkpoint))
        if self._open_outputs == checkpoint:
            self._open_outputs = None
            self._effects.append(subtask_events.AbortOutputs(checkpoint))
        if self._timer == checkpoint:
            self._cancel_timer()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._effects.append(subtask_events.CancelOutputTimer(self._timer))
            self._timer = None
