"""Shrink a scenario that breaks a property to one in which nothing is left that is not needed.

The scenario's document is made simpler step by step: fewer faults, fewer items of any array, less
work (a run with a tenth fewer events), more parameters at their default, smaller and rounder
numbers.  A step is taken when the document still loads and still breaks the same property under the
seed and ties found, or under one of a few others.  Every step makes the document or the run
smaller and no later step undoes it, so this ends; nothing in it is random.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ckptsim.scenarios import LINKS, Scenario, ScenarioError
from ckptsim.scenarios.files import document
from ckptsim.sim.search.trial import Subject, Trial, trial

Path = tuple[str | int, ...]
Size = tuple[int, int, int, int]

_OTHER_SEEDS = range(4)
TRIALS_MAX = 2000
# Keys of a document's head that say what the scenario is, not what happens in it.
_HEAD = frozenset({"name", "link", "says", "goals", "violates"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """The smallest scenario found, and the trial that breaks it.

    trials: runs that it took; removed: what was made simpler, as many steps as there were.
    """

    scenario: Scenario
    trial: Trial
    trials: int
    steps: int


class ShrinkStopped(KeyboardInterrupt):
    """Interrupted shrinking, with the smallest scenario until then."""

    def __init__(self, shrunk: Shrunk) -> None:
        super().__init__()
        self.shrunk = shrunk


def shrink(
    subject: Subject,
    found: Trial,
    *,
    property_name: str,
    trials_max: int = TRIALS_MAX,
    progress: Callable[[int], None] | None = None,
) -> Shrunk:
    """Return the simplest scenario that still breaks the property.

    progress: called with the number of runs so far, after each.
    Raises ShrinkStopped when it is interrupted.
    """
    search = _Shrinker(subject, found, property_name, trials_max)
    search.progress = progress
    try:
        search.run()
    except KeyboardInterrupt as stop:
        raise ShrinkStopped(search.so_far()) from stop
    return search.so_far()


class _Shrinker:
    """The state of one search: the best document so far and the trial that breaks it."""

    def __init__(self, subject: Subject, found: Trial, name: str, trials_max: int) -> None:
        self._subject = subject
        self._name = name
        self._left = trials_max
        self.scenario = subject.scenario
        self.found = found
        self.trials = 0
        self.progress: Callable[[int], None] | None = None
        self.steps = 0
        self._document = _plain(subject.scenario)
        self._default = _default(subject.scenario)

    def run(self) -> None:
        """Take steps until a whole round brings none, or the trials are used up."""
        self._simpler_trial()
        before = -1
        while before != self.steps and self._left > 0:
            before = self.steps
            self._round(_without_items, self._is_smaller)
            self._round(_with_less_of_something, self._is_less_work)
            self._round(_with_defaults, self._is_simpler)
            self._round(_with_smaller_numbers, self._is_simpler)

    def so_far(self) -> Shrunk:
        """Return the smallest scenario until now."""
        return Shrunk(
            scenario=self.scenario, trial=self.found, trials=self.trials, steps=self.steps
        )

    def _is_smaller(self, candidate: dict[str, Any], _: Trial | None) -> bool:
        return _size(candidate, self._default) < _size(self._document, self._default)

    def _is_less_work(self, _: dict[str, Any], found: Trial | None) -> bool:
        return found is None or found.events * 10 < self.found.events * 9

    def _is_simpler(self, candidate: dict[str, Any], found: Trial | None) -> bool:
        more_work = found is not None and found.events > self.found.events
        return not more_work and self._is_smaller(candidate, found)

    def _round(
        self,
        candidates: Callable[[Any, Any], Iterator[Any]],
        better: Callable[[dict[str, Any], Trial | None], bool],
    ) -> None:
        """Take the first candidate that is better, until there is none.

        better: judges a document before it is run (with None), and with the trial afterwards.
        """
        again = True
        while again and self._left > 0:
            again = False
            for candidate in candidates(self._document, self._default):
                if self._left <= 0:
                    break
                if self._take(candidate, better):
                    again = True
                    break

    def _take(
        self, candidate: dict[str, Any], better: Callable[[dict[str, Any], Trial | None], bool]
    ) -> bool:
        """Make the candidate the best one, if it is better, loads and breaks the property."""
        if not better(candidate, None):
            return False
        try:
            scenario = document.read(candidate, source="a smaller scenario")
        except ScenarioError:
            return False
        found = self._broken(scenario)
        if found is None or not better(candidate, found):
            return False
        self.scenario, self.found, self._document = scenario, found, candidate
        self.steps += 1
        return True

    def _broken(self, scenario: Scenario) -> Trial | None:
        """Return a trial of the scenario that breaks the property, if one of a few does."""
        attempts = [(self.found.seed, self.found.ties)]
        attempts += [(seed, self.found.ties) for seed in _OTHER_SEEDS if seed != self.found.seed]
        for seed, ties in attempts:
            if self._left <= 0:
                break
            got = self._try(replace(self._subject, scenario=scenario), seed, ties)
            if any(row.property == self._name for row in got.violations):
                return got
        return None

    def _try(self, subject: Subject, seed: int, ties: str) -> Trial:
        self._left -= 1
        self.trials += 1
        found = trial(subject, seed, ties)
        if self.progress is not None:
            self.progress(self.trials)
        return found

    def _simpler_trial(self) -> None:
        """Prefer structural ties and a small seed, which make the story easier to follow."""
        for seed, ties in [(0, "structural"), (self.found.seed, "structural"), (0, "random")]:
            if (ties, seed) == (self.found.ties, self.found.seed):
                return
            got = self._try(self._subject, seed, ties)
            if any(row.property == self._name for row in got.violations):
                self.found = got
                return


def _plain(scenario: Scenario) -> dict[str, Any]:
    found = document.plain(scenario)
    return {key: value for key, value in found.items() if key != "goals"} | {"goals": []}


def _default(scenario: Scenario) -> dict[str, Any]:
    """Return the document with everything that has a default at its default."""
    without = replace(scenario, faults=(), goals=())
    return document.plain(without) | document.defaults(LINKS[scenario.link])


def _leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the single values of a document with their paths, arrays after what they hold."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if path or key not in _HEAD:
                yield from _leaves(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _leaves(inner, (*path, index))
    else:
        yield path, value


def _arrays(value: Any, path: Path = ()) -> Iterator[tuple[Path, list[Any]]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if path or key not in _HEAD:
                yield from _arrays(inner, (*path, key))
    elif isinstance(value, list):
        yield path, value
        for index, inner in enumerate(value):
            yield from _arrays(inner, (*path, index))


def _at(value: Any, path: Path) -> Any:
    """Return what stands at a path, or None."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _with(found: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(found)
    holder = _at(changed, path[:-1])
    holder[path[-1]] = value
    return changed


