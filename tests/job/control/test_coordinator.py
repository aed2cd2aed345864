"""The coordinator host without a world: tasks, messages and job are a test's own."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.lifecycle import StopMode
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.job import faults as job_faults
from ckptsim.sim.job.control.coordinator import CoordinatorHost
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.world import run_world
from tests.job.control.rig import MS, Rig


def test_a_checkpoint_goes_from_trigger_to_notification() -> None:
    """The source is triggered, all acknowledge, all hear of the end, each a message later."""
    rig = Rig()
    rig.run_until(12)
    assert [task.told for task in rig.tasks] == [[(12 * MS, "trigger", 1, None)], [], []]
    rig.acknowledge(1, 0, 1, 2)
    rig.run_until(20)
    assert [task.told[-1] for task in rig.tasks] == [(16 * MS, "complete", 1)] * 3
    record = rig.host.records[1]
    assert (record.status, record.duration_ns, record.ended_ns) == ("completed", 4 * MS, 14 * MS)
    assert rig.host.completed.keys() == {1}
    assert rig.job.told == [("completed", 1)]


def test_who_finishes_during_a_checkpoint_is_told_of_it_all_the_same() -> None:
    """A completion goes to whom the plan commits, also to a task that has FINISHED meanwhile."""
    rig = Rig()
    rig.run_until(12)
    rig.finish(0)
    rig.acknowledge(1, 0, 1, 2)
    rig.run_until(20)
    assert rig.host.planning.finished == {0}
    assert (16 * MS, "complete", 1) in rig.tasks[0].told


def test_who_has_finished_before_is_no_part_of_a_plan() -> None:
    """After a finished source its receivers are triggered, and no one else is reported anything."""
    rig = Rig()
    rig.finish(0)
    rig.run_until(12)
    assert rig.host.records[1].tasks == (1, 2)
    assert [len(task.told) for task in rig.tasks] == [0, 1, 1]


@pytest.mark.parametrize("how", ["expired", "declined"])
def test_a_given_up_checkpoint_is_told_to_whom_its_plan_names(how: str) -> None:
    """After an expiry or a refusal every task learns that the checkpoint was aborted."""
    rig = Rig()
    rig.run_until(12)
    if how == "declined":
        rig.host.decline(rig.tasks[1], 1, FailureReason.CHECKPOINT_DECLINED)
    rig.run_until(50)
    at_ns = (42 if how == "expired" else 16) * MS
    assert [task.told[-1] for task in rig.tasks] == [(at_ns, "aborted", 1, None)] * 3
    assert rig.host.records[1].status == ("expired" if how == "expired" else "aborted")


def test_a_late_acknowledgement_changes_nothing() -> None:
    """What comes for a checkpoint that has expired is counted and not kept."""
    rig = Rig()
    rig.run_until(45)
    rig.acknowledge(1, 0, 1, 2)
    rig.run_until(50)
    assert rig.env.goals.counts["late_acknowledgement"] == 3
    assert rig.host.records[1].parts == {}


def test_an_attempt_that_is_over_leaves_nothing_behind() -> None:
    """Acknowledgements, reports and ends of an old attempt count for nothing in the next one."""
    rig = Rig()
    rig.run_until(12)
    rig.acknowledge(1, 0, 1, 2)
    rig.finish(0, 1)
    for task in rig.tasks:
        rig.host.end_of_data(task)
    rig.host.suspend(FailureReason.JOB_FAILOVER_REGION)
    rig.host.start(2, rig.tasks)
    rig.run_until(21)
    assert rig.host.records.keys() == {1}
    assert rig.host.records[1].status == "aborted"
    assert rig.host.planning.finished == set()
    rig.run_until(23)
    assert rig.host.records[2].attempt == 2
    assert rig.host.records[2].tasks == (0, 1, 2)


def test_the_last_report_of_ended_data_asks_for_a_checkpoint() -> None:
    """When the last of all tasks has ended its data, a checkpoint is triggered, once."""
    rig = Rig()
    rig.run_until(1)
    for task in rig.tasks[:2]:
        rig.host.end_of_data(task)
    rig.run_until(5)
    assert rig.host.records == {}
    rig.host.end_of_data(rig.tasks[2])
    rig.run_until(8)
    assert [one.triggered_ns for one in rig.host.records.values()] == [7 * MS]


@pytest.mark.parametrize("reported", [(1,), (1, 2)])
def test_union_state_has_to_end_in_one_checkpoint(reported: tuple[int, ...]) -> None:
    """A checkpoint in which part of a vertex with union state has finished is aborted."""
    rig = Rig(union_state=True)
    rig.run_until(12)
    rig.acknowledge(1, *{0, 1, 2}.difference(reported))
    rig.acknowledge(1, *reported, finished=True)
    rig.run_until(20)
    record = rig.host.records[1]
    if len(reported) == 2:
        assert record.status == "completed"
    else:
        assert (record.status, record.reason) == (
            "aborted",
            "union_state_partly_finished_operators",
        )
        assert rig.host.completed == {}


def test_a_stop_takes_a_savepoint_and_goes_on_where_that_fails() -> None:
    """The savepoint's triggers say how to stop. When it is declined the job is notified so."""
    rig = Rig()
    rig.host.stop()
    rig.run_until(2)
    assert rig.tasks[0].told == [(2 * MS, "trigger", 1, StopMode.DRAIN)]
    rig.host.decline(rig.tasks[2], 1, FailureReason.CHECKPOINT_DECLINED)
    rig.run_until(5)
    assert rig.host.stop_id is None
    assert ("stop failed",) in rig.job.told
    assert not rig.host.stop_completed


