"""What a coordinator keeps of the one before it, for factories that are not made for that.

A coordinator that takes the place of one begins with the checkpoints that are kept.  A factory
without `completed` gives one that begins with none. The kept data from before is then looked after
here, so that it is discarded when newer ones have taken its place.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from ckptsim.models.coordinator import events as coordinator_events

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
