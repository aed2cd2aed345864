"""The sentences of an answer: what kept a checkpoint or a recovery, and why it did there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from ckptsim.scenarios.dialect import size_text
from ckptsim.scenarios.job import Backend, Plane
from ckptsim.scenarios.job.faults import AtStorage, DelayTrigger, LoseTrigger, SlowStorage
from ckptsim.sim.infer.advice.budget import loads_of
from ckptsim.sim.rows import CheckpointRow
from ckptsim.sim.why.answer import JOB, QUEUE, Cause, Place, Step, duration, length, place_text
from ckptsim.sim.why.observed import Observed

# Records of a subtask beyond this many times the ones of its siblings, and service likewise, are
# skew. From the next share of its time on a subtask is at its limit, from the last it works off a
# queue. Assumptions.
_SKEWED, _FULL, _WORKING = 1.5, 0.9, 0.25
_MUCH = 0.2  # a smaller share of a latency is no reason
_ROUNDS = 25  # so many latencies of the network are longer than a wait that it is the reason of
_SAYS = {
    "sync": "{who} copied its state for {took} and did nothing else",
    "async": "{who} wrote {what} for {took}",
    "acknowledge": "the acknowledgement of {who} was on its way for {took}",
    "commit": "{who} took {took} to commit it",
    "trigger_delay": "the trigger came to {who} {took} late",
    "detection": "the failure of {who} was not known for {took}",
    "restart_delay": "the restart strategy waited for {took}",
    "scheduling": "tasks were cancelled, scheduled and deployed for {took}",
    "restore": "{who} read its state for {took}",
    "catch_up": "{who} worked off the backlog for {took}",
}
_OPENED = {"write": "create", "read": "open"}


def because(run: Observed, cause: Cause, path: Sequence[Step], row: CheckpointRow | None) -> str:
    """Return the sentence with subtask, phase and share of a cause."""
    steps = [one for one in path if one.blamed == cause.place and _alike(one.phase, cause.phase)]
    took_ns = sum(step.duration_ns for step in steps)
    if cause.phase in QUEUE:
        text = _queue(run, cause.place, steps, took_ns)
    elif cause.phase == "trigger_delay" and all(step.place == JOB for step in steps):
        text = f"the trigger came {duration(took_ns)} late"
        if row is not None and cause.place != JOB:
            text += f", as checkpoint {row.checkpoint_id - 1} waited for {place_text(cause.place)}"
    else:
        what = "" if row is None else _written(run, cause.place, row)
        who = place_text(cause.place)
        text = _SAYS[cause.phase].format(who=who, took=duration(took_ns), what=what)
    share = "" if cause.share is None else f"{100 * cause.share:.0f} % of it: "
    return f"{share}{text} ({cause.phase})."


def _alike(phase: str, other: str) -> bool:
    return phase == other or (phase in QUEUE and other in QUEUE)


def _written(run: Observed, place: Place, row: CheckpointRow) -> str:
    part = run.part(row.checkpoint_id, place)
    if part is None or run.job.plane is not Plane.BUFFERS:
        return "its snapshot"
    flight = f" and {size_text(part.persisted_bytes)} of in-flight data"
    return f"{size_text(part.state_bytes)} of state{flight if part.persisted_bytes else ''}"


def _queue(run: Observed, place: Place, steps: Sequence[Step], took_ns: int) -> str:
    who, took = place_text(place), duration(took_ns)
    stalled_ns = sum(run.stalled_ns(place, step.from_ns, step.until_ns) for step in steps)
    if stalled_ns > took_ns / 2:
        return f"{who} stood still for {duration(stalled_ns)} while the barrier waited"
    if not run.senders(place):
        return f"{who} came to the trigger after {took}"
    latency_ns = run.job.network.latency_ns if run.job.plane is Plane.BUFFERS else 0
    if latency_ns * _ROUNDS > took_ns and run.busy(place) < _WORKING:
        trip = duration(2 * latency_ns)
        return (
            f"the barrier waited {took}, as a buffer and its credit take {trip} on the way to {who}"
        )
    elsewhere = [step for step in steps if step.place != place]
    if 2 * sum(step.duration_ns for step in elsewhere) > took_ns:
        queues = ", ".join(dict.fromkeys(place_text(step.place) for step in elsewhere))
        return f"the barrier waited {took} before {queues}, as {who} keeps it back"
    service_ns = run.service_ns(place)
    if service_ns and took_ns >= 2 * service_ns and run.busy(place) > _WORKING:
        count = took_ns // service_ns
        return f"{who} processed some {count:,} records of {duration(service_ns)} each before it"
    return f"the barrier waited {took} for {who}"


def there(run: Observed, cause: Cause, path: Sequence[Step], row: CheckpointRow | None) -> str:
    """Return the sentence that says why a phase takes so long at a subtask. Empty if unknown."""
    job, place = run.job, cause.place
    took_ns = length(step for step in path if step.phase == cause.phase)
    if cause.phase in (*QUEUE, "catch_up"):
        return _load(run, place)
    if cause.phase == "async" and row is not None:
        return _upload(run, place, row, took_ns, path)
    if cause.phase == "trigger_delay" and row is not None:
        settings, before = job.checkpointing, row.checkpoint_id - 1
        if place == JOB and settings.min_pause_ns:
            return f"Checkpoints are {duration(settings.min_pause_ns)} apart at least."
        if place != JOB and not run.struck(row.checkpoint_id, place, DelayTrigger, LoseTrigger):
            count = settings.max_concurrent
            return f"Checkpoint {before} was under way, and only {count} may run at once."
    if cause.phase == "detection":
        timeout, every = job.recovery.heartbeat_timeout_ns, job.recovery.heartbeat_interval_ns
        return f"Heartbeats come every {duration(every)}; their time-out is {duration(timeout)}."
    if cause.phase == "restore":
        return _storage(run, "read", took_ns, path)
    return ""


def _load(run: Observed, place: Place) -> str:
    row, siblings = run.tasks.get(place), _siblings(run, place)
    if row is None or not run.senders(place):
        return ""
    text = f"{place_text(place)} is busy {_percent(run.busy(place))} of its time"
    asked = loads_of(run.job).get(row.task, 0.0) if run.result.driver else 0.0
    if asked > 1 and run.busy(place) >= max(map(run.busy, siblings), default=0.0):
        text = f"{place_text(place)} is sent {asked:.3g} times what it can take"
    if not siblings:
        most = max((run.busy(one) for one in run.places if one != place), default=0.0)
        return f"{text}; all other subtasks are busy {_percent(most)} at most."
    text += f"; the others are busy {_percent(fmean(map(run.busy, siblings)))}"
    records = [run.tasks[one].records for one in siblings]
    service_ns = fmean(run.service_ns(one) for one in siblings)
    if row.records > _SKEWED * fmean(records):
        share = _percent(row.records / (row.records + sum(records)))
        return f"{text}: key skew, as {share} of the records go there."
    if run.service_ns(place) > _SKEWED * service_ns:
        own, their = duration(run.service_ns(place)), duration(round(service_ns))
        return f"{text}: it takes {own} for a record, they {their}."
    full = all(run.busy(one) > _FULL for one in [place, *siblings])
    return f"{text}: all of {place[0]} is at its limit." if full else f"{text}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _siblings(run: Observed, place: Place) -> list[Place]:
    return [one for one in run.tasks if one[0] == place[0] and one != place]


def _upload(
    run: Observed, place: Place, row: CheckpointRow, took_ns: int, path: Sequence[Step]
) -> str:
    siblings = (run.part(row.checkpoint_id, one) for one in _siblings(run, place))
    others = [part.async_ns for part in siblings if part is not None and part.async_ns]
    told = f"Other subtasks took {duration(round(fmean(others)))}. " if others else ""
    return f"{told}{_storage(run, 'write', took_ns, path)}".strip()


def _storage(run: Observed, what: str, took_ns: int, path: Sequence[Step]) -> str:
    """Say what limits the storage. what: `read` or `write`, which took so long."""
    storage, told = run.job.storage, list(storage_faults(run, path))
    if run.job.plane is not Plane.BUFFERS:
        return ""
    if rate := getattr(storage, f"{what}_bytes_per_s"):
        shared = storage.shared_limit and what == "write"
        who = f"All streams together {what}" if shared else f"A stream {what}s"
        told.append(f"{who} {size_text(rate)}/s.")
    if rate := getattr(storage, f"{what}_host_bytes_per_s"):
        told.append(f"A task manager {what}s {size_text(rate)}/s.")
    latency_ns = storage.create_latency_ns if what == "write" else storage.open_latency_ns
    if latency_ns > _MUCH * took_ns:
        told.append(f"A file takes {duration(latency_ns)} to {_OPENED[what]}.")
    if storage.requests_per_s is not None:
        told.append(f"The storage takes {storage.requests_per_s:g} files a second.")
    if storage.tail_ratio and what == "write":
        late, by = _percent(storage.tail_ratio), duration(storage.tail_latency_ns)
        told.append(f"{late} of the files come late, by {by} in the mean.")
    if what == "read" and run.job.state.backend is Backend.HEAP:
        told.append("State is rebuilt on the heap.")
    return " ".join(told)


def storage_faults(run: Observed, path: Sequence[Step]) -> Iterator[str]:
    """Yield how the storage was slow or failed during a path."""
    for fault in run.faults:
        if not path or not isinstance(fault, AtStorage):
            continue
        ends_ns = fault.at_ns + fault.lasts_ns
        if fault.at_ns < path[-1].until_ns and ends_ns > path[0].from_ns:
            slower = fault.factor if isinstance(fault, SlowStorage) else None
            how = "failed" if slower is None else f"was {slower:g} times slower"
            yield f"The storage {how} from {duration(fault.at_ns)} to {duration(ends_ns)}."
