"""Why a checkpoint did not complete: who declined it, or whom it waited for to its end."""

from __future__ import annotations

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.scenarios.job.faults import DelayAcknowledgement, LoseAcknowledgement
from ckptsim.sim.rows import CheckpointRow
from ckptsim.sim.why.answer import JOB, Cause, Place, Step, duration, merged, place_text
from ckptsim.sim.why.observed import Lane, Observed, ended_ns
from ckptsim.sim.why.path import cause_of, queued, struck, way

# In which phase a subtask is that declines for a reason; any other: where it is on its way.
_DECLINED_IN = {
    FailureReason.CHECKPOINT_DECLINED_TASK_NOT_READY: "trigger_delay",
    FailureReason.NOT_ALL_REQUIRED_TASKS_RUNNING: "trigger_delay",
    FailureReason.CHECKPOINT_ASYNC_EXCEPTION: "async",
    FailureReason.CHANNEL_STATE_SHARED_STREAM_EXCEPTION: "async",
    FailureReason.CHECKPOINT_DECLINED: "acknowledge",
    FailureReason.CHECKPOINT_DECLINED_TASK_CLOSING: "trigger_delay",
    FailureReason.CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER: "alignment",
    FailureReason.CHECKPOINT_DECLINED_SUBSUMED: "alignment",
    FailureReason.CHECKPOINT_DECLINED_INPUT_END_OF_STREAM: "alignment",
    FailureReason.FINALIZE_CHECKPOINT_FAILURE: "commit",
}


def failed_path(run: Observed, row: CheckpointRow) -> tuple[Cause | None, list[Step]]:
    """Return the cause of a checkpoint that has not completed, and its path as far as it came."""
    until_ns = ended_ns(row) or run.result.run.ended_ns
    decliner = _decliner(run, row, until_ns)
    if decliner is not None:
        return decliner
    if row.reason == FailureReason.FINALIZE_CHECKPOINT_FAILURE:
        return Cause(vertex=None, subtask=None, phase="commit", share=1.0), []
    path = _stuck_path(run, row, until_ns)
    cause = cause_of(path)
    failed = failed_place(run, until_ns)
    if row.reason == FailureReason.JOB_FAILOVER_REGION and failed != JOB:
        vertex, subtask = failed
        lane = run.lanes(row.checkpoint_id).get(failed, Lane())
        waiting = "alignment" if lane.arrivals else "start_delay"
        phase = waiting if lane.snapshot_ns is None else "async"
        return Cause(vertex=vertex, subtask=subtask, phase=phase, share=1.0), path
    return cause, path


def reason_why(run: Observed, row: CheckpointRow, cause: Cause) -> str:
    """Return who ended a checkpoint and for which reason; empty where its time was up."""
    who = place_text(cause.place)
    lane = run.lanes(row.checkpoint_id).get(cause.place, Lane())
    if row.reason == FailureReason.JOB_FAILOVER_REGION and cause.vertex is not None:
        return f"{who} failed, and the job with it ({cause.phase})."
    if row.reason == FailureReason.FINALIZE_CHECKPOINT_FAILURE:
        return f"{who} could not store it (commit)."
    if lane.declined is None or row.status == "expired":
        return ""
    at_ns, reason = lane.declined
    after = duration(at_ns - row.triggered_ns)
    return f"{who} declined it after {after}: {reason} ({cause.phase})."


def _decliner(
    run: Observed, row: CheckpointRow, until_ns: int
) -> tuple[Cause | None, list[Step]] | None:
    """Return cause and path of a checkpoint that a subtask has declined."""
    lanes = run.lanes(row.checkpoint_id)
    found = [
        (lane.declined[0], place)
        for place, lane in lanes.items()
        if lane.declined is not None and lane.declined[0] <= until_ns
    ]
    if not found or row.status == "expired":
        return None
    at_ns, place = min(found, key=lambda one: one[0])
    lane = lanes[place]
    reason = "" if lane.declined is None else lane.declined[1]
    phase = next((phase for known, phase in _DECLINED_IN.items() if known == reason), None)
    began_ns = row.triggered_ns
    steps: list[Step] = []
    if lane.snapshot_ns is not None and phase not in ("trigger_delay", "alignment"):
        began_ns = lane.snapshot_ns
        steps = way(run, row, place, began_ns)
    phase = phase or ("async" if began_ns > row.triggered_ns else "start_delay")
    step = Step(place=place, phase=phase, from_ns=began_ns, until_ns=at_ns, blamed=place)
    vertex, subtask = place
    cause = Cause(vertex=vertex, subtask=subtask, phase=phase, share=1.0)
    return cause, merged(reversed([step, *steps]))


