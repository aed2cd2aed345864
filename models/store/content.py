"""The working content of an open partition: the durable rows and the changes on top of them."""

from __future__ import annotations

from ckptsim.models.store.log import DataRecord
from ckptsim.models.store.medium import Area, Changes, Medium, Rows
from ckptsim.models.store.topics import TopicPartition


class WorkingContent:
    """What an incarnation sees: it starts as the durable content, and a crash drops the rest.

    The changes since the last flush are kept by key, the last one wins; a flush hands them to the
    medium as one set.
    """

    def __init__(self, medium: Medium, key: TopicPartition) -> None:
        self._medium = medium
        self._key = key
        self._changes: dict[str, bytes | None] = {}

    def apply(self, record: DataRecord) -> None:
        """Put or delete one record."""
        self._changes[record.key] = record.value

    def rows(self) -> Rows:
        """Return the whole content."""
        rows = self._medium.rows(Area.DATA, self._key)
        rows.update((name, value) for name, value in self._changes.items() if value is not None)
        for name, value in self._changes.items():
            if value is None:
                rows.pop(name, None)
        return rows

    def changes(self) -> Changes:
        """Return the changes that are not flushed, one per key; valid until the next one."""
        return self._changes

    def flushed(self) -> None:
        """Forget the changes, which are durable now."""
        self._changes = {}


def difference(old: Rows, new: Rows) -> Changes:
    """Return the changes that turn one content into another."""
    changes: dict[str, bytes | None] = {name: None for name in old if name not in new}
    changes.update((name, value) for name, value in new.items() if old.get(name) != value)
    return changes
