"""Hosts of a task's cores at the places where time or a refusal comes in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ckptsim.models.barriers import EndOfData
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.lifecycle import TaskKind, TaskLifecycle, TaskParameters
from ckptsim.sim.conform.final_checkpoint import ScriptedTask
from ckptsim.sim.slots import OURS

TWO_INPUTS = TaskParameters(kind=TaskKind.NON_SOURCE, gate_channels=(2,), checkpointing=False)


class SlowTask(ScriptedTask):
    """A task with barriers and mails that take until the test lets them continue."""

    def __init__(self, parameters: TaskParameters) -> None:
        self.waiting: list[tuple[Callable[..., object], tuple[Any, ...]]] = []
        super().__init__(parameters, TaskLifecycle(parameters), OURS)

    def spend_on_barrier(self, function: Callable[..., object], /, *arguments: Any) -> None:
        """Wait for the test."""
        self.waiting.append((function, arguments))

    post = spend_on_barrier

    def go_on(self) -> None:
        """Do what waits, in its order."""
        while self.waiting:
            function, arguments = self.waiting.pop(0)
            function(*arguments)

    @property
    def actions(self) -> list[str]:
        """Return everything that has been done, a word each."""
        return [entry["action"] for entry in self.entries if "action" in entry]


def test_a_task_does_not_close_while_it_sends_a_barrier_on() -> None:
    """The end of a channel completes an alignment and the input: the barrier comes first."""
    task = SlowTask(TWO_INPUTS)
    for channel in range(2):
        task.control.end_of_data(channel, EndOfData(drain=True))
    task.barrier(0, 3)
    task.control.end_of_partition(0)
    task.control.end_of_partition(1)
    assert "emit_barrier" not in task.actions
    assert "emit_end_of_partition" not in task.actions
    task.go_on()
    ends = ["emit_barrier", "emit_end_of_partition"]
    assert [action for action in task.actions if action in ends] == ends


class Refusing:
    """A barrier handler that starts an input and wants more after that."""

    latest = -1
    pending = False

    def __init__(self) -> None:
        self.heard: list[handler_events.HandlerEvent] = []

    def step(self, event: handler_events.HandlerEvent) -> list[handler_events.HandlerEffect]:
        """Start the first gate, then give up what must not be aborted."""
        self.heard.append(event)
        if isinstance(event, handler_events.InputRefused):
            return []
        behind = handler_events.AbortCheckpoint(9, FailureReason.CHECKPOINT_DECLINED)
        return [handler_events.StartInput(0, event.barrier), behind]  # type: ignore[union-attr]


def test_nothing_behind_a_refused_start_is_carried_out() -> None:
    """The core learns of the refusal, and what stood after it is not done."""
    task = SlowTask(TWO_INPUTS)
    handler = task.control.handler
    assert handler is not None
    core = Refusing()
    handler.core = core  # type: ignore[assignment]
    task.gates[0].start = lambda _: FailureReason.CHECKPOINT_SUBSUMED  # type: ignore[method-assign]
    task.barrier(0, 9)
    assert core.heard[1:] == [handler_events.InputRefused(0, FailureReason.CHECKPOINT_SUBSUMED)]
    assert task.actions == []
