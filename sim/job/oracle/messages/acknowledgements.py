"""The oracle of acknowledgements on their way to the coordinator: each arrives but what is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.scenarios.job.faults import LoseAcknowledgement

if TYPE_CHECKING:
    from ckptsim.sim.job.oracle.tasks import TaskOracle
    from ckptsim.sim.job.oracle.view import PlaneView, Violate
    from ckptsim.sim.kernel import Environment

_ARRIVE = "acknowledgements_arrive"


class AcknowledgementOracle:
    """Follows what the tasks of an attempt have sent, and the coordinator has not heard of.

    A checkpoint that expires for want of one, or is completed by a repeated one, would hide it.
    """

    def __init__(self, env: Environment, plane: PlaneView, violate: Violate) -> None:
        self._env = env
        self._plane = plane
        self._violate = violate
        self._under_way: dict[int, None] = {}
        self._on_way: dict[tuple[int, int], tuple[TaskOracle, int]] = {}  # and when it was sent

    def triggered(self, checkpoint: int) -> None:
        """Expect acknowledgements of a checkpoint."""
        self._under_way[checkpoint] = None

    def sent(self, sender: TaskOracle, checkpoint: int) -> None:
        """Expect that an acknowledgement arrives, unless a fault takes it away."""
        is_lost = self._plane.faults.strikes(LoseAcknowledgement, sender.task, checkpoint)
        if checkpoint in self._under_way and not is_lost:
            self._on_way[sender.task.number, checkpoint] = sender, self._env.now

    def came(self, task: int, checkpoint: int) -> None:
        """Note that it has arrived while its checkpoint was under way."""
        self._on_way.pop((task, checkpoint), None)

    def ended(self, checkpoint: int) -> None:
        """Expect no more acknowledgement of a checkpoint that is over."""
        self._under_way.pop(checkpoint, None)
        self._on_way = {key: sent for key, sent in self._on_way.items() if key[1] != checkpoint}

    def look(self) -> None:
        """Check that none is on its way for too long."""
        if not self._on_way:
            return
        longest_ns = self._plane.grace_ns - self._plane.faults.latest_ns
        for key, (sender, sent_ns) in list(self._on_way.items()):
            if self._env.now > sent_ns + longest_ns:
                del self._on_way[key]
                says = (
                    f"{sender.name} acknowledged {key[1]} at {sent_ns} ns, which nobody has heard"
                )
                self._violate(_ARRIVE, says, key[1])

    def attempt_ends(self) -> None:
        """Forget what was on its way from the tasks of an attempt."""
        self._on_way.clear()
