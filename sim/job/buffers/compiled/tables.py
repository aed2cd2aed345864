"""Lay out the memory of an attempt: every row as the objects of the callback driver begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ckptsim.sim.job.buffers.compiled.columns import (
    cell,
    channel,
    clock,
    entry,
    gate,
    stream,
    task,
    writer,
)
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.task import CompiledSource
from ckptsim.sim.job.buffers.kinds import State
from ckptsim.sim.job.buffers.output import RandomRoute, RoundRobinRoute, SingleRoute
from ckptsim.sim.job.buffers.tasks.varying import TAIL
from ckptsim.sim.kernel.ties import SeededRandom

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ckptsim.sim.job.buffers.compiled.channel import (
        CompiledChannel,
        CompiledGate,
        CompiledWriter,
    )
    from ckptsim.sim.job.buffers.compiled.task import CompiledTask
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.kernel import Entity

_FOR_EVER_NS = 1 << 62
_WORD = 1 << 64
_SIGN = 1 << 63


def _signed(word: int) -> int:
    """Return the signed number that has the bits of an unsigned word."""
    return word - _WORD if word >= _SIGN else word


class Tables:
    """The memory of one attempt, filled.

    ranks: the structural ranks of all entities of the kernel, in order.  task_of, channel_of: what
    a row stands for.  streams: where those of wires and services begin.  segments: of all pools.
    """

    def __init__(
        self,
        world: DataflowWorld,
        tasks: Sequence[CompiledTask],
        gates: Sequence[CompiledGate],
        writers: Sequence[CompiledWriter],
        channels: Sequence[CompiledChannel],
    ) -> None:
        self._world = world
        self._env = world.env
        self.tasks = tasks
        self.channels = channels
        self._gates = gates
        self._writers = writers
        entities = [one.entity for one in tasks] + [one.entity for one in channels]
        self.ranks = sorted(one.ranks[0][2:] for one in entities)
        self._places = {rank: 2 * place + 1 for place, rank in enumerate(self.ranks)}
        self._size = clock.WIDTH
        self._lay_out()
        self.task_of = {one.row: one for one in tasks}
        self.channel_of = {one.row: one for one in channels}

    def _rows(self, count: int, width: int) -> int:
        """Return where so many rows begin."""
        first, self._size = self._size, self._size + count * width
        return first

    def _lay_out(self) -> None:
        network = self._world.model.network
        for one in self.tasks:
            one.row = self._rows(1, task.WIDTH)
        for single in self._gates:
            single.row = self._rows(1, gate.WIDTH)
        for output in self._writers:
            output.row = self._rows(1, writer.WIDTH)
        for end in self.channels:
            end.row = end.subpartition.row = self._rows(1, channel.WIDTH)
        lanes = sum(1 if one.broadcast else len(one.subpartitions) for one in self._writers)
        self._lanes = self._rows(lanes, writer.LANE_WIDTH)
        self._inputs = self._rows(len(self.channels), 1)
        self._picks = self._rows(len(self._writers), writer.RING)
        bounds = (one.route.bounds for one in self._writers if isinstance(one.route, RandomRoute))
        self._weights = self._rows(sum(map(len, bounds)), 1)
        self._routes = self._rows(len(self._writers), stream.WIDTH)
        self.streams = self._rows(len(self.tasks) + len(self.channels), stream.WIDTH)
        segments = (one.settings["size"] + one.settings["overdraft_max"] for one in self._writers)
        self.segments = sum(segments)
        self._first_segment = self._rows(self.segments, cell.SEGMENT_WIDTH)
        most = max((len(one.subpartitions) for one in self.tasks), default=0)
        self._margin = 64 + (4 + 2 * self._most_opened()) * (most + 1)
        received = len(self.channels) * network.exclusive_buffers
        received += len(self._gates) * (network.floating_buffers + 1)
        self._cells = 2 * self._margin + self.segments + received + len(self.channels)
        self._first_cell = self._rows(self._cells, cell.WIDTH)
        self._entries = 2 * self._margin + 2 * (len(self.tasks) + len(self.channels))
        self._heap = self._rows(self._entries, entry.WIDTH)
        self._log = self._rows(self._cells + self._margin, clock.LOG_WIDTH)

    def _most_opened(self) -> int:
        """Return how many segments one record may open at most."""
        most, network = 1, self._world.model.network
        for one in self._writers:
            least = min(network.segment_bytes, 256)
            opened = -(-one.record_bytes // least) + 1
            most = max(most, min(opened, one.settings["size"] + one.settings["overdraft_max"]))
        return most

    def memory(self, before: Memory | None, streams: int) -> Memory:
        """Return the memory; before: that of the attempt before, whose streams continue."""
        m = np.zeros(self._size, dtype=np.int64)
        self._fill_clock(m)
        for one in self.tasks:
            self._fill_task(m, one)
        self._fill_tasks_ends(m)
        self._fill_gates(m)
        self._fill_writers(m)
        self._fill_channels(m)
        if before is None:
            self._seed(m)
        else:
            count = (len(self.tasks) + len(self.channels)) * stream.WIDTH
            m[self.streams : self.streams + count] = before[streams : streams + count]
        return m

    def _fill_clock(self, m: Memory) -> None:
        world, network = self._world, self._world.model.network
        link(m, self._first_cell, self._cells, cell.WIDTH, clock.FREE_CELL)
        link(m, self._first_segment, self.segments, cell.SEGMENT_WIDTH, clock.FREE_SEGMENT)
        m[clock.HEAP], m[clock.HEAP_ROWS] = self._heap, self._entries
        m[clock.LOG], m[clock.LOG_ROWS] = self._log, self._cells + self._margin
        ties = self._env.ties
        if isinstance(ties, SeededRandom):
            m[clock.TIES_RANDOM], m[clock.TIES_KEY] = 1, _signed(ties.key)
        m[clock.LATENCY_NS] = network.latency_ns
        m[clock.JITTER_NS] = network.jitter_ns
        m[clock.SEND_NS] = network.send_ns
        m[clock.WAKE_NS] = world.constants.wake_ns
        m[clock.FLUSH_PERIOD_NS] = network.buffer_timeout_ns + world.constants.flusher_overshoot_ns
        m[clock.MARGIN] = self._margin

    def _place(self, m: Memory, entity: Entity, rank: int, hashed: int) -> None:
        m[rank] = self._places[entity.ranks[0][2:]]
        m[hashed] = _signed(entity.key)

    # Tasks and gates --------------------------------------------------------------------------

    def _fill_task(self, m: Memory, one: CompiledTask) -> None:
        row = m[one.row : one.row + task.WIDTH]
        self._place(row, one.entity, task.RANK, task.HASH)
        row[task.STATE] = State.IDLE
        row[task.SINCE_NS] = self._env.now
        row[task.STEP_NS] = one.usual_step_ns
        row[task.TWO_INPUT] = one.two_input
        for name in (task.CELL, task.CHANNEL, task.TURN_HEAD, task.TURN_TAIL):
            row[name] = clock.NONE
        row[task.READING] = 1  # so the first one that is asked is the first
        row[task.STREAM] = clock.NONE
        if one.gates:
            row[task.FIRST_GATE], row[task.GATES] = one.gates[0].row, len(one.gates)  # type: ignore[attr-defined]
        if one.variation:
            varying = one.usual_step_ns * one.variation
            fixed = one.usual_step_ns - varying
            row[task.STREAM] = self.streams + one.number * stream.WIDTH
            row[task.FIXED_NS], row[task.LONGEST_NS] = round(fixed), round(fixed + TAIL * varying)
            row.view(np.float64)[task.MEAN] = varying
        if isinstance(one, CompiledSource):
            row[task.IS_SOURCE] = 1
            row[task.GAP_NS] = clock.NONE if one.first_gap_ns is None else one.first_gap_ns
            row[task.DUE_NS] = one.first_ns
            row[task.LIMIT] = clock.NONE if one.limit is None else one.limit
            catch_up_ns = self._world.constants.catch_up_ns
            row[task.CATCH_UP_NS] = _FOR_EVER_NS if one.replayable else catch_up_ns

    def _fill_tasks_ends(self, m: Memory) -> None:
        """Note where the writers and outgoing channels of each task begin and end."""
        writers = self._writers[0].row if self._writers else 0
        channels = self.channels[0].row if self.channels else 0
        for one in self.tasks:
            row = m[one.row : one.row + task.WIDTH]
            row[task.FIRST_WRITER], row[task.FIRST_OUTPUT] = writers, channels
            writers += len(one.writers) * writer.WIDTH
            channels += len(one.subpartitions) * channel.WIDTH
            row[task.END_WRITER], row[task.END_OUTPUT] = writers, channels

    def _fill_gates(self, m: Memory) -> None:
        first = self._inputs
        for one in self._gates:
            row, end = m[one.row : one.row + gate.WIDTH], first + len(one.channels)
            row[gate.TASK], row[gate.INDEX] = one.task.row, one.index
            row[gate.FIRST_INPUT], row[gate.END_INPUT] = first, end
            m[first:end] = [single.row for single in one.channels]
            first = end
            for name in (gate.READY_HEAD, gate.READY_TAIL, gate.NEXT_TURN, gate.ASIDE_CELL):
                row[name] = clock.NONE
            row[gate.LEND_HEAD] = row[gate.LEND_TAIL] = clock.NONE
            row[gate.FLOATING_FREE] = one.floating

    # Writers ----------------------------------------------------------------------------------

    def _fill_writers(self, m: Memory) -> None:
        lanes, picks, stream_row, weights = self._lanes, self._picks, self._routes, self._weights
        size = self._world.model.network.segment_bytes
        for one in self._writers:
            row, count = m[one.row : one.row + writer.WIDTH], len(one.subpartitions)
            row[writer.TASK] = one.task.row
            row[writer.FIRST_CHANNEL] = one.subpartitions[0].row
            row[writer.END_CHANNEL] = one.subpartitions[0].row + count * channel.WIDTH
            row[writer.LANES] = 1 if one.broadcast else count
            row[writer.FIRST_LANE] = lanes
            end = lanes + int(row[writer.LANES]) * writer.LANE_WIDTH
            row[writer.END_LANE] = end
            m[lanes + writer.OPEN : end : writer.LANE_WIDTH] = clock.NONE
            m[lanes + writer.CAPACITY : end : writer.LANE_WIDTH] = size
            lanes = end
            row[writer.BROADCAST] = one.broadcast
            row[writer.RECORD_BYTES], row[writer.SEGMENT_BYTES] = one.record_bytes, size
            row[writer.SIZE] = row[writer.FREE] = one.settings["size"]
            row[writer.OVERDRAFT_MAX] = one.settings["overdraft_max"]
            row[writer.MOST] = one.settings["max_per_channel"]
            row[writer.PARTS] = clock.NONE
            if one.selectivity is not None:
                row[writer.PARTS], row[writer.PROCESSED] = one.selectivity
            row[writer.PICKS], row[writer.STREAM] = picks, stream_row
            row[writer.WEIGHTS] = weights
            picks, stream_row = picks + writer.RING, stream_row + stream.WIDTH
            weights += self._fill_route(m, row, one)

    def _fill_route(self, m: Memory, row: Memory, one: CompiledWriter) -> int:
        """Fill in a route; return how many weights it has."""
        route = one.route
        if isinstance(route, SingleRoute):
            row[writer.ROUTE], row[writer.NEXT] = writer.SINGLE, route.channel
        elif isinstance(route, RoundRobinRoute):
            row[writer.ROUTE], row[writer.NEXT] = writer.ROUND_ROBIN, route.upcoming
        elif isinstance(route, RandomRoute):
            seed(m, int(row[writer.STREAM]), route.state)
            row[writer.ROUTE] = writer.UNIFORM if route.is_uniform else writer.WEIGHTED
            first, bounds = int(row[writer.WEIGHTS]), route.bounds
            m[first : first + len(bounds)] = bounds
            return len(bounds)
        return 0

    # Channels ---------------------------------------------------------------------------------

    def _fill_channels(self, m: Memory) -> None:
        if not self.channels:
            return
        network, unaligned = self._world.model.network, self._world.model.checkpointing.unaligned
        first, count = self.channels[0].row, len(self.channels)
        rows = m[first : first + count * channel.WIDTH].reshape(count, channel.WIDTH)
        for name in (
            *(channel.HEAD, channel.TAIL, channel.PRIORITY_HEAD, channel.PRIORITY_TAIL),
            *(channel.IN_HEAD, channel.IN_TAIL, channel.IN_PRIORITY_HEAD, channel.IN_PRIORITY_TAIL),
            *(channel.OPEN_STATE, channel.LAST_BARRIER, channel.LAST_SEQUENCE, channel.LAST_SEEN),
            *(channel.NEXT_READY, channel.NEXT_LENDER),
        ):
            rows[:, name] = clock.NONE
        for name in (channel.CREDIT, channel.EXCLUSIVE, channel.EXCLUSIVE_FREE, channel.REQUIRED):
            rows[:, name] = network.exclusive_buffers
        wires = self.streams + len(self.tasks) * stream.WIDTH
        rows[:, channel.STREAM] = wires + np.arange(count) * stream.WIDTH
        for one, row in zip(self.channels, rows, strict=True):
            sender, receiver = one.subpartition.owner, one.gate.task
            mine = one.subpartition.writer
            row[channel.SENDER], row[channel.RECEIVER] = sender.row, receiver.row
            row[channel.GATE], row[channel.WRITER] = one.gate.row, mine.row
            place = 0 if mine.broadcast else one.subpartition.channel
            row[channel.LANE] = m.item(mine.row + writer.FIRST_LANE) + place * writer.LANE_WIDTH
            row[channel.LOCAL] = sender.spec.task_manager == receiver.spec.task_manager
            row[channel.RECORD_BYTES] = mine.record_bytes
            overtaking = unaligned and mine.supports_unaligned
            row[channel.KEEPS_ORDER] = not overtaking and not network.jitter_ns
            self._place(row, one.entity, channel.RANK, channel.HASH)

    def _seed(self, m: Memory) -> None:
        """Let the streams of services and wires begin."""
        for one in self.tasks:
            if one.variation:
                row = self.streams + one.number * stream.WIDTH
                seed(m, row, self._env.stream(f"service {one.name}", one.subtask).state)
        if self._world.model.network.jitter_ns:
            for end in self.channels:
                row = m.item(end.row + channel.STREAM)
                seed(m, row, self._env.stream(f"wire {end.entity.name}").state)


def seed(m: Memory, row: int, state: tuple[int, int]) -> None:
    """Set a stream: state and increment of PCG64, of 128 bits each."""
    words = [_signed(word) for number in state for word in divmod(number, _WORD)]
    m[row : row + stream.WIDTH] = words


def link(m: Memory, first: int, count: int, width: int, head: int) -> None:
    """Put rows in front of a free list, in their order; behind its head is how many it has.

    The next one of a free row is its first word.
    """
    if not count:
        return
    rows = first + width * np.arange(count)
    m[rows] = rows + width
    m[rows[-1]] = m[head] if m[head + 1] else clock.NONE
    m[head], m[head + 1] = first, m[head + 1] + count
