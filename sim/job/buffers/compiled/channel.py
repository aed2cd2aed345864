"""Channels, gates and outputs as control sees them: rows of the kernel's tables with names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator.debloater import BufferDebloater, DebloatParameters
from ckptsim.models.core import ProtocolError
from ckptsim.sim.job.buffers.compiled.columns import cell, channel, gate, request, writer
from ckptsim.sim.job.buffers.kinds import Kind
from ckptsim.sim.job.buffers.output import OWN_MEMORY, Slice

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.compiled.task import CompiledTask
    from ckptsim.sim.job.buffers.output import Route
    from ckptsim.sim.kernel import Entity


class QueueView:
    """The sender's queue as control and samples see it; index: among the outputs of the task."""

    __slots__ = ("_end", "index")

    def __init__(self, end: CompiledSubpartition, index: int) -> None:
        self._end = end
        self.index = index

    @property
    def data_count(self) -> int:
        """How many data elements are queued."""
        return self._end.owner.driver.m.item(self._end.row + channel.DATA)

    @property
    def blocked(self) -> bool:
        """Whether nothing leaves until the receiver resumes the channel."""
        return bool(self._end.owner.driver.m.item(self._end.row + channel.BLOCKED))


class CompiledSubpartition:
    """The sender's end of a channel; channel: its place among those of the writer."""

    __slots__ = (
        "channel",
        "core",
        "input_channel",
        "owner",
        "restored_bytes",
        "row",
        "to_restore_bytes",
        "writer",
    )

    def __init__(self, owner: CompiledTask, writer: CompiledWriter, channel: int) -> None:
        self.owner = owner
        self.writer = writer
        self.channel = channel
        self.row = 0
        self.core = QueueView(self, len(owner.subpartitions))
        self.restored_bytes = self.to_restore_bytes = 0
        self.input_channel: CompiledChannel
        owner.subpartitions.append(self)  # type: ignore[arg-type]

    def put_back(self, size: int, records: int) -> None:
        """Put restored data behind what stands in the queue."""
        driver = self.owner.driver
        # Those of the pools are counted exactly: this one comes on top.
        driver.reserve(1, driver.tables.segments + 1)
        driver.ask(request.PUT_BACK, self.row, size, records)
        self.restored_bytes += size
        self.to_restore_bytes = max(0, self.to_restore_bytes - size)

    def pump(self) -> None:
        """Let what stands in the queue travel."""
        self.owner.driver.ask(request.PUMP, self.row)

    def queued(self) -> tuple[int, list[int]]:
        """Return how many bytes are queued, and in which segments of the pool."""
        driver = self.owner.driver
        m, size, segments = driver.m, -driver.m.item(self.row + channel.TAKEN_BYTES), []
        e = m.item(self.row + channel.HEAD)
        while e >= 0:
            if m.item(e + cell.WHAT) == cell.IN_SEGMENT:
                s = m.item(e + cell.SEGMENT)
                closed = m.item(s + cell.CLOSED)
                size += m.item(s + cell.SEGMENT_BYTES) if closed else self._written()
                if m.item(s + cell.OWNERS) <= OWN_MEMORY >> 1:
                    segments.append(s)
            e = m.item(e + cell.NEXT)
        return size, segments

    def _written(self) -> int:
        return self.owner.driver.ask(request.WRITTEN, self.row)

    def unsent(self, segments: Iterable[object]) -> list[tuple[int, int]]:
        """Return what was still to be sent of buffers that became state: bytes and records."""
        return [(one.bytes, one.records) for one in segments if isinstance(one, Slice) if one.bytes]


class CompiledChannel:
    """The receiver's end of a channel; index: over all gates of the task."""

    __slots__ = ("gate", "index", "row", "subpartition")

    def __init__(self, subpartition: CompiledSubpartition, gate: CompiledGate) -> None:
        self.row = 0
        self.subpartition = subpartition
        self.gate = gate
        self.index: int = len(gate.task.channels)
        subpartition.input_channel = self
        gate.channels.append(self)
        gate.task.channels.append(self)  # type: ignore[arg-type]

    def _get(self, column: int) -> int:
        return self.gate.task.driver.m.item(self.row + column)

    @property
    def entity(self) -> Entity:
        """Who acts, made when Python first schedules something for it: most channels never are."""
        task = self.gate.task
        return task.env.entity(self.subpartition.writer.component(self.gate), task.subtask)

    @property
    def queued(self) -> int:
        """How many buffers wait at the receiver."""
        return self._get(channel.IN_DATA)

    @property
    def starved(self) -> bool:
        """Whether data has ever waited for credit."""
        return self._get(channel.STARVED) != 0

    @property
    def announced(self) -> int:
        """The backlog that the sender told last."""
        return self._get(channel.ANNOUNCED)

    @property
    def partial_bytes(self) -> int:
        """Bytes of a record whose end has not come yet."""
        return self._get(channel.PARTIAL_BYTES)

    @property
    def records(self) -> int:
        """How many records the task has taken."""
        return self._get(channel.RECORDS)

    @property
    def floating(self) -> int:
        """How many floating buffers the channel has borrowed and not filled."""
        return self._get(channel.FLOATING_FREE)

    def release(self) -> None:
        """Give back what the channel has borrowed: its end of partition has been taken."""
        self.gate.task.driver.ask(request.RELEASE, self.row)

    def resume(self) -> None:
        """Let the sender continue behind a blocking event."""
        driver = self.gate.task.driver
        if driver.follower is not None:
            driver.follower.told_to_resume(self.row)
        driver.ask(request.RESUME, self.row)

    def prioritize(self, sequence: int) -> None:
        """Move an announced barrier to the front.

        Raises ProtocolError when the barrier noted last does not stand there.
        """
        if self.gate.task.driver.ask(request.PRIORITIZE, self.row, sequence):
            raise ProtocolError("no_such_element", state="another one", event=sequence)

    def announce_size(self, size: int) -> None:
        """Tell the sender how large its next buffers are to be."""
        self.gate.task.driver.ask(request.RESIZE, self.row, size)

    def acknowledge_end_of_data(self) -> None:
        """Tell the sender that its end of data has been taken."""
        sender = self.subpartition.owner
        self.to_sender(
            sender.post, sender.control.end_of_data_acknowledged, self.subpartition.core.index
        )

    def to_sender(self, function: Callable[..., None], *arguments: Any) -> None:
        """Send the sender's task a message."""
        driver = self.gate.task.driver
        due = driver.ask(request.DUE_BACK, self.row)
        driver.env.call_at(due, Kind.CREDIT, self.entity, function, *arguments)


