"""Partition state: everything that one partition needs in order to continue after a restart.

Position, end-of-push flag and producer state travel in one blob, so that they come from the same
instant.  The position is the last one processed. -1 is "nothing yet".  The blob is opaque to the
store that keeps it.

A blob is `CKPS | schema version (1 byte) | fields as JSON`.  A release reads the schemas up to its
own.  What a newer one wrote, before a rollback, is neither damaged nor absent: rows are there, and
no one here can say up to where.  It is refused, and never taken for "no checkpoint".  Bytes without
the four letters are someone else's and say nothing about the rows.

Source: linkedin/venice, PartitionState v24 and `OffsetRecord`, the fields that a client needs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from typing import Any

from ckptsim.models.store.errors import Refusal, StoreError
from ckptsim.models.store.state.version_state import FieldValue, VersionCopy

NOTHING = -1
SCHEMA_VERSION = 1
_MAGIC = b"CKPS"
Fields = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerState:
    """How far one producer got: its segment and the sequence number within it."""

    guid: str
    segment: int
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionState:
    """The checkpoint of one partition.

    version: the six copied fields, None until a start-of-push was seen.
    end_of_push_timestamp: the one of the end-of-push message, None if it had none.
    producers: sorted by guid. The one part that grows without bound.
    """

    position: int = NOTHING
    end_of_push: bool = False
    version: VersionCopy | None = None
    end_of_push_timestamp: FieldValue = None
    transformer_hash: int | None = None
    producers: tuple[ProducerState, ...] = ()

    def version_copy(self) -> VersionCopy | None:
        """Return the copied fields, with the timestamp of the end of push where it has one."""
        if self.version is None or self.end_of_push_timestamp is None:
            return self.version
        return replace(self.version, end_of_push_timestamp=self.end_of_push_timestamp)


def encode_state(state: PartitionState) -> bytes:
    """Serialise a partition state. Equal states give equal bytes."""
    document: Fields = _plain(state)
    document["version"] = version = None if state.version is None else _plain(state.version)
    if version is not None and version["compression_dictionary"] is None:
        del version["compression_dictionary"]
    document["producers"] = [_plain(producer) for producer in state.producers]
    return write_fields(SCHEMA_VERSION, document)


def decode_state(blob: bytes, *, of: object = None) -> PartitionState | None:
    """Read a partition state back, or return None when the blob is no partition state at all.

    of: the owner of the checkpoint, for the error.  Raises StoreError UNREADABLE_CHECKPOINT for the
    state of another schema, or with fields that this release does not know.
    """
    if not blob.startswith(_MAGIC):
        return None
    opened = read_fields(blob)
    if opened is None:
        raise StoreError(Refusal.UNREADABLE_CHECKPOINT, state="no fields in it", event=of)
    schema, raw = opened
    if schema != SCHEMA_VERSION:
        found = f"found schema {schema}, expected {SCHEMA_VERSION}"
        raise StoreError(Refusal.UNREADABLE_CHECKPOINT, state=found, event=of)
    try:
        version = raw.pop("version")
        producers = tuple(ProducerState(**each) for each in raw.pop("producers"))
        copy = None if version is None else VersionCopy(**version)
        state = PartitionState(**raw, version=copy, producers=producers)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        found = f"schema {schema} with other fields: {error}"
        raise StoreError(Refusal.UNREADABLE_CHECKPOINT, state=found, event=of) from error
    if not isinstance(state.position, int):
        found = f"position {state.position!r}"
        raise StoreError(Refusal.UNREADABLE_CHECKPOINT, state=found, event=of)
    return state


def position_of(opened: tuple[int, Fields] | None) -> int:
    """Return the position in the fields of any schema. -1 where there is none."""
    position = NOTHING if opened is None else opened[1].get("position")
    return position if isinstance(position, int) else NOTHING


def read_fields(blob: bytes) -> tuple[int, Fields] | None:
    """Return schema version and fields of a state of any release, or None for other bytes.

    `position` is a field of every schema: anyone who moves a position needs no other one.
    """
    head = len(_MAGIC)
    if not blob.startswith(_MAGIC) or len(blob) == head:
        return None
    try:
        raw = json.loads(blob[head + 1 :])
    except (ValueError, RecursionError):
        return None
    return (blob[head], raw) if isinstance(raw, dict) else None


def write_fields(schema: int, document: Fields) -> bytes:
    """Serialise the fields of a schema. Equal fields give equal bytes."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return _MAGIC + bytes([schema]) + text.encode()


def _plain(table: PartitionState | VersionCopy | ProducerState) -> dict[str, object]:
    """Return the fields by name. `asdict` would copy every value deeply, at each sync."""
    return {name: getattr(table, name) for name in _FIELDS[type(table)]}


_FIELDS = {
    kind: tuple(field.name for field in fields(kind))
    for kind in (PartitionState, VersionCopy, ProducerState)
}
