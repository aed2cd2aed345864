"""The result tables of a job on either data plane, with the metrics defined as Flink defines them.

End to end: from the trigger to the arrival of the last acknowledgement, of a checkpoint that was
aborted to its end.  Start delay: trigger to the first barrier that the subtask processed.
Alignment: first to last barrier.  Asynchronous: from the snapshot to the acknowledgement, which for
an unaligned one includes waiting for the last barrier.  Back-pressured: without room in an output.
idle: nothing to read.

Sizes are bytes on buffers and records on records, where every record counts as one byte.

Source: Apache Flink 1.20.3, CompletedCheckpointStats and FailedCheckpointStats
(getEndToEndDuration), SubtaskStateStats, TaskIOMetricGroup.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ckptsim.scenarios.job import VertexKind
from ckptsim.sim.rows import (
    CheckpointRow,
    CommitRow,
    FigureRow,
    RecoveryRow,
    RunResult,
    TaskCheckpointRow,
    TaskRow,
)

if TYPE_CHECKING:
    from ckptsim.sim.job.control.checkpoint import CheckpointRecord
    from ckptsim.sim.job.graph import Graph, TaskSpec
    from ckptsim.sim.job.world import JobWorld
    from ckptsim.sim.kernel import Environment
    from ckptsim.sim.run_spec import RunSpec

_SECOND_NS = 1_000_000_000
# Of transactions, by their `Status`.
_STATUSES = ("open", "pre-committed", "committed", "aborted")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFigures:
    """What a subtask has done by the end of a run. Times in ns.

    backpressured_ns: None where that is not measured.  finished_ns: when it had FINISHED, None
    where it has not.
    """

    records: int
    busy_ns: int = 0
    backpressured_ns: int | None = None
    input_buffers_mean: float = 0.0
    output_buffers_mean: float = 0.0
    finished_ns: int | None = None


class Tabled(Protocol):
    """What the tables ask of the world of a data plane.

    input_ended_ns: when the last source had ended its data. closed_ns: when tasks have closed, by
    number.
    """

    @property
    def env(self) -> Environment: ...  # noqa: D102
    @property
    def tasks(self) -> Sequence[Any]: ...  # noqa: D102
    @property
    def graph(self) -> Graph: ...  # noqa: D102
    @property
    def control(self) -> JobWorld: ...  # noqa: D102
    @property
    def input_ended_ns(self) -> int: ...  # noqa: D102
    @property
    def closed_ns(self) -> Mapping[int, int]: ...  # noqa: D102

    def figures(self, number: int) -> TaskFigures:
        """Return what a subtask has done."""


def job_tables(spec: RunSpec, world: Tabled, *, outcome: str, error: str | None) -> RunResult:
    """Return the tables of a run that is over, all but its violations."""
    control, graph = world.control, world.graph
    triggered = list(control.coordinator.records.values())
    figures = [world.figures(number) for number in range(len(graph.tasks))]
    sources = [task.index for task in graph.tasks if task.vertex.is_source]
    result = spec.result(
        world.env,
        outcome=outcome,
        error=error,
        records_produced=sum(figures[number].records for number in sources),
        records_committed=_committed(world, figures),
        checkpoints_completed=sum(one.status == "completed" for one in triggered),
        checkpoints_failed=sum(one.status in ("aborted", "expired") for one in triggered),
        attempts=control.attempts,
        **_finishing(world, triggered),
    )
    key = spec.run_key
    if spec.wants_account:
        result.account = lambda: ([], commit_rows(key, control))
    result.checkpoints, result.task_checkpoints, result.tasks = job_rows(key, world, figures)
    result.recoveries = recovery_rows(key, control)
    if losses := control.detection.found:
        taken_ns, mean_ns = (statistics.fmean(one) for one in zip(*losses, strict=True))
        row = FigureRow(run_key=key, figure="undetected_ns", value=taken_ns, expected=mean_ns)
        result.figures.append(row)
    return result


def commit_rows(key: str, control: JobWorld) -> list[CommitRow]:
    """Return the transactions of sinks, in the order of their beginning. key: of the run."""
    return [
        CommitRow(
            run_key=key,
            scope=one.name.rpartition(" #")[0],
            index=one.checkpoint_id,
            attempt=one.attempt,
            status=_STATUSES[one.status],
            records=one.count,
        )
        for one in control.sinks.external.transactions.values()
    ]


def _committed(world: Tabled, figures: Sequence[TaskFigures]) -> int:
    """Count the records in transactions that are committed, and what ends without a sink."""
    graph, total = world.graph, 0
    read = {edge.upstream for edge in graph.edges}
    for vertex in graph.vertices:
        if vertex.kind is VertexKind.SINK:
            total += world.control.sinks.external.committed_count(vertex.name)
        elif vertex.name not in read:
            total += sum(figures[number].records for number in graph.tasks_of(vertex.name))
    return total


def _finishing(world: Tabled, triggered: Sequence[CheckpointRecord]) -> dict[str, int]:
    """Return what the end of a job took after the end of its input. Nothing if it has not ended."""
    if not world.control.ended:
        return {}
    since_ns, until_ns = world.input_ended_ns, max(world.closed_ns.values())
    within = [one for one in triggered if since_ns <= one.triggered_ns <= until_ns]
    return {"finishing_ns": until_ns - since_ns, "finishing_checkpoints": len(within)}


def job_rows(
    key: str, world: Tabled, figures: Sequence[TaskFigures] | None = None
) -> tuple[list[CheckpointRow], list[TaskCheckpointRow], list[TaskRow]]:
    """Return the rows of a job's checkpoints, of its subtasks' parts in them, and of its tasks.

    A subtask that a checkpoint waits for has a row also where it has not acknowledged.
    """
    tasks = world.graph.tasks
    if figures is None:
        figures = [world.figures(task.index) for task in tasks]
    triggered = list(world.control.coordinator.records.values())
    parts = [
        _task_checkpoint(key, number, one, world)
        for one in triggered
        for number in sorted(one.tasks)
    ]
    ended_ns = max(1, world.env.now)
    rows = [_task(key, task, figures[task.index], ended_ns) for task in tasks]
    return [_checkpoint(key, one) for one in triggered], parts, rows


def _checkpoint(key: str, one: CheckpointRecord) -> CheckpointRow:
    parts = [part for part, _ in one.parts.values()]
    return CheckpointRow(
        run_key=key,
        scope="job",
        checkpoint_id=one.checkpoint,
        attempt=one.attempt,
        kind="savepoint" if one.request.savepoint else one.kind,
        status=one.status,
        reason=one.reason,
        triggered_ns=one.triggered_ns,
        completed_ns=one.ended_ns if one.status == "completed" else None,
        duration_ns=_duration_ns(one),
        start_delay_ns=max((part.start_delay_ns for part in parts), default=None),
        alignment_ns=max((part.alignment_ns for part in parts), default=None),
        sync_ns=max((part.sync_ns for part in parts), default=None),
        async_ns=max((part.async_ns for part in parts), default=None),
        processed_bytes=sum(part.processed_bytes for part in parts),
        persisted_bytes=sum(part.persisted_bytes for part in parts),
        state_bytes=sum(part.state_bytes for part in parts),
        unaligned=any(part.unaligned for part in parts),
    )


def _duration_ns(one: CheckpointRecord) -> int | None:
    if one.duration_ns is not None or one.ended_ns is None:
        return one.duration_ns
    return one.ended_ns - one.triggered_ns


def _unacknowledged(world: Tabled, number: int, checkpoint: int) -> Any:
    """Return a task's part in a checkpoint that has not come to the coordinator, if any."""
    if number >= len(world.tasks):  # of an attempt with more tasks
        return None
    return world.tasks[number].snapshots.parts.get(checkpoint)


