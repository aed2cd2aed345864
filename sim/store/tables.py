"""The result tables of a run of a checkpoint store."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from ckptsim.models.store import Area, StoreError, TopicPartition
from ckptsim.models.store.state import NOTHING
from ckptsim.sim import rows
from ckptsim.sim.store.closed_form import on_paper

if TYPE_CHECKING:
    from ckptsim.scenarios.store import StoreFault
    from ckptsim.sim.store.truth import PartitionTruth, SyncAccount
    from ckptsim.sim.store.world import StoreWorld

_SECOND_NS = 1_000_000_000


def tables(world: StoreWorld) -> rows.RunResult:
    """Return all tables of a run that has ended."""
    syncs = [each for truth in world.truths.values() for each in truth.syncs]
    completed = sum(1 for each in syncs if each.status == "completed")
    outcome = "completed" if world.succeeded else "stalled" if world.stuck else "failed"
    result = world.spec.result(
        world.env,
        outcome=outcome,
        error=_reason(world),
        records_produced=sum(_produced(world, key) for key in world.truths),
        records_committed=sum(_committed(world, key) for key in world.truths),
        checkpoints_completed=completed,
        checkpoints_failed=len(syncs) - completed,
        attempts=world.process.starts,
    )
    key = world.spec.run_key
    result.checkpoints = [
        _checkpoint(key, truth, each) for truth in world.truths.values() for each in truth.syncs
    ]
    result.checkpoints.sort(key=lambda row: row.checkpoint_id)
    result.tasks = [_task(world, truth) for truth in world.truths.values()]
    result.recoveries = _recoveries(world)
    result.figures = _figures(world)
    result.violations = world.properties.violation_log.counted(world.properties.violations)
    if world.spec.wants_account:
        result.account = partial(_account, world)
    if world.spec.keep_trace or world.spec.wants_account:
        result.holdings = partial(_held, world)
    return result


def _figures(world: StoreWorld) -> list[rows.FigureRow]:
    """Return the figures that have a closed form in plain settings, and what that says."""
    truths = world.truths.values()
    busy, syncing = sum(t.busy_ns for t in truths), sum(t.syncing_ns for t in truths)
    apply_ns = world.model.process.apply_ns
    useful = sum(_produced(world, key) for key in world.truths) * apply_ns
    working = sum(t.applied for t in truths) * apply_ns  # the rest of busy: each record's commit
    found: dict[str, float] = {}
    if count := len(world.process.recoveries):
        found["undone_per_crash"] = sum(each.undone for each in world.process.recoveries) / count
        found["lost_per_crash"] = sum(each.lost for each in world.process.recoveries) / count
    if busy and useful and not world.model.input.stream_records:  # a stream leaves idle time
        found["sync_share"] = 1 - working / (busy + syncing)
        found["lost_share"] = (busy + syncing) / useful - 1
    found |= world.endpoint.figures()
    faults = cast("tuple[StoreFault, ...]", world.spec.scenario.faults)
    expected = on_paper(world.model, faults)
    return [
        rows.FigureRow(
            run_key=world.spec.run_key, figure=name, value=value, expected=expected.get(name)
        )
        for name, value in found.items()
    ]


def _account(world: StoreWorld) -> tuple[list[rows.RecordRow], list[rows.CommitRow]]:
    """Return the entries of the logs, and the syncs that are complete."""
    key = world.spec.run_key
    records = [
        rows.RecordRow(
            run_key=key,
            source=f"{place.topic}/{place.partition}",
            position=position,
            due=1,
            stored=int(any(low <= position <= high for low, high in truth.covered[Area.DATA])),
            acknowledged=position <= truth.promised,
        )
        for place, truth in world.truths.items()
        for position in range(truth.applied_to + 1)
    ]
    commits = [
        rows.CommitRow(
            run_key=key,
            scope=f"{place.topic}/{place.partition}",
            index=each.position,
            attempt=each.incarnation,
            status="committed",
            records=each.records,
            committed_ns=each.ended_ns,
        )
        for place, truth in world.truths.items()
        for each in truth.syncs
        if each.status == "completed"
    ]
    return records, commits


def _held(world: StoreWorld) -> list[rows.KeptPartition]:
    return [_kept(world, key) for key in world.partitions()]


def _kept(world: StoreWorld, key: TopicPartition) -> rows.KeptPartition:
    try:
        blob = world.client.store.get(key)
    except StoreError:
        blob = None
    return rows.KeptPartition(
        topic=key.topic,
        partition=key.partition,
        rows=world.client.medium.rows(Area.DATA, key),
        checkpoint=None if blob is None else bytes(blob),
    )


def _reason(world: StoreWorld) -> str | None:
    if world.properties.violations:
        return world.properties.violations[0].says
    refused = "; ".join(f"{key}: {why}" for key, why in world.process.refused.items())
    return world.stuck or refused or None


def _produced(world: StoreWorld, key: TopicPartition) -> int:
    return world.book[key].index_of(world.book[key].last + 1)


def _committed(world: StoreWorld, key: TopicPartition) -> int:
    position = world.truths[key].checkpoint
    return world.book[key].index_of((NOTHING if position is None else position) + 1)


def _checkpoint(run_key: str, truth: PartitionTruth, account: SyncAccount) -> rows.CheckpointRow:
    """Return the row of a sync: its first step is `sync`, what follows it `async`."""
    steps = account.steps_ns
    ended = account.ended_ns if account.status == "completed" else None
    return rows.CheckpointRow(
        run_key=run_key,
        scope=str(truth.key),
        checkpoint_id=account.number,
        attempt=account.incarnation,
        kind=account.cause.name.lower(),
        status=account.status,
        reason=account.reason,
        triggered_ns=account.begun_ns,
        completed_ns=ended,
        duration_ns=None if ended is None else ended - account.begun_ns,
        sync_ns=steps[0] if steps else None,
        async_ns=sum(steps[1:]) if steps else None,
        processed_bytes=account.size_bytes,
        persisted_bytes=account.size_bytes + account.blob_bytes,
        state_bytes=account.blob_bytes,
        records=account.records,
    )


def _task(world: StoreWorld, truth: PartitionTruth) -> rows.TaskRow:
    """Return the row of a partition: busy is applying, backpressured is waiting for a sync."""
    total = max(1, world.env.now)
    busy, syncing = truth.busy_ns / total, truth.syncing_ns / total
    return rows.TaskRow(
        run_key=world.spec.run_key,
        task=truth.key.topic,
        subtask=truth.key.partition,
        records=truth.applied,
        records_per_s=truth.applied * _SECOND_NS / total,
        busy_ratio=busy,
        backpressured_ratio=syncing,
        idle_ratio=max(0.0, 1.0 - busy - syncing),
        input_queue_buffers_mean=0.0,
        output_queue_buffers_mean=0.0,
        finished_ns=world.env.now if world.succeeded else None,
    )


def _recoveries(world: StoreWorld) -> list[rows.RecoveryRow]:
    return [
        rows.RecoveryRow(
            run_key=world.spec.run_key,
            attempt=each.start,
            cause=each.reason,
            failed_ns=each.failed_ns,
            resumed_ns=each.resumed_ns,
            restored_from=each.restored_from,
            records_reprocessed=each.reprocessed,
        )
        for each in world.process.recoveries
    ]
