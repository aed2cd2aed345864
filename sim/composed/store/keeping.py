"""What a run leaves to be looked into: its store, and every checkpoint that was completed.

Topic `pipeline_v1` has the partitions of the store as they were at the end, one per sink subtask.
`checkpoints_v1/0` has one row per completed checkpoint of the job and subtask in it, named
`CHECKPOINT/VERTEX/SUBTASK`, as JSON. Its position is the last checkpoint's number.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ckptsim.models.store import Area, PartitionState, StoreError, encode_state
from ckptsim.sim.composed.store.identity import row_name
from ckptsim.sim.composed.store.store import TOPIC
from ckptsim.sim.rows import KeptPartition

if TYPE_CHECKING:
    from ckptsim.models.store import TopicPartition
    from ckptsim.sim.composed.world import PipelineWorld
    from ckptsim.sim.job.port import TaskState

CHECKPOINTS = "checkpoints_v1"


def kept_partitions(world: PipelineWorld) -> list[KeptPartition]:
    """Return the store's partitions and the completed checkpoints of a run that has ended."""
    return [*(_of_store(world, key) for key in world.store.keys), _of_job(world)]


def _of_store(world: PipelineWorld, key: TopicPartition) -> KeptPartition:
    try:
        blob = world.store.checkpoints.get(key)
    except StoreError:
        blob = None
    rows = world.store.medium.rows(Area.DATA, key)
    return KeptPartition(topic=TOPIC, partition=key.partition, rows=rows, checkpoint=blob)


def _of_job(world: PipelineWorld) -> KeptPartition:
    rows: dict[str, bytes] = {}
    places = [
        (vertex.name, subtask)
        for vertex in world.pipeline.vertices
        for subtask in range(vertex.parallelism)
    ]
    for checkpoint in world.job.kept:
        for number, state in sorted(checkpoint.tasks.items()):
            vertex, subtask = places[number]
            name = f"{checkpoint.checkpoint_id:06}/{vertex}/{subtask}"
            document = _document(state) | {
                "vertex": checkpoint.vertices[vertex].value,
                "savepoint": checkpoint.savepoint,
            }
            rows[name] = json.dumps(document, sort_keys=True).encode()
    last = max((one.checkpoint_id for one in world.job.kept), default=-1)
    blob = encode_state(PartitionState(position=last))
    return KeptPartition(topic=CHECKPOINTS, partition=0, rows=rows, checkpoint=blob)


def _document(state: TaskState) -> dict[str, object]:
    transactions = state.transactions
    return {
        "position": sum(state.splits.values()),
        "state": [row_name(record) for record in state.records],
        "pending": [] if transactions is None else list(transactions.pending),
        "in_flight_at_input": _channels(state.input_records),
        "in_flight_at_output": _channels(state.output_records),
    }


def _channels(held: Mapping[int, Iterable[int]]) -> dict[str, list[str]]:
    """Return the records in flight by channel."""
    return {
        str(channel): [row_name(record) for record in records]
        for channel, records in sorted(held.items())
    }
