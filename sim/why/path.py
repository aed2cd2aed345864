"""The critical path of a checkpoint, backwards from its last acknowledgement to the trigger.

Each step asks which event the one after it waited for.  An acknowledgement waits for the upload,
that for the synchronous part, that for the last barrier that the subtask took.  This barrier waited
in the queue of its channel since its sender had sent it, and the sender for a barrier of its own.

The time in a queue is put down to the subtask that works it off.  Where that one is back-pressured,
this is the busy subtask that the back-pressure comes from.
"""

from __future__ import annotations

from collections.abc import Sequence

from ckptsim.scenarios.job.faults import DelayTrigger, LoseTrigger
from ckptsim.sim.rows import CheckpointRow
from ckptsim.sim.why.answer import JOB, QUEUE, Cause, Place, Step, merged
from ckptsim.sim.why.observed import Lane, Observed


def checkpoint_path(run: Observed, row: CheckpointRow) -> list[Step]:
    """Return the critical path of a completed checkpoint, from its trigger to its last commit."""
    lanes = run.lanes[row.checkpoint_id]
    done = [(lane.acknowledged_ns, place) for place, lane in lanes.items() if lane.acknowledged_ns]
    if not done:
        return []
    acknowledged_ns, last = max(done, key=lambda one: one[0])
    completed_ns = row.completed_ns or acknowledged_ns
    commits = [(lane.committed_ns, at) for at, lane in lanes.items() if lane.committed_ns]
    commits += [run.together[row.checkpoint_id]] if row.checkpoint_id in run.together else []
    if row.kind == "savepoint":  # a plain one commits nothing, so a later checkpoint did
        others = [one.completed_ns for one in run.result.checkpoints if one is not row]
        after_ns = min((at for at in others if at and at >= completed_ns), default=None)
        commits = [one for one in commits if after_ns is None or one[0] < after_ns]
    # A sink that is in the middle of a record commits after it, so that is no delay.
    late = [one for one in commits if one[0] - completed_ns > run.service_ns(one[1])]
    latest = [max(late, key=lambda one: one[0])] if late else []
    steps = [step_of(place, "commit", completed_ns, at_ns) for at_ns, place in latest]
    steps.append(step_of(JOB, "commit", acknowledged_ns, completed_ns))
    return merged(reversed([*steps, *_last_part(run, row, last)]))


def _last_part(run: Observed, row: CheckpointRow, place: Place) -> list[Step]:
    """Return the path to the acknowledgement of a subtask, the latest step first."""
    lane = run.lanes[row.checkpoint_id][place]
    instants = (lane.snapshot_ns, lane.copied_ns, lane.written_ns, lane.acknowledged_ns)
    snapshot_ns, copied_ns, written_ns, acknowledged_ns = (one or 0 for one in instants)
    last_ns = lane.last_ns or 0
    steps = [step_of(place, "acknowledge", written_ns, acknowledged_ns)]
    # An unaligned checkpoint takes its snapshot with the first barrier and ends with the last one:
    # what took longer, the upload since the snapshot or the wait for that barrier, is on the path.
    if last_ns > copied_ns and written_ns - last_ns < last_ns - copied_ns:
        return [
            *steps,
            step_of(place, "async", last_ns, written_ns),
            *way(run, row, place, last_ns),
        ]
    # A file of channel state that several share is written when the last of them has its data.
    part = run.part(row.checkpoint_id, place)
    ready_ns, mate = _last_of_file(run, row, place)
    if part is not None and part.unaligned and written_ns - ready_ns < ready_ns - copied_ns:
        steps.append(step_of(place, "async", ready_ns, written_ns))
        return steps + way(run, row, mate, ready_ns)
    steps.append(step_of(place, "async", copied_ns, written_ns))
    steps.append(step_of(place, "sync", snapshot_ns, copied_ns))
    return steps + way(run, row, place, snapshot_ns)


def _last_of_file(run: Observed, row: CheckpointRow, place: Place) -> tuple[int, Place]:
    """Return when the last subtask had its data that shares a subtask's file, and which one."""
    lanes = run.lanes[row.checkpoint_id]
    written_ns = lanes[place].written_ns or 0
    found = [
        (max(lanes[one].copied_ns or 0, lanes[one].last_ns or 0), one)
        for one in run.sharers(place)
        if one in lanes
    ]
    return max([one for one in found if one[0] <= written_ns], default=(0, place))


