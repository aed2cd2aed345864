"""What must hold of checkpoints at the coordinator: how each begins, what it holds, how it ends.

Requests, acknowledgements and ends are seen as the hosts carry them out. What the coordinator's
core keeps in mind is not asked.

A checkpoint is a consistent cut when, for each channel, the data before the barrier is exactly the
receiver's state plus the channel's part of the checkpoint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator.plan import Rejected, check_restore
from ckptsim.scenarios.dialect import duration_text, listed
from ckptsim.sim.job.events import Listener
from ckptsim.sim.job.oracle.channel_state import FinishedFlags, check_plan
from ckptsim.sim.job.oracle.lifecycle import with_upstream
from ckptsim.sim.job.oracle.view import NOTHING, Held

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ckptsim.scenarios.job import Job
    from ckptsim.sim.job.control.checkpoint import CheckpointRecord
    from ckptsim.sim.job.events import of_job
    from ckptsim.sim.job.oracle.channels import ChannelOracle
    from ckptsim.sim.job.oracle.tasks import TaskOracle
    from ckptsim.sim.job.oracle.view import PlaneView, Violate
    from ckptsim.sim.kernel import Environment, Timer

# Why a checkpoint is aborted that still waits for tasks. One that is being stored waits for none.
_ON_THE_WAY = (
    FailureReason.CHECKPOINT_EXPIRED,
    FailureReason.CHECKPOINT_DECLINED,
    FailureReason.CHECKPOINT_DECLINED_TASK_NOT_READY,
    FailureReason.CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER,
    FailureReason.CHECKPOINT_ASYNC_EXCEPTION,
)
# Kinds with an aligned snapshot, by the name of the barrier's kind.
_ALIGNED = ("aligned", "savepoint", "at_least_once")


class CheckpointOracle(Listener):
    """The fate of the checkpoints of one job. tasks: of the attempt, by number."""

    def __init__(
        self,
        env: Environment,
        job: Job,
        plane: PlaneView,
        tasks: dict[int, TaskOracle],
        violate: Violate,
    ) -> None:
        self._env = env
        self._table = job.checkpointing
        self._plane = plane
        self._tasks = tasks
        self._violate = violate
        self._free_ns: int | None = None  # since when periodic triggers are due and nothing runs
        self._running: dict[int, CheckpointRecord] = {}
        self._newest_completed = -1
        self._completed_ns: int | None = None  # when one was completed last since the start
        self._kept: list[int] = []  # what a restart could begin from, oldest first
        self._held_on: list[int] = []  # and the one in front that goes next
        self._newest_acknowledged: dict[int, int] = {}  # by task
        self._reported: dict[tuple[int, int], tuple[int, bool]] = {}  # by task and checkpoint
        self._finished = FinishedFlags(violate)
        self._held: dict[int, dict[int, tuple[list[Held], list[Held]]]] = {}  # by checkpoint, task
        self._expiries: dict[int, Timer] = {}

    # Begin ------------------------------------------------------------------------------------

    def scheduled(self, event: of_job.TriggersScheduled) -> None:
        """Note that periodic triggers begin."""
        self._schedule(event.first_ns)

    def _schedule(self, first_ns: int) -> None:
        self._free_ns = self._env.now + first_ns
        self._completed_ns = None

    def stop_refused(self, event: of_job.StopRefused) -> None:
        """Expect that periodic triggers begin again: the savepoint of a stop is not taken."""
        self._schedule(self._table.interval_ns)

    def suspended(self, event: of_job.TriggersSuspended) -> None:
        """Check that none is overdue, and note that periodic triggers have ended."""
        self._check_triggers()
        self._free_ns = None

    def asked(self, event: of_job.PlanAsked) -> None:
        """Check that a checkpoint that is about to be planned does not come late."""
        self._check_triggers()
        if self._free_ns is not None:
            self._free_ns = max(self._free_ns, self._env.now)

    def _check_triggers(self) -> None:
        table, now_ns = self._table, self._env.now
        if self._free_ns is None or self._running or not table.coordinated:
            return
        pause_ns = max(table.interval_ns, table.min_pause_ns) + table.min_pause_ns
        if now_ns - self._free_ns > pause_ns:
            says = f"no checkpoint for {duration_text(now_ns - self._free_ns)}, though nothing is "
            says += "under way"
            self._violate("triggers_keep_their_pace", says)
            self._free_ns = now_ns

    def planned(self, event: of_job.CheckpointPlanned) -> None:
        """Check whom a plan triggers, awaits and takes for finished."""
        check_plan(event.plan, {one.task.place: one for one in self._tasks.values()}, self._violate)

    def triggered(self, event: of_job.CheckpointTriggered) -> None:
        """Check the limit and the pause of running checkpoints. A forced savepoint is exempt."""
        one = event.record
        since_ns = self._env.now - (self._completed_ns or 0)
        early = self._completed_ns is not None and since_ns < self._table.min_pause_ns
        if early and one.request.periodic:
            says = f"checkpoint {one.checkpoint} is triggered {duration_text(since_ns)} after "
            says += "a completion"
            self._violate("triggers_keep_their_pace", says, one.checkpoint)
        if one.request.periodic and self._free_ns is None:
            says = f"checkpoint {one.checkpoint} is triggered although periodic triggers have ended"
            self._violate("triggers_keep_their_pace", says, one.checkpoint)
        if one.request.synchronous and self._free_ns is not None:
            says = f"savepoint {one.checkpoint} of a stop is triggered, and periodic triggers go on"
            self._violate("triggers_keep_their_pace", says, one.checkpoint)
        running = [other for other in self._running.values() if not other.request.forced]
        if not one.request.forced and len(running) >= self._table.max_concurrent:
            says = f"checkpoint {one.checkpoint} is triggered while "
            says += f"{listed(sorted(self._running))} run"
            self._violate("triggers_keep_their_pace", says, one.checkpoint)
        self._running[one.checkpoint] = one

    def expiry_set(self, event: of_job.ExpirySet) -> None:
        """Note the timer that ends a checkpoint."""
        self._expiries[event.checkpoint] = event.timer

    # What they hold ---------------------------------------------------------------------------

    def reported(self, task: int, checkpoint: int, size: int, *, unaligned: bool) -> None:
        """Note how much a task says that its part has in flight, and how it calls the part."""
        self._reported[task, checkpoint] = size, unaligned

    def acknowledged(self, event: of_job.PartAcknowledged) -> None:
        """Check what a task's part holds in flight against how the checkpoint was taken."""
        one, number, part = event.record, event.task.number, event.part
        task, checkpoint = self._tasks[number], one.checkpoint
        if checkpoint not in self._running:
            says = f"checkpoint {checkpoint} takes {task.name}'s part in after it was {one.status}"
            self._violate("ended_checkpoints_stay_ended", says, checkpoint)
        if part.snapshot is None:
            raise AssertionError(f"{task.name} acknowledges {checkpoint} without a snapshot")
        self._finished.check_exhausted(task, checkpoint, said=part.snapshot.exhausted)
        newest = self._newest_acknowledged.get(number, checkpoint)
        self._newest_acknowledged[number] = max(newest, checkpoint)
        inputs, outputs = self._plane.held(task.task, part)
        self._held.setdefault(checkpoint, {})[number] = inputs, outputs
        amount = sum(held.amount for held in inputs + outputs)
        what = f"{task.name}'s part of checkpoint {checkpoint}"
        aligned = one.kind in _ALIGNED or not self._table.unaligned or one.request.savepoint
        if amount and aligned:
            says = f"{what}, which is {one.kind}, holds {self._plane.unit} in flight"
            self._violate("aligned_holds_nothing_in_flight", says, checkpoint)
        for held, channel in zip(inputs, task.inputs, strict=True):
            sent, read = channel.sent_cut(checkpoint), channel.read_cut(checkpoint)
            if held.amount and sent is not None and read is not None and read + held.amount > sent:
                says = f"{what} holds more of {channel.name} than was sent before its barrier"
                self._violate("consistent_cut", says, checkpoint)
        # An ordered input may be persisted all the same, when a barrier overtakes in another one.
        ends = zip(outputs, task.outputs, strict=True)
        ordered_inputs = all(channel.keeps_order for channel in task.inputs)
        if any(held.amount and channel.keeps_order for held, channel in ends) or (
            ordered_inputs and any(held.amount for held in inputs)
        ):
            says = f"{what} holds {self._plane.unit} in flight of an edge that must keep its order"
            self._violate("aligned_holds_nothing_in_flight", says, checkpoint)
        true = amount + sum(held.pieces for held in inputs + outputs) * self._plane.header_bytes
        said, unaligned = self._reported.pop((number, checkpoint), (true, bool(amount)))
        if unaligned != bool(amount):
            says = f"{what} is called {'un' * unaligned}aligned, it holds {amount} in flight"
            self._violate("reported_figures_are_true", says, checkpoint)
        if said != true:
            says = f"{what} is said to have {said} in flight, it has {true}"
            self._violate("reported_figures_are_true", says, checkpoint)

    # End --------------------------------------------------------------------------------------

    def completed(self, event: of_job.CheckpointCompleted) -> None:
        """Check that what completes was running, is whole, and is a consistent cut."""
        one, kept = event.record, event.kept
        number = one.checkpoint
        held = self._end(one, "completes")
        self._completed_ns = self._env.now
        if not one.request.savepoint:
            self._held_on = [*self._kept, number]
            self._kept = self._held_on[-self._table.retained :]
            if number <= self._newest_completed:
                says = f"checkpoint {number} completes after {self._newest_completed}"
                self._violate("checkpoint_ids_increase", says, number)
            self._newest_completed = max(self._newest_completed, number)
        missing = [self._tasks[n].name for n in one.tasks if n not in one.parts]
        if missing:
            says = f"checkpoint {number} completes without {', '.join(missing)}"
            self._violate("ended_checkpoints_stay_ended", says, number)
        else:
            parts = {task: part for task, (part, _) in one.parts.items()}
            self._check_cut(one, held, self._plane.logged(parts))
        if kept is None:
            says = f"checkpoint {number} completes, and the store has failed to keep it"
            self._violate("ended_checkpoints_stay_ended", says, number)
            return
        tasks = {task.task.place[0]: None for n, task in self._tasks.items() if n in kept.tasks}
        self._finished.completed(kept, one.parts, self._plane.vertices, holds=tasks)

    def _check_cut(
        self,
        one: CheckpointRecord,
        parts: dict[int, tuple[list[Held], list[Held]]],
        logged: Mapping[tuple[int, int], Held],
    ) -> None:
        """Check every channel. A task without a part had finished, and its channels had ended."""
        number = one.checkpoint
        for sender, task in self._tasks.items():
            inside = sender in one.parts
            written = [] if inside else self._plane.written(task.task)
            for place, out in enumerate(task.outputs):
                receiver = out.receiver.task.number
                sent = out.sent_cut(number) if inside else written[place]
                read = out.read_cut(number) if receiver in one.parts else sent
                first = parts[receiver][0][out.index] if receiver in parts else NOTHING
                last = parts[sender][1][place] if sender in parts else NOTHING
                last = logged.get((sender, place), last)
                cut = (sent, read, first, last)
                self._check_channel(out, number, cut, closed=not inside)

    def _check_channel(
        self,
        channel: ChannelOracle,
        checkpoint: int,
        cut: tuple[int | None, int | None, Held, Held],
        *,
        closed: bool,
    ) -> None:
        """Check one channel: the sent data, read, and held at the receiver and at the sender.

        closed: the sender had closed.  Without periodic checkpoints released Flink closes it while
        its data are still queued, and a savepoint has them nowhere: a hazard with its own name.
        Source: Apache Flink 1.20.3, `StreamTask.afterInvoke` and
        `triggerUnfinishedChannelsCheckpoint`.
        """
        sent, read, first, last = cut
        held = first.amount + last.amount
        if sent is None or read is None:
            fits = False
        elif self._table.exactly_once:
            fits = sent == read + held
            if first.numbers is not None and last.numbers is not None:
                fits &= [*first.numbers, *last.numbers] == list(range(read + 1, sent + 1))
        else:
            fits = sent <= read + held
        if not fits:
            numbers = [*(first.numbers or ()), *(last.numbers or ())] or ([held] if held else [])
            says = f"checkpoint {checkpoint}, channel {channel.name}: {sent} {self._plane.unit} "
            says += f"sent before the barrier, {read} processed before the snapshot, "
            lost = closed and not self._table.enabled
            name = "closed_tasks_leave_nothing_queued" if lost else "consistent_cut"
            self._violate(name, f"{says}in flight {listed(numbers)}", checkpoint)

    def failed(self, event: of_job.CheckpointFailed) -> None:
        """Check that the given value up was still running, and that savepoints are spared."""
        one, reason = event.record, event.reason
        self._end(one, "is given up")
        if one.request.synchronous:
            self._schedule(self._table.interval_ns)
        if one.request.savepoint and reason is FailureReason.CHECKPOINT_SUBSUMED:
            says = f"savepoint {one.checkpoint} gives way to a newer checkpoint"
            self._violate("given_up_for_a_cause", says, one.checkpoint)
        if reason is FailureReason.CHECKPOINT_EXPIRED:
            self._check_expired(one)
        if reason in _ON_THE_WAY and set(one.tasks) <= set(one.parts):
            says = f"checkpoint {one.checkpoint}, which all tasks have acknowledged, is given up: "
            self._violate("ended_checkpoints_stay_ended", says + reason.value, one.checkpoint)

    def kept(self, event: of_job.CheckpointsKept) -> None:
        """Check what the coordinator says that it keeps. Its host may hold one more by then."""
        plain = [number for number, one in event.held.items() if not one.savepoint]
        if list(event.numbers) != self._kept or not set(plain) <= set(self._held_on):
            says = (
                f"the coordinator says that it keeps {listed(event.numbers)}, and its host holds "
            )
            says += f"{listed(plain)}, where {listed(self._kept)} are kept"
            self._violate("cores_agree_with_their_world", says)

    def _check_expired(self, one: CheckpointRecord) -> None:
        """Check that no one whom an expired checkpoint waits for had closed long before."""
        for number in sorted(set(one.tasks) - set(one.parts)):
            task = self._tasks[number]
            closed_ns = task.lifecycle.closed_ns
            self._check_settled(one, task)
            if closed_ns is None or closed_ns + self._plane.grace_ns >= self._env.now:
                continue
            if self._newest_acknowledged.get(number, -1) > one.checkpoint:
                continue
            # A trigger that is lost keeps the barrier from all below, too.
            if any(self._plane.faults.loses(at.task, one.checkpoint) for at in with_upstream(task)):
                continue
            says = f"checkpoint {one.checkpoint} waits until its timeout for {task.name}, long "
            self._violate("checkpoint_ends_in_time", f"{says}closed", one.checkpoint)

    def _check_settled(self, one: CheckpointRecord, task: TaskOracle) -> None:
        """Check that no output of an expired checkpoint is open long after its receiver's part."""
        since_ns = self._env.now - self._plane.grace_ns
        for out in task.outputs:
            _, arrival_ns = one.parts.get(out.receiver.task.number, (None, self._env.now))
            if one.checkpoint in out.unsettled and arrival_ns < since_ns:
                says = f"checkpoint {one.checkpoint} expires as the output of {out.name} is open"
                self._violate("output_state_is_settled", says, one.checkpoint)

    def notified(self, event: of_job.TasksNotified) -> None:
        """Check that tasks hear of a completion after it is stored."""
        one = event.record
        if event.completed and one.status != "completed":
            says = f"tasks are notified of checkpoint {one.checkpoint}, which is {one.status}"
            self._violate("notified_once", says, one.checkpoint)

    def begun(self, event: of_job.AttemptBegun) -> None:
        """Note what an attempt begins with."""
        self._finished.restored(event.restored)

    def restored(self, event: of_job.CheckpointRestored | of_job.JobRestored) -> None:
        """Check that a job may start from a checkpoint, as it would be checked at submission."""
        checkpoint = event.checkpoint
        if checkpoint is None:
            return
        states = {name: [state] for name, state in checkpoint.vertices.items()}
        found = check_restore(states, self._plane.plan_edges)
        if isinstance(found, Rejected):
            says = f"checkpoint {checkpoint.checkpoint_id} is refused: {found.rule}, {found.vertex}"
            self._violate("restore_is_closed_under_predecessors", says)

    def look(self) -> None:
        """Check that checkpoints under way are so no longer than they may, and begin in time."""
        for one in self._running.values():
            self._check_duration(one)
        self._check_triggers()

    def changed(self, event: of_job.JobChanged) -> None:
        """Expect what checkpoints of another mode are."""
        self._table = event.job.checkpointing

    def deploying(self, event: of_job.AttemptDeploying) -> None:
        """Forget what the tasks of an attempt have done."""
        self._newest_acknowledged.clear()
        self._reported.clear()

    def _end(self, one: CheckpointRecord, does: str) -> dict[int, tuple[list[Held], list[Held]]]:
        """Take a checkpoint for ended. Return what its parts hold, by task."""
        number = one.checkpoint
        if self._running.pop(number, None) is None or one.status != "pending":
            says = f"checkpoint {number} {does} after it was {one.status}"
            self._violate("ended_checkpoints_stay_ended", says, number)
        expiry = self._expiries.pop(number, None)
        if expiry is not None and expiry.armed:
            says = f"checkpoint {number} {does} and leaves its timer running"
            self._violate("ended_checkpoints_stay_ended", says, number)
        self._check_duration(one)
        if not self._running and self._free_ns is not None:
            self._free_ns = max(self._free_ns, self._env.now)
        return self._held.pop(number, {})

    def _check_duration(self, one: CheckpointRecord) -> None:
        """Check that the last acknowledgement, or the end, comes within the time-out."""
        lasts_ns = self._env.now - one.triggered_ns
        whole = len(one.parts) == len(one.tasks)
        longest_ns = self._table.timeout_ns
        if whole and self._plane.storing_ns is not None:
            longest_ns += self._plane.storing_ns
        elif whole:
            lasts_ns = max(arrival_ns for _, arrival_ns in one.parts.values()) - one.triggered_ns
        if lasts_ns > longest_ns:
            says = f"checkpoint {one.checkpoint} is under way for {duration_text(lasts_ns)}"
            self._violate("checkpoint_ends_in_time", says, one.checkpoint)
