"""A checkpoint that runs: whom it waits for."""

from __future__ import annotations

from ckptsim.models.coordinator.requests import Request


class PendingCheckpoint:
    """A running checkpoint.

    awaited: tasks that have not acknowledged yet.  storing: all have, and the store works.
    """

    __slots__ = ("acknowledged_ns", "awaited", "known", "request", "storing", "triggered_ns")

    def __init__(self, request: Request, triggered_ns: int, tasks: tuple[int, ...]) -> None:
        self.request = request
        self.triggered_ns = triggered_ns
        self.known = frozenset(tasks)
        self.awaited = set(tasks)
        self.storing = False
        self.acknowledged_ns = triggered_ns
