"""What a caller may hand to a store on files, checked before anything is written.

A database takes more than a store should keep: it turns numbers into texts, and calls the rest by
names of its own.  A wrong argument is the caller's, never damage of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ckptsim.models.store import PartitionState, Refusal, Rows, StoreError, TopicPartition
from ckptsim.sim.store.real.errors import StoreFileError

# Assumption: far above the keys of any log, far below what one transaction's log holds.
ROW_NAME_BYTES_MAX = 65_536
POSITION_MAX = (1 << 63) - 1  # Source: Apache Kafka, offsets are of 64 bits with a sign
_MEMORY = re.compile(r"[0-9]+(\.[0-9]+)? ?[KMGT]i?B", re.IGNORECASE)
# `scheme:rest`, as DuckDB has it for memory, for its service and for other databases' files.
_SCHEME = re.compile(r"[A-Za-z0-9_]*:")

Changes = dict[str, bytes | None]


def checked_path(path: str | Path) -> Path:
    """Return the absolute path of a store's file.

    Raises StoreFileError for a file that is no store.
    """
    text = str(path)
    if not isinstance(path, str | Path) or not text or "\0" in text:
        raise StoreFileError(f"{path!r}: found no path, expected the path of a store file")
    if _SCHEME.match(text):
        raise StoreFileError(
            f"{text}: found a scheme of the database, expected the path of a store file "
            f"({Path(text).absolute()} for a file of this name)"
        )
    # An absolute path begins with no scheme, whatever the name of the file.
    return Path(text).absolute()


def checked_memory(memory_limit: str) -> str:
    """Return a limit of memory. Raises StoreError INVALID_ARGUMENT."""
    if not isinstance(memory_limit, str) or not _MEMORY.fullmatch(memory_limit):
        raise _wrong("memory_limit", memory_limit, "a size such as 512MB")
    return memory_limit


def checked_key(key: TopicPartition) -> TopicPartition:
    """Return a key. Raises StoreError INVALID_ARGUMENT for a value that is none."""
    if not isinstance(key, TopicPartition):
        raise _wrong("key", key, "a TopicPartition")
    return key


def checked_position(position: int, state: PartitionState | None, *, before: int) -> int:
    """Return a position that may follow another. Raises StoreError INVALID_ARGUMENT."""
    if state is not None and not isinstance(state, PartitionState):
        raise _wrong("state", state, "a PartitionState")
    if not isinstance(position, int) or isinstance(position, bool):
        raise _wrong("position", position, "an integer")
    if not 0 <= position <= POSITION_MAX:
        raise _wrong("position", position, f"0 to {POSITION_MAX}")
    if position < before:
        raise _wrong("position", position, f"at least {before}, where the rows are")
    return position


def checked_name(name: str) -> str:
    """Return the name of a row. Raises StoreError INVALID_ARGUMENT."""
    if not isinstance(name, str):
        raise _wrong("name", name, "a text")
    try:
        size = len(name.encode())
    except UnicodeEncodeError as error:
        raise _wrong("name", name, "a text that UTF-8 can write") from error
    if size > ROW_NAME_BYTES_MAX:
        found = f"{name[:20]}... of {size} bytes"
        raise _wrong("name", found, f"at most {ROW_NAME_BYTES_MAX} bytes")
    if "\0" in name:
        raise _wrong("name", name, "a text without a zero character")
    return name


def checked_changes(changes: Iterable[tuple[str, bytes | None]]) -> Changes:
    """Return changes by name, the last one of a name. Raises StoreError INVALID_ARGUMENT."""
    kept: Changes = {}
    try:
        for name, value in changes:
            kept[checked_name(name)] = None if value is None else checked_value(value)
    except (TypeError, ValueError) as error:
        expected = "pairs of a name and a value"
        raise _wrong("changes", type(changes).__name__, expected) from error
    return kept


def checked_rows(rows: Iterable[tuple[str, bytes]]) -> Rows:
    """Return rows by name. Raises StoreError INVALID_ARGUMENT."""
    return {checked_name(name): checked_value(value) for name, value in rows}


def checked_value(value: bytes) -> bytes:
    """Return a copy of a value. Raises StoreError INVALID_ARGUMENT."""
    if not isinstance(value, bytes | bytearray | memoryview):
        raise _wrong("value", value, "bytes, or None for a delete")
    return bytes(value)


def _wrong(what: str, found: object, expected: str) -> StoreError:
    state = f"{what}: found {found!r}, expected {expected}"
    return StoreError(Refusal.INVALID_ARGUMENT, state=state)
