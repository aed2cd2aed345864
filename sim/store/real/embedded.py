"""A store for a Python consumer: data and its checkpoint in one file and one transaction.

    from ckptsim.models.store import TopicPartition
    from ckptsim.sim.store.real import EmbeddedStore

    with EmbeddedStore("orders.duckdb") as store:
        store.register("orders_v1", partitions=4)
        key = TopicPartition("orders_v1", 0)
        for batch in consumer.read_after(store.position(key)):
            changes = [(message.key, message.value) for message in batch]
            store.commit(key, changes, position=batch[-1].position)

After any crash the rows are exactly what the log implies up to `position`: nothing is lost, nothing
is there twice, and nothing has to be rolled back.  The store is for one process and one thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Self

from ckptsim.models import store
from ckptsim.sim.store.real.arguments import (
    checked_changes,
    checked_key,
    checked_memory,
    checked_name,
    checked_path,
    checked_position,
    checked_rows,
)
from ckptsim.sim.store.real.duck import DuckFile
from ckptsim.sim.store.real.media import DuckMedium
from ckptsim.sim.store.real.typed import TypedFile

# Rows by name and the checkpoint as bytes, None for none.
Contents = tuple[Mapping[str, bytes], bytes | None]


class EmbeddedStore:
    """Rows by name and one checkpoint per partition, in one DuckDB file.

    It fills the interface of three operations (`get`, `set`, `delete` of opaque bytes) as well. A
    checkpoint that `commit` wrote is such bytes.  Raises StoreFileError and its kinds for the
    problems of the file, StoreError for what a call may not do. INVALID_ARGUMENT of these is an
    argument that is no key, position, name or value at all.

    typed: keep checkpoints as a table with a column per field, `typed_checkpoints`.
    """

    def __init__(
        self, path: str | Path, *, memory_limit: str = "512MB", typed: bool = False
    ) -> None:
        self._medium = DuckMedium(
            checked_path(path),
            memory_limit=checked_memory(memory_limit),
            kind=TypedFile if typed else DuckFile,
        )
        self._topics = store.LocalTopics()
        self._checkpoints = store.Checkpoints(
            self._medium,
            self._topics,
            codec=store.PlainCodec(),
            slot=store.Slot.CUSTOM,
            remote=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_failure: object) -> None:
        self.close()

    def register(self, topic: str, *, partitions: int) -> None:
        """Declare a topic `<store>_v<N>` and its number of partitions, at every start."""
        self._topics.register(topic, partitions)

    def position(self, key: store.TopicPartition) -> int:
        """Return the last position with a durable effect. -1 is nothing yet.

        Raises CORRUPT_CHECKPOINT. UNREADABLE_CHECKPOINT for one that a newer release wrote.
        """
        return self.state(key).position

    def state(self, key: store.TopicPartition) -> store.PartitionState:
        """Return the checkpoint of a partition, an empty one when there is none."""
        blob = self._checkpoints.get(checked_key(key))
        state = None if blob is None else store.decode_state(blob, of=key)
        return store.PartitionState() if state is None else state

    def commit(
        self,
        key: store.TopicPartition,
        changes: Iterable[tuple[str, bytes | None]],
        *,
        position: int,
        state: store.PartitionState | None = None,
    ) -> None:
        """Make changes and the position after them durable together.

        changes: name and value in the order of the log. None deletes. Of several for one name the
        last one wins.
        position: an integer of 0 or more, never after the one that is durable.
        state: what else the checkpoint holds. By default what it held before.
        """
        before = self.state(key)
        checked_position(position, state, before=before.position)
        kept = replace(before if state is None else state, position=position)
        rows = store.RowsWrite(area=store.Area.DATA, key=key, changes=checked_changes(changes))
        slot = self._checkpoints.stage(key, store.encode_state(kept))
        self._medium.commit(store.Step(rows=(rows,), slots=(slot,)))

    def read(self, key: store.TopicPartition, name: str) -> bytes | None:
        """Return one row, or None."""
        self._topics.check(checked_key(key))
        return self._medium.row(store.Area.DATA, key, checked_name(name))

    def rows(self, key: store.TopicPartition) -> store.Rows:
        """Return all rows of a partition, by name."""
        self._topics.check(checked_key(key))
        return self._medium.rows(store.Area.DATA, key)

    def get(self, key: store.TopicPartition) -> bytes | None:
        """Return the checkpoint as bytes, or None."""
        return self._checkpoints.get(checked_key(key))

    def set(self, key: store.TopicPartition, blob: bytes) -> None:
        """Replace the checkpoint, without data."""
        self._checkpoints.set(checked_key(key), blob)

    def delete(self, key: store.TopicPartition) -> None:
        """Remove the checkpoint and leave the rows."""
        self._checkpoints.delete(checked_key(key))

    def reset(self, key: store.TopicPartition) -> None:
        """Remove checkpoint and rows of a partition together."""
        slots = self._checkpoints.stage_delete(checked_key(key))
        rows = store.RowsWrite(area=store.Area.DATA, key=key, changes={}, wipe=True)
        self._medium.commit(store.Step(rows=(rows,), slots=slots))

    def replace(self, contents: Mapping[store.TopicPartition, Contents]) -> None:
        """Replace rows and checkpoints of several partitions, all in one transaction."""
        rows = tuple(
            store.RowsWrite(
                area=store.Area.DATA,
                key=checked_key(key),
                changes=checked_rows(rows.items()),
                wipe=True,
            )
            for key, (rows, _) in contents.items()
        )
        slots: list[store.SlotWrite] = []
        for key, (_, blob) in contents.items():
            staged = self._checkpoints.stage_delete(key) if blob is None else ()
            slots += staged if blob is None else (self._checkpoints.stage(key, blob),)
        self._medium.commit(store.Step(rows=rows, slots=tuple(slots)))

    def drop(self, topic: str) -> None:
        """Remove checkpoints, rows and registration of a topic in one transaction."""
        keys = self._topics.of_topic(topic)
        slots = tuple(write for key in keys for write in self._checkpoints.stage_delete(key))
        rows = tuple(
            store.RowsWrite(area=store.Area.DATA, key=key, changes={}, wipe=True) for key in keys
        )
        self._medium.commit(store.Step(rows=rows, slots=slots))
        self._topics.forget(topic)

    def close(self) -> None:
        """Close the file. Everything that was committed is durable already."""
        self._medium.close()
