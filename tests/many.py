"""Many random jobs in a row: which properties broke, and which rare situations were reached.

`tests/job/many.py` and `tests/uncoordinated/jobs.py` say which jobs, and are the programs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from time import process_time

from ckptsim.scenarios import Scenario
from ckptsim.sim.rows import ViolationRow
from ckptsim.sim.world import run_world

TIES = ("structural", "random", "pct")
_AT_ONCE = 500  # seeds between two lines of progress

Tell = Callable[[str], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunt:
    """Where to look: the jobs by seed, and what about them is worth counting.

    mode: the name of a job's checkpoint mode. is_hazard: whether a violation is a documented one.
    """

    random_job: Callable[[int], Scenario]
    goals: tuple[str, ...]
    mode: Callable[[Scenario], str]
    is_hazard: Callable[[Scenario, ViolationRow], bool]


@dataclass(slots=True)
class Tally:
    """What many runs showed. goals: situation -> number of runs that reached it."""

    expected: tuple[str, ...]
    runs: int = 0
    modes: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    checkpoints: Counter[str] = field(default_factory=Counter)
    goals: Counter[str] = field(default_factory=Counter)
    hazards: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)

    def missed(self) -> list[str]:
        """Return the situations that no run reached."""
        return [name for name in self.expected if not self.goals[name]]

    def lines(self) -> list[str]:
        """Return everything, for people."""
        return [
            f"{self.runs} runs: {_counts(self.modes)}; {_counts(self.outcomes)}",
            f"checkpoints: {_counts(self.checkpoints) or 'not counted'}",
            f"goals: {_counts(self.goals)}; missed: {', '.join(self.missed()) or 'none'}",
            f"hazards: {_counts(self.hazards) or 'none'}",
            f"violations: {len(self.violations)}",
            *self.violations[:20],
        ]


def tally(hunt: Hunt, seeds: Iterable[int], tell: Tell = str) -> Tally:
    """Run the random job of each seed under the next tie policy.

    tell: is given each violation as it comes. An error names its seed.
    """
    found = Tally(hunt.goals)
    for seed in seeds:
        try:
            _play(hunt, seed, found, tell)
        except Exception as error:
            error.add_note(f"seed {seed}, {TIES[seed % len(TIES)]}")
            raise
    return found


def show(hunt: Hunt, arguments: list[str]) -> None:
    """Run the jobs of the seeds FIRST to LAST (not included), with a line every 500 of them."""
    first, last = map(int, arguments)
    began_s, whole = process_time(), Tally(hunt.goals)
    tell = partial(print, flush=True)
    for begin in range(first, last, _AT_ONCE):
        end = min(begin + _AT_ONCE, last)
        _add(whole, tally(hunt, range(begin, end), tell))
        rate = whole.runs / (process_time() - began_s)
        says = f"seeds {first} to {end - 1}: {len(whole.violations)} violations, "
        tell(f"{says}{len(whole.missed())} goals missed, {rate:.1f} runs per second")
    tell("\n".join(whole.lines()))


def _play(hunt: Hunt, seed: int, found: Tally, tell: Tell) -> None:
    scenario, ties = hunt.random_job(seed), TIES[seed % len(TIES)]
    result = run_world(scenario, seed=seed, ties=ties)
    found.runs += 1
    found.modes[hunt.mode(scenario)] += 1
    found.outcomes[result.run.outcome] += 1
    found.checkpoints.update(row.status for row in result.checkpoints)
    found.goals.update(name for name, count in result.goals.items() if count)
    for row in result.violations:
        if hunt.is_hazard(scenario, row):
            found.hazards[row.property] += 1
        else:
            found.violations.append(f"seed {seed}, {ties}: {row.property}: {row.says}")
            tell(found.violations[-1])


def _add(whole: Tally, part: Tally) -> None:
    whole.runs += part.runs
    whole.modes += part.modes
    whole.outcomes += part.outcomes
    whole.checkpoints += part.checkpoints
    whole.goals += part.goals
    whole.hazards += part.hazards
    whole.violations += part.violations


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counter.items()))
