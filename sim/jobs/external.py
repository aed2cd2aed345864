"""The external system that sinks write to: transactions that are open, pre-committed or ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import IntEnum


class Status(IntEnum):
    """The life of a transaction."""

    OPEN = 0
    PRECOMMITTED = 1
    COMMITTED = 2
    ABORTED = 3


@dataclass(slots=True)
class Transaction:
    """One transaction: what was written into it and how it stands."""

    name: str
    sink: str
    records: list[int] = field(default_factory=list)
    status: Status = Status.OPEN
    checkpoint_id: int | None = None


class ExternalSystem:
    """All transactions of all attempts; committing twice is a no-op, as recovery may do.

    violate: told (property, sentence) when a rule of two-phase commit is broken.
    """

    def __init__(self, violate: Callable[[str, str], None]) -> None:
        self.transactions: dict[str, Transaction] = {}
        self._violate = violate
        self._begun = 0

    def begin(self, task: str, sink: str) -> Transaction:
        """Open a transaction of a task of a sink vertex, under a name that was never used."""
        self._begun += 1
        transaction = Transaction(f"{task} #{self._begun}", sink)
        self.transactions[transaction.name] = transaction
        return transaction

    def commit(self, name: str) -> None:
        """Commit a pre-committed transaction.

        Recovery may commit an aborted transaction that is empty: the external system takes that for
        nothing (FLIP-147, transactions opened after finish()).
        """
        transaction = self.transactions[name]
        if transaction.status is Status.ABORTED:
            if transaction.records:
                self._violate("transaction_ends_once", f"{name} was aborted and then committed")
            return
        if transaction.status is Status.OPEN:
            self._violate("transaction_ends_once", f"{name} was committed before its pre-commit")
        transaction.status = Status.COMMITTED

    def abort(self, name: str) -> None:
        """Abort a transaction that has not been committed."""
        transaction = self.transactions[name]
        if transaction.status is Status.COMMITTED:
            self._violate("transaction_ends_once", f"{name} was committed and then aborted")
            return
        transaction.status = Status.ABORTED

    def abort_all_but(self, kept: Iterable[str]) -> None:
        """Abort what an earlier attempt left open or pre-committed, but for the named ones."""
        names = frozenset(kept)
        for transaction in self.transactions.values():
            unfinished = transaction.status in (Status.OPEN, Status.PRECOMMITTED)
            if unfinished and transaction.name not in names:
                transaction.status = Status.ABORTED

    def committed(self, sink: str) -> Counter[int]:
        """Return how often each record is in the committed output of a sink vertex."""
        found: Counter[int] = Counter()
        for transaction in self.transactions.values():
            if transaction.sink == sink and transaction.status is Status.COMMITTED:
                found.update(transaction.records)
        return found

    def fork(self, restored: Iterable[str], up_to: int) -> ExternalSystem:
        """Return the system as it would be if only `up_to` had ever been completed.

        restored: transactions that the checkpoint itself commits on recovery.
        """
        names = frozenset(restored)
        other = ExternalSystem(self._violate)
        other._begun = self._begun
        for name, transaction in self.transactions.items():
            number = transaction.checkpoint_id
            covered = number is not None and number <= up_to
            if name in names or (transaction.status is Status.COMMITTED and covered):
                copied = Transaction(name, transaction.sink, list(transaction.records))
                copied.status, copied.checkpoint_id = transaction.status, number
                other.transactions[name] = copied
        return other
