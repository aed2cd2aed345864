"""The oracle of a job: every property, checked where its observer is told what happens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from ckptsim.sim.job.oracle.channels import ChannelOracle
from ckptsim.sim.job.oracle.checkpoints import CheckpointOracle
from ckptsim.sim.job.oracle.contents import check_contents, check_restored, missing_at_restore
from ckptsim.sim.job.oracle.ends.finished import had_ended
from ckptsim.sim.job.oracle.ends.stops import StopOracle
from ckptsim.sim.job.oracle.files import FileOracle
from ckptsim.sim.job.oracle.messages.acknowledgements import AcknowledgementOracle
from ckptsim.sim.job.oracle.messages.notifications import NotificationOracle
from ckptsim.sim.job.oracle.messages.triggers import TriggerOracle
from ckptsim.sim.job.oracle.observer import JobObserver
from ckptsim.sim.job.oracle.ordered import OrderedRecords
from ckptsim.sim.job.oracle.recovery.losses import LossOracle
from ckptsim.sim.job.oracle.recovery.origins import Origins
from ckptsim.sim.job.oracle.recovery.rescales import Rescales
from ckptsim.sim.job.oracle.recovery.restarts import RestartOracle
from ckptsim.sim.job.oracle.tasks import TaskOracle
from ckptsim.sim.job.settings import final_at_once

if TYPE_CHECKING:
    from ckptsim.models.barriers.reason import FailureReason
    from ckptsim.models.coordinator.plan import Plan
    from ckptsim.models.coordinator.requests import Request
    from ckptsim.scenarios.job import Job
    from ckptsim.sim.job.control.checkpoint import CheckpointRecord, JobCheckpoint
    from ckptsim.sim.job.oracle.view import Contents, PlaneView, Violate
    from ckptsim.sim.job.port import ObservedTask, TaskGateway
    from ckptsim.sim.kernel import Environment, Timer

_OVER = "failed_tasks_do_nothing"


class JobOracle(JobObserver):
    """Follows one job over all its attempts.

    tasks: oracles of the tasks of the attempt, by number.  exactly: no record may be repeated.
    """

    looks_on = True
    channel_type: type[ChannelOracle] = ChannelOracle

    def __init__(self, env: Environment, job: Job, plane: PlaneView, violate: Violate) -> None:
        self.tasks: dict[int, TaskOracle] = {}
        self.checkpoints = CheckpointOracle(env, job, plane, self.tasks, violate)
        self.notifications = NotificationOracle(
            env, plane, self.tasks, violate, loss_ratio=job.costs.notification_loss_ratio
        )
        self._acknowledgements = AcknowledgementOracle(env, plane, self.tasks, violate)
        self._triggers = TriggerOracle(env, plane, self.tasks, violate)
        self._job = job
        self.exactly = job.checkpointing.exactly_once  # in all attempts so far
        self._plane = plane
        self._violate = violate
        self._losses = LossOracle(env, job.recovery.heartbeat, violate)
        self.restarts: RestartOracle = RestartOracle(job, env, violate)
        self._stop = StopOracle(env, job, violate)
        self._files: list[FileOracle] = []
        self._order = OrderedRecords(violate)
        self._completed: dict[int, None] = {}
        self.idle_splits: dict[int, None] = {}
        self._moved_splits: dict[int, None] = {}
        self._finished: dict[int, None] = {}  # tasks of the attempt that are known to have
        self._halted = False
        self._rescales = Rescales()
        self._slept: dict[int, None] = {}  # tasks of the attempt, told once
        self._origins = Origins(env, violate)
        # In-flight data that a restart was to leave out: by vertex, and that of each checkpoint.
        self._left_out: dict[str, Contents] = {}
        self.left_out_of: dict[int, dict[str, Contents]] = {}

    def restarted(self, before: JobObserver) -> None:
        """Expect no more than of the run before: what it has in flight may speak of idle splits."""
        self.exactly = before.exactly
        self.idle_splits.update(before.idle_splits)
        self.left_out_of.update(before.left_out_of)

    # Parts of an attempt ----------------------------------------------------------------------

    def changed(self, job: Job) -> None:
        """Expect what the job promises now; records once repeated stay repeated."""
        self.exactly = self.exactly and job.checkpointing.exactly_once
        self._job = job
        self.checkpoints.changed(job.checkpointing)

    def deploying(self) -> None:
        """Check that nothing acts any more of the attempt before, and forget its parts."""
        if self.tasks and not self._halted:
            self._violate(_OVER, "tasks are deployed while those of an attempt before still act")
        self._losses.deploying()
        self.restarts.deploying()
        self._finished.clear()
        self._slept.clear()
        self.tasks.clear()
        self._order.clear()
        for one in (self.checkpoints, self.notifications, self._acknowledgements, self._triggers):
            one.attempt_ends()
        for file in self._files:
            file.attempt_ends()
        self._files.clear()

    def task(self, task: ObservedTask) -> TaskOracle:
        """Return the oracle of a task; it is new at the first call of an attempt."""
        found = self.tasks.get(task.number)
        if found is None:
            found = TaskOracle(self._job, self._plane, task, self._violate)
            self.tasks[task.number] = found
            found.notifications = self.notifications
            found.lifecycle.completed = self._completed
            found.event_time.idle_splits = self.idle_splits
            found.event_time.moved_splits = self._moved_splits
            found.order = self._order
            found.peers = self.tasks
        return found

    def files(self, names: Mapping[int, str]) -> FileOracle:
        """Return the oracle of the files of a group of subtasks."""
        self._files.append(FileOracle(names, self._violate))
        return self._files[-1]

    def channel(
        self, sender: ObservedTask, receiver: ObservedTask, **settings: bool
    ) -> ChannelOracle:
        """Return the oracle of a channel."""
        return self._joined(self.channel_type(self.task(sender), self.task(receiver), **settings))

    def _joined(self, channel: ChannelOracle) -> ChannelOracle:
        channel.sender.outputs.append(channel)
        channel.receiver.inputs.append(channel)
        return channel

    # The run ----------------------------------------------------------------------------------

    def submitted(self) -> None:
        """Expect that the next attempt begins from what the user has of this one."""
        self._origins.submitted()

    def begun(self, restored: JobCheckpoint | None) -> None:
        """Check that the attempt begins from a cut."""
        self._halted = False
        self.restarts.begun(self._job)
        if self._job.checkpointing.coordinated:
            self._origins.begun(restored)
        else:
            self._origins.begun_on_a_line(restored)
        self.checkpoints.begun(restored)
        self._rescales.begun(self._job, restored)
        self._left_out = {}
        if restored is not None:
            before_it = self.left_out_of.get(restored.checkpoint_id, {})
            check_restored(self._plane, restored, self._violate, before_it, exactly=self.exactly)
            without = self._job.checkpointing.recover_without_channel_state
            # What the user leaves out here is told once: nobody can expect it from here on.
            is_left_out = restored.checkpoint_id == without
            self._left_out = missing_at_restore(self._plane) if is_left_out else before_it
        for task in self.tasks.values():
            task.lifecycle.restored_id = None if restored is None else restored.checkpoint_id
            task.lifecycle.ended_before = restored is not None and had_ended(restored, task)
            task.lifecycle.was_rescaled = self._rescales.any
            task.lifecycle.was_rescaled_before = self._rescales.any_before
            task.event_time.rescaled = self._rescales.vertices
            written = self._plane.written(task.task)
            for out, amount in zip(task.outputs, written, strict=True):
                out.restored_amount = amount

    def killed(self, number: int) -> None:
        """Note that nothing is expected of a task any more."""
        self.tasks[number].is_over = True
        for out in self.tasks[number].outputs:
            out.cut = self._plane.loses_queues

    def halted(self) -> None:
        """Note that the attempt is over: nothing is expected of its tasks."""
        self._halted = True
        self.restarts.halted()
        for task in self.tasks.values():
            task.is_over = True

    def slept(self, task: ObservedTask) -> None:
        """Tell of a thread that nobody wakes, once."""
        if task.number not in self._slept:
            self._slept[task.number] = None
            self._violate("ready_tasks_run", f"{self._plane.name(task)} sleeps, and has work")

    def manager_lost(self, manager: int, *, unreachable: bool) -> None:
        """Expect that the loss of a task manager is known in time."""
        self._losses.lost(manager, unreachable=unreachable)

    def manager_loss_known(self, manager: int) -> None:
        """Check that it is."""
        self._losses.known(manager)
        self.restarts.loss_known(manager)

    def job_manager_lost(self) -> None:
        """Expect of the next job manager that it knows nothing of earlier losses."""
        self._losses.forgotten()

    def look(self) -> None:
        """Check that nothing has waited too long."""
        self.checkpoints.look()
        self._stop.look()
        self._look_at_messages()
        self._losses.look()
        for task in self._running:
            task.look()

    def _look_at_messages(self) -> None:
        self.notifications.look()
        if not self._halted:
            self.notifications.look_at_arrival()
        self._acknowledgements.look()
        self._triggers.look()

    @property
    def _running(self) -> Iterable[TaskOracle]:
        return [task for task in self.tasks.values() if not task.is_over]

    def end(self, *, ended: bool) -> None:
        """Check what must hold at the end; of a job that has ended, that nothing is left open."""
        self.look()
        held_ns = self._plane.faults.held_ns(self._job)
        for task in self._running:
            task.lifecycle.run_ended(held_ns=held_ns)
        if not ended:
            return
        for file in self._files:
            file.end(lambda task, number: self.tasks[task].gave_up(number))
        for task in self.tasks.values():
            for out in task.outputs:
                for number in out.unsettled:
                    says = f"the output of channel {out.name} is open for checkpoint {number}"
                    self._violate("output_state_is_settled", says, number)

    def check_contents(self) -> None:
        """Check what state and output of a job that has ended hold."""
        check_contents(self._plane, self._violate, self._left_out, exactly=self.exactly)

    # The coordinator --------------------------------------------------------------------------

    def scheduled(self, first_ns: int) -> None:
        """Note that periodic triggers begin, the first after `first_ns`."""
        self.checkpoints.scheduled(first_ns)

    def unscheduled(self) -> None:
        """Note that periodic triggers have ended."""
        self.checkpoints.unscheduled()

    def asked(self) -> None:
        """Note that a checkpoint is about to be planned."""
        self.checkpoints.asked()

    def planned(self, plan: Plan) -> None:
        """Check the plan of a checkpoint, and what must have been done by now."""
        self._look_at_messages()
        for task in self._running:
            task.look_at_writing()
        self.checkpoints.planned(plan)

    def refused(self, request: Request, *, ready: bool, possible: bool) -> None:
        """Check that a request that could be planned is refused only where its tick was missed."""
        missed = self._job.checkpointing.skip_missed_ticks and request.periodic
        if ready and possible and not missed:
            says = f"request {request.number} is refused, and its checkpoint could be taken"
            self._violate("given_up_for_a_cause", says)

    def stop_asked(self) -> None:
        """Note that the user asks for the stop, perhaps again."""
        self._stop.asked()

    def stop_refused(self) -> None:
        """Expect that the job goes on."""
        self.checkpoints.stop_failed()
        self._stop.failed()

    def triggered(self, record: CheckpointRecord) -> None:
        """Check that a checkpoint may begin."""
        self._acknowledgements.triggered(record.checkpoint)
        self._triggers.triggered(record)
        self.checkpoints.triggered(record)

    def trigger_came(self, task: ObservedTask, checkpoint: int) -> None:
        """Check that a trigger comes to its task in order."""
        found = self.tasks.get(task.number)
        if found is not None and found.task is task:
            self._triggers.came(found, checkpoint)

    def expiry_set(self, checkpoint: int, timer: Timer) -> None:
        """Expect that the timer of a checkpoint ends with it."""
        self.checkpoints.expiry_set(checkpoint, timer)

    def acknowledged(
        self, task: ObservedTask, checkpoint: int, size: int, *, unaligned: bool
    ) -> None:
        """Note what a task says of its part: one that has not failed."""
        found = self.tasks.get(task.number)
        if found is None or found.task is not task or found.is_over:
            says = f"{task.entity.name} acknowledges {checkpoint} after it has failed"
            self._violate(_OVER, says, checkpoint)
            return
        self.checkpoints.reported(task.number, checkpoint, size, unaligned=unaligned)
        self._acknowledgements.sent(found, checkpoint)

    def acknowledgement(self, record: CheckpointRecord, task: TaskGateway, part: Any) -> None:
        """Check what a part holds."""
        self._acknowledgements.came(task.number, record.checkpoint)
        self.checkpoints.acknowledged(record, task.number, part)

    def completed(self, record: CheckpointRecord, kept: JobCheckpoint | None) -> None:
        """Check a checkpoint that is complete."""
        self._completed[record.checkpoint] = None
        if self._left_out:
            self.left_out_of[record.checkpoint] = self._left_out
        if kept is not None:
            self._origins.completed(kept)
        self.checkpoints.completed(record, kept)
        self.notifications.ended(record, completed=True)
        self._acknowledgements.ended(record.checkpoint)

    def failed(self, record: CheckpointRecord, reason: FailureReason) -> None:
        """Check that a checkpoint may be given up."""
        self.checkpoints.failed(record, reason)
        if record.request.synchronous:
            self._stop.failed()
        self._look_at_messages()
        self._acknowledgements.ended(record.checkpoint)
        self.notifications.ended(record, completed=False)

    def notified(self, record: CheckpointRecord) -> None:
        """Check that tasks are told of a completion after it."""
        self.checkpoints.notified(record)
        self.notifications.told(record, completed=True)

    def kept(self, numbers: tuple[int, ...], held: Mapping[int, JobCheckpoint]) -> None:
        """Check what the coordinator's core says that it keeps, and what its host holds."""
        self.checkpoints.kept(numbers, held)

    def discarded(self, checkpoint: int) -> None:
        """Note when a checkpoint is discarded, for the story of a restart that lacks it."""
        self._origins.discarded(checkpoint)

    def log_service_cut(self, oldest: int, /) -> None:
        """Check that what a restart would replay from a log service is still there."""
        self._origins.log_service_cut(oldest)

    def abort_notified(self, record: CheckpointRecord) -> None:
        """Check that tasks are told of an end that has come."""
        self.notifications.told(record, completed=False)

    def notification_lost(self, task: int, checkpoint: int, *, completed: bool) -> None:
        """Expect one notification less."""
        self.notifications.lost(task, checkpoint, completed=completed)

    def notification_repeated(self, task: int, checkpoint: int) -> None:
        """Expect one notification more."""
        self.notifications.repeated(task, checkpoint)

    def restored(self, checkpoint: JobCheckpoint) -> None:
        """Check that an attempt may begin from a checkpoint."""
        self.checkpoints.restored(checkpoint)

    def final_request(self, task: TaskGateway, *, asked: bool) -> None:
        """Check that the final checkpoint is asked for when the last task has ended, if wanted.

        Called at each report; a task that a stop has cut has ended nothing.
        """
        ends = [one.lifecycle for one in self.tasks.values()]
        reports = self._sender(task, "ends its data")
        if reports is None:
            return
        reports.lifecycle.reported = True
        drained = all(end.reported and not end.cut_short for end in ends)
        if asked != (final_at_once(self._job) and drained):
            says = f"{'a' if asked else 'no'} final checkpoint is asked for when the last data ends"
            self._violate("final_checkpoint_is_asked_for", says)

    def finished(self, task: TaskGateway) -> None:
        """Check that a task that is taken for finished has closed, and is heard of once."""
        sender = self._sender(task, "has finished")
        if sender is None:
            return
        if sender.lifecycle.closed_ns is None or task.number in self._finished:
            says = f"{task.entity.name} is taken for finished again, or before it has closed"
            self._violate(_OVER, says)
        self._finished[task.number] = None

    def _sender(self, task: TaskGateway, says: str) -> TaskOracle | None:
        """Return the oracle of a task that is heard of; only those of the attempt may be."""
        sender, one = self.tasks.get(task.number), cast("object", task)
        if sender is not None and sender.task is one:
            return sender
        self._violate(_OVER, f"{task.entity.name} of an attempt before {says}")
        return None
