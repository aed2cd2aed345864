"""The oracle of a job on buffers: it judges the job, and follows every pool and channel.

The reference shows it of each buffer, through pools and channels of an observed kind.  A kernel
counts for itself, and the counts are read when someone looks.
"""

from __future__ import annotations

from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from ckptsim.models.recovery.failover import Phase
from ckptsim.scenarios.job import Partitioner
from ckptsim.sim.job.buffers.compiled.columns import clock
from ckptsim.sim.job.events import Listener, of_job
from ckptsim.sim.job.graph import Graph
from ckptsim.sim.job.oracle.buffers.counted import (
    CountedChannel,
    CountedGate,
    CountedPool,
    CountsFollower,
    SliceChannel,
    tell_of_records_after,
)
from ckptsim.sim.job.oracle.buffers.counts import (
    CreditCount,
    GateCount,
    Journal,
    KernelNotes,
    PoolCount,
)
from ckptsim.sim.job.oracle.buffers.invariants import BufferInvariants, Filled, Lent
from ckptsim.sim.job.oracle.buffers.observed import (
    BufferObserver,
    ObservedLocalChannel,
    ObservedPool,
    ObservedRemoteChannel,
)
from ckptsim.sim.job.oracle.buffers.screen import CountsScreen
from ckptsim.sim.job.oracle.buffers.view import BufferView
from ckptsim.sim.job.oracle.job import JobOracle
from ckptsim.sim.job.oracle.records import check_route
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
    from ckptsim.sim.job.graph import ChannelSpec, OutputSpec
    from ckptsim.sim.kernel import Entity, Environment


_COUNTED_EVERY = 4  # looks
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


