"""The result tables of a composed pipeline: the ones of the sync, and the job's checkpoints."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ckptsim.sim.composed.store.keeping import kept_partitions
from ckptsim.sim.job.tables import job_rows
from ckptsim.sim.sync.tables import tables as sync_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from ckptsim.sim.composed.world import PipelineWorld
    from ckptsim.sim.rows import CommitRow, RecordRow, RunResult


def tables(world: PipelineWorld) -> RunResult:
    """Return all tables of a run that has ended."""
    result = sync_tables(world)
    checkpoints, task_checkpoints, tasks = job_rows(world.spec.run_key, world.job.plane)
    result.checkpoints += [replace(row, inner=True) for row in checkpoints]
    numbers = world.job.restored_ids
    result.recoveries = [
        replace(row, restored_from=f"{row.restored_from}; {_job_checkpoint(numbers[place])}")
        if place < len(numbers)  # after the last attempt nothing begins
        else row
        for place, row in enumerate(result.recoveries)
    ]
    if world.spec.wants_account:
        result.account = partial(_account, result.account, world)
    result.task_checkpoints = task_checkpoints
    result.tasks = tasks
    if world.spec.keep_trace:
        result.holdings = partial(kept_partitions, world)
    return result


def _account(
    of_sync: Callable[[], tuple[list[RecordRow], list[CommitRow]]], world: PipelineWorld
) -> tuple[list[RecordRow], list[CommitRow]]:
    """Return the account of the sync, with the rows that each record has in the store."""
    records, commits = of_sync()
    found = world.store.durable()
    every = world.ledger.all_records()  # in the order of the rows: by feed and position
    return [
        replace(row, stored=found[record]) for row, record in zip(records, every, strict=True)
    ], commits


def _job_checkpoint(number: int | None) -> str:
    """Say where the job of an attempt began."""
    return "the job from its beginning" if number is None else f"the job from checkpoint {number}"
