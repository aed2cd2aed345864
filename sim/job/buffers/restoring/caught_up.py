"""What recoveries were like for the records: the first one, the latest one, and catching up.

A job has caught up at the first instant of a grid of 20 ms with one second of latency within a band
of its level before the failure.  That level is the latest record at an operator without outputs in
the ten seconds before.  The band is a tenth of it and 100 ms.  The second ends before the next
failure or the end of the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ckptsim.sim.job.buffers.restoring.lateness import CALM_NS, CELL_NS

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.restoring.lateness import Lateness
    from ckptsim.sim.job.control.failover import FailoverRecord

_MS = 1_000_000
_BEFORE_NS = 10_000 * _MS
_BAND, _BAND_NS = 0.1, 100 * _MS


def note_latencies(
    failovers: Sequence[FailoverRecord], lateness: Lateness, end_ns: int, late_ns: int | None = None
) -> None:
    """Note in each failover what became of the records after it. The run ends at `end_ns`.

    late_ns: how late records are at most of a job that has caught up, None for its level before.
    """
    lateness.settle()
    nothing = np.empty(0, dtype=np.int64)
    ends = np.concatenate([*lateness.ends, nothing])
    late = np.concatenate([*lateness.late, nothing])
    tasks = np.concatenate([*lateness.tasks, nothing])
    following = [*(one.failed_ns for one in failovers[1:]), end_ns]
    for failover, until_ns in zip(failovers, following, strict=False):
        began_ns = None
        if failover.attempt < len(lateness.began_ns):
            began_ns = lateness.began_ns[failover.attempt]
        if began_ns is None or began_ns >= until_ns:
            continue
        failover.first_record_ns = began_ns
        mine = np.isin(tasks, failover.restarted) if failover.restarted else tasks >= 0
        behind = (ends >= began_ns) & (ends < until_ns) & mine
        level_ns = late_ns
        if level_ns is None:
            before = (ends >= failover.failed_ns - _BEFORE_NS) & (ends < failover.failed_ns) & mine
            level_ns = round((1 + _BAND) * int(late[before].max(initial=0))) + _BAND_NS
        if behind.any():
            failover.peak_latency_ns = int(late[behind].max())
            failover.caught_up_ns = caught_up_ns(
                ends[behind], late[behind], level_ns, began_ns=began_ns, until_ns=until_ns
            )


def caught_up_ns(
    ends: NDArray[np.int64], late: NDArray[np.int64], level_ns: int, *, began_ns: int, until_ns: int
) -> int | None:
    """Return the instant from which no record is later than a level, or None if there is none.

    ends, late: when records of the last operator were done and how late each was, in ns, shape
    (records,), in any order. Those from `began_ns`, the first one, to `until_ns`.
    """
    if not len(ends):
        return None
    first = began_ns // CELL_NS
    count = until_ns // CELL_NS - first + 1
    worst = np.zeros(count, dtype=np.int64)
    np.maximum.at(worst, ends // CELL_NS - first, late)
    calm = CALM_NS // CELL_NS
    behind = np.concatenate([[0], np.cumsum(worst > level_ns)])
    for place in range(count - calm):
        end_ns = (first + place + calm) * CELL_NS
        if end_ns <= until_ns and behind[place + calm] == behind[place]:
            return max(began_ns, (first + place) * CELL_NS)
    return None
