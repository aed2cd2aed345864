"""What coordinator and tasks send to each other, and the faults that strike on the way.

Source: Apache Flink 1.20.3, Execution.triggerCheckpoint, notifyCheckpointOnComplete and
notifyCheckpointAborted: anyone who the plan names is reported, and a task manager that does not
know the task any more ignores it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.scenarios.job import faults as job_faults
from ckptsim.sim.job.events import of_job

if TYPE_CHECKING:
    from collections.abc import Callable

    from ckptsim.models.barriers import Barrier
    from ckptsim.models.lifecycle import StopMode
    from ckptsim.sim.job.control.faults import FaultPlan
    from ckptsim.sim.job.events import Events
    from ckptsim.sim.job.port import Messages, TaskGateway, TaskPart
    from ckptsim.sim.kernel import Environment


class Gateway:
    """The way between the coordinator and the tasks of the attempt that runs.

    loss_ratio: share of completion notifications that are lost by chance.  lost: task and
    checkpoint of completions that are never heard of.
    """

    def __init__(
        self,
        env: Environment,
        messages: Messages,
        faults: FaultPlan,
        events: Events,
        *,
        loss_ratio: float,
    ) -> None:
        self.tasks: Sequence[TaskGateway] = ()
        self.lost: set[tuple[int, int]] = set()
        self._env = env
        self._messages = messages
        self._faults = faults
        self._emit = events.emit
        self._loss_ratio = loss_ratio

    def trigger(
        self,
        number: int,
        barrier: Barrier,
        stop: StopMode | None,
        refuse: Callable[[TaskGateway, int], None],
    ) -> None:
        """Send a trigger to a task. `refuse` is called where it is not ready for it."""
        task, checkpoint, faults = self.tasks[number], barrier.checkpoint, self._faults
        if faults.strikes(job_faults.LoseTrigger, task, checkpoint):
            return
        late_ns = faults.delay_ns(job_faults.DelayTrigger, task, checkpoint)
        send = self._messages.trigger
        if faults.strikes(job_faults.RefuseTrigger, task, checkpoint):
            send(task, checkpoint, refuse, task, checkpoint, late_ns=late_ns)
        else:
            send(task, checkpoint, task.trigger_checkpoint, barrier, stop, late_ns=late_ns)

    def acknowledge(
        self,
        task: TaskGateway,
        checkpoint: int,
        part: TaskPart,
        *,
        acknowledged: Callable[[TaskGateway, int, TaskPart], None],
        declined: Callable[[TaskGateway, int, FailureReason], None],
    ) -> None:
        """Send a task's acknowledgement, perhaps twice, perhaps with a refusal after it."""
        faults, send = self._faults, self._messages.acknowledge
        if faults.strikes(job_faults.LoseAcknowledgement, task, checkpoint):
            return
        late_ns = faults.delay_ns(job_faults.DelayAcknowledgement, task, checkpoint)
        send(task, acknowledged, task, checkpoint, part, late_ns=late_ns)
        repeat_ns = faults.delayed_ns(job_faults.RepeatAcknowledgement, task, checkpoint)
        if repeat_ns is not None:
            send(task, acknowledged, task, checkpoint, part, late_ns=late_ns + repeat_ns)
        stray_ns = faults.delayed_ns(job_faults.StrayDecline, task, checkpoint)
        if stray_ns is not None:
            why = FailureReason.CHECKPOINT_DECLINED
            send(task, declined, task, checkpoint, why, late_ns=late_ns + stray_ns)

    def notify_complete(self, numbers: Sequence[int], checkpoint: int) -> None:
        """Tell tasks that a checkpoint is complete. Some never hear of it, or hear of it twice."""
        faults, send = self._faults, self._messages.confirm
        for number in numbers:
            task = self.tasks[number]
            stray_ns = faults.delayed_ns(job_faults.StrayNotification, task, checkpoint)
            if stray_ns is not None:
                send(task, checkpoint, self._stray, task.place, checkpoint, late_ns=stray_ns)
            if self._is_lost(number) or faults.strikes(
                job_faults.LoseNotification, task, checkpoint
            ):
                self.lost.add((number, checkpoint))
                self._emit(of_job.NotificationLost(number, checkpoint, completed=True))
                continue
            late_ns = faults.delay_ns(job_faults.DelayNotification, task, checkpoint)
            send(task, checkpoint, task.notify_complete, checkpoint, late_ns=late_ns)

    def notify_aborted(self, numbers: Sequence[int], checkpoint: int, latest: int | None) -> None:
        """Tell tasks that a checkpoint was aborted, and which is the latest complete one."""
        faults, send = self._faults, self._messages.abort
        for number in numbers:
            task = self.tasks[number]
            if faults.strikes(job_faults.LoseNotification, task, checkpoint):
                self._emit(of_job.NotificationLost(number, checkpoint, completed=False))
                continue
            late_ns = faults.delay_ns(job_faults.DelayNotification, task, checkpoint)
            send(task, task.notify_aborted, checkpoint, latest, late_ns=late_ns)

    def _is_lost(self, number: int) -> bool:
        ratio = self._loss_ratio
        return bool(ratio) and self._env.stream("notification", number).uniform() < ratio

    def _stray(self, place: tuple[str, int], checkpoint: int) -> None:
        """Let a notification reach whatever attempt runs by now, if it has such a subtask."""
        for task in self.tasks:
            if task.place == place:
                self._emit(of_job.NotificationRepeated(task.number, checkpoint))
                task.notify_complete(checkpoint)
