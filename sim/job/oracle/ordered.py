"""What must hold of order behind forwarded edges: what belongs together comes as it was sent.

What belongs together is a key group of one split, behind a keyed exchange, or a split; records of
it have rising identities.  It is followed over all subtasks of a vertex: an owner that changes with
a rescale may not begin before what the former one had is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptsim.sim.job.oracle.view import Violate

Unit = tuple[int, ...]


class OrderedRecords:
    """The latest record of each unit at each vertex, in one attempt."""

    def __init__(self, violate: Violate) -> None:
        self._violate = violate
        self._latest: dict[tuple[str, Unit], int] = {}

    def clear(self) -> None:
        """Forget an attempt."""
        self._latest.clear()

    def restored(self, vertex: str, unit: Unit, record: int) -> None:
        """Note a record that the state has from the beginning."""
        self._latest[vertex, unit] = max(record, self._latest.get((vertex, unit), record))

    def taken(self, vertex: str, unit: Unit, record: int) -> None:
        """Check that a record is behind those of its unit."""
        latest = self._latest.get((vertex, unit), -1)
        if record < latest:
            says = f"{vertex} processes record {record} behind {latest}, which was sent later"
            self._violate("needed_order_is_kept", says)
        self._latest[vertex, unit] = max(latest, record)