class BufferOracle(BufferObserver, Listener):
    """Checks what must hold of jobs (`job`) and of their buffers. journal: of all attempts."""

    def __init__(self, world: DataflowWorld, *, journal: Journal | None = None) -> None:
        self.journal = journal
        self.follows = clock.COUNTED if journal is None else clock.EVERY
        self._world = world
        self._violate = world.violate
        self._view = BufferView(world)
        self._gates: dict[tuple[int, int], GateCount] = {}
        # By task and gate. Of the kernel's gates and pools what its tables say.
        self._floating: dict[tuple[int, int], Filled] = {}
        self._pools: dict[int, list[Lent]] = {}
        self._counted_pools: list[CountedPool] = []
        self._remote: list[ObservedRemoteChannel] = []
        self._counted: list[CountedChannel] = []
        self._screen: CountsScreen | None = None
        self._looks = 0
        # Of the attempt before, by task and subpartition, where records have identities.
        self._sent: dict[tuple[int, int], list[int]] = {}
        self._invariants: BufferInvariants
        world.events.attach(self)
        self.job = JobOracle(world.env, world.model, self._view, world.violate, world.events)
        if journal is not None:  # small jobs are over before samples are taken
            for kind in (of_job.CheckpointPlanned, of_job.CheckpointCompleted):
                world.events.listen(kind, lambda _: self.look())

    # Parts of an attempt ----------------------------------------------------------------------

    def deploying(self, event: of_job.AttemptDeploying) -> None:
        """Forget the parts of the attempt that is over. The next one has its turn."""
        timed = self._world.control.timed
        if timed is not None and self._world.control.attempts > 1:
            phase = timed.core.phase
            if phase is not Phase.INITIALIZING:
                says = f"an attempt is deployed while its failover is {phase.name}"
                self._violate("cores_agree_with_their_world", says)
        if self._world.storage.under_way or not self._world.cores.are_free:
            says = "tasks are deployed while files are written, or cores busy, for those before"
            self._violate("failed_tasks_do_nothing", says)
        self._view.redeployed()
        for parts in (self._floating, self._gates, self._pools, self._remote):
            parts.clear()
        for counted in (self._counted, self._counted_pools):
            counted.clear()
        self._screen = None

    def pool(self, task: Task, name: str, **settings: Any) -> LocalBufferPool:
        """Make a pool that is observed."""
        bounds = _bounds(**settings)
        count = PoolCount(name, self._violate, channels=settings["channels"], **bounds)
        pools = self._pools.setdefault(task.number, [])
        if self.journal is not None:
            count.note = self.journal.note_of(f"pool {name}, {len(pools)}")
        pools.append(count)
        return ObservedPool(count, **{one: settings[one] for one in _OF_POOLS})

    def logged_pool(self, writer: CompiledWriter, name: str, **settings: Any) -> None:
        """Count the segments of an output of the kernel."""
        pools = self._pools.setdefault(writer.task.number, [])
        bounds = _bounds(**settings)
        count = CountedPool(writer, name, self._violate, place=len(pools), **bounds)
        pools.append(count)
        self._counted_pools.append(count)

    def route(self, task: Task, output: OutputSpec, route: Route) -> None:
        """Check where a route leads, and follow a copy of it."""
        check_route(task.entity.name, output, route, self._violate)
        is_broadcast = output.partitioner is Partitioner.BROADCAST
        self._view.route(task, route, 1 if is_broadcast else len(output.channels))

    def remote(
        self, subpartition: Subpartition, gate: InputGate, wire: Wire, *, exclusive: int
    ) -> RemoteChannel:
        """Make a channel that is observed."""
        oracle, floating = self._channel(subpartition, gate, pulled=False), self._gate(gate)
        count = CreditCount(oracle.name, self._violate, exclusive=exclusive, floating=floating)
        if self.journal is not None:
            count.note = self.journal.of_credit(oracle)
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
        receiver = self.job.task(gate.task)
        key = gate.task.number, gate.index
        if key not in self._floating:
            self._floating[key] = CountedGate(gate)
            receiver.urgent.hear_after = partial(tell_of_records_after, gate.task)
        oracle = CountedChannel(
            self.job.task(up.owner),
            receiver,
            channel,
            keeps_order=not up.writer.supports_unaligned,
            pulled=is_local,
        )
        self._counted.append(oracle)

    def follower(self, driver: CompiledDriver) -> CountsFollower:
        """Return what learns the log of the attempt's kernel."""
        self._screen = CountsScreen(driver, self._view)
        parts, notes = (self._counted, self._counted_pools), None
        if self.journal is not None:
            notes = KernelNotes(self.journal, driver, *parts)
        return CountsFollower(driver, *parts, self._violate, notes=notes)

    def _channel(
        self, subpartition: Subpartition, gate: InputGate, *, pulled: bool
    ) -> SliceChannel:
        sender, receiver = self.job.task(subpartition.owner), self.job.task(gate.task)
        keeps_order = not subpartition.writer.supports_unaligned
        oracle = SliceChannel(sender, receiver, keeps_order=keeps_order, pulled=pulled)
        if self.journal is not None:
            oracle.note = self.journal.of_channel(oracle)
        return oracle

    def _gate(self, gate: InputGate) -> GateCount:
        key = gate.task.number, gate.index
        count = self._gates.setdefault(key, GateCount(gate.floating_free))
        self._floating[key] = count
        return count

    # Attempts ---------------------------------------------------------------------------------

    def halted(self, event: of_job.AttemptHalted) -> None:
        """Note what the attempt that is over has sent."""
        self._sent = {
            (task.number, place): list(records)
            for task in self._world.tasks
            if task.records is not None
            for place, records in enumerate(task.records.sent)
        }

    @property
    def _has_markers(self) -> bool:
        """Return whether a sender's data ends with one that its receivers wait for."""
        is_timed = self._world.control.timed is not None
        return is_timed and not self._world.model.channel_state.on_one_side

    def begun(self, event: of_job.AttemptBegun) -> None:
        """Begin to look at the buffers of an attempt."""
        restored = event.restored
        backlog = self._world.model.channels.preloaded_records
        self._view.restores = restored is not None or backlog > 0
        self._invariants = BufferInvariants(
            self._world,
            tasks=self.job.tasks,
            floating=self._floating,
            pools=self._pools,
            written_bytes=self._view.written,
            violate=self._violate,
        )
        if restored is not None:
            self._expect_restored(restored)
            for oracle in self.job.tasks.values():
                for out in oracle.outputs:
                    runs_on = oracle.task.number in self._world.regions.carried
                    out.marker_due = self._has_markers and not runs_on
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
                    says = f"{self.job.tasks[number].outputs[place].name} is restored with record "
                    says += f"{record} {behind}, where {what} had been sent"
                    self._violate("order_is_kept", says)
                    break

    def _expect_restored(self, restored: JobCheckpoint) -> None:
        """Expect the in-flight data first: what had reached the receiver, then the sender's."""
        if is_rescaled(self._world.graph, restored):
            self._check_dealt_out(restored)  # other channels have parts of it each
            return
        for channel in self._world.graph.channels:
            oracle = self.job.tasks[channel.upstream].outputs[channel.output]
            if isinstance(oracle, CountedChannel | SliceChannel):
                oracle.expect(size for size, _ in _in_flight(restored, channel))

    def _check_dealt_out(self, restored: JobCheckpoint) -> None:
        """Check that today's channels of each edge take up all that was in flight there, once."""
        model = self._world.model
        before = {name: len(numbers) for name, numbers in restored.subtasks.items()}
        old = Graph(with_parallelism(model, before))
        for number, edge in enumerate(model.edges):
            held = [_in_flight(restored, one) for one in old.channels if one.edge == number]
            due = [sum(span[part] for spans in held for span in spans) for part in (0, 1)]
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

    # The run ----------------------------------------------------------------------------------

    def look(self) -> None:
        """Check what must hold at every instant, and that a running attempt does something."""
        self._looks += 1
        if self.journal is not None or self._looks % _COUNTED_EVERY == 0:
            self._look_at_buffers()
        for channel in self._remote:
            channel.look()
        self.job.look()
        if self._world.control.running:
            self._world.watchdog.look()

    def end(self, *, ended: bool) -> None:
        """Check what must hold at the end of a run."""
        self._look_at_buffers()
        self._invariants.end()
        self.look()
        self.job.end(ended=ended)

    def passed_over(self, event: of_job.StretchPassedOver) -> None:
        """Check that no record is lost in a stretch that is not simulated."""
        self._invariants.passed_over(event.records)

    def check_contents(self) -> None:
        """Check what state and output of a job that has ended hold."""
        self.job.check_contents()

    def _look_at_buffers(self) -> None:
        if self._screen is None or not self._screen.holds():
            self._invariants.look()


def _in_flight(restored: JobCheckpoint, channel: ChannelSpec) -> list[tuple[int, int]]:
    """Return bytes and records of what a checkpoint holds of a channel, oldest first."""
    held: Mapping[int, BufferSnapshot] = restored.tasks
    receiver, sender = held.get(channel.downstream), held.get(channel.upstream)
    spans = [*(receiver.input_spans.get(channel.input, ()) if receiver else ())]
    return spans + [*(sender.output_spans.get(channel.output, ()) if sender else ())]


def journaled(world: DataflowWorld) -> BufferOracle:
    """Return an oracle that keeps a journal."""
    return BufferOracle(world, journal=Journal(world.env))
