"""Keep what runs left behind in a store file, for inspection with any DuckDB client.

Each run has topics of its own, named after the beginning of its key.  `<key>-run_v1/0` holds the
run's row and one row per checkpoint, as JSON; its position counts the checkpoints.  What a
simulated store or sink held as durable when the run ended follows partition by partition, rows and
checkpoint together, each in one transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self

from models.store import PartitionState, TopicPartition, decode_state, encode_state
from models.store.partition_state import NOTHING
from sim.rows import KeptPartition, RunResult
from sim.store.real.embedded import EmbeddedStore

_KEY_CHARACTERS = 12


class RunStore:
    """A store file that keeps runs; keeping a run again replaces it."""

    def __init__(self, path: str | Path) -> None:
        self._store = EmbeddedStore(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def keep(self, result: RunResult) -> list[TopicPartition]:
        """Keep a run and return the partitions that were written.

        What its stores held is there only when the run was made with `keep_trace`.
        """
        prefix = result.run.run_key[:_KEY_CHARACTERS]
        written = [self._keep_rows(f"{prefix}-run_v1", result)]
        partitions: dict[str, int] = {}
        for kept in result.kept:
            partitions[kept.topic] = max(partitions.get(kept.topic, 0), kept.partition + 1)
        for topic, count in partitions.items():
            self._store.register(f"{prefix}-{topic}", partitions=count)
        return written + [
            self._keep_partition(f"{prefix}-{kept.topic}", kept) for kept in result.kept
        ]

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def _keep_rows(self, topic: str, result: RunResult) -> TopicPartition:
        self._store.register(topic, partitions=1)
        key = TopicPartition(topic, 0)
        self._store.reset(key)
        completed = sum(1 for row in result.checkpoints if row.status == "completed")
        self._store.commit(key, _rows(result), position=completed - 1)
        return key

    def _keep_partition(self, topic: str, kept: KeptPartition) -> TopicPartition:
        key = TopicPartition(topic, kept.partition)
        self._store.reset(key)
        state = None if kept.checkpoint is None else decode_state(kept.checkpoint)
        known = PartitionState(position=NOTHING) if state is None else state
        self._store.commit(key, kept.rows.items(), position=known.position, state=known)
        if kept.checkpoint is None:
            self._store.delete(key)
        elif state is None or encode_state(state) != kept.checkpoint:
            self._store.set(key, kept.checkpoint)
        return key


def _rows(result: RunResult) -> Iterator[tuple[str, bytes]]:
    yield "run", _json(asdict(result.run))
    for row in result.checkpoints:
        yield f"checkpoint/{row.checkpoint_id:08}/{row.scope}/{row.attempt}", _json(asdict(row))
    for recovery in result.recoveries:
        yield f"recovery/{recovery.attempt:08}", _json(asdict(recovery))


def _json(document: dict[str, object]) -> bytes:
    return json.dumps(document, sort_keys=True).encode()
