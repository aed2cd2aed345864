"""The store of the sink: its medium, its checkpoints, and what a durable step costs.

Each sink subtask owns one partition of the store. Its position is the number of the last job
checkpoint with its transaction here.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ckptsim.models import store
from ckptsim.scenarios.composed import Lost, OffsetReset, Placement, StepOrder, Writes
from ckptsim.sim.composed.store.identity import record_of, row_name
from ckptsim.sim.store.costs import Costs

if TYPE_CHECKING:
    from ckptsim.models.store import StoreClient
    from ckptsim.scenarios.composed import Pipeline
    from ckptsim.sim.composed.faults import StoreFaults
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
