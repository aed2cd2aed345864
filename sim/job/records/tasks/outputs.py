"""The ends of a task: its input gates, and everything that it sends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.barriers import Barrier, NetworkEvent
from ckptsim.models.barriers.channels import OutputStateOpened
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.scenarios.job import Partitioner
from ckptsim.sim.job.events import of_tasks
from ckptsim.sim.job.records.state import Mark, Record, is_record

if TYPE_CHECKING:
    from ckptsim.sim.job.graph import OutputSpec
    from ckptsim.sim.job.records.channel import Channel
    from ckptsim.sim.job.records.restoring.recovered_gate import RecoveredGate
    from ckptsim.sim.job.records.tasks.task import Task


class InputGate:
    """The channels of one edge that end at one task.

    recovered: takes in-flight records over that come from another parallelism.
    """

    def __init__(self, channels: list[Channel]) -> None:
        self.channels = channels
        self.recovered: RecoveredGate | None = None

    def start(self, checkpoint: int) -> FailureReason | None:
        """Begin to persist. Returns why the checkpoint cannot start, or None."""
        recovered = self.recovered
        if recovered is not None and (recovered.is_reading or not recovered.core.may_persist):
            # Another gate may be done and let a barrier through while this one still reads.
            self.channels[0].attempt.goal("declined_during_recovery")
            return FailureReason.CHECKPOINT_DECLINED_TASK_NOT_READY
        for channel in self.channels:
            reason = channel.input_channel.start(checkpoint)
            if reason is not None:
                return reason
        return None

    def stop(self, checkpoint: int) -> None:
        """Persist nothing more for this checkpoint."""
        for channel in self.channels:
            channel.input_channel.stop(checkpoint)


class Outputs:
    """All outputs of a task.

    edges: the channels of each edge. channels: all of them, in the order of the edges.
    """

    def __init__(self, task: Task, edges: list[tuple[OutputSpec, list[Channel]]]) -> None:
        self.edges = edges
        self.channels = [channel for _, channels in edges for channel in channels]
        self._task = task
        self._turns = [0] * len(edges)

    def channels_of(self, record: Record | Mark) -> list[Channel]:
        """Return the channels that a record takes. Watermarks take all of them."""
        if not is_record(record):
            return self.channels
        chosen = [self._chosen(n, *edge, record) for n, edge in enumerate(self.edges)]
        taken = [[channel.spec.index for channel in one] for one in chosen]
        routes = [(spec, one) for (spec, _), one in zip(self.edges, taken, strict=True)]
        self._task.tell(of_tasks.RecordSent(self._task, routes))
        return [channel for one in chosen for channel in one]

    def _chosen(
        self, number: int, spec: OutputSpec, channels: list[Channel], record: Record
    ) -> list[Channel]:
        match spec.partitioner:
            case Partitioner.BROADCAST | Partitioner.FORWARD:
                return channels
            case Partitioner.GLOBAL:
                return channels[:1]
            case Partitioner.HASH | Partitioner.CUSTOM:
                return [channels[self._task.attempt.receiver_of(spec.edge, record)]]
            case Partitioner.SHUFFLE:
                task = self._task
                stream = task.env.stream(f"shuffle {task.spec.vertex.name}", task.subtask)
                return [channels[stream.integer(0, len(channels) - 1)]]
            case _:
                self._turns[number] += 1
                return [channels[self._turns[number] % len(channels)]]

    def broadcast_barrier(self, barrier: Barrier) -> int:
        """Put a barrier into every queue. It overtakes where its kind and the edge allow it."""
        attempt = self._task.attempt
        for spec, channels in self.edges:
            over = attempt.cores.edge(barrier, supports_unaligned=spec.supports_unaligned)
            for channel in channels:
                if over.is_unaligned and channel.subpartition.data_count:
                    attempt.goal("barrier_overtook_records")
                channel.subpartition.add_barrier(over)
        return sum(isinstance(effect, OutputStateOpened) for effect in self._task.outbox)

    def broadcast(self, event: NetworkEvent) -> None:
        """Send an event after everything that is queued."""
        for channel in self.channels:
            channel.subpartition.add_event(event)
            channel.pump()

    def flush(self) -> None:
        """Send whatever may be sent now."""
        for channel in self.channels:
            channel.pump()

    def time_out(self, checkpoint: int) -> None:
        """Let barriers that are still queued overtake.

        What they overtake is state, and has to be kept before any of it is sent.
        """
        for channel in self.channels:
            channel.subpartition.time_out(checkpoint)
        self._task.control.checkpoints.drain()
        self.flush()

    def abort(self, checkpoint: int) -> None:
        """Give up the output state of a checkpoint."""
        for channel in self.channels:
            channel.subpartition.abort(checkpoint)

    def finish(self) -> None:
        """Send EndOfPartition on every channel."""
        for channel in self.channels:
            channel.subpartition.finish()
            channel.pump()
