"""Simulate measured runs, each with several seeds, and merge what the seeds give."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import Any

from scenarios.dataflow import DataflowModel
from scenarios.dataflow_measured import model_of
from sim.dataflow.world import DataflowWorld
from sim.kernel import Environment, fence
from sim.validate.ablation import NOTHING, Ablation
from sim.validate.measured import MeasuredJob, MeasuredRun
from sim.validate.summary import finish_of, middle, summary_of, throughput_of

_MS = 1_000_000
# No measured run lasted two minutes; a simulated one that does is compared as far as it got.
_LONGEST_NS = 120_000 * _MS

Job = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What was predicted for one run: `jobs` as in the input, or why there is nothing.

    Each job has the keys of a measured `summary`, those of `finish` where the job ended, and
    `records_per_s`.
    """

    run: MeasuredRun
    jobs: tuple[Job, ...] = ()
    reason: str | None = None


def predict_all(
    runs: Sequence[MeasuredRun],
    *,
    seeds: int,
    jobs: int,
    ablation: Ablation = NOTHING,
    progress: Callable[[], object] | None = None,
) -> list[Prediction]:
    """Predict every run, `jobs` at a time, in the order of the runs."""
    one = partial(predict, seeds=seeds, ablation=ablation)
    found = []
    for prediction in _mapped(one, runs, jobs):
        found.append(prediction)
        if progress is not None:
            progress()
    return found


def _mapped(
    one: Callable[[MeasuredRun], Prediction], runs: Sequence[MeasuredRun], jobs: int
) -> Iterator[Prediction]:
    if jobs == 1:
        yield from map(one, runs)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(one, runs)


def predict(run: MeasuredRun, *, seeds: int, ablation: Ablation = NOTHING) -> Prediction:
    """Predict one run: every job of it, or only the first when the job never ends."""
    jobs = run.jobs if run.bounded else run.jobs[:1]
    predicted = []
    for number, job in enumerate(jobs):
        try:
            model = ablation.change(_model(run, job))
        except (KeyError, TypeError, ValueError) as error:
            return Prediction(run=run, reason=f"{type(error).__name__}: {error}")
        problems = model.problems()
        if problems:
            return Prediction(run=run, reason="; ".join(str(problem) for problem in problems))
        results = [
            _simulate(model, job, seed + 1000 * number, ablation) for seed in range(1, seeds + 1)
        ]
        predicted.append(middle(results))
    return Prediction(run=run, jobs=tuple(predicted))


def _model(run: MeasuredRun, job: MeasuredJob) -> DataflowModel:
    """Return the job to simulate; time 0 of the simulation is when all tasks ran."""
    first = job.first_trigger_ms
    return model_of(
        run.config,
        first_trigger_ns=None if first is None else max(1, first - job.running_ms) * _MS,
        checkpoints=None if run.bounded else job.checkpoints,
        stops_ns={name: (end - job.running_ms) * _MS for name, end in job.source_ends_ms.items()},
        duration_ns=_LONGEST_NS,
    )


def _simulate(model: DataflowModel, job: MeasuredJob, seed: int, ablation: Ablation) -> Job:
    with fence():
        world = DataflowWorld(Environment(seed), model, ablation.constants, ablation.mechanisms)
        world.run()
    found: Job = summary_of(world, job.warmup)
    finish = finish_of(world, job.running_ms)
    if finish is not None:
        found |= finish
    found["records_per_s"] = throughput_of(world)
    return found
