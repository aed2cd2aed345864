"""What passing over steady time costs in precision, and what long jobs take.

Each job runs whole, and with its steady stretches passed over, with several seeds.  A figure
differs by its means over the seeds.  By chance two such means differ by their standard
errors, so as much as two of them does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from statistics import fmean, variance
from time import process_time
from typing import Any, TypeAlias, cast

from ckptsim.scenarios.catalogue import all_names, by_name
from ckptsim.scenarios.job import Job, Plane, Skip
from ckptsim.scenarios.job.faults import JobFault
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.tables import job_rows, recovery_rows
from ckptsim.sim.kernel import Environment
from ckptsim.sim.validate import read_measurements
from ckptsim.sim.validate.predict import model_for
from ckptsim.sim.world import run_world
from tests.bench import Figure

Fault: TypeAlias = Any
SECOND = 1_000_000_000
CALIBRATION = Path(__file__).parents[1] / "data" / "flink" / "calibration.jsonl"
JOBS = Path(__file__).with_name("jobs")
BAR_DIFFERENCE = 0.01
BAR_DAY_S, BAR_HOUR_S = 60.0, 120.0
_SEEDS = range(1, 9)
_INTERVAL_NS, _LASTS_NS, _APART_NS = 10 * SECOND, 125 * SECOND, 137_731_000
_NOTHING = {"in flight": 32_768.0}
"""A difference below this is none: one buffer."""


@dataclass(frozen=True, slots=True)
class Case:
    """A job that runs for so long that it repeats itself."""

    name: str
    job: Job
    faults: tuple[Fault, ...] = ()


def measure() -> list[Figure]:
    """Measure both sets of jobs, and the two long ones."""
    return [
        _precision("calibration jobs", calibration_jobs()),
        _precision("jobs of the library", library_jobs()),
        _long("day", BAR_DAY_S),
        _long("hour", BAR_HOUR_S),
    ]


def calibration_jobs() -> Iterator[Case]:
    """Yield the measured jobs without an end, each configuration once, at a long interval."""
    seen = set()
    for run in read_measurements([CALIBRATION]).runs:
        cell = run.run_id.partition("#")[0]
        if not run.bounded and cell not in seen:
            seen.add(cell)
            yield Case(cell, _lasting(model_for(run, run.jobs[0])))


def library_jobs(count: int = 10) -> Iterator[Case]:
    """Yield jobs of the library that run until their time is up."""
    found = 0
    for name in all_names():
        scenario = by_name(name)
        job = scenario.model
        if not isinstance(job, Job) or job.plane is not Plane.BUFFERS:
            continue
        endless = all(v.records is None and v.ends_at_ns is None for v in job.vertices)
        if endless and found < count:
            found += 1
            yield Case(name, _lasting(job), scenario.faults)


def _lasting(job: Job) -> Job:
    table = replace(job.checkpointing, interval_ns=_INTERVAL_NS, count=None)
    return replace(job.spelled_out(), checkpointing=table, duration_ns=_LASTS_NS)


def _precision(name: str, cases: Iterable[Case]) -> Figure:
    """Return the largest difference of a figure of a job that is not chance."""
    worst, which, passed, count = 0.0, "nothing", 0, 0
    for case in cases:
        whole, some = values_of(case, Skip.NEVER), values_of(case, Skip.ALWAYS)
        passed += any(some["passed over"])
        count += 1
        for figure in whole.keys() & some.keys() - {"passed over"}:
            found = difference(whole[figure], some[figure], _NOTHING.get(figure, 0.0))
            if found > worst:
                worst, which = found, f"{figure} of {case.name}"
    return Figure(
        name=f"{name}: difference of figures by passing over",
        value=worst,
        unit="of the whole run",
        at_most=BAR_DIFFERENCE,
        says=f"{count} jobs, {passed} of which pass over some time; the largest is in {which}",
    )


def difference(whole: list[float], some: list[float], nothing: float = 0.0) -> float:
    """Return the relative difference of two means beyond chance and beyond a trifle."""
    means = fmean(whole), fmean(some)
    chance = 2 * sqrt(sum(variance(one) / len(one) for one in (whole, some) if len(one) > 1))
    beyond = abs(means[0] - means[1]) - chance - nothing
    return max(0.0, beyond) / means[0] if means[0] else 0.0


def values_of(case: Case, skip: Skip) -> dict[str, list[float]]:
    """Return the figures of a job, of each seed."""
    found: dict[str, list[float]] = {}
    for seed in _SEEDS:
        faults = FaultPlan(cast("tuple[JobFault, ...]", case.faults))
        # At an instant of its own, or buffers of some jobs are as full at every trigger.
        table = replace(case.job.checkpointing, first_trigger_ns=5 * SECOND + seed * _APART_NS)
        job = replace(case.job, checkpointing=table, skip=skip)
        world = DataflowWorld(Environment(seed), job, faults=faults)
        world.run()
        for name, value in _figures(world):
            found.setdefault(name, []).append(value)
    return found


def _figures(world: DataflowWorld) -> Iterator[tuple[str, float]]:
    checkpoints, _, tasks = job_rows("", world)
    done = [one for one in checkpoints if one.status == "completed"]
    yield "passed over", world.skipper.passed_ns
    yield "checkpoints", len(done)
    if done:
        yield "duration", fmean(one.duration_ns or 0 for one in done)
        yield "in flight", fmean(one.persisted_bytes or 0 for one in done)
    for vertex in world.graph.vertices:
        rows = [one for one in tasks if one.task == vertex.name]
        yield f"records of {vertex.name}", sum(one.records for one in rows)
        yield f"busy time of {vertex.name}", fmean(one.busy_ratio for one in rows)
    for number, one in enumerate(recovery_rows("", world.control), 1):
        if one.records_reprocessed is not None:
            yield f"records done again by recovery {number}", one.records_reprocessed
        if one.caught_up_ns is not None:
            yield f"catching up of recovery {number}", one.caught_up_ns - one.failed_ns


def _long(name: str, bar_s: float) -> Figure:
    """Return what a long job takes."""
    scenario = by_name(str(JOBS / f"{name}.toml"))
    began = process_time()
    result = run_world(scenario)
    figures = {one.figure: one.value for one in result.figures}
    passed_ns = figures["passed_over_ns"]
    return Figure(
        name=scenario.says,
        value=process_time() - began,
        unit="s of CPU",
        at_most=bar_s,
        says=f"{(result.run.ended_ns - passed_ns) / SECOND:.0f} s of it simulated, "
        f"{result.run.checkpoints_completed} checkpoints, {len(result.violations)} violations",
    )
