"""Mutants of the barrier cores: each lacks one safeguard that a known issue brought in.

A mutant is a factory with the signature of what it replaces, named by `part`; a world or a vector
adapter puts it in that place and leaves everything else right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from ckptsim.models.barriers.barrier import Barrier, OptionKind
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.mutants import channels, handlers, subtasks


class Part(Enum):
    """What a mutant replaces; handlers and the ends of a channel have names of their vectors."""

    HANDLER = "handler"  # make_handler
    TRACKER = "tracker"  # make_handler
    INPUT_CHANNEL = "input-channel"  # RemoteChannel
    OUTPUT_SUBPARTITION = "output-subpartition"  # Subpartition
    EDGE = "edge"  # Barrier.over_edge
    SUBTASK = "subtask"  # SubtaskCheckpoints
    WRITER = "writer"  # SharedStateWriter
    HANDLE = "handle"  # handle_bytes
    COORDINATOR = "coordinator"  # CheckpointCoordinator


@dataclass(frozen=True, slots=True)
class Mutant:
    """A faulty core: what it does wrong, what it replaces, and how it is made."""

    says: str
    part: Part
    make: Callable[..., Any]


def timeoutable_crosses_any_edge(barrier: Barrier, *, supports_unaligned: bool) -> Barrier:
    """Force only unaligned barriers to align where order must be kept."""
    if supports_unaligned or barrier.kind is not OptionKind.UNALIGNED:
        return barrier
    return replace(barrier, kind=OptionKind.FORCED_ALIGNED)


def whole_blob_per_channel(parts: Iterable[int], *, inline_threshold_bytes: int) -> int:
    """Let every channel's handle carry the whole inlined state."""
    sizes = list(parts)
    total = sum(sizes)
    return total * len(sizes) if total <= inline_threshold_bytes else 0


MUTANTS: dict[str, Mutant] = {
    "gate_local_lookup": Mutant(
        "Looks channels up by their place in the gate, so the first gate is persisted for all "
        "and the others never (FLINK-18139).",
        Part.HANDLER,
        handlers.gate_local_lookup,
    ),
    "snapshot_one_step_late": Mutant(
        "Queues the snapshot of an unaligned checkpoint while the task goes on reading "
        "(FLINK-17568).",
        Part.HANDLER,
        handlers.snapshot_one_step_late,
    ),
    "clock_not_started_after_announcement": Mutant(
        "Skips the start of the alignment when a checkpoint was opened by an announcement "
        "(FLINK-24068).",
        Part.HANDLER,
        handlers.clock_not_started_after_announcement,
    ),
    "end_of_partition_aborts": Mutant(
        "Aborts the alignment when a channel ends instead of counting it (FLINK-21086).",
        Part.HANDLER,
        handlers.end_of_partition_aborts,
    ),
    "never_times_out": Mutant(
        "Sets no alignment timer, so a checkpoint behind a slow channel waits for its data "
        "(before FLINK-19681).",
        Part.HANDLER,
        handlers.never_times_out,
    ),
    "obsolete_barrier_not_resumed": Mutant(
        "Drops an obsolete aligned barrier without resuming the sender that stopped behind it.",
        Part.HANDLER,
        handlers.obsolete_barrier_not_resumed,
    ),
    "tracker_stops_any_clock": Mutant(
        "Ends the alignment clock for whatever checkpoint completes, also when another one "
        "runs it (FLINK-23201).",
        Part.TRACKER,
        handlers.tracker_stops_any_clock,
    ),
    "late_barrier_counts": Mutant(
        "Takes the late barrier of a cancelled checkpoint for received, and does not wait for "
        "that of the next one (FLINK-20645).",
        Part.INPUT_CHANNEL,
        channels.LateBarrierCounts,
    ),
    "obsolete_place_kept": Mutant(
        "Cuts the data of a newer checkpoint at the place of an obsolete barrier "
        "(FLINK-20654, FLINK-21104).",
        Part.INPUT_CHANNEL,
        channels.ObsoletePlaceKept,
    ),
    "stop_resets_newer": Mutant(
        "Resets the state of whatever checkpoint the network has noted when an older one stops "
        "(FLINK-17994).",
        Part.INPUT_CHANNEL,
        channels.StopResetsNewer,
    ),
    "output_never_times_out": Mutant(
        "Leaves a timeoutable barrier in the output queue when its time-out passes (FLINK-27251).",
        Part.OUTPUT_SUBPARTITION,
        channels.OutputNeverTimesOut,
    ),
    "timeoutable_crosses_any_edge": Mutant(
        "Lets a timeoutable barrier cross an edge that must keep its order, because it is no "
        "priority event (FLINK-33693).",
        Part.EDGE,
        timeoutable_crosses_any_edge,
    ),
    "output_time_out_unreported": Mutant(
        "Reports a checkpoint as aligned although its output timed out and holds in-flight data "
        "(FLINK-31588).",
        Part.SUBTASK,
        subtasks.OutputTimeOutUnreported,
    ),
    "early_abort_without_marker": Mutant(
        "Drops a checkpoint that was given up before it came, without telling the tasks below.",
        Part.SUBTASK,
        subtasks.EarlyAbortWithoutMarker,
    ),
    "early_abort_unanswered": Mutant(
        "Never answers a writer that starts after its checkpoint was aborted (FLINK-28474).",
        Part.WRITER,
        subtasks.EarlyAbortUnanswered,
    ),
    "late_abort_closes_writer": Mutant(
        "Closes whatever is being written when an older checkpoint is aborted (FLINK-29730).",
        Part.WRITER,
        subtasks.LateAbortClosesWriter,
    ),
    "superseded_result_removed": Mutant(
        "Removes the result of a superseded checkpoint that somebody still waits for "
        "(FLINK-17869).",
        Part.WRITER,
        subtasks.SupersededResultRemoved,
    ),
    "write_error_lost": Mutant(
        "Takes a file that could not be written for written (FLINK-24667).",
        Part.WRITER,
        subtasks.WriteErrorLost,
    ),
    "whole_blob_per_channel": Mutant(
        "Lets every channel's handle carry the inlined state of the whole subtask (FLINK-17861).",
        Part.HANDLE,
        whole_blob_per_channel,
    ),
    "savepoints_subsumed": Mutant(
        "Gives up a running savepoint when a newer checkpoint completes.",
        Part.COORDINATOR,
        subtasks.SavepointsSubsumed,
    ),
    "told_before_stored": Mutant(
        "Tells the tasks that a checkpoint is complete before it is stored.",
        Part.COORDINATOR,
        subtasks.ToldBeforeStored,
    ),
    "slow_stores_forgotten": Mutant(
        "Refuses the answer of a store that was slower than sixteen other checkpoints.",
        Part.COORDINATOR,
        subtasks.SlowStoresForgotten,
    ),
}


def find_mutant(name: str) -> Mutant:
    """Return a mutant by name.

    Raises UserError for a name that no mutant has.
    """
    if name not in MUTANTS:
        raise UserError(f"found mutant {name!r}, expected one of {', '.join(MUTANTS)}")
    return MUTANTS[name]
