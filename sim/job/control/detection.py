"""Hosts the core that learns of task managers which are gone without a broken connection.

The job manager asks every task manager for a heartbeat once per interval.  Before the first loss
nothing of that is observable, so nothing of it happens: a task manager is made known to the core
when it is lost, as of its latest heartbeat.  Where in the interval that was is drawn once per run,
for the job manager asks all of them at once.

Until the loss is known, no task of the lost machine can be cancelled, so a failover that has begun
for another reason does not deploy before.  Assumption: a heartbeat and its answer take no time,
against intervals of seconds.

Source: Apache Flink 1.20.3, JobMaster, HeartbeatManagerSenderImpl. Execution.cancel (a task on a
silent task manager stays CANCELING until that counts as lost).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, assert_never

from ckptsim.models.recovery import detection
from ckptsim.sim.job.events import of_job

if TYPE_CHECKING:
    from ckptsim.sim.job.events import Events
    from ckptsim.sim.job.settings import JobSettings
    from ckptsim.sim.kernel import Entity, Environment


def mean_unknown_ns(parameters: detection.HeartbeatParameters, *, unreachable: bool) -> float:
    """Return how long a loss is unknown in the mean over the instants at which it can strike.

    The latest heartbeat came up to an interval before the loss, half of one in the mean.  From
    there the time-out runs. Where requests fail, the threshold counts those that follow it.
    """
    known_ns, threshold = parameters.timeout_ns, parameters.rpc_failure_threshold
    if unreachable and threshold is not None:
        known_ns = min(known_ns, threshold * parameters.interval_ns)
    return known_ns - parameters.interval_ns / 2


class LosingJob(Protocol):
    """What the host asks of the job."""

    env: Environment
    entity: Entity

    def fail_over(self, cause: str, *, noted: bool) -> None:
        """End the attempt, because of a loss. noted: that struck earlier."""


class DetectionHost:
    """Learns of the lost task managers of one job, and fails the job over for each.

    found: of each that is known, how long it was not, and how long such losses are in the mean.
    """

    def __init__(self, job: LosingJob, settings: JobSettings, *, events: Events) -> None:
        self._env, self._entity = job.env, job.entity
        self._parameters = settings.heartbeat
        self._kind = settings.fault_kind
        self._fail_over, self._emit = job.fail_over, events.emit
        self._core = self._new_core()
        self._phase_ns: int | None = None
        self.found: list[tuple[int, float]] = []
        self._causes: list[str] = []  # by number of the lost task manager
        self._lost_ns: list[int] = []  # the same
        self._unreachable: set[int] = set()
        self._waiting: list[Callable[[], None]] = []
        self._offered_until_ns = 0

    def lose(self, cause: str, *, unreachable: bool) -> None:
        """Let a task manager give no heartbeat from now on.

        unreachable: requests for one cannot be delivered, instead of being delivered in vain.
        """
        manager = len(self._causes)
        self._causes.append(cause)
        self._lost_ns.append(self._env.now)
        if unreachable:
            self._unreachable.add(manager)
        self._emit(of_job.ManagerLost(manager, unreachable))
        self._step(detection.Registered(self._latest_heartbeat_ns(), manager))

    def connections_broke(self, slots_return: bool) -> None:  # noqa: FBT001
        """Let the slots of a task manager that is gone be offered until requests have failed.

        slots_return: it gives them back at once.
        """
        if slots_return:
            return
        parameters, latest_ns = self._parameters, self._latest_heartbeat_ns()
        lasts_ns, threshold = parameters.timeout_ns, parameters.rpc_failure_threshold
        if threshold is not None:
            lasts_ns = min(lasts_ns, threshold * parameters.interval_ns)
        self._offered_until_ns = latest_ns + lasts_ns

    @property
    def offers_dead_slots(self) -> bool:
        """Whether a deployment now would go to a task manager that is gone."""
        return self._env.now < self._offered_until_ns

    def when_known(self, call: Callable[[], None]) -> None:
        """Call a function when no loss is unknown any more: at once, unless one is."""
        if self._core.watched:
            self._waiting.append(call)
        else:
            call()

    def restarted(self) -> None:
        """Forget everything: a new job manager knows only who registers with it."""
        self._core = self._new_core()
        self._release()

    def _new_core(self) -> detection.FailureDetector:
        core = detection.FailureDetector(self._parameters)
        looked_at: detection.FailureDetector = self._env.witness(
            "failure detector", core, self._parameters
        )
        return looked_at

    def _latest_heartbeat_ns(self) -> int:
        """Return when all task managers were last asked. It may lie before the job's begin."""
        interval_ns, now_ns = self._parameters.interval_ns, self._env.now
        if self._phase_ns is None:
            self._phase_ns = self._env.stream("heartbeat").integer(0, interval_ns - 1)
        return now_ns - (now_ns - self._phase_ns) % interval_ns

    # The core ---------------------------------------------------------------------------------

    def _step(self, event: detection.DetectionEvent) -> None:
        for effect in self._core.step(event):
            self._carry_out(effect)

    def _carry_out(self, effect: detection.DetectionEffect) -> None:
        match effect:
            case detection.SetInterval(at_ns):
                self._at(at_ns, self._interval_over, self._core)
            case detection.SetTimeout(manager, at_ns, number):
                self._at(at_ns, self._timed_out, self._core, manager, number)
            case detection.AskForHeartbeat(manager):
                delivered = manager not in self._unreachable
                self._step(detection.HeartbeatSent(self._env.now, manager, delivered))
            case detection.ReportManagerLoss(manager, cause):
                mean_ns = mean_unknown_ns(
                    self._parameters, unreachable=manager in self._unreachable
                )
                self.found.append((self._env.now - self._lost_ns[manager], mean_ns))
                self._emit(of_job.ManagerLossKnown(manager))
                self._fail_over(f"{self._causes[manager]}: {cause.value}", noted=True)
                if not self._core.watched:
                    self._release()
            case detection.ReportTaskFailure():
                raise AssertionError("tasks that throw report to the job itself")
            case _ as never:
                assert_never(never)

    def _at(self, at_ns: int, call: Callable[..., None], *arguments: object) -> None:
        self._env.call_at(at_ns, self._kind, self._entity, call, *arguments)

    def _interval_over(self, core: detection.FailureDetector) -> None:
        if core is self._core:  # the ones of an earlier job manager are void
            self._step(detection.IntervalOver(self._env.now))

    def _timed_out(self, core: detection.FailureDetector, manager: int, number: int) -> None:
        if core is self._core:
            self._step(detection.TimeoutFired(self._env.now, manager, number))

    def _release(self) -> None:
        waiting, self._waiting = self._waiting, []
        for call in waiting:
            call()
