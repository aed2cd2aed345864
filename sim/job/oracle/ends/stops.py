"""What becomes of a stop with savepoint that has failed: its user asks for it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.scenarios.dialect import duration_text

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Job
    from ckptsim.sim.job.oracle.view import Violate
    from ckptsim.sim.kernel import Environment


class StopOracle:
    """When the stop of one job failed last, and was asked for since.

    Assumption: its user asks again when the longest restart, and two checkpoints, may be over.
    """

    def __init__(self, env: Environment, job: Job, violate: Violate) -> None:
        self._env = env
        self._violate = violate
        self._again_ns = job.restart.longest_delay_ns + 2 * job.checkpointing.interval_ns
        self._failed_ns: int | None = None

    def failed(self) -> None:
        """Expect that it is asked for again."""
        self._failed_ns = self._env.now

    def asked(self) -> None:
        """Check that this is in time, if it has failed before."""
        self.look()
        self._failed_ns = None

    def look(self) -> None:
        """Check that it is not overdue."""
        failed_ns = self._failed_ns
        if failed_ns is not None and self._env.now - failed_ns > self._again_ns:
            says = f"a stop that failed at {duration_text(failed_ns)} is not asked for again"
            self._violate("given_up_for_a_cause", says)
            self._failed_ns = None
