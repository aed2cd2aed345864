"""When a task takes a checkpoint by itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ckptsim.models.core import ProtocolError
from ckptsim.models.uncoordinated import (
    DataEnded,
    IndependentTask,
    InducedTask,
    IntervalOver,
    MessageNext,
    TakeCheckpoint,
    TaskEvent,
    TaskProtocol,
)

OVER, ENDED = IntervalOver(), DataEnded()
TAKES = list[tuple[int, int, bool]]


def run(task: TaskProtocol, *events: TaskEvent) -> TAKES:
    """Return number, index and cause of each checkpoint that events lead to."""
    found = [effect for event in events for effect in task.step(event)]
    return [(one.number, one.index, one.forced) for one in found]


def test_independent_tasks_take_one_per_interval_and_one_at_the_end() -> None:
    """Messages change nothing, whatever they carry. After the end nothing is taken."""
    task = IndependentTask()
    events = (OVER, MessageNext(7), OVER, ENDED, OVER)
    assert run(task, *events) == [(1, 0, False), (2, 0, False), (3, 0, False)]
    assert not task.carries_index


@pytest.mark.parametrize(
    ("events", "taken"),
    [
        ((OVER, OVER), [(1, 1, False), (2, 2, False)]),
        ((MessageNext(1),), [(1, 1, True)]),
        ((MessageNext(3), MessageNext(3), MessageNext(2)), [(1, 3, True)]),
        ((OVER, MessageNext(1)), [(1, 1, False)]),
        ((MessageNext(1), OVER, OVER), [(1, 1, True), (2, 2, False)]),
        ((MessageNext(1), ENDED, OVER), [(1, 1, True), (2, 2, False)]),
        ((MessageNext(0),), []),
    ],
)
def test_an_index_forces_a_checkpoint_once(events: tuple[TaskEvent, ...], taken: TAKES) -> None:
    """A higher index forces one with that index, and the task's own of that interval is skipped."""
    task = InducedTask()
    assert run(task, *events) == taken
    assert task.index == max((index for _, index, _ in taken), default=0)


@pytest.mark.parametrize("make", [IndependentTask, InducedTask])
def test_data_end_once(make: Callable[[], TaskProtocol]) -> None:
    """A second end is refused, and changes nothing."""
    task = make()
    assert len(task.step(ENDED)) == 1
    with pytest.raises(ProtocolError, match="ended_twice"):
        task.step(ENDED)
    assert task.step(OVER) == []


def test_an_index_below_zero_is_refused() -> None:
    """Indices count from 0, and a refused message changes nothing."""
    task = InducedTask()
    with pytest.raises(ProtocolError, match="bad_index"):
        task.step(MessageNext(-1))
    assert task.step(MessageNext(1)) == [TakeCheckpoint(1, 1, forced=True)]
