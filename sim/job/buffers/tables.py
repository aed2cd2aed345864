"""The result tables of a job on buffers, with the metrics defined as Flink defines them.

End to end: trigger to the arrival of the last acknowledgement.  Start delay: trigger to the first
barrier that the subtask processed.  Alignment: first to last barrier.  Asynchronous: from the
snapshot to the acknowledgement, which for an unaligned one includes waiting for the last barrier.
Back-pressured: between two records without an output buffer, or inside one; idle: nothing to read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.scenarios.job import VertexKind
from ckptsim.sim.job.buffers.source import Source
from ckptsim.sim.job.buffers.states import State
from ckptsim.sim.job.tables import recovery_rows
from ckptsim.sim.rows import CheckpointRow, RunResult, TaskCheckpointRow, TaskRow

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.part import Part
    from ckptsim.sim.job.buffers.task import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.control.checkpoint import CheckpointRecord
    from ckptsim.sim.run_spec import RunSpec

_SECOND_NS = 1_000_000_000


def tables(spec: RunSpec, world: DataflowWorld) -> RunResult:
    """Return all tables of a run that has ended."""
    records = list(world.coordinator.records.values())
    completed = [record for record in records if record.status == "completed"]
    error = world.failure
    result = spec.result(
        world.env,
        outcome="completed" if error is None else "failed",
        error=error,
        records_produced=sum(t.processed for t in world.tasks if isinstance(t, Source)),
        records_committed=_committed(world),
        checkpoints_completed=len(completed),
        checkpoints_failed=sum(1 for r in records if r.status in ("aborted", "expired")),
    )
    key = spec.run_key
    result.checkpoints = [_checkpoint(key, record) for record in records]
    result.task_checkpoints = [
        _task_checkpoint(key, world.tasks[number], record)
        for record in records
        for number in record.tasks
    ]
    result.tasks = [_task(key, task, world) for task in world.tasks]
    result.recoveries = recovery_rows(key, world.control)
    result.violations = [
        spec.violation(name, at_ns, says, scope=None if number is None else "job", index=number)
        for name, at_ns, says, number in world.account.violations
    ]
    return result


def _committed(world: DataflowWorld) -> int:
    """Count the records in transactions that are committed, and what ends without a sink."""
    sinks = {v.name for v in world.model.vertices if v.kind is VertexKind.SINK}
    external = world.control.sinks.external
    last = (t.processed for t in world.tasks if not t.outlets and t.name not in sinks)
    return sum(external.committed_count(name) for name in sorted(sinks)) + sum(last)


def _checkpoint(run_key: str, record: CheckpointRecord) -> CheckpointRow:
    parts = [part for part, _ in record.parts.values()]
    return CheckpointRow(
        run_key=run_key,
        scope="job",
        checkpoint_id=record.checkpoint,
        attempt=1,
        kind="savepoint" if record.request.savepoint else "checkpoint",
        status=record.status,
        reason=record.reason,
        triggered_ns=record.triggered_ns,
        completed_ns=record.ended_ns if record.status == "completed" else None,
        duration_ns=record.duration_ns,
        start_delay_ns=max((p.start_delay_ns for p in parts), default=None),
        alignment_ns=max((p.alignment_ns for p in parts), default=None),
        sync_ns=max((p.sync_ns for p in parts), default=None),
        async_ns=max((async_ns(p) for p in parts), default=None),
        processed_bytes=sum(p.processed_bytes for p in parts),
        persisted_bytes=sum(p.persisted_bytes for p in parts),
        state_bytes=sum(p.state_bytes for p in parts),
        unaligned=any(p.persisted_bytes > 0 for p in parts),
    )


def async_ns(part: Part) -> int:
    """Return the asynchronous duration of a part that was acknowledged."""
    if part.acknowledged_ns is None or part.triggered_ns is None:
        return 0
    return part.acknowledged_ns - part.triggered_ns - part.sync_ns


def _task_checkpoint(run_key: str, task: Task, record: CheckpointRecord) -> TaskCheckpointRow:
    known = record.parts.get(task.number)
    part = known[0] if known is not None else task.snapshots.parts.get(record.checkpoint)
    return TaskCheckpointRow(
        run_key=run_key,
        task=task.name,
        subtask=task.subtask,
        checkpoint_id=record.checkpoint,
        acknowledged_ns=None if known is None else known[1],
        start_delay_ns=0 if part is None else part.start_delay_ns,
        alignment_ns=0 if part is None else part.alignment_ns,
        sync_ns=0 if part is None else part.sync_ns,
        async_ns=0 if part is None else async_ns(part),
        processed_bytes=0 if part is None else part.processed_bytes,
        persisted_bytes=0 if part is None else part.persisted_bytes,
        state_bytes=0 if part is None else part.state_bytes,
        unaligned=part is not None and part.persisted_bytes > 0,
        status="acknowledged" if known is not None else "pending" if part else "unseen",
    )


def _task(run_key: str, task: Task, world: DataflowWorld) -> TaskRow:
    task.enter(task.state)
    total = max(1, world.env.now if task.finished_ns is None else task.finished_ns)
    time_in = task.time_in
    busy = time_in[State.BUSY]
    pressed = time_in[State.BLOCKED] + time_in[State.STUCK]
    samples = max(1, world.sampling.count)
    return TaskRow(
        run_key=run_key,
        task=task.name,
        subtask=task.subtask,
        records=task.processed,
        records_per_s=task.processed * _SECOND_NS / total,
        busy_ratio=busy / total,
        backpressured_ratio=pressed / total,
        idle_ratio=max(0, total - busy - pressed) / total,
        input_queue_buffers_mean=world.sampling.inputs[task.number] / samples,
        output_queue_buffers_mean=world.sampling.outputs[task.number] / samples,
        finished_ns=task.finished_ns,
    )
