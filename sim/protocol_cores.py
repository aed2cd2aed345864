"""Which cores of barriers a world runs on: ours, or a mutant in the place of one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from ckptsim.models.barriers import (
    Barrier,
    BarrierHandler,
    BarrierTracker,
    HandlerKind,
    RemoteChannel,
    SharedStateWriter,
    Subpartition,
    SubtaskCheckpoints,
    make_handler,
)
from ckptsim.models.barriers.network import NetworkEffect
from ckptsim.models.coordinator import CheckpointCoordinator
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.mutants.barriers import MUTANTS, Part


class MakeHandler(Protocol):
    """Makes the barrier handler of a task."""

    def __call__(
        self, kind: HandlerKind, channels: int, *, gates: int, after_finish: bool
    ) -> BarrierHandler:
        """Make it for so many channels in so many gates."""
        ...


class OverEdge(Protocol):
    """Says as what a barrier is sent over an edge."""

    def __call__(self, barrier: Barrier, *, supports_unaligned: bool) -> Barrier:
        """Return the barrier that travels over the edge."""
        ...


def _over_edge(barrier: Barrier, *, supports_unaligned: bool) -> Barrier:
    return barrier.over_edge(supports_unaligned=supports_unaligned)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolCores:
    """The factories of the cores of barriers; what makes the ends of tasks is named elsewhere."""

    handler: MakeHandler = make_handler
    channel: Callable[[int, list[NetworkEffect]], RemoteChannel] = RemoteChannel
    subpartition: Callable[[int, list[NetworkEffect]], Subpartition] = Subpartition
    over_edge: OverEdge = _over_edge
    subtask: Callable[[], SubtaskCheckpoints] = SubtaskCheckpoints
    writer: Callable[[list[int]], SharedStateWriter] = SharedStateWriter
    coordinator: Callable[..., CheckpointCoordinator] = CheckpointCoordinator


RIGHT = ProtocolCores()

# Sizes of handles have no place here: no world asks for them.
_FIELDS = {
    Part.HANDLER: "handler",
    Part.TRACKER: "handler",
    Part.INPUT_CHANNEL: "channel",
    Part.OUTPUT_SUBPARTITION: "subpartition",
    Part.EDGE: "over_edge",
    Part.SUBTASK: "subtask",
    Part.WRITER: "writer",
    Part.COORDINATOR: "coordinator",
}
BARRIER_MUTANTS = tuple(name for name, mutant in MUTANTS.items() if mutant.part in _FIELDS)


def cores_of(mutant: str, *, others: Iterable[str] = ()) -> ProtocolCores:
    """Return the cores of barriers with a mutant in its place.

    others: mutants that the caller knows besides.  Raises UserError for one that nobody knows.
    """
    if mutant not in BARRIER_MUTANTS:
        known = ", ".join((*BARRIER_MUTANTS, *others))
        raise UserError(f"--mutant: found {mutant!r}, expected one of {known}")
    found = MUTANTS[mutant]
    return replace(RIGHT, **{_FIELDS[found.part]: found.make})


def broken_by_failure(handler: BarrierHandler | None) -> str:
    """Name the property that does not hold when a handler fails its task.

    With one channel left, a newer checkpoint takes the tracker's clock from an older one that still
    waits: a defect of released Flink, which has a property of its own.
    Source: Apache Flink 1.20.3, CheckpointBarrierTracker.
    """
    single = isinstance(handler, BarrierTracker) and handler.open_channels <= 1
    return "single_channel_keeps_the_clock" if single else "tasks_fail_for_a_cause"
