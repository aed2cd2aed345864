"""Deliberately broken ends of tasks on buffers; the jobs that show them stand in `broken.py`."""

from __future__ import annotations

import pytest

from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.sim.job.buffers.tasks import Source
from ckptsim.sim.job.control.task import TaskControl

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
