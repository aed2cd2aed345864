"""What a failure costs a job: down, doing again, late, caught up. From simulated failures.

A checkpoint just before a failure makes it cheap, one just after it dear. So the failures of
several runs are spread evenly over the interval.  Sources with a rate read logs here: what falls
due while the job is down comes afterwards, and has to be caught up with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import cast

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.dialect import one_of
from ckptsim.scenarios.errors import Problem, ScenarioError
from ckptsim.scenarios.job import FixedDelay, Job, Recovery, Vertex
from ckptsim.scenarios.job.faults import CrashTask
from ckptsim.sim.infer.advice.budget import MOST_RECORDS, loads_of, records_per_s
from ckptsim.sim.infer.measures import Measures
from ckptsim.sim.rows import RecoveryRow, RunResult

_SECOND_NS = 1_000_000_000
# The first checkpoint comes after so long, or after the interval where that is shorter: queues fill
# and relax within seconds, and nothing of the failure depends on the state before.
_FIRST_NS = 5 * _SECOND_NS
# What a run has time for after the work of catching up, and where no source has a rate.
_MARGIN_NS = 5 * _SECOND_NS
# Deploying and opening tasks, and reading their state, at most.  Assumption: some seconds.
_DEPLOYED_NS = 3 * _SECOND_NS


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Subtask 0 of a vertex fails. The job is restarted after a delay."""

    vertex: str
    restart_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FailurePrice:
    """What a failure costs: medians over `failures` of them, spread over the interval.

    down_s: from the failure to the first record that an operator without outputs takes.
    done_again_records: emitted a second time. done_again_most_records: of the worst failure.
    latest_s: the largest delay of a record afterwards, over when it fell due. caught_up_s: from the
    failure until no record is late.  None without a source that has a rate, or where it did not
    come in any run's time.  not_caught_up: runs where it did not come.
    """

    failures: int
    down_s: float | None
    done_again_records: float
    done_again_most_records: int
    read_bytes: float
    latest_s: float | None
    caught_up_s: float | None
    not_caught_up: int


def failure_of(job: Job, vertex: str | None, *, restart_ns: int) -> Failure:
    """Return the failure of a named vertex, or of the last one that is no source.

    Raises ScenarioError for a name that no vertex has.
    """
    vertices = job.spelled_out().vertices
    names = [one.name for one in vertices]
    if vertex is None:
        vertex = next(v.name for v in reversed(vertices) if not v.is_source)
    elif vertex not in names:
        raise ScenarioError([Problem("--failure", f'"{vertex}"', one_of(vertex, names))])
    return Failure(vertex=vertex, restart_ns=restart_ns)


def failing(
    scenario: Scenario, failure: Failure, measures: Measures, *, count: int
) -> list[Scenario]:
    """Return a scenario for each of so many failures, spread evenly over the interval.

    measures: of the job without a failure, for how long its checkpoints take.
    """
    job = cast("Job", scenario.model)
    interval_ns = _reached_ns(job, measures)
    first_ns = min(_FIRST_NS, interval_ns)
    model = replace(
        job,
        vertices=tuple(replayable(vertex) for vertex in job.vertices),
        recovery=Recovery(timed=True),
        restart=FixedDelay(delay_ns=failure.restart_ns),
        checkpointing=replace(
            job.checkpointing, first_trigger_ns=first_ns, count=None, tolerable_failures=1_000_000
        ),
    )
    found = []
    for number in range(count):
        phase_ns = round((number + 0.5) / count * interval_ns)
        at_ns = first_ns + interval_ns + phase_ns
        until_ns = at_ns + afterwards_ns(job, failure.restart_ns, interval_ns + phase_ns)
        crash = CrashTask(vertex=failure.vertex, subtask=0, at_ns=at_ns)
        whole = replace(model, duration_ns=until_ns)
        found.append(replace(scenario, model=whole, faults=(crash,)))
    return found


