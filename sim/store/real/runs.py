"""Keep what runs left in a store file, for inspection with any DuckDB client.

Each run has topics of its own, named after the beginning of its key.  `<key>-run_v1/0` holds the
run's row and one row per checkpoint, as JSON. Its position counts the checkpoints.  What a
simulated store or sink held as durable when the run ended follows partition by partition.  All of a
run is one transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from ckptsim.models import store
from ckptsim.models.store import PartitionState, TopicPartition, encode_state
from ckptsim.sim.rows import RunResult
from ckptsim.sim.store.real.embedded import Contents, EmbeddedStore
from ckptsim.sim.store.real.errors import StoreFileError
from ckptsim.sim.store.real.typed import TypedFile

_KEY_CHARACTERS = 12


class RunStore:
    """A store file that keeps runs. Keeping a run again replaces it."""

    def __init__(self, path: str | Path) -> None:
        self._store = EmbeddedStore(path, typed=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_failure: object) -> None:
        self.close()

    def keep(self, result: RunResult) -> list[TopicPartition]:
        """Keep a run, as a whole or not at all, and return the partitions that were written.

        What its stores held is there only when the run was made with `keep_trace`.
        """
        prefix = result.run.run_key[:_KEY_CHARACTERS]
        completed = sum(1 for row in result.checkpoints if row.status == "completed")
        about = encode_state(PartitionState(position=completed - 1))
        kept: dict[TopicPartition, Contents] = {
            TopicPartition(f"{prefix}-run_v1", 0): (dict(_rows(result)), about)
        }
        for one in result.kept:
            key = TopicPartition(f"{prefix}-{one.topic}", one.partition)
            kept[key] = (one.rows, one.checkpoint)
        counts: dict[str, int] = {}
        for key in kept:
            counts[key.topic] = max(counts.get(key.topic, 0), key.partition + 1)
        for topic, count in counts.items():
            self._store.register(topic, partitions=count)
        self._store.replace(kept)
        return list(kept)

    def close(self) -> None:
        """Close the file."""
        self._store.close()


def _rows(result: RunResult) -> Iterator[tuple[str, bytes]]:
    yield "run", _json(asdict(result.run))
    for row in result.checkpoints:
        yield f"checkpoint/{row.checkpoint_id:08}/{row.scope}/{row.attempt}", _json(asdict(row))
    for recovery in result.recoveries:
        yield f"recovery/{recovery.attempt:08}", _json(asdict(recovery))


def _json(document: dict[str, object]) -> bytes:
    return json.dumps(document, sort_keys=True).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionContents:
    """One partition as it lies in the file.

    checkpoint: None when there is none, or when it is damaged, unreadable or no partition state.
    damage: the problems of the stored blob, None when nothing is.
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
    """Read a store file, read-only. Raises StoreFileError when there is none or it is unusable."""
    place = whole_file(path)
    file = TypedFile(place, read_only=True)
    try:
        counts = {
            key: rows for (area, key), rows in file.row_counts().items() if area is store.Area.DATA
        }
        blobs = {key: stored for slot, key, stored in file.slots() if slot is store.Slot.CUSTOM}
        keys = sorted({*counts, *blobs})
        partitions = tuple(contents_of(key, counts.get(key, 0), blobs.get(key)) for key in keys)
        return StoreContents(path=place, about=file.about, partitions=partitions)
    finally:
        file.close()


def whole_file(path: str | Path) -> Path:
    """Return the path of a store that is there. Raises StoreFileError when it is no file."""
    place = Path(path)
    if not place.is_file():
        found = "a directory" if place.is_dir() else "no such file"
        raise StoreFileError(f"{place}: found {found}, expected a store")
    return place


def contents_of(key: store.TopicPartition, rows: int, stored: bytes | None) -> PartitionContents:
    """Return what a partition's slot holds, decoded where it is whole."""
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
