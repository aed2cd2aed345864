"""The control of one task: handler, checkpoints and lifecycle as simulated tasks have them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptsim.models import lifecycle
from ckptsim.models.barriers import EndOfData
from ckptsim.sim.conform.final_checkpoint import ScriptedTask
from ckptsim.sim.conform.final_checkpoint import run as run_vector
from ckptsim.sim.slots import OURS, ProtocolCores
from tests.conform.test_indifference import vectors
from tests.mutants import MUTANTS

SOURCE = lifecycle.TaskParameters(kind=lifecycle.TaskKind.SOURCE)
TWO_INPUTS = lifecycle.TaskParameters(kind=lifecycle.TaskKind.NON_SOURCE, gate_channels=(2,))


def made(parameters: lifecycle.TaskParameters, cores: ProtocolCores = OURS) -> ScriptedTask:
    """Return a task of these cores."""
    return ScriptedTask(parameters, lifecycle.TaskLifecycle(parameters), cores)


def done(task: ScriptedTask, step: Callable[..., None], *arguments: Any) -> list[str]:
    """Return what a step makes the task do, a word and a number each."""
    task.entries.clear()
    step(*arguments)
    return [f"{e['action']} {e.get('id', '')}".strip() for e in task.entries if "action" in e]


def test_newer_barrier_subsumes_the_alignment_of_an_older_one() -> None:
    """The older checkpoint is declined and cancelled, and its late barriers are dropped."""
    task = made(TWO_INPUTS)
    assert done(task, task.barrier, 0, 5) == []
    assert done(task, task.barrier, 1, 6) == ["decline_checkpoint 5", "emit_cancel_marker 5"]
    assert done(task, task.barrier, 1, 5) == []
    assert done(task, task.barrier, 0, 6) == ["emit_barrier 6"]


def test_the_end_of_a_channel_stands_for_its_barrier() -> None:
    """An alignment that waits for a channel which ends is complete (FLINK-21086)."""
    task = made(TWO_INPUTS)
    task.barrier(0, 5)
    assert done(task, task.control.end_of_partition, 1) == ["emit_barrier 5"]


def test_abort_before_the_trigger_is_answered_by_a_cancellation_marker() -> None:
    """A checkpoint after its own abort is not performed and does not become the minimum id."""
    task = made(SOURCE)
    task.control.notify_aborted(7, None)
    task.control.exhausted()
    assert done(task, task.trigger, 7) == ["emit_cancel_marker 7"]
    assert task.control.lifecycle.core.minimum_id is None


def test_a_trigger_older_than_the_alignment_under_way_is_dropped() -> None:
    """A remote call represents barriers, and an older barrier is obsolete. The newer continues."""
    task = made(TWO_INPUTS)
    task.barrier(0, 5)
    assert done(task, task.trigger, 4) == []
    assert done(task, task.barrier, 1, 5) == ["emit_barrier 5"]


def test_a_late_trigger_is_skipped() -> None:
    """A remote call for an older checkpoint than the last one changes nothing."""
    task = made(SOURCE)
    assert done(task, task.trigger, 5) == ["emit_barrier 5"]
    assert done(task, task.trigger, 5) == []
    assert done(task, task.trigger, 4) == []
    assert task.control.checkpoints.core.last == 5


def test_a_stopped_source_ends_its_data_in_front_of_the_savepoint() -> None:
    """The savepoint's barrier follows EndOfData, so nothing lies after it (FLINK-23541)."""
    task = made(SOURCE)
    task.stops.add(3)
    found = done(task, task.trigger, 3, lifecycle.StopMode.DRAIN)
    assert found.index("emit_end_of_data") < found.index("emit_barrier 3")
    assert task.control.lifecycle.core.savepoint_id == 3


def test_a_source_stops_although_its_savepoint_was_given_up_before() -> None:
    """The data ends with the call. The savepoint is answered by a cancellation marker."""
    task = made(SOURCE)
    task.control.notify_aborted(3, None)
    task.stops.add(3)
    found = done(task, task.trigger, 3, lifecycle.StopMode.NO_DRAIN)
    assert found == ["finish_task", "emit_end_of_data", "emit_cancel_marker 3"]


def storing(parameters: lifecycle.TaskParameters, monkeypatch: pytest.MonkeyPatch) -> ScriptedTask:
    """Return a task with files that are never whole. It notes what it drops and is notified of."""
    task = made(parameters)
    monkeypatch.setattr(task.snapshots, "store", lambda *_: None)
    monkeypatch.setattr(task.snapshots, "drop", lambda number: task.act("drop", id=number))
    monkeypatch.setattr(task.ending, "tell", lambda what, number: task.act(what, id=number))
    return task


def waiting_to_close(task: ScriptedTask) -> None:
    """Take a source after its last record, into checkpoints 1 and 2."""
    task.control.exhausted()
    task.control.end_of_data_acknowledged(0)
    task.trigger(1)
    task.trigger(2)


def test_an_abort_first_repeats_the_completion(monkeypatch: pytest.MonkeyPatch) -> None:
    """The latest completion is named before the checkpoint is aborted (notifyCheckpointAbort)."""
    task = storing(SOURCE, monkeypatch)
    task.trigger(7)
    assert done(task, task.control.notify_aborted, 7, 6) == ["notify 6", "drop 7"]


