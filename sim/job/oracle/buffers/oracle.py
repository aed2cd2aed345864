"""The oracle that follows every buffer and every checkpoint of a job."""

from __future__ import annotations

from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from ckptsim.models.recovery.failover import Phase
from ckptsim.scenarios.job import Partitioner
from ckptsim.sim.job.buffers.compiled.columns import clock
from ckptsim.sim.job.graph import Graph
from ckptsim.sim.job.oracle.buffers.counted import (
    CountedChannel,
    CountedGate,
    CountedPool,
    CountsFollower,
    tell_of_records_after,
)
from ckptsim.sim.job.oracle.buffers.counts import CreditCount, GateCount, PoolCount
from ckptsim.sim.job.oracle.buffers.invariants import BufferInvariants, Filled, Lent
from ckptsim.sim.job.oracle.buffers.observed import (
    ObservedLocalChannel,
    ObservedPool,
    ObservedRemoteChannel,
)
from ckptsim.sim.job.oracle.buffers.observer import BufferObserver
from ckptsim.sim.job.oracle.buffers.screen import CountsScreen
from ckptsim.sim.job.oracle.buffers.view import BufferView
from ckptsim.sim.job.oracle.job import JobOracle
from ckptsim.sim.job.oracle.routing import check_route
from ckptsim.sim.job.parallelism import is_rescaled, with_parallelism

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ckptsim.sim.job.buffers.compiled import CompiledDriver
    from ckptsim.sim.job.buffers.compiled.channel import CompiledChannel
    from ckptsim.sim.job.buffers.compiled.output import CompiledWriter
    from ckptsim.sim.job.buffers.input import InputGate, LocalChannel, RemoteChannel, Wire
    from ckptsim.sim.job.buffers.output import LocalBufferPool, Route, Subpartition
    from ckptsim.sim.job.buffers.state import BufferSnapshot
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.graph import OutputSpec
    from ckptsim.sim.job.oracle.channels import ChannelOracle
    from ckptsim.sim.kernel import Entity, Environment


# What a pool itself is made from.
_OF_POOLS = ("size", "channels", "max_per_channel", "overdraft_max", "stops_early")


