"""A sink's transactions in the external system, as the lifecycle core orders them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ckptsim.models.lifecycle import SinkState
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.models.lifecycle.effects import OPEN, TransactionId

if TYPE_CHECKING:
    from collections.abc import Callable

    from ckptsim.sim.job.control.sinks.external import ExternalSystem
    from ckptsim.sim.job.control.sinks.sinks import Sinks
    from ckptsim.sim.job.control.task import TaskControl
    from ckptsim.sim.job.embedding import Committer
    from ckptsim.sim.job.task_port import TaskSink


class SinkWriter:
    """Writes into the open transaction and does to transactions what it is reported.

    place: vertex and index of the subtask.  processed: how many records it has processed, where
    records have no identity and are not written one by one. None where `write` is called.
    committer: makes transactions durable. Without one the external system commits at once.
    settled: called when no commit is under way any more.
    under_way: transactions that are being committed.  Each counts as pending until it is durable: a
    snapshot that is taken during a commit holds it, so that a crash of that commit does not lose
    it.
    """

    def __init__(
        self,
        sinks: Sinks,
        place: tuple[str, int],
        processed: Callable[[], int] | None = None,
        *,
        committer: Committer | None = None,
        settled: Callable[[], None] = lambda: None,
    ) -> None:
        self.name = f"{place[0]}/{place[1]}"
        self.external: ExternalSystem = sinks.external
        self.under_way: dict[str, None] = {}
        self._committer = committer
        self._settled = settled
        self._sinks = sinks
        self._vertex = place[0]
        self._processed = processed
        self._by_checkpoint: dict[int, str] = {}
        self._open: str | None = None
        self._counted = 0  # of the processed data, the content of transactions

    def begin(self) -> None:
        """Open the first transaction, once the restored data is dealt with."""
        self._counted = self._processed() if self._processed is not None else 0
        self._open = self._begin()

    def continued(self, processed: Callable[[], int]) -> None:
        """Write for a task that continues another one, as a failure has left it alone.

        Everything that was pre-committed for a checkpoint that has been aborted goes with the next
        one.
        """
        self._processed = processed
        transactions = self.external.transactions
        for name in self._by_checkpoint.values():
            if self._open is not None:
                transactions[self._open].unnamed += transactions[name].unnamed
                transactions[name].unnamed = 0
                self.external.abort(name)
        self._by_checkpoint.clear()
        if self._open is not None:
            transactions[self._open].attempt = self._sinks.attempt

    def recover_and_commit(self, name: str) -> None:
        """Commit what the restored state has pending. It may have been committed before."""
        if self._committer is None:
            self._commit(name)
            return
        self.under_way[name] = None
        self._committer.recover(self.external.transactions[name], partial(self._durable, name))

    def recover_and_abort(self, name: str) -> None:
        """Abort what the restored state has open. It may have been aborted before."""
        self.external.recover_and_abort(name)

    def conclude(self, name: str) -> None:
        """Commit one transaction, at once or as long as its committer takes."""
        if self._committer is None:
            self._commit(name)
            return
        self.under_way[name] = None
        self._committer.commit(self.external.transactions[name], partial(self._durable, name))

    @property
    def busy(self) -> bool:
        """Return whether a commit is under way that the task's end has to wait for."""
        return bool(self.under_way)

    @property
    def pending(self) -> tuple[str, ...]:
        """Return the names of the transactions that are not durable, oldest first."""
        return (*self.under_way, *self.precommitted)

    @property
    def precommitted(self) -> tuple[str, ...]:
        """Return the names of those without a commit, oldest first."""
        return tuple(self._by_checkpoint[number] for number in sorted(self._by_checkpoint))

    @property
    def state(self) -> SinkState:
        """Return what a snapshot keeps: one element of list state."""
        if self.under_way:
            self._sinks.reach("snapshot_during_commit")
        return SinkState(pending=self.pending, open=self._open)

    def write(self, record: int) -> None:
        """Write a record into the open transaction."""
        if self._open is None:
            says = f"{self.name} gets record {record} and has no open transaction"
            self._sinks.violate("exactly_once_output", says)
            return
        self.external.transactions[self._open].records.append(record)

    def precommit(self, checkpoint_id: int, *, open_successor: bool) -> None:
        """Pre-commit the open transaction for a checkpoint and perhaps open a successor."""
        self._count()
        if self._open is None:
            return
        self.external.precommit(self._open, checkpoint_id)
        self._by_checkpoint[checkpoint_id] = self._open
        self._open = self._begin() if open_successor else None

    def snapshot(self, checkpoint_id: int) -> None:
        """Note that a snapshot follows, after the pre-commit."""

    def commit(self, checkpoints: tuple[int, ...]) -> None:
        """Commit what these checkpoints have pre-committed."""
        for number in checkpoints:
            self._sinks.check_commit(number, self.name)
            name = self._ended(number, "commits")
            if name is not None:
                self.conclude(name)

    def abort(self, transactions: tuple[TransactionId, ...]) -> None:
        """Abort transactions at close. A record in one of them would be lost."""
        self._count()
        for which in transactions:
            name = self._open if which == OPEN else self._ended(int(which), "aborts")
            if name is None:
                continue
            lost = self.external.transactions[name].count
            if lost:
                says = f"{self.name} closes and aborts {name} with {lost} records"
                self._sinks.violate("aborted_transactions_are_empty_at_close", says)
            self.external.abort(name)
        self._open = None

    def leave(self, checkpoints: tuple[int, ...]) -> None:
        """Leave transactions pre-committed at close. A record in one of them would be lost."""
        for number in checkpoints:
            name = self._by_checkpoint.get(number)
            if name is None:
                self._ended(number, "leaves")
                continue
            self._sinks.left(number, name)
            lost = self.external.transactions[name].count
            if lost:
                says = f"{self.name} closes and leaves {lost} records pre-committed"
                self._sinks.violate("aborted_transactions_are_empty_at_close", says)

    def _ended(self, checkpoint: int, does: str) -> str | None:
        """Take out what a checkpoint has pre-committed. None where nothing of it is held."""
        name = self._by_checkpoint.pop(checkpoint, None)
        if name is None:
            says = f"{self.name} {does} what checkpoint {checkpoint} has pre-committed, and holds "
            self._sinks.violate("transaction_ends_once", f"{says}nothing of it")
        return name

    def _count(self) -> None:
        """Put the processed data since the last call into the open transaction.

        Every way out of a transaction leads through here, so none is looked at before it is full.
        """
        if self._processed is None:
            return
        since, self._counted = self._counted, self._processed()
        if self._open is not None:
            self.external.transactions[self._open].unnamed += self._counted - since
        elif self._counted > since:
            says = f"{self.name} gets {self._counted - since} records and has no open transaction"
            self._sinks.violate("exactly_once_output", says)

    def _durable(self, name: str) -> None:
        del self.under_way[name]
        self._commit(name)
        if not self.under_way:
            self._settled()

    def _commit(self, name: str) -> None:
        self._sinks.check_time(name)
        self.external.commit(name)

    def _begin(self) -> str:
        return self._sinks.begin(self.name, self._vertex)


def open_sink(control: TaskControl, sink: TaskSink, states: tuple[SinkState, ...]) -> None:
    """Let a sink end what its restored state holds, and open its first transaction.

    states: the elements of list state that fall to it.  Both before its first record.
    """
    control.lifecycle.step(lifecycle_events.StateRestored(states))
    sink.begin()
