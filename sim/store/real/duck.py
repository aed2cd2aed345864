"""One DuckDB file with the rows of all partitions and, where wanted, their checkpoints.

Rules that measurements and bug reports of the database suggest, and that this module keeps:

* one writer process. A second one is notified so at once.
* statements are set-based and de-duplicated before they reach the database, because with the same
  key twice in one upsert the *first* row wins, without an error.
* primary keys only, no secondary index, no change of schema after the file was created.
* the memory limit is part of the connection, since the replay of a log happens before any `SET`.
* the format of the file is recorded and checked. A fatal error is a crash, not something to retry.
* a path is a path: no scheme, no file of another database, no extension that is looked for, loaded
  or downloaded.

Source: DuckDB 1.5.6, measured. Duckdb/duckdb issues 8147, 22124, 19712, 23645 (replay failures with
indexes or schema changes).
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from ckptsim.models.store import Area, Rows, RowsWrite, Slot, SlotWrite, TopicPartition
from ckptsim.sim.store.real.errors import (
    StoreDamagedError,
    StoreFileError,
    StoreFormatError,
    StoreLockedError,
)

_CREATE = """
CREATE TABLE store_about (name VARCHAR PRIMARY KEY, value VARCHAR NOT NULL);
CREATE TABLE store_rows (
    area TINYINT, topic VARCHAR, part INTEGER, name VARCHAR, value BLOB NOT NULL,
    PRIMARY KEY (area, topic, part, name));
CREATE TABLE store_checkpoints (
    slot TINYINT, topic VARCHAR, part INTEGER, stored BLOB NOT NULL,
    PRIMARY KEY (slot, topic, part));
