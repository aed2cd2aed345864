"""Who lets a job restart: its restart strategy behind a failure, or its user.

Source: Apache Flink 1.20.3, ExecutionFailureHandler (the strategy is asked of each failure that may
be recovered from) and AdaptiveScheduler.Executing (a rescale asks nobody, and waits for nothing).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.job import Rescaling
from ckptsim.scenarios.job.faults import Cancel, Rescale, Resubmit

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Job
    from ckptsim.sim.job.oracle.view import Violate
    from ckptsim.sim.kernel import Environment

_NAME = "restarts_have_a_cause"


class RestartObserver:
    """Is told of who lets a job restart."""

    def asked(self, change: Cancel | Rescale | Resubmit, /, *, is_over: bool) -> None:
        """Note what the user asks for; is_over: of a job that nothing changes any more."""

    def carried_out(self) -> None:
        """Note that this was dealt with."""

    def wanted(self) -> None:
        """Note that the user wants a restart from here on, until `answered` is called."""

    def answered(self) -> None:
        """Note that the user's restart has been dealt with."""

    def strategy_answered(self, delay_ns: int | None, /, *, recoverable: bool) -> None:
        """Note what the restart strategy says; delay: until the restart, None for none."""

    def failing_over(self) -> None:
        """Note that the job is told of a failure, before it does anything about it."""

    def given_up(self) -> None:
        """Note that the job has failed for good."""


class RestartOracle(RestartObserver):
    """What the user and the restart strategy have said of one job."""

    def __init__(self, job: Job, env: Environment, violate: Violate) -> None:
        self._may_refuse = job.channel_state.rescaling is not Rescaling.ALLOWED
        self._env = env
        self._violate = violate
        self._is_wanted = self._is_given_up = False
        self._from_ns = 0  # no restart before it
        self._lost: int | None = None  # a task manager whose loss is known, and the job not told
        self._asked: Rescale | Resubmit | None = None  # what is not restarted for so far
        self._changes: Rescale | Resubmit | None = None  # from the next attempt on

    def asked(self, change: Cancel | Rescale | Resubmit, /, *, is_over: bool) -> None:
        """Expect a restart for a change."""
        self._asked = None if is_over or isinstance(change, Cancel) else change

    def carried_out(self) -> None:
        """Check that there was one, unless what is in flight may forbid the change."""
        asked, self._asked = self._asked, None
        if asked is not None and not (self._may_refuse and asked.vertex):
            self._violate(_NAME, f"the user asks in vain to {_called(asked)}")

    def begun(self, job: Job) -> None:
        """Check that an attempt begins with what the user has changed last."""
        asked, self._changes = self._changes, None
        now = {one.name: one.parallelism for one in job.vertices}
        if asked is not None and asked.vertex and now[asked.vertex] != asked.parallelism:
            says = f"{asked.vertex} has {now[asked.vertex]} subtasks, though the user wants to "
            self._violate(_NAME, f"{says}{_called(asked)}")

    def wanted(self) -> None:
        """Expect that nobody is asked of the restart that follows, and that it waits for none."""
        self._is_wanted, self._from_ns = True, 0
        self._asked, self._changes = None, self._asked or self._changes

    def answered(self) -> None:
        """Expect failures again."""
        self._is_wanted = False

    def strategy_answered(self, delay_ns: int | None, /, *, recoverable: bool) -> None:
        """Check that it is asked of failures alone."""
        self._from_ns = self._env.now + (delay_ns or 0)
        if self._is_wanted and recoverable:
            self._violate(_NAME, "the restart strategy is asked of a restart that the user wants")

    def failing_over(self) -> None:
        """Expect no failure for the loss that is known any more."""
        self._lost = None

    def loss_known(self, manager: int) -> None:
        """Expect that the job is told first of all."""
        self._lost = manager

    def halted(self) -> None:
        """Check that nothing of the attempt that is over is left to fail the next one."""
        self._check_loss()

    def _check_loss(self) -> None:
        """Check that the job was told of the loss that is known.

        Source: Apache Flink 1.20.3, Execution.cancel: an execution on a task manager that is not
        known to be lost is over only when its loss is known, which fails it.
        """
        if self._lost is not None:
            says = f"an attempt is over before the loss of task manager {self._lost} has failed it"
            self._violate(_NAME, says)

    def given_up(self) -> None:
        """Expect no attempt any more."""
        self._is_given_up = True

    def deploying(self) -> None:
        """Check that an attempt may begin."""
        self._check_loss()
        if self._is_given_up:
            self._violate(_NAME, "tasks are deployed of a job that has failed for good")
        elif self._env.now < self._from_ns:
            says = "tasks are deployed, which the restart strategy lets happen at "
            self._violate(_NAME, says + duration_text(self._from_ns))


def _called(asked: Rescale | Resubmit) -> str:
    if not asked.vertex:
        return "submit the job again"
    return f"rescale {asked.vertex} to {asked.parallelism}"
