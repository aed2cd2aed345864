"""What must hold of when a partition syncs: for a cause, by the world's own count of what it took.

Segment markers, which demand no sync, are in no log here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ckptsim.models.store.ingestion.events import Cause

if TYPE_CHECKING:
    from collections.abc import Callable

    from ckptsim.models.store import TopicPartition
    from ckptsim.sim.store.process import Drainer
    from ckptsim.sim.store.truth import SyncAccount
    from ckptsim.sim.store.world import StoreWorld


class SyncOracle:
    """What each open partition has applied since its last complete sync.

    opened, synced: told of each beginning and each completion.
    """

    def __init__(
        self, world: StoreWorld, violate: Callable[[str, str, TopicPartition], None]
    ) -> None:
        self._world = world
        self._violate = violate
        # Partition -> how many records it had applied, and the last position that was synced.
        self._since: dict[TopicPartition, tuple[int, int]] = {}
        self._begun: dict[TopicPartition, int] = {}  # how many when its last sync began

    def opened(self, key: TopicPartition, position: int) -> None:
        """Count anew: an incarnation begins after a position, by the settings of the scenario.

        A release may name another store, and changes nothing else.
        """
        self._since[key] = self._world.truths[key].applied, position
        if self._world.process.stopping:
            self._violate("syncs_have_a_cause", f"{key}: opened by a process that stops", key)
        now, given = self._world.client.settings, self._world.settings
        if replace(now, slot=given.slot) != given:
            self._violate("syncs_have_a_cause", f"{key}: runs by {now}, not by {given}", key)

    def synced(self, key: TopicPartition, account: SyncAccount) -> None:
        """Count anew after a complete sync, from its beginning."""
        self._since[key] = self._begun[key], account.position

    def begun(self, drainer: Drainer, account: SyncAccount) -> None:
        """Check that a sync is due, and that no control entry before has gone without one."""
        key, sync = drainer.key, self._world.model.sync
        before, synced = self._since[key]
        self._begun[key] = drainer.truth.applied
        size = (drainer.truth.applied - before) * self._world.model.input.record_bytes
        due = {
            Cause.BYTES: 0 < sync.sync_bytes <= size,
            Cause.TIME: sync.sync_interval_ns > 0,
            Cause.CONTROL: drainer.feed.control_at(account.position) is not None,
            Cause.REQUEST: self._world.process.stopping,
        }
        if not due[account.cause]:
            says = f"{key}: syncs at {account.position} by {account.cause.name} after {size} bytes"
            self._violate("syncs_have_a_cause", says, key)
        if self._is_late(drainer, size):
            says = f"{key}: a sync begins after {size} bytes, and is due after {sync.sync_bytes}"
            self._violate("syncs_have_a_cause", says, key)
        for position in range(synced + 1, account.position):
            if drainer.feed.control_at(position) is not None and not self._tried(drainer, position):
                says = f"{key}: no sync behind the control entry at {position}"
                self._violate("syncs_have_a_cause", says, key)
                return

    def _is_late(self, drainer: Drainer, size_bytes: int) -> bool:
        """Return whether a sync by bytes was due before the last record, and none has been tried.

        One that fails leaves the count as it is: what follows it is due at once, and never late.
        """
        model, syncs = self._world.model, drainer.truth.syncs
        if not model.sync.sync_bytes or (syncs and syncs[-1].status == "failed"):
            return False
        return size_bytes - model.input.record_bytes >= model.sync.sync_bytes

    def _tried(self, drainer: Drainer, position: int) -> bool:
        """Return whether a sync of this incarnation, failed since, began at a position."""
        return any(one.position == position for one in drainer.truth.syncs)
