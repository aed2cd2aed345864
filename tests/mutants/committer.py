"""Mutants of the global committer, each a published bug, and another right design for one of them.

Sources: risingwavelabs/risingwave 26492, apache/iceberg 15846, FLINK-36368, FLINK-37747.
"""

from __future__ import annotations

from ckptsim.models import committer
from ckptsim.models.committer import Collected, GlobalCommitter
from ckptsim.sim.mutants.mutant import Mutant, by_name, sentence


class EmptyIsNotPersisted(GlobalCommitter):
    """Acknowledges a checkpoint without files, and persists nothing of it (risingwave 26492)."""

    def _whole(self, checkpoint: int) -> list[committer.CommitterEffect]:
        found = super()._whole(checkpoint)
        if self.rows[checkpoint]:
            return found
        del self.rows[checkpoint]
        return found[1:]


class TodaysWriters(GlobalCommitter):
    """Waits for as many writers as run now, also for older checkpoints (FLINK-37747)."""

    def step(self, event: committer.CommitterEvent) -> list[committer.CommitterEffect]:
        """Take one event and return its effects."""
        if isinstance(event, committer.SummaryArrived):
            event = committer.SummaryArrived(
                event.checkpoint, event.writer, self.writers, event.count
            )
        return super().step(event)


class Merged(Collected):
    """The committables for one checkpoint, with the counts of all writers in one."""

    @property
    def is_whole(self) -> bool:
        """Whether as many files have come as the summaries so far count."""
        counts = [part.count for part in self.parts.values() if part.count is not None]
        return bool(counts) and len(self.names) >= sum(counts)


class MergesWriters(GlobalCommitter):
    """Merges the files of several writers, so one that is late is not missed (FLINK-36368)."""

    def step(self, event: committer.CommitterEvent) -> list[committer.CommitterEffect]:
        """Take one event and return its effects."""
        if isinstance(event, committer.SummaryArrived | committer.CommittableArrived):
            self.collected.setdefault(event.checkpoint, Merged())
        return super().step(event)


class AtSnapshots(GlobalCommitter):
    """Persists new files at each of its own snapshots, as an operator of Flink does."""

    def __init__(self, writers: int) -> None:
        super().__init__(writers)
        self.since: dict[int, dict[str, None]] = {}  # the last snapshot, by checkpoint
        self.of_commit: tuple[str, ...] = ()

    def step(self, event: committer.CommitterEvent) -> list[committer.CommitterEffect]:
        """Take one event and return its effects."""
        match event:
            case committer.SnapshotTaken():
                return [*self._snapshot(), *self._commit()]
            case committer.CommittableArrived(checkpoint, _, name):
                self.since.setdefault(checkpoint, {})[name] = None
        found = super().step(event)
        if any(number <= self.completed for number in self.since):  # it was overtaken
            found += [*self._snapshot(), *self._commit()]
        return found

    def _collect(self) -> list[committer.CommitterEffect]:
        return []

    def _snapshot(self) -> list[committer.CommitterEffect]:
        found: list[committer.CommitterEffect] = []
        for number, names in sorted(self.since.items()):
            self.rows[number] = self._row(number, tuple(names))
            found.append(committer.Persist(number, self.rows[number]))
        self.since = {}
        whole = [number for number, one in self.collected.items() if one.is_whole]
        for number in [one for one in sorted(self.collected) if one <= max(whole, default=0)]:
            del self.collected[number]
        return [*found, committer.Acknowledge(max(whole))] if whole else found

    def _row(self, checkpoint: int, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the row of a checkpoint with the files since the last snapshot."""
        return tuple(dict.fromkeys((*self.rows.get(checkpoint, ()), *names)))

    def _done(self, checkpoint: int) -> list[committer.CommitterEffect]:
        row, of_commit = self.rows[checkpoint], self.of_commit
        found = super()._done(checkpoint)
        later = tuple(name for name in row if name not in of_commit)
        if later:  # it has come during the commit
            self.rows[checkpoint] = later
            found.append(committer.Persist(checkpoint, later))
        return found

    def _commit(self) -> list[committer.CommitterEffect]:
        found = super()._commit()
        for one in found:
            if isinstance(one, committer.Commit):
                self.of_commit = one.committables
        return found

    def _recover(
        self, checkpoint: int, rows: tuple[committer.Row, ...]
    ) -> list[committer.CommitterEffect]:
        found = super()._recover(checkpoint, rows)
        self.persisted = 0  # a row may lack overtaken files
        return found


class ReplacesRows(AtSnapshots):
    """Puts files that a barrier has overtaken in the place of the others (iceberg 15846)."""

    def _row(self, checkpoint: int, names: tuple[str, ...]) -> tuple[str, ...]:
        return names


MUTANTS: dict[str, Mutant] = by_name(
    *(
        Mutant(name, sentence(core), "global_committer", core)
        for name, core in (
            ("empty_is_not_persisted", EmptyIsNotPersisted),
            ("todays_writers", TodaysWriters),
            ("merges_writers", MergesWriters),
            ("replaces_rows", ReplacesRows),
        )
    )
)
REMEDIES = (GlobalCommitter, AtSnapshots)
