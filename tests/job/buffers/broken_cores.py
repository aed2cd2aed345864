"""Deliberately broken protocol cores of a dataflow job, wrong in one way each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ckptsim.models.barriers import (
    Barrier,
    HandlerKind,
    RemoteChannel,
    SingleCheckpointHandler,
    Subpartition,
    SubtaskCheckpoints,
    make_handler,
)
from ckptsim.models.barriers.handler import events as ev
from ckptsim.models.barriers.subtask import events as sub
from ckptsim.models.coordinator import CheckpointCoordinator
from ckptsim.models.coordinator import events as co
from ckptsim.models.coordinator.parameters import CoordinatorParameters
from ckptsim.sim.slots import OURS, ProtocolCores


class Swapping(RemoteChannel):
    """Hands the second of two buffers over first."""

    def poll(self) -> object | None:
        """Swap the first two elements of the queue, if both are data."""
        if self.data_count > 1 and not self.has_priority:
            (first, place), (second, other) = self.normal_elements()[:2]
            if place is None and other is None:
                self._queue[0], self._queue[1] = second, first
        return super().poll()


class NeverBlocked(Subpartition):
    """Goes on behind an aligned barrier."""

    def poll(self) -> object | None:
        """Take the next element and forget what it was."""
        element = super().poll()
        self.blocked = False
        return element

    def resume(self) -> None:
        """Take the word that it may go on, as it does anyway."""
        self.blocked = False


class Patient(Subpartition):
    """Takes any number of resumptions."""

    def resume(self) -> None:
        """Go on, blocked or not."""
        self.blocked = False


class Forgetful(SubtaskCheckpoints):
    """Forgets which checkpoint came last."""

    def step(self, event: sub.SubtaskEvent) -> list[sub.SubtaskEffect]:
        """Take every trigger for the first one."""
        self._last = -1
        return super().step(event)


def handler_of(faulty: type[SingleCheckpointHandler]) -> ProtocolCores:
    """Return cores with a faulty handler."""

    def make(kind: HandlerKind, count: int, *, gates: int, after_finish: bool) -> Any:
        return faulty(kind, count, gates=gates, after_finish=after_finish)

    return replace(OURS, handler=make)


def handler_with(
    change: Callable[[list[ev.HandlerEffect]], list[ev.HandlerEffect]],
) -> ProtocolCores:
    """Return cores whose handler has its effects changed."""

    class Changed(SingleCheckpointHandler):
        def step(self, event: ev.HandlerEvent) -> list[ev.HandlerEffect]:
            return change(super().step(event))

    def make(kind: HandlerKind, count: int, *, gates: int, after_finish: bool) -> Any:
        return Changed(kind, count, gates=gates, after_finish=after_finish)

    return replace(OURS, handler=make, output_subpartition=Patient)


def twice(kind: type) -> Callable[[list[ev.HandlerEffect]], list[ev.HandlerEffect]]:
    """Return a change that repeats every effect of a kind."""
    return lambda effects: [e for one in effects for e in [one] * (1 + isinstance(one, kind))]


def longer(effects: list[ev.HandlerEffect]) -> list[ev.HandlerEffect]:
    """Add a second to every alignment."""
    return [
        replace(e, duration_ns=e.duration_ns + 1_000_000_000)
        if isinstance(e, ev.AlignmentMeasured)
        else e
        for e in effects
    ]


def coordinator_with(**changes: Any) -> ProtocolCores:
    """Return cores whose coordinator has settings of its own, scaled or replaced."""

    def make(parameters: CoordinatorParameters, **rest: Any) -> CheckpointCoordinator:
        values = {
            name: change(getattr(parameters, name)) if callable(change) else change
            for name, change in changes.items()
        }
        return CheckpointCoordinator(replace(parameters, **values), **rest)

    return replace(OURS, coordinator=make)


class FailsTwice(CheckpointCoordinator):
    """Says twice that a checkpoint is given up."""

    def step(self, event: co.CoordinatorEvent) -> list[co.CoordinatorEffect]:
        """Repeat the end of a checkpoint."""
        return [
            e
            for one in super().step(event)
            for e in [one] * (1 + isinstance(one, co.CheckpointFailed))
        ]


class KeepsOlder(CheckpointCoordinator):
    """Lets older checkpoints run on when a newer one completes."""

    def _abort_older(self, checkpoint: int) -> None:
        """Give nothing up."""


def unaligned_all_the_same() -> ProtocolCores:
    """Return cores that take unaligned checkpoints whatever was asked for."""

    def handler(kind: HandlerKind, count: int, *, gates: int, after_finish: bool) -> Any:
        del kind
        return make_handler(HandlerKind.ALTERNATING, count, gates=gates, after_finish=after_finish)

    return replace(coordinator_with(unaligned=True), handler=handler)


def any_edge(barrier: Barrier, *, supports_unaligned: bool) -> Barrier:
    """Let every barrier overtake."""
    del supports_unaligned
    return barrier
