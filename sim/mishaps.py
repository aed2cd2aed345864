"""What happens to a store from outside, and what a partition lost by it against its log."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, replace
from enum import StrEnum

from ckptsim.models.store.client import StoreClient
from ckptsim.models.store.errors import StoreError
from ckptsim.models.store.log import DataRecord, PartitionLog
from ckptsim.models.store.medium import Area, Rows
from ckptsim.models.store.settings import Placement
from ckptsim.models.store.state import NOTHING, PartitionState, decode_state, encode_state
from ckptsim.models.store.topics import TopicPartition
from ckptsim.scenarios.store import Damage


class Loss(StrEnum):
    """What of the durable state is gone. Co-located, data and checkpoints go together."""

    DATA = "data"
    CHECKPOINT = "checkpoint"
    LOCAL = "local"


_LOST_AREAS = {Loss.DATA: (Area.DATA,), Loss.CHECKPOINT: (), Loss.LOCAL: (Area.DATA, Area.MIRROR)}


def lose(client: StoreClient, what: Loss) -> None:
    """Lose durable state of all partitions."""
    if client.placement is Placement.COLOCATED:
        client.medium.lose(areas=tuple(Area), slots=True)
    else:
        client.medium.lose(areas=_LOST_AREAS[what], slots=what is Loss.CHECKPOINT)


def flip_bit(client: StoreClient, key: TopicPartition, bit: int) -> None:
    """Flip one bit of the stored blob, `bit` counted from its end and wrapped around."""
    client.topics.check(key)
    stored = client.store.stored(key)
    if stored:
        index, shift = divmod(bit % (8 * len(stored)), 8)
        damaged = bytearray(stored)
        damaged[-1 - index] ^= 1 << shift
        client.store.overwrite(key, bytes(damaged))


def damage(client: StoreClient, key: TopicPartition, how: Damage) -> None:
    """Damage the stored blob of a partition in some way.

    Everything that is damaged already stays as it is.

    Of a consumer group's checkpoint it is the metadata. The group's offset stays what it is.
    """
    client.topics.check(key)
    if how is Damage.BIT:
        flip_bit(client, key, 0)
        return
    stored = client.store.stored(key)
    try:
        blob = client.store.get(key)
    except StoreError:
        return
    if stored is None or blob is None or (how in _FIELDS and not _is_state(blob)):
        return
    group = client.placement is Placement.CONSUMER_GROUP_BLOB
    frame = _damaged(client.store.slot_key(key), blob, how)
    client.store.overwrite(key, stored[:8] + base64.b85encode(frame) if group else frame)


def _damaged(key: TopicPartition, blob: bytes, how: Damage) -> bytes:
    """Return the frame of a blob that is wrong in one place. Its checksum is right, if it can be.

    Written from the description of a frame, not by the code that seals one.
    """
    name, length, head = str(key), len(blob), b"CKPT\x01\x01"
    match how:
        case Damage.FOREIGN:
            head = b"KEPT\x01\x01"
        case Damage.CHECKSUM_KIND:
            head = b"CKPT\x01\x00"
        case Damage.SCHEMA:
            head = b"CKPT\x02\x01"
        case Damage.OTHER_PARTITION:
            name = str(replace(key, partition=key.partition + 1))
        case Damage.LENGTH:
            length += 1
        case Damage.NO_FIELDS | Damage.NO_TABLE | Damage.OTHER_FIELDS | Damage.NO_POSITION:
            fields = json.loads(blob[5:]) | {"position": "0"}
            blob = blob[:5] + (_FIELDS[how] or json.dumps(fields).encode())
            length = len(blob)
        case _:
            pass
    named = len(name.encode()).to_bytes(2, "big") + name.encode()
    body = head + named + length.to_bytes(4, "big") + blob
    frame = body + hashlib.sha256(body).digest()
    return frame[: len(frame) // 2] if how is Damage.TRUNCATED else frame


_FIELDS = {
    Damage.NO_FIELDS: b"{",
    Damage.NO_TABLE: b"[]",
    Damage.OTHER_FIELDS: b'{"position":0,"unheard_of":1}',
    Damage.NO_POSITION: b"",  # its own fields, except for a text where the position is
}


def _is_state(blob: bytes) -> bool:
    try:
        return decode_state(blob) is not None
    except StoreError:
        return False


def tear(client: StoreClient, key: TopicPartition, blob: bytes, kept_bytes: int) -> None:
    """Leave of the write of a blob a prefix, less than all of it, in place of the stored data."""
    stored = client.store.seal(key, blob).stored or b""
    client.store.overwrite(key, stored[: min(kept_bytes, len(stored) - 1)])


def commit_by_another_party(client: StoreClient, key: TopicPartition, position: int) -> None:
    """Overwrite the stored position, validly sealed. Flags and version state stay."""
    client.topics.check(key)
    known = client.checkpoint(key)
    state = PartitionState() if known is None else known
    client.store.overwrite_blob(key, encode_state(replace(state, position=position)))


def transfer_version(client: StoreClient, key: TopicPartition) -> bool:
    """Give a stored checkpoint the start of push of another region, and return whether it has one.

    Its time differs, as each region writes its own.
    """
    known = client.checkpoint(key)
    if known is None or known.version is None:
        return False
    other = replace(known.version, start_of_push_timestamp=-1)
    client.store.overwrite_blob(key, encode_state(replace(known, version=other)))
    return True


def fail_next_write(client: StoreClient, key: TopicPartition) -> None:
    """Let the next data record of a partition fail to be written, once."""
    client.topics.check(key)
    client.failing_writes[key] = None


def fail_next_commit(client: StoreClient, key: TopicPartition) -> None:
    """Let the next checkpoint write of a partition fail, once, where the medium is remote."""
    client.topics.check(key)
    client.store.fail_next_commit(key)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentLoss:
    """Keys that only the log implies, keys with another value, keys that only the content has."""

    missing: int
    stale: int
    ghost: int

    def text(self) -> str:
        """Say it in words."""
        return f"{self.missing} missing, {self.stale} stale, {self.ghost} ghosts"


def fold(log: PartitionLog, position: int) -> Rows:
    """Return the content that a log, as written, implies up to a position."""
    rows: Rows = {}
    records = (entry.record for entry in log.written[: position + 1])
    for record in records:
        if not isinstance(record, DataRecord):
            continue
        if record.value is None:
            rows.pop(record.key, None)
        else:
            rows[record.key] = record.value
    return rows


def loss_of(client: StoreClient, log: PartitionLog, key: TopicPartition) -> ContentLoss:
    """Compare the content of a partition with what its log implies.

    Open, that is the working content up to the position in memory. Closed, the durable content up
    to the checkpoint.
    """
    replica = client.replicas.get(key)
    if replica is not None:
        return compare(fold(log, replica.position), replica.content.rows())
    state = client.checkpoint(key)
    position = NOTHING if state is None else state.position
    return compare(fold(log, position), client.medium.rows(Area.DATA, key))


def compare(implied: Rows, content: Rows) -> ContentLoss:
    """Count in how far a content departs from the implied one."""
    return ContentLoss(
        missing=sum(1 for name in implied if name not in content),
        stale=sum(1 for name in implied if name in content and content[name] != implied[name]),
        ghost=sum(1 for name in content if name not in implied),
    )