"""
_PARTITION = "topic = ? AND part = ?"
_UPSERT_ROWS = """
INSERT OR REPLACE INTO store_rows
SELECT ?, ?, ?, name, value
FROM (SELECT unnest(?::VARCHAR[]) AS name, unnest(?::BLOB[]) AS value)"""
_DELETE_ROWS = f"""
DELETE FROM store_rows WHERE area = ? AND {_PARTITION}
AND name IN (SELECT unnest(?::VARCHAR[]))"""  # noqa: S608  (a constant of this module)
_WIPE_ROWS = f"""
DELETE FROM store_rows WHERE area = ? AND {_PARTITION}
AND name NOT IN (SELECT unnest(?::VARCHAR[]))"""  # noqa: S608  (a constant of this module)
_UPSERT_CHECKPOINTS = """
INSERT OR REPLACE INTO store_checkpoints
SELECT unnest(?::TINYINT[]), unnest(?::VARCHAR[]), unnest(?::INTEGER[]), unnest(?::BLOB[])"""

WAL_SUFFIX = ".wal"

_NO_EXTENSIONS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "enable_external_access": "false",  # no other file, nothing from the network
}


class DuckFile:
    """A connection to one file. The only writer, used by one thread."""

    def __init__(
        self,
        path: Path,
        *,
        memory_limit: str = "512MB",
        threads: int = 1,
        checkpoint_threshold: str = "16MB",
        read_only: bool = False,
    ) -> None:
        self.path = path
        self._config: dict[str, Any] = {
            **_NO_EXTENSIONS,
            "memory_limit": memory_limit,
            "threads": threads,
            "checkpoint_threshold": checkpoint_threshold,
        }
        self._read_only = read_only
        self._connection = self._connect()
        self.about = self._checked_about()

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The connection itself, for questions of a user."""
        return self._connection

    def begin(self) -> None:
        """Begin a transaction."""
        self._run("BEGIN TRANSACTION")

    def commit(self) -> None:
        """Make the transaction durable: the database syncs its log before it returns."""
        self._run("COMMIT")

    def rollback(self) -> None:
        """Drop the transaction, unless the failure already did or took the instance with it."""
        with contextlib.suppress(duckdb.Error):
            self._connection.execute("ROLLBACK")

    def write_rows(self, write: RowsWrite) -> None:
        """Delete and upsert rows of one partition, each as one statement.

        A wipe leaves rows that are written again in place: a key that is deleted and inserted in
        one transaction would meet its own old entry in the primary key.
        """
        place = [int(write.area), write.key.topic, write.key.partition]
        if write.wipe:
            names = [name for name, value in write.changes.items() if value is not None]
            self._run(_WIPE_ROWS, [*place, names])
        gone = [name for name, value in write.changes.items() if value is None]
        if gone and not write.wipe:
            self._run(_DELETE_ROWS, [*place, gone])
        kept = {name: value for name, value in write.changes.items() if value is not None}
        if kept:
            self._run(_UPSERT_ROWS, [*place, list(kept), list(kept.values())])

    def write_slots(self, writes: Sequence[SlotWrite]) -> None:
        """Delete and upsert checkpoints. Of several for one slot the last one wins."""
        last = {(write.slot, write.key): write.stored for write in writes}
        for (slot, key), stored in last.items():
            if stored is None:
                place = [int(slot), key.topic, key.partition]
                self._run(f"DELETE FROM store_checkpoints WHERE slot = ? AND {_PARTITION}", place)  # noqa: S608
        kept = [(slot, key, stored) for (slot, key), stored in last.items() if stored is not None]
        if kept:
            columns = [
                [int(slot) for slot, _, _ in kept],
                [key.topic for _, key, _ in kept],
                [key.partition for _, key, _ in kept],
                [stored for _, _, stored in kept],
            ]
            self._run(_UPSERT_CHECKPOINTS, columns)

    def rows(self, area: Area, key: TopicPartition) -> Rows:
        """Return the rows of one partition, by name."""
        query = f"SELECT name, value FROM store_rows WHERE area = ? AND {_PARTITION} ORDER BY name"  # noqa: S608
        found = self._run(query, [int(area), key.topic, key.partition]).fetchall()
        return {name: bytes(value) for name, value in found}

    def row(self, area: Area, key: TopicPartition, name: str) -> bytes | None:
        """Return one row, or None."""
        query = f"SELECT value FROM store_rows WHERE area = ? AND {_PARTITION} AND name = ?"  # noqa: S608
        found = self._run(query, [int(area), key.topic, key.partition, name]).fetchone()
        return None if found is None else bytes(found[0])

    def slot(self, slot: Slot, key: TopicPartition) -> bytes | None:
        """Return what one checkpoint slot holds, or None."""
        query = f"SELECT stored FROM store_checkpoints WHERE slot = ? AND {_PARTITION}"  # noqa: S608
        found = self._run(query, [int(slot), key.topic, key.partition]).fetchone()
        return None if found is None else bytes(found[0])

    def slots(self) -> list[tuple[Slot, TopicPartition, bytes]]:
        """List all checkpoints by slot, topic and partition."""
        query = "SELECT slot, topic, part, stored FROM store_checkpoints ORDER BY ALL"
        found = self._run(query).fetchall()
        return [(Slot(s), TopicPartition(t, p), bytes(stored)) for s, t, p, stored in found]

    def row_counts(self) -> dict[tuple[Area, TopicPartition], int]:
        """Count the rows of every partition that has some."""
        query = "SELECT area, topic, part, count(*) FROM store_rows GROUP BY ALL ORDER BY ALL"
        found = self._run(query).fetchall()
        return {(Area(area), TopicPartition(t, p)): count for area, t, p, count in found}

    def clear(self, areas: Sequence[Area], *, slots: bool) -> None:
        """Remove all rows of some areas, and all checkpoints if asked to, in one transaction."""
        self.begin()
        for area in areas:
            self._run("DELETE FROM store_rows WHERE area = ?", [int(area)])
        if slots:
            self._run("DELETE FROM store_checkpoints")
        self.commit()

    def crash(self) -> None:
        """Put back the files as they are at this instant, and open them as after a crash."""
        with frozen_files(self.path, (WAL_SUFFIX,)):
            self._connection.close()
        self._connection = self._connect()

    def close(self) -> None:
        """Close the file. The database merges its log into it."""
        self._connection.close()

    def _connect(self) -> duckdb.DuckDBPyConnection:
        try:
            path = str(self.path.absolute())  # begins with no scheme of the database
            return duckdb.connect(path, read_only=self._read_only, config=self._config)
        except duckdb.Error as error:
            raise explained(self.path, error) from error

    def _checked_about(self) -> dict[str, str]:
        try:
            about = self._read_about()
        except StoreFileError:
            self._connection.close()
            raise
        if about.get("schema") != SCHEMA_VERSION:
            self._connection.close()
            raise StoreFormatError(
                f"{self.path}: found schema {about.get('schema')!r} (written with duckdb "
                f"{about.get('duckdb')!r}), expected schema {SCHEMA_VERSION!r}"
            )
        return about

    def _read_about(self) -> dict[str, str]:
        tables = self._run("SELECT table_name FROM duckdb_tables() ORDER BY ALL").fetchall()
        if not tables and not self._read_only:
            self._create()
        elif ("store_about",) not in tables:
            raise StoreFormatError(f"{self.path}: found no store in this database")
        return dict(self._run("SELECT name, value FROM store_about ORDER BY name").fetchall())

    def _create(self) -> None:
        self.begin()
        for statement in _CREATE.split(";"):
            if statement.strip():
                self._run(statement)
        query = "SELECT tags['storage_version'] FROM duckdb_databases() WHERE NOT internal"
        (storage,) = self._run(query).fetchall()[0]
        facts = {
            "schema": SCHEMA_VERSION,
            "duckdb": duckdb.__version__,
            "storage": str(storage),
            "identity": new_identity(),
        }
        for name, value in facts.items():
            self._run("INSERT INTO store_about VALUES (?, ?)", [name, value])
        self.commit()

    def _run(self, query: str, values: Sequence[Any] | None = None) -> duckdb.DuckDBPyConnection:
        try:
            return self._connection.execute(query, values)
        except duckdb.Error as error:
            raise explained(self.path, error) from error


