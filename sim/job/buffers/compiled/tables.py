"""Lay out the memory of an attempt: every row as the objects of the reference begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ckptsim.sim.job.buffers.compiled.columns import (
    cell,
    channel,
    clock,
    counts,
    entry,
    gate,
    stream,
    task,
    writer,
)
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.random_streams import RandomStreams, seed, signed
from ckptsim.sim.job.buffers.compiled.task import CompiledSource
from ckptsim.sim.job.buffers.compiled.ties import KernelTies
from ckptsim.sim.job.buffers.compiled.words import LINE, link, rows_of, zeros
from ckptsim.sim.job.buffers.kinds import State
from ckptsim.sim.job.buffers.output import RandomRoute, RoundRobinRoute, SingleRoute
from ckptsim.sim.job.buffers.tasks.source import is_idle
from ckptsim.sim.job.buffers.tasks.varying import TAIL
from ckptsim.sim.kernel.entity import rank_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ckptsim.sim.job.buffers.compiled.channel import CompiledChannel, CompiledGate
    from ckptsim.sim.job.buffers.compiled.output import CompiledWriter
    from ckptsim.sim.job.buffers.compiled.task import CompiledTask
    from ckptsim.sim.job.buffers.world import DataflowWorld

_FOR_EVER_NS = 1 << 62
# Rows for events from the start: a checkpoint has up to three, and more room means a larger copy.
_EVENTS = 512
_TOLD = 6
"""Rows of the log for each cell and entry where an oracle follows: sent, taken, freed, ..."""
_LINES = 4096
"""Rows of the log besides where somebody follows the records: speed only."""


class Tables:
    """The memory of one attempt, filled.

    ties: the policy of the run, as the kernel has it.  task_of, channel_of: what a row represents.
    random: the streams of wires and services.  segments: of all pools.
    told: rows of the log per cell.
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
        self._follows = world.observer.follows
        self._recorded = 0 if world.timed is None else clock.BY_STRETCHES
        if world.identities is not None:
            self._recorded = clock.AT_ONCE
        self.tasks = tasks
        self.channels = channels
        self.gates = gates
        self.writers = writers
        entities = [rank_of(one.name, one.subtask) for one in tasks]
        entities += [rank for one in writers for rank in _ranks_of(one)]
        self.ties = KernelTies(world.env.ties, entities)
        self._size = clock.WIDTH
        self._lay_out()
        self.random = RandomStreams(world, tasks, writers, channels, self._services)
        self.task_of: dict[int, CompiledTask] = {one.row: one for one in tasks}
        self.channel_of: dict[int, CompiledChannel] = {one.row: one for one in channels}
        receivers = np.array([one.gate.task.number for one in channels], dtype=np.int64)
        senders = np.array([one.subpartition.owner.number for one in channels], dtype=np.int64)
        self._ends = receivers, senders

    def _rows(self, count: int, width: int) -> int:
        """Return where so many rows begin."""
        first = -(-self._size // LINE) * LINE
        self._size = first + count * width
        return first

    def _lay_out(self) -> None:
        network = self._world.model.network
        for one in self.tasks:
            one.row = self._rows(1, task.WIDTH)
        for single in self.gates:
            single.row = self._rows(1, gate.WIDTH)
        for output in self.writers:
            output.row = self._rows(1, writer.WIDTH)
        for end in self.channels:
            end.row = end.subpartition.row = self._rows(1, channel.WIDTH)
        self._counted = self._rows(len(self.channels) if self._follows else 0, counts.WIDTH)
        lanes = sum(1 if one.broadcast else len(one.subpartitions) for one in self.writers)
        self._lanes = self._rows(lanes, writer.LANE_WIDTH)
        self._held = self._rows(2 * lanes, 1)
        self._inputs = self._rows(len(self.channels), 1)
        varying = [one for one in self.writers if not one.sizes.is_steady]
        self._sizes = self._rows(sum(2 * len(one.subpartitions) for one in varying), 1)
        self._picks = self._rows(len(self.writers), writer.RING)
        bounds = (one.route.bounds for one in self.writers if isinstance(one.route, RandomRoute))
        self._weights = self._rows(sum(map(len, bounds)), 1)
        self._routes = self._rows(len(self.writers), stream.WIDTH)
        self._changes = self._rows(len(self.ties.changes), 2)
        self._services = self._rows(len(self.tasks), stream.WIDTH)
        segments = (one.settings["size"] + one.settings["overdraft_max"] for one in self.writers)
        self.segments = sum(segments)
        self._first_segment = self._rows(self.segments, cell.SEGMENT_WIDTH)
        most = max((len(one.subpartitions) for one in self.tasks), default=0)
        self._margin = 64 + (4 + 2 * self._most_opened()) * (most + 1) + 2 * self._most_received()
        received = len(self.channels) * network.exclusive_buffers
        received += len(self.gates) * (network.floating_buffers + 1)
        for source in (one for one in self.tasks if isinstance(one, CompiledSource)):
            source.split_row = self._rows(len(source.by_number), task.SPLIT_WIDTH)
        self._cells = 2 * self._margin + self.segments + received + len(self.channels)
        self._first_cell = self._rows(self._cells, cell.WIDTH)
        self._entries = 2 * self._margin + 2 * (len(self.tasks) + len(self.channels))
        self._heap = self._rows(self._entries, entry.WIDTH)
        self.told = (_TOLD if self._follows else 1) + bool(self._recorded)
        self._log_rows = self.told * (self._cells + self._margin) + bool(self._recorded) * _LINES
        self._log = self._rows(self._log_rows, clock.LOG_WIDTH)
        self.events = self._rows(_EVENTS, cell.EVENT_WIDTH)

    def _most_opened(self) -> int:
        """Return how many segments one record may open at most."""
        most, network = 1, self._world.model.network
        for one in self.writers:
            least = min(network.segment_bytes, 256)
            opened = -(-one.sizes.largest // least) + 1
            most = max(most, min(opened, one.settings["size"] + one.settings["overdraft_max"]))
        return most

    def queued(self, m: Memory) -> tuple[list[int], list[int]]:
        """Return per task how many buffers wait at its inputs, and how many at its outputs."""
        if not self.channels:
            return [0] * len(self.tasks), [0] * len(self.tasks)
        rows = self.channel_rows(m)
        waiting = rows[:, channel.IN_DATA], rows[:, channel.DATA]
        inputs, outputs = (
            np.bincount(ends, weights=buffers, minlength=len(self.tasks)).astype(int).tolist()
            for ends, buffers in zip(self._ends, waiting, strict=True)
        )
        return inputs, outputs

    def _most_received(self) -> int:
        """Return how many buffers a thread may take at one instant: none of them ends a record."""
        network = self._world.model.network
        queued = network.exclusive_buffers + min(network.max_buffers_per_channel, 64)
        return max(
            len(one.channels) * queued + len(one.gates) * (network.floating_buffers + 1)
            for one in self.tasks
        )

    def memory(self, before: Memory | None, tables: Tables | None) -> Memory:
        """Return the memory.

        before, tables: the ones of the attempt before, with streams to continue, or None.
        """
        m = zeros(self._size)
        self._fill_clock(m)
        self.ties.fill(m, self._changes)
        for one, rank, drawn in zip(self.tasks, self.ties.ranks, self.ties.drawn, strict=False):
            m[one.row + task.RANK], m[one.row + task.DRAWN] = rank, drawn
            self._fill_task(m, one)
        self._fill_tasks_ends(m)
        self._fill_gates(m)
        self._fill_writers(m)
        self._fill_channels(m)
        self.random.fill(m, before, None if tables is None else tables.random)
        return m

    def _fill_clock(self, m: Memory) -> None:
        world, network = self._world, self._world.model.network
        link(m, self._first_cell, self._cells, cell.WIDTH, clock.FREE_CELL)
        link(m, self._first_segment, self.segments, cell.SEGMENT_WIDTH, clock.FREE_SEGMENT)
        m[clock.HEAP], m[clock.HEAP_ROWS] = self._heap, self._entries
        m[clock.LOG], m[clock.LOG_ROWS] = self._log, self._log_rows
        m[clock.LOG_MARGIN] = self.told * self._margin
        m[clock.FOLLOWED], m[clock.COUNTS] = self._follows, self._counted
        for rows, first, end, width in (
            (self.tasks, clock.FIRST_TASK, clock.END_TASK, task.WIDTH),
            (self.channels, clock.FIRST_CHANNEL, clock.END_CHANNEL, channel.WIDTH),
            (self.writers, clock.FIRST_WRITER, clock.END_WRITER, writer.WIDTH),
        ):
            if rows:
                m[first], m[end] = rows[0].row, rows[-1].row + width
        m[clock.RECORDED] = self._recorded
        m[clock.LEAST_FREE] = world.mechanisms.stops_early
        m[clock.FREED_WHEN_READ] = world.mechanisms.freed_when_read
        m[clock.SLICES] = world.mechanisms.slices
        m[clock.LATENCY_NS] = network.latency_ns
        m[clock.JITTER_NS] = network.jitter_ns
        m[clock.SEND_NS] = network.send_ns
        m[clock.WAKE_NS] = world.constants.wake_ns
        m[clock.FLUSH_PERIOD_NS] = network.buffer_timeout_ns + world.constants.flusher_overshoot_ns
        m[clock.EXCLUSIVE] = network.exclusive_buffers
        m[clock.MARGIN] = self._margin

    # Tasks and gates --------------------------------------------------------------------------

    def _fill_task(self, m: Memory, one: CompiledTask) -> None:
        row = m[one.row : one.row + task.WIDTH]
        row[task.STATE] = State.IDLE
        row[task.SINCE_NS] = self._env.now
        row[task.STEP_NS] = one.usual_step_ns
        row[task.TWO_INPUT] = one.two_input
        for name in (task.CELL, task.CHANNEL, task.TURN_HEAD, task.TURN_TAIL):
            row[name] = clock.NONE
        row[task.SUSPECT_NS] = _FOR_EVER_NS
        row[task.READING] = 1  # so the first one that is asked is the first
        row[task.STREAM] = clock.NONE
        if one.gates:
            row[task.FIRST_GATE], row[task.GATES] = one.gates[0].row, len(one.gates)  # type: ignore[attr-defined]
        if one.variation:
            varying = one.usual_step_ns * one.variation
            fixed = one.usual_step_ns - varying
            row[task.STREAM] = self._services + one.number * stream.WIDTH
            row[task.FIXED_NS], row[task.LONGEST_NS] = round(fixed), round(fixed + TAIL * varying)
            row.view(np.float64)[task.MEAN] = varying
        if isinstance(one, CompiledSource):
            row[task.IS_SOURCE] = 1
            row[task.LIMIT] = clock.NONE if one.limit is None else one.limit
            catch_up_ns = self._world.constants.catch_up_ns
            row[task.CATCH_UP_NS] = _FOR_EVER_NS if one.replayable else catch_up_ns
            self._fill_splits(m, row, one)

    def _fill_splits(self, m: Memory, row: Memory, one: CompiledSource) -> None:
        """Fill in what a source reads: one split in its own row, several in rows after all else.

        These lie in the order of their numbers, by which they are read that are due at once.
        """
        row[task.FED] = is_idle(one.by_number)
        places = range(one.split_row, one.split_row + len(one.by_number) * task.SPLIT_WIDTH)
        for split, s in zip(one.by_number, places[:: task.SPLIT_WIDTH], strict=True):
            gap_ns = clock.NONE if split.gap_ns is None else split.gap_ns
            row[task.GAP_NS], row[task.DUE_NS] = gap_ns, split.due_ns
            most = clock.NONE if split.limit is None else split.limit
            if len(one.by_number) > 1:
                m[s : s + task.SPLIT_WIDTH] = gap_ns, split.due_ns, split.position, most
                row[task.FIRST_SPLIT], row[task.END_SPLIT] = places.start, places.stop

    def _fill_tasks_ends(self, m: Memory) -> None:
        """Note where the writers and outgoing channels of each task begin and end."""
        writers = self.writers[0].row if self.writers else 0
        channels = self.channels[0].row if self.channels else 0
        for one in self.tasks:
            row = m[one.row : one.row + task.WIDTH]
            row[task.FIRST_WRITER], row[task.FIRST_OUTPUT] = writers, channels
            writers += len(one.writers) * writer.WIDTH
            channels += len(one.subpartitions) * channel.WIDTH
            row[task.END_WRITER], row[task.END_OUTPUT] = writers, channels

    def _fill_gates(self, m: Memory) -> None:
        first = self._inputs
        for one in self.gates:
            row, end = m[one.row : one.row + gate.WIDTH], first + len(one.channels)
            row[gate.TASK], row[gate.INDEX] = one.task.row, one.index
            row[gate.FIRST_INPUT], row[gate.END_INPUT] = first, end
            m[first:end] = [single.row for single in one.channels]
            first = end
            for name in (gate.READY_HEAD, gate.READY_TAIL, gate.NEXT_TURN, gate.ASIDE_CELL):
                row[name] = clock.NONE
            row[gate.LEND_HEAD] = row[gate.LEND_TAIL] = clock.NONE
            row[gate.FLOATING_FREE] = row[gate.FLOATING] = one.floating

    # Writers ----------------------------------------------------------------------------------

    def _fill_writers(self, m: Memory) -> None:
        lanes, picks, stream_row, weights = self._lanes, self._picks, self._routes, self._weights
        held, sizes = self._held, self._sizes
        size = self._world.model.network.segment_bytes
        for one in self.writers:
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
            row[writer.HELD] = held
            lanes, held = end, held + 2 * int(row[writer.LANES])
            row[writer.BROADCAST] = one.broadcast
            row[writer.RECORD_BYTES], row[writer.SEGMENT_BYTES] = one.sizes.mean, size
            row[writer.COUNTS] = clock.NONE
            if not one.sizes.is_steady:
                row[writer.COUNTS], row[writer.RESTORED] = sizes, sizes + count
                sizes += 2 * count
                row[writer.SIZES_KEY] = signed(one.sizes.key)
                row[writer.FIXED_BYTES] = one.sizes.fixed
                row.view(np.float64)[writer.VARYING_BYTES] = one.sizes.varying
            row[writer.SIZE] = row[writer.FREE] = one.settings["size"]
            row[writer.OVERDRAFT_MAX] = one.settings["overdraft_max"]
            row[writer.MOST] = one.settings["max_per_channel"]
            row[writer.PARTS] = clock.NONE
            if one.selectivity is not None:
                ratio, row[writer.PROCESSED] = one.selectivity
                row[writer.PARTS] = ratio.parts
            row[writer.PICKS], row[writer.STREAM] = picks, stream_row
            row[writer.WEIGHTS] = weights
            picks, stream_row = picks + writer.RING, stream_row + stream.WIDTH
            weights += self._fill_route(m, row, one)

    def _fill_route(self, m: Memory, row: Memory, one: CompiledWriter) -> int:
        """Fill in a route. Return how many weights it has."""
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
        before = len(self.tasks)  # of whom the ties are in front
        network, unaligned = self._world.model.network, self._world.model.checkpointing.unaligned
        rows = self.channel_rows(m)
        for name in (
            *(channel.HEAD, channel.TAIL, channel.PRIORITY_HEAD, channel.PRIORITY_TAIL),
            *(channel.IN_HEAD, channel.IN_TAIL, channel.IN_PRIORITY_HEAD, channel.IN_PRIORITY_TAIL),
            *(channel.OPEN_STATE, channel.LAST_BARRIER, channel.LAST_SEQUENCE, channel.LAST_SEEN),
            *(channel.NEXT_READY, channel.NEXT_LENDER),
        ):
            rows[:, name] = clock.NONE
        for name in (channel.CREDIT, channel.EXCLUSIVE_FREE, channel.REQUIRED):
            rows[:, name] = network.exclusive_buffers
        if self._follows:
            self.counts(m)[:, counts.ALLOWED] = network.exclusive_buffers
        rows[:, channel.RANK] = self.ties.ranks[before:]
        rows[:, channel.DRAWN] = self.ties.drawn[before:]
        gates = [one.gate for one in self.channels]
        rows[:, channel.GATE] = [gate.row for gate in gates]
        rows[:, channel.RECEIVER] = [gate.task.row for gate in gates]
        hosts = np.array([gate.task.spec.task_manager for gate in gates])
        end = 0
        for one in self.writers:  # with neighbouring channels
            start, end = end, end + len(one.subpartitions)
            mine = rows[start:end]
            mine[:, channel.WRITER] = one.row
            lanes = 0 if one.broadcast else np.arange(end - start) * writer.LANE_WIDTH
            mine[:, channel.LANE] = m.item(one.row + writer.FIRST_LANE) + lanes
            local = hosts[start:end] == one.task.spec.task_manager
            mine[:, channel.LOCAL] = mine[:, channel.INSIDE] = local
            mine[:, channel.RECORD_BYTES] = one.sizes.mean if one.sizes.is_steady else 0
            overtaking = unaligned and one.supports_unaligned
            mine[:, channel.KEEPS_ORDER] = not overtaking and not network.jitter_ns

    def channel_rows(self, m: Memory) -> Memory:
        """Return the rows of the channels, shape (channels, columns)."""
        return rows_of(m, self.channels, channel.WIDTH)

    def counts(self, m: Memory) -> Memory:
        """Return what the oracle has counted of the channels, shape (channels, columns)."""
        first, width = self._counted, counts.WIDTH
        return m[first : first + len(self.channels) * width].reshape(-1, width)

    def counts_of(self, channel_row: int) -> int:
        """Return where the counts of a channel begin."""
        return self._counted + (channel_row - self.channels[0].row) // channel.WIDTH * counts.WIDTH


def _ranks_of(one: CompiledWriter) -> list[bytes]:
    """Return the structural ranks of the channels of a writer."""
    ends = [end.input_channel.gate for end in one.subpartitions]
    return [rank_of(one.component(gate), gate.task.subtask) for gate in ends]
