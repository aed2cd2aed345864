"""The rules of a job's failures, stated naively: when it restarts, its course, who is lost.

Source: Apache Flink 1.20.3, the RestartBackoffTimeStrategy of each kind, DefaultScheduler,
HeartbeatManagerSenderImpl.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ckptsim.models.recovery import detection, failover, restart
from ckptsim.sim.rules.answers import Answer, Pick, Refused
from tests.rules.naive.naive import Naive

_SECOND = 1_000_000_000


class RestartRules(Naive):
    """What a restart strategy is to answer, from the failures it was told of."""

    def __init__(self, parameters: restart.RestartParameters) -> None:
        self._parameters = parameters
        self._counted: list[int] = []  # instants of failures that did not join another
        self._due: list[int] = []  # when restarts are due that were planned with a backoff
        self._begun = 0  # attempts since the backoff was reset
        self._over = False
        self._now = 0

    def normal(self, answer: Answer) -> Answer:
        """Return an answer without the words of a job that is given up."""
        if isinstance(answer, Refused):
            return answer
        return tuple(restart.GiveUp("") if isinstance(e, restart.GiveUp) else e for e in answer)

    def refusals(self, event: Any) -> list[str]:
        """Return why a failure cannot be told."""
        if not 0 <= event.jitter < 1:
            return ["bad_jitter"]
        return ["gave_up"] if self._over else []

    def take(self, event: Any) -> Sequence[Any]:
        """Note a failure, and return what follows."""
        self._now = event.now_ns
        answer = self._answer(event)
        self._over = isinstance(answer, restart.GiveUp)
        return [answer]

    def _answer(self, event: Any) -> Any:
        parameters, now = self._parameters, event.now_ns
        backoff = isinstance(parameters, restart.ExponentialDelay)
        if backoff and event.recoverable and self._due and now <= self._due[-1]:
            return restart.RestartAfter(self._due[-1] - now, joined=True)
        self._counted.append(now)
        give_up = restart.GiveUp("")
        if not event.recoverable or isinstance(parameters, restart.NoRestart):
            return give_up
        if isinstance(parameters, restart.FixedDelay):
            many = parameters.attempts is not None and len(self._counted) > parameters.attempts
            return give_up if many else restart.RestartAfter(parameters.delay_ns)
        if isinstance(parameters, restart.FailureRate):
            recent = [at for at in self._counted if now - at <= parameters.interval_ns]
            many = len(recent) > parameters.max_failures_per_interval
            return give_up if many else restart.RestartAfter(parameters.delay_ns)
        return self._backoff(parameters, event, give_up)

    def _backoff(self, parameters: restart.ExponentialDelay, event: Any, give_up: Any) -> Any:
        quiet = self._due and event.now_ns - self._due[-1] >= parameters.reset_backoff_threshold_ns
        attempts = 0 if quiet else self._begun
        delay = float(parameters.initial_backoff_ns)
        for _ in range(attempts):
            delay *= parameters.backoff_multiplier
        reach = int(int(delay) * parameters.jitter_factor)
        wanted = int(delay) - reach + int(event.jitter * (2 * reach + 1))
        least, most = parameters.initial_backoff_ns, parameters.max_backoff_ns
        delay_ns = sorted((least, wanted, most))[1]
        self._begun = attempts + 1
        self._due.append(event.now_ns + delay_ns)
        allowed = parameters.attempts_before_reset
        if allowed is not None and self._begun > allowed:
            return give_up
        return restart.RestartAfter(delay_ns)

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield how many failures count."""
        yield "failures", core.failures, len(self._counted)

    def stray(self, pick: Pick) -> Any:
        """Return a failure, soon or late."""
        late = self._due[-1] - self._now if self._due else 0
        steps = (0, 1, _SECOND, 3 * _SECOND, 9 * _SECOND, max(0, late), max(0, late + 1))
        quiet = max(0, late) + 20 * _SECOND
        after = pick.of((*steps, quiet - 1, quiet, quiet + 1))
        jitter = pick.of((0.0, 0.5, 0.25, 0.999)) if not pick.one_in(12) else pick.of((1.0, -0.1))
        return restart.FailureNoticed(self._now + after, jitter, recoverable=not pick.one_in(14))


def drawn_strategy(pick: Pick) -> restart.RestartParameters:
    """Return a strategy at and around its bounds."""
    kind = pick.integer(0, 6)
    if kind == 0:
        return restart.NoRestart()
    if kind < 3:
        return restart.FixedDelay(attempts=pick.of((None, 0, 2, 5)), delay_ns=pick.of((0, 7)))
    if kind == 3:
        most, interval = pick.integer(1, 3), pick.of((1, _SECOND, 9 * _SECOND))
        return restart.FailureRate(max_failures_per_interval=most, interval_ns=interval, delay_ns=5)
    return restart.ExponentialDelay(
        initial_backoff_ns=pick.of((1, _SECOND)),
        max_backoff_ns=pick.of((_SECOND, 5 * _SECOND, 60 * _SECOND)),
        backoff_multiplier=pick.of((1.5, 2.0, 1e6)),
        reset_backoff_threshold_ns=20 * _SECOND,
        jitter_factor=pick.of((0.0, 0.1, 1.0)),
        attempts_before_reset=pick.of((None, None, 1, 4)),
    )


