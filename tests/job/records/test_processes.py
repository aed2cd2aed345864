"""Tasks as SimPy processes: a failed attempt leaves none, errors of theirs show, their messages."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ckptsim.models.lifecycle import TaskLifecycle
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.scenarios.catalogue import all_scenarios, by_name
from ckptsim.scenarios.job import Costs
from ckptsim.sim.job.records.attempt import Attempt
from ckptsim.sim.job.records.messages import RecordMessages
from ckptsim.sim.job.records.tasks import Operator, Task
from ckptsim.sim.kernel import Environment
from ckptsim.sim.world import run_world

RESTARTED = [
    each.name
    for each in all_scenarios()
    if each.link in ("barrier_protocol", "final_checkpoint") and "restarted" in each.goals
]


@pytest.mark.parametrize("name", RESTARTED)
def test_a_failed_attempt_leaves_no_process(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the next attempt begins, and when the run is over, no task of an earlier one is left."""
    attempts: list[Attempt] = []
    start = Attempt.start

    def begin(attempt: Attempt) -> None:
        assert not any(map(_is_alive, attempts))
        attempts.append(attempt)
        start(attempt)
        assert _is_alive(attempt)

    monkeypatch.setattr(Attempt, "start", begin)
    run_world(by_name(name), seed=0)
    assert len(attempts) > 1
    assert not any(map(_is_alive, attempts))


def test_there_are_jobs_that_restart() -> None:
    """The library has jobs that fail and are restarted, so that the test above is about some."""
    assert len(RESTARTED) > 3


def test_an_error_in_a_task_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of ours inside the process of a task is raised to anyone who runs the scenario."""

    def fail(task: Operator, record: int) -> None:
        raise ValueError(f"{task.name} cannot take {record}")

    monkeypatch.setattr(Operator, "finish_record", fail)
    with pytest.raises(ValueError, match="count/0 cannot take "):
        run_world(by_name("keyed_crash"), seed=0)


def test_an_error_in_a_core_is_a_violation() -> None:
    """What a core of the user's raises inside the process of a task is reported as its fault."""

    class Failing(TaskLifecycle):
        def step(self, event: lifecycle_events.Event) -> Any:
            if not isinstance(event, lifecycle_events.EndOfDataReceived):
                return super().step(event)
            raise ValueError(f"no end of channel {event.channel}")

    result = run_world(by_name("keyed_crash"), seed=0, cores={"lifecycle": Failing})
    assert any("no end of channel 0" in row.says for row in result.violations)


def test_a_closed_task_takes_no_mail(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes to a task after it has closed is not handled. Its process has ended."""
    closed: list[Task] = []
    late: list[Task] = []
    close_mailbox, post = Task.close_mailbox, Task.post

    def close(task: Task) -> None:
        close_mailbox(task)
        closed.append(task)

    def put(task: Task, function: Any, /, *arguments: Any) -> None:
        post(task, function, *arguments)
        if task in closed:
            late.append(task)
            assert not task.mails

    monkeypatch.setattr(Task, "close_mailbox", close)
    monkeypatch.setattr(Task, "post", put)
    result = run_world(by_name("checkpoints_off"), seed=0)
    assert result.run.outcome == "completed"
    assert len(closed) == len({task.name for task in closed}) > 1
    assert late  # a source that does not wait for acknowledgements gets them when it has closed


def _is_alive(attempt: Attempt) -> bool:
    return any(task.process is not None and task.process.is_alive for task in attempt.tasks)


MS = 1_000_000


def test_triggers_to_one_task_keep_their_order() -> None:
    """Triggers reach a task in the order in which they were sent, however much chance adds."""
    env = Environment(seed=3)
    costs: Any = Costs(rpc_ns=MS, rpc_jitter_ns=5 * MS, messages_in_order=False)
    messages, arrived = RecordMessages(env, costs), list[tuple[int, int]]()
    tasks: list[Any] = [SimpleNamespace(entity=env.entity("task", number)) for number in range(2)]
    for checkpoint in range(1, 50):
        for number, task in enumerate(tasks):
            messages.trigger(task, checkpoint, arrived.append, (number, checkpoint))
    env.run()
    for number in range(2):
        assert [at for task, at in arrived if task == number] == list(range(1, 50))
    assert arrived != sorted(arrived, key=lambda each: each[1]), "two tasks may hear at any time"
