"""The critical path of a checkpoint, backwards from its last acknowledgement to the trigger.

Each step asks which event the one after it waited for.  An acknowledgement waits for the upload,
that for the synchronous part, that for the last barrier that the subtask took.  This barrier waited
in the queue of its channel since its sender had sent it, and the sender for a barrier of its own.

The time in a queue is put down to the subtask that works it off.  Where that one is back-pressured,
this is the busy subtask that the back-pressure comes from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ckptsim.scenarios.job.faults import DelayTrigger, LoseTrigger
from ckptsim.sim.rows import CheckpointRow, TaskCheckpointRow
from ckptsim.sim.why.answer import JOB, QUEUE, Cause, Place, Step, merged
from ckptsim.sim.why.observed import Lane, Observed, ended_ns


def checkpoint_path(run: Observed, row: CheckpointRow) -> list[Step]:
    """Return the critical path of a completed checkpoint, from the instant it was due."""
    parts = run.parts(row.checkpoint_id)
    done = [place for place, part in parts.items() if part.acknowledged_ns is not None]
    if not done:
        return []
    last = max(done, key=lambda place: parts[place].acknowledged_ns or 0)
    steps = _commit(run, row, parts[last].acknowledged_ns or 0)
    steps += last_part(run, row, last)
    steps += trigger_delay(run, row)
    return merged(reversed(steps))


def _commit(run: Observed, row: CheckpointRow, acknowledged_ns: int) -> list[Step]:
    """Return the steps after the last acknowledgement, the latest first."""
    completed_ns = row.completed_ns or acknowledged_ns
    steps = [_step(JOB, "commit", acknowledged_ns, completed_ns)]
    lanes = run.lanes(row.checkpoint_id)
    commits = [(lane.committed_ns, at) for at, lane in lanes.items() if lane.committed_ns]
    if commits:
        committed_ns, place = max(commits, key=lambda one: one[0])
        steps.insert(0, _step(place, "commit", completed_ns, committed_ns))
    return steps


def last_part(run: Observed, row: CheckpointRow, place: Place) -> list[Step]:
    """Return the path to the acknowledgement of a subtask, the latest step first."""
    part = run.parts(row.checkpoint_id)[place]
    lane = run.lanes(row.checkpoint_id).get(place, Lane())
    arrived_ns = row.triggered_ns + part.start_delay_ns + part.alignment_ns
    snapshot_ns = arrived_ns if lane.snapshot_ns is None else lane.snapshot_ns
    copied_ns = snapshot_ns + part.sync_ns
    sent_ns = copied_ns + part.async_ns
    acknowledged_ns = sent_ns if part.acknowledged_ns is None else part.acknowledged_ns
    steps = [_step(place, "acknowledge", sent_ns, acknowledged_ns)]
    barrier_ns = max([at for at, _ in lane.arrivals] or [arrived_ns])
    # An unaligned checkpoint takes its snapshot with the first barrier and ends with the last one:
    # what took longer, the upload since the snapshot or the wait for that barrier, is on the path.
    if barrier_ns > copied_ns and sent_ns - barrier_ns < barrier_ns - copied_ns:
        return [*steps, _step(place, "async", barrier_ns, sent_ns), *way(run, row, place, sent_ns)]
    steps.append(_step(place, "async", copied_ns, sent_ns))
    steps.append(_step(place, "sync", snapshot_ns, copied_ns))
    return steps + way(run, row, place, snapshot_ns)


def way(run: Observed, row: CheckpointRow, place: Place, until_ns: int) -> list[Step]:
    """Return the barrier's way from the trigger to what a subtask did at an instant."""
    lanes, steps = run.lanes(row.checkpoint_id), []
    parts, passed = run.parts(row.checkpoint_id), []
    while True:
        lane = lanes.get(place, Lane())
        came = _last_barrier(run, row, place, lane, parts.get(place), until_ns)
        if came is None:
            steps.append(_from_trigger(run, row, place, until_ns))
            return steps
        at_ns, sender, sent_ns = came
        if at_ns < until_ns:
            steps.append(_step(place, "alignment", at_ns, until_ns))
        passed.append(place)
        steps += queued(run, passed, lane, parts.get(place), row, sent_ns=sent_ns, until_ns=at_ns)
        place, until_ns = sender, sent_ns


def queued(
    run: Observed,
    passed: Sequence[Place],
    lane: Lane,
    part: TaskCheckpointRow | None,
    row: CheckpointRow,
    *,
    sent_ns: int,
    until_ns: int,
) -> list[Step]:
    """Return the steps of a barrier in the queue before a subtask, the latest first.

    passed: subtasks that the path has come through, the one in question last.
    Until the first barrier of the checkpoint comes there, it is start delay, from then alignment.
    """
    place = passed[-1]
    first_ns = lane.arrivals[0][0] if lane.arrivals else until_ns
    if not lane.arrivals and part is not None and part.status != "unseen":
        first_ns = row.triggered_ns + part.start_delay_ns
    first_ns = min(max(first_ns, sent_ns), until_ns)
    blamed = run.bottleneck(place, sent_ns, until_ns, passed)
    return [
        _step(place, "alignment", first_ns, until_ns, blamed),
        _step(place, "start_delay", sent_ns, first_ns, blamed),
    ]


