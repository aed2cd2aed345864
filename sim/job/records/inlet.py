"""Where a source's records come from when the job does not make them itself."""

from __future__ import annotations

from typing import Protocol

from ckptsim.sim.job.records.snapshot import Record


class Inlet(Protocol):
    """What feeds one source subtask; it wakes the task when there is something to do."""

    @property
    def exhausted(self) -> bool:
        """Say whether nothing is queued and nothing comes any more."""
        ...

    @property
    def queued_count(self) -> int:
        """Return how many records can be taken now."""
        ...

    def take(self) -> Record:
        """Take the next record."""
        ...
