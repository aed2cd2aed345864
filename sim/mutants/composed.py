"""Mutants of the composed pipeline: each lacks one safeguard where two links meet.

A mutant replaces parts of the pipeline and leaves everything else right.  The mutants of the cores
alone are beside this module; here are those of them that the whole must tell as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.composed.committer import Batch, Committer
from ckptsim.sim.composed.destination import PipelineDestination
from ckptsim.sim.composed.parts import Parts
from ckptsim.sim.composed.sink import StoreSink
from ckptsim.sim.job.records.sink import SinkWriter
from ckptsim.sim.mutants.lifecycle import MUTANTS as LIFECYCLES
from ckptsim.sim.mutants.ordering import MUTANTS as ORDERINGS
from ckptsim.sim.mutants.store_slots import ForgetfulMedium, TornMedium

if TYPE_CHECKING:
    from ckptsim.sim.world import RunSpec


class ForgetfulSink(StoreSink):
    """Leaves a transaction out of snapshots as soon as its commit has begun."""

    @property
    def pending(self) -> tuple[str, ...]:
        """Return the pre-committed transactions only."""
        return SinkWriter.pending.__get__(self)  # type: ignore[no-any-return]


class BlindSink(StoreSink):
    """Takes everything that the restored snapshot has pending for committed."""

    def recover_and_commit(self, name: str) -> None:
        """Conclude without a look at the store."""
        SinkWriter.conclude(self, name)


class DeafSink(StoreSink):
    """Commits everything again that the restored snapshot has pending, whatever the store says."""

    def recover_and_commit(self, name: str) -> None:
        """Write without a look at the store."""
        self.conclude(name)


class EagerSink(StoreSink):
    """Writes a transaction at its pre-commit, before anybody knows that the checkpoint is whole."""

    def precommit(self, checkpoint_id: int, *, open_successor: bool) -> None:
        """Pre-commit and commit at once."""
        super().precommit(checkpoint_id, open_successor=open_successor)
        self.commit((checkpoint_id,))

    def commit(self, checkpoints: tuple[int, ...]) -> None:
        """Commit what was not committed yet."""
        super().commit(tuple(n for n in checkpoints if n in self._by_checkpoint))


class NewestFirst(Committer):
    """Commits the transactions that have queued one by one, the newest first."""

    def taken(self, queue: list[Batch]) -> list[Batch]:
        """Take the newest."""
        return [queue.pop()]


class HastyDestination(PipelineDestination):
    """Reports a commit when it begins, not when it is durable."""

    def commit_begun(self, records: tuple[int, ...], number: int) -> None:
        """Report what is only about to become durable."""
        self.commit_finished(records, number)


class CarelessDestination(PipelineDestination):
    """Takes a record for stored that the restored checkpoint only holds in flight."""

    def is_under_way(self, record: int) -> bool:
        """Look at nothing."""
        return False


class UnknowingDestination(PipelineDestination):
    """Hands every record to the job, also one that the restored checkpoint has."""

    def has(self, record: int) -> bool:
        """Look at nothing."""
        return False


@dataclass(frozen=True, slots=True)
class PipelineMutant:
    """A faulty pipeline: what it does wrong, and the parts that do it."""

    says: str
    parts: Parts


def _core(name: str) -> PipelineMutant:
    mutant = ORDERINGS[name]
    return PipelineMutant(mutant.says, Parts(core=mutant.make))


MUTANTS: dict[str, PipelineMutant] = {
    "checkpoint_first": PipelineMutant(
        "Writes the checkpoint before the data it speaks of.", Parts(checkpoint_first=True)
    ),
    "two_steps": PipelineMutant(
        "Writes data and checkpoint of a shared store in two transactions.", Parts(two_steps=True)
    ),
    "two_steps_reversed": PipelineMutant(
        "Writes checkpoint and data of a shared store in two transactions, in that order.",
        Parts(two_steps=True, checkpoint_first=True),
    ),
    "torn_transaction": PipelineMutant(
        "Leaves the rows of a transaction behind that a crash has cut off.",
        Parts(medium=TornMedium),
    ),
    "forgets_commits_under_way": PipelineMutant(
        "Leaves a transaction out of snapshots while it is being committed.",
        Parts(sink=ForgetfulSink),
    ),
    "takes_pending_for_committed": PipelineMutant(
        "Does not commit again what the restored checkpoint has pending.", Parts(sink=BlindSink)
    ),
    "ignores_the_store": PipelineMutant(
        "Commits again what the restored checkpoint has pending, though the store has it.",
        Parts(sink=DeafSink),
    ),
    "commits_before_completion": PipelineMutant(
        "Writes to the store at the pre-commit of a checkpoint that may yet fail.",
        Parts(sink=EagerSink),
    ),
    "commits_newest_first": PipelineMutant(
        "Commits what has queued one by one, the newest first.", Parts(committer=NewestFirst)
    ),
    "forgets_last_checkpoint": PipelineMutant(
        "Takes a checkpoint for durable that a crash takes away.", Parts(medium=ForgetfulMedium)
    ),
    "reports_before_commit": PipelineMutant(
        "Reports records as durable when their commit begins.", Parts(destination=HastyDestination)
    ),
    "takes_in_flight_for_stored": PipelineMutant(
        "Reports a redelivered record at once that the restored checkpoint holds in flight.",
        Parts(destination=CarelessDestination),
    ),
    "takes_redelivered_again": PipelineMutant(
        "Processes a redelivered record again that the restored checkpoint has.",
        Parts(destination=UnknowingDestination),
    ),
    "finishes_without_acknowledgement": PipelineMutant(
        "Lets a task close before the tasks behind it have polled its EndOfData.",
        Parts(lifecycle=LIFECYCLES["closes_without_acknowledgement"].make),
    ),
    "takes_any_completion": PipelineMutant(
        "Lets a task close on a checkpoint from before its end.",
        Parts(lifecycle=LIFECYCLES["accepts_any_completion"].make),
    ),
    "no_ordering": _core("no_ordering"),
    "gaps_tolerated": _core("gaps_tolerated"),
    "no_source_count": _core("no_source_count"),
    "cursor_before_send": _core("cursor_before_send"),
    "early_return": _core("early_return"),
}


def parts_of(spec: RunSpec) -> Parts:
    """Return the parts of a run; a core of the user's is an ordering core."""
    if spec.core is not None:
        return Parts(core=spec.core)
    if spec.mutant is None:
        return Parts()
    if spec.mutant not in MUTANTS:
        raise UserError(f"--mutant: found {spec.mutant!r}, expected one of {', '.join(MUTANTS)}")
    return MUTANTS[spec.mutant].parts
