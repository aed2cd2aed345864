"""Shrink a scenario that breaks a property to one in which nothing is left that is not needed.

The cheap big wins come first: faults later than the violation, structural ties, the other faults,
and less work until the violation, which makes all later runs short.  Then the document: everything
in which it differs from the defaults goes, in halves, quarters and so on down to single faults,
items and values. Numbers become small and round, and the run short.  Where ties stay in another
order, as few instants as possible have it, and the document is tried once more. A step is taken
when the document still loads and still breaks the same property.  Every step makes the document or
the run smaller and no later step undoes it, so this ends. Nothing in it is random.  A limit of time
may end it sooner, and then the machine has a say in the smallest scenario.

Source: Zeller and Hildebrandt, Simplifying and isolating failure-inducing input, IEEE Transactions
on Software Engineering 28 (2002), for the halves.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic, process_time
from typing import Any

from ckptsim.scenarios import LINKS, Scenario, ScenarioError, UserError
from ckptsim.scenarios.files import document
from ckptsim.sim.kernel import Noting, parse_ties
from ckptsim.sim.limits import TooLongError, limited_cpu
from ckptsim.sim.search import simpler
from ckptsim.sim.search.trial import Subject, Trial, trial

Run = Callable[[Subject, int, str, int | None], Trial]
"""Runs a subject with a seed and a tie policy, for so many steps at most."""

TRIALS_MAX = 300
SECONDS_MAX = 30.0
# At most so many of them for the instants of ties, and at most so many to name.
_TIES_TRIALS_MAX = 60
_INSTANTS_MAX = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """The smallest scenario, its trial, the trials that it took, and the steps of simplifying."""

    scenario: Scenario
    trial: Trial
    trials: int
    steps: int

    @property
    def decisions(self) -> int:
        """How many choices decide the run: faults, instants out of order, or one for the policy."""
        _, named, instants = self.trial.ties.partition("@")
        ties = instants.count(".") + 1 if named else int(self.trial.ties != "structural")
        return len(self.scenario.faults) + ties


class Clock:
    """How much time shrinking has left: of the processor, and twice as much that passes."""

    def __init__(self, seconds: float) -> None:
        self._until_s = process_time() + seconds
        self._passes_s = monotonic() + 2 * seconds

    @property
    def is_over(self) -> bool:
        """Whether the time is used up."""
        return process_time() >= self._until_s or monotonic() >= self._passes_s

    @property
    def left_s(self) -> float:
        """How many seconds of the processor are left, more than none."""
        return max(0.001, self._until_s - process_time())


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
    seconds_max: float = math.inf,
    run_seconds_max: float = math.inf,
    run: Run | None = None,
) -> Shrunk:
    """Return the simplest scenario that still breaks the property.

    progress: called with the number of runs so far, after each.  seconds_max: for all runs.
    run_seconds_max: of the processor, after which a run counts for nothing.  run: carries out and
    judges a run. By default the world does. Raises ShrinkStopped when it is interrupted.
    """
    search = _Shrinker(subject, found, property_name, trials_max)
    search.progress, search.carry_out = progress, run or trial
    search.clock, search.run_seconds_max = Clock(seconds_max), run_seconds_max
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
        self.carry_out: Run = trial
        self.clock, self.run_seconds_max = Clock(math.inf), math.inf
        self.steps = 0
        self._document = _plain(subject.scenario)
        self._default = _default(subject.scenario)
        self._failed: dict[str, None] = {}  # documents that were tried for nothing
        self._idle: dict[simpler.Path, None] = {}  # numbers that have no part in the work
        self._breaks = False  # the document that was tried last breaks the property

    def run(self) -> None:
        self._without(self._later_faults())
        self._simpler_trial()
        self._fewer_faults()
        self._less_work()
        self._simpler_document()
        if self.found.ties != "structural" and self._left > 0:
            self._fewer_instants()
            self._simpler_document()

    def _simpler_document(self) -> None:
        before = -1
        while before != self.steps and self._left > 0:
            before = self.steps
            self._take_away()
            self._simpler_numbers()
            self._less_work()

    def so_far(self) -> Shrunk:
        return Shrunk(
            scenario=self.scenario, trial=self.found, trials=self.trials, steps=self.steps
        )

    # Faults -----------------------------------------------------------------------------------

    def _later_faults(self) -> list[int]:
        """Return the places of faults that are set for instants after the violation."""
        rows = [row for row in self.found.violations if row.property == self._name]
        return [
            place
            for place, fault in enumerate(self.scenario.faults)
            if rows and (getattr(fault, "at_ns", None) or -1) > rows[0].at_ns
        ]

    def _fewer_faults(self) -> None:
        count = len(self.scenario.faults)
        if count and not self._without(range(count)):
            for place in reversed(range(count)):
                self._without([place])

    def _without(self, places: Sequence[int]) -> bool:
        if not places or self._left <= 0:
            return False
        gone = [simpler.Delta(("faults",), place) for place in places]
        candidate = simpler.without(self._document, gone, self._default)
        return self._take(candidate, self._is_smaller)

    # Ties -------------------------------------------------------------------------------------

    def _simpler_trial(self) -> None:
        """Prefer structural ties and a small seed, which make the story easier to follow."""
        for seed, ties in [(0, "structural"), (self.found.seed, "structural"), (0, "random")]:
            if (ties, seed) == (self.found.ties, self.found.seed):
                return
            got = self._try(self.scenario, seed, ties)
            if got is not None:
                self.found = got
                return

    def _fewer_instants(self) -> None:
        """Order as few instants as possible as the policy does, and all others structurally."""
        base, seed = self.found.ties.partition("@")[0], self.found.seed
        if not base.startswith(("random", "pct")):
            return
        noting = Noting(parse_ties(base, seed))
        try:
            with limited_cpu(self.clock.left_s):
                replace(self._subject, scenario=self.scenario).run(seed, noting)
        except (UserError, TooLongError):
            return
        self.trials, self._left = self.trials + 1, self._left - 1
        instants = sorted(noting.shared)
        least = max(0, self._left - _TIES_TRIALS_MAX)
        kept, found = instants, self.found
        block = len(instants)
        while block and self._left > least:
            begin = 0
            while begin < len(kept) and self._left > least:
                fewer = kept[:begin] + kept[begin + block :]
                named = f"{base}@{'.'.join(map(str, fewer))}" if fewer else "structural"
                got = self._try(self.scenario, seed, named)
                if got is None:
                    begin += block
                else:
                    kept, found = fewer, got
            block //= 2
        if len(kept) <= _INSTANTS_MAX:
            self.found = found

    # The document -----------------------------------------------------------------------------

    def _take_away(self) -> None:
        """Take away all that is not needed, in blocks that are halved again and again."""
        there = simpler.deltas(self._document, self._default)
        block = len(there)
        while block and self._left > 0:
            begin = 0
            while begin < len(there) and self._left > 0:
                candidate = simpler.without(
                    self._document, there[begin : begin + block], self._default
                )
                if self._take(candidate, self._is_smaller):
                    there = simpler.deltas(self._document, self._default)
                else:
                    begin += block
            block //= 2

    def _simpler_numbers(self) -> None:
        for path, value in list(simpler.leaves(self._document)):
            if value == simpler.at(self._default, path):
                continue
            for number in simpler.smaller_numbers(value):
                if self._left <= 0:
                    return
                if self._take(simpler.with_value(self._document, path, number), self._is_simpler):
                    break

    def _less_work(self) -> None:
        """Make numbers smaller, also those at their default, where enough work goes.

        That is a tenth of what happens until the violation, or half of the whole run.

        A number that may be 1 and then saves nothing has no part in the work: it is tried once.
        """
        for path, value in list(simpler.leaves(self._document)):
            if not isinstance(value, int) or isinstance(value, bool) or value <= 1:
                continue
            for number in dict.fromkeys([1, value // 10, value // 2]):
                if self._left <= 0 or path in self._idle:
                    break
                if self._take(simpler.with_value(self._document, path, number), self._is_less_work):
                    break
                if self._breaks:
                    self._idle[path] = None

    def _is_smaller(self, candidate: dict[str, Any], _: Trial | None) -> bool:
        return simpler.size(candidate, self._default) < simpler.size(self._document, self._default)

    def _is_less_work(self, _: dict[str, Any], found: Trial | None) -> bool:
        if found is None or self._work(found) * 10 < self._work(self.found) * 9:
            return True
        return self._work(found) <= self._work(self.found) and found.events * 2 < self.found.events

    def _is_simpler(self, candidate: dict[str, Any], found: Trial | None) -> bool:
        more_work = found is not None and self._work(found) > self._work(self.found)
        return not more_work and self._is_smaller(candidate, found)

    def _work(self, found: Trial) -> int:
        return found.work_until(self._name)

    def _take(
        self, candidate: dict[str, Any], better: Callable[[dict[str, Any], Trial | None], bool]
    ) -> bool:
        """Make the candidate the best one if it is `better`, loads and breaks the property."""
        self._breaks = False
        if not better(candidate, None):
            return False
        text = json.dumps(candidate, sort_keys=True)
        if text in self._failed:
            return False
        self._failed[text] = None
        try:
            scenario = document.read(candidate, source="a smaller scenario")
        except ScenarioError:
            return False
        found = self._try(scenario, self.found.seed, self.found.ties)
        self._breaks = found is not None
        if found is None or not better(candidate, found):
            return False
        self.scenario, self.found, self._document = scenario, found, candidate
        self.steps += 1
        return True

    def _try(self, scenario: Scenario, seed: int, ties: str) -> Trial | None:
        """Return a trial, if it breaks the property and takes no more than twice the work."""
        self._left -= 1
        self.trials += 1
        subject = replace(self._subject, scenario=scenario)
        try:
            with limited_cpu(min(self.run_seconds_max, self.clock.left_s)):
                found = self.carry_out(subject, seed, ties, 2 * self.found.events + 1000)
        except UserError:
            raise
        except TooLongError:
            found = None
        except Exception:  # noqa: BLE001 - a faulty host may raise there: another fault, or none
            found = None
        if self.progress is not None:
            self.progress(self.trials)
        if self.clock.is_over:
            self._left = 0
        if found is None or all(row.property != self._name for row in found.violations):
            return None
        return found


def _plain(scenario: Scenario) -> dict[str, Any]:
    found = document.plain(scenario)
    return {key: value for key, value in found.items() if key != "goals"} | {"goals": []}


def _default(scenario: Scenario) -> dict[str, Any]:
    without_plan = replace(scenario, faults=(), goals=())
    return document.plain(without_plan) | document.defaults(LINKS[scenario.link])
