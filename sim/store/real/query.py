"""Questions in SQL to a store file: its blobs as typed tables, read-only.

| table | columns |
|---|---|
| `checkpoints` | `slot`, `topic`, `part`, `position`, `end_of_push`, `end_of_push_timestamp`, `producers`, `compression`, `blob_bytes`, `damage` |
| `data` | `area`, `topic`, `part`, `name`, `value` |
| `runs` | `run` with the row of a run as JSON, of files that `run --store` wrote |
| `typed_checkpoints` | a column per field, of files that keep checkpoints so (`run --store` does) |
| `store_about`, `store_rows`, `store_checkpoints` | as they lie in the file |
"""  # noqa: E501 - the rows of a table

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from ckptsim.models import store
from ckptsim.sim.store.real.duck import explained
from ckptsim.sim.store.real.errors import StoreFileError
from ckptsim.sim.store.real.runs import contents_of, whole_file
from ckptsim.sim.store.real.typed import TypedFile

_VIEWS = f"""
CREATE TEMP TABLE checkpoints (
    slot VARCHAR, topic VARCHAR, part INTEGER, position BIGINT, end_of_push BOOLEAN,
    end_of_push_timestamp VARCHAR, producers INTEGER, compression VARCHAR, blob_bytes BIGINT,
    damage VARCHAR);
CREATE TEMP VIEW data AS
    SELECT CASE area WHEN {int(store.Area.DATA)} THEN 'data' ELSE 'mirror' END AS area,
        topic, part, name, value FROM store_rows;
CREATE TEMP VIEW runs AS
    SELECT decode(value)::JSON AS run FROM store_rows WHERE name = 'run' AND topic LIKE '%-run_v1';
"""  # noqa: S608 - constants of this module
_INSERT = "INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


def query(path: str | Path, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the names of the columns and the rows that answer a question.

    Nothing can be written, and no other file can be read.
    Raises StoreFileError when the file is no store, or the database refuses the question.
    """
    place = whole_file(path)
    file = TypedFile(place, read_only=True)
    try:
        connection = file.connection
        connection.execute(_VIEWS)
        rows = [_typed(slot, key, stored) for slot, key, stored in file.slots()]
        if rows:
            connection.executemany(_INSERT, rows)
        return _answer(connection, sql)
    except duckdb.Error as error:
        raise explained(place, error) from error
    finally:
        file.close()


def _answer(
    connection: duckdb.DuckDBPyConnection, sql: str
) -> tuple[list[str], list[tuple[Any, ...]]]:
    try:
        found = connection.execute(sql)
        columns, rows = connection.description, connection.fetchall() if found else []
    except duckdb.Error as error:
        raise StoreFileError(f"--sql: {str(error).strip().splitlines()[0]}") from error
    if not columns:
        raise StoreFileError(f"--sql: found {sql!r}, expected a question such as SELECT ...")
    return [column[0] for column in columns], rows


def _typed(slot: store.Slot, key: store.TopicPartition, stored: bytes) -> tuple[Any, ...]:
    """Return a blob as a row of `checkpoints`."""
    found = contents_of(key, 0, stored)
    state = found.checkpoint
    version = None if state is None else state.version
    compression = None if version is None else version.compression_strategy
    stamp = None if state is None else state.end_of_push_timestamp
    return (
        slot.name.lower(),
        key.topic,
        key.partition,
        None if state is None else state.position,
        None if state is None else state.end_of_push,
        None if stamp is None else str(stamp),
        None if state is None else len(state.producers),
        None if compression is None else str(compression),
        found.blob_bytes,
        found.damage,
    )