class CompiledGate:
    """The channels of one edge that end at one task."""

    __slots__ = ("channels", "debloater", "floating", "index", "row", "task")

    def __init__(
        self, task: CompiledTask, *, floating: int, debloat: DebloatParameters | None
    ) -> None:
        self.task = task
        self.row = 0
        self.index = len(task.gates)
        self.channels: list[CompiledChannel] = []
        self.floating = floating
        self.debloater = None if debloat is None else BufferDebloater(debloat)
        task.gates.append(self)  # type: ignore[arg-type]

    @property
    def floating_free(self) -> int:
        """How many floating buffers nobody has borrowed."""
        return self.task.driver.m.item(self.row + gate.FLOATING_FREE)

    def take_priority(self, channel: CompiledChannel) -> None:
        """Have the task take an element that overtakes data, unless it has done so already."""
        driver = self.task.driver
        e = driver.ask(request.TAKE_PRIORITY, channel.row)
        if e >= 0:
            self.task.events.take(channel, driver.event_of(e))  # type: ignore[arg-type]

    def start(self, checkpoint: int) -> FailureReason | None:
        """Begin to persist; returns why the checkpoint cannot start, or None."""
        refused = self.task.driver.ask(request.START_GATE, self.row, checkpoint)
        return FailureReason.CHECKPOINT_SUBSUMED if refused else None

    def stop(self, checkpoint: int) -> None:
        """Persist nothing more for this checkpoint."""
        self.task.driver.ask(request.STOP_GATE, self.row, checkpoint)

    def debloat(self, active_ns: int) -> None:
        """Let the debloater look: announce a new buffer size if it is worth it.

        active_ns: how long the task was not idle since the last look.
        """
        if self.debloater is None:
            return
        driver = self.task.driver
        taken = driver.m.item(self.row + gate.TAKEN_BYTES)
        throughput = taken * 1_000_000_000 // max(1, active_ns)
        driver.m[self.row + gate.TAKEN_BYTES] = 0
        in_use = sum(one.queued + one.announced for one in self.channels)
        size = self.debloater.update(throughput, in_use)
        if size is None:
            return
        driver.env.goals.reach("debloat_changed_size")
        for one in self.channels:
            one.announce_size(size)


class PoolView:
    """The pool of a writer as tests and goals see it."""

    __slots__ = ("_writer", "on_available")

    def __init__(self, writer: CompiledWriter) -> None:
        self._writer = writer
        self.on_available: Callable[[], None]

    def _get(self, column: int) -> int:
        return self._writer.task.driver.m.item(self._writer.row + column)

    @property
    def overdraft_peak(self) -> int:
        """The largest number of overdraft segments so far."""
        return self._get(writer.OVERDRAFT_PEAK)

    @property
    def overdraft(self) -> int:
        """Segments in use beyond the size of the pool."""
        return self._get(writer.OVERDRAFT)

    @property
    def free(self) -> int:
        """Segments not in use."""
        return self._get(writer.FREE)

    @property
    def size(self) -> int:
        """How many segments the pool has."""
        return self._get(writer.SIZE)

    @property
    def held(self) -> list[int]:
        """How many segments each lane holds."""
        first = self._get(writer.HELD)
        end = first + self._get(writer.LANES)
        held: list[int] = self._writer.task.driver.m[first:end].tolist()
        return held


class CompiledWriter:
    """One output of a task, with what its tables are made from.

    settings: of its pool; selectivity: in parts per million and the records processed before, or
    None.
    """

    def __init__(
        self,
        task: CompiledTask,
        route: Route,
        settings: dict[str, int],
        *,
        record_bytes: int,
        broadcast: bool,
        supports_unaligned: bool,
        selectivity: tuple[int, int] | None,
    ) -> None:
        self.task = task
        self.route = route
        self.settings = settings
        self.record_bytes = record_bytes
        self.broadcast = broadcast
        self.supports_unaligned = supports_unaligned
        self.selectivity = selectivity
        self.row = 0
        self.pool = PoolView(self)
        self.subpartitions: list[CompiledSubpartition] = []

    def component(self, gate: CompiledGate) -> str:
        """Return the name that the channels to a gate's vertex share."""
        sender = self.task
        return f"{sender.name}[{sender.subtask}]>{gate.task.name}/{gate.index}"

    @property
    def emitted(self) -> int:
        """How many records are out."""
        return self.task.driver.m.item(self.row + writer.EMITTED)

    @property
    def owed(self) -> int:
        """How many records of the one under way are still to be written."""
        return self.task.driver.m.item(self.row + writer.OWED)

    @property
    def blocked(self) -> bool:
        """Whether the record under way lacks a buffer."""
        return self.task.driver.m.item(self.row + writer.BLOCKED) != 0
