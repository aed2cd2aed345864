"""A job counts as one that is stalled only when waiting longer would prove nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ckptsim.models.lifecycle import TaskState
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.generators.hazards import hazards
from ckptsim.scenarios.job import Engine, Job, Mode, Plane, Protocol, VertexKind
from ckptsim.scenarios.job.ending import Ending
from ckptsim.scenarios.job.faults import DelayTrigger, RequestSavepoint
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.control.patience import Patience, Times, patience
from ckptsim.sim.job.control.watchdog import Watchdog
from ckptsim.sim.kernel import Environment, Wait
from ckptsim.sim.world import run_world
from tests.job.properties.breaker import placed

CHANCE = by_name("flink_17994_older_stop")
MS = 1_000_000
SHORT = Times(
    message_ns=MS,
    way_ns=10 * MS,
    step_ns=MS,
    gap_ns=5 * MS,
    snapshot_ns=MS,
    completion_ns=MS,
    restore_ns=0,
    reading_ns=0,
    closing_ns=0,
    barrier_ns=2 * MS,
)


class ToldPlane:
    """A plane that does what a test says."""

    def __init__(
        self,
        *,
        records: bool,
        given_up: tuple[str, int] | None = None,
        outpaced_since_ns: int | None = None,
        restores: bool = False,
        states: Sequence[TaskState] = (),
    ) -> None:
        self.env = Environment(0)
        cores = [SimpleNamespace(state=state) for state in states]
        lives = [
            SimpleNamespace(
                lifecycle=SimpleNamespace(core=core),
                handler=SimpleNamespace(blocked={}, barrier_taken_ns=outpaced_since_ns or -1),
                checkpoints=SimpleNamespace(),
            )
            for core in cores
        ]
        self.tasks: list[Any] = [
            SimpleNamespace(number=number, control=life) for number, life in enumerate(lives)
        ]
        self.progress_ns = 0
        self.patience = Patience(
            records_ns=100, final_ns=200, end_ns=400, outpaced=outpaced_since_ns is not None
        )
        self.found: list[tuple[int, str, str]] = []
        self.ended_ns: int | None = None
        self._records = records
        records = {}
        if given_up is not None:
            records[1] = SimpleNamespace(status=given_up[0], triggered_ns=given_up[1])
        coordinator = SimpleNamespace(records=records, stop_completed=False, stop_id=None)
        self.control: Any = SimpleNamespace(
            owner=None,
            running=True,
            can_checkpoint=not restores,
            coordinator=coordinator,
            settings=None,
            failed_while_stopping=False,
            end=self._end,
        )
        self._watchdog = Watchdog(self)
        self._look_later()

    def _look_later(self) -> None:
        at_ns = self._watchdog.next_look_ns
        self.env.call_at(at_ns, 0, self.env.entity("watch"), self._look)

    def _look(self) -> None:
        self._watchdog.look()
        if self.ended_ns is None:
            self._look_later()

    def _end(self) -> None:
        self.ended_ns = self.env.now

    def attempt_began(self) -> None:
        """Begin again, with the patience of now."""
        self._watchdog.attempt_began()

    def look(self) -> None:
        """Look besides."""
        self._watchdog.look()

    def has_records(self) -> bool:
        """Say what the test says."""
        return self._records

    def waits(self) -> list[Wait]:
        """Let a task wait for another one."""
        return [Wait("a", "a record", "b")]

    def violate(self, name: str, says: str) -> None:
        """Keep it."""
        self.found.append((self.env.now, name, says))


_CHAIN = "a waits for a record from b; b itself waits for nothing, and does not act."


def test_records_that_nobody_processes_are_told_once_and_the_end_comes_later() -> None:
    """Who waits for whom is in the sentence. The run continues until its end is hopeless."""
    plane = ToldPlane(records=True)
    plane.env.run()
    says = "no record was processed for 0.1 us, but work remains: "
    assert plane.found == [(100, "job_ends", f"{says}{_CHAIN}")]
    assert plane.ended_ns == 400


def test_without_records_only_the_end_counts() -> None:
    """A job that waits for its final checkpoint is given the longer time."""
    plane = ToldPlane(records=False)
    plane.env.run()
    assert [(at_ns, name) for at_ns, name, _ in plane.found] == [(400, "job_ends")]


@pytest.mark.parametrize("status", ["aborted", "expired", "completed"])
def test_barriers_that_were_given_up_in_the_queue_are_waited_for(status: str) -> None:
    """The wait for an end is longer by the time in which barriers no one needs piled up."""
    plane = ToldPlane(records=False, given_up=(status, -20))
    plane.env.run()
    assert plane.ended_ns == (400 if status == "completed" else 420)


@pytest.mark.parametrize("passing", [False, True])
def test_a_job_whose_triggers_outpace_its_barriers_may_never_end(passing: bool) -> None:
    """Such a run ends without a word while barriers still pass. When none does, it is reported."""
    waiting = [TaskState.WAITING_FOR_FINAL_CP]
    plane = ToldPlane(records=False, states=waiting, outpaced_since_ns=300 if passing else 100)
    plane.patience = replace(plane.patience, final_ns=400)
    plane.attempt_began()
    plane.env.run()
    assert plane.ended_ns == 400
    assert [name for _, name, _ in plane.found] == ([] if passing else ["job_ends"])


def test_tasks_that_restore_for_ever_are_told() -> None:
    """They have as long as records have, though there are none yet."""
    plane = ToldPlane(records=False, restores=True)
    plane.env.run()
    assert [(at_ns, name) for at_ns, name, _ in plane.found] == [(100, "job_ends")]
    assert plane.found[0][2].startswith("its tasks have restored for 0.1 us")


@pytest.mark.parametrize("other", [TaskState.CLOSED, TaskState.RUNNING])
def test_only_when_all_data_have_ended_the_final_checkpoint_is_overdue(other: TaskState) -> None:
    """Who looks after its time, and before the longest wait is over, is notified of it."""
    plane = ToldPlane(records=False, states=[TaskState.WAITING_FOR_FINAL_CP, other])
    plane.env.call_at(250, 0, plane.env.entity("watch"), plane.look)
    plane.env.run(until=plane.env.timeout(300))
    says = "all data ended, and for 0.25 us nothing happened, but work remains: "
    expected = [(250, "job_ends", f"{says}{_CHAIN}")]
    assert plane.found == (expected if other is TaskState.CLOSED else [])


def _job() -> Job:
    job = CHANCE.model
    assert isinstance(job, Job)
    return job


def test_expiring_by_chance_is_waited_for_longer() -> None:
    """Where messages alone can outlast a checkpoint, more tries than elsewhere are waited for."""
    times = replace(SHORT, message_ns=_job().checkpointing.timeout_ns)
    checkpointing = replace(_job().checkpointing, timeout_ns=600_000_000_000)
    certain = replace(_job(), checkpointing=checkpointing)
    no_faults = FaultPlan(())
    by_chance = patience(_job(), no_faults, times)
    assert by_chance.end_ns >= 3 * patience(certain, no_faults, times).end_ns
    assert by_chance.records_ns == by_chance.end_ns


@pytest.mark.parametrize(
    ("interval_ms", "failure_ratio", "most", "mode", "outpaced"),
    [
        (3, 0.1, 1, Mode.ALIGNED, True),
        (3, 0.1, 1, Mode.ALIGNED_TIMEOUT, True),
        (3, 0.1, 1, Mode.UNALIGNED, False),
        (3, 0.1, 1, Mode.AT_LEAST_ONCE, False),
        (4, 0.1, 1, Mode.ALIGNED, False),
        (3, 0.0, 1, Mode.ALIGNED, False),
        (3, 0.0, 9, Mode.ALIGNED, True),
    ],
)
def test_triggers_outpace_barriers_where_nothing_bounds_how_many_queue(
    interval_ms: int, failure_ratio: float, most: int, mode: Mode, outpaced: bool
) -> None:
    """Declined checkpoints make room at once, expired ones when the queue outlasts the time-out.

    Barriers that block no channel do not queue.
    """
    checkpointing = replace(
        _job().checkpointing,
        mode=mode,
        interval_ns=interval_ms * MS,
        timeout_ns=17 * MS,
        max_concurrent=most,
    )
    costs = replace(_job().costs, checkpoint_failure_ratio=failure_ratio)
    model = replace(_job(), checkpointing=checkpointing, costs=costs)
    assert patience(model, FaultPlan(()), SHORT).outpaced == outpaced


OUTPACED = """
name = "outpaced"
link = "final_checkpoint"
says = "a barrier takes 6 ms to pass, triggers come each 5 ms, and nearly all of them fail"

