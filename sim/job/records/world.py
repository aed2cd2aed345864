"""The world of a job: attempts, failures, the stop, the end, and what must hold throughout."""

from __future__ import annotations

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import Recovery
from ckptsim.models.coordinator.plan import FinishedState
from ckptsim.models.lifecycle import RULES, TaskState
from ckptsim.scenarios.job import Job, StopKind
from ckptsim.sim.job.control.checkpoint import CheckpointRecord, JobCheckpoint
from ckptsim.sim.job.control.coordinator import CoordinatorHost
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.control.planning import PlanCalculator
from ckptsim.sim.job.records.attempt import Attempt
from ckptsim.sim.job.records.external import ExternalSystem
from ckptsim.sim.job.records.graph import Graph, TaskSpec
from ckptsim.sim.job.records.judge import Judge
from ckptsim.sim.job.records.kinds import Kind
from ckptsim.sim.job.records.messages import RecordMessages
from ckptsim.sim.job.records.observer import JobObserver
from ckptsim.sim.job.records.patience import Watch, patience_of
from ckptsim.sim.job.records.settings import (
    final_at_once,
    parameters_of,
    settings_of,
    variant_of,
)
from ckptsim.sim.job.records.started import lost_state
from ckptsim.sim.job.records.unended import Unended
from ckptsim.sim.kernel import Environment, Wait, explain_waits
from ckptsim.sim.slots import ProtocolCores

# How often a stop that failed is asked for again before the user gives up.  Assumption.
_STOP_TRIES = 8
# How often a job is started before it is taken for one that cannot run.  Assumption.
_ATTEMPTS = 100


