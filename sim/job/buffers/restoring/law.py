"""How long a job takes to catch up after a failure, on paper.

While a job is down, and while it does again what it had done since its checkpoint, records fall due
at the rate of its sources. From then on it gains on them with what its slowest vertex can do beyond
that rate.  Let D be the time to the first record, R the records done again, l the rate and m the
capacity. The job has caught up after D + (D + R / l) * l / (m - l).

The law assumes balanced keys, no cost of checkpoints or a new JVM, full speed while catching up,
and no failure meanwhile.  It has no answer from l = m on.  Source: Geldenhuys et al., Khaos:
Dynamically Optimizing Checkpointing for Dependable Distributed Stream Processing (2022), with
recoveries that fit it for the interval as R / l.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ckptsim.scenarios.job import Job, Vertex
    from ckptsim.sim.job.control.failover import FailoverRecord

_SECOND_NS = 1_000_000_000


def catch_up_ns(down_ns: int, again: int, rate_per_s: float, capacity_per_s: float) -> float | None:
    """Return the time from a failure until its backlog is worked off. None where it never is.

    down_ns: to the first record. again: records that are done again.
    """
    if capacity_per_s <= rate_per_s:
        return None
    backlog = down_ns * rate_per_s / _SECOND_NS + again
    return down_ns + backlog * _SECOND_NS / (capacity_per_s - rate_per_s)


def rates(job: Job) -> tuple[float, float] | None:
    """Return the rate of a job's sources and the capacity of its slowest vertex, in records/s.

    None where the law has no such numbers: a source without a clock or with a changing one, a
    vertex that emits not one record per record, or more than one way for a record to go.
    """
    first, *behind = job.vertices
    line = all(len(one.inputs) == 1 and one.selectivity == 1.0 for one in behind)
    feeds = [one.upstream for vertex in behind for one in vertex.inputs]
    if not behind or not line or len(set(feeds)) < len(feeds) or not first.replayable:
        return None
    if first.rate_per_s is None or first.rate_changes:
        return None
    return first.rate_per_s, min(_capacity_per_s(vertex) for vertex in behind)


def _capacity_per_s(vertex: Vertex) -> float:
    """Return what a vertex can do when its slowest subtask has its share of the records."""
    slowest_ns = max(vertex.service_of(subtask) for subtask in range(vertex.parallelism))
    return vertex.parallelism * _SECOND_NS / max(1, slowest_ns)


def worked_off_ns(
    job: Job, failovers: Sequence[FailoverRecord]
) -> tuple[float, float | None] | None:
    """Return the mean time that failures took to be caught up with, and that on paper.

    None where one was not, or where the law has nothing to say of the job.
    """
    found = rates(job)
    times, papers = [], []
    for one in failovers:
        if found is None or one.first_record_ns is None or one.caught_up_ns is None:
            return None
        down_ns = one.first_record_ns - one.failed_ns
        times.append(one.caught_up_ns - one.failed_ns)
        papers.append(catch_up_ns(down_ns, one.reprocessed, *found))
    if not times:
        return None
    known = [one for one in papers if one is not None]
    paper = sum(known) / len(known) if len(known) == len(papers) else None
    return sum(times) / len(times), paper
