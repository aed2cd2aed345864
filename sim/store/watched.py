"""A medium that is watched: which partitions a step touches, and where a planned crash falls."""

from __future__ import annotations

from collections.abc import Callable

from ckptsim.models.store import Area, Medium, Rows, Slot, Step, TopicPartition


class ProcessDied(Exception):  # noqa: N818  (an event of the simulation, not an error)
    """The process died at this point, which unwinds everything that was running.

    bounded: whether everything that is repeated after it is bounded by what one interval holds.
    """

    def __init__(self, reason: str, *, bounded: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.bounded = bounded


class WatchedMedium:
    """Hands everything on to another medium and reports each step before it is durable."""

    def __init__(self, inner: Medium, on_step: Callable[[Step], None]) -> None:
        self._inner = inner
        self._on_step = on_step

    @property
    def inner(self) -> Medium:
        """Return the medium that is watched."""
        return self._inner

    @property
    def atomic(self) -> bool:
        """Return whether one step may hold rows and checkpoints."""
        return self._inner.atomic

    def rows(self, area: Area, key: TopicPartition) -> Rows:
        """Return a copy of the durable rows of one partition."""
        return self._inner.rows(area, key)

    def row(self, area: Area, key: TopicPartition, name: str) -> bytes | None:
        """Return the durable value of one row, or None."""
        return self._inner.row(area, key, name)

    def slot(self, slot: Slot, key: TopicPartition) -> bytes | None:
        """Return the stored bytes of one checkpoint slot, or None."""
        return self._inner.slot(slot, key)

    def commit(self, step: Step) -> None:
        """Report a step, which may raise ProcessDied, and make it durable."""
        if step.rows or step.slots:
            self._on_step(step)
        self._inner.commit(step)

    def abandon(self, step: Step) -> None:
        """Begin a step and never commit it."""
        self._inner.abandon(step)

    def crash(self) -> None:
        """Lose everything that is not durable and open again."""
        self._inner.crash()

    def lose(self, *, areas: tuple[Area, ...], slots: bool) -> None:
        """Lose durable state of all partitions."""
        self._inner.lose(areas=areas, slots=slots)

    def close(self) -> None:
        """Release what the medium holds of the system."""
        self._inner.close()
