"""The rows of checkpoints that tasks take by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ckptsim.sim.rows import CheckpointRow, FigureRow

if TYPE_CHECKING:
    from ckptsim.sim.job.records.uncoordinated.job import UncoordinatedJob
    from ckptsim.sim.job.records.uncoordinated.task import TakenCheckpoint


def checkpoint_rows(key: str, job: UncoordinatedJob) -> list[CheckpointRow]:
    """Return a row for each checkpoint of each task, in the order in which they were taken.

    Its scope is the task, and its kind says whether a message forced it.
    """
    return [_row(key, one) for one in job.taken]


def _row(key: str, one: TakenCheckpoint) -> CheckpointRow:
    duration_ns = None if one.stored_ns is None else one.stored_ns - one.taken_ns
    return CheckpointRow(
        run_key=key,
        scope=one.task,
        checkpoint_id=one.number,
        attempt=one.attempt,
        kind="forced" if one.asked.forced else "local",
        status=one.status,
        reason=None,
        triggered_ns=one.taken_ns,
        completed_ns=one.stored_ns,
        duration_ns=duration_ns,
        sync_ns=one.sync_ns,
        async_ns=None if duration_ns is None else duration_ns - one.sync_ns,
        state_bytes=one.records,
    )


def figure_rows(key: str, job: UncoordinatedJob) -> Iterator[FigureRow]:
    """Yield what only these protocols have, as figures of `scenarios/planning/metrics`."""
    figures = {
        "forced_checkpoints": sum(one.asked.forced for one in job.taken),
        "discarded_checkpoints": sum(one.status == "discarded" for one in job.taken),
        "logged_messages": job.logged,
    }
    for name, value in figures.items():
        yield FigureRow(run_key=key, figure=name, value=float(value), expected=None)
