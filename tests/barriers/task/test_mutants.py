"""Every mutant is found, and the right core survives the same test."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from ckptsim.models.barriers import channel_state as writer_events
from ckptsim.models.barriers.barrier import Barrier, OptionKind
from ckptsim.models.barriers.channel_state import SharedStateWriter, handle_bytes
from ckptsim.models.barriers.handler import HandlerKind
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.barriers.subtask import SubtaskCheckpoints
from ckptsim.models.barriers.subtask import events as subtask_events
from ckptsim.models.coordinator import CheckpointCoordinator, CoordinatorParameters
from ckptsim.models.coordinator import events as coordinator_events
from ckptsim.models.core import ProtocolError
from ckptsim.sim.conform.runner import run_file
from tests.barriers.task.account import BrokenRuleError, Factories
from tests.barriers.task.rig import Rig
from tests.barriers.task.script import VERBS, play
from tests.mutants.barriers import MUTANTS, whole_blob_per_channel

VECTORS = Path(__file__).parents[2] / "data" / "vectors"
SUITES = {
    "handler": "barriers",
    "input_channel": "channel_state",
    "output_subpartition": "channel_state",
}
BY_VECTOR = [name for name, mutant in MUTANTS.items() if mutant.slot in SUITES]
OF_TRACKERS = ("tracker_stops_any_clock",)
OF_ANY_HANDLER = ("end_of_partition_aborts",)
# The shared vectors have no newer start after an obsolete barrier. Random lives have.
NOT_BY_VECTOR = ("obsolete_place_kept",)
# A task that never switches is slow, not wrong. Figures of the clock are not part of the account.
NOT_BY_ACCOUNT = ("never_times_out", "output_never_times_out", "tracker_stops_any_clock")
ABORTED = FailureReason.CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER


@pytest.mark.parametrize("name", [name for name in BY_VECTOR if name not in NOT_BY_VECTOR])
def test_a_mutant_fails_some_vector_and_only_of_its_own_kind(name: str) -> None:
    """What the real classes did distinguish each of these mutants, and only where it is faulty."""
    slot = MUTANTS[name].slot
    path = VECTORS / f"{SUITES[slot]}.jsonl"
    outcomes = list(run_file(path, mutant=name))
    failed = {outcome.name for outcome in outcomes if outcome.mismatch is not None}
    assert failed
    vectors = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    kinds = {vector["handler"] for vector in vectors if vector["name"] in failed}
    if slot == "handler":
        assert ("tracker" in kinds) is (name in OF_TRACKERS + OF_ANY_HANDLER)
        assert (kinds == {"tracker"}) is (name in OF_TRACKERS)
        assert not any(outcome.skipped for outcome in outcomes)
    else:
        assert kinds == {slot.replace("_", "-")}
        assert any(outcome.skipped is not None for outcome in outcomes)


def broken_life(name: str, lives: int) -> str | None:
    """Play random lives with a mutant in its place. Returns the first broken rule."""
    mutant = MUTANTS[name]
    made = Factories()
    match mutant.slot:
        case "input_channel":
            made.channel = mutant.factory
        case "output_subpartition":
            made.subpartition = mutant.factory
        case _:
            made.handler = mutant.factory
    draw = random.Random(7)
    for _ in range(lives):
        rig = Rig(HandlerKind.ALTERNATING, 4, gates=2, factories=made)
        script = [(draw.choice(VERBS), draw.randrange(4), draw.randrange(13)) for _ in range(90)]
        try:
            play(rig, script)
        except (BrokenRuleError, ProtocolError) as error:
            return str(error)
    return None


@pytest.mark.parametrize("name", [name for name in BY_VECTOR if name not in NOT_BY_ACCOUNT])
def test_a_mutant_breaks_a_rule_of_the_account(name: str) -> None:
    """Random lives find each of these mutants by what becomes of the data, within 2000 lives."""
    assert broken_life(name, 2000) is not None


def early_marker(make: Callable[..., SubtaskCheckpoints]) -> bool:
    """Return whether the late trigger of an aborted checkpoint is answered by a marker."""
    subtask = make()
    subtask.step(subtask_events.AbortNotified(1))
    barrier = Barrier(1, 0, OptionKind.ALIGNED)
    return subtask_events.BroadcastCancellation(1) in subtask.step(
        subtask_events.CheckpointTriggered(0, barrier)
    )


def reports_output_time_out(make: Callable[..., SubtaskCheckpoints]) -> bool:
    """Return whether in-flight data of the output makes a checkpoint unaligned."""
    subtask = make()
    barrier = Barrier(1, 0, OptionKind.TIMEOUTABLE, 5)
    subtask.step(subtask_events.CheckpointTriggered(0, barrier))
    subtask.step(subtask_events.BarrierSent(0, 1, open_outputs=1))
    subtask.step(subtask_events.OutputSettled(1))
    subtask.step(subtask_events.ChannelStateWritten(1, 64))
    return subtask.step(subtask_events.AsyncPartDone(1)) == [
        subtask_events.AcknowledgeCheckpoint(1, 64, unaligned=True)
    ]


def answers_after_abort(make: Callable[..., SharedStateWriter]) -> bool:
    """Return whether a beginning after the abort is answered."""
    writer = make([0])
    writer.step(writer_events.WriteAborted(0, 1, ABORTED))
    return writer.step(writer_events.WriteStarted(0, 1)) == [
        writer_events.PartFailed(0, 1, ABORTED)
    ]


def survives_late_abort(make: Callable[..., SharedStateWriter]) -> bool:
    """Return whether a late abort of 1 leaves 2 alone."""
    writer = make([0])
    writer.step(writer_events.WriteStarted(0, 2))
    writer.step(writer_events.WriteAborted(0, 1, ABORTED))
    return bool(writer.writing == (0,))


def answers_superseded(make: Callable[..., SharedStateWriter]) -> bool:
    """Return whether the parts of a superseded checkpoint are answered."""
    writer = make([0])
    writer.step(writer_events.WriteStarted(0, 1))
    effects = writer.step(writer_events.WriteStarted(0, 2))
    return any(isinstance(effect, writer_events.PartFailed) for effect in effects)


def tells_write_error(make: Callable[..., SharedStateWriter]) -> bool:
    """Return whether a file that could not be written fails its parts."""
    writer = make([0])
    writer.step(writer_events.WriteStarted(0, 1))
    writer.step(writer_events.DataAdded(0, 1, 9))
    writer.step(writer_events.InputClosed(0, 1))
    writer.step(writer_events.OutputClosed(0, 1))
    effects = writer.step(writer_events.StreamFailed(1))
    return any(isinstance(effect, writer_events.PartFailed) for effect in effects)


def counts_once(make: Callable[..., int]) -> bool:
    """Return whether three channels share one inlined blob."""
    return make([10, 20, 30], inline_threshold_bytes=100) == 60


def keeps_order(make: Callable[..., Barrier]) -> bool:
    """Return whether an edge that must keep its order forces timeoutable barriers to align."""
    barrier = Barrier(1, 0, OptionKind.TIMEOUTABLE, 5)
    return make(barrier, supports_unaligned=False).kind is OptionKind.FORCED_ALIGNED


def two_running(make: Callable[..., CheckpointCoordinator]) -> CheckpointCoordinator:
    """Return a coordinator with a savepoint and a newer checkpoint running."""
    coordinator = make(CoordinatorParameters(max_concurrent=2))
    for savepoint in (True, False):
        coordinator.step(coordinator_events.CheckpointRequested(0, savepoint=savepoint))
        coordinator.step(coordinator_events.Planned(0, (1,), (1,)))
    return coordinator


def spares_savepoints(make: Callable[..., CheckpointCoordinator]) -> bool:
    """Return whether a savepoint survives the completion of a newer checkpoint."""
    coordinator = two_running(make)
    coordinator.step(coordinator_events.Acknowledged(0, 2, 1))
    coordinator.step(coordinator_events.Stored(0, 2))
    return bool(coordinator.pending == (1,))


def tells_after_storing(make: Callable[..., CheckpointCoordinator]) -> bool:
    """Return whether tasks hear of a completion only after it is stored."""
    coordinator = two_running(make)
    effects = coordinator.step(coordinator_events.Acknowledged(0, 2, 1))
    return not any(isinstance(effect, coordinator_events.NotifyComplete) for effect in effects)


def stands_slow_stores(make: Callable[..., CheckpointCoordinator]) -> bool:
    """Return whether the store's answer may come after any number of other checkpoints."""
    coordinator = make(CoordinatorParameters(max_concurrent=2))
    for _ in range(2):
        coordinator.step(coordinator_events.CheckpointRequested(0))
        coordinator.step(coordinator_events.Planned(0, (1,), (1,)))
    coordinator.step(coordinator_events.Acknowledged(0, 1, 1))
    for checkpoint in range(2, 40):
        coordinator.step(coordinator_events.CheckpointRequested(0))
        if coordinator.planning:
            coordinator.step(coordinator_events.Planned(0, (1,), (1,)))
        coordinator.step(coordinator_events.Acknowledged(0, checkpoint, 1))
        coordinator.step(coordinator_events.Stored(0, checkpoint))
    try:
        return coordinator.step(coordinator_events.Stored(0, 1)) == []
    except ProtocolError:
        return False


