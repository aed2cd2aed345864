"""A sink's transactions in the external system, as the lifecycle core orders them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.lifecycle import SinkState
from ckptsim.models.lifecycle.effects import OPEN, TransactionId
from ckptsim.sim.job.records.graph import TaskSpec
from ckptsim.sim.job.records.snapshot import Record

if TYPE_CHECKING:
    from ckptsim.sim.job.records.attempt import Attempt


class SinkWriter:
    """Writes into the open transaction and does to transactions what it is told."""

    def __init__(self, attempt: Attempt, spec: TaskSpec) -> None:
        self._attempt = attempt
        self._spec = spec
        self._by_checkpoint: dict[int, str] = {}
        self._open: str | None = None

    def begin(self) -> None:
        """Open the first transaction, once what was restored is dealt with."""
        self._open = self._begin()

    def recover_and_commit(self, name: str) -> None:
        """Commit what the restored state has pending; it may have been committed before."""
        self.conclude(name)

    def recover_and_abort(self, name: str) -> None:
        """Abort what the restored state has open; it may have been aborted before."""
        self._attempt.external.recover_and_abort(name)

    def conclude(self, name: str) -> None:
        """Commit one transaction in the external system."""
        self._attempt.external.commit(name)

    @property
    def busy(self) -> bool:
        """Say whether a commit is under way that the task's end has to wait for."""
        return False

    @property
    def pending(self) -> tuple[str, ...]:
        """Return the names of the pre-committed transactions, oldest first."""
        return tuple(self._by_checkpoint[number] for number in sorted(self._by_checkpoint))

    @property
    def state(self) -> SinkState:
        """Return what a snapshot keeps: one element of list state."""
        return SinkState(pending=self.pending, open=self._open)

    def write(self, record: Record) -> None:
        """Write a record into the open transaction."""
        if self._open is None:
            says = f"{self._spec.name} gets record {record} and has no open transaction"
            self._attempt.violate("exactly_once_output", says)
            return
        self._attempt.external.transactions[self._open].records.append(record)

    def precommit(self, checkpoint_id: int, *, open_successor: bool) -> None:
        """Pre-commit the open transaction for a checkpoint and perhaps open a successor."""
        if self._open is None:
            return
        self._attempt.external.precommit(self._open, checkpoint_id)
        self._by_checkpoint[checkpoint_id] = self._open
        self._open = self._begin() if open_successor else None

    def commit(self, checkpoints: tuple[int, ...]) -> None:
        """Commit what these checkpoints have pre-committed."""
        for number in checkpoints:
            self._attempt.check_commit(number, self._spec)
            self.conclude(self._by_checkpoint.pop(number))

    def abort(self, transactions: tuple[TransactionId, ...]) -> None:
        """Abort transactions at close; a record in one of them would be lost."""
        for which in transactions:
            name = self._open if which == OPEN else self._by_checkpoint.pop(int(which))
            if name is None:
                continue
            lost = self._attempt.external.transactions[name].records
            if lost and self._attempt.checks_final_transactions:
                says = f"{self._spec.name} closes and aborts {name} with {len(lost)} records"
                self._attempt.violate("aborted_transactions_are_empty_at_close", says)
            self._attempt.external.abort(name)
        self._open = None

    def leave(self, checkpoints: tuple[int, ...]) -> None:
        """Leave transactions pre-committed at close; a record in one of them would be lost."""
        for number in checkpoints:
            lost = self._attempt.external.transactions[self._by_checkpoint[number]].records
            if lost:
                says = f"{self._spec.name} closes and leaves {len(lost)} records pre-committed"
                self._attempt.violate("aborted_transactions_are_empty_at_close", says)

    def _begin(self) -> str:
        attempt = self._attempt
        begun = attempt.external.begin(
            self._spec.name, self._spec.vertex.name, attempt=attempt.number
        )
        attempt.world.unended.begun(begun.name)
        return begun.name