def replayable(vertex: Vertex) -> Vertex:
    """Return a source with a rate as one that reads a log."""
    paced = vertex.is_source and vertex.rate_per_s is not None
    return replace(vertex, replayable=True) if paced else vertex


def can_make_up(job: Job) -> bool:
    """Return whether a source has a rate, so that it can be late."""
    return any(vertex.is_source and vertex.rate_per_s is not None for vertex in job.vertices)


def _reached_ns(job: Job, measures: Measures) -> int:
    """Return the interval between two checkpoints that is reached, which one may outlast."""
    duration_ns = round(measures.duration_ms.get("median", 0.0) * 1e6)
    return max(job.checkpointing.interval_ns, duration_ns + job.checkpointing.min_pause_ns)


def afterwards_ns(
    job: Job, restart_ns: int, undone_ns: int, *, most_records: int = MOST_RECORDS
) -> int:
    """Return how long a run continues after its failure, so that a job that can catches up.

    Work of `undone + down` at load `r` is worked off in `r` of that time over `1 - r`. Half as much
    again for what checkpoints and skewed keys take.
    """
    down_ns = restart_ns + _DEPLOYED_NS
    load = max(loads_of(job).values(), default=0.0)
    rated = any(v.is_source and v.rate_per_s is not None for v in job.vertices)
    left = max(0.05, 1 - load)
    catching_ns = round(1.5 * (undone_ns + down_ns) * load / left) if rated and load < 1 else 0
    affordable_ns = round(most_records / max(1.0, records_per_s(job)) * _SECOND_NS)
    return down_ns + min(catching_ns, max(affordable_ns, _MARGIN_NS)) + _MARGIN_NS


def price_of_failures(results: Sequence[RunResult]) -> FailurePrice:
    """Return what the first failure of each run has cost. Runs without one do not count."""
    rows = [recovery for result in results for recovery in result.recoveries[:1]]
    latest = list(_seconds(row.peak_latency_ns for row in rows))
    caught_up = list(_seconds(_since(row, row.caught_up_ns) for row in rows))
    down = list(_seconds(_since(row, row.first_record_ns) for row in rows))
    return FailurePrice(
        failures=len(rows),
        down_s=median(down) if down else None,
        done_again_records=median([row.records_reprocessed for row in rows]) if rows else 0.0,
        done_again_most_records=max((row.records_reprocessed for row in rows), default=0),
        read_bytes=median([row.bytes_read or 0 for row in rows]) if rows else 0.0,
        latest_s=median(latest) if latest else None,
        caught_up_s=median(caught_up) if caught_up else None,
        not_caught_up=len(rows) - len(caught_up) if latest else 0,
    )


def caught_up_s(row: RecoveryRow) -> float | None:
    """Return how long after a failure no record was late any more, None where that did not come."""
    found_ns = _since(row, row.caught_up_ns)
    return None if found_ns is None else found_ns / _SECOND_NS


def _since(row: RecoveryRow, end_ns: int | None) -> int | None:
    return None if end_ns is None else end_ns - row.failed_ns


def _seconds(times_ns: Iterator[int | None] | Sequence[int | None]) -> Iterator[float]:
    return (time_ns / _SECOND_NS for time_ns in times_ns if time_ns is not None)


def failure_warnings(job: Job) -> Iterator[str]:
    """Yield what must be said with the price of a failure."""
    if job.storage.read_bytes_per_s is None:
        yield "what a restore reads is taken to have no limit; say one with job.storage.read"
    changing = [v.name for v in job.vertices if v.rate_changes]
    if changing:
        yield (
            f"{', '.join(changing)}: its rate changes, so what falls due while the job is down is"
            " dropped, and catching up is not part of the price"
        )
    if all(v.rate_per_s is None for v in job.vertices if v.is_source):
        yield "no source has a rate, so no record is due at an instant, and none can be late"
