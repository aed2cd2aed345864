"""Cores as users bring them, each with one difference from ours."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from ckptsim.cores import ProtocolError, coordinator
from ckptsim.cores import coordinator_events as ev
from ckptsim.testing import serve
from tests.slots.own import Around


class Silent(Around):
    """Notifies no task that a checkpoint is complete."""

    def step(self, event: Any) -> list[Any]:
        return [one for one in super().step(event) if not isinstance(one, ev.NotifyComplete)]


class Terse(Around):
    """Does not name the checkpoint that a newer one subsumes."""

    def step(self, event: Any) -> list[Any]:
        return [
            replace(one, subsumed=None) if isinstance(one, ev.NotifyComplete) else one
            for one in super().step(event)
        ]


class Backwards(Around):
    """Cancels a timer as the last thing that it does in a step."""

    def step(self, event: Any) -> list[Any]:
        return sorted(super().step(event), key=lambda one: isinstance(one, ev.CancelTimer))


class Late(Backwards):
    """Does so, and is silent besides."""

    def step(self, event: Any) -> list[Any]:
        return [one for one in super().step(event) if not isinstance(one, ev.NotifyComplete)]


class Hurried(Around):
    """Reports that checkpoints took no time."""

    def step(self, event: Any) -> list[Any]:
        return [
            replace(one, duration_ns=-1) if isinstance(one, ev.CheckpointCompleted) else one
            for one in super().step(event)
        ]


class Refusing(Around):
    """Refuses what a task acknowledges too late."""

    def step(self, event: Any) -> list[Any]:
        if isinstance(event, ev.Acknowledged) and event.checkpoint not in self.pending:
            raise ProtocolError("too_late", event=event)
        return super().step(event)


class Asked(Around):
    """Says of every checkpoint that no one is awaited."""

    def awaited(self, checkpoint: int) -> tuple[int, ...]:
        del checkpoint
        return ()


def in_a_closure(parameters: Any, **named: Any) -> Any:
    """Return our core, which a closure holds and no attribute."""
    ours = coordinator.CheckpointCoordinator(parameters, **named)

    class Core:
        __slots__ = ()

        def __getattr__(self, name: str) -> Any:
            return getattr(ours, name)

        def step(self, event: Any) -> list[Any]:
            return ours.step(event)

    return Core()


def __getattr__(name: str) -> Any:
    """Return a factory: of cores of the class that follows `make_`."""
    kind = globals().get(name.removeprefix("make_"))
    if not name.startswith("make_") or kind is None:
        raise AttributeError(name)
    return lambda parameters, **named: kind(coordinator.CheckpointCoordinator(parameters, **named))


if __name__ == "__main__":
    serve("coordinator", __getattr__(f"make_{sys.argv[1]}"))
