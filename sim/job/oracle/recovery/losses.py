"""The oracle of task managers that are lost in silence: by when the job manager knows of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.scenarios.dialect import duration_text, listed

if TYPE_CHECKING:
    from ckptsim.models.recovery.detection import HeartbeatParameters
    from ckptsim.sim.job.oracle.view import Violate
    from ckptsim.sim.kernel import Environment

_IN_TIME = "losses_are_known_in_time"


class LossOracle:
    """Follows which losses the job manager has not heard of yet, and since when."""

    def __init__(self, env: Environment, parameters: HeartbeatParameters, violate: Violate) -> None:
        self._env = env
        self._parameters = parameters
        self._violate = violate
        self._unknown: dict[int, tuple[int, int]] = {}  # -> the earliest and latest ns to know it

    def lost(self, manager: int, *, unreachable: bool) -> None:
        """Expect that a loss is known once its time is over, counted from the latest heartbeat.

        The latest heartbeat came within the interval that ends now.
        """
        rules, now_ns = self._parameters, self._env.now
        threshold = rules.rpc_failure_threshold if unreachable else None
        refused_ns = rules.timeout_ns if threshold is None else threshold * rules.interval_ns
        latest_ns = now_ns + min(rules.timeout_ns, refused_ns)
        self._unknown[manager] = (latest_ns - rules.interval_ns + 1, latest_ns)

    def known(self, manager: int) -> None:
        """Check that a loss is known in time, and once."""
        bounds = self._unknown.pop(manager, None)
        if bounds is None:
            says = f"the loss of task manager {manager} is known again, or behind a restart"
            self._violate(_IN_TIME, says)
        elif not bounds[0] <= self._env.now <= bounds[1]:
            says = f"the loss of task manager {manager} is not known "
            says += f"between {duration_text(bounds[0])} and {duration_text(bounds[1])}"
            self._violate(_IN_TIME, says)

    def forgotten(self) -> None:
        """Expect nothing more of what has been lost: a new job manager never knew it."""
        self._unknown.clear()

    def deploying(self) -> None:
        """Check that no loss is unknown: tasks on such a task manager are not cancelled yet."""
        if self._unknown:
            managers = listed(self._unknown)
            self._violate(_IN_TIME, f"the job restarts while the loss of {managers} is unknown")

    def look(self) -> None:
        """Check that no loss has been unknown for too long."""
        for manager, (_, latest_ns) in self._unknown.items():
            if latest_ns < self._env.now:
                says = f"the loss of task manager {manager} is still unknown "
                says += f"after {duration_text(latest_ns)}"
                self._violate(_IN_TIME, says)
