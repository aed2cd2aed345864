"""One task's part in each checkpoint: carries out what the core of the subtask side decides.

The core (`ckptsim.models.barriers.subtask`) owns the sequence: which checkpoint is taken, skipped
or aborted, and what follows on what.  The lifecycle is notified of performed checkpoints.  Here the
steps get their time and their data from the plane, and the channel state goes to the shared writer.

Invariants that hold here:

* The barrier enters every queue before anything else happens. BarrierSent is answered before any
  OutputSettled, or the core would count one that it does not wait for.  So nothing travels before
  the core has answered BarrierSent.
* The barrier travels before the snapshot is taken: the tasks below align while this one copies.
* An outbox is emptied in its order. The rest in it by a step on the way comes after.

Source: Apache Flink 1.20.3, SubtaskCheckpointCoordinatorImpl.checkpointState, StreamTask.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, assert_never

from ckptsim.models.barriers import channel_state as writer_events
from ckptsim.models.barriers.barrier import Barrier, CancellationMarker
from ckptsim.models.barriers.channels import network as channel_effects
from ckptsim.models.barriers.subtask import events as subtask_events
from ckptsim.sim.job.events import of_tasks

if TYPE_CHECKING:
    from ckptsim.models.barriers.subtask import SubtaskCheckpoints
    from ckptsim.sim.job.control.task.channel_state import ChannelStateHost
    from ckptsim.sim.job.control.task.lifecycle import LifecycleHost
    from ckptsim.sim.job.events import Events
    from ckptsim.sim.job.task_port import Clock, Reach, TaskPort, Timer

_ENDS_WRITING = (
    subtask_events.CancelAsyncPart,
    subtask_events.AcknowledgeCheckpoint,
    subtask_events.DeclineCheckpoint,
)


class CheckpointsHost:
    """Drives the subtask side of one task's checkpoints.

    is_entering: whether the thread is on its way to send a barrier on, and does nothing else.
    """

    __slots__ = (
        "_clock",
        "_emit",
        "_lifecycle",
        "_outbox",
        "_output_timer",
        "_reach",
        "_task",
        "_writer",
        "core",
        "is_entering",
    )

    def __init__(
        self,
        core: SubtaskCheckpoints,
        task: TaskPort,
        lifecycle: LifecycleHost,
        *,
        writer: ChannelStateHost,
        events: Events,
        clock: Clock,
        reach: Reach,
    ) -> None:
        self.core = core
        self._task = task
        self._lifecycle = lifecycle
        self._writer = writer
        self._emit = events.emit
        self._clock = clock
        self._reach = reach
        self._outbox = task.outbox
        self.is_entering = False
        self._output_timer: Timer | None = None

    # What the barrier handler and the coordinator want ----------------------------------------

    def initialize(self, barrier: Barrier) -> None:
        """Open the channel state of a checkpoint."""
        part = self._task.snapshots.part_of(barrier)
        part.unaligned = part.unaligned or barrier.is_unaligned
        self._emit(of_tasks.ChannelStateBegun(self._task, barrier))
        self.step(subtask_events.CheckpointInitialized(barrier))

    def trigger(self, barrier: Barrier, start_delay_ns: int) -> None:
        """Take part in a checkpoint now, unless the core knows better."""
        self._emit(of_tasks.SnapshotDue(self._task, barrier, start_delay_ns))
        self._task.snapshots.part_of(barrier.unforced()).start_delay_ns = start_delay_ns
        self.is_entering = True
        self._task.spend_on_barrier(self._enter, barrier)

    def trigger_whole(self, barrier: Barrier) -> None:
        """Take part in a checkpoint with a task without open inputs.

        Source: Apache Flink 1.20.3, StreamTask.triggerCheckpointAsyncInMailbox.
        """
        self.step(subtask_events.CheckpointInitialized(barrier, all_received=True))
        self.trigger(barrier, max(0, self._clock.now - barrier.timestamp_ns))

    def abort(self, checkpoint: int) -> None:
        """Give a checkpoint up, because the coordinator says so."""
        self._emit(of_tasks.AbortDone(self._task))
        self.step(subtask_events.AbortNotified(checkpoint))

    def measured(self, checkpoint: int, duration_ns: int, size: int) -> None:
        """Take the figures of the alignment."""
        self._emit(of_tasks.AlignmentMeasured(self._task, checkpoint, duration_ns, size))
        self._task.snapshots.aligned(checkpoint, duration_ns, size)

    def _enter(self, barrier: Barrier) -> None:
        checkpoint = barrier.checkpoint
        self.is_entering = False
        self._emit(of_tasks.TriggerEntered(self._task, checkpoint))
        if checkpoint <= self.core.last:
            self._task.ending.note("skipped", checkpoint)
        self.step(subtask_events.CheckpointTriggered(self._clock.now, barrier))
        self._emit(of_tasks.TriggerAnswered(self._task, checkpoint))

    # What the subtask's core decides ----------------------------------------------------------

    @property
    def share_a_file(self) -> tuple[int, ...]:
        """The tasks with parts in the same file that are not whole yet."""
        return self._writer.writing

    def step(self, event: subtask_events.SubtaskEvent) -> None:  # noqa: C901, PLR0912 - one branch per effect
        """Give the core an event and carry out what it decides."""
        core, task = self.core, self._task
        for effect in self._decided(event):
            self._note_writing(effect)
            match effect:
                case subtask_events.StartWriter(checkpoint):
                    self._writer.step(writer_events.WriteStarted(task.number, checkpoint))
                case subtask_events.SavePartialRecords(checkpoint):
                    self._write(checkpoint, task.snapshots.keep_partial_records(checkpoint))
                case subtask_events.CloseInputState(checkpoint):
                    self._writer.step(writer_events.InputClosed(task.number, checkpoint))
                case subtask_events.CloseOutputState(checkpoint):
                    self._writer.step(writer_events.OutputClosed(task.number, checkpoint))
                case subtask_events.AbortWriter(checkpoint, reason):
                    self._writer.step(writer_events.WriteAborted(task.number, checkpoint, reason))
                case subtask_events.PrepareOperators():
                    pass  # no operator has anything to do before a barrier
                case subtask_events.BroadcastBarrier(barrier):
                    self._send(barrier)
                case subtask_events.BroadcastCancellation(checkpoint):
                    self._emit(of_tasks.CancellationSent(task, checkpoint))
                    task.outputs.broadcast(CancellationMarker(checkpoint))
                case subtask_events.SetOutputTimer(checkpoint, delay_ns):
                    fired = subtask_events.OutputTimerFired(checkpoint)
                    self._output_timer = task.set_timer(delay_ns, task.post, self.step, fired)
                case subtask_events.CancelOutputTimer():
                    if self._output_timer is not None:
                        self._output_timer.cancel()
                case subtask_events.TimeOutOutputs(checkpoint):
                    task.outputs.time_out(checkpoint)
                    self.drain()
                case subtask_events.AbortOutputs(checkpoint):
                    task.outputs.abort(checkpoint)
                    self.drain()
                case subtask_events.SnapshotOperators(barrier):
                    self._perform(barrier)
                case subtask_events.StartAsyncPart(checkpoint):
                    task.snapshots.store(checkpoint, self._stored)
                case subtask_events.CancelAsyncPart(checkpoint):
                    task.snapshots.drop(checkpoint)
                case subtask_events.AcknowledgeCheckpoint(checkpoint, size, unaligned):
                    task.snapshots.acknowledge(checkpoint, size, unaligned=unaligned)
                case subtask_events.DeclineCheckpoint(checkpoint, reason):
                    task.snapshots.decline(checkpoint, reason)
                case _:
                    assert_never(effect)
        if not core.running:
            self._lifecycle.release()

    def _decided(
        self, event: subtask_events.SubtaskEvent
    ) -> Sequence[subtask_events.SubtaskEffect]:
        was_running = bool(self.core.running)
        effects = self.core.step(event)
        if was_running and not self.core.running:  # noted first: an effect may be a step of its own
            self._emit(of_tasks.WritesSettled(self._task))
        return effects

    def _note_writing(self, effect: subtask_events.SubtaskEffect) -> None:
        """Tell from when to when a part is being written."""
        if isinstance(effect, subtask_events.StartAsyncPart):
            self._emit(of_tasks.WritingBegun(self._task, effect.checkpoint))
        elif isinstance(effect, _ENDS_WRITING):
            whole = isinstance(effect, subtask_events.AcknowledgeCheckpoint)
            self._emit(of_tasks.WritingEnded(self._task, effect.checkpoint, whole))

    def _send(self, barrier: Barrier) -> None:
        self.drain()  # everything that was left belongs to the content of front of the barrier
        self._emit(of_tasks.BarrierSent(self._task, barrier))
        opened = self._task.outputs.broadcast_barrier(barrier)
        self.drain()  # what it has overtaken. Which states stay open was counted above
        self._task.snapshots.barrier_sent(barrier.checkpoint)
        self.step(subtask_events.BarrierSent(self._clock.now, barrier.checkpoint, opened))

    def _perform(self, barrier: Barrier) -> None:
        """Let the barrier travel, then take the snapshot."""
        checkpoint = barrier.checkpoint
        self._task.outputs.flush()
        self._write(checkpoint, self._task.snapshots.keep_recovered(barrier))
        self._lifecycle.perform(checkpoint, self._captured)

    def _captured(self, checkpoint: int) -> None:
        self.step(subtask_events.SyncPartDone(checkpoint))

    def _stored(self, checkpoint: int, *, failed: bool) -> None:
        self.step(
            subtask_events.AsyncPartFailed(checkpoint)
            if failed
            else subtask_events.AsyncPartDone(checkpoint)
        )

    def _write(self, checkpoint: int, sizes: Iterable[int]) -> None:
        for size in sizes:
            self._writer.step(writer_events.DataAdded(self._task.number, checkpoint, size))

    # What channels and subpartitions ask for --------------------------------------------------

    def drain(self) -> None:
        """Carry out what channels and subpartitions have left in the outbox."""
        outbox = self._outbox
        while outbox:
            self._carry_out(outbox.pop(0))

    def _carry_out(self, effect: channel_effects.NetworkEffect) -> None:
        task, emit, state = self._task, self._emit, self._task.snapshots
        match effect:
            case channel_effects.PersistInput(channel, checkpoint, buffers):
                emit(of_tasks.InputPersisted(task, channel, checkpoint, buffers))
                self._write(checkpoint, state.keep_input(channel, checkpoint, buffers))
            case channel_effects.PersistOutput(output, checkpoint, buffers):
                emit(of_tasks.OutputPersisted(task, output, checkpoint, buffers))
                self._write(checkpoint, state.keep_output(output, checkpoint, buffers))
            case channel_effects.OutputStateOpened(output, checkpoint):
                emit(of_tasks.OutputOpened(task, output, checkpoint))
            case channel_effects.OutputStateKnown(output, checkpoint, buffers):
                emit(of_tasks.OutputSettled(task, output, checkpoint))
                if buffers:
                    self._reach("timed_out_in_output")
                    emit(of_tasks.OutputPersisted(task, output, checkpoint, buffers))
                    self._write(checkpoint, state.keep_output(output, checkpoint, buffers))
                self.step(subtask_events.OutputSettled(checkpoint))
            case channel_effects.OutputStateFailed(output, checkpoint):
                emit(of_tasks.OutputSettled(task, output, checkpoint))
                self.step(subtask_events.OutputSettled(checkpoint, failed=True))
            case channel_effects.ResumeSender(channel):
                task.inputs[channel].resume()
            case _:
                assert_never(effect)