class StrategyMaker:
    """Makes a strategy of the parameters that an event is; it refuses some."""

    def step(self, parameters: restart.RestartParameters) -> list[Any]:
        """Make a strategy."""
        restart.RestartStrategy(parameters)
        return []


class StrategyRules(Naive):
    """Which parameters are refused: negative numbers, none at all, bounds that cross."""

    def refusals(self, event: Any) -> list[str]:
        """Return why parameters are refused."""
        bad = ["bad_parameters"]
        if isinstance(event, restart.FixedDelay):
            return bad if event.delay_ns < 0 or (event.attempts or 0) < 0 else []
        if isinstance(event, restart.FailureRate):
            least = min(event.max_failures_per_interval, event.interval_ns)
            return bad if least < 1 or event.delay_ns < 0 else []
        if isinstance(event, restart.ExponentialDelay):
            sound = (
                0 < event.initial_backoff_ns <= event.max_backoff_ns,
                event.backoff_multiplier > 1,
                0 <= event.jitter_factor <= 1,
                event.reset_backoff_threshold_ns > 0,
                event.attempts_before_reset is None or event.attempts_before_reset > 0,
            )
            return [] if all(sound) else bad
        return []

    def take(self, event: Any) -> Sequence[Any]:
        """Return nothing: the strategy is made."""
        del event
        return []

    def stray(self, pick: Pick) -> Any:
        """Return parameters at and across their bounds."""
        small = (-1, 0, 1)
        kind = pick.integer(0, 3)
        if kind == 0:
            return restart.FixedDelay(attempts=pick.of((None, *small)), delay_ns=pick.of(small))
        if kind == 1:
            return restart.FailureRate(
                max_failures_per_interval=pick.of((0, 1, 2)),
                interval_ns=pick.of(small),
                delay_ns=pick.of(small),
            )
        odd = pick.integer(0, 5)
        return restart.ExponentialDelay(
            initial_backoff_ns=pick.of((0, 1, 2)) if odd == 0 else 1,
            max_backoff_ns=1 if odd in (0, 5) else 2,
            backoff_multiplier=pick.of((0.9, 1.0, 1.1)) if odd == 1 else 1.5,
            reset_backoff_threshold_ns=pick.of((0, 1)) if odd == 2 else 9,
            jitter_factor=pick.of((-0.1, 0.0, 1.0, 1.1)) if odd == 3 else 0.5,
            attempts_before_reset=pick.of((0, 1)) if odd == 4 else None,
        )


