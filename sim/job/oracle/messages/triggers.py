"""The oracle of triggers on their way to tasks: each arrives but what is lost, and in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.job.faults import DelayTrigger, LoseTrigger, RefuseTrigger
from ckptsim.sim.job.oracle.messages.on_way import OnWay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ckptsim.sim.job.control.checkpoint import CheckpointRecord
    from ckptsim.sim.job.oracle.tasks import TaskOracle
    from ckptsim.sim.job.oracle.view import PlaneView, Violate
    from ckptsim.sim.kernel import Environment

_ARRIVE = "triggers_arrive"


class TriggerOracle:
    """Follows what the coordinator has sent to the tasks of an attempt, and they have not got.

    A checkpoint that expires for want of one would hide it.
    """

    def __init__(
        self,
        env: Environment,
        plane: PlaneView,
        tasks: Mapping[int, TaskOracle],
        violate: Violate,
    ) -> None:
        self._env = env
        self._faults = plane.faults
        self._tasks = tasks
        self._violate = violate
        self._on_way = OnWay(env, plane)
        self._latest: dict[int, tuple[int, int]] = {}  # of a task: checkpoint, and when it came

    def triggered(self, record: CheckpointRecord) -> None:
        """Expect a trigger at every task that the plan has triggered, unless a fault takes it."""
        number, faults = record.checkpoint, self._faults
        triggered = {*record.plan.trigger}
        for oracle in self._tasks.values():
            task = oracle.task
            if task.place in triggered and not any(
                faults.strikes(kind, task, number) for kind in (LoseTrigger, RefuseTrigger)
            ):
                self._on_way.sent((task.number, number))

    def came(self, task: TaskOracle, number: int) -> None:
        """Check that no trigger overtakes another one that is not late by a fault.

        Two that come at one instant were sent side by side.
        Source: Apache Flink 1.20.3: one thread sends them, and Pekko keeps order between two ends.
        """
        which, now = task.task.number, self._env.now
        self._on_way.came((which, number))
        latest, came_ns = self._latest.get(which, (0, now))
        is_late = self._faults.delay_ns(DelayTrigger, task.task, number) > 0
        if number < latest and came_ns < now and not is_late:
            says = f"{task.name} gets the trigger of {number} behind that of {latest}"
            self._violate(_ARRIVE, says, number)
        self._latest[which] = max((latest, came_ns), (number, now))

    def look(self) -> None:
        """Check that none is on its way for too long; a task that has failed gets none."""
        for (task, number), sent_ns in self._on_way.overdue():
            if not self._tasks[task].is_over:
                says = f"{self._tasks[task].name} has not got the trigger of {number}, "
                self._violate(_ARRIVE, f"{says}sent at {duration_text(sent_ns)}", number)

    def attempt_ends(self) -> None:
        """Forget what was on its way to the tasks of an attempt."""
        self._on_way.clear()
        self._latest.clear()
