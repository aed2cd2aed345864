"""The end of a task before FLIP-147: each task for itself, one checkpoint after another.

A task that has no more input finishes, waits for a checkpoint of its own and only then sends
EndOfPartition, which is what finishes the next task.  There is no EndOfData and no acknowledgement.
A chain of D + 1 tasks needs D + 1 checkpoints.  It exists for comparison.

Source: FLIP-147, motivation; Apache Flink, final checkpoint blog of 2022-07-11.
"""

from __future__ import annotations

from ckptsim.models.lifecycle import effects as do
from ckptsim.models.lifecycle import events as on
from ckptsim.models.lifecycle.states import StopMode, TaskKind
from ckptsim.models.lifecycle.tables import Act, Cue
from ckptsim.models.lifecycle.task import TaskLifecycle


class NaiveLifecycle(TaskLifecycle):
    """A task that takes the end of its partitions for the end of its data."""

    def _handle(self, event: on.Event) -> None:
        if isinstance(event, on.EndOfPartitionReceived):
            self.inputs.end_of_partition(event.channel)
            if self.inputs.all_ended and self.parameters.kind is TaskKind.NON_SOURCE:
                self._run(Cue.MAX_WATERMARK_ALIGNED)
                self._end_non_source(StopMode.DRAIN)
            self._close_if_done()
            return
        if not isinstance(event, on.MaxWatermarkReceived | on.EndOfDataReceived):
            super()._handle(event)

    def _emit(self, effect: do.Effect) -> None:
        if not isinstance(effect, do.EmitEndOfData | do.EmitMaxWatermark):
            super()._emit(effect)

    def _met(self, act: Act) -> bool:
        return act is Act.AWAIT_ACKNOWLEDGEMENT or super()._met(act)
