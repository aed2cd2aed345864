"""The factories of the cores of one run, one field per slot. The defaults are ours.

A coordinator that takes the place of one begins with the checkpoints that are kept.  A factory
without `completed` gives one that begins with none. The kept data from before is then looked after
here, so that it is discarded when newer ones have taken its place.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Protocol

from ckptsim.models import barriers, uncoordinated
from ckptsim.models.acknowledger import Acknowledger
from ckptsim.models.barriers.channels import NetworkEffect
from ckptsim.models.committer import GlobalCommitter
from ckptsim.models.coordinator import (
    CheckpointCoordinator,
    CoordinatorParameters,
    EndOfDataListener,
    Recovery,
    after_failure,
)
from ckptsim.models.coordinator import events as coordinator_events
from ckptsim.models.enumerator import SplitEnumerator
from ckptsim.models.lifecycle import TaskLifecycle, TaskParameters, WatermarkValve
from ckptsim.models.ordering import OrderingDoor, OrderingParameters, make_core
from ckptsim.models.ordering.source import SourceCore, SourceParameters
from ckptsim.models.recovery import GateAssignment, InFlightAssignment, RecoveredInput
from ckptsim.models.store import Placement, make_store
from ckptsim.models.store.fence import Fence
from ckptsim.models.store.positions import Positions
from ckptsim.sim.slots import protocols
from ckptsim.sim.slots.protocols import (
    ChannelStateWriter,
    Coordinator,
    FenceDoor,
    Lifecycle,
    PositionsDoor,
    RecoveryLines,
    SourceDoor,
    Store,
)

Factory = Callable[..., Any]


class MakeHandler(Protocol):
    """Makes the barrier handler of a task."""

    def __call__(
        self, kind: barriers.HandlerKind, channels: int, *, gates: int, after_finish: bool
    ) -> barriers.BarrierHandler:
        """Make it for so many channels in so many gates."""


class MakeCoordinator(Protocol):
    """Makes the checkpoint coordinator of a job."""

    def __call__(
        self,
        parameters: CoordinatorParameters,
        *,
        first_checkpoint: int = 1,
        completed: tuple[int, ...] = (),
    ) -> Coordinator:
        """Make it. The number of the next checkpoint, and those that are kept, oldest first."""


class MakeListener(Protocol):
    """Makes what counts the tasks that have reached the end of their data."""

    def __call__(self, tasks: int, *, enabled: bool) -> EndOfDataListener:
        """Make it for so many tasks."""


class OverEdge(Protocol):
    """Says as what a barrier is sent over an edge."""

    def __call__(self, barrier: barriers.Barrier, *, supports_unaligned: bool) -> barriers.Barrier:
        """Return the barrier that travels over the edge."""


class MakeRecoveredInput(Protocol):
    """Makes what takes in-flight data over on a gate."""

    def __call__(
        self, assignment: GateAssignment, channels: int, *, accepts: Callable[[int], bool]
    ) -> RecoveredInput:
        """Make it for so many channels. accepts: records that are sent to the subtask today."""


class MakeRecoveryLine(Protocol):
    """Makes what finds the checkpoints of single tasks that a job is restarted from."""

    def __call__(
        self,
        channels: Sequence[uncoordinated.LineChannel],
        begin: Sequence[uncoordinated.Checkpoint],
        *,
        logged: bool = True,
    ) -> RecoveryLines:
        """Make it for an attempt. begin: how each task begins."""


class AfterFailure(Protocol):
    """Decides what becomes of a job that fails."""

    def __call__(self, *, stop_completed: bool) -> Recovery:
        """Decide. `stop_completed` says whether the savepoint of a stop is complete."""


def over_edge(barrier: barriers.Barrier, *, supports_unaligned: bool) -> barriers.Barrier:
    """Return the barrier that travels over an edge."""
    return barrier.over_edge(supports_unaligned=supports_unaligned)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolCores:
    """One factory per slot. `SLOTS` describes them."""

    ordering: Callable[[OrderingParameters], OrderingDoor] = make_core
    source: Callable[[SourceParameters], SourceDoor] = SourceCore
    handler: MakeHandler = barriers.make_handler
    coordinator: MakeCoordinator = CheckpointCoordinator
    lifecycle: Callable[[TaskParameters], Lifecycle] = TaskLifecycle
    channel_state: Callable[[list[int]], ChannelStateWriter] = barriers.SharedStateWriter
    global_committer: Callable[[int], protocols.GlobalCommitter] = GlobalCommitter
    enumerator: Callable[[int], protocols.SplitEnumerator] = SplitEnumerator
    acknowledger: Callable[[], protocols.Acknowledger] = Acknowledger
    store: Callable[[Placement], Store] = make_store
    fence: Callable[[], FenceDoor] = Fence
    positions: Callable[[], PositionsDoor] = Positions
    subtask: Callable[[], barriers.SubtaskCheckpoints] = barriers.SubtaskCheckpoints
    input_channel: Callable[[int, list[NetworkEffect]], barriers.RemoteInputChannel] = (
        barriers.RemoteInputChannel
    )
    output_subpartition: Callable[[int, list[NetworkEffect]], barriers.Subpartition] = (
        barriers.Subpartition
    )
    edge: OverEdge = over_edge
    end_of_data: MakeListener = EndOfDataListener
    failover: AfterFailure = after_failure
    watermarks: Callable[[int], WatermarkValve] = WatermarkValve
    assignment: Callable[[], InFlightAssignment] = InFlightAssignment
    recovered_input: MakeRecoveredInput = RecoveredInput
    induced: Callable[[], uncoordinated.TaskProtocol] = uncoordinated.InducedTask
    recovery_line: MakeRecoveryLine = uncoordinated.RecoveryLine


OURS = ProtocolCores()


_COMPLETED = "completed"


def fitting(slot: str, factory: Callable[..., Any]) -> Callable[..., Any]:
    """Return a factory that takes all that hosts give. The same one if it does already."""
    if slot != "coordinator" or _takes_completed(factory):
        return factory

    @wraps(factory)
    def make(
        parameters: Any, *positional: Any, completed: tuple[int, ...] = (), **named: Any
    ) -> Any:
        core = factory(parameters, *positional, **named)
        return Recovered(core, completed, parameters.retained) if completed else core

    return make


def _takes_completed(factory: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):  # of a built-in: calling it will tell
        return True
    named = any(each.name == _COMPLETED for each in parameters)
    return named or any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters)


class Recovered:
    """A coordinator with the checkpoints that were kept before it was made, oldest first."""

    def __init__(self, core: Any, before: tuple[int, ...], retained: int) -> None:
        self._core = core
        self._before = list(before)
        self._pushed_out: list[int] = []
        self._retained = retained

    def __getattr__(self, name: str) -> Any:
        """Return what the core has under the name."""
        return getattr(self._core, name)

    @property
    def completed(self) -> tuple[int, ...]:
        """The checkpoints that are kept, oldest first."""
        return (*self._before, *self._core.completed)

    def step(self, event: Any) -> list[Any]:
        """Have the core take an event, and discard what newer checkpoints push out."""
        if isinstance(event, coordinator_events.Cleaned) and event.checkpoint in self._pushed_out:
            self._pushed_out.remove(event.checkpoint)  # the core knows nothing of it
            return []
        found: list[Any] = []
        subsumed = None
        for effect in self._core.step(event):
            told = effect
            if isinstance(effect, coordinator_events.NotifyComplete):
                told = replace(effect, subsumed=effect.subsumed or subsumed)
            elif isinstance(effect, coordinator_events.NotifyAborted):
                older = self._before[-1] if self._before else None
                told = replace(effect, latest_completed=effect.latest_completed or older)
            found.append(told)
            if isinstance(effect, coordinator_events.CheckpointCompleted) and self._is_one_too_many(
                effect.checkpoint
            ):
                subsumed = self._before.pop(0)
                self._pushed_out.append(subsumed)
                found.append(coordinator_events.DiscardCheckpoint(subsumed))
        return found

    def _is_one_too_many(self, checkpoint: int) -> bool:
        """Return whether the core keeps a checkpoint, and an older one has to go for it."""
        mine = self._core.completed
        kept = len(self._before) + len(mine)
        return bool(self._before) and checkpoint in mine and kept > self._retained
