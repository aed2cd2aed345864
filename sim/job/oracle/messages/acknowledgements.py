"""The oracle of acknowledgements on their way to the coordinator: each arrives but what is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.job.faults import LoseAcknowledgement
from ckptsim.sim.job.oracle.messages.on_way import OnWay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ckptsim.sim.job.oracle.tasks import TaskOracle
    from ckptsim.sim.job.oracle.view import PlaneView, Violate
    from ckptsim.sim.kernel import Environment

_ARRIVE = "acknowledgements_arrive"


class AcknowledgementOracle:
    """Follows what the tasks of an attempt have sent, and the coordinator has not heard of.

    A checkpoint that expires for want of one, or is completed by a repeated one, would hide it.
    """

    def __init__(
        self, env: Environment, plane: PlaneView, tasks: Mapping[int, TaskOracle], violate: Violate
    ) -> None:
        self._faults = plane.faults
        self._tasks = tasks
        self._violate = violate
        self._under_way: dict[int, None] = {}
        self._on_way = OnWay(env, plane)

    def triggered(self, checkpoint: int) -> None:
        """Expect acknowledgements of a checkpoint."""
        self._under_way[checkpoint] = None

    def sent(self, sender: TaskOracle, checkpoint: int) -> None:
        """Expect that an acknowledgement arrives, unless a fault takes it away."""
        is_lost = self._faults.strikes(LoseAcknowledgement, sender.task, checkpoint)
        if checkpoint in self._under_way and not is_lost:
            self._on_way.sent((sender.task.number, checkpoint))

    def came(self, task: int, checkpoint: int) -> None:
        """Note that it has arrived while its checkpoint was under way."""
        self._on_way.came((task, checkpoint))

    def ended(self, checkpoint: int) -> None:
        """Expect no more acknowledgement of a checkpoint that is over."""
        self._under_way.pop(checkpoint, None)
        self._on_way.forget(lambda key: key[1] == checkpoint)

    def look(self) -> None:
        """Check that none is on its way for too long."""
        for (task, number), sent_ns in self._on_way.overdue():
            says = f"{self._tasks[task].name} acknowledged {number} at {duration_text(sent_ns)}, "
            self._violate(_ARRIVE, f"{says}which nobody has heard", number)

    def attempt_ends(self) -> None:
        """Forget what was on its way from the tasks of an attempt."""
        self._on_way.clear()
