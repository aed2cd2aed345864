"""Why a checkpoint of a recording took so long: what the REST answers hold, and nothing else.

Parts of subtasks become rows as a run has them, so one critical path serves both.  The answers name
no channel, no sender of a barrier and no request, so the sender that was last is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ckptsim.scenarios import Scenario, UserError
from ckptsim.sim.infer.folder import job_named
from ckptsim.sim.infer.job import Imported
from ckptsim.sim.infer.tasks.load import times_of
from ckptsim.sim.infer.tasks.machine import MachineChoice
from ckptsim.sim.recording import CheckpointAnswer, Recording, SubtaskPart
from ckptsim.sim.rows import CheckpointRow, RunResult, RunRow, TaskCheckpointRow, TaskRow
from ckptsim.sim.why.answer import Why
from ckptsim.sim.why.why import EXPIRED, FAILED, RECOVERY, SLOWEST, Target, why_of

_MS = 1_000_000
_KEY = "recording"
_STATUSES = {"COMPLETED": "completed", "FAILED": "failed"}


def why_recorded(place: Path, target: Target = SLOWEST, *, job: str | None = None) -> Why:
    """Return the cause of a checkpoint in the folder of a recording.

    Raises UserError for a checkpoint that the recording does not have, and for a recovery, which
    no answer describes.
    """
    if isinstance(target, str) and target.startswith(RECOVERY):
        expected = "a checkpoint: REST answers hold no instants of a recovery"
        raise UserError(f"{place}: found {target}, expected {expected}")
    scenario, result = recorded(place, job=job)
    # The answers do not tell one that expired from one that failed otherwise.
    found = why_of(scenario, result, FAILED if target == EXPIRED else target)
    note = "The recording has no parts of subtasks for it, so the cause is unknown."
    if found.path:
        note = "The answers name neither the last channel nor the instant when the trigger was due."
    return replace(found, note=f"{note} See also `whatif`.")


def recorded(place: Path, *, job: str | None = None) -> tuple[Scenario, RunResult]:
    """Return the job of a recording, and its checkpoints as rows of a run.

    Raises UserError for a folder that is no recording with checkpoints.
    """
    named = job_named(place, job=job, machine=MachineChoice.RECORDED)
    if named.recording is None or named.imported is None or not named.recording.checkpoints:
        raise UserError(f"{place}: found no checkpoints, expected a recording with some")
    return named.scenario, _result(named.recording, named.imported)


def _result(recording: Recording, imported: Imported) -> RunResult:
    known = [one for one in recording.checkpoints if one.trigger_ms is not None]
    begun_ms = min((one.trigger_ms or 0 for one in known), default=0)
    run = RunRow(
        run_key=_KEY, scenario=_KEY, link="barriers", seed=0, ties="", version="", digest="",
        outcome="completed", error=None, ended_ns=recording.duration_ms * _MS, events=0,
        records_produced=0, records_committed=0, checkpoints_completed=0, checkpoints_failed=0,
        violations=0, attempts=1, parameters="{}", replay="",
    )  # fmt: skip
    result = RunResult(run=run, tasks=list(_tasks(recording, imported)))
    for one in known:
        at_ns = ((one.trigger_ms or 0) - begun_ms) * _MS
        result.checkpoints.append(_checkpoint(one, at_ns))
        for vertex in recording.vertices if one.parts else ():
            parts = {part.subtask: part for part in one.parts.get(vertex.id, ())}
            result.task_checkpoints += [
                _part(imported.names[vertex.id], subtask, parts.get(subtask), one.id, at_ns)
                for subtask in range(vertex.parallelism)
            ]
    return result


def _checkpoint(one: CheckpointAnswer, at_ns: int) -> CheckpointRow:
    status = _STATUSES.get(one.status, "pending")
    duration_ns = None if one.duration_ms is None else round(one.duration_ms * _MS)
    return CheckpointRow(
        run_key=_KEY,
        scope="job",
        checkpoint_id=one.id,
        attempt=one.id,  # so that no trigger counts as late, which no answer says
        kind="savepoint" if one.is_savepoint else "checkpoint",
        status=status,
        reason="the answers do not say why" if status == "failed" else None,
        triggered_ns=at_ns,
        completed_ns=at_ns + (duration_ns or 0) if status == "completed" else None,
        duration_ns=duration_ns,
    )


def _part(
    vertex: str, subtask: int, part: SubtaskPart | None, checkpoint: int, at_ns: int
) -> TaskCheckpointRow:
    def time_ns(name: str) -> int:
        return 0 if part is None else round(getattr(part, name) * _MS)

    def size(name: str) -> int:
        return 0 if part is None else int(getattr(part, name))

    return TaskCheckpointRow(
        run_key=_KEY,
        task=vertex,
        subtask=subtask,
        checkpoint_id=checkpoint,
        acknowledged_ns=None if part is None else at_ns + time_ns("end_to_end_ms"),
        start_delay_ns=time_ns("start_delay_ms"),
        alignment_ns=time_ns("alignment_ms"),
        sync_ns=time_ns("sync_ms"),
        async_ns=time_ns("async_ms"),
        processed_bytes=size("processed_bytes"),
        persisted_bytes=size("persisted_bytes"),
        state_bytes=size("checkpointed_bytes") - size("persisted_bytes"),
        unaligned=part is not None and part.unaligned,
        status="unseen" if part is None else "acknowledged",
    )


def _tasks(recording: Recording, imported: Imported) -> Iterator[TaskRow]:
    """Yield how the subtasks spent their time. 0 where no answer says so."""
    for vertex in recording.vertices:
        for subtask in vertex.subtasks:
            times = times_of(subtask)
            clock_ms = 1.0 if times is None else times.clock_ms
            records = subtask.growth("numRecordsIn") or subtask.growth("numRecordsOut") or 0.0
            yield TaskRow(
                run_key=_KEY,
                task=imported.names[vertex.id],
                subtask=subtask.index,
                records=round(records),
                records_per_s=1000 * records / clock_ms,
                busy_ratio=0.0 if times is None else times.busy_ms / clock_ms,
                backpressured_ratio=0.0 if times is None else times.pressed_ms / clock_ms,
                idle_ratio=0.0 if times is None else times.idle_ms / clock_ms,
                input_queue_buffers_mean=0.0,
                output_queue_buffers_mean=0.0,
                finished_ns=None,
            )
