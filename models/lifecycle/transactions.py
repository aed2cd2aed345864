"""The transactions of a two-phase-commit sink around checkpoints and the end of its input.

A sink writes into the open transaction.  A checkpoint pre-commits it and opens a successor. The
completion of a checkpoint commits everything that was pre-committed for it or for an earlier one,
so a lost notification is caught up by the next.  After finish() no record can come any more: a sink
that opens transactions all the same leaves empty ones after.

A snapshot keeps one element of list state: the pre-committed and the open ones, by the names in the
external system.  A restored sink commits the former again, for it cannot know whether it has heard
of the completion, and aborts the latter. Its records are sent again.  It knows of no other
transaction: later transactions stay in the external system until their time-out.

Promised: recovery takes the elements in their order and, of each, pre-committed transactions in the
order in which they were begun, then the open one. Repeating it changes nothing where the external
system takes a second end for nothing.  A stop without drain calls no finish(), so that a savepoint
which comes between the stop's savepoint and its completion pre-commits one transaction more: it is
empty, and closing leaves it pre-committed, as it aborts the open one only.

Source: FLIP-147, information box on the shut-down rule. Apache Flink 1.20.3,
TwoPhaseCommitSinkFunction.initializeState, snapshotState and close (FLINK-23473: no transaction is
opened after finish()).  Which elements fall to which subtask: `models/recovery/operator_state`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ckptsim.models.lifecycle.effects import OPEN, RecoverAndAbort, RecoverAndCommit, TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkState:
    """One element of a sink's list state.

    pending: names of the pre-committed transactions, oldest first.  open: the name of the one that
    was open when the snapshot was taken, its own pre-committed one excluded. None after finish().
    """

    pending: tuple[str, ...]
    open: str | None


def recover(states: Iterable[SinkState]) -> list[RecoverAndCommit | RecoverAndAbort]:
    """Return what a restored sink does with the transactions of its state, in order."""
    found: list[RecoverAndCommit | RecoverAndAbort] = []
    for state in states:
        found += [RecoverAndCommit(name) for name in state.pending]
        if state.open is not None:
            found.append(RecoverAndAbort(state.open))
    return found


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
        """Pre-commit the open transaction. Return whether there was one.

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