def _without_items(found: dict[str, Any], default: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the document without parts of its arrays: halves first, then single items."""
    counted = [item for item in _arrays(found) if _weight(*item, default)]
    arrays = sorted(counted, key=lambda item: (item[0][0] != "faults", -len(item[1])))
    for path, items in arrays:
        half = len(items) // 2
        if half > 1:
            yield _with(found, path, items[half:])
            yield _with(found, path, items[:half])
        for index in reversed(range(len(items))):
            yield _with(found, path, items[:index] + items[index + 1 :])


def _with_less_of_something(
    found: dict[str, Any], _default: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the document with one whole number smaller, be it at its default or not."""
    for path, value in _leaves(found):
        if isinstance(value, int) and not isinstance(value, bool) and value > 1:
            for number in dict.fromkeys([1, value // 10, value // 2]):
                yield _with(found, path, number)


def _with_defaults(found: dict[str, Any], default: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the document with one parameter, or one table, at its default."""
    for key, value in found.items():
        if key in default and key not in _HEAD and key != "faults" and value != default[key]:
            yield _with(found, (key,), copy.deepcopy(default[key]))
            if isinstance(value, dict):
                for name, inner in value.items():
                    other = _at(default, (key, name))
                    if other is not None and inner != other:
                        yield _with(found, (key, name), copy.deepcopy(other))
    for path, value in _leaves(found):
        other = _at(default, path)
        if other is not None and other != value:
            yield _with(found, path, other)


def _with_smaller_numbers(
    found: dict[str, Any], default: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the document with one number smaller or rounder."""
    for path, value in _leaves(found):
        if value == _at(default, path) or isinstance(value, bool):
            continue
        if isinstance(value, int):
            rounded = 10 ** (len(str(abs(value))) - 1)
            simpler = [
                0,
                1,
                rounded,
                value // 10,
                value // 2,
                value // rounded * rounded,
                value - 1,
            ]
            for number in dict.fromkeys(simpler):
                if 0 <= number < value:
                    yield _with(found, path, number)
        elif isinstance(value, float):
            for real in dict.fromkeys([0.0, 1.0, float(round(value)), round(value, 1)]):
                if 0 <= real != value:
                    yield _with(found, path, real)


def _weight(path: Path, array: list[Any], default: dict[str, Any]) -> int:
    """Return how many items an array counts for; one of single values at its default for none."""
    plain = not any(isinstance(item, dict) for item in array)
    return 0 if plain and array == _at(default, path) else len(array)


def _size(found: dict[str, Any], default: dict[str, Any]) -> Size:
    """Return how large a document is: items, parameters that differ, digits, sum of numbers."""
    items = sum(_weight(path, array, default) for path, array in _arrays(found))
    different = digits = total = 0
    for path, value in _leaves(found):
        if value == _at(default, path):
            continue
        different += 1
        if isinstance(value, int) and not isinstance(value, bool):
            digits += len(str(abs(value)).rstrip("0"))
            total += abs(value)
        elif isinstance(value, float):
            digits += len(repr(value).replace(".0", "").strip("0."))
            total += int(abs(value))
    return items, different, digits, total
