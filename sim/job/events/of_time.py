"""Events of event time at single tasks: watermarks, idle inputs, and the splits of sources."""

from __future__ import annotations

from collections.abc import Sequence

from ckptsim.sim.job.events.stream import TaskEvent


class FinalWatermarkTaken(TaskEvent):
    """The final watermark of an input counts from now on."""

    channel: int


class WatermarkTaken(TaskEvent):
    """An input has a new watermark or status."""

    channel: int
    watermark: int | None
    idle: bool | None


class WatermarkRecovered(TaskEvent):
    """A task gets a watermark that was in flight."""

    channel: int
    watermark: int | None


class WatermarkSent(TaskEvent):
    """A task sends a new watermark or status to all channels."""

    watermark: int | None
    idle: bool | None


class WatermarksSettled(TaskEvent):
    """A task has processed its watermarks."""


class SplitsOpened(TaskEvent):
    """A source begins to read.

    moved: splits that may come from other subtasks.
    """

    moved: Sequence[int]


class SplitsTold(TaskEvent):
    """A source has emitted its watermarks so far.

    unread: splits with records left.
    """

    unread: Sequence[int]