def test_an_aborted_stop_fails_before_anything_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task with a stop that has failed does nothing more about the savepoint."""
    task = storing(SOURCE, monkeypatch)
    task.stops.add(3)
    task.trigger(3, lifecycle.StopMode.DRAIN)
    assert done(task, task.control.notify_aborted, 3, None) == ["fail_task"]


def test_a_checkpoint_is_given_up_before_its_task_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    """An abort that repeats the completion which lets the task go is dealt with to its end."""
    task = storing(SOURCE, monkeypatch)
    waiting_to_close(task)
    found = done(task, task.control.notify_aborted, 2, 1)
    assert found == ["notify 1", "drop 2", "close_operator", "emit_end_of_partition"]


def test_a_closing_task_hears_of_no_abort(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the closed mailbox the part being written is written to its end."""
    task = storing(SOURCE, monkeypatch)
    monkeypatch.setattr(task.ending, "has_writes", True)
    waiting_to_close(task)
    assert done(task, task.control.notify_complete, 1) == ["notify 1"]
    assert task.has_closed
    assert done(task, task.control.notify_aborted, 2, 1) == []


def test_a_closed_task_declines() -> None:
    """Whatever a closed task is asked for it declines at once."""
    task = made(replace(SOURCE, checkpointing=False))
    task.control.exhausted()
    assert task.has_closed
    assert done(task, task.trigger, 9) == ["decline_checkpoint 9"]


@pytest.mark.parametrize(
    ("slot", "mutant"),
    [("handler", "end_of_partition_aborts"), ("subtask", "early_abort_without_marker")],
)
def test_vectors_find_faults_of_every_core_on_the_way(slot: str, mutant: str) -> None:
    """The scripts of task lives go through handler and subtask, so a mutant of these is found."""
    factory: Any = MUTANTS[mutant].factory
    cores = replace(OURS, **{slot: factory})
    assert any(run_vector(vector, None, cores=cores) for vector in vectors("final_checkpoint"))


CHANNELS = st.integers(0, 1)
IDS = st.integers(1, 6)
MAYBE = st.none() | IDS
STEPS: st.SearchStrategy[tuple[Any, ...]] = st.one_of(
    st.tuples(st.just("watermark"), CHANNELS),
    st.tuples(st.just("end of data"), CHANNELS, st.booleans()),
    st.tuples(st.just("barrier"), CHANNELS, IDS),
    st.tuples(st.just("end of partition"), CHANNELS),
    st.tuples(st.just("acknowledged"), st.just(0)),
    st.tuples(st.just("trigger"), IDS),
    st.tuples(st.just("complete"), IDS),
    st.tuples(st.just("abort"), IDS, MAYBE),
)


def take(task: ScriptedTask, step: tuple[Any, ...]) -> None:
    """Let the task take a step. Nothing comes out of a channel that has ended."""
    what, first, *rest = step
    control = task.control
    from_channel = what in ("watermark", "end of data", "barrier", "end of partition")
    if task.has_failed or (from_channel and (task.has_closed or first in control.ended_channels)):
        return
    match what:
        case "watermark":
            control.max_watermark(first)
        case "end of data":
            control.end_of_data(first, EndOfData(drain=rest[0]))
        case "barrier":
            task.barrier(first, rest[0])
        case "end of partition":
            control.end_of_partition(first)
        case "acknowledged":
            control.end_of_data_acknowledged(first)
        case "trigger":
            task.trigger(first)
        case "complete":
            control.notify_complete(first)
        case _:
            control.notify_aborted(first, rest[0])


@settings(max_examples=300, deadline=None)
@given(
    script=st.lists(STEPS, max_size=40),
    variant=st.sampled_from(lifecycle.Variant),
    after_finish=st.booleans(),
)
def test_no_script_breaks_the_order_of_a_life(
    script: list[tuple[Any, ...]], variant: lifecycle.Variant, after_finish: bool
) -> None:
    """Whatever arrives: marks come once and in order, commits ascend, closing meets every wait."""
    parameters = replace(TWO_INPUTS, variant=variant, sink_opens_after_finish=after_finish)
    task = made(parameters)
    seen: list[dict[str, Any]] = []
    for step in script:
        over = task.has_closed or task.has_failed
        task.entries.clear()
        take(task, step)
        seen.extend(task.entries)
        if over:
            assert all(e.get("action") == "decline_checkpoint" for e in task.entries)
        if any(e.get("state") == "CLOSED" for e in task.entries):
            assert task.control.lifecycle.core.waits_for() == ()
    actions = [e["action"] for e in seen if "action" in e]
    marks = ("emit_max_watermark", "emit_end_of_data", "emit_end_of_partition", "finish_operator")
    for mark in marks:
        assert actions.count(mark) <= 1
    if "emit_end_of_partition" in actions:
        end = actions.index("emit_end_of_partition")
        assert set(actions[end + 1 :]) <= {"lingering_transactions", "decline_checkpoint"}
        assert "emit_end_of_data" in actions[:end]
    committed = [n for e in seen if e.get("action") == "commit_transactions" for n in e["ids"]]
    assert committed == sorted(set(committed))
    aborted = [n for e in seen if e.get("action") == "abort_transactions" for n in e["ids"]]
    assert not set(committed) & set(aborted)
    performed = [e["id"] for e in seen if e.get("action") == "emit_barrier"]
    assert performed == sorted(set(performed))
