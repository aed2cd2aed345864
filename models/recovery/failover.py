"""The failover of a job: cancel, wait, restore, deploy, run again.

All tasks of a streaming job hang together by pipelined exchanges, so a failure restarts them all
(one region).  The machine, one per job:

    RUNNING    --failure--> CANCELING   cancel all tasks; the restart delay runs meanwhile
    CANCELING  --delay----> CANCELED_LATE   tasks are still being cancelled
    CANCELING  --cancelled> DELAYING        the delay is not over
    both over: restore from the latest completed checkpoint, deploy, trigger -> INITIALIZING
    INITIALIZING --all tasks run--> RUNNING
    any of them --failure that ends the job--> FAILING --all cancelled--> FAILED

The delay begins when the failure is known, not when all tasks are cancelled, so it hides a cancel
that is quicker.  A failure while a restart is under way starts it anew: the earlier restart is
void, so a timer of an older round is stale.  Tasks deployed in vain are cancelled again.

Blocked meanwhile: the periodic trigger stops with the failure and starts with the deployment. What
it asks for before all tasks run is refused (NOT_ALL_REQUIRED_TASKS_RUNNING) and counts nowhere.
Promised: one `Deploy` per round at most, never before every task of the round before is gone (two
attempts of a task at once would write twice).  Not promised: that pending work is aborted at once.
Tasks go on until they are cancelled, and a checkpoint is complete if all parts have arrived before
the job manager knows of the failure.

Source: Apache Flink 1.20.3, DefaultScheduler.restartTasksWithDelay (cancellation and delay run side
by side). ExecutionVertexVersioner (a newer failure supersedes a restart).
CheckpointCoordinatorDeActivator (triggering follows the status of the job, which is RUNNING from
the deployment on). JobStatus for RESTARTING, FAILING and FAILED.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias, assert_never

from ckptsim.models.core import ProtocolError


class Phase(IntEnum):
    """Where a job is between a failure and its being back. `JobStatus` has fewer names for it."""

    RUNNING = 0
    CANCELING = 1  # RESTARTING: neither cancelled nor delayed long enough
    CANCELED_LATE = 2  # RESTARTING: the delay is over, some task is not cancelled
    DELAYING = 3  # RESTARTING: all tasks are cancelled, the delay is not over
    INITIALIZING = 4  # RUNNING, of the job: tasks are deployed and restore their state
    FAILING = 5
    FAILED = 6


@dataclass(frozen=True, slots=True)
class RestartableFailure:
    """A failure is known, and the restart strategy allows a restart after a delay."""

    now_ns: int
    delay_ns: int


@dataclass(frozen=True, slots=True)
class FinalFailure:
    """A failure is known, and the job is not restarted."""

    now_ns: int


@dataclass(frozen=True, slots=True)
class AllCanceled:
    """No task of the attempt is there any more."""

    now_ns: int


@dataclass(frozen=True, slots=True)
class DelayOver:
    """A restart delay has run out. round: as its `SetDelay` said, an older one is stale."""

    now_ns: int
    round: int


@dataclass(frozen=True, slots=True)
class AllRunning:
    """Every task of the attempt has restored its state and runs."""

    now_ns: int


FailoverEvent: TypeAlias = RestartableFailure | FinalFailure | AllCanceled | DelayOver | AllRunning


@dataclass(frozen=True, slots=True)
class StopTriggering:
    """Trigger no checkpoint, and give up those that are pending."""


@dataclass(frozen=True, slots=True)
class CancelTasks:
    """Cancel every task of the attempt. Answer with AllCanceled."""


@dataclass(frozen=True, slots=True)
class SetDelay:
    """Raise DelayOver at an instant."""

    at_ns: int
    round: int


@dataclass(frozen=True, slots=True)
class Deploy:
    """Restore from the latest completed checkpoint and deploy all tasks."""

    round: int


@dataclass(frozen=True, slots=True)
class StartTriggering:
    """Trigger checkpoints periodically again."""


@dataclass(frozen=True, slots=True)
class JobFailed:
    """The job has failed for good and nothing of it is left."""


FailoverEffect: TypeAlias = (
    StopTriggering | CancelTasks | SetDelay | Deploy | StartTriggering | JobFailed
)


class Action(IntEnum):
    """What a row of the table does."""

    STOP = 0  # triggering
    CANCEL = 1  # all tasks
    DELAY = 2  # begin the restart delay, also anew: an older one is stale from here on
    DEPLOY = 3
    START = 4  # triggering
    END = 5  # the job has failed


class Failover:
    """The course of one job through its failures.

    phase: where it is. round: how many restarts have been begun.
    """

    __slots__ = ("phase", "round")

    def __init__(self) -> None:
        self.phase = Phase.RUNNING
        self.round = 0

    def step(self, event: FailoverEvent) -> list[FailoverEffect]:
        """Take one event and return its effects.

        Raises ProtocolError for an event that the phase does not allow.
        """
        if isinstance(event, DelayOver) and event.round != self.round:
            return []  # a newer failure has begun the delay anew
        row = TABLE.get((self.phase, type(event)))
        if row is None:
            raise ProtocolError("missing_row", state=self.phase.name, event=event)
        self.phase, actions = row
        return [self._effect(action, event) for action in actions]

    def _effect(self, action: Action, event: FailoverEvent) -> FailoverEffect:
        match action:
            case Action.STOP:
                return StopTriggering()
            case Action.CANCEL:
                return CancelTasks()
            case Action.DELAY:
                self.round += 1
                delay_ns = event.delay_ns if isinstance(event, RestartableFailure) else 0
                return SetDelay(event.now_ns + delay_ns, self.round)
            case Action.DEPLOY:
                return Deploy(self.round)
            case Action.START:
                return StartTriggering()
            case Action.END:
                return JobFailed()
            case _ as never:
                assert_never(never)


_P, _A = Phase, Action
_BEGIN = (_A.STOP, _A.CANCEL)

TABLE: dict[tuple[Phase, type], tuple[Phase, tuple[Action, ...]]] = {
    (_P.RUNNING, RestartableFailure): (_P.CANCELING, (*_BEGIN, _A.DELAY)),
    (_P.RUNNING, FinalFailure): (_P.FAILING, _BEGIN),
    (_P.CANCELING, AllCanceled): (_P.DELAYING, ()),
    (_P.CANCELING, DelayOver): (_P.CANCELED_LATE, ()),
    (_P.CANCELED_LATE, AllCanceled): (_P.INITIALIZING, (_A.DEPLOY, _A.START)),
    (_P.DELAYING, DelayOver): (_P.INITIALIZING, (_A.DEPLOY, _A.START)),
    (_P.INITIALIZING, AllRunning): (_P.RUNNING, ()),
    (_P.INITIALIZING, RestartableFailure): (_P.CANCELING, (*_BEGIN, _A.DELAY)),
    (_P.INITIALIZING, FinalFailure): (_P.FAILING, _BEGIN),
    # A failure during the restart: tasks are being cancelled already, or are gone.
    (_P.CANCELING, RestartableFailure): (_P.CANCELING, (_A.DELAY,)),
    (_P.CANCELED_LATE, RestartableFailure): (_P.CANCELING, (_A.DELAY,)),
    (_P.DELAYING, RestartableFailure): (_P.DELAYING, (_A.DELAY,)),
    (_P.CANCELING, FinalFailure): (_P.FAILING, ()),
    (_P.CANCELED_LATE, FinalFailure): (_P.FAILING, ()),
    (_P.DELAYING, FinalFailure): (_P.FAILED, (_A.END,)),
    # Tasks go on until they are cancelled, so the last of them may still come to run.
    (_P.CANCELING, AllRunning): (_P.CANCELING, ()),
    (_P.CANCELED_LATE, AllRunning): (_P.CANCELED_LATE, ()),
    (_P.FAILING, AllRunning): (_P.FAILING, ()),
    # A job under final cancellation may still fail, and its delay may still run out.
    (_P.FAILING, AllCanceled): (_P.FAILED, (_A.END,)),
    (_P.FAILING, RestartableFailure): (_P.FAILING, ()),
    (_P.FAILING, FinalFailure): (_P.FAILING, ()),
    (_P.FAILING, DelayOver): (_P.FAILING, ()),
    (_P.FAILED, DelayOver): (_P.FAILED, ()),
}
"""Phase and event: the next phase, and what is done.  A pair that is missing is refused."""
