"""What must hold of a mirror: it is the content that is applied, deletions included.

What it should be is worked out anew at each flush: the durable rows that the incarnation began
with, a mirror's that were put back among them, and what the log says behind its first position.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.store import Area
from ckptsim.sim.mishaps import compare

if TYPE_CHECKING:
    from collections.abc import Callable

    from ckptsim.models.store import Rows, TopicPartition
    from ckptsim.sim.store.process import Drainer
    from ckptsim.sim.store.world import StoreWorld


class MirrorOracle:
    """What each open partition began with, and what of it follows for its mirror."""

    def __init__(
        self, world: StoreWorld, violate: Callable[[str, str, TopicPartition], None]
    ) -> None:
        self._world = world
        self._violate = violate
        self._begun: dict[TopicPartition, tuple[int, Rows]] = {}  # position, durable rows there

    def opened(self, key: TopicPartition, position: int) -> None:
        """Note what an incarnation begins with, behind a position."""
        if self._world.client.mirrored:
            self._begun[key] = position, dict(self._world.client.medium.rows(Area.DATA, key))

    def flushed(self, drainer: Drainer, position: int) -> None:
        """Check a mirror that has just become durable, up to a position."""
        key, feed = drainer.key, drainer.feed
        begun, rows = self._begun[key]
        if begun < feed.compacted_to:
            return  # what the log implied behind it is no longer all in it
        expected, first = dict(rows), feed.index_of(begun + 1)
        for record in feed.last_records(first, feed.index_of(position + 1) - first):
            if record.value is None:
                expected.pop(record.key, None)
            else:
                expected[record.key] = record.value
        found = compare(expected, self._world.client.medium.rows(Area.MIRROR, key))
        if found.missing or found.stale or found.ghost:
            self._violate("mirror_is_the_content", f"{key}: at {position}, {found.text()}", key)
