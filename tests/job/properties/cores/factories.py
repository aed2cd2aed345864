"""Factories of cores: all faulty, or the first alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ckptsim.models.barriers import Subpartition
from ckptsim.models.barriers.handler import SingleCheckpointHandler


def handler(faulty: type[SingleCheckpointHandler], *, first_only: bool = False) -> Any:
    """Return a factory of faulty handlers. With `first_only` all but the first are right."""
    return _First(faulty, SingleCheckpointHandler if first_only else faulty)


def first_of_all(faulty: type[Subpartition]) -> Any:
    """Return a factory of queues with a faulty first one."""
    return _First(faulty, Subpartition)


@dataclass(slots=True)
class _First:
    """Makes cores: one that is faulty, then others. A run needs a copy that has made none."""

    faulty: Callable[..., Any]
    others: Callable[..., Any]
    made: int = 0

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self.made += 1
        return (self.faulty if self.made == 1 else self.others)(*arguments, **named)
