"""Shrink a violating run by its choices: fewer of them, and nearer to the simplest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ckptsim.sim.search.explore.ends import RUN_ENDS
from ckptsim.sim.search.explore.run import Explored, Explorer

RUNS_MAX = 150
# Of a run that does not end: each one that does not either takes its seconds.
_ENDLESS_RUNS_MAX = 4
_HEAD = 2  # tie policy and seed, which come first


@dataclass(frozen=True, slots=True, kw_only=True)
class Fewer:
    """The simplest run found that breaks the property, and how many runs it took."""

    found: Explored
    runs: int


def fewer(
    explorer: Explorer,
    found: Explored,
    *,
    property_name: str,
    runs_max: int = RUNS_MAX,
    progress: Callable[[int], None] | None = None,
    goes_on: Callable[[], bool] = lambda: True,
) -> Fewer:
    """Return the simplest run that still breaks the property; nothing in this is random.

    A list is simpler that has fewer choices other than the simplest, then one that is shorter, then
    one that is smaller at the first difference.  progress: called with the number of runs so
    far, after each.  goes_on: whether there may be another one, asked then.
    """
    if property_name == RUN_ENDS:
        runs_max = min(runs_max, _ENDLESS_RUNS_MAX)
    search = _Search(explorer, found, property_name, runs_max, progress)
    search.goes_on = goes_on
    search.run()
    return Fewer(found=search.best, runs=search.runs)


class _Search:
    """The best list so far, and the runs that are left."""

    def __init__(
        self,
        explorer: Explorer,
        found: Explored,
        name: str,
        runs_max: int,
        progress: Callable[[int], None] | None,
    ) -> None:
        self.best = found
        self.runs = 0
        self._explorer = explorer
        self._name = name
        self._runs_max = runs_max
        self._progress = progress
        self.goes_on: Callable[[], bool] = lambda: True

    def run(self) -> None:
        """Take steps until a whole round brings none, or the runs are used up."""
        self._take((0, *self.best.choices[1:]))
        self._take((0, 0, *self.best.choices[2:]))
        before = None
        while before != self.best.choices and self.runs < self._runs_max:
            before = self.best.choices
            block = max(1, len(before) // 2)
            while block:
                self._blocks(block)
                block //= 2
            self._halves()

    def _blocks(self, block: int) -> None:
        """Remove blocks of choices, or make them the simplest, from the back to the front."""
        # What stands behind decides less: faults come after what they strike.
        begin = len(self.best.choices) - block
        while begin >= _HEAD:
            choices = self.best.choices
            end = begin + block
            removed = choices[:begin] + choices[end:]
            simplest = choices[:begin] + (0,) * block + choices[end:]
            if any(choices[begin:end]):
                _ = self._take(removed) or self._take(simplest)
            begin -= block
            begin = min(begin, len(self.best.choices) - block)

    def _halves(self) -> None:
        """Halve single choices."""
        for at in range(_HEAD, len(self.best.choices)):
            choices = self.best.choices
            while at < len(choices) and choices[at] > 1:
                if not self._take((*choices[:at], choices[at] // 2, *choices[at + 1 :])):
                    break
                choices = self.best.choices

    def _take(self, candidate: tuple[int, ...]) -> bool:
        """Make a list the best one, if it is simpler and breaks the property."""
        if self.runs >= self._runs_max or _order(candidate) >= _order(self.best.choices):
            return False
        got = self._explorer.run(self.best.number, candidate)
        self.runs += 1
        if self._progress is not None:
            self._progress(self.runs)
        if not self.goes_on():
            self._runs_max = self.runs
        broken = any(row.property == self._name for row in got.trial.violations)
        # A shorter list may have been filled up with zeros: compare what was really chosen.
        if not broken or _order(got.choices) >= _order(self.best.choices):
            return False
        self.best = got
        return True


def _order(choices: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
    """Return what simpler lists are smaller in; the seed counts last, as it simplifies nothing."""
    ties, seed, *rest = choices
    return (sum(each != 0 for each in rest), len(choices), (ties, *rest, seed))
