"""A flush that hands duplicate keys to the database, where the first value of a key wins.

Source: DuckDB 1.5.6 and 2.0.0, measured: of a key twice in one upsert the first row is kept.
"""

from __future__ import annotations

from ckptsim.models.store import Changes, DataRecord, Medium, TopicPartition
from ckptsim.models.store.replica import WorkingContent


class FirstWinsContent(WorkingContent):
    """Working content that is right in memory and flushed with the first value of each key."""

    def __init__(self, medium: Medium, key: TopicPartition) -> None:
        super().__init__(medium, key)
        self._first: dict[str, bytes | None] = {}

    def apply(self, record: DataRecord) -> None:
        """Remember the first value beside the last."""
        super().apply(record)
        self._first.setdefault(record.key, record.value)

    def changes(self) -> Changes:
        """Return what the database makes of the batch."""
        return self._first

    def flushed(self) -> None:
        """Forget the batch."""
        super().flushed()
        self._first = {}
