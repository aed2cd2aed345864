"""Which properties a run violates: each is reported once, and its violations are counted."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptsim.sim.kernel import Entity, Environment
    from ckptsim.sim.rows import ViolationRow


def record_violation(env: Environment, entity: Entity, name: str, says: str) -> None:
    """Record the first violation of a property, and how much happened until then."""
    env.entries_until[name] = env.trace.count
    env.trace.record("violated", entity, name, says)


class ViolationLog:
    """The violations of one run, by property.

    ignored: properties that are not judged.  counts: property -> how often it was violated, in the
    order of the first times.
    """

    __slots__ = ("counts", "ignored")

    def __init__(self, ignored: Collection[str] = ()) -> None:
        self.ignored = frozenset(ignored)
        self.counts: dict[str, int] = {}

    def is_first(self, name: str) -> bool:
        """Count a violation. Return whether it is the first one of a property that is judged."""
        if name in self.ignored:
            return False
        count = self.counts[name] = self.counts.get(name, 0) + 1
        return count == 1

    def counted(self, rows: Iterable[ViolationRow]) -> list[ViolationRow]:
        """Return the rows with the number of violations of their properties."""
        return [replace(row, count=self.counts[row.property]) for row in rows]

    @property
    def total(self) -> int:
        """How many violations there were of all properties."""
        return sum(self.counts.values())
