"""The result tables of a sync: from the ground truth to rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from ckptsim.sim.rows import (
    CheckpointRow,
    CommitRow,
    FigureRow,
    PendingRow,
    RecordRow,
    RecoveryRow,
    ReleaseRow,
    RunResult,
)
from ckptsim.sim.sync.intervals import IntervalSet, size

if TYPE_CHECKING:
    from ckptsim.sim.sync.oracle.truth import AttemptTruth, SourceState
    from ckptsim.sim.sync.world import SyncWorld


def pending_rows(run_key: str, attempts: Iterable[AttemptTruth]) -> list[PendingRow]:
    """Return a row for every change of the pending states, by time, then by scope and socket."""
    rows: list[PendingRow] = []
    for attempt in attempts:
        groups: defaultdict[tuple[str, int], list[SourceState]] = defaultdict(list)
        for own in attempt.states.values():
            for state in own:
                if state.accepted_ns is not None:
                    groups[state.scope, state.socket or 0].append(state)
        for (scope, socket), states in groups.items():
            rows += _of_group(run_key, attempt, scope, socket, states)
    return sorted(rows, key=lambda row: (row.at_ns, row.scope, row.socket))


def pending_figures(rows: Iterable[PendingRow]) -> dict[str, int]:
    """Return the peaks over all scopes and sockets: states, bytes, and age of the oldest."""
    held: dict[tuple[str, int], tuple[int, int]] = {}  # states and bytes
    states = size = most_states = most_bytes = age = 0
    for row in rows:
        before = held.get((row.scope, row.socket), (0, 0))
        held[row.scope, row.socket] = (row.states, row.size_bytes)
        states += row.states - before[0]
        size += row.size_bytes - before[1]
        most_states, most_bytes = max(most_states, states), max(most_bytes, size)
        age = max(age, row.oldest_age_ns)
    return {"pending_states": most_states, "pending_bytes": most_bytes, "pending_age_ns": age}


def _of_group(
    run_key: str, attempt: AttemptTruth, scope: str, socket: int, states: list[SourceState]
) -> Iterator[PendingRow]:
    """Return the changes of one scope on one socket. The end of an attempt forgets its states."""
    changes: list[tuple[int, int, SourceState]] = []
    for state in states:
        ended = state.acknowledged_ns if state.acknowledged_ns is not None else attempt.ended_ns
        begin = state.accepted_ns or 0
        end = max(begin, ended or begin)
        changes.append((begin, 1, state))
        changes.append((end, 0 if end > begin else 2, state))
    # At one instant states end before others begin, and one that ends at once after it began.
    changes.sort(key=lambda change: (change[0], change[1], change[2].index))
    held: dict[int, SourceState] = {}  # in the order in which they were read
    size = 0
    for at_ns, turn, state in changes:
        oldest = next(iter(held.values()), state)
        if turn == 1:
            held[state.index] = state
            size += state.size_bytes
        else:
            del held[state.index]
            size -= state.size_bytes
        yield PendingRow(
            run_key=run_key,
            attempt=attempt.number,
            scope=scope,
            socket=socket,
            at_ns=at_ns,
            states=len(held),
            size_bytes=size,
            oldest_age_ns=at_ns - (oldest.accepted_ns or 0),
        )


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
