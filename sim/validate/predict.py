"""Simulate measured runs, each with several seeds, and merge what the seeds give."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from typing import Any, TypeVar

from ckptsim.models.core import ProtocolError
from ckptsim.scenarios.job import Job as JobModel
from ckptsim.sim.job.buffers.constants import MECHANISMS, RIG, Constants, Mechanisms
from ckptsim.sim.job.buffers.world import DataflowWorld
from ckptsim.sim.kernel import Environment, KernelError, fence
from ckptsim.sim.validate.config import model_of
from ckptsim.sim.validate.measured import MeasuredJob, MeasuredRun
from ckptsim.sim.validate.statistics import middle, usual
from ckptsim.sim.validate.summary import Window, finish_of, summary_of

_MS = 1_000_000
# A simulated run that has not shown the measured values after so long, or after twice the time of
# the measured one, is compared as far as it got.
_LONGEST_MS = 120_000
_TIMES_LONGER = 2

Job = dict[str, Any]
Rates = dict[str, list[float]]
Run = TypeVar("Run")
Found = TypeVar("Found")
# What a simulation raises that has gone wrong. All else is not the simulation's.
FAILURES = (ProtocolError, KernelError, ArithmeticError, LookupError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """What a prediction rests on besides the job. change: the results from the job itself."""

    constants: Constants = RIG
    mechanisms: Mechanisms = MECHANISMS
    change: Callable[[JobModel], JobModel] = lambda model: model


OURS = Assumptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """The prediction for one run: `jobs` as in the input, or why there is nothing.

    Each job has the keys of a measured `summary`, and the ones of `finish` where all sources end.
    rates: per job, records per second of each task's subtasks.
    broken: whether the simulation itself failed.
    """

    run: MeasuredRun
    jobs: tuple[Job, ...] = ()
    rates: tuple[Rates, ...] = ()
    reason: str | None = None
    broken: bool = False


def predict_all(
    runs: Sequence[MeasuredRun],
    *,
    seeds: int,
    jobs: int,
    under: Assumptions = OURS,
    progress: Callable[[], object] | None = None,
) -> list[Prediction]:
    """Predict every run, `jobs` at a time, in the order of the runs."""
    return in_order(partial(predict, seeds=seeds, under=under), runs, jobs, progress)


def in_order(
    one: Callable[[Run], Found],
    runs: Sequence[Run],
    jobs: int,
    progress: Callable[[], object] | None,
) -> list[Found]:
    """Return what a function gives for each run, `jobs` processes at a time, in their order."""
    found = []
    with ExitStack() as stack:
        each: Iterator[Found] = map(one, runs)
        if jobs > 1:
            pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
            each = stack.enter_context(pool).map(one, runs)
        for prediction in each:
            found.append(prediction)
            if progress is not None:
                progress()
    return found


def predict(run: MeasuredRun, *, seeds: int, under: Assumptions = OURS) -> Prediction:
    """Predict one run: every job of it, or only the first when the job never ends."""
    jobs = run.jobs if run.bounded else run.jobs[:1]
    predicted: list[tuple[Job, Rates]] = []
    for number, job in enumerate(jobs):
        try:
            model = under.change(model_for(run, job))
        except (KeyError, TypeError, ValueError) as error:
            return Prediction(run=run, reason=f"config: {error}")
        problems = model.problems()
        if problems:
            return Prediction(run=run, reason="; ".join(f"config: {p}" for p in problems))
        try:
            constants = under.constants if number else _cold(under.constants)
            results = [
                _simulate(model, job, seed + 1000 * number, constants, under.mechanisms)
                for seed in range(1, seeds + 1)
            ]
        except FAILURES as error:
            story = f"the simulation failed: {type(error).__name__}: {error}"
            return Prediction(run=run, reason=story, broken=True)
        predicted.append(_merged(results))
    return Prediction(
        run=run,
        jobs=tuple(found for found, _ in predicted),
        rates=tuple(rates for _, rates in predicted),
    )


def model_for(run: MeasuredRun, job: MeasuredJob) -> JobModel:
    """Return the job to simulate. Time 0 of the simulation is when all tasks ran."""
    first = job.first_trigger_ms
    ran_ms = 0 if job.ran_ms is None else job.ran_ms - job.running_ms
    return model_of(
        run.config,
        first_trigger_ns=None if first is None else max(1, first - job.running_ms) * _MS,
        checkpoints=None if run.bounded else job.completed,
        stops_ns={
            name: max(1, end - job.running_ms) * _MS for name, end in job.source_ends_ms.items()
        },
        duration_ns=max(_LONGEST_MS, _TIMES_LONGER * ran_ms) * _MS,
    )


def _cold(constants: Constants) -> Constants:
    """Return the constants of the first job of a process."""
    return replace(constants, finish_ns=constants.finish_ns + constants.cold_finish_ns)


def _simulate(
    model: JobModel, job: MeasuredJob, seed: int, constants: Constants, mechanisms: Mechanisms
) -> tuple[Job, Rates]:
    with fence():
        world = DataflowWorld(Environment(seed), model, constants, mechanisms)
        window = Window(world, job.window_start_ms * _MS)
        world.run()
    found: Job = summary_of(world, job.warmup)
    finish = finish_of(world, job.running_ms)
    if finish is not None:
        found |= finish
    return found, window.rates()


def _merged(results: Sequence[tuple[Job, Rates]]) -> tuple[Job, Rates]:
    """Return the middle of several seeds. A bounded job's only of those that ended the same way."""
    kept = usual(results, [_way_of_ending(found) for found, _ in results])
    job: Job = middle([found for found, _ in kept])
    rates: Rates = middle([rates for _, rates in kept])
    return job, rates


def _way_of_ending(found: Job) -> list[str]:
    """Return what became of the checkpoints after the sources' end. Nothing for endless jobs."""
    after = found.get("checkpoints_triggered_after_source_end", ())
    return [entry["status"] for entry in after]
