"""One task's part in each checkpoint: carries out what the core of the subtask side decides.

The core (`models/barriers/subtask`) knows the order of the steps, what an abort ends and when all
is durable.  Here the barrier is put into the queues, the thread stands still for the snapshot,
buffers in flight are counted and handed to the writer, timers run, files are written.

The thread needs a core's time before it sends the barrier on (`barrier_cost_ns`), and stands still
for the synchronous part behind it.

Source: Apache Flink 1.20.3, SubtaskCheckpointCoordinatorImpl.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from ckptsim.models.barriers import subtask_events as sub
from ckptsim.models.barriers import writer_events as wr
from ckptsim.models.barriers.barrier import Barrier, CancellationMarker
from ckptsim.models.barriers.network import (
    Buffers,
    OutputStateFailed,
    OutputStateKnown,
    OutputStateOpened,
    PersistInput,
    PersistOutput,
    ResumeSender,
)
from ckptsim.scenarios.job.faults import CrashAtCheckpoint, FailSnapshot, SlowFile
from ckptsim.sim.job.buffers.kinds import Kind
from ckptsim.sim.job.buffers.part import Part
from ckptsim.sim.job.buffers.recovery import BufferSnapshot
from ckptsim.sim.job.buffers.segment import Slice
from ckptsim.sim.job.buffers.source import Source

if TYPE_CHECKING:
    from ckptsim.models.barriers.network import NetworkEffect
    from ckptsim.models.barriers.subtask import SubtaskCheckpoints
    from ckptsim.sim.job.buffers.channels import Channel
    from ckptsim.sim.job.buffers.storage import Upload
    from ckptsim.sim.job.buffers.task import Task
    from ckptsim.sim.kernel import Timer

BUFFER_HEADER_BYTES = 4
"""Length in front of each buffer in a channel-state file.

