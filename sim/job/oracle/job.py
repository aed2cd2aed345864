"""The oracle of a job: it listens to the stream of events, and reads what the data plane counts.

Each part learns the events that concern it.  It asks no core what it believes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast

from ckptsim.sim.job.events import Listener
from ckptsim.sim.job.oracle.channel_state import ChannelStateOracle, FileOracle, had_ended
from ckptsim.sim.job.oracle.checkpoints import CheckpointOracle
from ckptsim.sim.job.oracle.event_time import EventTimeOracle
from ckptsim.sim.job.oracle.lifecycle import LifecycleOracle
from ckptsim.sim.job.oracle.messages import MessageOracle
from ckptsim.sim.job.oracle.records import (
    RecordChannel,
    RecordOracle,
    check_contents,
    check_restored,
    missing_at_restore,
)
from ckptsim.sim.job.oracle.restarts import Origins, Rescales, RestartOracle
from ckptsim.sim.job.oracle.tasks import TaskOracle
from ckptsim.sim.job.settings import final_at_once

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Job
    from ckptsim.sim.job.events import Events, of_job, of_tasks
    from ckptsim.sim.job.oracle.view import Contents, PlaneView, Violate
    from ckptsim.sim.job.port import ObservedTask, TaskGateway
    from ckptsim.sim.kernel import Environment

_OVER = "failed_tasks_do_nothing"


class JobOracle(Listener):
    """Follows one job over all its attempts.

    tasks: oracles of the tasks of the attempt, by number.  exactly: no record may be repeated.
    idle_splits: watermarks have passed without them.
    left_out_of: by checkpoint and vertex, what a restart before it left out for good.
    """

    def __init__(
        self, env: Environment, job: Job, plane: PlaneView, violate: Violate, events: Events
    ) -> None:
        self.tasks: dict[int, TaskOracle] = {}
        self.exactly = job.checkpointing.exactly_once  # in all attempts so far
        self.idle_splits: dict[int, None] = {}
        self.left_out_of: dict[int, dict[str, Contents]] = {}
        self._job = job
        self._plane = plane
        self._violate = violate
        self.checkpoints = CheckpointOracle(env, job, plane, self.tasks, violate)
        self._messages = MessageOracle(
            env, plane, self.tasks, violate, loss_ratio=job.costs.notification_loss_ratio
        )
        self._restarts = RestartOracle(job, env, violate)
        self._origins = Origins(env, violate)
        self._files = FileOracle(lambda number: self.tasks[number].name, violate)
        self._rescales = Rescales()
        self._completed: dict[int, None] = {}
        self._moved_splits: dict[int, None] = {}
        self._finished: dict[int, None] = {}  # tasks of the attempt that are known to have
        self._halted = False
        self._slept: dict[int, None] = {}  # tasks of the attempt, reported once
        # In-flight data that a restart was to leave out, by vertex.
        self._left_out: dict[str, Contents] = {}
        # The order is the one of hearing: this oracle comes last, when the others have heard.
        parts = (self._restarts, self._origins, self._messages, self.checkpoints, self._files)
        for part in (*parts, RecordOracle(violate), self):
            events.attach(part)
        for kind, name in (
            (TaskOracle, None),
            (ChannelStateOracle, "state"),
            (LifecycleOracle, "lifecycle"),
            (EventTimeOracle, "event_time"),
        ):
            for event, method in kind.methods():
                events.listen(event, self._of_task(name, method))

    def _of_task(self, part: str | None, method: Callable[..., None]) -> Callable[[Any], None]:
        """Return what lets a part of a task's oracle hear what happens at its own task."""
        tasks = self.tasks

        def hear(event: Any) -> None:
            task = event.task
            found = tasks.get(task.number)
            if found is not None and found.task is task:
                method(found if part is None else getattr(found, part), event)

        return hear

    def follows(self, before: JobOracle) -> None:
        """Expect no more than of a run before: what it has in flight may speak of idle splits."""
        self.exactly = before.exactly
        self.idle_splits.update(before.idle_splits)
        self.left_out_of.update(before.left_out_of)

    # Parts of an attempt ----------------------------------------------------------------------

    def changed(self, event: of_job.JobChanged) -> None:
        """Expect what the job promises now. Records once repeated stay repeated."""
        self.exactly = self.exactly and event.job.checkpointing.exactly_once
        self._job = event.job

    def deploying(self, event: of_job.AttemptDeploying) -> None:
        """Check that nothing acts any more of the attempt before, and forget its parts."""
        if self.tasks and not self._halted:
            self._violate(_OVER, "tasks are deployed while those of an attempt before still act")
        self._finished.clear()
        self._slept.clear()
        self.tasks.clear()

    def task(self, task: ObservedTask) -> TaskOracle:
        """Return the oracle of a task. It is new at the first call of an attempt."""
        found = self.tasks.get(task.number)
        if found is None:
            found = TaskOracle(self._job, self._plane, task, self._violate, self.tasks)
            self.tasks[task.number] = found
            found.lifecycle.completed = self._completed
            found.event_time.idle_splits = self.idle_splits
            found.event_time.moved_splits = self._moved_splits
        return found

    def deployed(self, event: of_job.TaskDeployed) -> None:
        """Follow a task."""
        self.task(event.task)

    def channel(
        self, sender: ObservedTask, receiver: ObservedTask, *, keeps_order: bool
    ) -> RecordChannel:
        """Return the oracle of a channel of records."""
        return RecordChannel(self.task(sender), self.task(receiver), keeps_order=keeps_order)

    def begun(self, event: of_job.AttemptBegun) -> None:
        """Check that the attempt begins from a cut."""
        restored = event.restored
        self._halted = False
        self._restarts.begun(self._job)
        begun = self._origins.begun
        (begun if self._job.checkpointing.coordinated else self._origins.begun_on_a_line)(restored)
        self._rescales.begun(self._job, restored)
        self._left_out = {}
        if restored is not None:
            before_it = self.left_out_of.get(restored.checkpoint_id, {})
            check_restored(self._plane, restored, self._violate, before_it, exactly=self.exactly)
            without = self._job.checkpointing.recover_without_channel_state
            # What the user leaves out here is reported once: no one expects it from here on.
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

    def killed(self, event: of_job.TaskKilled) -> None:
        """Expect nothing of a task any more."""
        found = self.tasks[event.task.number]
        found.is_over = True
        for out in found.outputs:
            out.cut = self._plane.loses_queues

    def halted(self, event: of_job.AttemptHalted) -> None:
        """Expect nothing of the tasks of an attempt that is over."""
        self._halted = True
        for task in self.tasks.values():
            task.is_over = True

    def slept(self, event: of_job.ThreadSlept) -> None:
        """Report a thread that no one wakes, once."""
        task = event.task
        if task.number not in self._slept:
            self._slept[task.number] = None
            self._violate("ready_tasks_run", f"{self._plane.name(task)} sleeps, and has work")

    # The run ----------------------------------------------------------------------------------

    def look(self) -> None:
        """Check that nothing has waited too long."""
        self.checkpoints.look()
        self._messages.look()
        self._restarts.look()
        for task in self._running:
            task.look()

    @property
    def _running(self) -> Iterable[TaskOracle]:
        return [task for task in self.tasks.values() if not task.is_over]

    def end(self, *, ended: bool) -> None:
        """Check what must hold at the end. Of a job that has ended, that nothing is left open."""
        self.look()
        held_ns = self._plane.faults.held_ns(self._job)
        for task in self._running:
            task.lifecycle.run_ended(held_ns=held_ns)
        if not ended:
            return
        self._files.end(lambda task, number: number in self.tasks[task].writing.given_up)
        for task in self.tasks.values():
            for out in task.outputs:
                for number in out.unsettled:
                    says = f"the output of channel {out.name} is open for checkpoint {number}"
                    self._violate("output_state_is_settled", says, number)

    def check_contents(self) -> None:
        """Check what state and output of a job that has ended hold."""
        check_contents(self._plane, self._violate, self._left_out, exactly=self.exactly)

    # The coordinator and its tasks ------------------------------------------------------------

    def planned(self, event: of_job.CheckpointPlanned) -> None:
        """Check what must have been written by now."""
        for task in self._running:
            task.writing.look()

    def refused(self, event: of_job.RequestRefused) -> None:
        """Check that a request that could be planned is refused only where its tick was missed."""
        missed = self._job.checkpointing.skip_missed_ticks and event.request.periodic
        if event.ready and event.possible and not missed:
            says = f"request {event.request.number} is refused, and its checkpoint could be taken"
            self._violate("given_up_for_a_cause", says)

    def reported(self, event: of_job.PartReported) -> None:
        """Note what a task says of its part: one that has not failed."""
        found, checkpoint = self.tasks.get(event.task.number), event.checkpoint
        if found is None or found.task is not event.task or found.is_over:
            says = f"{event.task.entity.name} acknowledges {checkpoint} after it has failed"
            self._violate(_OVER, says, checkpoint)
            return
        self.checkpoints.reported(
            event.task.number, checkpoint, event.size, unaligned=event.unaligned
        )
        self._messages.reported(found, checkpoint)

    def trigger_entered(self, event: of_tasks.TriggerEntered) -> None:
        """Check that no task of an attempt that is over takes part in a checkpoint."""
        found = self.tasks.get(event.task.number)
        if found is None or found.task is not event.task:
            says = f"{self._plane.name(event.task)} comes to checkpoint {event.checkpoint} "
            self._violate(_OVER, f"{says}after it has failed", event.checkpoint)

    def completed(self, event: of_job.CheckpointCompleted) -> None:
        """Note a checkpoint that is complete, and the rest before it."""
        self._completed[event.record.checkpoint] = None
        if self._left_out:
            self.left_out_of[event.record.checkpoint] = self._left_out

    def data_end_reported(self, event: of_job.DataEndReported) -> None:
        """Check that the final checkpoint is asked for when the last task has ended, if wanted."""
        ends = [one.lifecycle for one in self.tasks.values()]
        reports = self._sender(event.task, "ends its data")
        if reports is None:
            return
        reports.lifecycle.reported = True
        drained = all(end.reported and not end.cut_short for end in ends)
        if event.asked != (final_at_once(self._job) and drained):
            what = "a" if event.asked else "no"
            says = f"{what} final checkpoint is asked for when the last data ends"
            self._violate("final_checkpoint_is_asked_for", says)

    def finished(self, event: of_job.TaskFinished) -> None:
        """Check that a task that is taken for finished has closed, and is heard of once."""
        task = event.task
        sender = self._sender(task, "has finished")
        if sender is None:
            return
        if sender.lifecycle.closed_ns is None or task.number in self._finished:
            says = f"{task.entity.name} is taken for finished again, or before it has closed"
            self._violate(_OVER, says)
        self._finished[task.number] = None

    def _sender(self, task: TaskGateway, says: str) -> TaskOracle | None:
        """Return the oracle of a task that is heard of. Only the ones of the attempt may be."""
        sender, one = self.tasks.get(task.number), cast("object", task)
        if sender is not None and sender.task is one:
            return sender
        self._violate(_OVER, f"{task.entity.name} of an attempt before {says}")
        return None