[[job.vertices]]
name = "source"
kind = "source"
rate_per_s = 2000.0
records = 20

[[job.vertices]]
name = "sink"
kind = "sink"
inputs = [{ upstream = "source" }]

[job.channels]
latency = "3 ms"

[job.checkpointing]
interval = "5 ms"
timeout = "40 ms"

[job.storage]
failure_ratio = 0.99
"""


def test_a_job_that_is_outpaced_breaks_nothing(tmp_path: Path) -> None:
    """It has no final checkpoint for as long as anybody looks, by no fault of its cores."""
    file = tmp_path / "outpaced.toml"
    file.write_text(OUTPACED)
    found = run_world(by_name(str(file)), seed=0, ties="structural")
    assert found.run.outcome == "stalled"
    assert not found.violations


@pytest.mark.parametrize("faulty", [False, True])
def test_only_faults_let_records_wait_for_the_next_checkpoint(faulty: bool) -> None:
    """Where nothing is delayed or lost, records wait for parts of the job, not for time-outs."""
    checkpointing = replace(_job().checkpointing, timeout_ns=3_600_000 * MS, interval_ns=1_000 * MS)
    model = replace(_job(), checkpointing=checkpointing)
    fault = DelayTrigger(vertex="source", subtask=0, checkpoint=1, delay_ns=MS)
    found = patience(model, FaultPlan([fault] if faulty else ()), SHORT)
    assert (found.records_ns > 1_000 * MS) == faulty
    assert found.end_ns >= 60_000 * MS


@pytest.mark.parametrize("asked", [False, True])
def test_a_trigger_that_is_overtaken_lets_its_checkpoint_expire(asked: bool) -> None:
    """A late trigger is waited for until the time-out only where a newer one can come first."""
    timeout_ns = 3_600_000 * MS
    checkpointing = replace(_job().checkpointing, timeout_ns=timeout_ns, max_concurrent=1)
    model = replace(_job(), checkpointing=checkpointing, ending=Ending())
    late = DelayTrigger(vertex="source", subtask=0, checkpoint=1, delay_ns=MS)
    user = [RequestSavepoint(at_ns=MS)] if asked else []
    found = patience(model, FaultPlan([late, *user]), SHORT)
    assert (found.end_ns > timeout_ns) == asked


def test_a_job_whose_checkpoints_expire_by_chance_ends() -> None:
    """However many expire in a row, the job ends with one that does not."""
    runs = [
        run_world(CHANCE, seed=seed, ties=ties) for seed, ties in ((282, "random"), (628, "pct"))
    ]
    assert all(run.run.outcome == "completed" and not run.violations for run in runs)
    assert all(run.run.checkpoints_failed > 10 for run in runs)


@pytest.mark.parametrize("engine", [Engine.COMPILED, Engine.PROCESSES])
def test_a_stalled_run_says_who_waits_for_whom_on_every_driver(engine: Engine) -> None:
    """A stop with a notification that is lost ends as stalled, with the same sentence."""
    scenario = placed(by_name("stop_words_lost"), Plane.BUFFERS)
    model: Any = scenario.model
    result = run_world(replace(scenario, model=replace(model, engine=engine)), seed=5)
    assert result.run.outcome == "stalled"
    (told,) = result.violations
    assert told.property == "stop_ends"
    assert "sink/0 waits for EndOfPartition from source/0" in told.says


@pytest.mark.parametrize("after_finish", [False, True])
def test_a_lost_completion_ends_no_stop_where_no_checkpoint_follows(*, after_finish: bool) -> None:
    """Under the FLIP's rules a later checkpoint ends the stop, unless tasks have finished."""
    scenario = by_name("stop_words_lost")
    model: Any = scenario.model
    source, sink = model.vertices
    model = replace(
        model,
        vertices=(
            replace(source, parallelism=3),
            replace(sink, kind=VertexKind.OPERATOR),
        ),
        checkpointing=replace(model.checkpointing, after_finish=after_finish),
        ending=replace(model.ending, protocol=Protocol.FLIP),
    )
    scenario = replace(scenario, model=model)
    assert ("stop_ends" in hazards(scenario)) is not after_finish
    broken = [row.property for row in run_world(scenario, seed=1).violations]
    assert broken == ([] if after_finish else ["stop_ends"])
