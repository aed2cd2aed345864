"""One job over all its attempts: start, failures and restarts, the stop, the end.

The data plane makes and runs the tasks of an attempt. This decides when an attempt begins and ends,
and from which checkpoint.  A failure takes effect once what happens at its instant is over: then
nothing of the attempt acts any more, the coordinator gives up pending work, and after the restart
strategy's delay the next attempt begins from the latest completed checkpoint.  Savepoints are the
user's: no restart begins from one.

Source: Apache Flink 1.20.3, DefaultScheduler, Coordinator.restoreLatestCheckpointed-
StateToAll.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import Recovery, after_failure
from ckptsim.models.coordinator.plan import FinishedState
from ckptsim.scenarios.job.faults import Symptom
from ckptsim.sim.job.control.checkpoint import CheckpointRecord, JobCheckpoint, kept_of, newest_of
from ckptsim.sim.job.control.coordinator import CoordinatorHost
from ckptsim.sim.job.control.detection import DetectionHost
from ckptsim.sim.job.control.failover import FailoverRecord, StrategyHost, note_canceled
from ckptsim.sim.job.control.faults import FaultPlan, enter_attempt, enter_instants
from ckptsim.sim.job.control.operations import Operations
from ckptsim.sim.job.control.planning import TaskPlans
from ckptsim.sim.job.control.sinks import Sinks
from ckptsim.sim.job.control.sinks.external import ExternalSystem
from ckptsim.sim.job.control.trace import ControlTrace
from ckptsim.sim.job.events import of_job

if TYPE_CHECKING:
    from ckptsim.models.coordinator import EndOfDataListener
    from ckptsim.sim.job.control.failover import FailoverHost
    from ckptsim.sim.job.embedding import JobOwner
    from ckptsim.sim.job.port import DataPlane
    from ckptsim.sim.job.settings import JobSettings
    from ckptsim.sim.kernel import Environment
    from ckptsim.sim.slots.protocols import Coordinator

# How often a stop that failed is asked for again before the user gives up.  Assumption.
_STOP_TRIES = 8


class JobWorld:
    """One job in one run.

    restored: the checkpoint that the first attempt starts from, as a user would start a job from a
    savepoint. Later the one that the attempt which runs was started from.  external: the system
    that sinks write to.  over: called when the run is to end.  owner: who begins the attempts of a
    job that is part of something larger.  latest: what a restart begins from where no coordinator
    triggers checkpoints. It is given what the job began from.
    running: an attempt runs.  ended: every task has FINISHED.  canceled: by its user.  gave_up: it
    has failed for good, because of `failure`. failed_while_stopping: after the savepoint of a stop.
    timed: hosts failovers that take time, where they do.
    """

    def __init__(
        self,
        env: Environment,
        plane: DataPlane,
        settings: JobSettings,
        *,
        core: Callable[..., Coordinator],
        listener: Callable[..., EndOfDataListener],
        faults: FaultPlan,
        over: Callable[[], None],
        recovery: Callable[..., Recovery] = after_failure,
        restored: JobCheckpoint | None = None,
        external: ExternalSystem | None = None,
        owner: JobOwner | None = None,
        latest: Callable[[JobCheckpoint | None], JobCheckpoint | None] | None = None,
    ) -> None:
        self.env = env
        self.settings = settings
        self.entity = env.entity("job")
        self.running = self.ended = self.canceled = False
        self.gave_up = self.failed_while_stopping = False
        self.failure: str | None = None
        self.attempts = 1
        self.restored = self._initial = restored
        self.failovers: list[FailoverRecord] = []
        self._plane, self.has_backlog = plane, plane.has_backlog
        self._faults, self.events = faults, plane.events
        self._over, self._recovery = over, recovery
        self.owner = owner
        self._latest_of = latest
        self._make_core = core
        self._task_plans = TaskPlans(plane, self.finished_on_restore, listener, settings)
        self.operations = Operations(self, self._task_plans)
        self.strategy = StrategyHost(env, settings.restart, plane.events)
        self.timed: FailoverHost | None = None
        self.detection = DetectionHost(self, settings, events=plane.events)
        self._stop_tries = self._completed = 0
        first = 1 if restored is None else restored.checkpoint_id + 1
        self.coordinator = CoordinatorHost(
            env,
            core(settings.parameters, first_checkpoint=first),
            settings=settings.coordinator,
            planning=self._task_plans.planning(),
            listener=self._task_plans.listener(),
            messages=plane.messages,
            faults=faults,
            job=self,
            events=plane.events,
        )
        if restored is not None:
            self.coordinator.highest_completed = restored.checkpoint_id
        self.sinks = Sinks(
            env,
            ExternalSystem(plane.violate) if external is None else external,
            timeout_ns=settings.transaction_timeout_ns,
            kind=settings.fault_kind,
            coordinator=self.coordinator,
            violate=plane.violate,
        )
        self.sinks.taken_over(restored)

    # The course of a job ----------------------------------------------------------------------

    def plan_instants(self, *, may_stop: bool = True) -> None:
        """Enter what happens at set instants into the calendar: faults, a stop, a savepoint."""
        env, settings, kind = self.env, self.settings, self.settings.coordinator.kind
        self.events.attach(ControlTrace(env))
        enter_instants(self._faults, env, settings.fault_kind, self.entity, self)
        if settings.stop_at_ns is not None and may_stop:
            env.call_in(settings.stop_at_ns, kind, self.entity, self.stop)
        if settings.savepoint_at_ns is not None:
            ask = self.coordinator.request
            env.call_at(settings.savepoint_at_ns, kind, env.entity("coordinator"), ask)

    def begin(self) -> None:
        """Let the tasks of the attempt work and the coordinator trigger."""
        self.running = True
        self._plane.watchdog.attempt_began()
        self.coordinator.start(self.attempts, self._plane.tasks)
        self._plane.start()
        enter_attempt(self._faults, self.env, self.settings.fault_kind, self.entity, self)

    def end(self) -> None:
        """End the run: the job has finished, has failed for good, or is not followed further."""
        self.running = False
        self._over()

    @property
    def has_enough(self) -> bool:
        """Whether as many checkpoints are complete as were wanted."""
        return self.settings.wanted is not None and self._completed >= self.settings.wanted

    # The stop ---------------------------------------------------------------------------------

    def stop(self) -> None:
        """Ask for the stop. While the job restarts, and after a failed stop, ask again."""
        self.events.emit(of_job.StopAsked())
        if self.ended or self.coordinator.stop_completed:
            return
        self._stop_tries += 1
        if self._stop_tries > _STOP_TRIES:
            self.gave_up = True
            self.end()
        elif self.running:
            self.coordinator.stop()
        else:
            self.stop_failed()

    def stop_failed(self) -> None:
        """Ask for the stop once more after a while: it has failed."""
        kind = self.settings.coordinator.kind
        self.env.call_in(self.settings.stop_again_ns, kind, self.entity, self.stop)

    # Failures ---------------------------------------------------------------------------------

    def lose_task_manager(self, numbers: Iterable[int], cause: str, symptom: Symptom) -> None:
        """Fail all tasks of a task manager. The next attempt needs another one."""
        if symptom is Symptom.CONNECTIONS_BREAK:
            self.detection.connections_broke(self.timed is None or self.timed.slots_return)
            self.crash(numbers, cause, lost=True)
            return
        alive = [number for number in numbers if self._plane.is_alive(number)]
        if alive and self.running:
            self._note_failure(cause, lost=True, tasks=alive)
            self._plane.kill(alive)
            self.detection.lose(cause, unreachable=symptom is Symptom.UNREACHABLE)

    def crash(self, numbers: Iterable[int], cause: str, *, lost: bool = False) -> None:
        """Fail tasks, and the job with them, unless all have finished. lost: with their manager."""
        alive = [number for number in numbers if self._plane.is_alive(number)]
        if not alive:
            return
        if self.timed is None:
            self.fail_over(cause)
        elif not self.ended:
            self._note_failure(cause, lost=lost, tasks=alive)
            self.timed.strike(alive, cause)

    def crash_job_manager(self) -> None:
        """Fail the job manager: pending checkpoints are lost. Completed ones and numbers are kept.

        All tasks are deployed anew.  Source: Apache Flink 1.20.3, ZooKeeperCheckpointIDCounter,
        DefaultCompletedCheckpointStore.recover.
        """
        if self.running:
            self.events.emit(of_job.JobManagerLost())
            self.detection.restarted()
            self.fail_over("the job manager crashes")
            self.coordinator.replace_core(self._new_core)

    def _new_core(self, old: Coordinator) -> Coordinator:
        return self._make_core(
            self.settings.parameters, first_checkpoint=old.next_checkpoint, completed=old.completed
        )

    def submitted(self, newest: JobCheckpoint | None, settings: JobSettings) -> None:
        """Be a new job from the next attempt on, which begins from a checkpoint of the old one."""
        self._initial, self.settings = newest, settings
        self.coordinator.replace_core(self._new_core)

    def was_submitted_with(self, checkpoint: int) -> bool:
        """Return whether a checkpoint is one that the job was given."""
        return self._initial is not None and self._initial.checkpoint_id == checkpoint

    def number_of(self, vertex: str, subtask: int) -> int | None:
        """Return the number of a task, None where there is no such subtask any more."""
        numbers = self.coordinator.planning.subtasks[vertex]
        return numbers[subtask] if subtask < len(numbers) else None

    def colocated(self, number: int) -> Sequence[int]:
        """Return the tasks on the task manager of a task, itself among them."""
        return self._plane.graph.colocated(number)

    def stall(self, number: int, lasts_ns: int) -> None:
        """Let a task's thread do nothing for a while."""
        if self.running and self._plane.is_alive(number):
            self._plane.stall(number, lasts_ns)

    def fail(self, cause: str) -> None:
        """Fail the job because of something inside it, when all else of this instant is over.

        Everything that has failed must not act by itself any more. Others of its attempt may.
        """
        env = self.env
        env.call_at(env.now, self.settings.fault_kind, self.entity, self.fail_over, cause)

    def fail_over(self, cause: str, *, planned: bool = False, noted: bool = False) -> None:
        """End the attempt. Begin the next one from the latest completed checkpoint.

        Once the savepoint of a stop is complete there is none.  planned: no strategy is asked.
        noted: the failure struck earlier.
        """
        self.events.emit(of_job.FailureNoticed())
        if not self.running or self.ended:
            return
        if self.owner is not None:
            self.events.emit(of_job.FailureKnown(cause))
            self.owner.job_failed(cause)
            return
        if not noted:
            self._note_failure(cause)
        if self.timed is not None:
            self.timed.known(cause, planned=planned)
            return
        self.running = False
        self._plane.halt()
        note_canceled(self.failovers, self.env.now)
        if self.failure_known(cause):
            delay_ns = 0 if planned else self.strategy.delay_ns()
            if delay_ns is not None:
                self.stop_triggering(FailureReason.JOB_FAILOVER_REGION)
                self.env.goals.reach("restarted")
                kind = self.settings.coordinator.kind
                again = self.detection.when_known
                self.env.call_in(delay_ns, kind, self.entity, again, self.restart)
                return
            self.env.goals.reach("restarts_used_up")
        self.failovers.pop()
        self.give_up(cause)

    def _note_failure(self, cause: str, *, lost: bool = False, tasks: Sequence[int] = ()) -> None:
        self._plane.watchdog.look()
        record = FailoverRecord(self.attempts, cause, self.env.now, lost, tasks=tuple(tasks))
        self.failovers.append(record)

    def failure_known(self, cause: str) -> bool:
        """Note that a failure is known. Return whether the job may be restarted at all."""
        self.events.emit(of_job.FailureKnown(cause))
        for one in self.failovers:
            one.known_ns = one.known_ns or self.env.now
        stopped = self.coordinator.stop_completed
        if self._recovery(stop_completed=stopped) is Recovery.FAIL:
            self.failed_while_stopping = stopped
            self.env.goals.reach("failed_after_stop_savepoint")
            return False
        if self.attempts >= self.settings.attempts_most:
            self._plane.violate("job_ends", f"it has failed {self.attempts} times, last: {cause}")
            return False
        if stopped:
            self.coordinator.forget_stop()
        return True

    def stop_triggering(self, reason: FailureReason) -> None:
        """Trigger no checkpoint any more, and give up those that are pending."""
        self.running = False
        self.coordinator.suspend(reason)

    def give_up(self, cause: str) -> None:
        """End the run: the job has failed for good."""
        self.gave_up = True
        self.failure = cause
        self.events.emit(of_job.JobGivenUp())
        self.coordinator.suspend(FailureReason.CHECKPOINT_COORDINATOR_SHUTDOWN)
        self.end()

    def interrupt(self, cause: str) -> None:
        """End whatever runs because its owner ends it: nothing of the attempt acts any more."""
        self._note_failure(cause)
        self._plane.halt()
        if self.running:
            self.stop_triggering(FailureReason.JOB_FAILOVER_REGION)

    def restart(self) -> None:
        """Begin the next attempt."""
        self.redeploy()
        self.begin()

    def redeploy(self) -> None:
        """Make the tasks of the next attempt from the latest completed checkpoint."""
        env, plane = self.env, self._plane
        self.ended = False  # an owner may begin again after the end: its own was not a good one
        before = sum(plane.positions().values())
        self.restored = restored = self.newest()
        self.attempts += 1
        self.sinks.restarted(self.attempts, restored)
        plane.deploy(self.attempts, restored)
        self._task_plans.deployed(self.coordinator)
        number = None if restored is None else restored.checkpoint_id
        for failover in self.failovers:
            if failover.resumed_ns is None:  # failures during a failover have one restart
                failover.resumed_ns, failover.restored = env.now, number
        self.failovers[-1].reprocessed = before - sum(plane.positions().values())
        self.events.emit(of_job.JobRestored(restored))

    def newest(self) -> JobCheckpoint | None:
        """Return the newest checkpoint that a restart may begin from."""
        if self._latest_of is not None:
            return self._latest_of(self._initial)
        kept = self.coordinator.completed.values()
        found = [self._initial, *(one for one in kept if not one.savepoint)]
        return newest_of(found, self.settings.checkpointing.recover_without_channel_state)

    # What the coordinator host asks -----------------------------------------------------------

    @property
    def can_checkpoint(self) -> bool:
        """Whether all tasks of the attempt run: none restores its state."""
        return self.running and not (self.timed is not None and self.timed.initializing)

    def first_delay_ns(self) -> int:
        """Return how long after the start of an attempt the first periodic trigger comes."""
        return self._plane.first_delay_ns(self.restored)

    def finished_on_restore(self, vertex: str) -> bool:
        """Return whether a vertex was deployed as finished in this attempt."""
        restored = self.restored
        return restored is not None and restored.vertices[vertex] is FinishedState.FULL

    def checkpoint_of(
        self, record: CheckpointRecord, vertices: dict[str, FinishedState]
    ) -> JobCheckpoint:
        """Return the kept parts of a checkpoint."""
        return kept_of(record, vertices, self.coordinator.planning, self._plane)

    def checkpoint_completed(self, record: CheckpointRecord) -> None:
        """Tell the owner. End the run when as many checkpoints are complete as were wanted."""
        self._completed += 1
        kept = self.coordinator.completed.get(record.checkpoint)
        if self.owner is not None and kept is not None:
            self.owner.checkpoint_completed(kept)
        if self.has_enough:
            self.end()

    def checkpoints_failed(self, reason: FailureReason) -> None:
        """Fail the job because of its checkpoints."""
        self.fail(f"checkpoint failed: {reason.value}")

    def task_finished(self, number: int) -> None:
        """Note that a task is known to have FINISHED."""
        self._plane.task_finished(number)

    def all_finished(self) -> None:
        """End the job: every task has FINISHED."""
        self.ended = True
        self.coordinator.suspend(FailureReason.CHECKPOINT_COORDINATOR_SHUTDOWN)
        self.env.trace.record("finished", self.entity)
        self.sinks.when_settled(self.end)
        if self.owner is not None:
            self.owner.job_finished()
