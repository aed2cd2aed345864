"""Frames and codecs notice every damage, and give back exactly everything that was put in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptsim.models import store
from ckptsim.models.store.medium import Codec
from ckptsim.models.store.medium.codec import GROUP_BLOB_BYTES_MAX
from ckptsim.models.store.medium.frame import Checksum, seal, unseal
from ckptsim.models.store.state import ProducerState, VersionCopy

KEY = store.TopicPartition("s_v1", 0)


@pytest.mark.parametrize("checksum", Checksum)
def test_every_single_bit_counts(checksum: Checksum) -> None:
    """Each of the bits of a frame, flipped alone, is noticed."""
    frame = seal(KEY, b"payload", checksum=checksum)
    assert unseal(KEY, frame) == b"payload"
    for bit in range(8 * len(frame)):
        damaged = bytearray(frame)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(store.StoreError, match="CORRUPT_CHECKPOINT"):
            unseal(KEY, bytes(damaged))


def test_truncated_and_foreign_frames_are_refused() -> None:
    """No prefix of a frame is one, and a frame of another partition is refused with the reason."""
    frame = seal(KEY, b"payload")
    for length in range(len(frame)):
        with pytest.raises(store.StoreError, match="CORRUPT_CHECKPOINT"):
            unseal(KEY, frame[:length])
    with pytest.raises(store.StoreError, match="sealed for another partition"):
        unseal(store.TopicPartition("s_v2", 0), frame)


@given(blob=st.binary(max_size=300))
@pytest.mark.parametrize("codec", [store.PlainCodec(), store.GroupCodec()], ids=["plain", "group"])
def test_codecs_are_opaque(codec: Codec, blob: bytes) -> None:
    """Whatever bytes go in come out."""
    assert codec.decode(KEY, codec.encode(KEY, blob)) == blob


def test_group_metadata_has_one_spelling() -> None:
    """Each of the bits of a group's metadata, flipped alone, is noticed."""
    codec = store.GroupCodec()
    stored = codec.encode(KEY, b"payload!!")
    for bit in range(64, 8 * len(stored)):
        damaged = bytearray(stored)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(store.StoreError, match="CORRUPT_CHECKPOINT"):
            codec.decode(KEY, bytes(damaged))


def test_group_takes_its_full_size_beside_the_frame() -> None:
    """A blob of 3,072 bytes fits into 4,096 characters. One byte more, or a huge name, does not."""
    codec = store.GroupCodec()
    stored = codec.encode(store.TopicPartition("s" * 140 + "_v1", 0), bytes(GROUP_BLOB_BYTES_MAX))
    assert len(stored) - 8 <= 4096
    with pytest.raises(store.StoreError, match="BLOB_TOO_LARGE"):
        codec.encode(KEY, bytes(GROUP_BLOB_BYTES_MAX + 1))
    with pytest.raises(store.StoreError, match="BLOB_TOO_LARGE"):
        codec.encode(store.TopicPartition("s" * 240 + "_v1", 0), bytes(GROUP_BLOB_BYTES_MAX))


@given(
    position=st.integers(-1, 2**62),
    end_of_push=st.booleans(),
    stamp=st.none() | st.integers(0, 2**40),
    producers=st.lists(st.integers(0, 9), max_size=3, unique=True),
)
def test_partition_state_comes_back_equal(
    position: int, end_of_push: bool, stamp: int | None, producers: list[int]
) -> None:
    """A decoded state equals the encoded one, and foreign bytes decode to nothing."""
    state = store.PartitionState(
        position=position,
        end_of_push=end_of_push,
        version=VersionCopy(chunked=True, end_of_push_timestamp=0),
        end_of_push_timestamp=stamp,
        producers=tuple(ProducerState(guid=str(n), segment=n, sequence=n) for n in producers),
    )
    blob = store.encode_state(state)
    assert store.decode_state(blob) == state
    assert store.decode_state(b"raw" + blob) is None
    for unreadable in (blob[:-1], blob[:4], blob[:4] + b"\x02" + blob[5:]):
        with pytest.raises(store.StoreError, match="UNREADABLE_CHECKPOINT"):
            store.decode_state(unreadable)