def test_a_complete_savepoint_ends_the_triggers() -> None:
    """After the savepoint of a stop no periodic checkpoint follows."""
    rig = Rig()
    rig.host.stop()
    rig.run_until(2)
    rig.acknowledge(1, 0, 1, 2)
    rig.run_until(500)
    assert rig.host.stop_completed
    assert rig.host.records.keys() == {1}


SOURCE: dict[str, Any] = {"vertex": "source", "subtask": 0, "checkpoint": 1}
MAP: dict[str, Any] = {"vertex": "map", "subtask": 1, "checkpoint": 1}


def test_faults_of_a_trigger() -> None:
    """A trigger is lost, late, or refused as by a task that is not ready."""
    assert run_with(job_faults.LoseTrigger(**SOURCE)).tasks[0].told == [
        (42 * MS, "aborted", 1, None)
    ]
    late = run_with(job_faults.DelayTrigger(**SOURCE, delay_ns=5 * MS))
    assert (17 * MS, "trigger", 1, None) in late.tasks[0].told
    refused = run_with(job_faults.RefuseTrigger(**SOURCE)).host.records[1]
    assert refused.reason == FailureReason.CHECKPOINT_DECLINED_TASK_NOT_READY.value
    assert refused.ended_ns == 14 * MS


def test_faults_of_notifications_and_acknowledgements() -> None:
    """A completion is heard of never or twice. Without an acknowledgement a checkpoint expires."""
    lost = run_with(job_faults.LoseNotification(**MAP))
    assert [len(task.told) for task in lost.tasks] == [2, 1, 0]
    assert lost.host.gateway.lost == {(2, 1)}
    stray = run_with(job_faults.StrayNotification(**MAP, delay_ns=7 * MS))
    assert stray.tasks[2].told == [(16 * MS, "complete", 1), (23 * MS, "complete", 1)]
    assert run_with(job_faults.LoseAcknowledgement(**MAP)).host.records[1].status == "expired"


def test_an_acknowledgement_that_comes_twice_counts_once() -> None:
    """The checkpoint still waits for the others. A repeat after its end changes nothing."""
    rig = Rig(job_faults.RepeatAcknowledgement(**MAP, delay_ns=3 * MS))
    rig.run_until(12)
    rig.acknowledge(1, 1, 2)
    rig.run_until(20)
    assert rig.host.core.awaited(1) == (0,)
    assert run_with(job_faults.RepeatAcknowledgement(**MAP, delay_ns=9 * MS)).tasks[2].told == [
        (16 * MS, "complete", 1)
    ]


