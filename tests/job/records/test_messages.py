"""What the wire between coordinator and tasks promises on the record plane."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ckptsim.scenarios.job import Costs
from ckptsim.sim.job.records.messages import RecordMessages
from ckptsim.sim.kernel import Environment

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
