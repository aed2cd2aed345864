"""The store of the sink: its medium, its checkpoints, and what a durable step costs.

Each sink subtask owns one partition of the store. Its position is the number of the last job
checkpoint with its transaction here.

A run leaves its store and every completed checkpoint, to be looked into.  Topic `pipeline_v1` has
the partitions of the store as they were at the end, one per sink subtask. `checkpoints_v1/0` has
one row per completed checkpoint of the job and subtask in it, named `CHECKPOINT/VERTEX/SUBTASK`, as
JSON. Its position is the last checkpoint's number.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ckptsim.models import store
from ckptsim.models.store import Area, PartitionState, StoreError, encode_state
from ckptsim.scenarios.composed import Lost, OffsetReset, Placement, StepOrder, Writes
from ckptsim.sim.rows import KeptPartition
from ckptsim.sim.store.costs import Costs

if TYPE_CHECKING:
    from ckptsim.models.store import StoreClient, TopicPartition
    from ckptsim.scenarios.composed import Pipeline
    from ckptsim.sim.composed.faults import StoreFaults
    from ckptsim.sim.composed.world import PipelineWorld
    from ckptsim.sim.job.port import TaskState
    from ckptsim.sim.kernel import Environment


TOPIC = "pipeline_v1"
# A group that starts at the latest offset takes every transaction for committed.
_EVERYTHING = 1 << 40


class Store:
    """What outlives the attempts of a run at the sink's side.

    client: its medium and its checkpoint store are used, and what it makes content and ingestion
    cores of.
    """

    def __init__(
        self, env: Environment, model: Pipeline, faults: StoreFaults, client: StoreClient
    ) -> None:
        self.table = model.store
        self.faults = faults
        self.keys = tuple(store.TopicPartition(TOPIC, i) for i in range(model.sink.parallelism))
        colocated = self.table.placement is Placement.COLOCATED
        self.group = self.table.placement is Placement.CONSUMER_GROUP_BLOB
        first = self.table.order is StepOrder.CHECKPOINT_FIRST
        self.rules = store.SyncRules(
            order=store.Order.CHECKPOINT_FIRST if first else store.Order.DATA_FIRST,
            atomic=colocated,
        )
        self.parts = client.parts
        self.medium = client.medium
        self.hooked = self.table.hooked or colocated
        client.topics.register(TOPIC, len(self.keys))
        self.checkpoints = client.stores[store.Slot.CUSTOM]
        self._env = env
        self._costs = Costs(
            self.table.costs,
            env,
            stream="store",
            remote=self.group,
            spread=self.table.spread,
            stretched=lambda duration_ns: faults.step_ns(duration_ns, env.now),
        )
        # Assumption: each row has the size of the largest records. Bandwidth hardly matters here.
        self._row_bytes = max((each.record_bytes for each in model.streams), default=0)
        self._commits = 0
        self._writes = 0
        self._opened: dict[store.TopicPartition, None] = {}

    def next_commit(self) -> int:
        """Number the commits of the run from 1."""
        self._commits += 1
        return self._commits

    def row(self, record: int) -> str:
        """Name the row that a write of a record makes."""
        if self.table.writes is Writes.UPSERT:
            return row_name(record)
        self._writes += 1
        return row_name(record, self._writes)

    def begin_attempt(self, number: int) -> bool:
        """Let happen what happens to the store between attempts. Return whether rows were lost."""
        self._costs.restarted()
        lost = False
        for loss in self.faults.losses(number):
            colocated = self.table.placement is Placement.COLOCATED
            data = colocated or loss.what is not Lost.CHECKPOINT
            slots = colocated or loss.what is not Lost.DATA
            self.medium.lose(areas=(store.Area.DATA,) if data else (), slots=slots)
            lost |= data
        for fault in self.faults.foreign_commits(number):
            key = self.keys[fault.subtask]
            position = self.stored_state(key).position + fault.ahead
            self.checkpoints.overwrite_blob(
                key, store.encode_state(store.PartitionState(position=position))
            )
        return lost

    def stored_state(self, key: store.TopicPartition) -> store.PartitionState:
        """Return what the store says of a partition. An empty state when it says nothing."""
        blob = self.checkpoints.get(key)
        state = None if blob is None else store.decode_state(blob, of=key)
        return store.PartitionState() if state is None else state

    def opening_state(self, key: store.TopicPartition) -> store.PartitionState:
        """Return what a sink subtask starts from."""
        state = self.stored_state(key)
        latest = self.group and self.table.reset is OffsetReset.LATEST
        if latest and self.checkpoints.get(key) is None and key in self._opened:
            return store.PartitionState(position=_EVERYTHING)
        self._opened[key] = None
        return state

    def step_ns(self, part: store.StepContent, rows: int) -> int:
        """Return after how long a step that begins now is durable."""
        end = self._costs.end_of_step(part, rows=rows, size_bytes=rows * self._row_bytes)
        return end - self._env.now

    def durable(self) -> Counter[int]:
        """Return how many rows each record has in the store."""
        found: Counter[int] = Counter()
        for key in self.keys:
            found.update(record_of(name) for name in self.medium.rows(store.Area.DATA, key))
        return found


_SPAN = 1 << 32  # positions of one feed


def identity(feed: int, position: int) -> int:
    """Return the number under which a record travels through the job."""
    return feed * _SPAN + position


def place(record: int) -> tuple[int, int]:
    """Return feed and position of a record."""
    return divmod(record, _SPAN)


def row_name(record: int, write: int | None = None) -> str:
    """Return the name of a record's row. With the number of the write where each makes a row."""
    feed, position = place(record)
    name = f"{feed}/{position}"
    return name if write is None else f"{name}#{write}"


def record_of(name: str) -> int:
    """Return the record that a row speaks of."""
    feed, position = name.partition("#")[0].split("/")
    return identity(int(feed), int(position))


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
