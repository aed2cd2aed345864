"""Goals: counters of rare situations, so that a green run is known to have reached them."""

from __future__ import annotations

from collections.abc import Iterable


class Goals:
    """How often each "sometimes" situation was reached; declared ones count from zero."""

    __slots__ = ("counts",)

    def __init__(self, declared: Iterable[str] = ()) -> None:
        self.counts: dict[str, int] = dict.fromkeys(declared, 0)

    def reach(self, name: str) -> None:
        """Count one occurrence of the situation."""
        self.counts[name] = self.counts.get(name, 0) + 1

    def missing(self) -> list[str]:
        """Name the declared situations that were never reached, in order of declaration."""
        return [name for name, count in self.counts.items() if count == 0]
