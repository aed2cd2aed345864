"""The result tables of a composed pipeline, and how the entries of its trace read."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ckptsim.sim.composed.store import kept_partitions
from ckptsim.sim.job.tables import job_rows
from ckptsim.sim.job.vocabulary import BUFFERS, RECORDS
from ckptsim.sim.story import Telling, Vocabulary
from ckptsim.sim.sync.tables import tables as sync_tables
from ckptsim.sim.sync.vocabulary import VOCABULARY as SYNC

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
    if world.spec.keep_trace or world.spec.wants_account:
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


_STORE: Vocabulary = {
    "commit": Telling("begins commit {number}", "number", begins="commit:number"),
    "step": Telling("has made {part} of commit {number} durable", "number part"),
    "refused_commit": Telling("refuses commit {number}: {reason}", "number reason", always=True),
}

# Checkpoints of the job and states of the source count from 1 each: a scope distinguish them. What
# both planes have in their traces reads as on records, where no span is opened that the entry of
# the other plane would have to close.
_JOB: Vocabulary = {
    kind: replace(telling, scope="job", begins="" if kind == "snapshot" else telling.begins)
    for kind, telling in {**BUFFERS, **RECORDS}.items()
}

# A sync shows of its sends and states by the same words as alone. "violated" is the same in both.
VOCABULARY: Vocabulary = {**_JOB, **SYNC, **_STORE}
