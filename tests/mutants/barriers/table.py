"""Mutants of the barrier cores: each lacks one safeguard that a known issue brought in.

The size of a handle is no core and takes no slot. Its mutant is here for a test of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ckptsim.models.barriers.barrier import Barrier, OptionKind
from ckptsim.sim.mutants import shown
from ckptsim.sim.mutants.mutant import Mutant, by_name
from tests.mutants.barriers import channels, handlers, subtasks


def timeoutable_crosses_any_edge(barrier: Barrier, *, supports_unaligned: bool) -> Barrier:
    """Force only unaligned barriers to align where order must be kept."""
    if supports_unaligned or barrier.kind is not OptionKind.UNALIGNED:
        return barrier
    return replace(barrier, kind=OptionKind.FORCED_ALIGNED)


def whole_blob_per_channel(parts: Iterable[int], *, inline_threshold_bytes: int) -> int:
    """Let every channel's handle carry the inlined state of the whole subtask (FLINK-17861)."""
    sizes = list(parts)
    total = sum(sizes)
    return total * len(sizes) if total <= inline_threshold_bytes else 0


MUTANTS = by_name(
    Mutant(
        "gate_local_lookup",
        "Looks channels up by their place in the gate, so the first gate is persisted for all "
        "and the others never (FLINK-18139).",
        "handler",
        handlers.gate_local_lookup,
    ),
    Mutant(
        "snapshot_one_step_late",
        "Queues the snapshot of an unaligned checkpoint while the task continues reading "
        "(FLINK-17568).",
        "handler",
        handlers.snapshot_one_step_late,
    ),
    Mutant(
        "clock_not_started_after_announcement",
        "Skips the start of the alignment when a checkpoint was opened by an announcement "
        "(FLINK-24068).",
        "handler",
        handlers.clock_not_started_after_announcement,
    ),
    Mutant(
        "end_of_partition_aborts",
        "Aborts the alignment when a channel ends instead of counting it (FLINK-21086).",
        "handler",
        handlers.end_of_partition_aborts,
    ),
    shown.MUTANTS["never_times_out"],
    Mutant(
        "obsolete_barrier_not_resumed",
        "Drops an obsolete aligned barrier without resuming its blocked sender.",
        "handler",
        handlers.obsolete_barrier_not_resumed,
    ),
    shown.MUTANTS["tracker_stops_any_clock"],
    Mutant(
        "late_barrier_counts",
        "Counts the late barrier of a cancelled checkpoint for the next one (FLINK-20645).",
        "input_channel",
        channels.LateBarrierCounts,
    ),
    Mutant(
        "obsolete_place_kept",
        "Cuts the data of a newer checkpoint at the place of an obsolete barrier "
        "(FLINK-20654, FLINK-21104).",
        "input_channel",
        channels.ObsoletePlaceKept,
    ),
    Mutant(
        "stop_resets_newer",
        "Resets the state of whatever checkpoint the network has noted when an older one stops "
        "(FLINK-17994).",
        "input_channel",
        channels.StopResetsNewer,
    ),
    Mutant(
        "output_never_times_out",
        "Leaves a timeoutable barrier in the output queue when its time-out passes (FLINK-27251).",
        "output_subpartition",
        channels.OutputNeverTimesOut,
    ),
    Mutant(
        "timeoutable_crosses_any_edge",
        "Lets a timeoutable barrier cross an edge that must keep its order, because it is no "
        "priority event (FLINK-33693).",
        "edge",
        timeoutable_crosses_any_edge,
    ),
    Mutant(
        "output_time_out_unreported",
        "Reports a checkpoint as aligned although its output timed out and holds in-flight data "
        "(FLINK-31588).",
        "subtask",
        subtasks.OutputTimeOutUnreported,
    ),
    Mutant(
        "early_abort_without_marker",
        "Drops a checkpoint that was aborted before it came, without a cancellation marker.",
        "subtask",
        subtasks.EarlyAbortWithoutMarker,
    ),
    Mutant(
        "early_abort_unanswered",
        "Never answers a writer that starts after its checkpoint was aborted (FLINK-28474).",
        "channel_state",
        subtasks.EarlyAbortUnanswered,
    ),
    Mutant(
        "late_abort_closes_writer",
        "Closes whatever is being written when an older checkpoint is aborted (FLINK-29730).",
        "channel_state",
        subtasks.LateAbortClosesWriter,
    ),
    Mutant(
        "superseded_result_removed",
        "Removes the result of a superseded checkpoint while a task waits for it (FLINK-17869).",
        "channel_state",
        subtasks.SupersededResultRemoved,
    ),
    shown.MUTANTS["write_error_lost"],
    Mutant(
        "savepoints_subsumed",
        "Aborts a running savepoint when a newer checkpoint completes.",
        "coordinator",
        subtasks.SavepointsSubsumed,
    ),
    shown.MUTANTS["told_before_stored"],
    Mutant(
        "slow_stores_forgotten",
        "Refuses the answer of a store that was slower than sixteen other checkpoints.",
        "coordinator",
        subtasks.SlowStoresForgotten,
    ),
)
