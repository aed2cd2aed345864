"""How one task comes back: the order in which it restores its state and its in-flight data.

    DEPLOYED --task is there--> READING_OUTPUT   in-flight data of the subpartitions, each followed
                                                 by a marker that blocks it
    READING_OUTPUT --read-----> RESTORING        operator state, then the operators are opened
    RESTORING --opened--------> RECOVERING       an I/O thread reads in-flight data of the inputs
                                                 into recovered channels; the task processes it
    RECOVERING --a gate's recovered data consumed--> its channels are converted, and only then are
                                                 its partitions requested
    RECOVERING --all gates----> RUNNING

So the old data of an input comes before the old data of the output before it, and that before
anything new.  Output is read first, so that a receiver which asks for a partition finds it whole. A
source has no gates and runs when it is opened.

Blocked meanwhile: a checkpoint that is triggered before the task runs is declined, for data that
was read but not processed belongs to no state.  Promised: partitions of a gate are requested once,
after all of its recovered data.  Not promised: that all gates of a task are converted together, or
all tasks of a job run at once.

Source: Apache Flink 1.20.3, StreamTask.restoreInternal (readOutputData, initializeStateAndOpen-
Operators, readInputData on the channel I/O executor, getStateConsumedFuture, requestPartitions).
SingleInputGate.convertRecoveredInputChannels. The reason of a declined checkpoint is
CHECKPOINT_DECLINED_TASK_NOT_READY.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from ckptsim.models.core import ProtocolError


class RestoreState(IntEnum):
    """How far a task has come."""

    DEPLOYED = 0
    READING_OUTPUT = 1
    RESTORING = 2
    RECOVERING = 3
    RUNNING = 4


@dataclass(frozen=True, slots=True)
class TaskDeployed:
    """The task's thread has begun."""


@dataclass(frozen=True, slots=True)
class OutputRead:
    """In-flight data of all subpartitions has been read into them."""


@dataclass(frozen=True, slots=True)
class OperatorsOpened:
    """The state has been read, and the operators are open."""


@dataclass(frozen=True, slots=True)
class GateConsumed:
    """The task has processed all recovered data of a gate, end markers included."""

    gate: int


@dataclass(frozen=True, slots=True)
class CheckpointTriggered:
    """A checkpoint is triggered at the task."""

    checkpoint: int


RestoreEvent: TypeAlias = (
    TaskDeployed | OutputRead | OperatorsOpened | GateConsumed | CheckpointTriggered
)


@dataclass(frozen=True, slots=True)
class ReadOutput:
    """Read in-flight data into the subpartitions, a blocking marker after each. Say OutputRead."""


@dataclass(frozen=True, slots=True)
class RestoreOperators:
    """Read the state and open the operators. Answer with OperatorsOpened."""


@dataclass(frozen=True, slots=True)
class ReadInput:
    """Read in-flight data of all gates on the I/O thread, and process it as it comes."""


@dataclass(frozen=True, slots=True)
class RequestPartitions:
    """Replace the recovered channels of a gate by real ones, then request their partitions."""

    gate: int


@dataclass(frozen=True, slots=True)
class TaskRuns:
    """Report that the task is RUNNING."""


@dataclass(frozen=True, slots=True)
class DeclineCheckpoint:
    """Decline a checkpoint: the task is not ready."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class TakePart:
    """Let the task take part in a checkpoint."""

    checkpoint: int


RestoreEffect: TypeAlias = (
    ReadOutput
    | RestoreOperators
    | ReadInput
    | RequestPartitions
    | TaskRuns
    | DeclineCheckpoint
    | TakePart
)

_S = RestoreState
TABLE: dict[tuple[RestoreState, type], tuple[RestoreState, RestoreEffect]] = {
    (_S.DEPLOYED, TaskDeployed): (_S.READING_OUTPUT, ReadOutput()),
    (_S.READING_OUTPUT, OutputRead): (_S.RESTORING, RestoreOperators()),
    (_S.RESTORING, OperatorsOpened): (_S.RECOVERING, ReadInput()),
}
"""The steps that do not depend on gates: state and event, next state and effect."""


class TaskRestore:
    """Restores one task with so many gates.

    state: how far it has come.
    """

    __slots__ = ("_waiting", "state")

    def __init__(self, gates: int) -> None:
        self.state = RestoreState.DEPLOYED
        self._waiting = set(range(gates))

    @property
    def waiting(self) -> tuple[int, ...]:
        """The gates without requested partitions, ascending."""
        return tuple(sorted(self._waiting))

    def step(self, event: RestoreEvent) -> list[RestoreEffect]:
        """Take one event and return its effects.

        Raises ProtocolError for an event out of order and for a gate that was consumed before.
        """
        match event:
            case CheckpointTriggered(checkpoint):
                if self.state is RestoreState.RUNNING:
                    return [TakePart(checkpoint)]
                return [DeclineCheckpoint(checkpoint)]
            case GateConsumed(gate):
                return self._consumed(gate, event)
        row = TABLE.get((self.state, type(event)))
        if row is None:
            raise ProtocolError("missing_row", state=self.state.name, event=event)
        self.state, effect = row
        return [effect] if self.state is not RestoreState.RECOVERING else self._opened(effect)

    def _opened(self, effect: RestoreEffect) -> list[RestoreEffect]:
        if self._waiting:
            return [effect]
        self.state = RestoreState.RUNNING  # a source: there is nothing to be read
        return [TaskRuns()]

    def _consumed(self, gate: int, event: RestoreEvent) -> list[RestoreEffect]:
        if self.state is not RestoreState.RECOVERING or gate not in self._waiting:
            raise ProtocolError("missing_row", state=self.state.name, event=event)
        self._waiting.remove(gate)
        if self._waiting:
            return [RequestPartitions(gate)]
        self.state = RestoreState.RUNNING
        return [RequestPartitions(gate), TaskRuns()]
