"""Why a checkpoint did not complete: who declined it, or whom it waited for to its end."""

from __future__ import annotations

from ckptsim.models.barriers.reason import FailureReason as Reason
from ckptsim.scenarios.dialect import in_units
from ckptsim.scenarios.job.faults import DelayAcknowledgement, LoseAcknowledgement
from ckptsim.sim.rows import CheckpointRow
from ckptsim.sim.why.answer import JOB, Cause, Place, Step, duration, merged, place_text
from ckptsim.sim.why.observed import Lane, Observed, ended_ns
from ckptsim.sim.why.path import cause_of, checkpoint_path, queued, step_of, way

# In which phase a subtask is that declines for a reason. With any other, its snapshot has failed.
_DECLINED_IN: dict[str, str] = {
    Reason.CHECKPOINT_DECLINED_TASK_NOT_READY: "trigger_delay",
    Reason.CHECKPOINT_DECLINED_TASK_CLOSING: "trigger_delay",
    Reason.NOT_ALL_REQUIRED_TASKS_RUNNING: "trigger_delay",
    Reason.CHECKPOINT_DECLINED: "acknowledge",
    Reason.CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER: "alignment",
    Reason.CHECKPOINT_DECLINED_SUBSUMED: "alignment",
    Reason.CHECKPOINT_DECLINED_INPUT_END_OF_STREAM: "alignment",
}


def late_trigger(run: Observed, row: CheckpointRow) -> list[Step]:
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
    until_ns = max(due_ns, min(row.triggered_ns, ended_ns(last) or row.triggered_ns))
    blamed = JOB
    if until_ns > due_ns:
        done = last.status == "completed"
        cause = cause_of(checkpoint_path(run, last)) if done else failed_path(run, last)[0]
        blamed = JOB if cause is None else cause.place
    return merged([
        step_of(JOB, "trigger_delay", due_ns, until_ns, blamed),
        step_of(JOB, "trigger_delay", until_ns, row.triggered_ns),
    ])  # fmt: skip


def failed_path(run: Observed, row: CheckpointRow) -> tuple[Cause | None, list[Step]]:
    """Return the cause of a checkpoint that has not completed, and its path as far as it came."""
    until_ns = ended_ns(row) or run.result.run.ended_ns
    if _not_stored(row):
        return _certain(JOB, "commit"), []
    if (place := _decliner(run, row)) != JOB:
        return _declined(run, row, place)
    path = _stuck_path(run, row, until_ns)
    place = place_in(run, _failure(run, row))
    if row.reason != Reason.JOB_FAILOVER_REGION or place == JOB:
        return cause_of(path), path
    lane = run.lanes[row.checkpoint_id].get(place, Lane())
    waits = "alignment" if lane.arrivals else "start_delay"
    return _certain(place, waits if lane.snapshot_ns is None else "async"), path


def _certain(place: Place, phase: str) -> Cause:
    return Cause(vertex=place[0], subtask=place[1], phase=phase, share=1.0)


def reason_why(run: Observed, row: CheckpointRow, cause: Cause) -> str:
    """Return who ended a checkpoint and for which reason. Empty where its time was up."""
    who, lane = place_text(cause.place), run.lanes[row.checkpoint_id].get(cause.place, Lane())
    if _not_stored(row):
        return f"{who} could not store it (commit)."
    if cause.vertex is not None and lane.declined and _decliner(run, row) == cause.place:
        after = duration(lane.declined[0] - row.triggered_ns)
        return f"{who} declined it after {after}: {lane.declined[1]} ({cause.phase})."
    if row.reason == Reason.JOB_FAILOVER_REGION and (failure := _failure(run, row)):
        return f"The job failed meanwhile: {in_units(failure)} ({cause.phase})."
    return ""


def _not_stored(row: CheckpointRow) -> bool:
    """Return whether all subtasks have acknowledged, and the coordinator could not store it.

    The rule that a plan breaks is a reason of its own.
    """
    known = row.reason is None or row.reason in Reason.__members__
    return row.status == "aborted" and (
        not known or row.reason == Reason.FINALIZE_CHECKPOINT_FAILURE
    )


