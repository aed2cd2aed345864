"""The whole numbers that decide a random scenario, and documents of values to choose from."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from ckptsim.scenarios.errors import ScenarioError
from ckptsim.scenarios.files import from_json
from ckptsim.scenarios.spec import Scenario

Item = TypeVar("Item")


def lowest(low: int, _: int) -> int:
    """Return the lower bound: what a choice is where a list of choices has ended."""
    return low


class Choices:
    """Takes choices from a list while it lasts, then from a source of further ones.

    given: choices to repeat, as distances from the lower bound. One that is out of bounds, because
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
        """Choose one of the options. The first is the simplest."""
        return options[self.integer(0, len(options) - 1)]

    def flag(self) -> bool:
        """Choose False or True. False is the simpler."""
        return self.integer(0, 1) == 1

    def features(self, names: Sequence[Item]) -> list[Item]:
        """Choose which features this scenario has at all, each with even odds.

        With some features absent those that are left meet more often than where each scenario has
        a little of everything.  Source: Groce et al., Swarm Testing, ISSTA 2012.
        """
        return [name for name in names if self.flag()]

    def alike(self, options: Sequence[Item]) -> Iterator[Item]:
        """Yield chosen options without end, in every third place the same as before."""
        last = self.of(options)
        while True:
            yield last
            last = last if self.integer(0, 2) == 2 else self.of(options)

    def several(self, draw: Callable[[], Item], *, most: int) -> tuple[Item, ...]:
        """Choose a few things, none at the simplest. A choice of its own announces each."""
        found: list[Item] = []
        while len(found) < most and self.integer(0, 2) > 0:
            found.append(draw())
        return tuple(found)


_TRIES = 6
_STEP = re.compile(r"[A-Za-z_]\w*|(?<=\[)\d+(?=\])")


def drawn(choices: Choices, table: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return a table with one of the values of each parameter. The first is the simplest."""
    return {name: choices.of(values) for name, values in table.items()}


def slower(text: Any, factor: int, *, but: Collection[str] = ()) -> Any:
    """Return a document with durations that are so many times as long, except some names."""
    if isinstance(text, Mapping):
        return {
            key: value * factor
            if key.endswith("_ns") and isinstance(value, int) and key not in but
            else slower(value, factor, but=but)
            for key, value in text.items()
        }
    return [slower(one, factor, but=but) for one in text] if isinstance(text, list) else text


def fitted(text: dict[str, Any]) -> Scenario:
    """Return the scenario of a document in base units, without what does not fit."""
    for _ in range(_TRIES):
        try:
            return from_json(json.dumps(text))
        except ScenarioError as error:
            # From the back, so that the places of those in front stay what they are.
            for problem in reversed(error.problems):
                _leave_out(text, [*map(str, _STEP.findall(problem.path.rpartition(": ")[2]))])
    return from_json(json.dumps(text))


def _leave_out(text: Any, path: Sequence[str]) -> None:
    """Take away the value at a path, as far as the document has it. A fault goes as a whole."""
    if path[:1] == ["faults"]:
        path = path[:2]
    holder, last = None, None
    for step in path:
        if isinstance(text, list):
            key: Any = int(step)
            found = key if key < len(text) else None
        else:  # a path may name a parameter without its unit
            found = next((one for one in text if one == step or one.startswith(f"{step}_")), None)
        if found is None:
            break
        holder, last, text = text, found, text[found]
        if not isinstance(text, dict | list):
            break
    if holder is not None:
        del holder[last]
