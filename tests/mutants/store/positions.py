"""Mutants of the positions of a partition in its two logs."""

from __future__ import annotations

from dataclasses import replace

from ckptsim.models.store.positions import (
    AdvanceLocal,
    AdvanceRemote,
    Positions,
    PositionsEffect,
    PositionsEvent,
    PositionsRestored,
    RecordsApplied,
    SourceSwitched,
    Subscribe,
)
from ckptsim.sim.mutants.mutant import Mutant, by_name, sentence


class LiveFlagDecides(Positions):
    """Takes a record for one of the log that is consumed now (venice 2927)."""

    def step(self, event: PositionsEvent) -> list[PositionsEffect]:
        """Forget where a record was produced once the local log is consumed."""
        if isinstance(event, RecordsApplied) and not event.is_remote:
            event = replace(event, produced=None)
        return super().step(event)


class LocalIntoRemote(Positions):
    """Keeps the local position of a record as its remote one, too (venice 1627)."""

    def step(self, event: PositionsEvent) -> list[PositionsEffect]:
        """Let the remote slot follow the local one."""
        effects = super().step(event)
        if isinstance(event, RecordsApplied):
            self.remote = self.local
        return effects


class HighestOfEach:
    """Keeps the highest position of each log that it has seen, which is as good."""

    def __init__(self) -> None:
        self._kept = {False: -1, True: -1}

    def step(self, event: PositionsEvent) -> list[PositionsEffect]:
        """Look at what a record says of both logs."""
        if isinstance(event, SourceSwitched):
            kept = self._kept[event.is_remote]
            return [Subscribe(is_remote=event.is_remote, position=kept)]
        if isinstance(event, PositionsRestored):
            self._kept = {False: event.local, True: event.remote}
            return []
        leads = event.produced is not None
        both = {False: event.produced if leads else event.consumed}
        both[True] = event.consumed if leads else event.carried
        for is_remote, position in both.items():
            if position is not None:
                self._kept[is_remote] = max(self._kept[is_remote], position)
        return [
            AdvanceLocal(position=self._kept[False]),
            AdvanceRemote(position=self._kept[True]),
        ]


MUTANTS = by_name(
    *(
        Mutant(name, sentence(factory), "positions", factory)
        for name, factory in (
            ("live_flag_decides", LiveFlagDecides),
            ("local_into_remote", LocalIntoRemote),
        )
    )
)
