"""Partition state: everything that one partition needs in order to go on after a restart.

Position, end-of-push flag and producer state travel in one blob, so that they come from the same
instant.  The position is the last one processed; -1 is "nothing yet".  The blob is opaque to the
store that keeps it.

Source: linkedin/venice, PartitionState v24 and `OffsetRecord`, the fields that a client needs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from typing import Any

from ckptsim.models.store.version_state import FieldValue, VersionCopy

NOTHING = -1
_MAGIC = b"CKPS\x01"


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
    end_of_push_timestamp: that of the end-of-push message, None if it had none.
    producers: sorted by guid; the one part that grows without bound.
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
    """Serialise a partition state; equal states give equal bytes."""
    document: dict[str, object] = _plain(state)
    document["version"] = None if state.version is None else _plain(state.version)
    document["producers"] = [_plain(producer) for producer in state.producers]
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return _MAGIC + text.encode()


def decode_state(blob: bytes) -> PartitionState | None:
    """Read a partition state back, or return None when the blob is something else."""
    if not blob.startswith(_MAGIC):
        return None
    try:
        raw: dict[str, Any] = json.loads(blob[len(_MAGIC) :])
        version = raw.pop("version")
        producers = tuple(ProducerState(**each) for each in raw.pop("producers"))
        copy = None if version is None else VersionCopy(**version)
        return PartitionState(**raw, version=copy, producers=producers)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _plain(table: PartitionState | VersionCopy | ProducerState) -> dict[str, object]:
    """Return the fields by name; `asdict` would copy every value deeply, at each sync."""
    return {name: getattr(table, name) for name in _FIELDS[type(table)]}


_FIELDS = {
    kind: tuple(field.name for field in fields(kind))
    for kind in (PartitionState, VersionCopy, ProducerState)
}
