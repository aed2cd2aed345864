"""Look into a store without changing it: which partitions, how far, and whether blobs are whole."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ckptsim.models import store
from ckptsim.sim.store.real.duck import DuckFile
from ckptsim.sim.store.real.errors import StoreFileError


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionContents:
    """One partition as it lies in the file.

    checkpoint: None when there is none, or when it is damaged, unreadable or no partition state.
    damage: what is wrong with the stored blob, None when nothing is.
    """

    key: store.TopicPartition
    rows: int
    blob_bytes: int | None
    checkpoint: store.PartitionState | None
    damage: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreContents:
    """A file: what it says about itself, and its partitions by topic and index."""

    path: Path
    about: dict[str, str]
    partitions: tuple[PartitionContents, ...]


def inspect_store(path: str | Path) -> StoreContents:
    """Read a store file, read-only; raises StoreFileError when there is none or it is unusable."""
    place = Path(path)
    if not place.is_file():
        found = "a directory" if place.is_dir() else "no such file"
        raise StoreFileError(f"{place}: found {found}, expected a store")
    file = DuckFile(place, read_only=True)
    try:
        counts = {
            key: rows for (area, key), rows in file.row_counts().items() if area is store.Area.DATA
        }
        blobs = {key: stored for slot, key, stored in file.slots() if slot is store.Slot.CUSTOM}
        keys = sorted({*counts, *blobs})
        partitions = tuple(_contents(key, counts.get(key, 0), blobs.get(key)) for key in keys)
        return StoreContents(path=place, about=file.about, partitions=partitions)
    finally:
        file.close()


def _contents(key: store.TopicPartition, rows: int, stored: bytes | None) -> PartitionContents:
    blob: bytes | None = None
    state: store.PartitionState | None = None
    damage: str | None = None
    if stored is not None:
        try:
            blob = store.PlainCodec().decode(key, stored)
            state = store.decode_state(blob)
        except store.StoreError as error:
            damage = error.state
    return PartitionContents(
        key=key,
        rows=rows,
        blob_bytes=None if blob is None else len(blob),
        checkpoint=state,
        damage=damage,
    )
