"""Many random dataflow jobs in a row: which properties broke, which rare situations were reached.

`python -m tests.dataflow.many FIRST LAST` runs the jobs of these seeds and prints the tally.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from time import process_time

from scenarios.dataflow_names import GOALS
from sim.world import run_world
from tests.dataflow.plans import random_job

TIES = ("structural", "random", "pct")
# What released Flink does: a tracker with one channel left loses the clock of a checkpoint and
# fails its task.  It has a property of its own.
HAZARDS = ("single_channel_keeps_the_clock",)


@dataclass(slots=True)
class Tally:
    """What many runs showed; goals: situation -> number of runs that reached it."""

    runs: int = 0
    checkpoints: Counter[str] = field(default_factory=Counter)
    modes: Counter[str] = field(default_factory=Counter)
    goals: Counter[str] = field(default_factory=Counter)
    hazards: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)

    def missed(self) -> list[str]:
        """Return the situations that no run reached."""
        return [name for name in GOALS if not self.goals[name]]


def tally(seeds: range) -> Tally:
    """Run the random job of each seed under the next tie policy."""
    found = Tally()
    for seed in seeds:
        scenario, ties = random_job(seed), TIES[seed % len(TIES)]
        result = run_world(scenario, seed=seed, ties=ties)
        found.runs += 1
        found.modes[scenario.model.checkpoint.mode.value] += 1
        found.outcomes[result.run.outcome] += 1
        found.checkpoints.update(row.status for row in result.checkpoints)
        found.goals.update(name for name, count in result.goals.items() if count)
        for row in result.violations:
            if row.property in HAZARDS:
                found.hazards[row.property] += 1
            else:
                found.violations.append(f"seed {seed}, {ties}: {row.property}: {row.says}")
    return found


if __name__ == "__main__":
    began_s = process_time()
    shown = tally(range(int(sys.argv[1]), int(sys.argv[2])))
    rate = shown.runs / (process_time() - began_s)
    print(f"{shown.runs} runs, {rate:.1f} per second, {dict(shown.modes)}, {dict(shown.outcomes)}")
    print(f"checkpoints: {dict(shown.checkpoints)}")
    print(f"goals: {dict(shown.goals)}; missed: {shown.missed()}; hazards: {dict(shown.hazards)}")
    print("\n".join(shown.violations[:20]) or "no violation")