CHECKS: dict[str, tuple[Callable[..., bool], Callable[..., object]]] = {
    "early_abort_without_marker": (early_marker, SubtaskCheckpoints),
    "output_time_out_unreported": (reports_output_time_out, SubtaskCheckpoints),
    "early_abort_unanswered": (answers_after_abort, SharedStateWriter),
    "late_abort_closes_writer": (survives_late_abort, SharedStateWriter),
    "superseded_result_removed": (answers_superseded, SharedStateWriter),
    "write_error_lost": (tells_write_error, SharedStateWriter),
    "timeoutable_crosses_any_edge": (keeps_order, Barrier.over_edge),
    "savepoints_subsumed": (spares_savepoints, CheckpointCoordinator),
    "told_before_stored": (tells_after_storing, CheckpointCoordinator),
    "slow_stores_forgotten": (stands_slow_stores, CheckpointCoordinator),
}


@pytest.mark.parametrize("name", list(CHECKS))
def test_a_mutant_fails_where_the_right_core_does_not(name: str) -> None:
    """One small story per safeguard: true of the right core, not of the mutant."""
    check, right = CHECKS[name]
    assert check(right)
    assert not check(MUTANTS[name].factory)


def test_a_blob_counts_once_whatever_the_number_of_channels() -> None:
    """The size of a handle is no core.

    A wrong sum is distinguished from the right one all the same.
    """
    assert counts_once(handle_bytes)
    assert not counts_once(whole_blob_per_channel)


def test_every_mutant_is_tested() -> None:
    """No mutant is left out."""
    assert set(MUTANTS) == set(BY_VECTOR) | set(CHECKS)
