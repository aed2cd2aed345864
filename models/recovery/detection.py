"""Failure detection: how the job manager learns that a task or a task manager is gone.

A task that throws reports it itself.  A task manager that is gone reports nothing. It is missed

* by its peers with broken connections: a task that reads from it fails at once, wherever it runs.
* by a heartbeat that cannot be delivered: the target is unreachable after so many calls in a row.
* by silence: no heartbeat has come for the time-out.

The job manager asks every task manager for a heartbeat once per interval.  Each one that comes
starts the time-out anew. One that was delivered forgets the calls that failed before.  A task
manager is lost once, whatever says so first. Later news of it is stale and ignored.

Promised: a task manager that stays silent is lost no later than the time-out after its latest
heartbeat, if timers fire on time.  Not promised: that a lost one is really gone. A pause longer
than the time-out is taken for a loss.

Source: Apache Flink 1.20.3, HeartbeatManagerOptions, HeartbeatManagerSenderImpl, DefaultHeartbeat-
Monitor, JobMaster (TaskManagerHeartbeatListener).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, assert_never

from ckptsim.models.core import ProtocolError

_SECOND_NS = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatParameters:
    """`heartbeat.interval`, `heartbeat.timeout` and `heartbeat.rpc-failure-threshold`.

    rpc_failure_threshold: failed calls in a row after which a target is unreachable. None for none.
    """

    interval_ns: int = 10 * _SECOND_NS
    timeout_ns: int = 50 * _SECOND_NS
    rpc_failure_threshold: int | None = 2

    def __post_init__(self) -> None:
        if not 0 < self.interval_ns < self.timeout_ns:
            raise ProtocolError(
                "bad_parameters", state="the interval must be above 0 and below the time-out"
            )
        if self.rpc_failure_threshold is not None and self.rpc_failure_threshold < 1:
            raise ProtocolError("bad_parameters", state="at least one failed call")


class Cause(Enum):
    """What says that something has failed."""

    EXCEPTION = "a task threw an exception"
    CONNECTION = "the connection to a task manager broke"
    UNREACHABLE = "heartbeats cannot be delivered"
    TIMEOUT = "no heartbeat within the time-out"


@dataclass(frozen=True, slots=True)
class Registered:
    """A task manager offers its slots. Its tasks may be deployed."""

    now_ns: int
    manager: int


@dataclass(frozen=True, slots=True)
class TaskFailed:
    """A task reports its exception."""

    now_ns: int
    task: int


@dataclass(frozen=True, slots=True)
class ConnectionBroken:
    """A task reports that its connection to a task manager has broken, and so fails."""

    now_ns: int
    manager: int
    task: int


@dataclass(frozen=True, slots=True)
class HeartbeatCame:
    """A task manager has answered."""

    now_ns: int
    manager: int


@dataclass(frozen=True, slots=True)
class HeartbeatSent:
    """A request for a heartbeat was delivered, or was not."""

    now_ns: int
    manager: int
    delivered: bool


@dataclass(frozen=True, slots=True)
class IntervalOver:
    """It is time to ask for heartbeats."""

    now_ns: int


@dataclass(frozen=True, slots=True)
class TimeoutFired:
    """The timer of a task manager has run out. It may be a stale one.

    number: as its `SetTimeout` said.
    """

    now_ns: int
    manager: int
    number: int


DetectionEvent: TypeAlias = (
    Registered
    | TaskFailed
    | ConnectionBroken
    | HeartbeatCame
    | HeartbeatSent
    | IntervalOver
    | TimeoutFired
)


@dataclass(frozen=True, slots=True)
class AskForHeartbeat:
    """Ask a task manager for a heartbeat."""

    manager: int


@dataclass(frozen=True, slots=True)
class SetInterval:
    """Raise IntervalOver at an instant."""

    at_ns: int


@dataclass(frozen=True, slots=True)
class SetTimeout:
    """Raise TimeoutFired at an instant. It replaces the timer of that task manager."""

    manager: int
    at_ns: int
    number: int


@dataclass(frozen=True, slots=True)
class ReportTaskFailure:
    """Fail the job over because of a task."""

    task: int
    cause: Cause


@dataclass(frozen=True, slots=True)
class ReportManagerLoss:
    """Fail the job over because of all tasks of a task manager."""

    manager: int
    cause: Cause


DetectionEffect: TypeAlias = (
    AskForHeartbeat | SetInterval | SetTimeout | ReportTaskFailure | ReportManagerLoss
)


class _Monitor:
    """The state of one task manager."""

    __slots__ = ("failed_calls", "number")

    def __init__(self) -> None:
        self.number = 0
        self.failed_calls = 0


class FailureDetector:
    """Watches the task managers of one job."""

    __slots__ = ("_asking", "_monitors", "_parameters")

    def __init__(self, parameters: HeartbeatParameters) -> None:
        self._parameters = parameters
        self._monitors: dict[int, _Monitor] = {}
        self._asking = False

    @property
    def watched(self) -> tuple[int, ...]:
        """The task managers that are registered and not lost, ascending."""
        return tuple(sorted(self._monitors))

    def step(self, event: DetectionEvent) -> list[DetectionEffect]:
        """Take one event and return its effects.

        Raises ProtocolError for a second registration without a loss in between.
        """
        match event:
            case Registered():
                return self._register(event)
            case TaskFailed():
                return [ReportTaskFailure(event.task, Cause.EXCEPTION)]
            case ConnectionBroken():
                # The peer's task has failed whether or not the other side is known to be lost.  The
                # heartbeat continues: one broken connection does not prove that the machine is
                # gone.
                return [ReportTaskFailure(event.task, Cause.CONNECTION)]
            case IntervalOver():
                return self._ask(event.now_ns)
            case HeartbeatCame() | HeartbeatSent() | TimeoutFired():
                monitor = self._monitors.get(event.manager)
                return [] if monitor is None else self._heard(event, monitor)
            case _ as never:
                assert_never(never)

    def _register(self, event: Registered) -> list[DetectionEffect]:
        if event.manager in self._monitors:
            raise ProtocolError("registered_twice", state="watched", event=event)
        self._monitors[event.manager] = monitor = _Monitor()
        effects: list[DetectionEffect] = [self._timer(event.now_ns, event.manager, monitor)]
        if not self._asking:
            self._asking = True
            effects.append(SetInterval(event.now_ns + self._parameters.interval_ns))
        return effects

    def _ask(self, now_ns: int) -> list[DetectionEffect]:
        if not self._monitors:
            self._asking = False  # the next registration begins anew
            return []
        effects: list[DetectionEffect] = [AskForHeartbeat(manager) for manager in self.watched]
        return [*effects, SetInterval(now_ns + self._parameters.interval_ns)]

    def _heard(
        self, event: HeartbeatCame | HeartbeatSent | TimeoutFired, monitor: _Monitor
    ) -> list[DetectionEffect]:
        match event:
            case HeartbeatCame():
                return [self._timer(event.now_ns, event.manager, monitor)]
            case HeartbeatSent():
                monitor.failed_calls = 0 if event.delivered else monitor.failed_calls + 1
                threshold = self._parameters.rpc_failure_threshold
                if threshold is not None and monitor.failed_calls >= threshold:
                    return self._lose(event.manager, Cause.UNREACHABLE)
                return []
            case TimeoutFired():
                if event.number != monitor.number:
                    return []  # a heartbeat has come since this timer was set
                return self._lose(event.manager, Cause.TIMEOUT)
            case _ as never:
                assert_never(never)

    def _timer(self, now_ns: int, manager: int, monitor: _Monitor) -> SetTimeout:
        monitor.number += 1
        return SetTimeout(manager, now_ns + self._parameters.timeout_ns, monitor.number)

    def _lose(self, manager: int, cause: Cause) -> list[DetectionEffect]:
        del self._monitors[manager]
        return [ReportManagerLoss(manager, cause)]
