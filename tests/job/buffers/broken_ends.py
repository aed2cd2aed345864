"""Deliberately broken ends of tasks on buffers. The jobs that show them stand in `broken.py`."""

from __future__ import annotations

import pytest

from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.sim.job.buffers import world
from ckptsim.sim.job.buffers.input.local_channel import LocalChannel
from ckptsim.sim.job.buffers.input.remote_channel import RemoteChannel
from ckptsim.sim.job.buffers.restoring.attempt import _RestoringTask
from ckptsim.sim.job.buffers.restoring.timed import TimedFailover
from ckptsim.sim.job.buffers.tasks import Source
from ckptsim.sim.job.control.checkpoint import JobCheckpoint
from ckptsim.sim.job.control.task import TaskControl
from ckptsim.sim.job.events import of_tasks

Patch = pytest.MonkeyPatch


def closes_in_front_of_a_barrier(patch: Patch) -> None:
    """Close at the end of the last channel, though that has just completed an alignment."""

    def end_of_partition(self: TaskControl, channel: int) -> None:
        if self.handler is not None:
            self.handler.channel_ended(channel)
        self.ended_channels[channel] = None
        self.lifecycle.step(lifecycle_events.EndOfPartitionReceived(channel))

    patch.setattr(TaskControl, "end_of_partition", end_of_partition)


def takes_the_stopped_for_exhausted(patch: Patch) -> None:
    """Let a source that a stop has cut off count as one that has read all it has."""
    patch.setattr(Source, "is_exhausted", property(lambda self: self.exhausted_ns is not None))


def stops_what_has_begun(patch: Patch) -> None:
    """Let sources that are restored end their data, though they have something left."""
    right = world.restore_counts

    def restore(of: world.DataflowWorld, restored: JobCheckpoint) -> None:
        right(of, restored)
        for task in of.tasks:
            if isinstance(task, Source):
                task.stop()

    patch.setattr(world, "restore_counts", restore)


def keeps_completions_to_itself(patch: Patch) -> None:
    """Let a task hear that a checkpoint is complete, and do nothing about it."""

    def notify_complete(self: TaskControl, checkpoint: int) -> None:
        self._emit(of_tasks.NotificationArrived(self.task, checkpoint, completed=True))

    patch.setattr(TaskControl, "notify_complete", notify_complete)


def finished_tasks_say_nothing(patch: Patch) -> None:
    """Let tasks that a checkpoint has as finished send no EndOfChannelState."""
    right = _RestoringTask._output_read

    def output_read(self: _RestoringTask) -> None:
        self._blocks = self._snapshot is not None
        right(self)

    patch.setattr(_RestoringTask, "_output_read", output_read)


def never_restores(patch: Patch) -> None:
    """Let tasks that are to restore in their time not begin with it."""
    patch.setattr(TimedFailover, "start", lambda _: None)


def acknowledges_no_end(patch: Patch) -> None:
    """Let no task acknowledge the EndOfData that it takes."""
    for channel in (LocalChannel, RemoteChannel):
        patch.setattr(channel, "acknowledge_end_of_data", lambda _: None)