class FailoverRules(Naive):
    """What the course of a job through its failures is to answer."""

    def __init__(self) -> None:
        self._tasks = "run"  # "run", "start" (deployed), "cancel", "gone"
        self._round = 0
        self._delay_over = True
        self._final = False
        self._failed = False
        self._now = 0

    def refusals(self, event: Any) -> list[str]:
        """Return why an event cannot come now."""
        missing = ["missing_row"]
        match event:
            case failover.DelayOver() if event.round != self._round:
                return []
            case failover.DelayOver():
                # Of the round that is under way; while the job runs its delay has been over.
                waits = self._final or not self._delay_over
                return [] if waits else missing
            case failover.AllCanceled():
                return [] if self._tasks == "cancel" else missing
            case failover.AllRunning():
                # Tasks go on until they are cancelled: the last may still come to run.
                return [] if self._tasks in ("start", "cancel") else missing
        return missing if self._failed else []

    def take(self, event: Any) -> Sequence[Any]:
        """Note an event, and return the effects that it has."""
        self._now = event.now_ns
        match event:
            case failover.RestartableFailure() if not self._final:
                effects = self._cancel()
                self._round += 1
                self._delay_over = False
                return [*effects, failover.SetDelay(self._now + event.delay_ns, self._round)]
            case failover.FinalFailure() if not self._final:
                self._final = True
                effects = self._cancel()
                return [*effects, *self._end_if_gone()]
            case failover.AllCanceled():
                self._tasks = "gone"
                return [*self._end_if_gone(), *self._deploy_if_due()]
            case failover.DelayOver() if event.round == self._round and not self._final:
                self._delay_over = True
                return self._deploy_if_due()
            case failover.AllRunning() if self._tasks == "start":
                self._tasks = "run"
        return []

    def _cancel(self) -> list[Any]:
        if self._tasks not in ("run", "start"):
            return []
        self._tasks = "cancel"
        return [failover.StopTriggering(), failover.CancelTasks()]

    def _end_if_gone(self) -> list[Any]:
        self._failed = self._final and self._tasks == "gone"
        return [failover.JobFailed()] if self._failed else []

    def _deploy_if_due(self) -> list[Any]:
        if self._tasks != "gone" or not self._delay_over or self._final:
            return []
        self._tasks = "start"
        return [failover.Deploy(self._round), failover.StartTriggering()]

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield what can be asked of the core, and what it is to say."""
        yield "round", core.round, self._round
        yield "whether it runs", core.phase is failover.Phase.RUNNING, self._tasks == "run"
        yield "whether it has failed", core.phase is failover.Phase.FAILED, self._failed

    def stray(self, pick: Pick) -> Any:
        """Return what tasks and timers may bring next."""
        now = self._now + pick.integer(0, 5)
        number = self._round - (1 if pick.one_in(5) else 0)
        return pick.of(
            (
                failover.RestartableFailure(now, pick.of((0, 7))),
                failover.RestartableFailure(now, 5),
                failover.AllCanceled(now),
                failover.AllCanceled(now),
                failover.DelayOver(now, number),
                failover.DelayOver(now, number),
                failover.AllRunning(now),
                failover.AllRunning(now),
                failover.FinalFailure(now) if pick.one_in(3) else failover.AllRunning(now),
            )
        )


class DetectionRules(Naive):
    """What a failure detector is to answer, from what was heard of each task manager."""

    def __init__(self, parameters: detection.HeartbeatParameters) -> None:
        self._parameters = parameters
        self._heard: dict[int, tuple[Any, ...]] = {}  # since each registered
        self._asking = False
        self._now = 0

    def refusals(self, event: Any) -> list[str]:
        """Return why an event cannot come."""
        twice = isinstance(event, detection.Registered) and event.manager in self._heard
        return ["registered_twice"] if twice else []

    def _timers(self, manager: int) -> int:
        kinds = (detection.Registered, detection.HeartbeatCame)
        return sum(isinstance(each, kinds) for each in self._heard[manager])

    def _timer(self, manager: int) -> Any:
        at_ns = self._now + self._parameters.timeout_ns
        return detection.SetTimeout(manager, at_ns, self._timers(manager))

    def take(self, event: Any) -> Sequence[Any]:
        """Note an event, and return the effects that it has."""
        self._now = event.now_ns
        match event:
            case detection.TaskFailed():
                return [detection.ReportTaskFailure(event.task, detection.Cause.EXCEPTION)]
            case detection.ConnectionBroken():
                return [detection.ReportTaskFailure(event.task, detection.Cause.CONNECTION)]
            case detection.IntervalOver():
                return self._ask()
            case detection.Registered():
                self._heard[event.manager] = (event,)
                begins, self._asking = not self._asking, True
                timer = self._timer(event.manager)
                at_ns = self._now + self._parameters.interval_ns
                return [timer, *([detection.SetInterval(at_ns)] if begins else [])]
        if event.manager not in self._heard:
            return []
        if isinstance(event, detection.TimeoutFired):
            stale = event.number != self._timers(event.manager)
            return [] if stale else self._lost(event.manager, detection.Cause.TIMEOUT)
        self._heard[event.manager] = (*self._heard[event.manager], event)
        if isinstance(event, detection.HeartbeatCame):
            return [self._timer(event.manager)]
        allowed = self._parameters.rpc_failure_threshold
        unreachable = allowed is not None and self._failed_calls(event.manager) >= allowed
        return self._lost(event.manager, detection.Cause.UNREACHABLE) if unreachable else []

    def _failed_calls(self, manager: int) -> int:
        count = 0
        for each in self._heard[manager]:
            if isinstance(each, detection.HeartbeatSent):
                count = 0 if each.delivered else count + 1
        return count

    def _ask(self) -> list[Any]:
        self._asking = bool(self._heard)
        if not self._asking:
            return []
        asked = [detection.AskForHeartbeat(manager) for manager in sorted(self._heard)]
        return [*asked, detection.SetInterval(self._now + self._parameters.interval_ns)]

    def _lost(self, manager: int, cause: detection.Cause) -> list[Any]:
        del self._heard[manager]
        return [detection.ReportManagerLoss(manager, cause)]

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield who is watched."""
        yield "watched", core.watched, tuple(sorted(self._heard))

    def stray(self, pick: Pick) -> Any:
        """Return what task managers, calls and timers may bring next."""
        now, manager = self._now + pick.integer(0, 9), pick.integer(0, 2)
        number = self._timers(manager) if manager in self._heard else 1
        return pick.of(
            (
                detection.Registered(now, manager),
                detection.Registered(now, manager),
                detection.HeartbeatCame(now, manager),
                detection.HeartbeatCame(now, manager),
                detection.HeartbeatSent(now, manager, delivered=pick.one_in(2)),
                detection.HeartbeatSent(now, manager, delivered=False),
                detection.IntervalOver(now),
                detection.TimeoutFired(now, manager, number - pick.of((0, 0, 1))),
                detection.TaskFailed(now, 4),
                detection.ConnectionBroken(now, manager, 5),
            )
        )