# What the database raises, with one of these words in its text -> what it means for the store.
_MEANINGS: tuple[tuple[type[duckdb.Error], tuple[str, ...], type[StoreFileError], str], ...] = (
    (
        duckdb.Error,
        ("could not set lock", "conflicting lock"),
        StoreLockedError,
        "another process has this store open ({text})",
    ),
    (
        duckdb.Error,
        ("version number",),
        StoreFormatError,
        "written in another storage format ({text})",
    ),
    (duckdb.OutOfMemoryException, ("",), StoreFileError, "the memory limit is too small ({text})"),
    (
        duckdb.PermissionException,
        ("",),
        StoreFileError,
        "found a file of another database, expected a store",
    ),
    (duckdb.ConnectionException, ("already closed",), StoreFileError, "this store was closed"),
    (
        duckdb.IOException,
        ("is a directory",),
        StoreFileError,
        "found a directory, expected a store",
    ),
    (duckdb.IOException, ("cannot open file",), StoreFileError, "cannot be opened ({text})"),
)


def explained(path: Path, error: duckdb.Error) -> StoreFileError:
    """Turn an error of the database into one that says what it means for the store."""
    text = str(error).strip().partition("\n")[0]
    lower = text.lower()
    if "not a valid duckdb database file" in lower:
        empty = path.is_file() and not path.stat().st_size
        found = "an empty file" if empty else "a file that is no DuckDB database"
        return StoreFileError(f"{path}: found {found}, expected a store")
    for kind, words, meaning, says in _MEANINGS:
        if isinstance(error, kind) and any(word in lower for word in words):
            return meaning(f"{path}: {says.format(text=text)}")
    return StoreDamagedError(f"{path}: {type(error).__name__}: {text}")


class frozen_files:  # noqa: N801  (used like a function)
    """Keep a file and its companions as they were on entry, whatever happens inside.

    It makes a crash of an embedded database deterministic: on entry the files are what a killed
    process leaves. A clean close inside may do what it likes.
    """

    def __init__(self, path: Path, suffixes: tuple[str, ...]) -> None:
        self._paths = [path, *(path.with_name(path.name + suffix) for suffix in suffixes)]

    def __enter__(self) -> None:
        for path in self._paths:
            if path.exists():
                shutil.copyfile(path, _kept(path))

    def __exit__(self, *_failure: object) -> None:
        for path in self._paths:
            path.unlink(missing_ok=True)
            if _kept(path).exists():
                _kept(path).replace(path)


def _kept(path: Path) -> Path:
    return path.with_name(path.name + ".kept")


SCHEMA_VERSION = "1"


def new_identity() -> str:
    """Return a text that no other store has."""
    return secrets.token_hex(16)
