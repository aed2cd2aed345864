"""Moves all that a kernel has under way along the clock, past a stretch that is not simulated.

All that is queued, on its way or half done stays as it is, and its instants are later by the length
of the stretch.  A source keeps its clock: its next record is due a whole number of records later,
which is less than one record after the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ckptsim.sim.job.buffers.compiled.columns import channel, clock, entry, gate, request, task
from ckptsim.sim.job.buffers.compiled.words import rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ckptsim.sim.job.buffers.compiled.driver import CompiledDriver
    from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory

_TASK_INSTANTS = [task.SINCE_NS, task.START_NS, task.CHOSEN_NS]
_CHANNEL_INSTANTS = [channel.READY_NS, channel.FORWARD_NS, channel.BACK_NS]


@dataclass(frozen=True, slots=True)
class Turn:
    """How far the clock of one split of a source turns: records, and the time of as many."""

    records: int
    due_ns: int


def translate(
    driver: CompiledDriver,
    lasts_ns: int,
    *,
    records: Sequence[int],
    turns: Mapping[int, Sequence[Turn]],
) -> None:
    """Let everything happen so much later, when the clock is at the end of the stretch.

    records: that each task has done meanwhile, by number.  turns: of the splits of each source, in
    the order in which it reads them.
    """
    m, tables = driver.m, driver.tables
    tasks = rows_of(m, tables.tasks, task.WIDTH)
    later = {
        int(tasks[number, task.TIMER]): _turned(m, tables.tasks[number].row, turned)
        for number, turned in turns.items()
    }
    tasks[:, _TASK_INSTANTS] += lasts_ns
    if tables.channels:
        tables.channel_rows(m)[:, _CHANNEL_INSTANTS] += lasts_ns
        rows_of(m, tables.gates, gate.WIDTH)[:, gate.READY_NS] += lasts_ns
    _move_entries(m, lasts_ns, later)
    for one in tables.tasks:
        if records[one.number]:
            driver.ask(request.PASS_OVER, one.row, records[one.number])


def _turned(m: Memory, t: int, turns: Sequence[Turn]) -> int | None:
    """Turn the clocks of a source, and return by how much it waits longer, None if it does not."""
    current = turns[0].due_ns
    if len(turns) > 1:
        first = int(m[t + task.FIRST_SPLIT])
        for place, one in enumerate(turns):
            split = first + place * task.SPLIT_WIDTH
            m[split + task.POSITION] += one.records
            m[split + task.SPLIT_DUE_NS] += one.due_ns
            if split == m[t + task.SPLIT]:
                current = one.due_ns
    m[t + task.DUE_NS] += current
    return current if m[t + task.STATE] == task.PACED else None


def _move_entries(m: Memory, lasts_ns: int, later: Mapping[int, int | None]) -> None:
    """Move the entries of the calendar, later: by how much, by sequence."""
    first, size = int(m[clock.HEAP]), int(m[clock.HEAP_SIZE])
    heap = m[first : first + size * entry.WIDTH].reshape(-1, entry.WIDTH)
    of_clocks = [later.get(one) for one in heap[:, entry.SEQUENCE].tolist()]
    moves = [lasts_ns if one is None else one for one in of_clocks]
    heap[:, entry.TIME] += np.array(moves, dtype=np.int64)
    # What lies in its order is a heap.
    order = np.lexsort((heap[:, entry.SEQUENCE], heap[:, entry.KEY], heap[:, entry.TIME]))
    heap[:] = heap[order]
