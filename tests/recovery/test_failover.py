"""The failover of a job: every row, every missing one, and all orders of what may come."""

from __future__ import annotations

from itertools import product

import pytest

from ckptsim.models.core import ProtocolError
from ckptsim.models.recovery.failover import (
    TABLE,
    AllCanceled,
    AllRunning,
    CancelTasks,
    DelayOver,
    Deploy,
    Failover,
    FailoverEffect,
    FailoverEvent,
    FinalFailure,
    JobFailed,
    Phase,
    RestartableFailure,
    SetDelay,
    StartTriggering,
    StopTriggering,
)

EVENTS: tuple[FailoverEvent, ...] = (
    RestartableFailure(0, 100),
    FinalFailure(0),
    AllCanceled(0),
    DelayOver(0, 1),
    AllRunning(0),
)
FAIL, END, CANCELED, DELAYED, RUN = EVENTS
WAYS: dict[Phase, tuple[FailoverEvent, ...]] = {
    Phase.RUNNING: (),
    Phase.CANCELING: (FAIL,),
    Phase.CANCELED_LATE: (FAIL, DELAYED),
    Phase.DELAYING: (FAIL, CANCELED),
    Phase.INITIALIZING: (FAIL, CANCELED, DELAYED),
    Phase.FAILING: (FAIL, END),
    Phase.FAILED: (FAIL, END, CANCELED),
}
BEGIN: list[FailoverEffect] = [StopTriggering(), CancelTasks()]
ROWS: dict[tuple[Phase, FailoverEvent], tuple[Phase, list[FailoverEffect]]] = {
    (Phase.RUNNING, FAIL): (Phase.CANCELING, [*BEGIN, SetDelay(100, 1)]),
    (Phase.RUNNING, END): (Phase.FAILING, BEGIN),
    (Phase.CANCELING, FAIL): (Phase.CANCELING, [SetDelay(100, 2)]),
    (Phase.CANCELING, END): (Phase.FAILING, []),
    (Phase.CANCELING, CANCELED): (Phase.DELAYING, []),
    (Phase.CANCELING, DELAYED): (Phase.CANCELED_LATE, []),
    (Phase.CANCELED_LATE, FAIL): (Phase.CANCELING, [SetDelay(100, 2)]),
    (Phase.CANCELED_LATE, END): (Phase.FAILING, []),
    (Phase.CANCELED_LATE, CANCELED): (Phase.INITIALIZING, [Deploy(1), StartTriggering()]),
    (Phase.DELAYING, FAIL): (Phase.DELAYING, [SetDelay(100, 2)]),
    (Phase.DELAYING, END): (Phase.FAILED, [JobFailed()]),
    (Phase.DELAYING, DELAYED): (Phase.INITIALIZING, [Deploy(1), StartTriggering()]),
    (Phase.INITIALIZING, FAIL): (Phase.CANCELING, [*BEGIN, SetDelay(100, 2)]),
    (Phase.INITIALIZING, END): (Phase.FAILING, BEGIN),
    (Phase.INITIALIZING, RUN): (Phase.RUNNING, []),
    (Phase.CANCELING, RUN): (Phase.CANCELING, []),
    (Phase.CANCELED_LATE, RUN): (Phase.CANCELED_LATE, []),
    (Phase.FAILING, RUN): (Phase.FAILING, []),
    (Phase.FAILING, FAIL): (Phase.FAILING, []),
    (Phase.FAILING, END): (Phase.FAILING, []),
    (Phase.FAILING, CANCELED): (Phase.FAILED, [JobFailed()]),
    (Phase.FAILING, DELAYED): (Phase.FAILING, []),
    (Phase.FAILED, DELAYED): (Phase.FAILED, []),
}


def led_to(phase: Phase) -> Failover:
    """Return a machine in this phase."""
    core = Failover()
    for event in WAYS[phase]:
        core.step(event)
    assert core.phase is phase
    return core


@pytest.mark.parametrize(("phase", "row"), list(product(Phase, EVENTS)))
def test_every_row_and_every_missing_one(phase: Phase, row: FailoverEvent) -> None:
    """A row gives its effects and its target. Where there is none, nothing has changed."""
    core = led_to(phase)
    event = DelayOver(0, core.round) if isinstance(row, DelayOver) else row
    expected = ROWS.get((phase, row))
    if expected is None:
        with pytest.raises(ProtocolError, match="missing_row"):
            core.step(event)
        assert core.phase is phase
        return
    assert core.step(event) == expected[1]
    assert core.phase is expected[0]


def test_the_table_has_the_rows_of_the_test() -> None:
    """No row is in the table alone."""
    assert {(phase, type(event)) for phase, event in ROWS} == set(TABLE)


def test_a_delay_of_an_older_round_is_stale() -> None:
    """A failure during the restart begins the delay anew. The first timer deploys nothing."""
    core = led_to(Phase.DELAYING)
    core.step(RestartableFailure(50, 100))
    assert core.step(DelayOver(100, 1)) == []
    assert core.step(DelayOver(150, 2)) == [Deploy(2), StartTriggering()]


def _legal(core: Failover, outside: _Outside) -> list[FailoverEvent]:
    events: list[FailoverEvent] = []
    if outside.failures and core.phase is not Phase.FAILED:
        events.append(RestartableFailure(0, 0))
    if outside.canceling:
        events.append(AllCanceled(0))
    events += [DelayOver(0, number) for number in outside.timers]
    if core.phase is Phase.INITIALIZING:
        events.append(AllRunning(0))
    return events


class _Outside:
    """Pending work outside the machine: tasks, timers, failures still to come."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.alive, self.canceling = True, False
        self.timers: tuple[int, ...] = ()
        self.deployed = 0


def _after(path: tuple[int, ...]) -> tuple[Failover, _Outside, int]:
    """Run the choices of a path and return the machine, its outside and the number of choices."""
    core, outside = Failover(), _Outside(3)
    for choice in path:
        event = _legal(core, outside)[choice]
        match event:
            case RestartableFailure():
                outside.failures -= 1
            case AllCanceled():
                outside.alive = outside.canceling = False
            case DelayOver(_, number):
                outside.timers = tuple(one for one in outside.timers if one != number)
        for effect in core.step(event):
            match effect:
                case CancelTasks():
                    outside.canceling = True
                case SetDelay(_, number):
                    outside.timers += (number,)
                case Deploy():
                    assert not outside.alive, "two attempts of a task at once"
                    outside.alive = True
                    outside.deployed += 1
    return core, outside, len(_legal(core, outside))


def test_all_orders_of_three_failures_end_well() -> None:
    """No order deploys over living tasks or gets stuck. The number of ends is pinned."""
    ends, todo = 0, [()]
    longest: set[int] = set()
    while todo:
        path = todo.pop()
        core, outside, choices = _after(path)
        todo += [(*path, choice) for choice in range(choices)]
        if not choices:
            ends += 1
            longest.add(outside.deployed)
            assert core.phase is Phase.RUNNING
            assert outside.alive
    assert longest == {1, 2, 3}
    assert ends == 284
