"""The border between the control of a job and its data planes, as structural Protocols.

Hosts in `sim/job/control` carry out what cores decide and ask a data plane for the rest: what takes
time, what an in-flight unit is, how an event is put into a queue.  The objects of the planes are
the ports themselves; nothing is wrapped.
"""

from __future__ import annotations

from typing import Protocol

from ckptsim.models.barriers.subtask_events import ChannelStateFailed, ChannelStateWritten


class Violate(Protocol):
    """Reports a property that does not hold."""

    def __call__(self, name: str, says: str, checkpoint: int | None = None, /) -> None:
        """Report it; checkpoint: the one concerned, where there is one."""
        ...


class FileStored(Protocol):
    """Is told what became of a file."""

    def __call__(self, checkpoint: int, *, failed: bool) -> None:
        """Take the end of a write; failed: it could not be written."""
        ...


class ChannelStatePort(Protocol):
    """Where a group of subtasks stores its channel state, and how each of them hears of it."""

    def store(self, checkpoint: int, size: int, stored: FileStored) -> None:
        """Make the group's file of a checkpoint durable and call `stored` then.

        size: units of in-flight data, in bytes where the plane has bytes.
        """
        ...

    def drop(self, checkpoint: int) -> None:
        """Give up a file that was opened; nobody hears of its end."""
        ...

    def answer(self, subtask: int, event: ChannelStateWritten | ChannelStateFailed) -> None:
        """Tell a subtask what became of its part."""
        ...
