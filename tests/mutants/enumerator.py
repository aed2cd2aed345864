"""Mutants of the split enumerator, each a published bug: FLINK-16986, 21996, 23233, 28606."""

from __future__ import annotations

from ckptsim.models import enumerator
from ckptsim.models.enumerator import SplitEnumerator
from ckptsim.sim.mutants.mutant import Mutant, by_name, sentence


class NeverCloses(SplitEnumerator):
    """Assigns splits between its own state and the snapshots of readers (FLINK-16986)."""

    def _keep(self) -> list[enumerator.EnumeratorEffect]:
        found = super()._keep()
        self.closed = {reader: set() for reader in self.closed}
        return found


class OpensOnTriggers(SplitEnumerator):
    """Opens its gateways when triggers are sent, which splits can overtake (FLINK-28606)."""

    def step(self, event: enumerator.EnumeratorEvent) -> list[enumerator.EnumeratorEffect]:
        """Take one event and return its effects."""
        if isinstance(event, enumerator.TriggersSent):
            self._open(self.closed, event.checkpoint)
            return self._assign()
        return super().step(event)


class KeepsAtOnce(SplitEnumerator):
    """Keeps its state while splits are on their way, and loses one of them (FLINK-23233)."""

    def _keep(self) -> list[enumerator.EnumeratorEffect]:
        on_their_way, self.on_their_way = self.on_their_way, {}
        found = super()._keep()
        self.on_their_way = on_their_way
        return found


class IgnoresLosses(SplitEnumerator):
    """Takes a split that is lost for delivered (FLINK-21996)."""

    def step(self, event: enumerator.EnumeratorEvent) -> list[enumerator.EnumeratorEffect]:
        """Take one event and return its effects."""
        if isinstance(event, enumerator.SplitLost):
            event = enumerator.SplitDelivered(event.reader, event.split)
        return super().step(event)


MUTANTS: dict[str, Mutant] = by_name(
    *(
        Mutant(name, sentence(core), "enumerator", core)
        for name, core in (
            ("assigns_during_checkpoints", NeverCloses),
            ("opens_on_triggers", OpensOnTriggers),
            ("keeps_at_once", KeepsAtOnce),
            ("ignores_losses", IgnoresLosses),
        )
    )
)
