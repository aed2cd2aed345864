"""The envelope of a stored blob: what makes damage and mix-ups visible.

A frame is `magic | schema | checksum kind | key length | key | length | payload | checksum`, all
integers big-endian.  The checksum covers everything before it, the key included, so that a flipped
bit, a truncated value and a blob that was copied to another key are all noticed.  A frame detects
damage. It does not authenticate: anyone who can write the medium can also make a valid frame.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from enum import IntEnum

from ckptsim.models.store.errors import Refusal, StoreError
from ckptsim.models.store.topics import TopicPartition

MAGIC = b"CKPT"
SCHEMA = 1
_HEAD = struct.Struct(">4sBBH")
_LENGTH = struct.Struct(">I")


class Checksum(IntEnum):
    """How a frame is sealed: SHA-256, or CRC-32 where bytes are dear."""

    SHA256 = 1
    CRC32 = 2


_KINDS = tuple(map(int, Checksum))


def seal(key: TopicPartition, payload: bytes, *, checksum: Checksum = Checksum.SHA256) -> bytes:
    """Wrap a payload for the slot of one partition."""
    name = str(key).encode()
    body = b"".join(
        (_HEAD.pack(MAGIC, SCHEMA, checksum, len(name)), name, _LENGTH.pack(len(payload)), payload)
    )
    return body + _digest(checksum, body)


def unseal(key: TopicPartition, frame: bytes) -> bytes:
    """Return the payload of a frame that was sealed for this partition.

    Raises StoreError CORRUPT_CHECKPOINT, with the first thing that is wrong as its state.
    """
    if len(frame) < _HEAD.size:
        raise _corrupt(key, "shorter than a header")
    magic, schema, kind, name_length = _HEAD.unpack_from(frame)
    if magic != MAGIC:
        raise _corrupt(key, "wrong magic")
    if kind not in _KINDS:
        raise _corrupt(key, "unknown kind of checksum")
    checksum = Checksum(kind)
    size = len(_digest(checksum, b""))
    body, found = frame[:-size], frame[-size:]
    if _digest(checksum, body) != found:
        raise _corrupt(key, "wrong checksum")
    if schema != SCHEMA:
        raise _corrupt(key, f"schema {schema} is not {SCHEMA}")
    start = _HEAD.size + name_length
    if body[_HEAD.size : start] != str(key).encode():
        raise _corrupt(key, "sealed for another partition")
    payload = body[start + _LENGTH.size :]
    if len(payload) != int.from_bytes(body[start : start + _LENGTH.size], "big"):
        raise _corrupt(key, "wrong length")
    return payload


def _digest(checksum: Checksum, body: bytes) -> bytes:
    if checksum is Checksum.SHA256:
        return hashlib.sha256(body).digest()
    return zlib.crc32(body).to_bytes(4, "big")


def _corrupt(key: TopicPartition, reason: str) -> StoreError:
    return StoreError(Refusal.CORRUPT_CHECKPOINT, state=reason, event=key)
