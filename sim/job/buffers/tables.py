"""The result tables of a job on buffers."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.restoring.law import worked_off_ns
from ckptsim.sim.job.buffers.tasks import Source
from ckptsim.sim.job.tables import job_tables
from ckptsim.sim.rows import FigureRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ckptsim.sim.job.buffers.restoring import TimedFailover
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.control.failover import FailoverRecord
    from ckptsim.sim.rows import RunResult
    from ckptsim.sim.run_spec import RunSpec


def tables(spec: RunSpec, world: DataflowWorld) -> RunResult:
    """Return all tables of a run that has ended."""
    error = world.control.failure
    outcome = "stalled" if world.watchdog.stalled else "completed" if error is None else "failed"
    result = job_tables(spec, world, outcome=outcome, error=error)
    result.violations = world.violation_log.counted(
        spec.violation(name, at_ns, says, scope=None if number is None else "job", index=number)
        for name, at_ns, says, number in world.violations
    )
    if world.timed is not None:
        result.figures += _laws(spec.run_key, world)
        result.figures += _reads(spec.run_key, world.timed, world.control.failovers)
    if world.skipper.passed_ns:
        passed_ns = world.skipper.passed_ns
        row = FigureRow(
            run_key=spec.run_key, figure="passed_over_ns", value=passed_ns, expected=None
        )
        result.figures.append(row)
    missed = _records_missed(world)
    if missed:
        row = FigureRow(run_key=spec.run_key, figure="records_missed", value=missed, expected=None)
        result.figures.append(row)
    return result


def _laws(key: str, world: DataflowWorld) -> Iterator[FigureRow]:
    """Yield what takes the time that a law gives, beside that."""
    found = worked_off_ns(world.model, world.control.failovers)
    if found is not None:
        taken_ns, paper_ns = found
        yield FigureRow(run_key=key, figure="worked_off_ns", value=taken_ns, expected=paper_ns)


def _reads(
    key: str, timed: TimedFailover, failovers: Sequence[FailoverRecord]
) -> Iterator[FigureRow]:
    """Yield what reading data in flight back takes in the mean, if any was."""
    found: dict[str, list[float]] = {
        "files_opened": [timed.files_opened / max(1, timed.restored)],
        "pieces_read": [timed.pieces_read / max(1, timed.restored)],
        "in_flight_back_ns": [
            one.handed_over_ns - one.failed_ns
            for one in failovers
            if one.handed_over_ns is not None
        ],
    }
    for figure, values in found.items():
        if timed.pieces_read and values:
            value = statistics.fmean(values)
            yield FigureRow(run_key=key, figure=figure, value=value, expected=None)


def _records_missed(world: DataflowWorld) -> int:
    """Return how many records the sources without an end have dropped."""
    count = 0
    for source in world.tasks:
        if not isinstance(source, Source) or source.is_fed or source.limit is not None:
            continue
        until_ns = world.env.now if source.exhausted_ns is None else source.exhausted_ns
        positions, begun = source.splits, world.graph.begun_as(source.name)
        for split in world.splits.of(*source.place):
            split.position = positions[split.number]
            count += world.clocks.missed(split, begun, until_ns, world.constants.catch_up_ns)
    return count
