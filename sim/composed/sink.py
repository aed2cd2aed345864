"""The sink of the pipeline: its transactions are committed through the store.

What is pre-committed lies in the job's checkpoint until it is durable in the store.  A restored
sink reads the store: what its checkpoint covers is taken for committed, the rest is committed
again; that is exactly once where data and checkpoint are one step, and at least once elsewhere,
which rows by name (upserts) make whole.

Source: Apache Flink, `GenericWriteAheadSink` with its committer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.sim.composed.committer import Batch
from ckptsim.sim.job.control.sink import SinkWriter

if TYPE_CHECKING:
    from ckptsim.sim.composed.committer import Committer
    from ckptsim.sim.job.records.attempt import Attempt
    from ckptsim.sim.job.records.graph import TaskSpec


class StoreSink(SinkWriter):
    """A sink subtask of one attempt.

    A transaction counts as pending until it is durable: a snapshot that is taken during a commit
    holds it, so that a crash of that commit does not lose it.
    """

    def __init__(
        self,
        attempt: Attempt,
        spec: TaskSpec,
        committer: Committer,
    ) -> None:
        super().__init__(attempt.world.control.sinks, spec.place)
        self._attempt = attempt
        self._spec = spec
        self.committer = committer
        self.under_way: dict[str, None] = {}

    @property
    def busy(self) -> bool:
        """Say whether a commit is under way."""
        return bool(self.under_way)

    @property
    def pending(self) -> tuple[str, ...]:
        """Return the names of the transactions that are not durable, oldest first."""
        if self.under_way:
            self._attempt.goal("snapshot_during_commit")
        return (*self.under_way, *super().pending)

    def recover_and_commit(self, name: str) -> None:
        """Commit what the restored state has pending, unless the store covers it."""
        checkpoint = self.external.transactions[name].checkpoint_id or 0
        if checkpoint <= self.committer.position:
            self._attempt.goal("committed_before_the_crash")
            super().conclude(name)
        else:
            self._attempt.goal("committed_again")
            self.conclude(name)

    def conclude(self, name: str) -> None:
        """Begin to write a transaction to the store."""
        transaction = self.external.transactions[name]
        self.under_way[name] = None
        records = tuple(transaction.records)
        number = transaction.checkpoint_id or 0
        self.committer.add(Batch(number, records, lambda: self._durable(name)))

    def _durable(self, name: str) -> None:
        del self.under_way[name]
        super().conclude(name)
        if not self.under_way:
            task = self._attempt.tasks[self._spec.index]
            task.ending.account.settled()
            task.control.lifecycle.release()
