"""The figures of a job's checkpoints and tasks, measured or simulated, with the same definitions.

Medians over completed checkpoints behind the warm-up; of a vertex the largest time of its subtasks
and the sum of their bytes, and the shares of their time in the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from ckptsim.scenarios import Scenario
from ckptsim.sim.infer.tasks.load import times_of
from ckptsim.sim.recording import CheckpointAnswer, Recording, SubtaskPart, VertexAnswer
from ckptsim.sim.rows import RunResult, TaskCheckpointRow
from ckptsim.sim.validate.statistics import Stats, stats
from ckptsim.sim.world import run_world

# Completed checkpoints that are left out at the start: queues fill, state grows, code gets warm.
WARM_UP = 2
_MS = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class VertexMeasures:
    """Medians of one vertex: times in ms, sizes in bytes; shares of time from 0 to 1.

    None where nothing says so.
    """

    start_delay_ms: float | None
    alignment_ms: float | None
    async_ms: float | None
    state_bytes: float | None
    processed_bytes: float | None
    persisted_bytes: float | None
    busy: float | None
    back_pressured: float | None
    idle: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """Figures of one job; every statistic has its `n`, the only key where that is 0."""

    duration_ms: Stats
    persisted_bytes: Stats
    processed_bytes: Stats
    vertices: Mapping[str, VertexMeasures]


def measured(recording: Recording, names: Mapping[str, str]) -> Measures:
    """Return what a recording shows; names: id of a vertex -> its name in the result."""
    completed = [one for one in recording.completed if one.id > WARM_UP]

    def of(size: Callable[[CheckpointAnswer], float | None]) -> Stats:
        return stats([value for one in completed if (value := size(one)) is not None])

    return Measures(
        duration_ms=of(lambda one: one.duration_ms),
        persisted_bytes=of(lambda one: one.persisted_bytes),
        processed_bytes=of(lambda one: one.processed_bytes),
        vertices={
            names[vertex.id]: _measured_vertex(vertex, completed) for vertex in recording.vertices
        },
    )


def _measured_vertex(vertex: VertexAnswer, completed: Sequence[CheckpointAnswer]) -> VertexMeasures:
    groups = [parts for one in completed if (parts := one.parts.get(vertex.id))]

    def middle(of: Callable[[Sequence[SubtaskPart]], float]) -> float | None:
        return median(map(of, groups)) if groups else None

    times = [found for subtask in vertex.subtasks if (found := times_of(subtask)) is not None]
    clock = sum(one.clock_ms for one in times)

    def share(total: float) -> float | None:
        return max(0.0, total / clock) if clock else None

    return VertexMeasures(
        start_delay_ms=middle(lambda parts: max(p.start_delay_ms for p in parts)),
        alignment_ms=middle(lambda parts: max(p.alignment_ms for p in parts)),
        async_ms=middle(lambda parts: max(p.async_ms for p in parts)),
        state_bytes=middle(
            lambda parts: sum(p.checkpointed_bytes - p.persisted_bytes for p in parts)
        ),
        processed_bytes=middle(lambda parts: sum(p.processed_bytes for p in parts)),
        persisted_bytes=middle(lambda parts: sum(p.persisted_bytes for p in parts)),
        busy=share(sum(one.busy_ms for one in times)),
        back_pressured=share(sum(one.pressed_ms for one in times)),
        idle=share(sum(one.idle_ms for one in times)),
    )


def simulated(scenario: Scenario, *, seeds: Sequence[int]) -> list[RunResult]:
    """Return one run of a scenario for each seed."""
    return [run_world(scenario, seed=seed) for seed in seeds]


def predicted(results: Sequence[RunResult]) -> Measures:
    """Return what simulated runs show, pooled as repeats of a measurement are."""
    rows = [
        row
        for result in results
        for row in [one for one in result.checkpoints if one.status == "completed"][WARM_UP:]
    ]
    names = dict.fromkeys(task.task for result in results for task in result.tasks)
    return Measures(
        duration_ms=stats([(row.duration_ns or 0) / _MS for row in rows]),
        persisted_bytes=stats([float(row.persisted_bytes or 0) for row in rows]),
        processed_bytes=stats([float(row.processed_bytes or 0) for row in rows]),
        vertices={name: _predicted_vertex(name, results) for name in names},
    )


def _predicted_vertex(name: str, results: Sequence[RunResult]) -> VertexMeasures:
    groups: list[list[TaskCheckpointRow]] = []
    for result in results:
        done = [one.checkpoint_id for one in result.checkpoints if one.status == "completed"]
        own: dict[int, list[TaskCheckpointRow]] = {number: [] for number in done[WARM_UP:]}
        for row in result.task_checkpoints:
            if row.task == name and row.checkpoint_id in own:
                own[row.checkpoint_id].append(row)
        groups += [rows for rows in own.values() if rows]

    def middle(of: Callable[[Sequence[TaskCheckpointRow]], float]) -> float | None:
        return median(map(of, groups)) if groups else None

    tasks = [task for result in results for task in result.tasks if task.task == name]
    count = max(1, len(tasks))
    return VertexMeasures(
        start_delay_ms=middle(lambda rows: max(r.start_delay_ns for r in rows) / _MS),
        alignment_ms=middle(lambda rows: max(r.alignment_ns for r in rows) / _MS),
        async_ms=middle(lambda rows: max(r.async_ns for r in rows) / _MS),
        state_bytes=middle(lambda rows: sum(r.state_bytes for r in rows)),
        processed_bytes=middle(lambda rows: sum(r.processed_bytes for r in rows)),
        persisted_bytes=middle(lambda rows: sum(r.persisted_bytes for r in rows)),
        busy=sum(task.busy_ratio for task in tasks) / count,
        back_pressured=sum(task.backpressured_ratio for task in tasks) / count,
        idle=sum(task.idle_ratio for task in tasks) / count,
    )
