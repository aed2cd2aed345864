"""Words of the kernel's memory by rows: made, linked, and looked at together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from ckptsim.sim.job.buffers.compiled.columns import clock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory

# Words of a line of the processor's cache: a row that lies across two of them costs twice.
LINE = 8


class Row(Protocol):
    """A thing with a row. row: where it begins."""

    row: int


def zeros(words: int) -> Memory:
    """Return memory that begins where a line of the processor's cache does, as most rows do."""
    m = np.zeros(words + LINE, dtype=np.int64)
    first = -(m.ctypes.data // m.itemsize) % LINE
    return m[first : first + words]


def link(m: Memory, first: int, count: int, width: int, head: int) -> None:
    """Put rows before a free list, in their order. After its head is how many it has.

    The next one of a free row is its first word.
    """
    if not count:
        return
    rows = first + width * np.arange(count)
    m[rows] = rows + width
    m[rows[-1]] = m[head] if m[head + 1] else clock.NONE
    m[head], m[head + 1] = first, m[head + 1] + count


def rows_of(m: Memory, owners: Sequence[Row], width: int) -> Memory:
    """Return the rows of those that have neighbouring ones, shape (owners, columns)."""
    first = owners[0].row if owners else 0
    return m[first : first + len(owners) * width].reshape(-1, width)
