"""Mutants of the acknowledger of a log, each a published bug, and another right design.

Sources: KAFKA-5716, debezium/debezium 7852 (also for its remedy), DBZ-1766.
"""

from __future__ import annotations

from ckptsim.models import acknowledger
from ckptsim.models.acknowledger import Acknowledge, Acknowledger, AcknowledgerEvent, Position
from ckptsim.sim.mutants.mutant import Mutant, by_name, sentence


class AcknowledgesRead(Acknowledger):
    """Acknowledges all it has read when a checkpoint is complete (KAFKA-5716, debezium 7852)."""

    def __init__(self) -> None:
        super().__init__()
        self.read: tuple[Position, ...] = ()

    def step(self, event: AcknowledgerEvent) -> list[Acknowledge]:
        """Take one event and return its effects."""
        if isinstance(event, acknowledger.RecordsRead):
            self.read = event.positions
        if isinstance(event, acknowledger.CheckpointCompleted):
            return self._acknowledge(self.read)
        return super().step(event)


class AcknowledgesSnapshots(Acknowledger):
    """Acknowledges what a snapshot has before its checkpoint is complete (DBZ-1766)."""

    def step(self, event: AcknowledgerEvent) -> list[Acknowledge]:
        """Take one event and return its effects."""
        found = super().step(event)
        if isinstance(event, acknowledger.SnapshotTaken):
            found += self._acknowledge(event.positions)
        return found


class OneBehind(Acknowledger):
    """Acknowledges the checkpoint before the one that is complete (debezium 7852, its remedy)."""

    def __init__(self) -> None:
        super().__init__()
        self.before: tuple[Position, ...] = ()

    def _acknowledge(self, positions: tuple[Position, ...]) -> list[Acknowledge]:
        before, self.before = self.before, positions
        return super()._acknowledge(before)


MUTANTS: dict[str, Mutant] = by_name(
    *(
        Mutant(name, sentence(core), "acknowledger", core)
        for name, core in (
            ("acknowledges_read", AcknowledgesRead),
            ("acknowledges_snapshots", AcknowledgesSnapshots),
        )
    )
)
REMEDIES = (Acknowledger, OneBehind)
