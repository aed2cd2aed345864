"""What a recording says of one job, as frozen data.

Counters are as the engine counts them, from the start of the task. Times are in ms, sizes in bytes.
What an answer did not have is None or absent, never a made-up zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Note:
    """Something that the recording lacks, or that could not be read: where, and what of it."""

    place: str
    says: str

    def __str__(self) -> str:
        return f"{self.place}: {self.says}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Metrics of one subtask as one answer has them.

    at_ms: when it was asked for. Metrics can be older by the interval of the metric fetcher.
    values: name of the metric, without the subtask, -> value, a finite number.
    """

    at_ms: int
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtaskAnswer:
    """One subtask: where it runs, and its samples, oldest first."""

    index: int
    task_manager: str | None
    host: str | None
    attempt: int
    samples: tuple[Sample, ...]

    def growth(self, metric: str) -> float | None:
        """Return by how much a counter has grown over all samples. None where that is unknown."""
        seen = [sample.values[metric] for sample in self.samples if metric in sample.values]
        if len(seen) < 2 or seen[-1] < seen[0]:  # a restart begins to count again
            return None
        return seen[-1] - seen[0]

    def last(self, metric: str) -> float | None:
        """Return the latest value of a metric."""
        for sample in reversed(self.samples):
            if metric in sample.values:
                return sample.values[metric]
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class VertexInput:
    """An edge of the job graph at its receiver. ship: the ship strategy, as the plan names it."""

    upstream: str
    ship: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VertexAnswer:
    """One vertex. operators: of its chain in order. metrics: names, without the subtask."""

    id: str
    name: str
    parallelism: int
    max_parallelism: int | None
    status: str | None
    operators: tuple[str, ...]
    inputs: tuple[VertexInput, ...]
    metrics: frozenset[str]
    subtasks: tuple[SubtaskAnswer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskManagerAnswer:
    """One task manager. cores: processors of its host."""

    id: str
    host: str | None
    cores: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtaskPart:
    """One subtask's part in a checkpoint that it has acknowledged. Times in ms, sizes in bytes.

    full_bytes: of its whole state, also where an incremental checkpoint writes a part. 0: unknown.
    """

    subtask: int
    end_to_end_ms: float
    start_delay_ms: float
    alignment_ms: float
    sync_ms: float
    async_ms: float
    checkpointed_bytes: int
    processed_bytes: int
    persisted_bytes: int
    unaligned: bool
    full_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointAnswer:
    """One checkpoint. parts: id of a vertex -> the parts that details were asked for.

    full_bytes: of all state, which a span says. None: unknown.
    """

    id: int
    status: str
    is_savepoint: bool
    trigger_ms: int | None
    duration_ms: float | None
    checkpointed_bytes: int | None
    processed_bytes: int | None
    persisted_bytes: int | None
    parts: Mapping[str, tuple[SubtaskPart, ...]]
    full_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InitializationAnswer:
    """One start of a job, of a span. Times in ms, sizes in bytes. figures: maxima and sums."""

    start_ms: int
    duration_ms: float
    checkpoint_id: int | None
    full_bytes: int | None
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A running job as its REST server showed it.

    options: what the cluster's configuration has set, by the engine's names. Everything else has
    its default.  checkpointing: the job's own answer about its checkpoints, which counts more.
    files: path of a GET without the job and vertex ids -> names of the files that answer it.
    """

    version: str | None
    job_id: str
    job_name: str
    job_state: str | None
    job_type: str | None
    options: Mapping[str, str]
    checkpointing: Mapping[str, object]
    vertices: tuple[VertexAnswer, ...]
    task_managers: tuple[TaskManagerAnswer, ...]
    checkpoints: tuple[CheckpointAnswer, ...]
    duration_ms: int
    files: Mapping[str, tuple[str, ...]]
    notes: tuple[Note, ...]
    initializations: tuple[InitializationAnswer, ...] = ()

    @property
    def completed(self) -> tuple[CheckpointAnswer, ...]:
        """Return the completed checkpoints that are no savepoints, oldest first."""
        return tuple(
            one
            for one in self.checkpoints
            if one.status == "COMPLETED" and not one.is_savepoint and one.duration_ms is not None
        )
