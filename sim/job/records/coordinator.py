"""The coordinator in the world: plans, messages, completed checkpoints, notifications, the stop.

Decisions come from `CheckpointCoordinator` and from `plan`; here they meet time, message delays and
the world's fault plan, and here the rows of checkpoints are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

from ckptsim.models.barriers import Barrier
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import EndOfDataListener, Request
from ckptsim.models.coordinator import events as ev
from ckptsim.models.coordinator.plan import Rejected, Vertex, finalize, plan_checkpoint
from ckptsim.models.lifecycle import RULES, EndMode
from ckptsim.scenarios.jobs import StopKind
from ckptsim.sim.job.records.checkpoint_account import CheckpointAccount
from ckptsim.sim.job.records.kinds import Kind
from ckptsim.sim.job.records.notifications import notify_aborted, notify_complete
from ckptsim.sim.job.records.settings import final_at_once, parameters_of, variant_of
from ckptsim.sim.job.records.snapshot import JobCheckpoint, TaskSnapshot
from ckptsim.sim.job.records.triggered import Triggered
from ckptsim.sim.kernel import Timer

if TYPE_CHECKING:
    from ckptsim.sim.job.records.attempt import Attempt
    from ckptsim.sim.job.records.parts import Parts
    from ckptsim.sim.job.records.task import Task
    from ckptsim.sim.job.records.world import JobWorld


class JobCoordinator:
    """The checkpoints of one job over all its attempts."""

    def __init__(self, world: JobWorld, *, first_checkpoint: int) -> None:
        self.world = world
        self.job = world.job
        self.core = world.cores.coordinator(
            parameters_of(world.job), first_checkpoint=first_checkpoint
        )
        self.entity = world.env.entity("coordinator")
        self.triggered: dict[int, Triggered] = {}
        self.completed: dict[int, JobCheckpoint] = {}
        self.highest_completed = -1
        self.ever_completed: set[int] = set()
        self.stop_id: int | None = None
        self.stop_requested = False
        self.stop_completed = False
        self.finished: set[int] = set()
        self._listener = self._make_listener()
        self._timers: dict[tuple[int, int], Timer] = {}
        self.account = CheckpointAccount(world)

    def _make_listener(self) -> EndOfDataListener:
        enabled = final_at_once(self.job)
        return self.world.listener_factory(len(self.world.graph.tasks), enabled=enabled)

    # --- the life of the job ---

    def start(self, *, restored: JobCheckpoint | None) -> None:
        """Begin to trigger: all tasks of a new attempt run."""
        self.finished = set()
        self._listener.reset()
        checkpointing = self.job.checkpointing
        first_ns = checkpointing.first_trigger_ns
        if first_ns is None or restored is not None:
            first_ns = checkpointing.interval_ns
        self._schedule(max(0, first_ns - self._origin(restored)))

    def _schedule(self, first_ns: int) -> None:
        self.account.scheduled(first_ns)
        self._step(ev.SchedulerStarted(self._now, first_ns))

    def _origin(self, restored: JobCheckpoint | None) -> int:
        return 0 if restored is not None else self._now

    def suspend(self, reason: FailureReason) -> None:
        """Give up everything that runs or waits."""
        self.account.unscheduled()
        self._step(ev.SchedulerStopped(self._now, reason))

    def stop(self) -> None:
        """Stop with savepoint: no more periodic checkpoints, then the savepoint."""
        self.stop_requested = True
        self.suspend(FailureReason.CHECKPOINT_COORDINATOR_SUSPEND)
        self._step(ev.CheckpointRequested(self._now, savepoint=True, synchronous=True))

    def end_of_data(self, task: Task) -> None:
        """Note that a task has sent EndOfData, unless its data was cut by a stop."""
        if task.ending.core.mode is EndMode.NO_DRAIN:
            return
        asked = self._listener.reported(task.spec.index)
        self.world.judge.final_request(asked=asked)
        if asked:
            self.world.env.goals.reach("immediate_final_checkpoint")
            self.world.message(Kind.COORDINATOR, self._request_final)

    def _request_final(self) -> None:
        self._step(ev.CheckpointRequested(self._now))

    def task_finished(self, task: int) -> None:
        """Record that a task has FINISHED; plans leave it out from now on."""
        self.finished.add(task)

    def completed_since(self, task: Task) -> bool:
        """Say whether a checkpoint was completed since the task sent EndOfData."""
        least = task.ending.core.minimum_id
        return least is not None and self.highest_completed >= least

    # --- what tasks send ---

    def acknowledged(
        self, attempt: Attempt, task: Task, checkpoint: int, snapshot: TaskSnapshot, parts: Parts
    ) -> None:
        """Take a task's part of a checkpoint."""
        if not attempt.alive:
            return
        triggered = self.triggered[checkpoint]
        self.account.acknowledged(triggered, task, snapshot, parts)
        triggered.states[task.spec.index] = snapshot
        triggered.parts[task.spec.index] = (self._now, parts)
        if parts.flags is not None and parts.flags.operators_finished:
            triggered.operators_finished.add(task.spec.index)
        self.world.env.trace.record("acknowledged", task.entity, checkpoint)
        self._step(ev.Acknowledged(self._now, checkpoint, task.spec.index))

    def declined(
        self, attempt: Attempt, task: Task, checkpoint: int, reason: FailureReason
    ) -> None:
        """Take a task's refusal."""
        if attempt.alive:
            self._step(ev.Declined(self._now, checkpoint, task.spec.index, reason))

    # --- effects of the core ---

    def _step(self, event: ev.CoordinatorEvent) -> None:
        self._carry_out(self.core.step(event))

    def _carry_out(self, effects: Sequence[ev.CoordinatorEffect]) -> None:  # noqa: C901, PLR0912
        for effect in effects:
            match effect:
                case ev.SetTimer(kind, number, delay_ns):
                    env = self.world.env
                    timer = env.call_in(
                        delay_ns, Kind.COORDINATOR, self.entity, self._timer, kind, number
                    )
                    self._timers[(kind, number)] = timer
                case ev.CancelTimer(kind, number):
                    self._timers.pop((kind, number)).cancel()
                case ev.PlanCheckpoint(request):
                    self._plan(request)
                case ev.TriggerTasks(barrier, tasks, request):
                    self._trigger(barrier, tasks, request)
                case ev.RefuseRequest(request):
                    if request.synchronous:
                        self._stop_failed()
                case ev.StoreCheckpoint(checkpoint):
                    delay_ns = self.job.costs.completion_ns
                    env = self.world.env
                    env.call_in(delay_ns, Kind.COORDINATOR, self.entity, self._store, checkpoint)
                case ev.CheckpointCompleted(checkpoint):
                    self._complete(checkpoint)
                case ev.NotifyComplete(checkpoint):
                    self.account.notified(self.triggered[checkpoint])
                    notify_complete(self.world, checkpoint, self.triggered[checkpoint].plan)
                case ev.CheckpointFailed(checkpoint, reason):
                    self._failed(checkpoint, reason)
                case ev.NotifyAborted(checkpoint, latest):
                    notify_aborted(self.world, checkpoint, latest, self.triggered[checkpoint].plan)
                case ev.DiscardCheckpoint(checkpoint):
                    if checkpoint != self.stop_id:
                        self.completed.pop(checkpoint, None)
                case ev.DiscardState():
                    pass
                case ev.FailJob(_, reason):
                    self.world.fail_over(f"checkpoint failed: {reason.value}")
                case _:
                    assert_never(effect)

    def _timer(self, kind: ev.TimerKind, number: int) -> None:
        self._step(ev.TimerFired(self._now, kind, number))

    def _plan(self, request: Request) -> None:
        """Plan a checkpoint from the recorded execution states, unless it was just given up."""
        if not self.core.planning:
            return
        self.account.asked()
        skipped = (
            self.job.checkpointing.skip_missed_ticks
            and request.periodic
            and request.submitted_ns < self._now
        )
        plan = plan_checkpoint(
            self.vertices(),
            self.world.graph.plan_edges,
            checkpoints_after_finish=self.job.checkpointing.after_finish,
        )
        if isinstance(plan, Rejected) or skipped or not self.world.running:
            self._step(ev.PlanRefused(self._now))
            return
        self.world.judge.plan(plan)
        self._planned = plan
        self._step(ev.Planned(self._now, self._indices(plan.trigger), self._indices(plan.wait_for)))

    def vertices(self, triggered: Triggered | None = None) -> list[Vertex]:
        """Return the vertices as recorded, or with what the tasks of a checkpoint reported."""
        found = []
        graph = self.world.graph
        finished = self.finished
        if triggered is not None:
            finished = set(self._indices(triggered.plan.finished))
        for vertex in graph.vertices:
            tasks = graph.tasks_of(vertex.name)
            reported = () if triggered is None else triggered.operators_finished
            found.append(
                Vertex(
                    name=vertex.name,
                    parallelism=vertex.parallelism,
                    finished=frozenset(t - tasks.start for t in tasks if t in finished),
                    union_state=vertex.union_state,
                    reported_operators_finished=frozenset(
                        t - tasks.start for t in tasks if t in reported
                    ),
                    finished_on_restore=self.world.restored_full(vertex.name),
                )
            )
        return found

    def _trigger(self, barrier: Barrier, tasks: Sequence[int], request: Request) -> None:
        attempt = self.world.attempt
        checkpoint = barrier.checkpoint
        plan = self._planned
        self.triggered[checkpoint] = Triggered(
            checkpoint, request, barrier.kind.name.lower(), plan, self._now, attempt.number
        )
        self.account.triggered(self.triggered[checkpoint])
        stop = request.synchronous
        if stop:
            self.stop_id = checkpoint
        self.world.env.trace.record("triggered", self.entity, checkpoint, barrier.kind.name)
        drain = self.job.ending.stop_kind is StopKind.DRAIN
        if stop and self.world.has_backlog():
            kind = "drain" if drain else "no_drain"
            self.world.env.goals.reach(f"stopped_under_backlog_{kind}")
        for index in tasks:
            task = attempt.tasks[index]
            delay_ns = self.world.faults.trigger_delay(task.spec, checkpoint)
            what = (attempt, task, barrier, stop, drain)
            self.world.message_in(
                delay_ns,
                Kind.MESSAGE,
                self._deliver_trigger,
                *what,
                sender=("trigger", checkpoint),
            )

    def _deliver_trigger(
        self,
        attempt: Attempt,
        task: Task,
        barrier: Barrier,
        stop: bool,  # noqa: FBT001
        drain: bool,  # noqa: FBT001
    ) -> None:
        if attempt.alive:
            attempt.trigger(task, barrier, stop=stop, drain=drain)

    def _store(self, checkpoint: int) -> None:
        """Decide what the checkpoint records of each vertex, and keep it or give it up."""
        triggered = self.triggered[checkpoint]
        if triggered.status != "pending":
            return
        states = finalize(self.vertices(triggered))
        if isinstance(states, Rejected):
            triggered.reason = states.rule
            self._give_up(checkpoint, FailureReason.CHECKPOINT_DECLINED_TASK_CLOSING)
            return
        ratio = self.job.costs.checkpoint_failure_ratio
        if ratio and self.world.env.stream("storing").uniform() < ratio:
            self._give_up(checkpoint, FailureReason.FINALIZE_CHECKPOINT_FAILURE)
            return
        full = [name for name, state in states.items() if state.value == "full"]
        kept = {
            index: snapshot
            for index, snapshot in triggered.states.items()
            if self.world.graph.tasks[index].vertex.name not in full
        }
        stored = JobCheckpoint(
            checkpoint_id=checkpoint,
            savepoint=triggered.request.savepoint,
            tasks=kept,
            vertices=states,
            finished=frozenset(self._indices(triggered.plan.finished)),
            positions=self._positions(triggered),
            lost_state=self.world.lost_state,
        )
        self.completed[checkpoint] = stored
        self._step(ev.Stored(self._now, checkpoint))

    def _give_up(self, checkpoint: int, reason: FailureReason) -> None:
        self._step(ev.Stored(self._now, checkpoint, failed=True, reason=reason))

    def _positions(self, triggered: Triggered) -> dict[int, int]:
        """Return what each source task had emitted: at its snapshot, or when it finished."""
        return {
            task.spec.index: (
                triggered.states[task.spec.index].position
                if task.spec.index in triggered.states
                else task.position
            )
            for task in self.world.attempt.tasks
            if task.is_source
        }

    def _complete(self, checkpoint: int) -> None:
        triggered = self.triggered[checkpoint]
        self.account.completed(triggered)
        triggered.status, triggered.ended_ns = "completed", self._now
        self.world.env.trace.record("completed", self.entity, checkpoint)
        self.world.judge.checkpoint(self.completed[checkpoint], self.highest_completed)
        self.highest_completed = max(self.highest_completed, checkpoint)
        self.ever_completed.add(checkpoint)
        if checkpoint == self.stop_id:
            self.stop_completed = True
            if RULES[variant_of(self.job)].triggers_after_stop:
                self._schedule(self.job.checkpointing.interval_ns)

    def _failed(self, checkpoint: int, reason: FailureReason) -> None:
        triggered = self.triggered[checkpoint]
        self.account.failed(triggered, reason)
        expired = reason is FailureReason.CHECKPOINT_EXPIRED
        triggered.status = "expired" if expired else "aborted"
        triggered.reason = triggered.reason or reason.value
        triggered.ended_ns = self._now
        if expired:
            indices = self._indices(triggered.plan.wait_for)
            self.world.judge.expired(checkpoint, sorted(set(indices) - set(triggered.parts)))
            self.world.env.goals.reach("expired")
        if reason in (
            FailureReason.CHECKPOINT_SUBSUMED,
            FailureReason.CHECKPOINT_DECLINED_SUBSUMED,
        ):
            self.world.env.goals.reach("subsumed")
        self.world.env.trace.record("aborted", self.entity, checkpoint, reason.value)
        if checkpoint == self.stop_id:
            self._stop_failed()

    def forget_stop(self) -> None:
        """Take a stop for failed although its savepoint is complete: the job has gone on."""
        self.stop_id = None
        self.stop_requested = self.stop_completed = False
        self.world.stop_again()

    def _stop_failed(self) -> None:
        """Go on with periodic checkpoints: the stop has failed."""
        self.stop_id = None
        self.stop_requested = False
        self.world.stop_again()
        self._schedule(self.job.checkpointing.interval_ns)

    def _indices(self, tasks: Sequence[tuple[str, int]]) -> tuple[int, ...]:
        first = self.world.graph.first_task
        return tuple(first[name] + subtask for name, subtask in tasks)

    @property
    def _now(self) -> int:
        return self.world.env.now
