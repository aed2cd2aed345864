"""The order in which a task restores: every step, every step out of order, all orders of gates."""

from __future__ import annotations

from itertools import permutations, product

import pytest

from ckptsim.models.core import ProtocolError
from ckptsim.models.recovery import restore

STEPS: tuple[tuple[restore.RestoreEvent, list[restore.RestoreEffect]], ...] = (
    (restore.TaskDeployed(), [restore.ReadOutput()]),
    (restore.OutputRead(), [restore.RestoreOperators()]),
    (restore.OperatorsOpened(), [restore.ReadInput()]),
    (restore.GateConsumed(0), [restore.RequestPartitions(0), restore.TaskRuns()]),
)


def after(count: int, gates: int = 1) -> restore.TaskRestore:
    """Return a task that has made so many steps."""
    core = restore.TaskRestore(gates)
    for event, _ in STEPS[:count]:
        core.step(event)
    return core


def test_output_comes_before_state_and_state_before_input() -> None:
    """Each step has the effect of the next. The last one lets the task run."""
    core = restore.TaskRestore(1)
    for event, effects in STEPS:
        assert core.step(event) == effects
    assert core.state is restore.RestoreState.RUNNING


@pytest.mark.parametrize(("count", "place"), list(product(range(5), range(4))))
def test_a_step_out_of_order_is_refused(count: int, place: int) -> None:
    """Only the next step is taken, and a refused one changes nothing."""
    core, event = after(count), STEPS[place][0]
    if count == place:
        assert core.step(event) == STEPS[place][1]
        return
    before = core.state, core.waiting
    with pytest.raises(ProtocolError, match="missing_row"):
        core.step(event)
    assert (core.state, core.waiting) == before


def test_a_source_runs_when_it_is_open() -> None:
    """It has no gate, so it reads no input."""
    assert after(2, gates=0).step(restore.OperatorsOpened()) == [restore.TaskRuns()]


def test_gates_are_converted_one_by_one_in_any_order() -> None:
    """Each requests its partitions after its own data. The last one lets the task run."""
    for order in permutations(range(3)):
        core = after(3, gates=3)
        for gate in order[:-1]:
            assert core.step(restore.GateConsumed(gate)) == [restore.RequestPartitions(gate)]
            with pytest.raises(ProtocolError, match="missing_row"):
                core.step(restore.GateConsumed(gate))
        assert core.step(restore.GateConsumed(order[-1])) == [
            restore.RequestPartitions(order[-1]),
            restore.TaskRuns(),
        ]


@pytest.mark.parametrize("count", range(5))
def test_checkpoints_are_declined_until_the_task_runs(count: int) -> None:
    """A task that restores is not ready. One that runs takes part."""
    core = after(count)
    ready = core.state is restore.RestoreState.RUNNING
    assert core.step(restore.CheckpointTriggered(7)) == [
        restore.TakePart(7) if ready else restore.DeclineCheckpoint(7)
    ]
