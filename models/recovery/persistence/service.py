"""A log service of its own for in-flight data, beside the persistence that checkpoints have.

A checkpoint then holds a position in the log instead of handles.  The service does not know the
retained checkpoints: it is cut when a checkpoint is complete, and what an older one points to is
gone.  Handles are aborted one by one, with the checkpoint that has them.

Source: FLIP-76, existing persistence mechanism or a new one (not settled).
"""

from __future__ import annotations

from dataclasses import dataclass


class LogService:
    """Keeps in-flight data of one job.

    cut: the checkpoint that was completed last, -1 before the first. Nothing older is kept.
    """

    __slots__ = ("cut",)

    def __init__(self) -> None:
        self.cut = -1

    def completed(self, checkpoint: int) -> None:
        """Drop the data of older checkpoints."""
        self.cut = max(self.cut, checkpoint)


@dataclass(frozen=True, slots=True, eq=False)
class LogPosition:
    """Where in the log the in-flight data of a checkpoint begins."""

    service: LogService
    checkpoint: int

    @property
    def is_kept(self) -> bool:
        """Whether the data is still there."""
        return self.checkpoint >= self.service.cut
