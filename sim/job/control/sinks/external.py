"""The external system that sinks write to: transactions that are open, pre-committed or ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from ckptsim.models.committer import Row
from ckptsim.models.lifecycle import SinkState


class Status(IntEnum):
    """The life of a transaction."""

    OPEN = 0
    PRECOMMITTED = 1
    COMMITTED = 2
    ABORTED = 3


@dataclass(slots=True)
class Transaction:
    """One transaction: its data and its status.

    attempt: the attempt that began it, 0 of a job before this one.  recovered: a restored sink was
    told to end it.  timed_out: the external system has aborted it by itself.  records: the
    written data, by identity.  unnamed: how many records without one.  writers: how many subtasks
    pre-commit for its checkpoint, where one commit is for all.
    """

    name: str
    sink: str
    attempt: int = 1
    recovered: bool = False
    timed_out: bool = False
    records: list[int] = field(default_factory=list)
    unnamed: int = 0
    status: Status = Status.OPEN
    checkpoint_id: int | None = None
    writers: int = 1

    @property
    def task(self) -> str:
        """Return the name of the task that began it."""
        return self.name.partition(" #")[0]

    @property
    def subtask(self) -> int:
        """Return the index of the subtask that began it."""
        return int(self.task.rpartition("/")[2])

    @property
    def count(self) -> int:
        """Return how many records were written into it."""
        return len(self.records) + self.unnamed


@dataclass(slots=True)
class CommitterStore:
    """What outlives a committer.

    rows: by checkpoint.  committed: rows that were committed and deleted since.  completed:
    checkpoints of the job that are complete.  rewound: files that are written again, by name, and
    the checkpoint that their job then began from.
    """

    rows: dict[int, Row] = field(default_factory=dict)
    committed: dict[int, Row] = field(default_factory=dict)
    completed: dict[int, None] = field(default_factory=dict)
    rewound: dict[str, int | None] = field(default_factory=dict)

    def forget(self, checkpoint: int) -> None:
        """Delete a row."""
        row = self.rows.pop(checkpoint, None)
        if row is not None and row.committed:
            self.committed[checkpoint] = row

    def fork(self, up_to: int) -> CommitterStore:
        """Return what a job finds that is started from checkpoint `up_to`, the last one."""
        rows = {n: row for n, row in (self.committed | self.rows).items() if n <= up_to}
        return CommitterStore(rows, {}, {n: None for n in self.completed if n <= up_to})


class ExternalSystem:
    """All transactions of all attempts. Committing twice is a no-op, as recovery may do.

    violate: told (property, sentence) when a rule of two-phase commit is broken.  committers: what
    global committers have persisted, by sink vertex.
    """

    def __init__(self, violate: Callable[[str, str], None]) -> None:
        self.transactions: dict[str, Transaction] = {}
        self._violate = violate
        self.committers: dict[str, CommitterStore] = {}
        self._begun = 0
        self._uncommitted: dict[str, dict[str, None]] = {}  # of each task, in order of pre-commits

    def begin(self, task: str, sink: str, *, attempt: int) -> Transaction:
        """Open a transaction of a task of a sink vertex, under a name that was never used."""
        self._begun += 1
        transaction = Transaction(f"{task} #{self._begun}", sink, attempt)
        self.transactions[transaction.name] = transaction
        return transaction

    def commit(self, name: str) -> None:
        """Commit a pre-committed transaction.

        Recovery may commit an aborted transaction that is empty: the external system takes that for
        nothing (FLIP-147, transactions opened after finish()).
        """
        transaction = self.transactions[name]
        if transaction.status is Status.ABORTED:
            if transaction.count:
                self._violate("transaction_ends_once", f"{name} was aborted and then committed")
            return
        if transaction.status is Status.OPEN:
            self._violate("transaction_ends_once", f"{name} was committed before its pre-commit")
        if transaction.status is Status.PRECOMMITTED:
            self._check_order(transaction)
        transaction.status = Status.COMMITTED

    def _check_order(self, transaction: Transaction) -> None:
        """Check that a task commits what it has pre-committed oldest first, also when restored.

        What it does not know of, an attempt that failed has left.
        Source: Apache Flink 1.20.3, TwoPhaseCommitSinkFunction: pending transactions are a
        LinkedHashMap, and a state's are recovered in the order of its list.
        """
        before = self._uncommitted.setdefault(transaction.task, {})
        for name in before:
            if name == transaction.name:
                break
            older = self.transactions[name]
            known = (older.attempt, older.recovered) == (transaction.attempt, transaction.recovered)
            if known and older.status is Status.PRECOMMITTED:
                says = f"{transaction.name} was committed before {name}, which is older"
                self._violate("transactions_commit_in_order", says)
                break
        before.pop(transaction.name, None)

    def precommit(self, name: str, checkpoint_id: int) -> None:
        """Pre-commit a transaction for a checkpoint. One that has timed out stays aborted."""
        transaction = self.transactions[name]
        transaction.checkpoint_id = checkpoint_id
        if transaction.status is Status.OPEN:
            transaction.status = Status.PRECOMMITTED
            self._uncommitted.setdefault(_task_of(name), {})[name] = None

    def time_out(self, name: str) -> bool:
        """Abort a transaction that no one has ended. Return whether there was such a one."""
        if not self.has_no_end(name):
            return False
        transaction = self.transactions[name]
        transaction.status, transaction.timed_out = Status.ABORTED, True
        return True

    def has_no_end(self, name: str) -> bool:
        """Return whether no one has ended a transaction."""
        return self.transactions[name].status in (Status.OPEN, Status.PRECOMMITTED)

    def abort(self, name: str) -> None:
        """Abort a transaction that has not been committed."""
        transaction = self.transactions[name]
        if transaction.status is Status.COMMITTED:
            self._violate("transaction_ends_once", f"{name} was committed and then aborted")
            return
        transaction.status = Status.ABORTED

    def recover_and_abort(self, name: str) -> None:
        """Abort what a restored state has open.

        It may have been committed when the state is not of the latest completed checkpoint, as when
        a job is started from a savepoint that others followed.  If it is empty that is nothing.
        """
        transaction = self.transactions[name]
        if transaction.status is not Status.COMMITTED or transaction.count:
            self.abort(name)

    def recovers(self, states: Iterable[SinkState]) -> None:
        """Note which transactions restored sinks know of, and so are going to end."""
        for state in states:
            for name in (*state.pending, state.open):
                if name is not None:
                    self.transactions[name].recovered = True

    def unended(self) -> list[Transaction]:
        """Return the transactions that no one has ended, in the order of their beginning."""
        return [one for one in self.transactions.values() if self.has_no_end(one.name)]

    def committed(self, sink: str) -> Counter[int]:
        """Return how often each record is in the committed output of a sink vertex."""
        found: Counter[int] = Counter()
        for transaction in self.transactions.values():
            if transaction.sink == sink and transaction.status is Status.COMMITTED:
                found.update(transaction.records)
        return found

    def committed_count(self, sink: str) -> int:
        """Return how many records there are in the committed output of a sink vertex."""
        return sum(
            transaction.count
            for transaction in self.transactions.values()
            if transaction.sink == sink and transaction.status is Status.COMMITTED
        )

    def fork(self, states: Sequence[SinkState], up_to: int) -> ExternalSystem:
        """Return what a job finds that is started from checkpoint `up_to`, the last one completed.

        states: of the sinks, one per subtask, in that checkpoint.  A transaction that a state has
        pending, to be committed on recovery, keeps its status. One that was aborted by a sink and
        not by a time-out is pre-committed again: `up_to` is then a savepoint, which no failover
        restores, and the abort came with the restore of an older checkpoint.  A transaction that a
        state has open is open and empty.  Of the others only those stay that were committed for
        `up_to` or an earlier checkpoint.
        """
        stores = {vertex: store.fork(up_to) for vertex, store in self.committers.items()}
        rows = [row for store in stores.values() for row in store.rows.values()]
        pending = frozenset(name for state in states for name in state.pending).union(
            name for row in rows for name in row.committables
        )
        left_open = frozenset(state.open for state in states)
        other = ExternalSystem(self._violate)
        other._begun = self._begun
        other.committers = stores
        for name, transaction in self.transactions.items():
            number = transaction.checkpoint_id
            covered = number is not None and number <= up_to
            kept = transaction.status is Status.COMMITTED and covered
            if name in left_open:
                other.transactions[name] = Transaction(name, transaction.sink)
            elif name in pending or kept:
                undone = transaction.status is Status.ABORTED and not transaction.timed_out
                if transaction.sink in stores and not transaction.count:
                    undone = False  # an empty file stays aborted
                other.transactions[name] = replace(
                    transaction,
                    attempt=1,
                    recovered=False,
                    records=list(transaction.records),
                    status=Status.PRECOMMITTED if undone else transaction.status,
                )
                other._uncommitted.setdefault(_task_of(name), {})[name] = None
        return other


def _task_of(name: str) -> str:
    return name.partition(" #")[0]
