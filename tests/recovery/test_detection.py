"""Failure detection: who is lost, when, and everything that is stale."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ckptsim.models.core import ProtocolError
from ckptsim.models.recovery.detection import (
    AskForHeartbeat,
    Cause,
    ConnectionBroken,
    DetectionEffect,
    DetectionEvent,
    FailureDetector,
    HeartbeatCame,
    HeartbeatParameters,
    HeartbeatSent,
    IntervalOver,
    Registered,
    ReportManagerLoss,
    ReportTaskFailure,
    SetInterval,
    SetTimeout,
    TaskFailed,
    TimeoutFired,
)

PARAMETERS = HeartbeatParameters(interval_ns=10, timeout_ns=50)


def watching(*managers: int) -> FailureDetector:
    """Return a detector with these task managers, registered at 0."""
    detector = FailureDetector(PARAMETERS)
    for manager in managers:
        detector.step(Registered(0, manager))
    return detector


def test_a_registration_starts_both_timers() -> None:
    """The interval is one for all. The time-out is one for each."""
    detector = FailureDetector(PARAMETERS)
    assert detector.step(Registered(0, 7)) == [SetTimeout(7, 50, 1), SetInterval(10)]
    assert detector.step(Registered(3, 8)) == [SetTimeout(8, 53, 1)]
    assert detector.step(IntervalOver(10)) == [
        AskForHeartbeat(7),
        AskForHeartbeat(8),
        SetInterval(20),
    ]


def test_silence_loses_a_task_manager() -> None:
    """The latest heartbeat counts. A timer that was replaced is stale."""
    detector = watching(1)
    assert detector.step(HeartbeatCame(30, 1)) == [SetTimeout(1, 80, 2)]
    assert detector.step(TimeoutFired(50, 1, 1)) == []
    assert detector.step(TimeoutFired(80, 1, 2)) == [ReportManagerLoss(1, Cause.TIMEOUT)]
    assert detector.watched == ()


def test_calls_that_fail_in_a_row_lose_a_task_manager() -> None:
    """A delivered one in between forgets those before. Without a threshold they do not count."""
    detector = watching(1)
    assert detector.step(HeartbeatSent(10, 1, delivered=False)) == []
    assert detector.step(HeartbeatSent(20, 1, delivered=True)) == []
    assert detector.step(HeartbeatSent(30, 1, delivered=False)) == []
    assert detector.step(HeartbeatSent(40, 1, delivered=False)) == [
        ReportManagerLoss(1, Cause.UNREACHABLE)
    ]
    patient = FailureDetector(
        HeartbeatParameters(interval_ns=1, timeout_ns=9, rpc_failure_threshold=None)
    )
    patient.step(Registered(0, 1))
    assert [patient.step(HeartbeatSent(1, 1, delivered=False)) for _ in range(5)] == [[]] * 5


def test_tasks_report_themselves() -> None:
    """An exception and a broken connection are known at once and lose no task manager."""
    detector = watching(1)
    assert detector.step(TaskFailed(5, 3)) == [ReportTaskFailure(3, Cause.EXCEPTION)]
    assert detector.step(ConnectionBroken(5, 1, 3)) == [ReportTaskFailure(3, Cause.CONNECTION)]
    assert detector.watched == (1,)


def test_a_lost_one_may_come_back() -> None:
    """It registers anew. Everything that is heard of it before that changes nothing."""
    detector = watching(1)
    detector.step(TimeoutFired(50, 1, 1))
    for stale in (HeartbeatCame(51, 1), HeartbeatSent(51, 1, delivered=False)):
        assert detector.step(stale) == []
    assert detector.step(IntervalOver(60)) == []
    assert detector.step(Registered(70, 1)) == [SetTimeout(1, 120, 1), SetInterval(80)]


def test_a_second_registration_is_refused() -> None:
    """It would hide that the first one was lost."""
    detector = watching(1)
    with pytest.raises(ProtocolError, match="registered_twice"):
        detector.step(Registered(1, 1))


@pytest.mark.parametrize(("interval", "timeout", "calls"), [(0, 5, 2), (5, 5, 2), (1, 5, 0)])
def test_parameters_that_flink_refuses_are_refused(interval: int, timeout: int, calls: int) -> None:
    """The time-out has to be longer than the interval, and a threshold is one call at least."""
    with pytest.raises(ProtocolError, match="bad_parameters"):
        HeartbeatParameters(interval_ns=interval, timeout_ns=timeout, rpc_failure_threshold=calls)


class Detection(RuleBasedStateMachine):
    """Task managers that answer or not, against a model of last heartbeats."""

    def __init__(self) -> None:
        super().__init__()
        self.core = FailureDetector(PARAMETERS)
        self.now = 0
        self.timers: dict[int, SetTimeout] = {}
        self.last: dict[int, int] = {}

    def _step(self, event: DetectionEvent) -> list[DetectionEffect]:
        effects = self.core.step(event)
        for effect in effects:
            if isinstance(effect, SetTimeout):
                self.timers[effect.manager] = effect
            elif isinstance(effect, ReportManagerLoss):
                silent = self.now - self.last.pop(effect.manager)
                assert (effect.cause is Cause.TIMEOUT) == (silent >= PARAMETERS.timeout_ns)
                del self.timers[effect.manager]
        return effects

    @rule(manager=st.integers(0, 3))
    def register(self, manager: int) -> None:
        """A task manager registers if it is not watched."""
        if manager not in self.last:
            self.last[manager] = self.now
            self._step(Registered(self.now, manager))

    @rule(manager=st.integers(0, 3))
    def answer(self, manager: int) -> None:
        """A heartbeat comes, of a watched one or a stale one."""
        if manager in self.last:
            self.last[manager] = self.now
        self._step(HeartbeatCame(self.now, manager))

    @rule(wait=st.integers(1, 30))
    def pass_time(self, wait: int) -> None:
        """Time goes by and timers fire, each at its instant."""
        end = self.now + wait
        while due := [timer for timer in self.timers.values() if timer.at_ns <= end]:
            first = min(due, key=lambda timer: (timer.at_ns, timer.manager))
            self.now = first.at_ns
            self._step(TimeoutFired(self.now, first.manager, first.number))
        self.now = end

    @invariant()
    def watches_who_was_heard(self) -> None:
        """Exactly those are watched with a latest heartbeat younger than the time-out."""
        assert self.core.watched == tuple(sorted(self.last))
        assert all(self.now - at < PARAMETERS.timeout_ns for at in self.last.values())


TestDetection = Detection.TestCase
TestDetection.settings = settings(max_examples=40, stateful_step_count=30)
