"""The lifecycle core on single events, on races, and under random scripts."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptsim.models.core import ProtocolError
from ckptsim.models.lifecycle import (
    OperatorState,
    StopMode,
    TaskKind,
    TaskLifecycle,
    TaskParameters,
    TaskState,
    Variant,
)
from ckptsim.models.lifecycle import effects as do
from ckptsim.models.lifecycle import events as on
from ckptsim.sim.mutants.lifecycle import MUTANTS

Build = Callable[[TaskParameters], TaskLifecycle]
SOURCE = TaskParameters(kind=TaskKind.SOURCE)
TWO_INPUTS = TaskParameters(kind=TaskKind.NON_SOURCE, gates=(2,))
CLOSED = do.StateChanged(TaskState.CLOSED, OperatorState.CLOSED)


def skipped_trigger(build: Build) -> bool:
    """Say whether a trigger that is skipped as old lets an early completion close the task."""
    task = build(SOURCE)
    task.step(on.CheckpointTriggered(43))
    task.step(on.InputExhausted())
    task.step(on.EndOfDataAcknowledged(0))
    task.step(on.CheckpointTriggered(42))
    return CLOSED in task.step(on.CheckpointCompleted(43))


def restored_id(build: Build) -> bool:
    """Say whether a completion of the previous attempt closes a restored task."""
    parameters = TaskParameters(
        kind=TaskKind.SOURCE, restored_from=10, sink_opens_after_finish=True
    )
    task = build(parameters)
    task.step(on.CheckpointTriggered(9))
    return any(isinstance(e, do.CommitTransactions) for e in task.step(on.CheckpointCompleted(9)))


def end_of_partition_in_alignment(build: Build) -> bool:
    """Say whether the end of a channel fails to stand for its barrier."""
    task = build(TWO_INPUTS)
    task.step(on.BarrierReceived(0, 5))
    found = task.step(on.EndOfPartitionReceived(1))
    return do.EmitBarrier(5) not in found


@pytest.mark.parametrize(
    ("mutant", "fault"),
    [
        ("skipped_trigger_sets_minimum", skipped_trigger),
        ("ignores_restored_id", restored_id),
        ("end_of_partition_aborts_alignment", end_of_partition_in_alignment),
    ],
)
def test_mutant_shows_the_fault_and_the_core_does_not(
    mutant: str, fault: Callable[[Build], bool]
) -> None:
    """The script of a published fault goes wrong on its mutant and right on the core."""
    assert fault(MUTANTS[mutant].factory)
    assert not fault(TaskLifecycle)


def test_newer_barrier_subsumes_the_alignment_of_an_older_one() -> None:
    """The older checkpoint is declined and cancelled, and its late barriers are dropped."""
    task = TaskLifecycle(TWO_INPUTS)
    assert task.step(on.BarrierReceived(0, 5)) == []
    assert task.step(on.BarrierReceived(1, 6)) == [do.DeclineCheckpoint(5), do.EmitCancelMarker(5)]
    assert task.step(on.BarrierReceived(1, 5)) == []
    assert task.step(on.BarrierReceived(0, 6)) == [
        do.EmitBarrier(6),
        do.TakeSnapshot(6, operators_finished=False, finished_on_restore=False),
    ]


def test_abort_before_the_trigger_is_answered_by_a_cancellation_marker() -> None:
    """A checkpoint whose abort came first is not performed and does not become the minimum id."""
    task = TaskLifecycle(SOURCE)
    task.step(on.CheckpointAborted(7))
    task.step(on.InputExhausted())
    assert task.step(on.CheckpointTriggered(7)) == [do.EmitCancelMarker(7)]
    assert task.minimum_id is None


def test_lost_completion_of_the_exact_savepoint_is_a_hazard_under_flink_only() -> None:
    """Completion 8 before 7 leaves a Flink stop waiting for ever, and a FLIP stop not."""
    for variant, state in (
        (Variant.FLINK, TaskState.WAITING_FOR_FINAL_CP),
        (Variant.FLIP, TaskState.CLOSED),
    ):
        task = TaskLifecycle(TaskParameters(kind=TaskKind.SOURCE, variant=variant))
        task.step(on.StopWithSavepointTriggered(7, drain=True))
        task.step(on.CheckpointTriggered(8))
        task.step(on.EndOfDataAcknowledged(0))
        task.step(on.CheckpointCompleted(8))
        task.step(on.CheckpointCompleted(7))
        assert task.state is state


@pytest.mark.parametrize(
    ("parameters", "event", "kind"),
    [
        (TWO_INPUTS, on.InputExhausted(), "not_a_source"),
        (TWO_INPUTS, on.BarrierReceived(2, 1), "unknown_channel"),
        (TWO_INPUTS, on.EndOfDataAcknowledged(1), "unknown_channel"),
        (SOURCE, on.BarriersAligned(1), "source_has_no_inputs"),
        (SOURCE, on.EndOfPartitionReceived(0), "unknown_channel"),
    ],
)
def test_foreign_events_are_refused(parameters: TaskParameters, event: on.Event, kind: str) -> None:
    """An event that cannot concern the task raises the named error and leaves it running."""
    task = TaskLifecycle(parameters)
    with pytest.raises(ProtocolError) as refusal:
        task.step(event)
    assert refusal.value.kind == kind
    assert task.state is TaskState.RUNNING


def test_a_trigger_older_than_the_alignment_under_way_is_dropped() -> None:
    """A remote call stands for barriers, and an older barrier is obsolete; the newer goes on."""
    task = TaskLifecycle(TWO_INPUTS)
    task.step(on.BarrierReceived(0, 5))
    assert task.step(on.CheckpointTriggered(4)) == []
    assert do.EmitBarrier(5) in task.step(on.BarrierReceived(1, 5))


CHANNELS = st.integers(0, 1)
IDS = st.integers(1, 6)
NON_SOURCE_EVENTS: st.SearchStrategy[on.Event] = st.one_of(
    st.builds(on.MaxWatermarkReceived, CHANNELS),
    st.builds(on.EndOfDataReceived, CHANNELS, st.sampled_from(StopMode)),
    st.builds(on.BarrierReceived, CHANNELS, IDS, st.booleans()),
    st.builds(on.EndOfPartitionReceived, CHANNELS),
    st.builds(on.EndOfDataAcknowledged, st.just(0)),
    st.builds(on.CheckpointTriggered, IDS),
    st.builds(on.CheckpointCompleted, IDS),
    st.builds(on.CheckpointAborted, IDS, st.none() | IDS),
)


@settings(max_examples=300, deadline=None)
@given(
    script=st.lists(NON_SOURCE_EVENTS, max_size=40),
    variant=st.sampled_from(Variant),
    after_finish=st.booleans(),
)
def test_no_script_breaks_the_order_of_a_life(
    script: list[on.Event], variant: Variant, after_finish: bool
) -> None:
    """Whatever arrives: marks come once and in order, commits ascend, closing meets every wait."""
    parameters = TaskParameters(
        kind=TaskKind.NON_SOURCE, gates=(2,), variant=variant, sink_opens_after_finish=after_finish
    )
    task = TaskLifecycle(parameters)
    seen: list[do.Effect] = []
    for event in script:
        before = task.state
        found = task.step(event)
        seen.extend(found)
        if before in (TaskState.CLOSED, TaskState.FAILED):
            assert all(isinstance(effect, do.DeclineCheckpoint) for effect in found)
        if CLOSED in found:
            assert task.waits_for() == ()
    kinds = [type(effect) for effect in seen]
    for mark in (do.EmitMaxWatermark, do.EmitEndOfData, do.EmitEndOfPartition, do.FinishOperator):
        assert kinds.count(mark) <= 1
    if do.EmitEndOfPartition in kinds:
        tail = kinds[kinds.index(do.EmitEndOfPartition) + 1 :]
        assert set(tail) <= {do.LeaveTransactions, do.DeclineCheckpoint}
        assert do.EmitEndOfData in kinds[: kinds.index(do.EmitEndOfPartition)]
    committed = [n for e in seen if isinstance(e, do.CommitTransactions) for n in e.transactions]
    assert committed == sorted(set(committed))
    aborted = [n for e in seen if isinstance(e, do.AbortTransactions) for n in e.transactions]
    assert not set(committed) & set(aborted)
    performed = [e.checkpoint_id for e in seen if isinstance(e, do.EmitBarrier)]
    assert performed == sorted(set(performed))
