"""Outputs as control sees them: rows of the kernel's tables with names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.compiled.columns import cell, channel, request, writer
from ckptsim.sim.job.buffers.output import OWN_MEMORY, Restored, Slice

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.compiled.channel import CompiledChannel, CompiledGate
    from ckptsim.sim.job.buffers.compiled.task import CompiledTask
    from ckptsim.sim.job.buffers.output import Channels, RecordSizes, Route, Selectivity


class QueueView:
    """The sender's queue as control and samples see it. index: among the outputs of the task."""

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
        return self._end.owner.driver.m.item(self._end.row + channel.BLOCKED) == channel.BY_EVENT


class CompiledSubpartition:
    """The sender's end of a channel. channel: its place among the ones of the writer."""

    __slots__ = ("channel", "core", "input_channel", "owner", "restored", "row", "writer")

    def __init__(self, owner: CompiledTask, writer: CompiledWriter, channel: int) -> None:
        self.owner = owner
        self.writer = writer
        self.channel = channel
        self.row = 0
        self.core = QueueView(self, len(owner.subpartitions))
        self.restored = Restored()
        self.input_channel: CompiledChannel
        owner.subpartitions.append(self)  # type: ignore[arg-type]

    def put_back(self, size: int, records: int) -> None:
        """Put restored data after the queue."""
        driver = self.owner.driver
        # The ones of the pools are counted exactly: this one comes on top.
        driver.reserve(1, driver.tables.segments + 1)
        driver.ask(request.PUT_BACK, self.row, size, records)
        self.restored.add(size, records)

    @property
    def lane(self) -> int:
        """Where its writer writes. A broadcast has one lane for all."""
        return 0 if self.writer.broadcast else self.channel

    def withhold(self) -> None:
        """Let nothing leave before the receiver asks for the partition."""
        self.owner.driver.m[self.row + channel.BLOCKED] = channel.NOT_REQUESTED

    def request(self) -> None:
        """Let the queue travel, now that the receiver asks for the partition."""
        self.owner.driver.ask(request.REQUEST_PARTITION, self.row)

    def pump(self) -> None:
        """Let the queue travel."""
        self.owner.driver.ask(request.PUMP, self.row)

    def _segments(self) -> list[int]:
        """Return the rows of the segments in the queue."""
        m, found = self.owner.driver.m, []
        e = m.item(self.row + channel.HEAD)
        while e >= 0:
            if m.item(e + cell.WHAT) == cell.IN_SEGMENT:
                found.append(m.item(e + cell.SEGMENT))
            e = m.item(e + cell.NEXT)
        return found

    def waiting(self) -> list[tuple[int, int]]:
        """Return bytes and records of the closed segments in the queue."""
        item = self.owner.driver.m.item
        closed = [s for s in self._segments() if item(s + cell.CLOSED)]
        return [(item(s + cell.SEGMENT_BYTES), item(s + cell.SEGMENT_RECORDS)) for s in closed]

    def queued(self) -> tuple[int, list[int]]:
        """Return how many bytes are queued, and in which segments of the pool."""
        item, found = self.owner.driver.m.item, self._segments()
        size = -item(self.row + channel.TAKEN_BYTES)
        for s in found:
            size += item(s + cell.SEGMENT_BYTES) if item(s + cell.CLOSED) else self._written()
        return size, [s for s in found if item(s + cell.OWNERS) <= OWN_MEMORY >> 1]

    def _written(self) -> int:
        return self.owner.driver.ask(request.WRITTEN, self.row)

    def unsent(self, segments: Iterable[object]) -> list[tuple[int, int]]:
        """Return the unsent rest of buffers that became state: bytes and records."""
        return [(one.bytes, one.records) for one in segments if isinstance(one, Slice) if one.bytes]


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
        end = first + 2 * self._get(writer.LANES)
        held: list[int] = self._writer.task.driver.m[first:end:2].tolist()
        return held


class CompiledWriter:
    """One output of a task, with what its tables are made from.

    settings: of its pool. selectivity: the ratio and the records processed before, or None.
    """

    def __init__(
        self,
        task: CompiledTask,
        route: Route,
        settings: dict[str, int],
        *,
        sizes: RecordSizes,
        broadcast: bool,
        supports_unaligned: bool,
        selectivity: tuple[Selectivity, int] | None,
    ) -> None:
        self.task = task
        self.route = route
        self.settings = settings
        self.sizes = sizes
        self.broadcast = broadcast
        self.supports_unaligned = supports_unaligned
        self.selectivity = selectivity
        self.row = 0
        self.pool = PoolView(self)
        self._followed: Route | None = None
        self.subpartitions: list[CompiledSubpartition] = []

    def component(self, gate: CompiledGate) -> str:
        """Return the name that the channels to a gate's vertex share."""
        sender = self.task
        return f"{sender.name}[{sender.subtask}]>{gate.task.name}/{gate.index}"

    # Who follows the records asks once for each, in their order: the kernel is ahead of that ----

    def outputs_of(self, count: int) -> list[int]:
        """Return how many records each of the next `count` records of the input gives."""
        if self.selectivity is None:
            return [1] * count
        ratio, first = self.selectivity
        self.selectivity = ratio, first + count
        return ratio.outputs_of(first, count)

    def pass_over(self, count: int) -> None:
        """Continue after records of the input that are not simulated."""
        if self.selectivity is not None:
            ratio, first = self.selectivity
            self.selectivity = ratio, first + count

    def upcoming(self, count: int) -> Channels:
        """Return the channels of the next `count` records."""
        if self._followed is None:
            self._followed = self.route.again()
        return self._followed.block(count)

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