class JobWorld:
    """One job in one run.

    cores: make the cores of the job.
    restored: the checkpoint that the first attempt starts from, as a user would start a job from a
    savepoint.  external: the system it writes to.
    """

    def __init__(
        self,
        env: Environment,
        job: Job,
        faults: FaultPlan,
        *,
        cores: ProtocolCores,
        restored: JobCheckpoint | None = None,
        external: ExternalSystem | None = None,
        may_stop: bool = True,
    ) -> None:
        self.env = env
        self.job = job
        self.graph = Graph(job)
        self.faults = faults
        self.cores = cores
        self.external = ExternalSystem(self.violate) if external is None else external
        self.violations: list[tuple[str, int, str]] = []
        self.closed_ns: dict[int, int] = {}
        self.recoveries: list[tuple[int, str, int, int | None, int]] = []
        self.emitted: dict[int, int] = {}  # the most that earlier attempts have emitted
        self.progress_ns = 0
        self.running = False
        self.ended = False
        self.gave_up = False
        self.failed_while_stopping = False  # or stands still then; the savepoint is complete
        self.may_stop = may_stop
        self._stop_tries = 0
        self.attempts = 1
        self.attempts_before = 0  # of the job that `restored` is of
        self.entity = env.entity("job")
        first = 1 if restored is None else restored.checkpoint_id + 1
        self.observer = JobObserver(self)
        self.coordinator = self._make_coordinator(first)
        if restored is not None:
            self.coordinator.highest_completed = restored.checkpoint_id
        self.unended = Unended(self)
        self.unended.taken_over(restored)
        self.lost_state = lost_state(self.graph, restored)
        self._over = env.event()
        self._initial = restored
        self.judge = Judge(self)
        self.attempt = self.deploy(1, restored)

    def deploy(self, number: int, restored: JobCheckpoint | None) -> Attempt:
        """Make the tasks and channels of an attempt."""
        return Attempt(self, number, restored)

    # --- running ---

    def run(self) -> None:
        """Run the job to its end.

        A run that stands still is reported as a violation of `job_ends`, or of `stop_ends` where
        tasks wait for the word of a savepoint that they will never get.
        """
        env = self.env
        self.plan_faults()
        stop_ns = self.job.ending.stop_at_ns
        if stop_ns is None and self.is_endless:
            stop_ns = self.job.ending.horizon_ns
        if stop_ns is not None and self.may_stop:
            env.call_in(stop_ns, Kind.COORDINATOR, self.entity, self._stop)
        patience_ns = patience_of(self.job, self.faults)
        watch = Watch(env, patience_ns, lambda: self.progress_ns, self._stalled)
        if self._initial is not None:
            self.judge.restore(self._initial)
        self.begin()
        env.run(until=self._over)
        watch.stop()

    def plan_faults(self) -> None:
        """Enter the faults that strike at an instant into the calendar."""
        env = self.env
        for fault in self.faults.crashes:
            spec = self._task_of(fault.vertex, fault.subtask)
            env.call_at(fault.at_ns, Kind.FAULT, self.entity, self.crash, spec)
        for stall in self.faults.stalls:
            spec = self._task_of(stall.vertex, stall.subtask)
            env.call_at(stall.at_ns, Kind.FAULT, self.entity, self._stall, spec, stall.lasts_ns)

    def _stalled(self) -> None:
        waits = explain_waits(tuple(self._waits()))
        self.failed_while_stopping = self._stop_was_missed()
        name = "stop_ends" if self.failed_while_stopping else "job_ends"
        self.violate(name, f"the job stands still, but work remains: {waits}")
        self._end()

    def _end(self) -> None:
        """End the run: the job has finished, has failed for good, or stands still."""
        self.observer.account.check_triggers()
        for task in self.attempt.tasks if self.attempt.alive else ():
            task.ending.account.run_ended()
        if self.ended:
            self.observer.account.end()
        self.running = False
        self.attempt.alive = False
        if not self._over.triggered:
            self._over.succeed()

    def _stop_was_missed(self) -> bool:
        """Say whether a task waits for the completion of a savepoint that it will never hear of.

        Under released Flink's rules a stop waits for exactly its savepoint, so a notification that
        is lost, or overtaken by that of a later checkpoint, is waited for without end.  Where
        checkpoints go on and any of them will do, there is no such excuse.
        """
        stop_id = self.coordinator.stop_id
        if not self.coordinator.stop_completed or stop_id is None:
            return False
        rules = RULES[variant_of(self.job)]
        if rules.triggers_after_stop and self.job.checkpointing.enabled:
            return False
        return any(
            task.ending.state is TaskState.WAITING_FOR_FINAL_CP
            and (
                (task.spec.index, stop_id) in self.coordinator.gateway.lost
                or task.ending.core.latest_reported > stop_id
            )
            for task in self.attempt.tasks
        )

    @property
    def is_endless(self) -> bool:
        """Say whether a source has no end of its own."""
        return any(vertex.is_endless for vertex in self.graph.vertices)

    def begin(self) -> None:
        """Let the tasks of the attempt work and the coordinator trigger."""
        self.running = True
        self.progress_ns = self.env.now
        self.coordinator.start(self.attempts, self.attempt.tasks)
        self.attempt.start()

    def _stop(self) -> None:
        """Ask for the stop; while the job restarts, and after a failed stop, ask again."""
        if self.ended or self.coordinator.stop_completed:
            return
        self._stop_tries += 1
        if self._stop_tries > _STOP_TRIES:
            self.gave_up = True
            self._end()
        elif self.running:
            self.coordinator.stop()
        else:
            self.stop_failed()

    def stop_failed(self) -> None:
        """Ask for the stop once more after a while: it has failed."""
        delay_ns = self.job.restart.delay_ns + 2 * self.job.checkpointing.interval_ns
        self.env.call_in(delay_ns, Kind.COORDINATOR, self.entity, self._stop)

    def _stall(self, spec: TaskSpec, lasts_ns: int) -> None:
        task = self.attempt.tasks[spec.index]
        if self.running and not task.gone:
            task.occupy(lasts_ns)
            self.env.trace.record("stalled", task.entity, lasts_ns)

    # --- what the coordinator host asks ---

    def _make_coordinator(self, first_checkpoint: int) -> CoordinatorHost:
        job, checkpointing = self.job, self.job.checkpointing
        core = self.cores.coordinator(parameters_of(job), first_checkpoint=first_checkpoint)
        planning = PlanCalculator(
            self.graph.vertices,
            self.graph.plan_edges,
            self.finished_on_restore,
            after_finish=checkpointing.after_finish,
        )
        return CoordinatorHost(
            self.env,
            core,
            settings=settings_of(job),
            planning=planning,
            listener=self.cores.end_of_data(len(self.graph.tasks), enabled=final_at_once(job)),
            messages=RecordMessages(self.env, job.costs),
            faults=self.faults,
            job=self,
            observer=self.observer,
        )

    def first_delay_ns(self) -> int:
        """Return when the first periodic trigger comes: as set, or after one interval."""
        checkpointing, restored = self.job.checkpointing, self.attempt.restored
        if restored is not None:
            return checkpointing.interval_ns
        first_ns = checkpointing.first_trigger_ns
        if first_ns is None:
            first_ns = checkpointing.interval_ns
        return max(0, first_ns - self.env.now)

    def finished_on_restore(self, vertex: str) -> bool:
        """Say whether a vertex was deployed as finished in this attempt."""
        restored = self.attempt.restored
        return restored is not None and restored.vertices[vertex] is FinishedState.FULL

    def checkpoint_of(
        self, record: CheckpointRecord, vertices: dict[str, FinishedState]
    ) -> JobCheckpoint:
        """Return what is kept of a checkpoint; of vertices that have finished, nothing."""
        kept = {
            number: part.snapshot
            for number, (part, _) in record.parts.items()
            if vertices[self.graph.tasks[number].vertex.name] is not FinishedState.FULL
        }
        return JobCheckpoint(
            checkpoint_id=record.checkpoint,
            savepoint=record.request.savepoint,
            tasks=kept,
            vertices=vertices,
            finished=frozenset(self.coordinator.planning.numbers(record.plan.finished)),
            positions=self.attempt.positions_in(record),
            lost_state=self.lost_state,
        )

    def checkpoint_completed(self, record: CheckpointRecord) -> None:
        """Do nothing: however many are completed, the job goes on."""

    def checkpoints_failed(self, reason: FailureReason) -> None:
        """Fail the job because of its checkpoints."""
        self.fail_over(f"checkpoint failed: {reason.value}")

    def task_finished(self, number: int) -> None:
        """Do nothing: the instants at which tasks close are on record already."""

    def all_finished(self) -> None:
        """End the job: every task has FINISHED."""
        self.ended = True
        self.coordinator.suspend(FailureReason.CHECKPOINT_COORDINATOR_SHUTDOWN)
        self.env.trace.record("finished", self.entity)
        self._end()

    # --- failures ---

    def crash(self, spec: TaskSpec) -> None:
        """Fail a subtask, and the job with it, unless the subtask has finished."""
        if self.running and not self.attempt.tasks[spec.index].gone:
            self.fail_over(f"{spec.name} crashes")

    def fail_over(self, cause: str) -> None:
        """End the attempt and begin the next one from the latest completed checkpoint.

        Once the savepoint of a stop is complete there is no next attempt.
        """
        if not self.running or self.ended:
            return
        self.running = False
        self.attempt.alive = False
        self.env.trace.record("failed", self.entity, cause)
        stopped = self.coordinator.stop_completed
        if self.cores.failover(stop_completed=stopped) is Recovery.FAIL:
            self.failed_while_stopping = stopped
            self.env.goals.reach("failed_after_stop_savepoint")
        elif not self.job.restart.restarts_after(self.attempts):
            self.env.goals.reach("restarts_used_up")
        elif self.attempts >= _ATTEMPTS:
            self.violate("job_ends", f"the job has failed {self.attempts} times, last: {cause}")
        else:
            if stopped:
                self.coordinator.forget_stop()
            self._fail_over(cause)
            return
        self.gave_up = True
        self.coordinator.suspend(FailureReason.CHECKPOINT_COORDINATOR_SHUTDOWN)
        self._end()

    def _fail_over(self, cause: str) -> None:
        self.env.goals.reach("restarted")
        self.recoveries.append((self.attempts, cause, self.env.now, None, 0))
        self.coordinator.suspend(FailureReason.JOB_FAILOVER_REGION)
        self.env.call_in(self.job.restart.delay_ns, Kind.COORDINATOR, self.entity, self._restart)

    def _restart(self) -> None:
        self.redeploy()
        self.begin()

    def redeploy(self) -> JobCheckpoint | None:
        """Make the next attempt from the latest completed checkpoint, and return that."""
        restored = self._latest()
        before = sum(task.position for task in self.attempt.tasks)
        self.emitted = self.most_emitted()
        self.attempts += 1
        self.unended.restarted(restored)
        self.lost_state = lost_state(self.graph, restored)
        self.closed_ns = {}
        self.attempt = self.deploy(self.attempts, restored)
        again = before - sum(task.position for task in self.attempt.tasks)
        number, cause, failed_ns, _, _ = self.recoveries[-1]
        self.recoveries[-1] = (number, cause, failed_ns, self.env.now, again)
        self._note_restore(restored)
        return restored

    def _latest(self) -> JobCheckpoint | None:
        """Return the latest checkpoint that the job may start from; savepoints are the user's."""
        kept = [c for c in self.coordinator.completed.values() if not c.savepoint]
        return max(kept, key=lambda c: c.checkpoint_id, default=self._initial)

    def _note_restore(self, restored: JobCheckpoint | None) -> None:
        number = restored.checkpoint_id if restored is not None else 0
        self.env.trace.record("restored", self.entity, number)
        if restored is None:
            return
        self.judge.restore(restored)
        if FinishedState.FULL in restored.vertices.values():
            self.env.goals.reach("restored_fully_finished")
        if FinishedState.PARTIAL in restored.vertices.values():
            self.env.goals.reach("restored_partly_finished")

    def positions(self) -> dict[int, int]:
        """Return how many records each source task has emitted, as this attempt counts."""
        return {task.spec.index: task.position for task in self.attempt.tasks if task.is_source}

    def most_emitted(self) -> dict[int, int]:
        """Return how many records each source task has emitted in any attempt."""
        now = self.positions()
        return {task: max(count, self.emitted.get(task, 0)) for task, count in now.items()}

    # --- what is checked on the way ---

    def violate(self, name: str, says: str) -> None:
        """Report a property that does not hold."""
        self.violations.append((name, self.env.now, says))
        self.env.trace.record("violated", self.entity, name, says)

    def has_backlog(self) -> bool:
        """Say whether records are in flight."""
        return any(link.emitted > link.consumed for link in self.attempt.links)

    # --- the end ---

    @property
    def stopped_without_drain(self) -> bool:
        """Say whether the job ended to be resumed from its savepoint."""
        return self.coordinator.stop_completed and self.job.ending.stop_kind is StopKind.NO_DRAIN

    def _waits(self) -> list[Wait]:
        found = [wait for task in self.attempt.tasks for wait in task.waits()]
        for number in self.coordinator.core.pending:
            for index in self.coordinator.core.awaited(number):
                name = self.graph.tasks[index].name
                found.append(Wait("the coordinator", f"checkpoint {number}", name))
        return found

    def _task_of(self, vertex: str, subtask: int) -> TaskSpec:
        return self.graph.tasks[self.graph.first_task[vertex] + subtask]
