"""Why a checkpoint did not complete: who declined it, or whom it waited for to its end."""

from __future__ import annotations

from ckptsim.models.barriers.reason import FailureReason as Reason
from ckptsim.scenarios.job.faults import DelayAcknowledgement, LoseAcknowledgement
from ckptsim.sim.rows import CheckpointRow
from ckptsim.sim.why.answer import JOB, Cause, Place, Step, duration, merged, place_text
from ckptsim.sim.why.observed import Lane, Observed, ended_ns
from ckptsim.sim.why.path import cause_of, queued, step_of, way

# In which phase a subtask is that declines for a reason; with any other, its snapshot has failed.
_DECLINED_IN: dict[str, str] = {
    Reason.CHECKPOINT_DECLINED_TASK_NOT_READY: "trigger_delay",
    Reason.CHECKPOINT_DECLINED_TASK_CLOSING: "trigger_delay",
    Reason.NOT_ALL_REQUIRED_TASKS_RUNNING: "trigger_delay",
    Reason.CHECKPOINT_DECLINED: "acknowledge",
    Reason.CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER: "alignment",
    Reason.CHECKPOINT_DECLINED_SUBSUMED: "alignment",
    Reason.CHECKPOINT_DECLINED_INPUT_END_OF_STREAM: "alignment",
}


def failed_path(run: Observed, row: CheckpointRow) -> tuple[Cause | None, list[Step]]:
    """Return the cause of a checkpoint that has not completed, and its path as far as it came."""
    until_ns = ended_ns(row) or run.result.run.ended_ns
    if row.reason == Reason.FINALIZE_CHECKPOINT_FAILURE:
        return _certain(JOB, "commit"), []
    if (place := _decliner(run, row)) != JOB:
        return _declined(run, row, place)
    path = _stuck_path(run, row, until_ns)
    place = _failed_place(run, until_ns)
    if row.reason != Reason.JOB_FAILOVER_REGION or place == JOB:
        return cause_of(path), path
    lane = run.lanes[row.checkpoint_id].get(place, Lane())
    waits = "alignment" if lane.arrivals else "start_delay"
    return _certain(place, waits if lane.snapshot_ns is None else "async"), path


def _certain(place: Place, phase: str) -> Cause:
    return Cause(vertex=place[0], subtask=place[1], phase=phase, share=1.0)


def reason_why(run: Observed, row: CheckpointRow, cause: Cause) -> str:
    """Return who ended a checkpoint and for which reason; empty where its time was up."""
    who, lane = place_text(cause.place), run.lanes[row.checkpoint_id].get(cause.place, Lane())
    if row.reason == Reason.FINALIZE_CHECKPOINT_FAILURE:
        return f"{who} could not store it (commit)."
    if cause.vertex is not None and lane.declined and _decliner(run, row) == cause.place:
        after = duration(lane.declined[0] - row.triggered_ns)
        return f"{who} declined it after {after}: {lane.declined[1]} ({cause.phase})."
    if row.reason == Reason.JOB_FAILOVER_REGION and cause.vertex is not None:
        return f"{who} failed, and the job with it ({cause.phase})."
    return ""


def _decliner(run: Observed, row: CheckpointRow) -> Place:
    """Return the subtask that has declined a checkpoint first; JOB where that is not its end."""
    lanes, until_ns = run.lanes[row.checkpoint_id], ended_ns(row)
    found = [(lane.declined[0], place) for place, lane in lanes.items() if lane.declined]
    in_time = [one for one in found if until_ns is not None and one[0] <= until_ns]
    return min(in_time)[1] if in_time and row.status == "aborted" else JOB


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
        steps += way(run, row, place, steps[-1].from_ns)
    else:
        steps[-1:] = way(run, row, place, steps[-1].until_ns)
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
    if lane.snapshot_ns is not None and lane.copied_ns is not None:
        if lane.arrivals and len({channel for _, channel in lane.arrivals}) < len(sent):
            return [] if waits else [step_of(place, "alignment", lane.snapshot_ns, until_ns)]
        written_ns = lane.written_ns or lane.copied_ns
        lost = run.struck(row.checkpoint_id, place, LoseAcknowledgement, DelayAcknowledgement)
        if lost or written_ns > lane.copied_ns:
            return [step_of(place, "acknowledge", written_ns, until_ns)]
        sync_ns = run.job.snapshot_sync_ns(run.graph.vertex(str(place[0])))
        copies = lane.copied_ns == lane.snapshot_ns and lane.snapshot_ns + sync_ns >= until_ns
        return [step_of(place, "sync" if copies else "async", lane.copied_ns, until_ns)]
    if not sent:
        return [step_of(place, "start_delay", row.triggered_ns, until_ns)]
    return [] if waits else queued(run, [place], lane, sent_ns=max(known), until_ns=until_ns)


def _failed_place(run: Observed, at_ns: int) -> Place:
    """Return the subtask of the failure that came last until an instant; JOB where none did."""
    before = [one for one in run.result.recoveries if one.failed_ns <= at_ns]
    return place_in(run, before[-1].cause) if before else JOB


def place_in(run: Observed, cause: str) -> Place:
    """Return the subtask that the cause of a failure names, as in `map/1 crashes`."""
    words = cause.replace(":", " ").split()
    return next((one for one in run.places if f"{one[0]}/{one[1]}" in words), JOB)
