"""Why a checkpoint of a recording took so long: what the REST answers hold, and nothing else.

Parts of subtasks become rows as a run has them, so one critical path serves both.  The answers name
no channel, no sender of a barrier and no request, so the sender that was last is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ckptsim.scenarios import UserError
from ckptsim.sim.infer.folder import Named, job_named
from ckptsim.sim.infer.tasks.load import times_of
from ckptsim.sim.infer.tasks.machine import MachineChoice
from ckptsim.sim.recording import CheckpointAnswer, SubtaskPart
from ckptsim.sim.rows import CheckpointRow, RunResult, RunRow, TaskCheckpointRow, TaskRow
from ckptsim.sim.why.answer import Why
from ckptsim.sim.why.why import SLOWEST, Target, why_of

_MS = 1_000_000
_KEY = "recording"
_STATUSES = {"COMPLETED": "completed", "FAILED": "failed", "IN_PROGRESS": "pending"}


def why_recorded(place: Path, target: Target = SLOWEST, *, job: str | None = None) -> Why:
    """Return the cause of a checkpoint in the folder of a recording.

    Raises UserError for a checkpoint that the recording does not have, and for a recovery, which
    no answer describes.
    """
    if isinstance(target, str) and target.startswith("recovery"):
        expected = "a checkpoint: REST answers hold no instants of a recovery"
        raise UserError(f"{place}: found {target}, expected {expected}")
    named = job_named(place, job=job, machine=MachineChoice.RECORDED)
    recording = named.recording
    if recording is None or not recording.checkpoints:
        raise UserError(f"{place}: found no checkpoints, expected a recording with some")
    result = _result(named)
    found = why_of(named.scenario, result, "failed" if target == "expired" else target)
    return replace(found, note=_note(named, found))


def _note(named: Named, found: Why) -> str:
    """Say what the answers cannot say, and how to try a change."""
    if not found.path:
        return "The recording has no parts of subtasks for it, so the cause is unknown."
    what = "which channel was last, and when the trigger was due"
    return f"The answers do not say {what}; `ckptsim whatif` simulates a change of this job."


def _result(named: Named) -> RunResult:
    recording, imported = named.recording, named.imported
    if recording is None or imported is None:
        return RunResult(run=_run(0))
    begun_ms = min((one.trigger_ms or 0 for one in recording.checkpoints), default=0)
    names = imported.names
    result = RunResult(run=_run(recording.duration_ms * _MS))
    for one in recording.checkpoints:
        if one.trigger_ms is None:
            continue
        at_ns = (one.trigger_ms - begun_ms) * _MS
        parts = {
            (names[vertex.id], part.subtask): part
            for vertex in recording.vertices
            for part in one.parts.get(vertex.id, ())
        }
        result.checkpoints.append(_checkpoint(one, at_ns))
        for vertex in recording.vertices if parts else ():
            for subtask in range(vertex.parallelism):
                place = names[vertex.id], subtask
                row = _part(place, parts.get(place), one.id, at_ns)
                result.task_checkpoints.append(row)
        result.trace += _snapshots(parts, one.id, at_ns)
    result.tasks = list(_tasks(named))
    return result


def _checkpoint(one: CheckpointAnswer, at_ns: int) -> CheckpointRow:
    status = _STATUSES.get(one.status, "pending")
    duration_ns = None if one.duration_ms is None else round(one.duration_ms * _MS)
    ended = status == "completed" and duration_ns is not None
    return CheckpointRow(
        run_key=_KEY,
        scope="job",
        checkpoint_id=one.id,
        attempt=1,
        kind="savepoint" if one.is_savepoint else "checkpoint",
        status=status,
        reason=None,
        triggered_ns=at_ns,
        completed_ns=at_ns + (duration_ns or 0) if ended else None,
        duration_ns=duration_ns,
    )


def _part(
    place: tuple[str, int], part: SubtaskPart | None, checkpoint: int, at_ns: int
) -> TaskCheckpointRow:
    known = part is not None
    start, alignment, sync, async_, total = (
        (0.0,) * 5
        if part is None
        else (
            part.start_delay_ms,
            part.alignment_ms,
            part.sync_ms,
            part.async_ms,
            part.end_to_end_ms,
        )
    )
    state = 0 if part is None else part.checkpointed_bytes - part.persisted_bytes
    return TaskCheckpointRow(
        run_key=_KEY,
        task=place[0],
        subtask=place[1],
        checkpoint_id=checkpoint,
        acknowledged_ns=at_ns + round(total * _MS) if known else None,
        start_delay_ns=round(start * _MS),
        alignment_ns=round(alignment * _MS),
        sync_ns=round(sync * _MS),
        async_ns=round(async_ * _MS),
        processed_bytes=0 if part is None else part.processed_bytes,
        persisted_bytes=0 if part is None else part.persisted_bytes,
        state_bytes=state,
        unaligned=part is not None and part.unaligned,
        status="acknowledged" if known else "unseen",
    )


def _snapshots(
    parts: dict[tuple[str, int], SubtaskPart], checkpoint: int, at_ns: int
) -> Iterator[tuple[object, ...]]:
    """Yield when each subtask sent its barrier on: with its first one where it can overtake."""
    for (vertex, subtask), part in parts.items():
        waited_ms = 0.0 if part.unaligned else part.alignment_ms
        snapshot_ns = at_ns + round((part.start_delay_ms + waited_ms) * _MS)
        yield snapshot_ns, "performed", f"{vertex}[{subtask}]", checkpoint


def _tasks(named: Named) -> Iterator[TaskRow]:
    recording, imported = named.recording, named.imported
    if recording is None or imported is None:
        return
    for vertex in recording.vertices:
        for subtask in vertex.subtasks:
            times = times_of(subtask)
            clock = 0.0 if times is None else times.clock_ms
            shares = (0.0, 0.0, 0.0)
            if times is not None and clock:
                shares = (times.busy_ms / clock, times.pressed_ms / clock, times.idle_ms / clock)
            records = subtask.growth("numRecordsIn") or subtask.growth("numRecordsOut") or 0.0
            yield TaskRow(
                run_key=_KEY,
                task=imported.names[vertex.id],
                subtask=subtask.index,
                records=round(records),
                records_per_s=1000 * records / clock if clock else 0.0,
                busy_ratio=shares[0],
                backpressured_ratio=shares[1],
                idle_ratio=shares[2],
                input_queue_buffers_mean=0.0,
                output_queue_buffers_mean=0.0,
                finished_ns=None,
            )


def _run(ended_ns: int) -> RunRow:
    return RunRow(
        run_key=_KEY, scenario=_KEY, link="barriers", seed=0, ties="", version="", digest="",
        outcome="completed", error=None, ended_ns=ended_ns, events=0, records_produced=0,
        records_committed=0, checkpoints_completed=0, checkpoints_failed=0, violations=0,
        attempts=1, parameters="{}", replay="",
    )  # fmt: skip
