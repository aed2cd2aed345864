"""Simulate measured runs, each with several seeds, and merge what the seeds give.

Times are in ms.
"""

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
from ckptsim.sim.job.buffers.kinds import Kind
from ckptsim.sim.job.buffers.state import SubtaskSnapshot
from ckptsim.sim.job.buffers.tasks import Source
from ckptsim.sim.job.buffers.world import DataflowWorld
from ckptsim.sim.job.control.checkpoint import CheckpointRecord
from ckptsim.sim.kernel import Environment, KernelError, fence
from ckptsim.sim.validate.config import model_of
from ckptsim.sim.validate.measured import BYTES, MeasuredJob, MeasuredRun, middle, summary_of, usual

_MS = 1_000_000

# As the engine's REST server names them. Every other end of a checkpoint is FAILED there.
# Source: Apache Flink 1.20.3, CheckpointStatsStatus.
_REST_STATUS = {"completed": "COMPLETED", "pending": "IN_PROGRESS"}


def durations_ms(world: DataflowWorld) -> list[float]:
    """Return how long each completed checkpoint took, in the order of their triggers."""
    records = world.coordinator.records.values()
    return [(r.duration_ns or 0) / _MS for r in records if r.status == "completed"]


def summary_of_world(world: DataflowWorld, warmup: int) -> dict[str, Any]:
    """Return the summary of a job's completed checkpoints after the first `warmup` ones."""
    records = [r for r in world.coordinator.records.values() if r.status == "completed"][warmup:]
    vertices = {}
    for vertex in world.graph.vertices:
        tasks = world.graph.tasks_of(vertex.name)
        vertices[vertex.name] = [
            [_part(one, *one.parts[number]) for number in tasks if number in one.parts]
            for one in records
        ]
    checkpoints = [
        {
            "trigger_ms": record.triggered_ns / _MS,
            "end_to_end_duration_ms": (record.duration_ns or 0) / _MS,
            **{key: sum(p[key] for own in parts for p in own) for key in BYTES},
        }
        for record, *parts in zip(records, *vertices.values(), strict=True)
    ]
    return summary_of(checkpoints, vertices)


def _part(record: CheckpointRecord, part: SubtaskSnapshot, arrival_ns: int) -> dict[str, float]:
    """Return the part of a subtask in a checkpoint as a measured one is reported."""
    return {
        "end_to_end_ms": (arrival_ns - record.triggered_ns) / _MS,
        "start_delay_ms": part.start_delay_ns / _MS,
        "alignment_ms": part.alignment_ns / _MS,
        "sync_ms": part.sync_ns / _MS,
        "async_ms": part.async_ns / _MS,
        "persisted_bytes": part.persisted_bytes,
        "processed_bytes": part.processed_bytes,
        "checkpointed_bytes": part.state_bytes + part.persisted_bytes,
        "unaligned": part.persisted_bytes > 0,
    }


def finish_of(world: DataflowWorld, running_ms: int) -> dict[str, Any] | None:
    """Return when a bounded job's parts ended, in ms since its submission. None if it has not."""
    ends: dict[str, list[int]] = {}
    last: dict[str, list[int]] = {}
    finished: dict[str, list[int]] = {}
    for vertex in world.graph.vertices:
        name, tasks = vertex.name, world.tasks_of(vertex.name)
        if any(task.finished_ns is None for task in tasks):
            return None
        finished[name] = [running_ms + (task.finished_ns or 0) // _MS for task in tasks]
        times = [running_ms + (task.ending.data_ended_ns or 0) // _MS for task in tasks]
        (ends if isinstance(tasks[0], Source) else last)[name] = times
    end = max(max(times) for times in ends.values())
    last_record = max(max(times) for times in last.values())
    job = max(max(times) for times in finished.values())
    behind = {
        name: [done - out for done, out in zip(finished[name], ends[name], strict=True)]
        for name in ends
    }
    triggers = [(running_ms + r.triggered_ns // _MS, r) for r in world.coordinator.records.values()]
    return {
        "source_end_of_data_ms": ends,
        "last_record_processed_ms": last,
        "vertex_finished_ms": finished,
        "job_finished_ms": job,
        "job_finished_minus_source_end_ms": job - end,
        "job_finished_minus_last_record_ms": job - last_record,
        "last_record_minus_source_end_ms": last_record - end,
        "source_finished_minus_end_ms": behind,
        "checkpoint_interval_ms": world.model.checkpointing.interval_ns // _MS,
        "last_trigger_before_source_end_ms": max(
            (t for t, _ in triggers if t <= end), default=None
        ),
        "checkpoints_triggered_after_source_end": [
            {
                "id": record.checkpoint,
                "trigger_ms": time,
                "duration_ms": None if record.duration_ns is None else record.duration_ns // _MS,
                "status": _REST_STATUS.get(record.status, "FAILED"),
            }
            for time, record in triggers
            if time > end
        ],
    }


class Window:
    """Counts the records that tasks process from some moment to the end of the run."""

    def __init__(self, world: DataflowWorld, start_ns: int) -> None:
        self._world = world
        self._start_ns = 0
        self._before = [0] * len(world.tasks)
        if start_ns > 0:
            entity = world.env.entity("window")
            world.env.call_at(start_ns, Kind.MEASURE, entity, self._open, start_ns)

    def _open(self, start_ns: int) -> None:
        self._start_ns = start_ns
        for task in self._world.tasks:
            task.sync()
            self._before[task.number] = task.processed

    def rates(self) -> dict[str, list[float]]:
        """Return records per second of every subtask. Of the whole run if it ended before."""
        seconds = max(1, self._world.env.now - self._start_ns) / 1e9
        return {
            vertex.name: [
                round((t.processed - self._before[t.number]) / seconds, 2)
                for t in self._world.tasks_of(vertex.name)
            ]
            for vertex in self._world.graph.vertices
        }


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
