"""Whether all holds that `invariants.py` states task by task, read from the tables of a kernel.

It is quick and has no sentences.  Where something does not hold, the other one finds the place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ckptsim.sim.job.buffers.compiled.columns import (
    channel,
    clock,
    counts,
    gate,
    request,
    task,
    writer,
)
from ckptsim.sim.job.buffers.compiled.words import rows_of
from ckptsim.sim.job.buffers.output import Selectivity

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.compiled import CompiledDriver
    from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
    from ckptsim.sim.job.oracle.buffers.view import BufferView


class CountsScreen:
    """Compares what the oracle has counted with what the tables say, over all channels at once."""

    def __init__(self, driver: CompiledDriver, view: BufferView) -> None:
        self._driver = driver
        self._view = view
        tables = driver.tables
        writers = [one.subpartition.writer for one in tables.channels]
        # Tasks with records of different sizes are checked one by one.
        self._is_covered = bool(tables.channels) and all(one.sizes.is_steady for one in writers)
        if not self._is_covered:
            return
        m = driver.m
        rows, outputs = tables.channel_rows(m), rows_of(m, tables.writers, writer.WIDTH)
        self._record_bytes = rows[:, channel.RECORD_BYTES].copy()
        self._receivers = (rows[:, channel.RECEIVER] - m[clock.FIRST_TASK]) // task.WIDTH
        self._gates = (rows[:, channel.GATE] - tables.gates[0].row) // gate.WIDTH
        self._writers = (rows[:, channel.WRITER] - m[clock.FIRST_WRITER]) // writer.WIDTH
        self._senders = (outputs[:, writer.TASK] - m[clock.FIRST_TASK]) // task.WIDTH
        local = np.bincount(self._writers, weights=rows[:, channel.LOCAL])
        self._is_remote = local == 0
        self._has_gates = np.array([bool(one.gates) for one in tables.tasks])
        self._is_two_input = np.array([one.gate.task.two_input for one in tables.channels])
        self._ratios = [Selectivity(one.task.spec.vertex.selectivity) for one in tables.writers]
        self._is_plain = all(one.task.spec.vertex.selectivity == 1.0 for one in tables.writers)

    def holds(self) -> bool:
        """Return whether every record is somewhere and every buffer accounted for."""
        if not self._is_covered:
            return False
        driver = self._driver
        driver.ask(request.LOOK, 0)
        m, tables = driver.m, driver.tables
        rows, counted = tables.channel_rows(m), tables.counts(m)
        tasks = rows_of(m, tables.tasks, task.WIDTH)
        restored = np.array([one.restored_records for one in tables.tasks])
        passed = np.array([(one.passed_over, one.passed_out) for one in tables.tasks])
        return bool(
            self._inputs_hold(rows, counted, tasks, restored + passed[:, 0])
            and self._outputs_hold(counted, tasks, restored, passed[:, 1])
            and self._gates_hold(rows, counted)
        )

    def _inputs_hold(self, rows: Memory, counted: Memory, tasks: Memory, restored: Memory) -> bool:
        """What a task has read of each channel are whole records, as many as it has processed."""
        unread = self._unread(rows, tasks)
        read = counted[:, counts.TAKEN_BYTES] - rows[:, channel.PARTIAL_BYTES]
        read -= unread * self._record_bytes
        whole, rest = np.divmod(read, self._record_bytes)
        records = np.bincount(self._receivers, weights=whole, minlength=len(tasks))
        done = tasks[:, task.PROCESSED] - restored
        return not rest.any() and bool((records == done)[self._has_gates].all())

    def _unread(self, rows: Memory, tasks: Memory) -> Memory:
        """Return how many records of the buffer under way of each channel are unread."""
        unread = np.zeros(len(rows), dtype=np.int64)
        m, tables = self._driver.m, self._driver.tables
        first = tables.channels[0].row
        reading = tasks[self._has_gates & (tasks[:, task.CELL] != clock.NONE)]
        places = (reading[:, task.CHANNEL] - first) // channel.WIDTH
        np.add.at(unread, places, reading[:, task.LEFT])
        if self._is_two_input.any():
            gates = rows_of(m, tables.gates, gate.WIDTH)
            aside = gates[gates[:, gate.ASIDE_CELL] >= 0]
            places = (aside[:, gate.ASIDE_CHANNEL] - first) // channel.WIDTH
            left = np.where(self._is_two_input[places], aside[:, gate.ASIDE_LEFT], 0)
            np.add.at(unread, places, left)
        return unread

    def _outputs_hold(
        self, counted: Memory, tasks: Memory, restored: Memory, passed_out: Memory
    ) -> bool:
        """What a task has processed was written, and has been sent or lies in its queues."""
        m, tables = self._driver.m, self._driver.tables
        outputs = rows_of(m, tables.writers, writer.WIDTH)
        done, before = tasks[self._senders, task.PROCESSED], restored[self._senders]
        if self._is_plain:
            due = done - before
        else:
            of = zip(self._ratios, done.tolist(), before.tolist(), strict=True)
            due = np.array([ratio.emitted(end) - ratio.emitted(first) for ratio, end, first in of])
        due = due - passed_out[self._senders]
        blocked = outputs[:, writer.BLOCKED] != 0
        states = tasks[self._senders, task.STATE]
        stands = (states == task.STUCK) | (states == task.ENDED)
        if (blocked & ~stands).any():
            return False
        if (outputs[:, writer.EMITTED] != due - outputs[:, writer.OWED]).any():
            return False
        written = self._view.written_by_all(tables.tasks)
        slack = np.where(blocked, outputs[:, writer.RECORD_BYTES], 0)[self._writers]
        found = counted[:, counts.SENT_BYTES] + counted[:, counts.QUEUED_BYTES]
        if (found > written).any() or (found < written - slack).any():
            return False
        out, seen = outputs[:, writer.SEGMENTS_OUT], outputs[:, writer.SEEN]
        booked = outputs[:, writer.SIZE] - outputs[:, writer.FREE] + outputs[:, writer.OVERDRAFT]
        at_reader = (seen > out) | (self._is_remote & (seen != out))
        return not ((booked != out) | at_reader).any()

    def _gates_hold(self, rows: Memory, counted: Memory) -> bool:
        gates = rows_of(self._driver.m, self._driver.tables.gates, gate.WIDTH)
        borrowed = rows[:, channel.FLOATING_FREE]
        ended = (counted[:, counts.FLAGS] & counts.OVER) != 0
        if (borrowed[ended] != 0).any():
            return False
        lent = np.bincount(self._gates, weights=borrowed, minlength=len(gates))
        found = gates[:, gate.FLOATING_FREE] + gates[:, gate.FILLED] + lent
        return bool((found == gates[:, gate.FLOATING]).all())
