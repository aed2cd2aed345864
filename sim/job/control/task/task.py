"""The control of one task: barrier handler, checkpoints and lifecycle, joined.

One barrier comes in here, and everything that follows of it: the handler aligns, the subtask's
checkpoints own the sequence, and the lifecycle is notified of performed checkpoints.  Simulated
worlds and conformance vectors drive the same object, each through ports of its own.

Source: Apache Flink 1.20.3, StreamTask.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ckptsim.models.barriers import HandlerKind
from ckptsim.models.lifecycle import StopMode
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.sim.job.control.task.checkpoints import CheckpointsHost
from ckptsim.sim.job.control.task.handler import HandlerHost
from ckptsim.sim.job.control.task.lifecycle import LifecycleHost
from ckptsim.sim.job.events import of_tasks, of_time

if TYPE_CHECKING:
    from ckptsim.models.barriers.barrier import Barrier, EndOfData
    from ckptsim.models.barriers.handler import BarrierHandler
    from ckptsim.models.barriers.subtask import SubtaskCheckpoints
    from ckptsim.sim.job.control.task.channel_state import ChannelStateHost
    from ckptsim.sim.job.events import Events
    from ckptsim.sim.job.task_port import Clock, Reach, TaskPort
    from ckptsim.sim.slots.protocols import Lifecycle


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCores:
    """The cores of one task. A source has no barrier handler.

    kind: of the handler, as the job's settings ask for it.
    chain: how many operators run in the task. None in one that was finished when it was restored.
    """

    handler: BarrierHandler | None
    subtask: SubtaskCheckpoints
    lifecycle: Lifecycle
    chain: int = 1
    kind: HandlerKind = HandlerKind.ALIGNED


class TaskControl:
    """What a task does about checkpoints and about its end.

    handler: None at a source.  ended_channels: inputs that have delivered their end of partition.
    """

    __slots__ = ("_emit", "_reach", "checkpoints", "ended_channels", "handler", "lifecycle", "task")

    def __init__(
        self,
        task: TaskPort,
        cores: TaskCores,
        *,
        writer: ChannelStateHost,
        events: Events,
        clock: Clock,
        reach: Reach,
    ) -> None:
        self.task = task
        self.lifecycle = LifecycleHost(cores.lifecycle, task, chain=cores.chain, events=events)
        self.checkpoints = CheckpointsHost(
            cores.subtask,
            task,
            self.lifecycle,
            writer=writer,
            events=events,
            clock=clock,
            reach=reach,
        )
        self.handler: HandlerHost | None = None
        if cores.handler is not None:
            self.handler = HandlerHost(
                cores.handler,
                task,
                self.checkpoints,
                kind=cores.kind,
                events=events,
                clock=clock,
                reach=reach,
            )
        self.ended_channels: dict[int, None] = {}
        self._emit = events.emit
        self._reach = reach

    @property
    def all_inputs_over(self) -> bool:
        """Whether every input channel has delivered its end of partition. So it is at a source."""
        return len(self.ended_channels) == len(self.task.inputs)

    # Messages of the coordinator --------------------------------------------------------------

    def trigger(self, barrier: Barrier, stop: StopMode | None = None) -> None:
        """Take a trigger by remote call.

        stop: how the job is stopped, where the checkpoint is the savepoint of a stop.  A closed
        task has no mailbox any more and declines at once.

        Source: Apache Flink 1.20.3, Task.triggerCheckpointBarrier, StreamTask.
        """
        if self.lifecycle.is_over:
            self.lifecycle.step(lifecycle_events.CheckpointTriggered(barrier.checkpoint))
        else:
            self.task.post(self._triggered, barrier, stop)

    def notify_complete(self, checkpoint: int) -> None:
        """Take the notification that a checkpoint is complete."""
        self._emit(of_tasks.NotificationArrived(self.task, checkpoint, completed=True))
        self.task.post(self.lifecycle.complete, checkpoint)

    def notify_aborted(self, checkpoint: int, latest_completed: int | None) -> None:
        """Take the notification that a checkpoint was aborted."""
        self._emit(of_tasks.NotificationArrived(self.task, checkpoint, completed=False))
        self.task.post(self.abort, checkpoint, latest_completed)

    # On the task's thread ---------------------------------------------------------------------

    def _triggered(self, barrier: Barrier, stop: StopMode | None) -> None:
        lifecycle, checkpoint = self.lifecycle, barrier.checkpoint
        if stop is not None and self.task.is_source and not lifecycle.is_over:
            drain = stop is StopMode.DRAIN
            self._emit(of_tasks.SourceStopped(self.task, drain, lifecycle.core.ended))
            lifecycle.step(lifecycle_events.StopWithSavepointTriggered(checkpoint, drain))
        else:
            lifecycle.step(lifecycle_events.CheckpointTriggered(checkpoint))
        if lifecycle.is_over:
            return
        if self.handler is not None:
            self._reach("triggered_by_remote_call_below_finished")
            if not self.all_inputs_over:
                channels = range(len(self.task.inputs))
                ended = self.ended_channels
                self.handler.trigger_by_rpc(barrier, (c for c in channels if c not in ended))
                return
        self.checkpoints.trigger_whole(barrier)

    def abort(self, checkpoint: int, latest_completed: int | None) -> None:
        """Give a checkpoint up, because the coordinator says so."""
        self.lifecycle.abort(checkpoint, latest_completed, self.checkpoints.abort)

    def exhausted(self) -> None:
        """Take the end of a source's records."""
        self.lifecycle.step(lifecycle_events.InputExhausted())

    def end_of_data(self, channel: int, event: EndOfData) -> None:
        """Take the end of data from a channel."""
        mode = StopMode.DRAIN if event.drain else StopMode.NO_DRAIN
        self.lifecycle.step(lifecycle_events.EndOfDataReceived(channel, mode))

    def end_of_partition(self, channel: int) -> None:
        """Take the end of a channel: it counts as its barrier, and closing may wait for it."""
        if self.handler is not None:
            self.handler.channel_ended(channel)
        self.ended_channels[channel] = None
        if self.checkpoints.is_entering:
            # The end of the channel has completed an alignment, and the thread spends the time of
            # that barrier.  The task learns of the end after it, or it would close in between.
            self.task.post(self.lifecycle.step, lifecycle_events.EndOfPartitionReceived(channel))
        else:
            self.lifecycle.step(lifecycle_events.EndOfPartitionReceived(channel))

    def commits_settled(self) -> None:
        """Take note that no commit of the task's sink is under way any more."""
        self._emit(of_tasks.WritesSettled(self.task))
        self.lifecycle.release()

    def max_watermark(self, channel: int) -> None:
        """Take the final watermark from a channel."""
        self._emit(of_time.FinalWatermarkTaken(self.task, channel))
        self.lifecycle.step(lifecycle_events.MaxWatermarkReceived(channel))

    def end_of_data_acknowledged(self, output: int) -> None:
        """Take the acknowledgement of our end of data by the task downstream of an output."""
        self._emit(of_tasks.AcknowledgementArrived(self.task, output))
        self.lifecycle.step(lifecycle_events.EndOfDataAcknowledged(output))
