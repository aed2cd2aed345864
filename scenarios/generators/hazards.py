"""What a right core cannot prevent in a scenario: hazards of released systems (docs/hazards.md)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

from ckptsim.scenarios.composed import Pipeline
from ckptsim.scenarios.job import Job, Protocol
from ckptsim.scenarios.job.names import PROPERTIES
from ckptsim.scenarios.spec import Scenario
from ckptsim.scenarios.store import Compact, Deploy, StoreModel, StorePlacement, TruncateLog
from ckptsim.scenarios.sync import (
    CheckpointLock,
    CountError,
    IdCollision,
    Medium,
    MemoryPolicy,
    StateKind,
    SyncModel,
)

# Released Flink has these on either plane.  A stop waits for a lost notification without end.  A
# tracker with one channel left loses the clock of a checkpoint and fails its task.  A savepoint
# completes after tasks that have closed with records queued.  Channels stay blocked for an aborted
# checkpoint if its last barrier waits for a newer one.  On records alone a final watermark in
# flight is restored for a subtask with another share.  On buffers alone a task takes no trigger
# inside a record that lacks buffers.  On records alone an idle input does not hold event time back
# from its end.  Each has a property of its own.
# Under the FLIP's rules any later completion ends a stop, so there a stop has to end unless no
# checkpoint follows the end of a task.
STOP_HAZARD = "stop_ends"
HAZARDS = (
    STOP_HAZARD,
    "single_channel_keeps_the_clock",
    "closed_tasks_leave_nothing_queued",
    "given_up_checkpoints_free_channels",
    "closed_tasks_owe_no_shared_file",
    "records_let_triggers_pass",
    "restored_watermarks_stay_true",
    "event_time_ends_with_its_records",
)
# What released Flink does to a job that takes no savepoints and is never rescaled.
_OF_PIPELINES = ("single_channel_keeps_the_clock",)
# With fewer characters two ids of some fifty partitions are the same now and then.  With these that
# happens in one of a million syncs.
_CHARACTERS_MIN = 4


def hazards(scenario: Scenario) -> tuple[str, ...]:
    """Return the properties that a right core may break under the faults of a scenario."""
    match scenario.model:
        case Job() as model:
            known, flink = PROPERTIES[model.plane], model.ending.protocol is Protocol.FLINK
            misses = flink or not model.checkpointing.after_finish
            return tuple(one for one in HAZARDS if one in known and (misses or one != STOP_HAZARD))
        case SyncModel() as model:
            return _of_sync(model, scenario.faults)
        case StoreModel() as model:
            return _of_store(model, scenario.faults)
        case Pipeline():
            return _OF_PIPELINES
        case _:
            return ()


def with_hazards(scenario: Scenario) -> Scenario:
    """Return the scenario, which says what a right core cannot prevent in it."""
    found = dict.fromkeys([*scenario.violates, *hazards(scenario)])
    return replace(scenario, violates=tuple(found))


def _of_sync(model: SyncModel, faults: tuple[object, ...]) -> tuple[str, ...]:
    """Return the hazards of a sync. A reader that waits for memory may wait for good.

    Without a lock an older view may get the higher index: a restart from it goes back.
    """
    blocks = model.destination.memory_policy is MemoryPolicy.BLOCK
    short = model.source.partition_id_characters < _CHARACTERS_MIN
    collides = short or any(isinstance(fault, IdCollision) for fault in faults)
    # Two partitions of a snapshot may get the same id, as in docs/hazards.md.  A core knows a
    # state by the id of its message, so it sees no second id of a partition.  The records of both
    # count under the first one.
    merges = model.state_kind is StateKind.SNAPSHOT and collides
    early = model.medium is Medium.SOCKET and (short or any(map(_leaves_early, faults)))
    unlocked = model.source.checkpoint_lock is CheckpointLock.UNLOCKED
    return (
        *(("snapshot_claims_are_durable", "resume_is_monotone") if unlocked else ()),
        *(("release_is_deterministic",) if merges else ()),
        *(("no_premature_acknowledgement",) if early else ()),
        *(("flood_does_not_block_data",) if blocks else ()),
    )


def _leaves_early(fault: object) -> bool:
    """Return whether a state may leave before its records, by a source that counts or names wrong.

    No core knows of records that it has not read. It has the count of the state, and the records
    under its id, which can be another partition's.
    """
    return isinstance(fault, IdCollision) or (isinstance(fault, CountError) and fault.records < 0)


def _of_store(model: StoreModel, faults: Iterable[object]) -> tuple[str, ...]:
    """Return the hazards of a store (docs/hazards.md).

    A checkpoint is newer than its rows: it lies in the store that a release leaves and a later one
    names again.  A compacted log has no deletes for a reader that is still before them.  A log
    without its tail says nothing of rows that are ahead of their checkpoint.
    """
    faults = tuple(faults)
    colocated = model.placement is StorePlacement.COLOCATED
    deletes_go = model.input.deletes_every > 0 and any(isinstance(one, Compact) for one in faults)
    tail_goes = not colocated and any(isinstance(one, TruncateLog) for one in faults)
    deploys = sorted(
        (fault for fault in faults if isinstance(fault, Deploy)), key=lambda fault: fault.at_ns
    )
    named = [model.sync.built_in, *(fault.built_in for fault in deploys)]
    switches = sum(old is not new for old, new in pairwise(named))
    if deletes_go and colocated:
        return ("content_converges", "rows_and_checkpoint_agree")
    return ("content_converges",) if switches > 1 or deletes_go or tail_goes else ()