def _decliner(run: Observed, row: CheckpointRow) -> Place:
    """Return the subtask that has declined a checkpoint first. JOB where that is not its end."""
    lanes, until_ns = run.lanes[row.checkpoint_id], ended_ns(row)
    found = [(lane.declined[0], place) for place, lane in lanes.items() if lane.declined]
    in_time = [one for one in found if until_ns is not None and one[0] <= until_ns]
    if not in_time or row.status != "aborted":
        return JOB
    named = [(at, place) for at, place in in_time if (at, row.reason) == lanes[place].declined]
    return min(named or in_time)[1]


def _declined(run: Observed, row: CheckpointRow, place: Place) -> tuple[Cause, list[Step]]:
    lane = run.lanes[row.checkpoint_id][place]
    at_ns, reason = lane.declined or (row.triggered_ns, "")
    phase = _DECLINED_IN.get(reason, "async")
    if lane.snapshot_ns is None or phase in ("trigger_delay", "alignment"):
        return _certain(place, phase), [step_of(place, phase, row.triggered_ns, at_ns)]
    steps = [step_of(place, phase, lane.snapshot_ns, at_ns)]
    steps += way(run, row, place, lane.snapshot_ns)
    return _certain(place, phase), merged(reversed(steps))


def _stuck_path(run: Observed, row: CheckpointRow, until_ns: int) -> list[Step]:
    """Return the path to the subtask that a checkpoint has waited for longest.

    Only subtasks count that have all they need: not those to which no barrier was sent.
    """
    lanes = run.lanes[row.checkpoint_id]
    missing = [at for at, lane in lanes.items() if lane.awaited and lane.acknowledged_ns is None]
    stuck = [(_stuck(run, row, place, until_ns), place) for place in missing]
    found = [(steps, place) for steps, place in stuck if steps]
    if not found:
        return []
    steps, place = min(found, key=lambda one: one[0][-1].from_ns)
    if steps[-1].from_ns > row.triggered_ns:
        steps = [*steps, *way(run, row, place, steps[-1].from_ns)]
    return merged(reversed(steps))


def _stuck(run: Observed, row: CheckpointRow, place: Place, until_ns: int) -> list[Step]:
    """Return what a subtask does when a checkpoint ends, the latest step first.

    Nothing where it waits for another subtask.
    """
    lanes = run.lanes[row.checkpoint_id]
    lane = lanes[place]
    awaited = [one for one in dict.fromkeys(run.senders(place)) if one in lanes]
    sent = [lanes[one].sent_by(until_ns) for one in awaited if lanes[one].awaited]
    known = [one for one in sent if one is not None]
    waits = len(known) < len(sent)
    if lane.snapshot_ns is not None and lane.snapshot_ns <= until_ns:
        copied_ns = lane.copied_ns or lane.snapshot_ns
        if lane.arrivals and len({channel for _, channel in lane.arrivals}) < len(sent):
            return [] if waits else [step_of(place, "alignment", lane.snapshot_ns, until_ns)]
        # Of a synchronous part that is not over by the end of the run there is no duration.
        sync_ns = run.job.snapshot_sync_ns(run.graph.vertex(str(place[0])))
        if max(copied_ns, lane.snapshot_ns + sync_ns) >= until_ns:
            return [step_of(place, "sync", lane.snapshot_ns, until_ns)]
        written_ns = lane.written_ns or copied_ns
        lost = run.struck(row.checkpoint_id, place, LoseAcknowledgement, DelayAcknowledgement)
        if lost or copied_ns < written_ns <= until_ns:
            return [step_of(place, "acknowledge", written_ns, until_ns)]
        mates = [lanes[one] for one in run.sharers(place) if one in lanes]
        if run.job.checkpointing.unaligned and any(one.snapshot_ns is None for one in mates):
            return []  # their file is written when all have their data
        return [step_of(place, "async", copied_ns, until_ns)]
    if not sent:
        return way(run, row, place, until_ns)
    return [] if waits else queued(run, [place], lane, sent_ns=max(known), until_ns=until_ns)


def _failure(run: Observed, row: CheckpointRow) -> str:
    """Return the cause of the failure that ended the attempt of a checkpoint. Empty without one."""
    found = (one.cause for one in run.result.recoveries if one.attempt == row.attempt)
    return next(found, "")


def place_in(run: Observed, cause: str) -> Place:
    """Return the subtask that the cause of a failure names, as in `map/1 crashes`."""
    words = cause.replace(":", " ").split()
    return next((one for one in run.places if f"{one[0]}/{one[1]}" in words), JOB)