def _bounds(
    *,
    burst_bytes: int,
    least_segment_bytes: int,
    size: int,
    overdraft_max: int,
    max_per_channel: int,
    **_: int,
) -> dict[str, int]:
    """Return how many segments of a pool may be out at once, and of one channel.

    A record of the input is begun only while no channel holds its maximum.  Nothing stops what
    comes of it but an empty pool, so all of it may open segments of one channel.
    """
    segments = -(-burst_bytes // least_segment_bytes)
    return {"most": size + overdraft_max, "most_per_channel": max_per_channel - 1 + segments}


class BufferOracle(JobOracle, BufferObserver):
    """Checks what must hold of jobs, and of their buffers."""

    follows = clock.COUNTED
    pool_type: type[PoolCount] = PoolCount
    credit_type: type[CreditCount] = CreditCount

    def __init__(self, world: DataflowWorld) -> None:
        self._view = BufferView(world)
        super().__init__(world.env, world.model, self._view, world.violate)
        self._world = world
        self._gates: dict[tuple[int, int], GateCount] = {}
        # By task and gate; of the kernel's gates and pools what its tables say.
        self._floating: dict[tuple[int, int], Filled] = {}
        self._pools: dict[int, list[Lent]] = {}
        self._counted_pools: list[CountedPool] = []
        self._remote: list[ObservedRemoteChannel] = []
        self._counted: list[CountedChannel] = []
        self._screen: CountsScreen | None = None
        # Of the attempt before, by task and subpartition, where records have identities.
        self._sent: dict[tuple[int, int], list[int]] = {}
        self._invariants: BufferInvariants

    # Parts of an attempt ----------------------------------------------------------------------

    def deploying(self) -> None:
        """Forget the parts of the attempt that is over; the next one has its turn."""
        timed = self._world.control.timed
        if timed is not None and self._world.control.attempts > 1:
            phase = timed.core.phase
            if phase is not Phase.INITIALIZING:
                says = f"an attempt is deployed while its failover is {phase.name}"
                self._violate("cores_agree_with_their_world", says)
        if self._world.storage.under_way or not self._world.cores.are_free:
            says = "tasks are deployed while files are written, or cores busy, for those before"
            self._violate("failed_tasks_do_nothing", says)
        super().deploying()
        self._view.redeployed()
        for parts in (self._floating, self._gates, self._pools, self._remote):
            parts.clear()
        for counted in (self._counted, self._counted_pools):
            counted.clear()
        self._screen = None

    def pool(self, task: Task, name: str, **settings: Any) -> LocalBufferPool:
        """Make a pool that is observed."""
        count = self._pool_count(task, name, channels=settings["channels"], **_bounds(**settings))
        self._pools.setdefault(task.number, []).append(count)
        return ObservedPool(count, **{one: settings[one] for one in _OF_POOLS})

    def logged_pool(self, writer: CompiledWriter, name: str, **settings: Any) -> None:
        """Count the segments of an output of the kernel."""
        count = CountedPool(writer, name, self._violate, **_bounds(**settings))
        self._pools.setdefault(writer.task.number, []).append(count)
        self._counted_pools.append(count)

    def _pool_count(self, task: Task, name: str, **settings: int) -> PoolCount:
        del task
        return self.pool_type(name, self._violate, **settings)

    def route(self, task: Task, output: OutputSpec, route: Route) -> None:
        """Check where a route leads, and follow a copy of it."""
        check_route(task.entity.name, output, route, self._violate)
        is_broadcast = output.partitioner is Partitioner.BROADCAST
        self._view.route(task, route, 1 if is_broadcast else len(output.channels))

    def remote(
        self, subpartition: Subpartition, gate: InputGate, wire: Wire, *, exclusive: int
    ) -> RemoteChannel:
        """Make a channel that is observed."""
        oracle = self._channel(subpartition, gate, pulled=False)
        floating = self._gate(gate)
        count = self._credit(oracle, exclusive=exclusive, floating=floating)
        channel = ObservedRemoteChannel(
            subpartition, gate, wire, exclusive=exclusive, oracle=oracle, count=count
        )
        self._remote.append(channel)
        return channel

    def local(
        self, env: Environment, entity: Entity, subpartition: Subpartition, gate: InputGate
    ) -> LocalChannel:
        """Make a channel that is observed."""
        self._gate(gate)
        oracle = self._channel(subpartition, gate, pulled=True)
        return ObservedLocalChannel(env, entity, subpartition, gate, oracle=oracle)

    def logged(self, channel: CompiledChannel, *, exclusive: int, is_local: bool) -> None:
        """Read a channel of the kernel from its tables, and hear of its events."""
        up, gate = channel.subpartition, channel.gate
        self._floating.setdefault((gate.task.number, gate.index), CountedGate(gate))
        ends = self.task(up.owner), self.task(gate.task)
        keeps_order = not up.writer.supports_unaligned
        oracle = CountedChannel(*ends, channel, keeps_order=keeps_order, pulled=is_local)
        ends[1].urgent.hear_after = partial(tell_of_records_after, gate.task)
        self._joined(oracle)
        self._counted.append(oracle)

    def follower(self, driver: CompiledDriver) -> CountsFollower:
        """Return what hears the log of the attempt's kernel."""
        return CountsFollower(**self._follows(driver))

    def _follows(self, driver: CompiledDriver) -> dict[str, Any]:
        self._screen = CountsScreen(driver, self._view)
        parts = {"driver": driver, "channels": self._counted, "pools": self._counted_pools}
        return parts | {"violate": self._violate}

    def _channel(
        self, subpartition: Subpartition, gate: InputGate, *, pulled: bool
    ) -> ChannelOracle:
        ends = subpartition.owner, gate.task
        return self.channel(
            *ends, keeps_order=not subpartition.writer.supports_unaligned, pulled=pulled
        )

    def _credit(self, oracle: ChannelOracle, *, exclusive: int, floating: GateCount) -> CreditCount:
        return self.credit_type(oracle.name, self._violate, exclusive=exclusive, floating=floating)

    def _gate(self, gate: InputGate) -> GateCount:
        key = gate.task.number, gate.index
        count = self._gates.setdefault(key, GateCount(gate.floating_free))
        self._floating[key] = count
        return count

    # The run ----------------------------------------------------------------------------------

    def halted(self) -> None:
        """Note what the attempt that is over has sent."""
        super().halted()
        self._sent = {
            (task.number, place): list(records)
            for task in self._world.tasks
            if task.records is not None
            for place, records in enumerate(task.records.sent)
        }

    def begun(self, restored: JobCheckpoint | None) -> None:
        """Begin to look at the buffers of an attempt."""
        backlog = self._world.model.channels.preloaded_records
        self._view.restores = restored is not None or backlog > 0
        super().begun(restored)
        self._invariants = BufferInvariants(
            self._world,
            tasks=self.tasks,
            floating=self._floating,
            pools=self._pools,
            written_bytes=self._view.written,
            violate=self._violate,
        )

        if restored is not None:
            self._expect_restored(restored)
            for oracle in self.tasks.values():
                for out in oracle.outputs:
                    runs_on = oracle.task.number in self._world.regions.carried
                    out.marker_due = self._world.control.timed is not None and not runs_on
        for task in self._world.tasks:
            if task.records is not None:
                self._check_restored(task.number, task.records.sent)

    def _check_restored(self, number: int, restored: list[list[int]]) -> None:
        """Check that a task's channels begin with a piece of what it had sent, in that order."""
        for place, records in enumerate(restored):
            before = self._sent.get((number, place))
            if before is None or not records:
                continue
            first = before.index(records[0]) if records[0] in before else len(before)
            sent = before[first : first + len(records)]
            for nth, (record, due) in enumerate(zip_longest(records, sent)):
                if record != due:
                    behind = f"behind record {records[nth - 1]}" if nth else "first"
                    what = "nothing" if due is None else f"record {due}"
                    says = f"{self.tasks[number].outputs[place].name} is restored with record "
                    says += f"{record} {behind}, where {what} had been sent"
                    self._violate("order_is_kept", says)
                    break

    def _expect_restored(self, restored: JobCheckpoint) -> None:
        """Expect what was in flight first: what had reached the receiver, then the sender's."""
        if is_rescaled(self._world.graph, restored):
            self._check_dealt_out(restored)  # other channels have parts of it each
            return
        held: Mapping[int, BufferSnapshot] = restored.tasks
        for task in self._world.tasks:
            for place, end in enumerate(task.subpartitions):
                channel = end.input_channel
                receiver, sender = held.get(channel.gate.task.number), held.get(task.number)
                spans = [*(receiver.input_spans.get(channel.index, ()) if receiver else ())]
                spans += sender.output_spans.get(place, ()) if sender else ()
                oracle = self.tasks[task.number].outputs[place]
                oracle.expect(size for size, _ in spans)

    def _check_dealt_out(self, restored: JobCheckpoint) -> None:
        """Check that today's channels of each edge take up all that was in flight there, once."""
        model = self._world.model
        before = {name: len(numbers) for name, numbers in restored.subtasks.items()}
        old = Graph(with_parallelism(model, before))
        held: Mapping[int, BufferSnapshot] = restored.tasks
        for number, edge in enumerate(model.edges):
            due = [0, 0]
            for channel in (one for one in old.channels if one.edge == number):
                receiver, sender = held.get(channel.downstream), held.get(channel.upstream)
                spans = [*(receiver.input_spans.get(channel.input, ()) if receiver else ())]
                spans += sender.output_spans.get(channel.output, ()) if sender else ()
                due[0] += sum(size for size, _ in spans)
                due[1] += sum(records for _, records in spans)
            ends = [
                self._world.tasks[channel.upstream].subpartitions[channel.output].restored
                for channel in self._world.graph.channels
                if channel.edge == number
            ]
            found = [
                sum(end.bytes + end.ahead_bytes for end in ends),
                sum(end.records + end.ahead_records for end in ends),
            ]
            if found != due:
                says = f"edge {edge.upstream} -> {edge.downstream} is restored with {found[1]} "
                says += f"records in flight, {found[0]} bytes; its checkpoint has {due[1]}, "
                self._violate("every_record_is_somewhere", says + f"{due[0]} bytes")

    def look(self) -> None:
        """Check what must hold at every instant, and that an attempt that runs does something."""
        self._look_at_buffers()
        for channel in self._remote:
            channel.look()
        super().look()
        if self._world.control.running:
            self._world.watchdog.look()

    def end(self, *, ended: bool) -> None:
        """Check what must hold at the end of a run."""
        self._look_at_buffers()
        self._invariants.end()
        super().end(ended=ended)

    def _look_at_buffers(self) -> None:
        if self._screen is None or not self._screen.holds():
            self._invariants.look()
