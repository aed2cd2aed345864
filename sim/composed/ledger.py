"""The world's own account of the store: which records have a row there, whatever anybody says.

It writes into the ground truth of the sync, against which releases are checked, so that "durable"
means there: a row of the record is in the medium.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ckptsim.models.store import Area
from ckptsim.scenarios.composed import SINK
from ckptsim.sim.composed.store import identity, place, record_of
from ckptsim.sim.job.control.sinks.external import Status
from ckptsim.sim.sync.intervals import IntervalSet

if TYPE_CHECKING:
    from ckptsim.models.store import TopicPartition
    from ckptsim.sim.composed.destination.destination import PipelineAttempt
    from ckptsim.sim.composed.world import PipelineWorld
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint


class Ledger:
    """The account of one run."""

    def __init__(self, world: PipelineWorld) -> None:
        self._world = world
        self._truth = world.truth
        self._positions: dict[TopicPartition, int] = {}  # what the store said last
        self._covered: dict[TopicPartition, int] = {}  # by what sinks have written themselves

    def rows_durable(self, attempt: PipelineAttempt, records: Iterable[int]) -> None:
        """Enter rows that are durable from now on. Only the attempt that runs writes any."""
        if attempt is not self._world.beginning:
            says = f"a sink of attempt {attempt.truth.number} writes rows in attempt "
            says += str(self._world.beginning.truth.number)
            self._world.note("failed_tasks_do_nothing", says)
        stored, durable = self._truth.stored, attempt.truth.durable
        for record in records:
            feed, position = place(record)
            stored[feed].add(position, position + 1)
            durable[feed].add(position, position + 1)

    def resync(self) -> None:
        """Make the account anew from the rows that are there."""
        stored = [IntervalSet() for _ in self._truth.feeds]
        for record in sorted(self._world.store.durable()):
            feed, position = place(record)
            stored[feed].add(position, position + 1)
        self._truth.stored[:] = stored

    def attempt_begins(self, attempt: PipelineAttempt) -> None:
        """Take the durable data from earlier attempts for durable in this one."""
        truth = attempt.truth
        truth.durable[:] = [IntervalSet(one.intervals()) for one in self._truth.stored]

    def attempt_over(self) -> None:
        """Check that no checkpoint in the store went back in the crash."""
        for key in self._world.store.keys:
            self.checkpoint_durable(key)

    def take_positions(self) -> None:
        """Take what the store says from here on, whatever befell it between two attempts."""
        store = self._world.store
        self._positions = {key: store.stored_state(key).position for key in store.keys}

    def checkpoint_durable(self, key: TopicPartition) -> None:
        """Check a sink's checkpoint in the store against the one before."""
        position = self._world.store.stored_state(key).position
        before, self._positions[key] = self._positions.get(key, position), position
        if position != before:
            self._covered[key] = position
        if position < before:
            says = f"{SINK}/{key.partition}: the store had checkpoint {before}, now {position}"
            self._world.note("checkpoint_never_goes_back", says)

    def committing(self, key: TopicPartition, checkpoint: int) -> None:
        """Check that what a sink's own checkpoint in the store covers is not written once more."""
        stored = self._world.store.stored_state(key).position
        position = min(self._covered.get(key, -1), stored)
        if checkpoint <= position:
            says = f"{SINK}/{key.partition} writes transaction {checkpoint} again: the store has "
            self._world.note("exactly_once_output", f"{says}checkpoint {position}")

    def is_durable(self, record: int) -> bool:
        """Return whether a record has a row."""
        feed, position = place(record)
        return self._truth.stored[feed].covers(position, position + 1)

    def all_records(self) -> list[int]:
        """Return every record of the source."""
        return [
            identity(feed.index, position)
            for feed in self._truth.feeds
            for position in range(feed.total)
        ]

    def check_store(self, restored: JobCheckpoint | None) -> None:
        """Check that no checkpoint in the store speaks of rows that are not there."""
        world = self._world
        pending = {
            name for state in (restored.sink_states if restored else ()) for name in state.pending
        }
        for key in world.store.keys:
            position = world.store.stored_state(key).position
            rows = {record_of(name) for name in world.store.medium.rows(Area.DATA, key)}
            prefix = f"{SINK}/{key.partition} #"
            missing = sorted(
                record
                for name, transaction in world.job.control.sinks.external.transactions.items()
                if name.startswith(prefix)
                and (transaction.checkpoint_id or position + 1) <= position
                and (transaction.status is Status.COMMITTED or name in pending)
                for record in transaction.records
                if record not in rows
            )
            if missing:
                says = (
                    f"the store says that {SINK}/{key.partition} holds checkpoint {position}, but "
                    f"{len(missing)} records of it are not there"
                )
                world.note("no_checkpoint_ahead_of_data", says)
