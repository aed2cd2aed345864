"""Mutants of the composed pipeline: each lacks one safeguard where two links meet.

A pipeline also has the slots of all its links, and runs their mutants.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ckptsim.models import store
from ckptsim.models.store.ingestion import PartitionIngestion
from ckptsim.sim.composed.destination import PipelineDestination
from ckptsim.sim.composed.destination.committer import Batch, Committer
from ckptsim.sim.job.control.sinks.external import Transaction
from ckptsim.sim.job.control.sinks.sink import SinkWriter
from ckptsim.sim.mutants.mutant import Mutant, by_name, sentence


class ForgetfulSink(SinkWriter):
    """Leaves a transaction out of snapshots while it is being committed."""

    @property
    def pending(self) -> tuple[str, ...]:
        """Return the pre-committed transactions only."""
        return self.precommitted


class BlindCommitter(Committer):
    """Does not commit again what the restored checkpoint has pending."""

    def recover(self, transaction: Transaction, committed: Callable[[], None]) -> None:
        """Take it for committed without a look at the store."""
        committed()


class DeafCommitter(Committer):
    """Commits again what the restored checkpoint has pending, though the store has it."""

    def recover(self, transaction: Transaction, committed: Callable[[], None]) -> None:
        """Write without a look at the store."""
        self.commit(transaction, committed)


class EagerSink(SinkWriter):
    """Writes to the store at the pre-commit of a checkpoint that may yet fail."""

    def precommit(self, checkpoint_id: int, *, open_successor: bool) -> None:
        """Pre-commit and commit at once."""
        super().precommit(checkpoint_id, open_successor=open_successor)
        self.commit((checkpoint_id,))

    def commit(self, checkpoints: tuple[int, ...]) -> None:
        """Commit everything that was not committed yet."""
        super().commit(tuple(n for n in checkpoints if n in self._by_checkpoint))


class NewestFirst(Committer):
    """Commits everything that has queued one by one, the newest first."""

    def taken(self, queue: list[Batch]) -> list[Batch]:
        """Take the newest."""
        return [queue.pop()]


class HastyDestination(PipelineDestination):
    """Reports records as durable when their commit begins."""

    def commit_begun(self, records: tuple[int, ...], number: int) -> None:
        """Report everything that is only about to become durable."""
        self.commit_finished(records, number)


class CarelessDestination(PipelineDestination):
    """Reports a redelivered record at once that the restored checkpoint holds in flight."""

    def is_under_way(self, record: int) -> bool:
        """Look at nothing."""
        return False


class UnknowingDestination(PipelineDestination):
    """Processes a redelivered record again that the restored checkpoint has."""

    def has(self, record: int) -> bool:
        """Look at nothing."""
        return False


class TwoSteps(PartitionIngestion):
    """Writes data and checkpoint of a shared store in two transactions."""

    def __init__(self, rules: store.SyncRules, restored: store.PartitionState) -> None:
        super().__init__(replace(rules, atomic=False), restored)


class TwoStepsReversed(TwoSteps):
    """Writes checkpoint and data of a shared store in two transactions, in that order."""

    def __init__(self, rules: store.SyncRules, restored: store.PartitionState) -> None:
        super().__init__(replace(rules, order=store.Order.CHECKPOINT_FIRST), restored)


def _ingests_by(kind: type[PartitionIngestion]) -> Callable[[store.Placement], store.StoreVersions]:
    def make(placement: store.Placement) -> store.StoreVersions:
        medium = store.ModelMedium(atomic=placement is store.Placement.COLOCATED)
        return store.StoreVersions(
            store.StoreClient(placement, medium, parts=store.Parts(ingestion=kind))
        )

    return make


def _part(name: str, slot: str, kind: type) -> Mutant:
    return Mutant(name, sentence(kind), slot, kind)


MUTANTS = by_name(
    Mutant("two_steps", sentence(TwoSteps), "store", _ingests_by(TwoSteps)),
    Mutant(
        "two_steps_reversed", sentence(TwoStepsReversed), "store", _ingests_by(TwoStepsReversed)
    ),
    _part("forgets_commits_under_way", "sink", ForgetfulSink),
    _part("takes_pending_for_committed", "committer", BlindCommitter),
    _part("ignores_the_store", "committer", DeafCommitter),
    _part("commits_before_completion", "sink", EagerSink),
    _part("commits_newest_first", "committer", NewestFirst),
    _part("reports_before_commit", "destination", HastyDestination),
    _part("takes_in_flight_for_stored", "destination", CarelessDestination),
    _part("takes_redelivered_again", "destination", UnknowingDestination),
)
