"""What a task takes from its inputs besides data: each goes to the control of the task.

Source: Apache Flink 1.20.3, CheckpointedInputGate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.barriers.barrier import (
    Announcement,
    Barrier,
    CancellationMarker,
    EndOfChannelState,
    EndOfData,
    EndOfPartition,
    NetworkEvent,
    OptionKind,
)
from ckptsim.models.core import ProtocolError

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.input.input_gate import Channel
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.control.task.handler import HandlerHost

_KIND_NAMES = {kind: kind.name for kind in OptionKind}


class InputEvents:
    """Hands events on, and keeps the trace of those that belong to checkpoints.

    clock: the alignment clock of the task, looked at for every buffer.
    """

    __slots__ = ("_handler", "_task", "clock")

    def __init__(self, task: Task, handler: HandlerHost) -> None:
        self._task = task
        self._handler = handler
        self.clock = handler.core.clock

    def take(self, channel: Channel, event: NetworkEvent) -> None:
        """Take an event that the task has polled from a channel."""
        index, handler = channel.index, self._handler
        match event:
            case Barrier():
                self._trace("barrier", event.checkpoint, index, _KIND_NAMES[event.kind])
                handler.barrier(index, event)
            case Announcement():
                self._trace("announced", event.barrier.checkpoint, index)
                handler.announcement(index, event.barrier, event.sequence)
            case CancellationMarker():
                self._trace("cancelled", event.checkpoint, index)
                handler.cancellation(index, event.checkpoint)
            case EndOfChannelState():
                channel.gate.channel_recovered()
            case EndOfData():
                if event.drain:  # the final watermark comes right before it
                    self._task.control.max_watermark(index)
                self._task.control.end_of_data(index, event)
            case EndOfPartition():
                channel.release()  # the gate does so before anybody learns of the end
                self._task.control.end_of_partition(index)
            case _:
                raise ProtocolError("unknown_event", state=self._task.entity.name, event=event)

    def _trace(self, kind: str, *fields: int | str) -> None:
        task = self._task
        task.env.trace.record(kind, task.entity, *fields)
