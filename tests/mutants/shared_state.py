"""Mutants of the registry of shared state, each a published bug.

Sources: FLINK-21351, ArroyoSystems/arroyo 802, FLINK-24611.
"""

from __future__ import annotations

from ckptsim.models import shared_state
from ckptsim.models.shared_state import DeleteFile, SharedStateEvent, SharedStateRegistry
from ckptsim.sim.mutants.mutant import Mutant, by_name, sentence


class SubsumesForSavepoints(SharedStateRegistry):
    """Lets a savepoint take the place of checkpoints, and deletes their files (FLINK-21351)."""

    def step(self, event: SharedStateEvent) -> list[DeleteFile]:
        """Take one event and return its effects."""
        if isinstance(event, shared_state.CheckpointCompleted) and event.savepoint:
            self.retained = [event.checkpoint]
            return self._delete_unused()
        return super().step(event)


class DeletesWithTheFirst(SharedStateRegistry):
    """Deletes files with the checkpoint that uploaded them, as if by age (arroyo 802)."""

    def _name(self, checkpoint: int, files: tuple[str, ...]) -> None:
        for name in files:
            self.last_named.setdefault(name, checkpoint)


class CountsReferences(SharedStateRegistry):
    """Deletes files that only an aborted checkpoint has named (FLINK-24611)."""

    def step(self, event: SharedStateEvent) -> list[DeleteFile]:
        """Take one event and return its effects."""
        if isinstance(event, shared_state.CheckpointAborted):
            unused = [name for name, last in self.last_named.items() if last == event.checkpoint]
            return [DeleteFile(name) for name in unused if name not in self.kept]
        return super().step(event)

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[str, None] = {}

    def _name(self, checkpoint: int, files: tuple[str, ...]) -> None:
        self.kept.update((name, None) for name in files if name in self.last_named)
        super()._name(checkpoint, files)


MUTANTS: dict[str, Mutant] = by_name(
    *(
        Mutant(name, sentence(core), "shared_state", core)
        for name, core in (
            ("subsumes_for_savepoints", SubsumesForSavepoints),
            ("deletes_with_the_first", DeletesWithTheFirst),
            ("deletes_when_aborted", CountsReferences),
        )
    )
)


class NeverDeletes(SharedStateRegistry):
    """Deletes nothing, as if files lived until the job is cancelled (a right design)."""

    def _delete_unused(self) -> list[DeleteFile]:
        return []


REMEDIES = (SharedStateRegistry, NeverDeletes)
