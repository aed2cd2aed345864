"""All outputs of a task: where events are put in, after the data that is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.barriers.channels import OutputStateOpened

if TYPE_CHECKING:
    from ckptsim.models.barriers.barrier import Barrier, NetworkEvent
    from ckptsim.sim.job.buffers.tasks import Task


class Outputs:
    """The record writers of one task, as control sees them."""

    __slots__ = ("_task",)

    def __init__(self, task: Task) -> None:
        self._task = task

    def broadcast_barrier(self, barrier: Barrier) -> int:
        """Put a barrier into every subpartition, after the buffers that it closes."""
        task = self._task
        over_edge = task.world.protocol.edge
        for writer in task.writers:
            sent = over_edge(barrier, supports_unaligned=writer.supports_unaligned)
            writer.close_all()
            for subpartition in writer.subpartitions:
                subpartition.core.add_barrier(sent)
        return sum(isinstance(effect, OutputStateOpened) for effect in task.outbox)

    def broadcast(self, event: NetworkEvent) -> None:
        """Put an event after everything, and let it travel."""
        for writer in self._task.writers:
            writer.close_all()
            for subpartition in writer.subpartitions:
                subpartition.add_event(event)

    def flush(self) -> None:
        """Let the queues travel."""
        for subpartition in self._task.subpartitions:
            subpartition.pump()

    def time_out(self, checkpoint: int) -> None:
        """Let barriers that still wait overtake."""
        for subpartition in self._task.subpartitions:
            subpartition.time_out(checkpoint)

    def abort(self, checkpoint: int) -> None:
        """Give up the output state of a checkpoint."""
        for subpartition in self._task.subpartitions:
            subpartition.core.abort(checkpoint)

    def finish(self) -> None:
        """End every channel, after the buffers that it closes.

        Where no end of data went before, as in the protocol without one, records may be in them.
        """
        for writer in self._task.writers:
            writer.close_all()
        for subpartition in self._task.subpartitions:
            subpartition.finish()
