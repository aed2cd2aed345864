"""What a client did, counted apart from what it believes."""

from __future__ import annotations

from ckptsim.models.store.topics import TopicPartition


class Journal:
    """Counts of a client over all its incarnations.

    applied: data records applied; reprocessed: those whose partition and position had been before.
    """

    def __init__(self) -> None:
        self.applied = 0
        self.reprocessed = 0
        self.syncs = 0
        self.replayed = 0
        self.dictionary_fetches = 0
        self._seen: dict[TopicPartition, set[int]] = {}

    def record_applied(self, key: TopicPartition, position: int) -> None:
        """Count one applied data record."""
        seen = self._seen.setdefault(key, set())
        self.applied += 1
        self.reprocessed += position in seen
        seen.add(position)

    def record_sync(self) -> None:
        """Count one complete sync."""
        self.syncs += 1

    def record_replay(self, rows: int) -> None:
        """Count the mirror rows that an open put back."""
        self.replayed += rows

    def record_fetch(self) -> None:
        """Count one dictionary that was fetched."""
        self.dictionary_fetches += 1
