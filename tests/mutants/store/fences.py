"""Mutants of the fence of a shared store, and a right one without epochs."""

from __future__ import annotations

from ckptsim.models.store import StepContent
from ckptsim.models.store.fence import (
    AcceptWrite,
    Fence,
    FenceEffect,
    FenceEvent,
    GrantEpoch,
    OwnerStarted,
    RefuseWrite,
    WriteRequested,
)
from ckptsim.sim.mutants.mutant import Mutant, by_name, sentence


class CommitLogUnchecked(Fence):
    """Compares epochs for rows alone and lets anybody write a checkpoint (SPARK-26425)."""

    def step(self, event: FenceEvent) -> list[FenceEffect]:
        """Accept every checkpoint."""
        if isinstance(event, WriteRequested) and event.part is StepContent.CHECKPOINT:
            return [AcceptWrite(owner=event.owner)]
        return super().step(event)


class DataLogUnchecked(Fence):
    """Compares epochs for checkpoints alone and lets anybody write rows (SPARK-26425)."""

    def step(self, event: FenceEvent) -> list[FenceEffect]:
        """Accept all rows."""
        if isinstance(event, WriteRequested) and event.part is StepContent.DATA:
            return [AcceptWrite(owner=event.owner)]
        return super().step(event)


class EpochOfFirstWrite(Fence):
    """Lets a new owner own the store with its first write, until which the old one writes on."""

    def __init__(self) -> None:
        super().__init__()
        self._granted = 0

    def step(self, event: FenceEvent) -> list[FenceEffect]:
        """Raise the epoch when a write brings a newer one."""
        if isinstance(event, OwnerStarted):
            self._granted += 1
            return [GrantEpoch(owner=event.owner, epoch=self._granted)]
        self.epoch = max(self.epoch, event.epoch)
        return super().step(event)


class SameEpoch(Fence):
    """Grants every owner the same epoch, so that none is older than another."""

    def step(self, event: FenceEvent) -> list[FenceEffect]:
        """Grant the first epoch again."""
        if isinstance(event, OwnerStarted):
            return [GrantEpoch(owner=event.owner, epoch=self.epoch)]
        return super().step(event)


class OwnersInOrder:
    """Remembers who began last instead of an epoch, which is as good."""

    def __init__(self) -> None:
        self._owner = 0

    def step(self, event: FenceEvent) -> list[FenceEffect]:
        """Accept the writes of the last one to begin."""
        if isinstance(event, OwnerStarted):
            self._owner = event.owner
            return [GrantEpoch(owner=event.owner, epoch=0)]
        kind = AcceptWrite if event.owner == self._owner else RefuseWrite
        return [kind(owner=event.owner)]


MUTANTS = by_name(
    *(
        Mutant(name, sentence(factory), "fence", factory)
        for name, factory in (
            ("commit_log_unchecked", CommitLogUnchecked),
            ("data_log_unchecked", DataLogUnchecked),
            ("same_epoch", SameEpoch),
        )
    )
)
