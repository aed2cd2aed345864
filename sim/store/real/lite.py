"""Checkpoints in a SQLite file: the store beside the data in the external placement.

Write-ahead log, and `synchronous=FULL`, so that a commit is on disk when it returns.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ckptsim.models.store import Slot, SlotWrite, TopicPartition
from ckptsim.sim.store.real import errors
from ckptsim.sim.store.real.duck import SCHEMA_VERSION, frozen_files

WAL_SUFFIXES = ("-wal", "-shm")

_CREATE = """
CREATE TABLE store_about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE store_checkpoints (
    slot INTEGER, topic TEXT, part INTEGER, stored BLOB NOT NULL,
    PRIMARY KEY (slot, topic, part)) WITHOUT ROWID;
"""


class LiteFile:
    """A connection to one SQLite file. The only writer, used by one thread."""

    def __init__(self, path: Path, *, identity: str) -> None:
        self.path = path
        self._connection = self._connect()
        try:
            self.about = self._read_about(identity)
        except errors.StoreFileError:
            self._connection.close()
            raise

    def write_slots(self, writes: Sequence[SlotWrite]) -> None:
        """Delete and upsert checkpoints in one transaction."""
        self._run("BEGIN IMMEDIATE")
        for write in writes:
            place = (int(write.slot), write.key.topic, write.key.partition)
            if write.stored is None:
                query = "DELETE FROM store_checkpoints WHERE slot=? AND topic=? AND part=?"
                self._run(query, place)
            else:
                query = "INSERT OR REPLACE INTO store_checkpoints VALUES (?, ?, ?, ?)"
                self._run(query, (*place, write.stored))
        self._run("COMMIT")

    def slot(self, slot: Slot, key: TopicPartition) -> bytes | None:
        """Return what one checkpoint slot holds, or None."""
        query = "SELECT stored FROM store_checkpoints WHERE slot=? AND topic=? AND part=?"
        found = self._run(query, (int(slot), key.topic, key.partition)).fetchone()
        return None if found is None else bytes(found[0])

    def slots(self) -> list[tuple[Slot, TopicPartition, bytes]]:
        """List all checkpoints by slot, topic and partition."""
        query = "SELECT slot, topic, part, stored FROM store_checkpoints ORDER BY 1, 2, 3"
        found = self._run(query).fetchall()
        return [(Slot(s), TopicPartition(t, p), bytes(stored)) for s, t, p, stored in found]

    def clear(self) -> None:
        """Remove all checkpoints."""
        self._run("DELETE FROM store_checkpoints")

    def crash(self) -> None:
        """Put back the files as they are at this instant, and open them as after a crash."""
        with frozen_files(self.path, WAL_SUFFIXES):
            self._connection.close()
        self._connection = self._connect()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _connect(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = None
        try:
            connection = sqlite3.connect(self.path, isolation_level=None, timeout=0)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
        except sqlite3.Error as error:
            if connection is not None:
                connection.close()
            raise _explained(self.path, error) from error
        return connection

    def _read_about(self, identity: str) -> dict[str, str]:
        tables = self._run("SELECT name FROM sqlite_master WHERE type='table' ORDER BY 1")
        names = [name for (name,) in tables.fetchall()]
        if not names:
            self._create(identity)
        elif "store_about" not in names:
            raise errors.StoreFormatError(f"{self.path}: found no store in this database")
        about = dict(self._run("SELECT name, value FROM store_about").fetchall())
        if about.get("schema") != SCHEMA_VERSION:
            raise errors.StoreFormatError(
                f"{self.path}: found schema {about.get('schema')!r}, expected {SCHEMA_VERSION!r}"
            )
        return about

    def _create(self, identity: str) -> None:
        self._run("BEGIN IMMEDIATE")
        for statement in _CREATE.split(";"):
            if statement.strip():
                self._run(statement)
        for name, value in (("schema", SCHEMA_VERSION), ("identity", identity)):
            self._run("INSERT INTO store_about VALUES (?, ?)", (name, value))
        self._run("COMMIT")

    def _run(self, query: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        try:
            return self._connection.execute(query, values)
        except sqlite3.Error as error:
            raise _explained(self.path, error) from error


def _explained(path: Path, error: sqlite3.Error) -> errors.StoreFileError:
    if "locked" in str(error):
        return errors.StoreLockedError(f"{path}: another process has this store open ({error})")
    return errors.StoreDamagedError(f"{path}: {type(error).__name__}: {error}")
