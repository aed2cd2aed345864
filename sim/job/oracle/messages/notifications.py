"""What must hold of notifications: of the end of each checkpoint every task is told, and once.

The coordinator tells the tasks that the checkpoint's plan names: of the completion, or that it was
given up, which repeats the newest completion that is no savepoint's.  Nobody is told of a plain
savepoint that is complete.  Between the two ends only what the fault plan, or chance, takes away
is lost, and only what it repeats comes twice.  A task's thread takes what comes as soon as it can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.scenarios.job.faults import DelayNotification, LoseNotification

if TYPE_CHECKING:
    from ckptsim.sim.job.control.checkpoint import CheckpointRecord
    from ckptsim.sim.job.oracle.tasks import TaskOracle
    from ckptsim.sim.job.oracle.urgent import Instant
    from ckptsim.sim.job.oracle.view import PlaneView, Violate
    from ckptsim.sim.kernel import Environment

_NAME = "notified_once"
_WHAT = {True: "is complete", False: "was given up"}


class NotificationOracle:
    """Who is still to be told of what, and who is still to hear of it.

    tasks: of the attempt, by number.  loss_ratio: share of completions that chance takes away.
    """

    def __init__(
        self,
        env: Environment,
        plane: PlaneView,
        tasks: dict[int, TaskOracle],
        violate: Violate,
        *,
        loss_ratio: float,
    ) -> None:
        self._env = env
        self._loss_ratio = loss_ratio
        self._plane = plane
        self._tasks = tasks
        self._violate = violate
        self._untold: dict[int, tuple[bool, int]] = {}  # checkpoint -> how it ended, and when
        self._ended: dict[int, bool] = {}  # checkpoint -> whether it has ended again
        self._plain: set[int] = set()  # savepoints that are complete, of which nobody is told
        self._newest: int | None = None  # checkpoint that is complete, and no savepoint
        self._repeated: dict[int, int | None] = {}  # what that was when a checkpoint was given up
        # (task, checkpoint, whether complete) -> when it was sent, and how often
        self._on_way: dict[tuple[int, int, bool], tuple[int, int]] = {}
        # What has come to a task whose thread has not taken it: since when.
        self._untaken: dict[tuple[int, int, bool], Instant] = {}

    def ended(self, one: CheckpointRecord, *, completed: bool) -> None:
        """Note that tasks are to be told of the end of a checkpoint, in the same step.

        One that ends again has a property of its own; what is said of it then is not looked at.
        """
        again = self._ended[one.checkpoint] = one.checkpoint in self._ended
        if again:
            self._untold.pop(one.checkpoint, None)
            self._on_way = {k: v for k, v in self._on_way.items() if k[1] != one.checkpoint}
        elif completed and one.request.savepoint and not one.request.synchronous:
            self._plain.add(one.checkpoint)
        else:
            self._untold[one.checkpoint] = completed, self._env.now
            if completed and not one.request.savepoint:
                self._newest = max(one.checkpoint, self._newest or 0)

    def told(self, one: CheckpointRecord, *, completed: bool) -> None:
        """Check that tasks are told of what has happened, and once."""
        number = one.checkpoint
        if completed and one.status != "completed":
            self._ended[number] = True  # too early, which has a property of its own, too
        if self._ended.get(number):
            return
        if self._untold.pop(number, (not completed, 0))[0] is not completed:
            says = f"tasks are told, once more or wrongly, that {number} {_WHAT[completed]}"
            self._violate(_NAME, says, number)
        if not completed:
            self._repeated[number] = self._newest
        places = {task.task.place: who for who, task in self._tasks.items()}
        for place in one.plan.commit_to:
            if place in places:
                self.repeated(places[place], number, completed=completed)

    def repeated(self, task: int, checkpoint: int, *, completed: bool = True) -> None:
        """Note one notification more on its way."""
        _, times = self._on_way.get((task, checkpoint, completed), (0, 0))
        self._on_way[task, checkpoint, completed] = self._env.now, times + 1

    def lost(self, task: int, checkpoint: int, *, completed: bool) -> None:
        """Check that one that never arrives is one that a fault, or chance, takes away."""
        who = self._tasks[task]
        by_chance = completed and self._loss_ratio > 0
        if not by_chance and not self._plane.faults.strikes(LoseNotification, who.task, checkpoint):
            says = f"{who.name} is not told that {checkpoint} {_WHAT[completed]}"
            self._violate(_NAME, says, checkpoint)
        self._take(task, checkpoint, completed=completed)

    def heard(self, task: TaskOracle, checkpoint: int, *, completed: bool) -> None:
        """Check that one that arrives was on its way; to an attempt that is over, any may come."""
        number = task.task.number
        if self._tasks.get(number) is not task:
            return
        self._untaken[number, checkpoint, completed] = task.instant()
        if self._ended.get(checkpoint):
            return
        if not self._take(number, checkpoint, completed=completed):
            says = f"{task.name} hears too often that {checkpoint} {_WHAT[completed]}"
            self._violate(_NAME, says, checkpoint)

    def taken(self, task: TaskOracle, checkpoint: int, *, completed: bool) -> None:
        """Note that the thread of a task takes one that has come."""
        self._untaken.pop((task.task.number, checkpoint, completed), None)

    def repeats(self, task: TaskOracle, checkpoint: int, latest: int) -> None:
        """Check which completion the word repeats that a checkpoint was given up."""
        expected = self._repeated.get(checkpoint)  # None: the one that the job was started from
        if latest in self._plain or expected not in (None, latest):
            says = f"{task.name} is told, with the end of {checkpoint}, that {latest} is complete"
            self._violate(_NAME, f"{says}, where {expected} was the newest", checkpoint)

    def _take(self, task: int, checkpoint: int, *, completed: bool) -> bool:
        key = task, checkpoint, completed
        sent_ns, times = self._on_way.pop(key, (0, 0))
        if times > 1:
            self._on_way[key] = sent_ns, times - 1
        return times > 0

    def look(self) -> None:
        """Check that nobody was left untold at an instant before."""
        for number, (completed, ended_ns) in list(self._untold.items()):
            if ended_ns < self._env.now:
                del self._untold[number]
                says = f"no task is told that {number} {_WHAT[completed]}"
                self._violate(_NAME, says, number)
        for (number, checkpoint, completed), since in list(self._untaken.items()):
            task = self._tasks[number]
            if task.is_over or task.lifecycle.closed_ns is not None:
                del self._untaken[number, checkpoint, completed]
            elif task.late_ns(since) > self._plane.at_once_ns(task.task):
                del self._untaken[number, checkpoint, completed]
                says = f"{task.name} was told that {checkpoint} {_WHAT[completed]}, and takes it"
                self._violate(_NAME, f"{says} not, though it could", checkpoint)

    def attempt_ends(self) -> None:
        """Forget what was on its way to the tasks of an attempt."""
        self._on_way.clear()
        self._untaken.clear()

    def look_at_arrival(self) -> None:
        """Check, while the tasks are there, that nothing is on its way to one for too long."""
        if not self._on_way:
            return
        faults, due_ns = self._plane.faults, self._env.now - self._plane.messages_ns
        for key, (sent_ns, _) in list(self._on_way.items()):
            task, number, completed = key
            who = self._tasks[task]
            if sent_ns >= due_ns or who.is_over:
                continue
            if sent_ns + faults.delay_ns(DelayNotification, who.task, number) < due_ns:
                del self._on_way[key]
                says = f"{who.name} never hears that {number} {_WHAT[completed]}"
                self._violate(_NAME, says, number)
