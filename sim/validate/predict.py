"""Simulate measured runs, each with several seeds, and merge what the seeds give."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any, Generic, TypeVar

from ckptsim.models.core import ProtocolError
from ckptsim.scenarios.job import Job as JobModel
from ckptsim.sim.job.buffers.constants import MECHANISMS, RIG, Constants, Mechanisms
from ckptsim.sim.job.buffers.world import DataflowWorld
from ckptsim.sim.kernel import Environment, KernelError, fence
from ckptsim.sim.validate.config import model_of
from ckptsim.sim.validate.measured import MeasuredJob, MeasuredRun, middle, usual
from ckptsim.sim.validate.summary import Window, finish_of, summary_of_world

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
class Prediction(Generic[Run, Found]):
    """The prediction for one run, or why there is none. broken: the simulation itself failed."""

    run: Run
    found: Found | None = None
    reason: str | None = None
    broken: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """The jobs of a run as in the input, with the keys of a measured `summary`.

    They have the ones of `finish` too where all sources end.  rates: per job, records per second of
    each task's subtasks.
    """

    jobs: tuple[Job, ...]
    rates: tuple[Rates, ...]


def predict_all(
    runs: Sequence[Run],
    one: Callable[[Run], Prediction[Run, Found]],
    *,
    jobs: int = 1,
    progress: Callable[[], object] | None = None,
) -> list[Prediction[Run, Found]]:
    """Predict every run, `jobs` processes at a time, in the order of the runs."""
    found = []
    with ExitStack() as stack:
        each: Iterator[Prediction[Run, Found]] = map(one, runs)
        if jobs > 1:
            pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
            each = stack.enter_context(pool).map(one, runs)
        for prediction in each:
            found.append(prediction)
            if progress is not None:
                progress()
    return found


def prediction_of(
    run: Run,
    models: Callable[[], Sequence[JobModel]],
    simulate: Callable[[Sequence[JobModel]], Found],
) -> Prediction[Run, Found]:
    """Return what the simulation of a run's jobs gives, or why there is nothing."""
    try:
        made = models()
    except (KeyError, TypeError, ValueError) as error:
        return Prediction(run=run, reason=f"config: {error}")
    if problems := [problem for model in made for problem in model.problems()]:
        return Prediction(run=run, reason="; ".join(f"config: {one}" for one in problems))
    try:
        return Prediction(run=run, found=simulate(made))
    except FAILURES as error:
        story = f"the simulation failed: {type(error).__name__}: {error}"
        return Prediction(run=run, reason=story, broken=True)


def predict(
    run: MeasuredRun, *, seeds: int, under: Assumptions = OURS
) -> Prediction[MeasuredRun, Jobs]:
    """Predict one run: every job of it, or only the first when the job never ends."""
    jobs = run.jobs if run.bounded else run.jobs[:1]

    def simulate(models: Sequence[JobModel]) -> Jobs:
        constants = _cold(under.constants)
        found = []
        for number, (model, job) in enumerate(zip(models, jobs, strict=True)):
            results = [
                _simulate(model, job, seed + 1000 * number, constants, under.mechanisms)
                for seed in range(1, seeds + 1)
            ]
            found.append(_merged(results))
            constants = under.constants
        return Jobs(jobs=tuple(job for job, _ in found), rates=tuple(rates for _, rates in found))

    return prediction_of(run, lambda: [under.change(model_for(run, job)) for job in jobs], simulate)


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
    return replace(constants, finish_ns=constants.finish_ns + constants.cold_finish_ns)


def _simulate(
    model: JobModel, job: MeasuredJob, seed: int, constants: Constants, mechanisms: Mechanisms
) -> tuple[Job, Rates]:
    with fence():
        world = DataflowWorld(Environment(seed), model, constants, mechanisms)
        window = Window(world, job.window_start_ms * _MS)
        world.run()
    found: Job = summary_of_world(world, job.warmup)
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
