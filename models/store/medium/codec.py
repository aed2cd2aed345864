"""How a blob lies in a slot: sealed as it is, or as the offset and metadata of a consumer group.

A consumer group keeps, per partition, an offset and a *string*.  Its offset is the next position to
read, ours is the last one processed: plus one on the way out, minus one on the way in, and both
only here.  The string is capped (4,096 characters by default), which leaves 3,072 bytes in base 64.
Base 85 is used instead, so that the frame fits beside a blob of the full size.

Source: Apache Kafka, `offset.metadata.max.bytes`. Linkedin/venice, pull request 1476.
"""

from __future__ import annotations

import base64
from typing import Protocol

from ckptsim.models.store.errors import Refusal, StoreError
from ckptsim.models.store.medium.frame import seal, unseal
from ckptsim.models.store.state import position_of, read_fields, write_fields
from ckptsim.models.store.topics import TopicPartition

GROUP_BLOB_BYTES_MAX = 3072  # 4,096 characters of base 64
GROUP_METADATA_CHARACTERS_MAX = 4096  # Source: Apache Kafka, offset.metadata.max.bytes
_OFFSET_BYTES = 8


class Codec(Protocol):
    """Turns a blob into what a slot holds, and back."""

    def encode(self, key: TopicPartition, blob: bytes) -> bytes:
        """Return what the slot stores. Raises StoreError BLOB_TOO_LARGE."""

    def decode(self, key: TopicPartition, stored: bytes) -> bytes:
        """Return the blob. Raises StoreError CORRUPT_CHECKPOINT."""


class PlainCodec:
    """Stores the sealed blob. There is no limit of size."""

    def encode(self, key: TopicPartition, blob: bytes) -> bytes:
        """Seal the blob for its key."""
        return seal(key, blob)

    def decode(self, key: TopicPartition, stored: bytes) -> bytes:
        """Return the blob. Raises StoreError CORRUPT_CHECKPOINT."""
        return unseal(key, stored)


class GroupCodec:
    """Stores `offset (8 bytes) | metadata (text)`, as a consumer group does.

    The group's offset is the one that counts: anyone who commits to the group moves the position of
    a checkpoint, whatever the blob says.
    """

    blob_bytes_max = GROUP_BLOB_BYTES_MAX
    metadata_characters_max = GROUP_METADATA_CHARACTERS_MAX

    def encode(self, key: TopicPartition, blob: bytes) -> bytes:
        """Seal the blob into the metadata, and its position into the offset."""
        if len(blob) > self.blob_bytes_max:
            raise StoreError(Refusal.BLOB_TOO_LARGE, state=f"{len(blob)} bytes", event=key)
        metadata = base64.b85encode(seal(key, blob))
        if len(metadata) > self.metadata_characters_max:
            state = f"{len(metadata)} characters of metadata"
            raise StoreError(Refusal.BLOB_TOO_LARGE, state=state, event=key)
        position = position_of(read_fields(blob))
        return self.offset_of(position).to_bytes(_OFFSET_BYTES, "big", signed=True) + metadata

    def decode(self, key: TopicPartition, stored: bytes) -> bytes:
        """Return the blob, its position taken from the offset. Raises CORRUPT_CHECKPOINT."""
        blob = unseal(key, _frame_of(key, stored[_OFFSET_BYTES:]))
        opened = read_fields(blob)
        if opened is None:
            return blob
        schema, fields = opened
        position = self.position_of(int.from_bytes(stored[:_OFFSET_BYTES], "big", signed=True))
        return write_fields(schema, fields | {"position": position})

    def offset_of(self, position: int) -> int:
        """Return the group's offset (next to read) for a position (last processed)."""
        return position + 1

    def position_of(self, offset: int) -> int:
        """Return the position (last processed) for a group's offset (next to read)."""
        return offset - 1


def _frame_of(key: TopicPartition, metadata: bytes) -> bytes:
    """Decode metadata. Only the one text that encodes a frame is taken for it."""
    try:
        frame = base64.b85decode(metadata)
    except ValueError as error:
        reason = "metadata is not base 85"
        raise StoreError(Refusal.CORRUPT_CHECKPOINT, state=reason, event=key) from error
    if base64.b85encode(frame) != metadata:
        reason = "metadata has loose bits"
        raise StoreError(Refusal.CORRUPT_CHECKPOINT, state=reason, event=key)
    return frame
