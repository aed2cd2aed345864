"""The end of one task's life: end of data, its acknowledgement, the final checkpoint, closing.

The lifecycle core decides; it is also asked at every checkpoint, because only one that is performed
after the end of data lets the task go.  This is the only interpreter of its effects.

Source: Apache Flink 1.20.3, StreamTask; FLIP-147.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.barriers import subtask_events as sub
from ckptsim.models.barriers import writer_events as wr
from ckptsim.models.barriers.barrier import Barrier, EndOfData
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator.plan import FinishedState
from ckptsim.models.lifecycle import StopMode, TaskKind, TaskParameters, TaskState
from ckptsim.models.lifecycle import effects as do
from ckptsim.models.lifecycle import events as on
from ckptsim.sim.job.buffers.states import State

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.channels import Channel
    from ckptsim.sim.job.buffers.task import Task
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint

_CLOSING = FailureReason.CHECKPOINT_DECLINED_TASK_CLOSING


class Ending:
    """Drives the lifecycle core of a task.

    ended_channels: inputs that have delivered their end of partition.
    data_ended_ns: when the task had processed its last record and sent its own end of data.
    """

    def __init__(self, task: Task, restored: JobCheckpoint | None) -> None:
        self.ended_channels: dict[int, None] = {}
        self.data_ended_ns: int | None = None
        self.closed = False
        self._task = task
        self._barrier: Barrier | None = None
        self._held: list[do.Effect] = []
        finished = restored is not None and restored.vertices[task.name] is FinishedState.FULL
        self._core = task.world.protocol.lifecycle(
            TaskParameters(
                restored_from=None if restored is None else restored.checkpoint_id,
                finished_on_restore=finished,
                kind=TaskKind.NON_SOURCE if task.gates else TaskKind.SOURCE,
                gates=tuple(len(gate.channels) for gate in task.gates),
                output_channels=len(task.outlets),
            )
        )

    def start(self) -> None:
        """Let a source that was restored as finished pass its end marks on."""
        if not self._task.gates:
            self._step(on.Started())

    def exhausted(self) -> None:
        """A source has no more records."""
        self._step(on.InputExhausted())

    def end_of_data(self, channel: Channel, event: EndOfData) -> None:
        """A channel has delivered its end of data."""
        mode = StopMode.DRAIN if event.drain else StopMode.NO_DRAIN
        self._step(on.EndOfDataReceived(channel.index, mode))

    def end_of_partition(self, channel: Channel) -> None:
        """A channel has ended."""
        self.ended_channels[channel.index] = None
        self._step(on.EndOfPartitionReceived(channel.index))

    def perform(self, barrier: Barrier) -> None:
        """Take part in a checkpoint whose barriers have come."""
        self._barrier = barrier
        if self._task.gates:
            self._step(on.BarriersAligned(barrier.checkpoint))
        else:
            self._step(on.CheckpointTriggered(barrier.checkpoint))

    def trigger(self, barrier: Barrier) -> None:
        """Take a trigger by remote call."""
        if self.closed:
            self._step(on.CheckpointTriggered(barrier.checkpoint))
        else:
            self._task.post(self._triggered, barrier)

    def _triggered(self, barrier: Barrier) -> None:
        task = self._task
        if self.closed:
            self._step(on.CheckpointTriggered(barrier.checkpoint))
            return
        if task.channels:
            task.env.goals.reach("triggered_by_remote_call_below_finished")
        if len(self.ended_channels) < len(task.channels):
            task.alignment.take_rpc(barrier)
            return
        task.snapshots.triggered_whole(barrier)

    def notify_complete(self, checkpoint: int) -> None:
        """Take the word that a checkpoint is complete."""
        if not self.closed:
            self._task.post(self._step, on.CheckpointCompleted(checkpoint))

    def notify_aborted(self, checkpoint: int, latest_completed: int | None) -> None:
        """Take the word that a checkpoint was given up."""
        if not self.closed:
            self._task.post(self._aborted, checkpoint, latest_completed)

    def _aborted(self, checkpoint: int, latest_completed: int | None) -> None:
        self._task.snapshots.step(sub.AbortNotified(checkpoint))
        self._step(on.CheckpointAborted(checkpoint, latest_completed))

    def acknowledged(self, outlet: int) -> None:
        """The task behind an outlet has taken our end of data."""
        self._step(on.EndOfDataAcknowledged(outlet))

    def _step(self, event: on.Event) -> None:
        self._carry_out_all(self._core.step(event))
        if self.closed:
            self._task.do_last_mail()

    def writes_settled(self) -> None:
        """Go on with closing, if it waited for files that were still being written."""
        if self._held:
            held, self._held = self._held, []
            self._carry_out_all(held)
            if self.closed:
                self._task.do_last_mail()

    def _carry_out_all(self, effects: list[do.Effect]) -> None:
        """Carry out effects in order; a task closes only when all its files are written."""
        for place, effect in enumerate(effects):
            closes = isinstance(effect, do.StateChanged) and effect.state is TaskState.CLOSED
            if closes and self._task.snapshots.core.running:
                self._held = effects[place:]
                return
            self._carry_out(effect)

    def _carry_out(self, effect: do.Effect) -> None:
        task = self._task
        match effect:
            case do.EmitBarrier():
                if self._barrier is not None:
                    task.snapshots.send_barrier(self._barrier)
            case do.TakeSnapshot(checkpoint):
                finished = effect.operators_finished
                task.snapshots.parts[checkpoint].operators_finished = finished
                task.snapshots.take(checkpoint)
            case do.EmitCancelMarker(checkpoint):
                task.snapshots.send_cancellation(checkpoint)
            case do.DeclineCheckpoint(checkpoint):
                task.world.coordinator.decline(task, checkpoint, _CLOSING)
            case do.EmitEndOfData():
                self._emit_end_of_data(EndOfData(drain=effect.stop_mode is StopMode.DRAIN))
            case do.AcknowledgeEndOfData(index):
                channel = task.channels[index]
                sender = channel.outlet.owner
                channel.to_sender(
                    sender.post,
                    sender.ending.acknowledged,
                    channel.outlet.core.index,
                )
            case do.EmitEndOfPartition():
                for outlet in task.outlets:
                    outlet.finish()
            case do.StateChanged():
                self._state_changed(effect)
            case _:
                pass  # operators and transactions: nothing that shows outside the task

    def _emit_end_of_data(self, event: EndOfData) -> None:
        task = self._task
        for writer in task.writers:
            writer.close_all()
            for outlet in writer.outlets:
                outlet.add_event(event)

    def _state_changed(self, effect: do.StateChanged) -> None:
        task = self._task
        task.env.trace.record("task_state", task.entity, effect.state.name)
        if effect.state.name == "WAITING_FOR_FINAL_CP":
            self.data_ended_ns = task.env.now
            task.env.goals.reach("end_of_data")
            task.world.coordinator.end_of_data(task)
        if effect.state.name == "CLOSED":
            self.closed = True
            task.file.writer.step(wr.SubtaskReleased(task.subtask))
            task.enter(State.ENDED)
            task.world.coordinator.task_closed(task)