def _task_checkpoint(
    key: str, number: int, one: CheckpointRecord, world: Tabled
) -> TaskCheckpointRow:
    known = one.parts.get(number)
    # By place and not by number: the parallelism may have been another one then.
    vertex, subtask = one.places[number]
    part = known[0] if known is not None else _unacknowledged(world, number, one.checkpoint)
    status = "acknowledged" if known is not None else "unseen" if part is None else "pending"
    return TaskCheckpointRow(
        run_key=key,
        task=vertex,
        subtask=subtask,
        checkpoint_id=one.checkpoint,
        acknowledged_ns=None if known is None else known[1],
        start_delay_ns=0 if part is None else part.start_delay_ns,
        alignment_ns=0 if part is None else part.alignment_ns,
        sync_ns=0 if part is None else part.sync_ns,
        async_ns=0 if part is None else part.async_ns,
        processed_bytes=0 if part is None else part.processed_bytes,
        persisted_bytes=0 if part is None else part.persisted_bytes,
        state_bytes=0 if part is None else part.state_bytes,
        unaligned=part is not None and part.unaligned,
        status=status,
    )


def _task(key: str, task: TaskSpec, found: TaskFigures, ended_ns: int) -> TaskRow:
    total_ns = ended_ns if found.finished_ns is None else max(1, found.finished_ns)
    busy = min(1.0, found.busy_ns / total_ns)
    pressed = (found.backpressured_ns or 0) / total_ns
    measured = found.backpressured_ns is not None
    return TaskRow(
        run_key=key,
        task=task.vertex.name,
        subtask=task.subtask,
        records=found.records,
        records_per_s=found.records * _SECOND_NS / total_ns,
        busy_ratio=busy,
        backpressured_ratio=pressed,
        idle_ratio=max(0.0, 1.0 - busy - pressed) if measured else 0.0,
        input_queue_buffers_mean=found.input_buffers_mean,
        output_queue_buffers_mean=found.output_buffers_mean,
        finished_ns=found.finished_ns,
    )


def recovery_rows(key: str, job: JobWorld) -> list[RecoveryRow]:
    """Return a row per failure that the job came back from, or was to come back from."""
    return [
        RecoveryRow(
            run_key=key,
            attempt=one.attempt,
            cause=one.cause,
            failed_ns=one.failed_ns,
            resumed_ns=one.resumed_ns,
            restored_from=_restored_from(one.restored) if one.resumed_ns is not None else None,
            records_reprocessed=one.reprocessed,
            detected_ns=one.known_ns,
            canceled_ns=one.canceled_ns,
            state_read_ns=one.opened_ns,
            handed_over_ns=one.handed_over_ns,
            first_record_ns=one.first_record_ns,
            caught_up_ns=one.caught_up_ns,
            bytes_read=one.bytes_read,
            peak_latency_ns=one.peak_latency_ns,
            backlog_gone_ns=one.backlog_gone_ns,
        )
        for one in job.failovers
    ]


def _restored_from(checkpoint: int | None) -> str:
    return "its beginning" if checkpoint is None else f"checkpoint {checkpoint}"
