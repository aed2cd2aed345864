"""The figures of a job's checkpoints and tasks, measured or simulated, with the same definitions.

Medians over completed checkpoints after the warm-up. Of a vertex the largest time of its subtasks
and the sum of their bytes, and the shares of their time in the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, median_low

from ckptsim.scenarios import Scenario
from ckptsim.sim.infer.tasks.load import times_of
from ckptsim.sim.recording import CheckpointAnswer, Recording, SubtaskPart, VertexAnswer
from ckptsim.sim.rows import CheckpointRow, RunResult, TaskCheckpointRow
from ckptsim.sim.validate.measured import Stats, stats
from ckptsim.sim.world import run_world

# Completed checkpoints that are left out at the start: queues fill, state grows, code gets warm.
WARM_UP = 2
_MS = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class VertexMeasures:
    """Medians of one vertex: times in ms, sizes in bytes. Shares of time from 0 to 1.

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
class LastPart:
    """How the subtask that acknowledged last spent its time, in ms. The three add up to it.

    alignment_ms: from the first barrier to the last, also where barriers overtake.  async_ms: from
    there until acknowledged. The written data while barriers are still awaited is not counted
    again.
    """

    vertex: str
    start_delay_ms: float
    alignment_ms: float
    async_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """Figures of one job. Every statistic has its `n`, the only key where that is 0.

    last: of the checkpoint of median duration (the lower of two), None where no part is known.
    """

    duration_ms: Stats
    persisted_bytes: Stats
    processed_bytes: Stats
    vertices: Mapping[str, VertexMeasures]
    last: LastPart | None

    @property
    def written_bytes(self) -> float:
        """Return what one checkpoint writes: the state of all vertices, and data in flight."""
        state = sum(one.state_bytes or 0.0 for one in self.vertices.values())
        return state + self.persisted_bytes.get("median", 0.0)


def measured(recording: Recording, names: Mapping[str, str]) -> Measures:
    """Return what a recording shows. names: id of a vertex -> its name in the result."""
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
        last=_last_measured(completed, names),
    )


def _last_measured(
    completed: Sequence[CheckpointAnswer], names: Mapping[str, str]
) -> LastPart | None:
    whole = [
        one for one in completed if one.duration_ms is not None and names.keys() <= one.parts.keys()
    ]
    if not whole:
        return None
    middle = median_low((one.duration_ms or 0.0, one.id) for one in whole)[1]
    [parts] = [one.parts for one in whole if one.id == middle]
    lasts = [(vertex, part) for vertex in names for part in parts[vertex]]
    if not lasts:
        return None
    vertex, part = max(lasts, key=lambda last: last[1].end_to_end_ms)
    return _last(names[vertex], part.end_to_end_ms, part.start_delay_ms, part.alignment_ms)


def _last(vertex: str, end_to_end_ms: float, start_ms: float, alignment_ms: float) -> LastPart:
    """Return how the time until the acknowledgement was spent. It holds the other two."""
    start = min(start_ms, end_to_end_ms)
    alignment = min(alignment_ms, end_to_end_ms - start)
    return LastPart(
        vertex=vertex,
        start_delay_ms=start,
        alignment_ms=alignment,
        async_ms=end_to_end_ms - start - alignment,
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
    """Return one run of a scenario for each seed, without judgements."""
    return [run_world(scenario, seed=seed, judged=False) for seed in seeds]


def predicted(results: Sequence[RunResult]) -> Measures:
    """Return what simulated runs show, pooled as repeats of a measurement are."""
    rows = [row for result in results for _, row in behind_warm_up(result)]
    names = dict.fromkeys(task.task for result in results for task in result.tasks)
    return Measures(
        duration_ms=stats([(row.duration_ns or 0) / _MS for row in rows]),
        persisted_bytes=stats([float(row.persisted_bytes or 0) for row in rows]),
        processed_bytes=stats([float(row.processed_bytes or 0) for row in rows]),
        vertices={name: _predicted_vertex(name, results) for name in names},
        last=_last_predicted(results),
    )


def _last_predicted(results: Sequence[RunResult]) -> LastPart | None:
    done = [
        (row.duration_ns or 0, index, place)
        for index, result in enumerate(results)
        for place, row in behind_warm_up(result)
    ]
    if not done:
        return None
    _, index, place = median_low(done)
    checkpoint = results[index].checkpoints[place]
    parts = [
        row
        for row in results[index].task_checkpoints
        if row.checkpoint_id == checkpoint.checkpoint_id and row.acknowledged_ns is not None
    ]
    if not parts:
        return None
    last = max(parts, key=lambda row: row.acknowledged_ns or 0)
    whole = (last.acknowledged_ns or 0) - checkpoint.triggered_ns
    return _last(last.task, whole / _MS, last.start_delay_ns / _MS, last.alignment_ns / _MS)


def behind_warm_up(result: RunResult) -> list[tuple[int, CheckpointRow]]:
    """Return the completed checkpoints after the warm-up, each with its place in the table."""
    done = [one for one in enumerate(result.checkpoints) if one[1].status == "completed"]
    return done[WARM_UP:]


def _predicted_vertex(name: str, results: Sequence[RunResult]) -> VertexMeasures:
    groups: list[list[TaskCheckpointRow]] = []
    for result in results:
        own: dict[int, list[TaskCheckpointRow]] = {
            done.checkpoint_id: [] for _, done in behind_warm_up(result)
        }
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