def _last_barrier(
    run: Observed,
    row: CheckpointRow,
    place: Place,
    lane: Lane,
    part: TaskCheckpointRow | None,
    until_ns: int,
) -> tuple[int, Place, int] | None:
    """Return when the last barrier until an instant came to a subtask, its sender, and when sent.

    None of a source, and where no sender has sent any, as all have finished.
    """
    senders, lanes = run.senders(place), run.lanes(row.checkpoint_id)
    before = [one for one in lane.arrivals if one[0] <= until_ns]
    if before:
        at_ns, channel = max(before, key=lambda one: one[0])
        sender = senders[channel]
        sent_ns = lanes.get(sender, Lane()).sent_by(at_ns)
        return None if sent_ns is None else (at_ns, sender, sent_ns)
    # On records no channel is on record, but the instants of the first and the last barrier.
    if part is None or part.status == "unseen":
        at_ns = until_ns
    else:
        first_ns = row.triggered_ns + part.start_delay_ns
        last_ns = first_ns + part.alignment_ns
        at_ns = last_ns if last_ns <= until_ns else min(first_ns, until_ns)
    sent = [
        (sent_ns, sender)
        for sender in senders
        if (sent_ns := lanes.get(sender, Lane()).sent_by(at_ns)) is not None
    ]
    if not sent:
        return None
    sent_ns, sender = max(sent, key=lambda one: one[0])
    return at_ns, sender, sent_ns


def _from_trigger(run: Observed, row: CheckpointRow, place: Place, until_ns: int) -> Step:
    """Return the step from the trigger to a source, or to a task without running senders."""
    phase = "trigger_delay" if struck(run, row.checkpoint_id, place) else "start_delay"
    return _step(place, phase, row.triggered_ns, until_ns)


def struck(run: Observed, checkpoint: int, place: Place) -> bool:
    """Return whether a fault keeps the trigger of a checkpoint from a subtask, or delays it."""
    return any(
        isinstance(fault, (DelayTrigger, LoseTrigger))
        and (fault.vertex, fault.subtask, fault.checkpoint) == (*place, checkpoint)
        for fault in run.faults
    )


def trigger_delay(run: Observed, row: CheckpointRow) -> list[Step]:
    """Return for how long a periodic trigger came later than an interval after the one before.

    While another checkpoint is under way it is put down to what that one waited for.
    """
    before = [
        one
        for one in run.result.checkpoints
        if one.checkpoint_id < row.checkpoint_id and one.attempt == row.attempt
    ]
    if not before or row.kind == "savepoint":
        return []
    last = before[-1]
    due_ns = last.triggered_ns + run.job.checkpointing.interval_ns
    if row.triggered_ns <= due_ns:
        return []
    until_ns = min(row.triggered_ns, ended_ns(last) or row.triggered_ns)
    blamed = JOB
    if until_ns > due_ns and last.status == "completed":
        found = cause_of(last_only(run, last))
        blamed = JOB if found is None else found.place
    steps = [_step(JOB, "trigger_delay", due_ns, max(due_ns, until_ns), blamed)]
    return [_step(JOB, "trigger_delay", max(due_ns, until_ns), row.triggered_ns), *steps]


def last_only(run: Observed, row: CheckpointRow) -> list[Step]:
    """Return the critical path of a completed checkpoint from its trigger to its completion."""
    parts = run.parts(row.checkpoint_id)
    done = [place for place, part in parts.items() if part.acknowledged_ns is not None]
    if not done:
        return []
    last = max(done, key=lambda place: parts[place].acknowledged_ns or 0)
    return merged(reversed(last_part(run, row, last)))


def cause_of(path: Sequence[Step]) -> Cause | None:
    """Return who spent most of a path, in which phase.

    Time in queues counts together, start delay and alignment.  A late trigger is the cause only
    where it took longer than all that came after it.
    """
    late_ns = sum(step.duration_ns for step in _triggers(path))
    rest = [step for step in path if step not in _triggers(path)]
    after_ns = sum(step.duration_ns for step in rest)
    chosen = _triggers(path) if late_ns > after_ns else rest
    total_ns = late_ns + after_ns if late_ns > after_ns else after_ns
    if not chosen or not total_ns:
        return None
    sums: dict[tuple[Place, str], int] = {}
    phases: dict[tuple[Place, str], dict[str, int]] = {}
    for step in chosen:
        family = "queue" if step.phase in QUEUE else step.phase
        key = (step.blamed, family)
        sums[key] = sums.get(key, 0) + step.duration_ns
        own = phases.setdefault(key, {})
        # Waiting for another subtask's queue is start delay, whatever the victim was doing then.
        phase = "start_delay" if family == "queue" and step.place != step.blamed else step.phase
        own[phase] = own.get(phase, 0) + step.duration_ns
    key = max(sums, key=lambda one: sums[one])
    phase = max(phases[key], key=lambda one: phases[key][one])
    (vertex, subtask), _ = key
    return Cause(vertex=vertex, subtask=subtask, phase=phase, share=sums[key] / total_ns)


def _triggers(path: Iterable[Step]) -> list[Step]:
    return [step for step in path if step.phase == "trigger_delay" and step.place == JOB]


def _step(
    place: Place, phase: str, from_ns: int, until_ns: int, blamed: Place | None = None
) -> Step:
    return Step(
        place=place,
        phase=phase,
        from_ns=from_ns,
        until_ns=until_ns,
        blamed=place if blamed is None else blamed,
    )
