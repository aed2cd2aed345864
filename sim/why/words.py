"""The sentences of an answer: what kept a checkpoint or a recovery, and why it did there."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from ckptsim.scenarios.dialect import size_text
from ckptsim.scenarios.job import Plane
from ckptsim.sim.rows import CheckpointRow
from ckptsim.sim.why.answer import PHASES, Cause, Place, Step, duration, place_text
from ckptsim.sim.why.observed import Observed

_QUEUE = ("start_delay", "alignment")
# Records of a subtask beyond this many times those of its siblings, and service likewise, are skew.
_SKEWED = 1.5
# From this share of its time on a subtask is at its limit.  Assumption.
_FULL = 0.9


def because(
    run: Observed, cause: Cause, path: Sequence[Step], row: CheckpointRow | None, of: str = "of it"
) -> str:
    """Return the sentence with subtask, phase and share of a cause."""
    share = "" if cause.share is None else f"{100 * cause.share:.0f} % {of}: "
    text = _what(run, cause, path, row)
    return f"{share}{text} ({cause.phase})."


def _what(run: Observed, cause: Cause, path: Sequence[Step], row: CheckpointRow | None) -> str:
    who = place_text(cause.place)
    mine = [step for step in path if step.blamed == cause.place and _alike(step.phase, cause.phase)]
    took_ns = sum(step.duration_ns for step in mine)
    part = None if row is None else run.parts(row.checkpoint_id).get(cause.place)
    match cause.phase:
        case "start_delay" | "alignment":
            return _queue(run, cause.place, mine, took_ns)
        case "sync":
            return f"{who} copied its state for {duration(took_ns)} and did nothing else"
        case "async" if part is not None:
            sizes = f"{size_text(part.state_bytes)} of state"
            if part.persisted_bytes and run.job.plane is Plane.BUFFERS:
                sizes += f" and {size_text(part.persisted_bytes)} of in-flight data"
            if run.job.plane is not Plane.BUFFERS:
                sizes = "its snapshot"
            return f"{who} wrote {sizes} for {duration(took_ns)}"
        case "acknowledge":
            return f"the acknowledgement of {who} was on its way for {duration(took_ns)}"
        case "commit" if cause.vertex is None:
            return f"the coordinator stored the checkpoint for {duration(took_ns)}"
        case "commit":
            return f"{who} committed {duration(took_ns)} after the checkpoint was complete"
        case "trigger_delay" if mine and mine[0].place[0] is not None:
            return f"the trigger came to {who} {duration(took_ns)} late"
        case "trigger_delay":
            return f"the trigger came {duration(took_ns)} late"
        case "detection":
            return f"the failure of {who} was not known for {duration(took_ns)}"
        case "restore":
            return f"{who} read its state for {duration(took_ns)}"
        case "catch_up":
            return f"{who} worked off the backlog for {duration(took_ns)}"
        case _:
            return f"{PHASES[cause.phase]} took {duration(took_ns)}"


def _alike(phase: str, other: str) -> bool:
    return phase == other or (phase in _QUEUE and other in _QUEUE)


def _queue(run: Observed, place: Place, steps: Sequence[Step], took_ns: int) -> str:
    who = place_text(place)
    stalled_ns = sum(run.stalled_ns(place, step.from_ns, step.until_ns) for step in steps)
    if stalled_ns > took_ns / 2:
        return f"{who} stood still for {duration(stalled_ns)} while the barrier waited"
    if not run.senders(place):
        return f"{who} came to the trigger after {duration(took_ns)}"
    elsewhere = [step for step in steps if step.place != place]
    if 2 * sum(step.duration_ns for step in elsewhere) > took_ns:
        queues = ", ".join(dict.fromkeys(place_text(step.place) for step in elsewhere))
        return f"the barrier waited {duration(took_ns)} before {queues}, as {who} keeps them back"
    service_ns = run.service_ns(place)
    if service_ns and took_ns >= 2 * service_ns:
        count = took_ns // service_ns
        return f"{who} processed some {count:,} records of {duration(service_ns)} each before it"
    return f"the barrier waited {duration(took_ns)} for {who}"


def there(run: Observed, cause: Cause, row: CheckpointRow | None) -> str:
    """Return the sentence that says why a phase takes so long at a subtask; empty if unknown."""
    place = cause.place
    if cause.phase in (*_QUEUE, "catch_up"):
        return _load(run, place)
    if cause.phase == "async" and row is not None:
        return _upload(run, place, row)
    if cause.phase == "trigger_delay" and row is not None:
        return _trigger(run, row)
    if cause.phase == "detection":
        timeout = duration(run.job.recovery.heartbeat_timeout_ns)
        return f"A task manager counts as lost after {timeout} without a heartbeat."
    if cause.phase == "restore" and run.job.storage.read_bytes_per_s:
        return f"The storage reads {size_text(run.job.storage.read_bytes_per_s)} a second."
    return ""


def _load(run: Observed, place: Place) -> str:
    row, siblings = run.tasks.get(place), _siblings(run, place)
    if row is None or run.graph.vertex(str(place[0])).is_source:
        return ""
    text = f"{place_text(place)} is busy {100 * run.busy(place):.0f} % of its time"
    if not siblings:
        return f"{text}, all other subtasks at most {_most_others(run, place)}."
    mean = fmean(run.tasks[one].records for one in siblings)
    others = f"the others {100 * fmean(map(run.busy, siblings)):.0f} %"
    if row.records > _SKEWED * mean:
        total = row.records + sum(run.tasks[one].records for one in siblings)
        return (
            f"{text}, {others}: key skew, it has {100 * row.records / total:.0f} % of the records."
        )
    service_ns = fmean(run.service_ns(one) for one in siblings)
    if run.service_ns(place) > _SKEWED * service_ns:
        own, their = duration(run.service_ns(place)), duration(round(service_ns))
        return f"{text}, {others}: it takes {own} for a record, they {their}."
    full = run.busy(place) > _FULL and all(run.busy(one) > _FULL for one in siblings)
    limit = f": all of {place[0]} is at its limit" if full else ""
    return f"{text}, {others}{limit}."


def _most_others(run: Observed, place: Place) -> str:
    return f"{100 * max((run.busy(one) for one in run.places if one != place), default=0.0):.0f} %"


def _siblings(run: Observed, place: Place) -> list[Place]:
    return [one for one in run.tasks if one[0] == place[0] and one != place]


def _upload(run: Observed, place: Place, row: CheckpointRow) -> str:
    parts = run.parts(row.checkpoint_id)
    others = [parts[one].async_ns for one in _siblings(run, place) if one in parts]
    limit = run.job.storage.write_bytes_per_s
    told = []
    if others:
        told.append(f"the other subtasks of {place[0]} took {duration(round(fmean(others)))}")
    if limit is not None and run.job.plane is Plane.BUFFERS:
        who = "all streams together write" if run.job.storage.shared_limit else "a stream writes"
        told.append(f"{who} {size_text(limit)} a second")
    text = "; ".join(told)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _trigger(run: Observed, row: CheckpointRow) -> str:
    settings = run.job.checkpointing
    if settings.min_pause_ns:
        pause = duration(settings.min_pause_ns)
        return f"Checkpoints are {pause} apart at least, and {settings.max_concurrent} may run."
    return (
        f"Only {settings.max_concurrent} may run at once, and checkpoint"
        f" {row.checkpoint_id - 1} was under way."
    )
