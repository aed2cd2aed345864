"""The whole numbers that decide a random scenario, recorded so that it can be drawn again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def lowest(low: int, _: int) -> int:
    """Return the lower bound: what a choice is where a list of choices has ended."""
    return low


class Choices:
    """Takes choices from a list while it lasts, then from a source of further ones.

    given: choices to repeat, as distances from the lower bound; one that is out of bounds, because
    the list was changed, is taken modulo their number.  more: (low, high) -> a number between both,
    included.  `taken` has the distance from the lower bound of every choice so far: given again it
    leads to the same choices, and 0 is the simplest of each.  wanted: situations that scenarios are
    to have, since cores of their slots are explored.
    """

    def __init__(
        self,
        given: Sequence[int] = (),
        more: Callable[[int, int], int] = lowest,
        wanted: Collection[str] = (),
    ) -> None:
        self.wanted = wanted
        self._given = given
        self._more = more
        self.taken: list[int] = []

    def integer(self, low: int, high: int) -> int:
        """Choose a whole number between two bounds, both included."""
        at = len(self.taken)
        if at < len(self._given):
            value = low + self._given[at] % (high - low + 1)
        else:
            value = self._more(low, high)
        self.taken.append(value - low)
        return value

    def of(self, options: Sequence[Item]) -> Item:
        """Choose one of the options; the first is the simplest."""
        return options[self.integer(0, len(options) - 1)]

    def flag(self) -> bool:
        """Choose False or True; False is the simpler."""
        return self.integer(0, 1) == 1

    def features(self, names: Sequence[Item]) -> list[Item]:
        """Choose which features this scenario has at all, each with even odds.

        With some features absent those that are left meet more often than where each scenario has
        a little of everything.  Source: Groce et al., Swarm Testing, ISSTA 2012.
        """
        return [name for name in names if self.flag()]

    def alike(self, options: Sequence[Item]) -> Iterator[Item]:
        """Yield chosen options without end, in every third place the same as before.

        What counts failures in a row, or repetitions, is met by several faults of one kind only.
        """
        last = self.of(options)
        while True:
            yield last
            last = last if self.integer(0, 2) == 2 else self.of(options)

    def several(self, draw: Callable[[], Item], *, most: int) -> tuple[Item, ...]:
        """Choose a few things, none at the simplest.

        Each is announced by a choice of its own, so that a list without some neighbouring choices
        has one thing less and the rest as before.
        """
        found: list[Item] = []
        while len(found) < most and self.integer(0, 2) > 0:
            found.append(draw())
        return tuple(found)
