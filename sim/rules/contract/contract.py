"""What the effects of a user's core owe by their documented meaning, whatever the core decides.

A core may decide otherwise than ours: later, more cautiously, by other effects.  But an effect has
a meaning (docs/slots.md): a part is reported with the bytes that were added to it, each operator is
closed before the task is, what no one wants any more is discarded.  Contracts state no more than
that.  They see the events and effects of one core, and nothing of the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Contract:
    """Follows one core. `broken` is the first sentence that it owes, in words for people."""

    def __init__(self) -> None:
        self.broken: str | None = None

    def take(self, now_ns: int, event: Any, effects: Sequence[Any]) -> None:
        """Note what a core has answered to an event."""
        self._before(now_ns, event)
        for effect in effects:
            self._effect(now_ns, event, effect)
        self._after(now_ns, event)

    def owe(self, says: str) -> None:
        """Note that the core owes something. The first such sentence counts."""
        self.broken = self.broken or says

    def _before(self, now_ns: int, event: Any) -> None:
        """Take an event before the effects that it has."""

    def _effect(self, now_ns: int, event: Any, effect: Any) -> None:
        """Take one effect."""

    def _after(self, now_ns: int, event: Any) -> None:
        """Look at what must have come by the end of a step."""
