"""Record counts: what a level of durability accounts for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Count:
    """Committed records, their serialized size, and records rejected to a dead-letter place."""

    records: int = 0
    size_bytes: int = 0
    rejected: int = 0

    @property
    def accounted(self) -> int:
        """The number of records whose fate is settled: committed or rejected."""
        return self.records + self.rejected

    def __add__(self, other: Count) -> Count:
        return Count(
            self.records + other.records,
            self.size_bytes + other.size_bytes,
            self.rejected + other.rejected,
        )

    def __sub__(self, other: Count) -> Count:
        return Count(
            self.records - other.records,
            self.size_bytes - other.size_bytes,
            self.rejected - other.rejected,
        )


ZERO = Count()