def test_a_stray_decline_ends_a_checkpoint_that_is_not_whole() -> None:
    """One that comes when all have acknowledged is too late. Before that it is one like others."""
    late = run_with(job_faults.StrayDecline(**MAP, delay_ns=0))
    assert late.host.records[1].status == "completed"
    rig = Rig(job_faults.StrayDecline(**MAP, delay_ns=0))
    rig.run_until(12)
    rig.acknowledge(1, 1, 2)
    rig.run_until(20)
    assert rig.host.records[1].reason == FailureReason.CHECKPOINT_DECLINED.value


def test_users_ask_for_checkpoints_and_savepoints() -> None:
    """A request is carried out at its instant while the job runs, and never while it does not."""
    plan = FaultPlan(
        (job_faults.RequestCheckpoint(at_ns=2 * MS), job_faults.RequestSavepoint(at_ns=3 * MS))
    )
    asked: list[bool] = []
    job = SimpleNamespace(running=False, coordinator=SimpleNamespace())
    job.coordinator.request = lambda *, savepoint: asked.append(savepoint)
    for job.running in (False, True):
        for fault in plan.timed:
            plan.strike(fault, job)  # type: ignore[arg-type]
    assert asked == [False, True]


def test_all_notifications_can_be_lost_by_chance() -> None:
    """With a share of 1 no task ever learns of a completion."""
    rig = run_with(loss_ratio=1.0)
    assert [len(task.told) for task in rig.tasks] == [1, 0, 0]
    assert rig.host.records[1].status == "completed"


def run_with(*faults: job_faults.JobFault, loss_ratio: float = 0.0) -> Rig:
    """Run one checkpoint that everybody acknowledges as soon as the source would be triggered."""
    rig = Rig(*faults, loss_ratio=loss_ratio)
    rig.run_until(12)
    if not any(
        isinstance(one, job_faults.LoseTrigger | job_faults.RefuseTrigger) for one in faults
    ):
        rig.acknowledge(1, 0, 1, 2)
    rig.run_until(60)
    return rig


def test_the_job_hears_of_every_end_once() -> None:
    """When the last task is known to have FINISHED the job is notified that all have."""
    rig = Rig()
    rig.finish(0, 1, 2)
    rig.run_until(5)
    assert rig.job.told == [("finished", 0), ("finished", 1), ("finished", 2), ("all finished",)]


def test_subsumed_checkpoints_are_deleted_with_their_files() -> None:
    """When a newer checkpoint completes, the files of the one before are deleted."""
    rig = Rig()
    rig.run_until(12)
    rig.host.note_file(1, 77)
    rig.acknowledge(1, 0, 1, 2)
    rig.run_until(112)
    rig.acknowledge(2, 0, 1, 2)
    rig.run_until(120)
    assert rig.host.completed.keys() == {2}
    assert rig.messages.discarded == [[77]]


def test_a_job_that_restores_refuses_a_plan() -> None:
    """While some task restores its state no checkpoint begins, and the next trigger comes."""
    rig = Rig()
    rig.job.can_checkpoint = False
    rig.run_until(12)
    assert not rig.host.records
    assert [task.told for task in rig.tasks] == [[], [], []]
    rig.job.can_checkpoint = True
    rig.run_until(112)
    assert [task.told for task in rig.tasks] == [[(112 * MS, "trigger", 1, None)], [], []]


def test_a_host_that_discards_nothing_is_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a coordinator has discarded is held no longer, or its host says something else."""
    monkeypatch.setattr(CoordinatorHost, "_discard", lambda _host, _checkpoint: None)
    found = run_world(by_name("slow_store"), seed=0).violations
    assert {row.property for row in found} == {"cores_agree_with_their_world"}
    assert "its host holds 1, 2 and 3, where 3 are kept" in found[0].says
