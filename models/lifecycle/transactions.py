"""The transactions of a two-phase-commit sink around checkpoints and the end of its input.

A sink writes into the open transaction.  A checkpoint pre-commits it and opens a successor; the
completion of a checkpoint commits everything that was pre-committed for it or for an earlier one,
so a lost notification is caught up by the next.  After finish() no record can come any more: a sink
that opens transactions all the same leaves empty ones behind.

Source: FLIP-147, information box on the shut-down rule; Apache Flink TwoPhaseCommitSinkFunction
(FLINK-23473: no transaction is opened after finish()).
"""

from __future__ import annotations

from models.lifecycle.effects import OPEN, TransactionId


class Transactions:
    """The open and the pre-committed transactions of one sink."""

    def __init__(self, *, opens_after_finish: bool) -> None:
        self.opens_after_finish = opens_after_finish
        self.open = True
        self._pending: list[int] = []

    @property
    def pending(self) -> tuple[int, ...]:
        """Return the pre-committed transactions, by the checkpoint that pre-committed each."""
        return tuple(self._pending)

    def precommit(self, checkpoint_id: int, *, finished: bool) -> bool:
        """Pre-commit the open transaction; say whether there was one.

        finished: finish() has been called, so that a successor is opened only on request.
        """
        if not self.open:
            return False
        self._pending.append(checkpoint_id)
        self.open = not finished or self.opens_after_finish
        return True

    def commit(self, up_to: int) -> tuple[int, ...]:
        """Take out what checkpoints up to `up_to` have pre-committed, and return it ascending."""
        committed = tuple(sorted(number for number in self._pending if number <= up_to))
        self._pending = [number for number in self._pending if number > up_to]
        return committed

    def close(
        self, *, aborts_precommitted: bool
    ) -> tuple[tuple[TransactionId, ...], tuple[int, ...]]:
        """Return what closing aborts and what it leaves pre-committed.

        aborts_precommitted: every transaction that is not committed, not the open one only.
        """
        open_one: tuple[TransactionId, ...] = (OPEN,) if self.open else ()
        pending = tuple(sorted(self._pending))
        self.open = False
        self._pending = []
        if aborts_precommitted:
            return pending + open_one, ()
        return open_one, pending
