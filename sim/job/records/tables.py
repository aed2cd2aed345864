"""The result tables of a job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ckptsim.scenarios.job import VertexKind
from ckptsim.sim.job.control.checkpoint import CheckpointRecord
from ckptsim.sim.job.records.world import RecordWorld
from ckptsim.sim.job.tables import recovery_rows
from ckptsim.sim.kernel import Environment
from ckptsim.sim.rows import CheckpointRow, RunResult, TaskCheckpointRow, TaskRow

if TYPE_CHECKING:
    from ckptsim.sim.run_spec import RunSpec


def fill(spec: RunSpec, env: Environment, world: RecordWorld) -> RunResult:
    """Return the tables of a run that has ended or stands still."""
    triggered = list(world.coordinator.records.values())
    sinks = [v.name for v in world.graph.vertices if v.kind is VertexKind.SINK]
    result = spec.result(
        env,
        outcome="completed" if world.ended else "failed" if world.control.gave_up else "stalled",
        records_produced=sum(task.position for task in world.attempt.tasks),
        records_committed=sum(world.external.committed_count(name) for name in sinks),
        checkpoints_completed=sum(one.status == "completed" for one in triggered),
        checkpoints_failed=sum(one.status in ("aborted", "expired") for one in triggered),
        attempts=world.attempts,
        **_finishing(world, triggered),
    )
    key = spec.run_key
    result.checkpoints, result.task_checkpoints, result.tasks = job_rows(key, world)
    result.recoveries = recovery_rows(key, world.control)
    result.violations = [
        spec.violation(name, at_ns, says) for name, at_ns, says in world.violations
    ]
    return result


def _finishing(world: RecordWorld, triggered: Sequence[CheckpointRecord]) -> dict[str, int]:
    """Return what the end of a job took after the end of its input; nothing if it has not ended."""
    if not world.ended:
        return {}
    since_ns, until_ns = world.attempt.input_ended_ns, max(world.closed_ns.values())
    within = [one for one in triggered if since_ns <= one.triggered_ns <= until_ns]
    return {"finishing_ns": until_ns - since_ns, "finishing_checkpoints": len(within)}


def job_rows(
    key: str, world: RecordWorld
) -> tuple[list[CheckpointRow], list[TaskCheckpointRow], list[TaskRow]]:
    """Return the rows of a job's checkpoints, of its subtasks' parts in them, and of its tasks."""
    triggered = list(world.coordinator.records.values())
    parts = [row for one in triggered for row in _task_checkpoints(key, one, world)]
    tasks = [_task(key, index, world) for index in range(len(world.graph.tasks))]
    return [_checkpoint(key, one) for one in triggered], parts, tasks


def _checkpoint(key: str, one: CheckpointRecord) -> CheckpointRow:
    ended_ns = one.ended_ns
    parts = [parts for parts, _ in one.parts.values()]
    in_flight = sum(part.persisted_bytes for part in parts)
    return CheckpointRow(
        run_key=key,
        scope="job",
        checkpoint_id=one.checkpoint,
        attempt=one.attempt,
        kind="savepoint" if one.request.savepoint else one.kind,
        status=one.status,
        reason=one.reason,
        triggered_ns=one.triggered_ns,
        completed_ns=ended_ns if one.status == "completed" else None,
        duration_ns=None if ended_ns is None else ended_ns - one.triggered_ns,
        start_delay_ns=max((part.start_delay_ns for part in parts), default=None),
        alignment_ns=max((part.alignment_ns for part in parts), default=None),
        records=in_flight,
        unaligned=any(part.unaligned for part in parts),
    )


def _task_checkpoints(
    key: str, one: CheckpointRecord, world: RecordWorld
) -> list[TaskCheckpointRow]:
    rows = []
    for index, (parts, acknowledged_ns) in sorted(one.parts.items()):
        spec = world.graph.tasks[index]
        rows.append(
            TaskCheckpointRow(
                run_key=key,
                task=spec.vertex.name,
                subtask=spec.subtask,
                checkpoint_id=one.checkpoint,
                acknowledged_ns=acknowledged_ns,
                start_delay_ns=parts.start_delay_ns,
                alignment_ns=parts.alignment_ns,
                sync_ns=world.job.snapshot_sync_ns(spec.vertex),
                async_ns=acknowledged_ns - parts.started_ns,
                processed_bytes=parts.processed_bytes,
                persisted_bytes=parts.persisted_bytes,
                state_bytes=parts.state_bytes,
                unaligned=parts.unaligned,
                status="acknowledged",
            )
        )
    return rows


def _task(key: str, index: int, world: RecordWorld) -> TaskRow:
    spec = world.graph.tasks[index]
    task = world.attempt.tasks[index]
    records = task.position if task.is_source else len(task.state)
    ended_ns = max(world.env.now, 1)
    return TaskRow(
        run_key=key,
        task=spec.vertex.name,
        subtask=spec.subtask,
        records=records,
        records_per_s=records * 1e9 / ended_ns,
        busy_ratio=min(1.0, records * spec.vertex.service_ns / ended_ns),
        backpressured_ratio=0.0,
        idle_ratio=0.0,
        input_queue_buffers_mean=0.0,
        output_queue_buffers_mean=0.0,
        finished_ns=world.closed_ns.get(index),
    )
