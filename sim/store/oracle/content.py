"""What must hold of durable content, in a mirror as well: it is the applied data, deletes included.

Nothing is applied before the log has it.

What it should be is worked out anew at each flush: the durable rows that the incarnation began
with, a mirror's that were put back among them, and what the log says after its first position.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.store import Area
from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.store import Upsert
from ckptsim.sim.mishaps import compare

if TYPE_CHECKING:
    from collections.abc import Callable

    from ckptsim.models.store import Rows, TopicPartition
    from ckptsim.sim.store.process import Drainer
    from ckptsim.sim.store.world import StoreWorld

# Of more keys, in a partition or in all of a topic, only a mirror is worked out, which is looked at
# nowhere else. An assumption: with so many a flush takes as long to check as to carry out.
_KEYS_MAX, _KEYS_MAX_IN_ALL = 2_000, 100_000


class ContentOracle:
    """What each open partition began with, and what of it follows for its durable rows."""

    def __init__(
        self, world: StoreWorld, violate: Callable[[str, str, TopicPartition], None]
    ) -> None:
        self._world = world
        self._violate = violate
        self._area = Area.MIRROR if world.client.mirrored else Area.DATA
        # Where the first of duplicates wins, the applied data depends on the rows that are there.
        is_plain = world.model.sync.upsert is Upsert.LAST_WINS
        given = world.model.input
        is_small = given.keys <= _KEYS_MAX and given.keys * given.partitions <= _KEYS_MAX_IN_ALL
        self._is_checked = is_plain and (is_small or self._area is Area.MIRROR)
        self._expected: dict[TopicPartition, tuple[int, Rows]] = {}  # rows up to a position

    def opened(self, key: TopicPartition, position: int) -> None:
        """Note what an incarnation begins with, after a position."""
        if self._is_checked:
            self._expected[key] = position, dict(self._world.client.medium.rows(Area.DATA, key))

    def applied(self, drainer: Drainer, position: int, begun_ns: int, entries: int = 1) -> None:
        """Check that entries up to a position had the time it takes, and that the log had them."""
        apply_ns, world = self._world.model.process.apply_ns, self._world
        idle_until_ns = begun_ns + (entries - 1) * apply_ns
        earliest_ns = max(idle_until_ns, drainer.feed.available_ns(position)) + apply_ns
        if earliest_ns > world.env.now:
            says = f"{drainer.key}: {position} is applied before {duration_text(earliest_ns)}"
            self._violate("durable_rows_are_the_content", says, drainer.key)

    def flushed(self, drainer: Drainer, position: int) -> None:
        """Check rows that have just become durable, up to a position."""
        if not self._is_checked:
            return
        key, feed = drainer.key, drainer.feed
        begun, expected = self._expected[key]
        if begun < feed.compacted_to:
            return  # what the log implied after it is no longer all in it
        first = feed.index_of(begun + 1)
        for record in feed.last_records(first, feed.index_of(position + 1) - first):
            if record.value is None:
                expected.pop(record.key, None)
            else:
                expected[record.key] = record.value
        self._expected[key] = position, expected
        found = compare(expected, self._world.client.medium.rows(self._area, key))
        if found.missing or found.stale or found.ghost:
            says = f"{key}: at {position}, {found.text()}"
            self._violate("durable_rows_are_the_content", says, key)
