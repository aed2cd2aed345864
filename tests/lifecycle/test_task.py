"""The lifecycle core on single events, on races, and under random scripts."""

from collections.abc import Callable

import pytest

from ckptsim.models.core import ProtocolError
from ckptsim.models.lifecycle import (
    OperatorState,
    TaskKind,
    TaskLifecycle,
    TaskParameters,
    TaskState,
    Variant,
)
from ckptsim.models.lifecycle import effects as lifecycle_effects
from ckptsim.models.lifecycle import events as lifecycle_events
from tests.mutants.lifecycle import MUTANTS

Build = Callable[[TaskParameters], TaskLifecycle]
SOURCE = TaskParameters(kind=TaskKind.SOURCE)
TWO_INPUTS = TaskParameters(kind=TaskKind.NON_SOURCE, gate_channels=(2,))
CLOSED = lifecycle_effects.StateChanged(TaskState.CLOSED, OperatorState.CLOSED)


def skipped_trigger(build: Build) -> bool:
    """Return whether a trigger that is skipped as old lets an early completion close the task."""
    task = build(SOURCE)
    task.step(lifecycle_events.CheckpointPerformed(43))
    task.step(lifecycle_events.InputExhausted())
    task.step(lifecycle_events.EndOfDataAcknowledged(0))
    task.step(lifecycle_events.CheckpointTriggered(42))
    return CLOSED in task.step(lifecycle_events.CheckpointCompleted(43))


def restored_id(build: Build) -> bool:
    """Return whether a completion of the previous attempt closes a restored task."""
    parameters = TaskParameters(
        kind=TaskKind.SOURCE, restored_from=10, sink_opens_after_finish=True
    )
    task = build(parameters)
    task.step(lifecycle_events.CheckpointPerformed(9))
    return any(
        isinstance(e, lifecycle_effects.CommitTransactions)
        for e in task.step(lifecycle_events.CheckpointCompleted(9))
    )


@pytest.mark.parametrize(
    ("mutant", "fault"),
    [
        ("skipped_trigger_sets_minimum", skipped_trigger),
        ("ignores_restored_id", restored_id),
    ],
)
def test_mutant_shows_the_fault_and_the_core_does_not(
    mutant: str, fault: Callable[[Build], bool]
) -> None:
    """The script of a published fault goes wrong on its mutant and right on the core."""
    assert fault(MUTANTS[mutant].factory)
    assert not fault(TaskLifecycle)


def test_only_what_is_performed_can_become_the_minimum() -> None:
    """A trigger that is not performed, because its abort came first, sets no minimum id."""
    task = TaskLifecycle(SOURCE)
    task.step(lifecycle_events.CheckpointAborted(7))
    task.step(lifecycle_events.InputExhausted())
    assert task.step(lifecycle_events.CheckpointTriggered(7)) == []
    assert task.minimum_id is None
    flags = lifecycle_effects.TakeSnapshot(8, operators_finished=True, finished_on_restore=False)
    assert task.step(lifecycle_events.CheckpointPerformed(8)) == [flags]
    assert task.minimum_id == 8


def test_aborts_leave_nothing_behind() -> None:
    """A thousand checkpoints that were aborted before they came are not remembered."""
    task = TaskLifecycle(SOURCE)
    before = {name: repr(value) for name, value in vars(task).items()}
    for checkpoint in range(1000):
        assert task.step(lifecycle_events.CheckpointAborted(checkpoint)) == []
    assert {name: repr(value) for name, value in vars(task).items()} == before


def test_lost_completion_of_the_exact_savepoint_is_a_hazard_under_flink_only() -> None:
    """Completion 8 before 7 leaves a Flink stop waiting for ever, and a FLIP stop not."""
    for variant, state in (
        (Variant.FLINK, TaskState.WAITING_FOR_FINAL_CP),
        (Variant.FLIP, TaskState.CLOSED),
    ):
        task = TaskLifecycle(TaskParameters(kind=TaskKind.SOURCE, variant=variant))
        task.step(lifecycle_events.StopWithSavepointTriggered(7, drain=True))
        task.step(lifecycle_events.CheckpointPerformed(7, savepoint=True))
        task.step(lifecycle_events.CheckpointPerformed(8))
        task.step(lifecycle_events.EndOfDataAcknowledged(0))
        task.step(lifecycle_events.CheckpointCompleted(8))
        task.step(lifecycle_events.CheckpointCompleted(7))
        assert task.state is state


@pytest.mark.parametrize(
    ("parameters", "event", "kind"),
    [
        (TWO_INPUTS, lifecycle_events.InputExhausted(), "not_a_source"),
        (TWO_INPUTS, lifecycle_events.MaxWatermarkReceived(2), "unknown_channel"),
        (TWO_INPUTS, lifecycle_events.EndOfDataAcknowledged(1), "unknown_channel"),
        (SOURCE, lifecycle_events.EndOfPartitionReceived(0), "unknown_channel"),
    ],
)
def test_foreign_events_are_refused(
    parameters: TaskParameters, event: lifecycle_events.Event, kind: str
) -> None:
    """An event that cannot concern the task raises the named error and leaves it running."""
    task = TaskLifecycle(parameters)
    with pytest.raises(ProtocolError) as refusal:
        task.step(event)
    assert refusal.value.kind == kind
    assert task.state is TaskState.RUNNING