def way(run: Observed, row: CheckpointRow, place: Place, until_ns: int) -> list[Step]:
    """Return the barrier's way from the trigger to what a subtask did at an instant."""
    lanes = run.lanes[row.checkpoint_id]
    steps: list[Step] = []
    passed = [place]
    while (came := _last_barrier(run, lanes, passed[-1], until_ns)) is not None:
        at_ns, sender, sent_ns = came
        if at_ns < until_ns:  # its own work before it sends the barrier on
            steps.append(step_of(passed[-1], "alignment", at_ns, until_ns))
        steps += queued(run, passed, lanes[passed[-1]], sent_ns=sent_ns, until_ns=at_ns)
        passed.append(sender)
        until_ns = sent_ns
    late = run.struck(row.checkpoint_id, passed[-1], DelayTrigger, LoseTrigger)
    phase = "trigger_delay" if late else "start_delay"
    return [*steps, step_of(passed[-1], phase, row.triggered_ns, until_ns)]


def queued(
    run: Observed, passed: Sequence[Place], lane: Lane, *, sent_ns: int, until_ns: int
) -> list[Step]:
    """Return the steps of a barrier in the queue before the last subtask passed, the latest first.

    Until the first barrier of the checkpoint comes there, it is start delay, from then alignment.
    """
    first_ns = until_ns if lane.first_ns is None else lane.first_ns
    first_ns = min(max(first_ns, sent_ns), until_ns)
    blamed = run.bottleneck(passed, sent_ns, until_ns)
    return [
        step_of(passed[-1], "alignment", first_ns, until_ns, blamed),
        step_of(passed[-1], "start_delay", sent_ns, first_ns, blamed),
    ]


def _last_barrier(
    run: Observed, lanes: dict[Place, Lane], place: Place, until_ns: int
) -> tuple[int, Place, int] | None:
    """Return when the last barrier until an instant came to a subtask, its sender, and when sent.

    None of a source, and where no sender has sent any, as all have finished.
    """
    senders, lane = run.senders(place), lanes.get(place, Lane())
    # A graph that was rescaled meanwhile has other channels, so they are not known either.
    before = [one for one in lane.arrivals if one[0] <= until_ns and one[1] < len(senders)]
    if before:
        at_ns, channel = max(before, key=lambda one: one[0])
        senders = [senders[channel]]
    else:  # no channel is known, so it came from the sender that was last
        known = [one for one in (lane.last_ns, lane.first_ns) if one is not None]
        at_ns = next((one for one in known if one <= until_ns), until_ns)
    sent = [(lanes[one].sent_by(at_ns), one) for one in senders if one in lanes]
    found = [(sent_ns, one) for sent_ns, one in sent if sent_ns is not None]
    if not found:
        return None
    sent_ns, sender = max(found, key=lambda one: one[0])
    return at_ns, sender, sent_ns


def cause_of(path: Sequence[Step]) -> Cause | None:
    """Return who spent most of a path, in which phase.

    Time in queues counts together, start delay and alignment.  A late trigger is the cause only
    where it took longer than all that came after it.
    """
    late = [step for step in path if step.phase == "trigger_delay" and step.place == JOB]
    after = path[len(late) :]
    late_ns, after_ns = (sum(step.duration_ns for step in one) for one in (late, after))
    chosen, total_ns = (after, after_ns) if after_ns >= late_ns else (late, late_ns + after_ns)
    sums: dict[tuple[Place, str], dict[str, int]] = {}
    for step in chosen:
        family, phase = step.phase, step.phase
        if step.phase in QUEUE:
            # Waiting for another's queue is start delay, whatever the victim was doing then.
            family, phase = "queue", step.phase if step.place == step.blamed else QUEUE[0]
        phases = sums.setdefault((step.blamed, family), {})
        phases[phase] = phases.get(phase, 0) + step.duration_ns
    if not sums:
        return None
    key = max(sums, key=lambda one: sum(sums[one].values()))
    phases, ((vertex, subtask), _) = sums[key], key
    phase = max(phases, key=lambda one: phases[one])
    share = sum(phases.values()) / total_ns
    return Cause(vertex=vertex, subtask=subtask, phase=phase, share=share)


def step_of(
    place: Place, phase: str, from_ns: int, until_ns: int, blamed: Place | None = None
) -> Step:
    """Return a step. blamed: the subtask it was spent for, if another one."""
    by = place if blamed is None else blamed
    return Step(place=place, phase=phase, from_ns=from_ns, until_ns=until_ns, blamed=by)
