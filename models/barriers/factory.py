"""Make the barrier handler of a task."""

from __future__ import annotations

from ckptsim.models.barriers.handler import SingleCheckpointHandler
from ckptsim.models.barriers.interface import BarrierHandler, HandlerKind
from ckptsim.models.barriers.tracker import BarrierTracker


def make_handler(
    kind: HandlerKind, channels: int, *, gates: int = 1, after_finish: bool = True
) -> BarrierHandler:
    """Return a fresh handler over `channels` channels of `gates` gates."""
    if kind is HandlerKind.TRACKER:
        return BarrierTracker(channels, after_finish=after_finish)
    return SingleCheckpointHandler(kind, channels, gates=gates, after_finish=after_finish)
