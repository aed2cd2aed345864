"""Print the digests of many runs as JSON. Run by the tests in other interpreters.

`python -m tests.determinism.digests RUNS TIMES`, where RUNS is JSON: a list of [scenario, seed,
ties, mutant] to be run in that order, and all of that as many times as TIMES says.
"""

from __future__ import annotations

import json
import sys

from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.world import run_world

Run = tuple[str, int, str, str | None]


def digests(runs: list[Run]) -> list[str]:
    """Return digest, key and end of each run as one text."""
    found: list[str] = []
    scenarios = {name: by_name(name) for name, *_ in runs}
    for name, seed, ties, mutant in runs:
        run = run_world(scenarios[name], seed=seed, ties=ties, mutant=mutant).run
        found.append(f"{run.digest} {run.run_key} {run.outcome} {run.ended_ns} {run.violations}")
    return found


if __name__ == "__main__":
    json.dump(
        digests([tuple(run) for run in json.loads(sys.argv[1])] * int(sys.argv[2])), sys.stdout
    )
