"""Checkpoints as a table with a column per field, in place of sealed blobs.

Any SQL client reads it.  What it gives up: a row has no checksum, so that an edited one passes for
a right one, and a field more is a change of the table.  A release adds the columns that it knows to
an older file.  A row with a value in a column that it does not know is another release's, and is
refused.  Bytes that are no state, or damaged, stay blobs beside the table.

Source: linkedin/venice, pull request 1476: one column per field, or opaque bytes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ckptsim.models import store
from ckptsim.models.store.state import SCHEMA_VERSION, ProducerState, VersionCopy, write_fields
from ckptsim.sim.store.real.duck import DuckFile

_TABLE = "typed_checkpoints"
_KEY = {"slot": "TINYINT", "topic": "VARCHAR", "part": "INTEGER"}
_STATE = {"position": "BIGINT", "end_of_push": "BOOLEAN", "end_of_push_at": "BIGINT"}
_REST = {"transformer_hash": "HUGEINT", "producers": "VARCHAR", "versioned": "BOOLEAN"}
_VERSION = {
    "sorted": "BOOLEAN",
    "chunked": "BOOLEAN",
    "compression_strategy": "VARCHAR",
    "batch_conflict_resolution_policy": "BIGINT",
    "start_of_push_timestamp": "BIGINT",
    "end_of_push_timestamp": "BIGINT",
    "compression_dictionary": "VARCHAR",
}
_COLUMNS = _KEY | _STATE | _REST | _VERSION
_TYPES = {"BOOLEAN": bool, "VARCHAR": str, "BIGINT": int}
_CREATE = (
    f"CREATE TABLE IF NOT EXISTS {_TABLE} ("
    + ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
    + ", PRIMARY KEY (slot, topic, part))"
)
_UPSERT = f"INSERT OR REPLACE INTO {_TABLE} ({', '.join(_COLUMNS)}) SELECT " + ", ".join(
    f"unnest(?::{kind}[])" for kind in _COLUMNS.values()
)
_AMONG = (
    "(slot, topic, part) IN "
    "(SELECT (unnest(?::TINYINT[]), unnest(?::VARCHAR[]), unnest(?::INTEGER[])))"
)
_PLACE = "slot = ? AND topic = ? AND part = ?"
Place = tuple[int, str, int]


class TypedFile(DuckFile):
    """A file with typed checkpoints. One with blobs reads the same."""

    def __init__(self, path: Path, *, memory_limit: str = "512MB", read_only: bool = False) -> None:
        super().__init__(path, memory_limit=memory_limit, read_only=read_only)
        if not read_only:
            self.connection.execute(_CREATE)
        found = self.connection.execute(
            "SELECT column_name FROM duckdb_columns() WHERE table_name = ? ORDER BY column_index",
            [_TABLE],
        ).fetchall()
        there = [name for (name,) in found]
        for name, kind in _COLUMNS.items() if there and not read_only else ():
            if name not in there:  # the file is of an older release
                self.connection.execute(f"ALTER TABLE {_TABLE} ADD COLUMN {name} {kind}")
                there.append(name)
        self._there = there

    def write_slots(self, writes: Sequence[store.SlotWrite]) -> None:
        """Delete and upsert checkpoints, each as a row or, where it is no state, as a blob."""
        last = {(write.slot, write.key): write for write in writes}
        rows: list[list[Any]] = []
        blobs: list[store.SlotWrite] = []
        for write in last.values():
            row = None if write.stored is None else _row(write.slot, write.key, write.stored)
            if row is None:
                blobs.append(write)
            else:
                rows.append(row)
        if blobs:
            super().write_slots(blobs)
            places = [(int(one.slot), one.key.topic, one.key.partition) for one in blobs]
            self._delete(_TABLE, places)
        if rows:
            self._delete("store_checkpoints", [(row[0], row[1], row[2]) for row in rows])
            self.connection.execute(_UPSERT, [list(column) for column in zip(*rows, strict=True)])

    def _delete(self, table: str, places: list[Place]) -> None:
        """Delete the checkpoints at some places, in one statement: each costs more than its row."""
        columns = [list(column) for column in zip(*places, strict=True)]
        self.connection.execute(f"DELETE FROM {table} WHERE {_AMONG}", columns)  # noqa: S608

    def slot(self, slot: store.Slot, key: store.TopicPartition) -> bytes | None:
        """Return what a slot holds, sealed as a blob would be."""
        found = self._rows(f"WHERE {_PLACE}", (int(slot), key.topic, key.partition))
        return found[0][2] if found else super().slot(slot, key)

    def slots(self) -> list[tuple[store.Slot, store.TopicPartition, bytes]]:
        """List all checkpoints by slot, topic and partition."""
        return sorted([*super().slots(), *self._rows("", None)])

    def clear(self, areas: Sequence[store.Area], *, slots: bool) -> None:
        """Remove rows of some areas, and all checkpoints if asked to."""
        if slots:
            self.connection.execute(f"DELETE FROM {_TABLE}")  # noqa: S608
        super().clear(areas, slots=slots)

    def _rows(
        self, where: str, place: Place | None
    ) -> list[tuple[store.Slot, store.TopicPartition, bytes]]:
        if not self._there:
            return []
        query = f"SELECT {', '.join(self._there)} FROM {_TABLE} {where}"  # noqa: S608
        found = self.connection.execute(query, place).fetchall()
        return [_sealed(dict(zip(self._there, row, strict=True))) for row in found]


def _row(slot: store.Slot, key: store.TopicPartition, stored: bytes) -> list[Any] | None:
    """Return a checkpoint as the values of a row, or None where the columns cannot hold it."""
    try:
        state = store.decode_state(store.PlainCodec().decode(key, stored))
    except store.StoreError:
        return None
    if state is None:
        return None
    producers = [[one.guid, one.segment, one.sequence] for one in state.producers]
    values: dict[str, Any] = {
        "slot": int(slot),
        "topic": key.topic,
        "part": key.partition,
        "position": state.position,
        "end_of_push": state.end_of_push,
        "end_of_push_at": state.end_of_push_timestamp,
        "transformer_hash": state.transformer_hash,
        "producers": json.dumps(producers),
        "versioned": state.version is not None,
        **{name: getattr(state.version, name, None) for name in _VERSION},
    }
    checked = {"end_of_push_at": "BIGINT"} | _VERSION
    fits = all(
        values[name] is None or type(values[name]) is _TYPES[kind] for name, kind in checked.items()
    )
    return list(values.values()) if fits else None


def _sealed(row: dict[str, Any]) -> tuple[store.Slot, store.TopicPartition, bytes]:
    key = store.TopicPartition(row["topic"], row["part"])
    added = {name: str(value) for name, value in row.items() if value is not None}
    added = {name: value for name, value in added.items() if name not in _COLUMNS}
    if added:  # a newer release wrote it, which its blob would say
        blob = write_fields(SCHEMA_VERSION + 1, {"position": row["position"]} | added)
        return store.Slot(row["slot"]), key, store.PlainCodec().encode(key, blob)
    version = VersionCopy(**{name: row.get(name) for name in _VERSION})
    state = store.PartitionState(
        position=row["position"],
        end_of_push=row["end_of_push"],
        end_of_push_timestamp=row["end_of_push_at"],
        transformer_hash=row["transformer_hash"],
        version=version if row["versioned"] else None,
        producers=tuple(
            ProducerState(guid=guid, segment=segment, sequence=sequence)
            for guid, segment, sequence in json.loads(row["producers"])
        ),
    )
    stored = store.PlainCodec().encode(key, store.encode_state(state))
    return store.Slot(row["slot"]), key, stored
