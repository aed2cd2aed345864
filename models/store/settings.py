"""How a client keeps its data and checkpoints: placement and everything one can choose in it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from ckptsim.models.store.medium import Slot
from ckptsim.models.store.rules import Order, SyncRules


class Placement(IntEnum):
    """Where a checkpoint lies, relative to the data it speaks of."""

    EXTERNAL = 0
    COLOCATED = 1
    CONSUMER_GROUP_BLOB = 2


class Durability(IntEnum):
    """When a record that was applied becomes durable: at the next sync, or at once."""

    ON_SYNC = 0
    PER_RECORD = 1


class Reset(IntEnum):
    """Where a consumer group starts when it has no offset (any more)."""

    EARLIEST = 0
    LATEST = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Choices within a placement; the co-located one has only the thresholds.

    sync_bytes: a sync is due when this many bytes of data records were applied; 0 is never.
    sync_interval_ns: the same after this time, where the host has a clock; 0 is never.
    sync_hook: whether a sync flushes the user's data store.
    mirror: whether a built-in copy is flushed at each sync and put back when a partition opens.
    slot: which checkpoint store is in use; BUILT_IN is what a hook that returns nothing means.
    """

    sync_bytes: int = 0
    sync_interval_ns: int = 0
    order: Order = Order.DATA_FIRST
    durability: Durability = Durability.ON_SYNC
    sync_hook: bool = True
    mirror: bool = False
    slot: Slot = Slot.CUSTOM
    reset: Reset = Reset.EARLIEST

    def rules(self, placement: Placement) -> SyncRules:
        """Return the rules of syncing that follow for a placement."""
        atomic = placement is Placement.COLOCATED
        return SyncRules(
            sync_bytes=self.sync_bytes,
            sync_interval_ns=self.sync_interval_ns,
            order=self.order,
            atomic=atomic,
        )
