"""Failovers that take time: the host of the cores that detect, delay and order them.

A failure strikes: its tasks do nothing more.  Some time later the job manager knows. Until then,
and until they are cancelled, all other tasks continue, so that a checkpoint under way may still
complete.  Then the failover core says the work done, and here it is done, each part in its time.

Source: Apache Flink 1.20.3, DefaultScheduler. The times come from anyone who makes the host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, assert_never

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.recovery import failover
from ckptsim.models.recovery.restart import (
    FailureNoticed,
    GiveUp,
    RestartParameters,
    RestartStrategy,
)
from ckptsim.sim.job.events import of_job

if TYPE_CHECKING:
    from ckptsim.sim.job.control.detection import DetectionHost
    from ckptsim.sim.job.events import Events
    from ckptsim.sim.kernel import Entity, Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class FailoverTimes:
    """How long the parts of one failover take, in ns.

    report_ns: from a task's failure to the job manager's knowing it. cancel_ns: from there to the
    end of the last task. restart_ns: from the end of delay and cancellation to the deployment.
    """

    report_ns: int
    cancel_ns: int
    restart_ns: int


@dataclass(slots=True)
class FailoverRecord:
    """A failure and what followed. attempt: the one that failed.

    resumed_ns: when the next attempt began, None where there was none.  restored: the checkpoint
    that it began from, None for its beginning.  reprocessed: records that sources emitted again.
    manager_lost: a task manager is gone, not a task alone.  tasks: that failed first.
    restarted: that were deployed anew, where that takes time.
    known_ns: when the job manager knew of it. canceled_ns: when all tasks were cancelled. The rest
    where that takes time, and on records: opened_ns, when all state was read and all tasks were
    open. handed_over_ns, when all in-flight data had been processed. bytes_read: of both.
    running_ns: when the last task ran again. restore_ns: how long the slowest took from its
    deployment to there. first_record_ns: when an operator without outputs took one. caught_up_ns,
    peak_latency_ns: when latency was back at its level, and how late a record was at most.
    backlog_gone_ns: when sources had emitted all that was due.
    """

    attempt: int
    cause: str
    failed_ns: int
    manager_lost: bool = False
    tasks: tuple[int, ...] = ()
    resumed_ns: int | None = None
    restored: int | None = None
    reprocessed: int = 0
    known_ns: int | None = None
    canceled_ns: int | None = None
    opened_ns: int | None = None
    handed_over_ns: int | None = None
    bytes_read: int | None = None
    restarted: tuple[int, ...] = ()
    running_ns: int | None = None
    restore_ns: int | None = None
    first_record_ns: int | None = None
    caught_up_ns: int | None = None
    peak_latency_ns: int | None = None
    backlog_gone_ns: int | None = None


class FailingJob(Protocol):
    """What a failover asks of the job. detection: of task managers that are lost in silence."""

    detection: DetectionHost
    env: Environment
    entity: Entity
    running: bool
    failovers: list[FailoverRecord]

    def failure_known(self, cause: str) -> bool:
        """Note that a failure is known. Return whether a restart is allowed at all."""

    def stop_triggering(self, reason: FailureReason) -> None:
        """Trigger no checkpoint any more, and give up those that are pending."""

    def restart(self) -> None:
        """Deploy the next attempt from the latest completed checkpoint, and begin to trigger."""

    def give_up(self, cause: str) -> None:
        """End the run: the job has failed for good."""


class TimedPlane(Protocol):
    """What a failover that takes time asks of the data plane besides."""

    def kill(self, numbers: Iterable[int]) -> None:
        """Let tasks do nothing more: they have failed."""

    def halt(self) -> None:
        """End the attempt: nothing of it acts any more."""


class FailoverHost:
    """Drives the failovers of one job.

    times: of a failover, by whether the process restarts a job for the first time.  starting: the
    tasks of the first attempt restore, as the job was started from a checkpoint.  slots_return: a
    task manager that is lost gives its slots back.
    """

    def __init__(
        self,
        job: FailingJob,
        plane: TimedPlane,
        strategy: StrategyHost,
        times: Callable[[bool], FailoverTimes],
        *,
        kind: int,
        slots_return: bool,
    ) -> None:
        self._env = job.env
        self.slots_return = slots_return
        self.core: failover.Failover = job.env.witness("course of failures", failover.Failover())
        self.starting = False
        self._job = job
        self._plane = plane
        self._strategy = strategy
        self._times_of = times
        self._times = times(True)
        self._kind = kind
        self._cause = ""

    @property
    def initializing(self) -> bool:
        """Whether some task of the attempt restores its state."""
        return self.starting or self.core.phase is failover.Phase.INITIALIZING

    def strike(self, numbers: Iterable[int], cause: str) -> None:
        """Let tasks fail. The job manager knows of it a while later."""
        self._plane.kill(numbers)
        self._later(self._times.report_ns, self.known, cause)

    def known(self, cause: str, *, planned: bool = False) -> None:
        """Fail over: the job manager knows of a failure.

        planned: the user has asked for the restart, so no strategy is asked and nothing delays it.
        """
        if self.core.phase in (failover.Phase.FAILING, failover.Phase.FAILED):
            return
        self._cause = cause
        may_restart, now_ns = self._job.failure_known(cause), self._env.now
        if planned and may_restart:
            self._step(failover.RestartableFailure(now_ns, 0))
            return
        delay_ns = self._strategy.delay_ns(recoverable=may_restart)
        if delay_ns is None:
            if may_restart:
                self._env.goals.reach("restarts_used_up")
            self._job.failovers.pop()  # it is a failure, but not followed by a recovery
            self._step(failover.FinalFailure(now_ns))
        else:
            self._env.goals.reach("restarted")
            self._step(failover.RestartableFailure(now_ns, delay_ns))

    def all_running(self) -> None:
        """Note that every task of the attempt runs."""
        if self.starting:
            self.starting = False
        else:
            self._step(failover.AllRunning(self._env.now))

    def _later(self, delay_ns: int, call: Callable[..., object], /, *arguments: object) -> None:
        self._env.call_in(delay_ns, self._kind, self._job.entity, call, *arguments)

    def _step(self, event: failover.FailoverEvent) -> None:
        for effect in self.core.step(event):
            self._carry_out(effect)

    def _carry_out(self, effect: failover.FailoverEffect) -> None:
        match effect:
            case failover.StopTriggering():
                self._job.stop_triggering(FailureReason.JOB_FAILOVER_REGION)
            case failover.CancelTasks():
                # What runs on a machine that is lost in silence is not known to be gone.
                gone = self._job.detection.when_known
                self._later(self._times.cancel_ns, gone, self._canceled)
            case failover.SetDelay(at_ns, number):
                self._later(at_ns - self._env.now, self._delay_over, number)
            case failover.Deploy(number):
                self._later(self._times.restart_ns, self._deploy, number)
            case failover.StartTriggering():
                pass  # the attempt does so when it is deployed, see `_deploy`
            case failover.JobFailed():
                self._job.give_up(self._cause)
            case _ as never:
                assert_never(never)

    def _canceled(self) -> None:
        self._plane.halt()
        note_canceled(self._job.failovers, self._env.now)
        self._step(failover.AllCanceled(self._env.now))

    def _delay_over(self, number: int) -> None:
        self._step(failover.DelayOver(self._env.now, number))

    def _deploy(self, number: int) -> None:
        if self.core.phase is not failover.Phase.INITIALIZING or number != self.core.round:
            return  # a newer failure came before the tasks were made
        self._times = self._times_of(False)
        self.starting = False
        if self._job.detection.offers_dead_slots:
            # Source: Apache Flink 1.20.3: measured, restarts fail one by one until the task manager
            # counts as lost.
            cause = "a slot of a task manager that is gone was offered"
            self._later(self._times.restart_ns, self.known, cause)
            return
        self._job.restart()


def note_canceled(failovers: Iterable[FailoverRecord], now_ns: int) -> None:
    """Note that nothing acts any more of the attempt that has failed."""
    for record in failovers:
        if record.canceled_ns is None:
            record.canceled_ns = now_ns


class StrategyHost:
    """Asks the restart strategy of a job, at which someone may look on."""

    def __init__(self, env: Environment, parameters: RestartParameters, events: Events) -> None:
        self._env = env
        self._emit = events.emit
        self._core: RestartStrategy = env.witness(
            "restart strategy", RestartStrategy(parameters), parameters
        )

    def delay_ns(self, *, recoverable: bool = True) -> int | None:
        """Return what the strategy answers to a failure at this instant. None for no restart."""
        jitter = self._env.stream("restart").uniform()
        event = FailureNoticed(self._env.now, jitter, recoverable=recoverable)
        (answer,) = self._core.step(event)
        delay_ns = None if isinstance(answer, GiveUp) else answer.delay_ns
        self._emit(of_job.RestartDecided(delay_ns, recoverable))
        return delay_ns