Source: Apache Flink 1.20.3, ChannelStateSerializerImpl; measured sizes have it.
"""


# How many buffers are many, for the goal of that name.
_MANY = 10


class Snapshots:
    """Takes the checkpoints of one task.

    state_bytes: of its keyed state; sync_ns: how long copying it keeps the thread.
    """

    def __init__(self, task: Task, *, state_bytes: int, sync_ns: int) -> None:
        self.parts: dict[int, Part] = {}
        self.core: SubtaskCheckpoints = task.world.protocol.subtask()
        self._task = task
        self._world = task.world
        self._env = task.env
        self._state_bytes = state_bytes
        self._sync_ns = sync_ns
        self._output_timer: Timer | None = None
        self._uploads: dict[int, Upload] = {}

    # The handler's effects --------------------------------------------------------------------

    def initialize(self, barrier: Barrier) -> None:
        """Open the channel state of a checkpoint."""
        part = self._part(barrier)
        part.unaligned = part.unaligned or barrier.is_unaligned
        self.step(sub.CheckpointInitialized(barrier))

    def triggered(self, barrier: Barrier, start_delay_ns: int) -> None:
        """Take the snapshot now."""
        self._world.account.snapshot(self._task, barrier, start_delay_ns)
        self._part(barrier.unforced()).start_delay_ns = start_delay_ns
        self._task.pause(self._world.constants.barrier_cost_ns, self._begin, barrier)

    def triggered_whole(self, barrier: Barrier) -> None:
        """Take the snapshot of a task whose inputs are over, or that has none."""
        self.step(sub.CheckpointInitialized(barrier, all_received=True))
        self.triggered(barrier, max(0, self._env.now - barrier.timestamp_ns))

    def aligned(self, checkpoint: int, duration_ns: int, size: int) -> None:
        """Take the figures of the alignment."""
        self._world.account.measured(self._task, checkpoint, duration_ns, size)
        part = self.parts.get(checkpoint)
        if part is not None:
            part.alignment_ns = duration_ns
            part.processed_bytes = size

    # The subtask core -------------------------------------------------------------------------

    def step(self, event: sub.SubtaskEvent) -> None:
        """Give the core an event and carry out what it decides."""
        for effect in self.core.step(event):
            self._carry_out(effect)
        if not self.core.running:
            self._task.ending.writes_settled()

    def _begin(self, barrier: Barrier) -> None:
        self.step(sub.CheckpointTriggered(self._env.now, barrier))

    def _carry_out(self, effect: sub.SubtaskEffect) -> None:  # noqa: C901, PLR0912 - one branch per effect
        task = self._task
        match effect:
            case sub.StartWriter(checkpoint):
                task.file.writer.step(wr.WriteStarted(task.subtask, checkpoint))
            case sub.SavePartialRecords(checkpoint):
                self._save_partial_records(checkpoint)
            case sub.CloseInputState(checkpoint):
                task.file.writer.step(wr.InputClosed(task.subtask, checkpoint))
            case sub.CloseOutputState(checkpoint):
                task.file.writer.step(wr.OutputClosed(task.subtask, checkpoint))
            case sub.AbortWriter(checkpoint, reason):
                task.file.writer.step(wr.WriteAborted(task.subtask, checkpoint, reason))
            case sub.PrepareOperators() | sub.SnapshotOperators():
                pass  # operators are the lifecycle's matter
            case sub.BroadcastBarrier(barrier):
                self._enter(barrier)
            case sub.BroadcastCancellation(checkpoint):
                self.send_cancellation(checkpoint)
            case sub.SetOutputTimer(checkpoint, delay_ns):
                self._set_output_timer(checkpoint, delay_ns)
            case sub.CancelOutputTimer():
                if self._output_timer is not None:
                    self._output_timer.cancel()
            case sub.TimeOutOutputs(checkpoint):
                for outlet in task.outlets:
                    outlet.time_out(checkpoint)
                    self.take_outbox()
            case sub.AbortOutputs(checkpoint):
                for outlet in task.outlets:
                    outlet.core.abort(checkpoint)
                self.take_outbox()
            case sub.StartAsyncPart(checkpoint):
                self._start_async(checkpoint)
            case sub.CancelAsyncPart(checkpoint):
                upload = self._uploads.pop(checkpoint, None)
                if upload is not None:
                    upload.cancel()
            case sub.AcknowledgeCheckpoint(checkpoint, size, unaligned):
                part = self.parts[checkpoint]
                self._world.account.acknowledged(task, part, size, unaligned=unaligned)
                part.acknowledged_ns = self._env.now
                self._world.coordinator.acknowledge(task, checkpoint, part)
            case sub.DeclineCheckpoint(checkpoint, reason):
                self._world.coordinator.decline(task, checkpoint, reason)
            case _:
                assert_never(effect)

    # Barriers and the snapshot ----------------------------------------------------------------

    def _enter(self, barrier: Barrier) -> None:
        """Let the lifecycle send the barrier and take the snapshot; it may refuse to."""
        part = self._part(barrier)
        self._task.ending.perform(barrier)
        if part.triggered_ns is None:
            self.step(sub.AbortNotified(barrier.checkpoint))

    def send_barrier(self, barrier: Barrier) -> None:
        """Put the barrier into all outputs, then let it travel."""
        task, part = self._task, self._part(barrier)
        task.world.account.barrier_sent(task, barrier.checkpoint)
        opened = 0
        over_edge = self._world.protocol.edge
        for writer in task.writers:
            sent = over_edge(barrier, supports_unaligned=writer.supports_unaligned)
            writer.close_all()
            for outlet in writer.outlets:
                outlet.core.add_barrier(sent)
                if task.outbox:
                    opened += sum(isinstance(e, OutputStateOpened) for e in task.outbox)
                    self.take_outbox()
        self._env.trace.record("sent_barrier", task.entity, barrier.checkpoint, part.overtaken)
        if part.overtaken:
            self._env.goals.reach("overtook_buffers")
        if part.overtaken >= _MANY:
            self._env.goals.reach("overtook_ten_buffers")
        self.step(sub.BarrierSent(self._env.now, barrier.checkpoint, opened))
        for outlet in task.outlets:
            outlet.pump()

    def send_cancellation(self, checkpoint: int) -> None:
        """Tell the tasks below that a barrier will not come."""
        for writer in self._task.writers:
            writer.close_all()
        for outlet in self._task.outlets:
            outlet.add_event(CancellationMarker(checkpoint))

    def take(self, checkpoint: int) -> None:
        """Copy the state; the thread stands still meanwhile."""
        task, part, now = self._task, self.parts[checkpoint], self._env.now
        self._world.account.performed(task, checkpoint)
        if not task.outlets:  # a sink has nobody to send a barrier to
            self.step(sub.BarrierSent(now, checkpoint))
        part.triggered_ns = now
        part.state_bytes = self._state_bytes
        part.snapshot = BufferSnapshot(
            processed=task.processed,
            exhausted=isinstance(task, Source) and task.is_exhausted,
            input_spans=part.input_spans,
            output_spans=part.output_spans,
        )
        self._env.trace.record(
            "snapshot",
            task.entity,
            checkpoint,
            task.processed,
            part.start_delay_ns,
            part.unaligned,
        )
        if self._world.faults.strikes_once(CrashAtCheckpoint, task, checkpoint):
            self._world.control.fail(f"{task.name}/{task.subtask} crashes")
        if self._sync_ns:
            task.stand_still(self._sync_ns, self._copied, part)
        else:
            self._copied(part)

    def _copied(self, part: Part) -> None:
        if part.triggered_ns is not None:
            part.sync_ns = self._env.now - part.triggered_ns
        self.step(sub.SyncPartDone(part.barrier.checkpoint))

    def _set_output_timer(self, checkpoint: int, delay_ns: int) -> None:
        task = self._task
        self._output_timer = self._env.call_in(
            delay_ns + self._world.constants.timer_extra_ns,
            Kind.TIMER,
            task.entity,
            task.post,
            self.step,
            sub.OutputTimerFired(checkpoint),
        )

    # State that is written --------------------------------------------------------------------

    def _start_async(self, checkpoint: int) -> None:
        size, storage, faults = self._state_bytes, self._world.storage, self._world.faults
        fails = faults.strikes(FailSnapshot, self._task, checkpoint)
        if storage.is_inline(size):
            self._uploaded(checkpoint, failed=fails)
            return
        self._world.coordinator.note_file(checkpoint, size)
        self._uploads[checkpoint] = storage.save(
            size,
            storage.state,
            self._uploaded,
            checkpoint,
            late_ns=faults.delay_ns(SlowFile, self._task, checkpoint),
            fails=fails,
        )

    def _uploaded(self, checkpoint: int, *, failed: bool) -> None:
        self._uploads.pop(checkpoint, None)
        if failed:
            self._env.goals.reach("state_failed")
        self.step(sub.AsyncPartFailed(checkpoint) if failed else sub.AsyncPartDone(checkpoint))

    def _save_partial_records(self, checkpoint: int) -> None:
        """What has been read in part comes first: its rest is in flight, too."""
        for channel in self._task.channels:
            unread = self._task.unread_bytes(channel)
            if unread:
                # It comes before what is queued, which may have been persisted already.
                spans = self.parts[checkpoint].input_spans.setdefault(channel.index, [])
                spans.insert(0, (unread, self._task.unread_records(channel)))
                self._keep_input(channel, checkpoint, unread)

    def _keep_input(self, channel: Channel, checkpoint: int, size: int) -> None:
        self._world.account.persisted(channel.outlet, checkpoint, size, at_sender=False)
        size += BUFFER_HEADER_BYTES
        self.parts[checkpoint].input_bytes += size
        self._task.file.writer.step(wr.DataAdded(self._task.subtask, checkpoint, size))

    # The network's effects --------------------------------------------------------------------

    def take_outbox(self) -> None:
        """Carry out what channels and outlets have asked for."""
        outbox = self._task.outbox
        while outbox:
            self._carry_out_network(outbox.pop(0))

    def _carry_out_network(self, effect: NetworkEffect) -> None:
        match effect:
            case PersistInput(index, checkpoint, buffers):
                part, channel = self.parts[checkpoint], self._task.channels[index]
                for buffer in buffers:
                    if isinstance(buffer, Slice):
                        part.overtaken += 1
                        spans = part.input_spans.setdefault(index, [])
                        spans.append((buffer.bytes, buffer.records))
                        self._keep_input(channel, checkpoint, buffer.bytes)
            case PersistOutput(index, checkpoint, buffers):
                self._persist_output(index, checkpoint, buffers)
            case OutputStateOpened():
                pass  # counted when the barrier was sent
            case OutputStateKnown(index, checkpoint, buffers):
                if buffers:
                    self._persist_output(index, checkpoint, buffers)
                    self._env.goals.reach("timed_out_in_output")
                self.step(sub.OutputSettled(checkpoint))
            case OutputStateFailed(_, checkpoint):
                self.step(sub.OutputSettled(checkpoint, failed=True))
            case ResumeSender(index):
                self._task.channels[index].resume()
            case _:
                assert_never(effect)

    def _persist_output(self, outlet: int, checkpoint: int, buffers: Buffers) -> None:
        part, sender = self.parts[checkpoint], self._task.outlets[outlet]
        part.unaligned = True
        spans = part.output_spans.setdefault(outlet, [])
        for unsent, records in sender.unsent(buffers):
            spans.append((unsent, records))
            self._world.account.persisted(sender, checkpoint, unsent, at_sender=True)
            size = unsent + BUFFER_HEADER_BYTES
            part.output_bytes += size
            part.overtaken += 1
            self._task.file.writer.step(wr.DataAdded(self._task.subtask, checkpoint, size))

    def _part(self, barrier: Barrier) -> Part:
        part = self.parts.get(barrier.checkpoint)
        if part is None:
            part = self.parts[barrier.checkpoint] = Part(barrier)
        return part
