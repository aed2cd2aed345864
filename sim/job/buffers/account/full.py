"""The account that follows every buffer and every checkpoint of a job."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.buffers.account.books import Books
from ckptsim.sim.job.buffers.account.checkpoints import CheckpointAccount
from ckptsim.sim.job.buffers.account.counts import check_counts, check_restored
from ckptsim.sim.job.buffers.account.flow import Flow
from ckptsim.sim.job.buffers.account.recount import Recount
from ckptsim.sim.job.buffers.account.silent import Account
from ckptsim.sim.job.buffers.account.tasks import TaskOracle
from ckptsim.sim.job.buffers.account.watched import (
    GateBuffers,
    WatchedLocalChannel,
    WatchedPool,
    WatchedRemoteChannel,
)
from ckptsim.sim.job.buffers.segment import Slice

if TYPE_CHECKING:
    from collections.abc import Callable

    from ckptsim.models.barriers.reason import FailureReason
    from ckptsim.sim.job.buffers.channels import LocalChannel, RemoteChannel
    from ckptsim.sim.job.buffers.gate import Gate
    from ckptsim.sim.job.buffers.outlet import Outlet
    from ckptsim.sim.job.buffers.part import Part
    from ckptsim.sim.job.buffers.pool import OutputPool
    from ckptsim.sim.job.buffers.routing import Route
    from ckptsim.sim.job.buffers.task import Task
    from ckptsim.sim.job.buffers.wire import Wire
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.control.checkpoint import CheckpointRecord, JobCheckpoint
    from ckptsim.sim.kernel import Entity, Environment

# Of a run in which something breaks, the first violations tell it.
_MOST = 20


class FullAccount(Account):
    """Notes what happens and checks what must hold; `violations` has what did not."""

    def __init__(self, report: Callable[[str, str], None] | None = None) -> None:
        super().__init__(report)
        self._flows: dict[tuple[int, int], Flow] = {}
        self._floating: dict[tuple[int, int], GateBuffers] = {}
        self._recounts: dict[int, list[Recount]] = {}
        self._tasks: list[TaskOracle] = []
        self._world: DataflowWorld
        self._checkpoints: CheckpointAccount
        self._books: Books

    # Parts of the world -----------------------------------------------------------------------

    def pool(
        self, name: str, *, record_bytes: int, least_segment_bytes: int, **settings: Any
    ) -> OutputPool:
        """Make a pool that is watched."""
        segments = -(-record_bytes // least_segment_bytes) + 1
        return WatchedPool(name, self.violate, record_segments=segments, **settings)

    def route(self, task: Task, route: Route, *, channels: int) -> None:
        """Follow a copy of a route."""
        self._recounts.setdefault(task.number, []).append(Recount(route, channels))

    def remote(self, outlet: Outlet, gate: Gate, wire: Wire, *, exclusive: int) -> RemoteChannel:
        """Make a channel that is watched."""
        return WatchedRemoteChannel(
            outlet,
            gate,
            wire,
            exclusive=exclusive,
            flow=self._flow(outlet, gate),
            floating=self._gate(gate),
            overtaking=partial(self._overtaking_barrier_arrived, gate.task),
            violate=self.violate,
        )

    def local(self, env: Environment, entity: Entity, outlet: Outlet, gate: Gate) -> LocalChannel:
        """Make a channel that is watched."""
        self._gate(gate)
        return WatchedLocalChannel(env, entity, outlet, gate, flow=self._flow(outlet, gate))

    def _flow(self, outlet: Outlet, gate: Gate) -> Flow:
        name = f"{outlet.owner.entity.name} -> {gate.task.entity.name}"
        flow = Flow(name, gate.task.number, self.violate)
        self._flows[outlet.owner.number, outlet.core.index] = flow
        return flow

    def _gate(self, gate: Gate) -> GateBuffers:
        key = gate.task.number, gate.index
        if key not in self._floating:
            self._floating[key] = GateBuffers(gate.floating_free)
        return self._floating[key]

    # The run ----------------------------------------------------------------------------------

    def redeployed(self) -> None:
        """Forget the channels, pools and tasks of the attempt that is over."""
        self._flows.clear()
        self._floating.clear()
        self._recounts.clear()
        self._tasks.clear()

    def begin(self, world: DataflowWorld, restored: JobCheckpoint | None) -> None:
        """Take all tasks in."""
        first = not hasattr(self, "_world")
        self._world = world
        if first:
            self._checkpoints = CheckpointAccount(
                world, self._flows, self._written_bytes, self.violate
            )
        self._books = Books(world, self._flows, self._floating, self._written_bytes, self.violate)
        self._checkpoints.attempt_begins()
        check_restored(world, restored, self.violate)

    def moved(
        self, channel: RemoteChannel, *, sent_bytes: int, taken_bytes: int, wired: list[int]
    ) -> None:
        """Take over what has moved; what holds data now is counted from the queues."""
        queued = [e for e, _ in channel.core.normal_elements() if isinstance(e, Slice)]
        flow = self._of(channel.outlet)
        flow.moved(sent_bytes, taken_bytes, [*queued, *wired])
        pool = channel.outlet.writer.pool
        if isinstance(pool, WatchedPool):
            pool.recount(channel.outlet.channel, channel.outlet.core.data_count)

    def rested(self, gate: Gate, hand: tuple[RemoteChannel, bool] | None) -> None:
        """Count the receiver's buffers that hold data."""
        floating = self._gate(gate)
        floating.filled = 0
        for channel in gate.channels:
            if isinstance(channel, WatchedRemoteChannel):
                taken = [hand[1]] if hand is not None and hand[0] is channel else []
                floating.filled += channel.recount(taken)

    def look(self) -> None:
        """Check what must hold at every instant."""
        self._books.look()
        self._checkpoints.look()

    def end(self) -> None:
        """Check what must hold at the end of a run."""
        self._books.end()
        self._checkpoints.look()
        check_counts(self._world, self.violate)

    def violate(self, name: str, says: str, checkpoint: int | None = None) -> None:
        """Note that a property does not hold."""
        if self._report is not None:
            self._report(name, says)
            return
        if len(self.violations) < _MOST:
            env = self._world.env
            self.violations.append((name, env.now, says, checkpoint))
            env.trace.record("violated", env.entity("account"), name, says)

    def _written_bytes(self, task: Task) -> list[int]:
        """Return what a task has written so far, per outlet, counted from its keys alone.

        What a restart has put back there was written before.
        """
        found = []
        recounts = self._recounts.get(task.number, [])
        for writer, recount in zip(task.writers, recounts, strict=True):
            records = recount.records(writer.emitted)
            if len(records) < len(writer.outlets):  # a broadcast
                records = records * len(writer.outlets)
            found += [
                count * writer.record_bytes + outlet.restored_bytes
                for count, outlet in zip(records, writer.outlets, strict=True)
            ]
        return found

    # A task's checkpoints ---------------------------------------------------------------------

    def task(self, task: Task) -> TaskOracle:
        """Return the oracle of a task's checkpoints."""
        inputs = [self._of(channel.outlet) for channel in task.channels]
        self._tasks.append(TaskOracle(task, inputs, self._barrier_sent, self.violate))
        return self._tasks[-1]

    def _overtaking_barrier_arrived(self, task: Task, checkpoint: int) -> None:
        self._tasks[task.number].overtaking_barrier_arrived(checkpoint)

    def _barrier_sent(self, task: Task, checkpoint: int) -> None:
        """Note the place of a barrier in all outputs of a task."""
        for place, written in enumerate(self._written_bytes(task)):
            self._flows[task.number, place].sent_cut[checkpoint] = written

    def persisted(self, outlet: Outlet, checkpoint: int, size: int, *, at_sender: bool) -> None:
        """Note bytes of a channel that become state."""
        flow = self._of(outlet)
        held = flow.held_at_sender if at_sender else flow.held_at_receiver
        held[checkpoint] = held.get(checkpoint, 0) + size

    def acknowledged(self, task: Task, part: Part, size: int, *, unaligned: bool) -> None:
        """Check what a task says of its part."""
        self._checkpoints.acknowledged(task, part, size, unaligned=unaligned)

    def _of(self, outlet: Outlet) -> Flow:
        return self._flows[outlet.owner.number, outlet.core.index]

    # The coordinator --------------------------------------------------------------------------

    def triggered(self, record: CheckpointRecord) -> None:
        """Note that a checkpoint begins."""
        self._checkpoints.triggered(record)

    def completed(self, record: CheckpointRecord, kept: JobCheckpoint) -> None:
        """Check a checkpoint that is complete."""
        self._checkpoints.completed(record)

    def failed(self, record: CheckpointRecord, reason: FailureReason) -> None:
        """Note that a checkpoint is given up."""
        self._checkpoints.failed(record, reason)

    def notified(self, record: CheckpointRecord) -> None:
        """Check that tasks are told of a completion after it."""
        self._checkpoints.notified(record)