def _stuck_path(run: Observed, row: CheckpointRow, until_ns: int) -> list[Step]:
    """Return the path to the subtask that a checkpoint has waited for longest.

    Only subtasks count that have all they need: not those to which no barrier was sent.
    """
    parts = run.parts(row.checkpoint_id)
    missing = [place for place, part in parts.items() if part.acknowledged_ns is None]
    stuck = [
        (found, place)
        for place in missing
        if (found := _stuck(run, row, place, until_ns)) is not None
    ]
    if not stuck:
        return []
    steps, place = min(stuck, key=lambda one: one[0][-1].from_ns)
    return merged(reversed([*steps, *way(run, row, place, steps[-1].from_ns)]))


def _stuck(run: Observed, row: CheckpointRow, place: Place, until_ns: int) -> list[Step] | None:
    """Return what a subtask does when a checkpoint ends, the latest step first.

    None where it waits for another subtask.
    """
    lanes, parts = run.lanes(row.checkpoint_id), run.parts(row.checkpoint_id)
    lane, part = lanes.get(place, Lane()), parts[place]

    def step(phase: str, from_ns: int) -> list[Step]:
        until = max(from_ns, until_ns)
        return [Step(place=place, phase=phase, from_ns=from_ns, until_ns=until, blamed=place)]

    senders = list(dict.fromkeys(one for one in run.senders(place) if one in parts))
    sent = [lanes.get(one, Lane()).sent_by(until_ns) for one in senders]
    known = [one for one in sent if one is not None]
    if lane.snapshot_ns is not None:
        copied_ns = lane.snapshot_ns + part.sync_ns
        if len({channel for _, channel in lane.arrivals}) < len(senders) and lane.arrivals:
            return step("alignment", lane.snapshot_ns) if len(known) == len(senders) else None
        if _loses_acknowledgement(run, row.checkpoint_id, place) or part.async_ns:
            return step("acknowledge", copied_ns + part.async_ns)
        sync_ns = run.job.snapshot_sync_ns(run.graph.vertex(str(place[0])))
        if not part.sync_ns and lane.snapshot_ns + sync_ns >= until_ns:
            return step("sync", lane.snapshot_ns)
        return step("async", copied_ns)
    if not senders:
        late = struck(run, row.checkpoint_id, place)
        return step("trigger_delay" if late else "start_delay", row.triggered_ns)
    if len(known) < len(senders):
        return None
    return queued(run, [place], lane, part, row, sent_ns=max(known), until_ns=until_ns)


def _loses_acknowledgement(run: Observed, checkpoint: int, place: Place) -> bool:
    return any(
        isinstance(fault, (LoseAcknowledgement, DelayAcknowledgement))
        and (fault.vertex, fault.subtask, fault.checkpoint) == (*place, checkpoint)
        for fault in run.faults
    )


def failed_place(run: Observed, at_ns: int) -> Place:
    """Return the subtask of the failure that came last until an instant; JOB where none did."""
    before = [one for one in run.result.recoveries if one.failed_ns <= at_ns]
    return place_in(run, before[-1].cause) if before else JOB


def place_in(run: Observed, cause: str) -> Place:
    """Return the subtask that the cause of a failure names, as in `map/1 crashes`."""
    words = cause.replace(":", " ").split()
    for place in run.places:
        if f"{place[0]}/{place[1]}" in words:
            return place
    return JOB
