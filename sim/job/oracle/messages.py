"""What must hold of messages: each arrives unless it is lost, in its order, and as often as sent.

The coordinator notifies the tasks that a checkpoint's plan names: of the completion, or that it was
aborted, which repeats the newest completion that is no savepoint's.  No one learns of a plain
savepoint that is complete.  Between the two ends only what the fault plan, or chance, takes away is
lost, and only what it repeats comes twice.  A task's thread takes what comes as soon as it can.

A checkpoint that expires for want of a message, or is completed by a repeated one, would hide that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.job import faults as job_faults
from ckptsim.sim.job.events import Listener

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ckptsim.sim.job.control.checkpoint import CheckpointRecord
    from ckptsim.sim.job.events import of_job, of_tasks
    from ckptsim.sim.job.oracle.tasks import TaskOracle
    from ckptsim.sim.job.oracle.view import PlaneView, Violate
    from ckptsim.sim.job.oracle.waits import Instant
    from ckptsim.sim.job.port import ObservedTask
    from ckptsim.sim.kernel import Environment

_ONCE = "notified_once"
_ARRIVE = "messages_arrive"
_WHAT = {True: "is complete", False: "was aborted"}


class _OnWay:
    """When each message was sent that has not arrived, by its task and its checkpoint."""

    def __init__(self, env: Environment, plane: PlaneView) -> None:
        self._env = env
        self._plane = plane
        self.sent_ns: dict[tuple[int, int], int] = {}

    def overdue(self) -> list[tuple[int, int, int]]:
        """Take out those that are late, with when they were sent. Oldest first."""
        if not self.sent_ns:
            return []
        due_ns = self._env.now - self._plane.messages_ns - self._plane.faults.longest_ns
        late = [(*key, sent) for key, sent in self.sent_ns.items() if sent < due_ns]
        for task, number, _ in late:
            del self.sent_ns[task, number]
        return late


class MessageOracle(Listener):
    """What the coordinator and the tasks of an attempt have sent, and the other end has not heard.

    tasks: of the attempt, by number.  loss_ratio: share of completions that chance takes away.
    """

    def __init__(
        self,
        env: Environment,
        plane: PlaneView,
        tasks: Mapping[int, TaskOracle],
        violate: Violate,
        *,
        loss_ratio: float,
    ) -> None:
        self._env = env
        self._plane = plane
        self._faults = plane.faults
        self._tasks = tasks
        self._violate = violate
        self._loss_ratio = loss_ratio
        self._triggers = _OnWay(env, plane)
        self._latest: dict[int, tuple[int, int]] = {}  # of a task: checkpoint, and when it came
        self._acknowledgements = _OnWay(env, plane)
        self._under_way: dict[int, None] = {}
        # Notifications.
        self._untold: dict[int, tuple[bool, int]] = {}  # checkpoint -> how it ended, and when.
        self._ended: dict[int, bool] = {}  # checkpoint -> whether it has ended again.
        self._plain: set[int] = set()  # savepoints that are complete, without a notification.
        self._newest: int | None = None  # checkpoint that is complete, and no savepoint.
        self._repeated: dict[int, int | None] = {}  # what that was when a checkpoint was aborted.
        # (task, checkpoint, whether complete) -> when it was sent, and how often
        self._on_way: dict[tuple[int, int, bool], tuple[int, int]] = {}
        # The arrivals that the thread of a task has not taken: since when.
        self._untaken: dict[tuple[int, int, bool], Instant] = {}

    def attempt_deploying(self, event: of_job.AttemptDeploying) -> None:
        """Forget messages to and from the tasks of an attempt."""
        self._on_way.clear()
        self._untaken.clear()
        self._acknowledgements.sent_ns.clear()
        self._triggers.sent_ns.clear()
        self._latest.clear()

    # Triggers and acknowledgements ------------------------------------------------------------

    def triggered(self, event: of_job.TriggersSent) -> None:
        """Expect a trigger at every task that the plan has triggered, unless a fault takes it."""
        number, faults = event.record.checkpoint, self._faults
        self._under_way[number] = None
        triggered = {*event.record.plan.trigger}
        taken = (job_faults.LoseTrigger, job_faults.RefuseTrigger)
        for oracle in self._tasks.values():
            task = oracle.task
            if task.place in triggered and not any(faults.strikes(k, task, number) for k in taken):
                self._triggers.sent_ns[task.number, number] = self._env.now

    def trigger_arrived(self, event: of_job.TriggerArrived) -> None:
        """Check that no trigger overtakes another one that is not late by a fault.

        Two that come at one instant were sent side by side.
        Source: Apache Flink 1.20.3: one thread sends them, and Pekko keeps order between two ends.
        """
        task = self._of(event.task)
        if task is None:
            return
        number, which, now_ns = event.checkpoint, task.task.number, self._env.now
        self._triggers.sent_ns.pop((which, number), None)
        latest, came_ns = self._latest.get(which, (0, now_ns))
        is_late = self._faults.delay_ns(job_faults.DelayTrigger, task.task, number) > 0
        if number < latest and came_ns < now_ns and not is_late:
            says = f"{task.name} gets the trigger of {number} behind that of {latest}"
            self._violate(_ARRIVE, says, number)
        self._latest[which] = max((latest, came_ns), (number, now_ns))

    def _of(self, task: ObservedTask) -> TaskOracle | None:
        found = self._tasks.get(task.number)
        return found if found is not None and found.task is task else None

    def reported(self, sender: TaskOracle, checkpoint: int) -> None:
        """Expect that an acknowledgement arrives, unless a fault takes it away."""
        lose = job_faults.LoseAcknowledgement
        is_lost = self._faults.strikes(lose, sender.task, checkpoint)
        if checkpoint in self._under_way and not is_lost:
            self._acknowledgements.sent_ns[sender.task.number, checkpoint] = self._env.now

    def acknowledged(self, event: of_job.PartAcknowledged) -> None:
        """Note that one has arrived while its checkpoint was under way."""
        self._acknowledgements.sent_ns.pop((event.task.number, event.record.checkpoint), None)

    def completed(self, event: of_job.CheckpointCompleted) -> None:
        """Expect no more acknowledgement of a checkpoint, and notifications of its end."""
        self._end(event.record, completed=True)

    def failed(self, event: of_job.CheckpointFailed) -> None:
        """Expect the same of one that is aborted."""
        self.look()
        self._end(event.record, completed=False)

    def planned(self, event: of_job.CheckpointPlanned) -> None:
        """Look at what must have come by now."""
        self.look()

    # Notifications ----------------------------------------------------------------------------

    def _end(self, one: CheckpointRecord, *, completed: bool) -> None:
        """Note that tasks are to hear of the end of a checkpoint, in the same step."""
        number = one.checkpoint
        self._under_way.pop(number, None)
        waiting = self._acknowledgements.sent_ns
        for key in [key for key in waiting if key[1] == number]:
            del waiting[key]
        again = self._ended[number] = number in self._ended
        if again:
            self._untold.pop(number, None)
            self._on_way = {k: v for k, v in self._on_way.items() if k[1] != number}
        elif completed and one.request.savepoint and not one.request.synchronous:
            self._plain.add(number)
        else:
            self._untold[number] = completed, self._env.now
            if completed and not one.request.savepoint:
                self._newest = max(number, self._newest or 0)

    def notified(self, event: of_job.TasksNotified) -> None:
        """Check that tasks hear of the event, and once."""
        one, completed = event.record, event.completed
        number = one.checkpoint
        if completed and one.status != "completed":
            self._ended[number] = True  # too early, which has a property of its own, too
        if self._ended.get(number):
            return
        if self._untold.pop(number, (not completed, 0))[0] is not completed:
            says = f"tasks are notified again, or wrongly, that {number} {_WHAT[completed]}"
            self._violate(_ONCE, says, number)
        if not completed:
            self._repeated[number] = self._newest
        places = {task.task.place: who for who, task in self._tasks.items()}
        for place in one.plan.commit_to:
            if place in places:
                self._send(places[place], number, completed=completed)

    def _send(self, task: int, checkpoint: int, *, completed: bool) -> None:
        _, times = self._on_way.get((task, checkpoint, completed), (0, 0))
        self._on_way[task, checkpoint, completed] = self._env.now, times + 1

    def repeated(self, event: of_job.NotificationRepeated) -> None:
        """Note one notification more on its way."""
        self._send(event.number, event.checkpoint, completed=True)

    def lost(self, event: of_job.NotificationLost) -> None:
        """Check that one that never arrives is one that a fault, or chance, takes away."""
        who, checkpoint = self._tasks[event.number], event.checkpoint
        by_chance = event.completed and self._loss_ratio > 0
        lose = job_faults.LoseNotification
        if not by_chance and not self._faults.strikes(lose, who.task, checkpoint):
            says = f"{who.name} is not notified that {checkpoint} {_WHAT[event.completed]}"
            self._violate(_ONCE, says, checkpoint)
        self._take(event.number, checkpoint, completed=event.completed)

    def notification_arrived(self, event: of_tasks.NotificationArrived) -> None:
        """Check that one that arrives was on its way. To an attempt that is over, any may come."""
        task, checkpoint, completed = self._of(event.task), event.checkpoint, event.completed
        if task is None:
            return
        self._untaken[task.task.number, checkpoint, completed] = task.instant()
        if self._ended.get(checkpoint):
            return
        if not self._take(task.task.number, checkpoint, completed=completed):
            says = f"{task.name} is notified too often that {checkpoint} {_WHAT[completed]}"
            self._violate(_ONCE, says, checkpoint)

    def completion_taken(self, event: of_tasks.CompletionTaken) -> None:
        """Note that the thread of a task takes a completion that has come."""
        self._untaken.pop((event.task.number, event.checkpoint, True), None)

    def abort_taken(self, event: of_tasks.AbortTaken) -> None:
        """Check which completion an abort repeats that the thread of a task takes."""
        number, latest = event.checkpoint, event.latest
        self._untaken.pop((event.task.number, number, False), None)
        expected = self._repeated.get(number)  # None: the one that the job was started from
        if latest is not None and (latest in self._plain or expected not in (None, latest)):
            name = self._plane.name(event.task)
            says = f"{name} is notified with the end of {number} that {latest} is complete"
            self._violate(_ONCE, f"{says}, where {expected} was the newest", number)

    def _take(self, task: int, checkpoint: int, *, completed: bool) -> bool:
        key = task, checkpoint, completed
        sent_ns, times = self._on_way.pop(key, (0, 0))
        if times > 1:
            self._on_way[key] = sent_ns, times - 1
        return times > 0

    # At any instant ---------------------------------------------------------------------------

    def look(self) -> None:
        """Check that no one was left out before now, and that nothing is on its way too long."""
        for number, (completed, ended_ns) in list(self._untold.items()):
            if ended_ns < self._env.now:
                del self._untold[number]
                says = f"no task is notified that {number} {_WHAT[completed]}"
                self._violate(_ONCE, says, number)
        self._look_at_threads()
        self._look_at_notifications()
        for which, number, sent_ns in self._acknowledgements.overdue():
            says = f"{self._tasks[which].name} acknowledged {number} at {duration_text(sent_ns)}, "
            self._violate(_ARRIVE, f"{says}which the coordinator has not got", number)
        for which, number, sent_ns in self._triggers.overdue():
            if not self._tasks[which].is_over:  # a task that has failed gets none
                says = f"{self._tasks[which].name} has not got the trigger of {number}, "
                self._violate(_ARRIVE, f"{says}sent at {duration_text(sent_ns)}", number)

    def _look_at_threads(self) -> None:
        for (which, number, completed), since in list(self._untaken.items()):
            task = self._tasks[which]
            if task.is_over or task.lifecycle.closed_ns is not None:
                del self._untaken[which, number, completed]
            elif task.late_ns(since) > task.at_once_ns:
                del self._untaken[which, number, completed]
                says = f"{task.name} was notified that {number} {_WHAT[completed]}, and takes it"
                self._violate(_ONCE, f"{says} not, though it could", number)

    def _look_at_notifications(self) -> None:
        """Check, while the tasks are there, that nothing is on its way to one for too long."""
        due_ns = self._env.now - self._plane.messages_ns
        late = job_faults.DelayNotification
        for key, (sent_ns, _) in list(self._on_way.items()):
            which, number, completed = key
            who = self._tasks[which]
            if sent_ns >= due_ns or who.is_over:
                continue
            if sent_ns + self._faults.delay_ns(late, who.task, number) < due_ns:
                del self._on_way[key]
                says = f"{who.name} is never notified that {number} {_WHAT[completed]}"
                self._violate(_ONCE, says, number)
