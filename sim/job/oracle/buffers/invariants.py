"""Looks around in a running job: every record is somewhere, every buffer is accounted for."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ckptsim.sim.job.buffers.kinds import State
from ckptsim.sim.job.buffers.output import Selectivity

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.input import Channel, InputGate
    from ckptsim.sim.job.buffers.output import RecordWriter, Subpartition
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.oracle.tasks import TaskOracle
    from ckptsim.sim.job.oracle.view import Violate


class Lent(Protocol):
    """The known facts of a pool apart from its own count."""

    @property
    def out(self) -> int:
        """How many segments are out."""


class Filled(Protocol):
    """The known facts of a gate apart from its own count. total: its floating buffers."""

    total: int

    @property
    def filled(self) -> int:
        """How many of them hold data."""


class BufferInvariants:
    """Compares what tasks wrote, sent, read and processed. Call `look` at any instant."""

    def __init__(
        self,
        world: DataflowWorld,
        *,
        tasks: dict[int, TaskOracle],
        floating: Mapping[tuple[int, int], Filled],
        pools: Mapping[int, Sequence[Lent]],
        written_bytes: Callable[[Task], list[int]],
        violate: Violate,
    ) -> None:
        self._world = world
        self._tasks = tasks
        self._floating = floating
        self._pools = pools
        self._written_bytes = written_bytes
        self._violate = violate

    def look(self) -> None:
        """Check everything that must hold at every instant."""
        for task in self._world.tasks:
            task.sync()
        for task in self._world.tasks:
            self._check_records(task)
            self._check_outputs(task)
            for gate in task.gates:
                self._check_gate(gate)

    def end(self) -> None:
        """Check that a task that has finished has left nothing in its channels."""
        for task in self._world.tasks:
            if task.finished_ns is None:
                continue
            for channel in self._tasks[task.number].inputs:
                left = channel.sent_amount - channel.taken_amount
                if left:
                    says = f"{left} bytes of channel {channel.name} are left when"
                    self._lost(f"{says} {task.entity.name} has finished")

    # Records ----------------------------------------------------------------------------------

    def _check_records(self, task: Task) -> None:
        if task.gates:
            self._check_inputs(task)
        vertex = next(one for one in self._world.model.vertices if one.name == task.name)
        emitted = Selectivity(vertex.selectivity).emitted
        for writer in task.writers:
            out = emitted(task.processed) - emitted(task.restored_records)
            out -= task.passed_out + writer.owed
            if writer.blocked and task.state not in (State.STUCK, State.ENDED):
                self._lost(f"{task.entity.name} goes on inside a record that lacks a buffer")
            if writer.emitted != out:
                says = f"{task.entity.name} has processed {task.processed} records"
                self._lost(f"{says} and emitted {writer.emitted}")

    def _check_inputs(self, task: Task) -> None:
        """What a task has read of each channel are whole records, as many as it has processed."""
        read = records = left = 0
        inputs = self._tasks[task.number].inputs
        for oracle, channel in zip(inputs, task.channels, strict=True):
            own = oracle.taken_amount - task.unread_bytes(channel)
            taken = channel.records - task.unread_records(channel)
            whole, rest = _whole_records(channel, own, taken)
            read, records, left = read + own, records + whole, left + rest
        done = task.processed - task.restored_records - task.passed_over
        if left or records != done:
            self._lost(f"{task.entity.name} has read {read} bytes as {done} records")

    def _check_outputs(self, task: Task) -> None:
        written, pools = self._written_bytes(task), self._pools.get(task.number, ())
        for writer, pool in zip(task.writers, pools, strict=True):
            # The record under way may lack a buffer.
            slack = writer.sizes.largest if writer.blocked else 0
            seen: dict[Hashable, None] = {}
            for subpartition in writer.subpartitions:
                place = subpartition.core.index
                size, segments = subpartition.queued()
                seen |= dict.fromkeys(segments)
                found = self._tasks[task.number].outputs[place].sent_amount + size
                if not written[place] - slack <= found <= written[place]:
                    says = f"{task.entity.name} has written {written[place]} bytes to channel"
                    name = self._tasks[task.number].outputs[place].name
                    self._lost(f"{says} {name}; {found} were sent or are queued")
            self._check_pool(writer, pool, task=task, seen=len(seen))

    def passed_over(self, records: Sequence[int]) -> None:
        """Check that each vertex has processed all that came to it in a stretch, by task."""
        world = self._world
        out = dict.fromkeys((one.name for one in world.model.vertices), 0)
        done = dict(out)
        for task in world.tasks:
            emitted = Selectivity(task.spec.vertex.selectivity).emitted
            done[task.name] += records[task.number]
            out[task.name] += emitted(task.processed)
            out[task.name] -= emitted(task.processed - records[task.number])
        for name in (one.name for one in world.model.vertices if not one.is_source):
            edges = [one for one in world.graph.edges if one.downstream == name]
            sent = sum(world.graph.copies(one) * out[one.upstream] for one in edges)
            if done[name] != sent:
                says = f"{name} has processed {done[name]} records in a stretch that was not"
                self._lost(f"{says} simulated, and {sent} were sent to it")

    def _lost(self, says: str) -> None:
        self._violate("every_record_is_somewhere", says)

    # Buffers ----------------------------------------------------------------------------------

    def _check_pool(self, writer: RecordWriter, count: Lent, *, task: Task, seen: int) -> None:
        """Check that as many segments are out as queues and local readers hold."""
        pool = writer.pool
        remote = not any(_is_local(one) for one in writer.subpartitions)
        booked = pool.size - pool.free + pool.overdraft
        if booked != count.out or seen > count.out or (remote and seen != count.out):
            says = f"{count.out} segments of {task.entity.name} are out, {seen} in its queues"
            self._violate("buffers_are_accounted_for", f"{says}, {booked} by the pool's own count")

    def _check_gate(self, gate: InputGate) -> None:
        floating = self._floating[gate.task.number, gate.index]
        found = gate.floating_free + floating.filled + sum(c.floating for c in gate.channels)
        for channel in gate.channels:
            if channel.floating and self._tasks[gate.task.number].inputs[channel.index].over:
                says = f"channel {channel.index} of {gate.task.entity.name} has ended and keeps"
                self._violate("buffers_are_accounted_for", f"{says} floating buffers")
        if found != floating.total:
            says = f"{found} of {floating.total} floating buffers of {gate.task.entity.name}"
            self._violate("buffers_are_accounted_for", f"{says} are accounted for")


def _whole_records(channel: Channel, size: int, count: int) -> tuple[int, int]:
    """Return how many records, of `count` expected, these bytes are, and the rest."""
    end = channel.subpartition
    sizes, restored = end.writer.sizes, end.restored
    if sizes.is_steady:
        return divmod(size, sizes.mean)
    # The first part of a record may be read at the receiver before the rest of it at the sender.
    if count < restored.records + restored.ahead_records:
        return count, 0
    return count, size - restored.bytes - sizes.first(end.lane, count - restored.records)


def _is_local(subpartition: Subpartition) -> bool:
    receiver = subpartition.input_channel.gate.task
    return subpartition.owner.spec.task_manager == receiver.spec.task_manager
