"""How a client keeps its data and checkpoints: when it syncs, in which steps, and where.

A sync happens on every control entry that is no segment marker, and as soon as the bytes of data
records since the last sync reach a threshold.  A sync after a time is an addition of this model:
it bounds what a partition with little traffic repeats.  Segment markers are left out because they
are frequent and each sync costs a flush.

Source: linkedin/venice, `StoreIngestionTask.shouldSyncOffset`, thresholds of `VeniceServerConfig`
(32 MiB after the end of push, 60 MiB before, compared with `>=`, none by time).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from ckptsim.models.store.log import Control
from ckptsim.models.store.medium import Slot

_SEGMENT_MARKERS = (Control.START_OF_SEGMENT, Control.END_OF_SEGMENT)


class Order(IntEnum):
    """Which of the two steps of a sync comes first, where they are two."""

    DATA_FIRST = 0
    CHECKPOINT_FIRST = 1


class StepContent(IntEnum):
    """What one durable step of a sync holds."""

    DATA = 0
    CHECKPOINT = 1
    BOTH = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncRules:
    """When to sync and how. 0 switches a threshold off.

    atomic: data and checkpoint are one step. `order` has no meaning then.
    copies_dictionary: a checkpoint holds the dictionary of its version too.
    """

    sync_bytes: int = 0
    sync_interval_ns: int = 0
    order: Order = Order.DATA_FIRST
    atomic: bool = False
    copies_dictionary: bool = False

    def due_by_bytes(self, bytes_since_sync: int) -> bool:
        """Return whether the counted bytes demand a sync."""
        return 0 < self.sync_bytes <= bytes_since_sync

    def due_by_control(self, control: Control) -> bool:
        """Return whether a control entry demands a sync."""
        return control not in _SEGMENT_MARKERS

    def records_until_due(self, bytes_since_sync: int, record_bytes: int) -> int | None:
        """Count the records of one size up to and with the one that demands a sync.

        Returns None when no number of records does.
        """
        if self.sync_bytes <= 0 or record_bytes <= 0:
            return None
        missing = self.sync_bytes - bytes_since_sync
        return max(1, -(-missing // record_bytes))

    def steps(self) -> tuple[StepContent, ...]:
        """List the durable steps of a sync in their order."""
        if self.atomic:
            return (StepContent.BOTH,)
        if self.order is Order.DATA_FIRST:
            return (StepContent.DATA, StepContent.CHECKPOINT)
        return (StepContent.CHECKPOINT, StepContent.DATA)


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
    """Choices within a placement. The co-located one has only the thresholds.

    sync_bytes: a sync is due when this many bytes of data records were applied. 0 is never.
    sync_interval_ns: the same after this time, where the host has a clock. 0 is never.
    sync_hook: whether a sync flushes the user's data store.
    mirror: whether a built-in copy is flushed at each sync and put back when a partition opens.
    slot: which checkpoint store is in use. BUILT_IN is what a hook that returns nothing means.
    """

    sync_bytes: int = 0
    sync_interval_ns: int = 0
    order: Order = Order.DATA_FIRST
    durability: Durability = Durability.ON_SYNC
    sync_hook: bool = True
    mirror: bool = False
    slot: Slot = Slot.CUSTOM
    reset: Reset = Reset.EARLIEST
    copies_dictionary: bool = False

    def rules(self, placement: Placement) -> SyncRules:
        """Return the rules of syncing that follow for a placement."""
        atomic = placement is Placement.COLOCATED
        return SyncRules(
            sync_bytes=self.sync_bytes,
            sync_interval_ns=self.sync_interval_ns,
            order=self.order,
            atomic=atomic,
            copies_dictionary=self.copies_dictionary,
        )
