"""The result tables of a sync: from the ground truth to rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ckptsim.sim.rows import (
    CheckpointRow,
    CommitRow,
    FigureRow,
    RecordRow,
    RecoveryRow,
    ReleaseRow,
    RunResult,
)
from ckptsim.sim.sync.intervals import IntervalSet, size
from ckptsim.sim.sync.pending import pending_figures, pending_rows

if TYPE_CHECKING:
    from ckptsim.sim.sync.oracle.truth import AttemptTruth, SourceState
    from ckptsim.sim.sync.world import SyncWorld


def tables(world: SyncWorld) -> RunResult:
    """Return all tables of a run that has ended."""
    truth = world.truth
    states = [
        (attempt, state)
        for attempt in truth.attempts
        for own in attempt.states.values()
        for state in own
    ]
    released = [entry for entry in states if entry[1].acknowledged_ns is not None]
    outcome = "completed" if world.succeeded else "stalled" if world.stalled else "failed"
    result = world.spec.result(
        world.env,
        outcome=outcome,
        error=_reason(world),
        records_produced=truth.produced_count,
        records_committed=_committed(world),
        checkpoints_completed=len(released),
        checkpoints_failed=len(states) - len(released),
        attempts=len(truth.attempts),
    )
    key = world.spec.run_key
    result.checkpoints = [_checkpoint(key, attempt, state) for attempt, state in states]
    result.releases = [_release(key, state) for _, state in released]
    result.releases.sort(key=lambda row: (row.released_ns, row.scope, row.index))
    result.recoveries = _recoveries(world)
    result.pending = pending_rows(key, truth.attempts)
    wrong = world.properties.violation_log.counts.get("no_premature_acknowledgement", 0)
    peaks = pending_figures(result.pending) | {"wrong_acknowledgements": wrong}
    result.figures += [
        FigureRow(run_key=key, figure=figure, value=float(value), expected=None)
        for figure, value in peaks.items()
    ]
    if world.spec.wants_account:
        result.account = partial(_account, world, result)
    result.violations = world.properties.violation_log.counted(world.properties.violations)
    return result


def _account(world: SyncWorld, result: RunResult) -> tuple[list[RecordRow], list[CommitRow]]:
    key, truth = world.spec.run_key, world.truth
    records = [
        RecordRow(
            run_key=key,
            source=feed.name,
            position=position,
            due=1,
            stored=int(truth.stored[feed.index].covers(position, position + 1)),
            acknowledged=claims.covers(position, position + 1),
        )
        for feed, known in zip(truth.feeds, world.platform.resume, strict=True)
        for claims in (IntervalSet(known or ()),)
        for position in range(feed.total)
    ]
    commits = [
        CommitRow(
            run_key=key,
            scope=row.scope,
            index=row.index,
            attempt=row.attempt,
            status="committed",
            records=row.records,
            committed_ns=row.released_ns,
        )
        for row in result.releases
    ]
    return records, commits


def _reason(world: SyncWorld) -> str | None:
    if world.properties.violations:
        return world.properties.violations[0].says
    return world.stalled or world.gave_up


def _committed(world: SyncWorld) -> int:
    """Count the records that returned states claim: what no restart reads again."""
    return sum(size(claims) for claims in world.platform.resume if claims is not None)


def _checkpoint(run_key: str, attempt: AttemptTruth, state: SourceState) -> CheckpointRow:
    completed = state.acknowledged_ns
    waits: dict[str, Any] = _waits(state) if completed is not None else {}
    reason = attempt.reason if completed is None else None
    return CheckpointRow(
        run_key=run_key,
        scope=state.scope,
        checkpoint_id=state.index,
        attempt=state.attempt,
        kind=state.kind.name.lower(),
        status="completed" if completed is not None else "failed" if reason else "pending",
        reason=reason,
        triggered_ns=state.triggered_ns,
        completed_ns=completed,
        duration_ns=None if completed is None else completed - state.triggered_ns,
        state_bytes=state.size_bytes,
        records=state.source_count,
        **waits,
    )


def _waits(state: SourceState) -> dict[str, int]:
    """Say where the time of a released state went. The four parts add up to its duration.

    Until state and records were read. From then until the records were durable. From then until the
    state went, which waits for its predecessor and for the flush that takes both. The send.
    """
    begin, end = state.triggered_ns, state.acknowledged_ns or 0
    read = max((p.last_read_ns for p in state.partitions), default=0)
    arrived = max(begin, state.accepted_ns or 0, read)
    stored = max((p.last_durable_ns for p in state.partitions), default=0)
    durable = max(arrived, stored)
    sent = max(durable, state.first_send_ns or 0)
    return {
        "wait_records_ns": arrived - begin,
        "wait_upload_ns": durable - arrived,
        "wait_predecessor_ns": sent - durable,
        "wait_send_ns": end - sent,
    }


def _release(run_key: str, state: SourceState) -> ReleaseRow:
    return ReleaseRow(
        run_key=run_key,
        scope=state.scope,
        index=state.index,
        attempt=state.attempt,
        released_ns=state.acknowledged_ns or 0,
        records=state.settled[0],
        rejected=state.settled[1],
    )


def _recoveries(world: SyncWorld) -> list[RecoveryRow]:
    """Return one row per failed attempt, with what the next one did again."""
    attempts = world.truth.attempts
    rows: list[RecoveryRow] = []
    for place, attempt in enumerate(attempts):
        if attempt.reason is None or attempt.ended_ns is None:
            continue
        following = attempts[place + 1] if place + 1 < len(attempts) else None
        rows.append(
            RecoveryRow(
                run_key=world.spec.run_key,
                attempt=attempt.number,
                cause=attempt.reason,
                failed_ns=attempt.ended_ns,
                resumed_ns=None if following is None else following.started_ns,
                restored_from=_resume_text(world, following),
                records_reprocessed=0 if following is None else following.redelivered,
            )
        )
    return rows


def _resume_text(world: SyncWorld, attempt: AttemptTruth | None) -> str | None:
    """Return what an attempt did not have to read again, such as `users 50, orders 0`."""
    if attempt is None:
        return None
    feeds = zip(world.truth.feeds, attempt.base, strict=True)
    return ", ".join(f"{feed.name} {size(base)}" for feed, base in feeds)
