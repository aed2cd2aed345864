"""Runs that break a property repeat: users rely on their replay."""

from __future__ import annotations

import sys

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.search import Subject
from ckptsim.sim.search.trial import trial
from tests.composed.test_mutants import FOUND_BY
from tests.determinism.digests import Run, digests
from tests.determinism.test_determinism import OTHER_PYTHONS, elsewhere
from tests.job.records.mutants.mutant_table import SCENARIO_OF as BARRIERS
from tests.mutants.lifecycle import SHOWN_BY
from tests.store.killed import KILLED_BY
from tests.sync.mutants.mutant_table import SCENARIO_OF as ORDERING

POLICIES = ("random", "pct", "structural")
EVENTS_MAX = 3000
# Mutants that a job on buffers shows. Its compiled driver serves those in structural order of ties.
ON_BUFFERS = ("clock_not_started_after_announcement", "never_times_out", "told_before_stored")


def _pairs() -> list[tuple[str, str]]:
    """Return a scenario and a mutant that it shows, taking the worlds in turn."""
    tables = [
        [(scenario, mutant) for mutant, scenario in ORDERING.items()],
        [(scenario, mutant) for mutant, scenario in BARRIERS.items()],
        [(scenario, mutant) for mutant, (scenario, *_) in KILLED_BY.items()],
        [(scenario, mutant) for mutant, (scenario, _) in FOUND_BY.items()],
        [(scenario, mutant) for mutant, (scenario, _) in SHOWN_BY.items()],
    ]
    longest = max(map(len, tables))
    return [table[at] for at in range(longest) for table in tables if at < len(table)]


def failing_runs(count: int) -> list[Run]:
    """Return that many runs that break a property, of all worlds, short enough to be repeated."""
    found: list[Run] = [
        ("alignment_timeout", seed, "structural", mutant) for seed, mutant in enumerate(ON_BUFFERS)
    ]
    pairs = _pairs()
    too_long: dict[tuple[str, str], None] = {}
    seed = 0
    while len(found) < count:
        for scenario, mutant in pairs:
            if (scenario, mutant) in too_long or len(found) == count:
                continue
            ties = POLICIES[seed % len(POLICIES)]
            tried = trial(Subject(scenario=by_name(scenario), mutant=mutant), seed, ties)
            if tried.events > EVENTS_MAX:
                too_long[scenario, mutant] = None
            elif tried.violations:
                found.append((scenario, seed, ties, mutant))
        seed += 1
    return found


def check_repeats(count: int, *, times: int, hash_seeds: tuple[str, ...]) -> int:
    """Repeat failing runs in other processes and Pythons. Return how many digests were equal."""
    runs = failing_runs(count)
    wanted = digests(runs)
    assert all(text.rpartition(" ")[2] != "0" for text in wanted), "each breaks a property"
    equal = 0
    for python in (sys.executable, *OTHER_PYTHONS):
        for hash_seed in hash_seeds:
            found = elsewhere(runs, hash_seed=hash_seed, python=python, times=times)
            assert found == wanted * times, (python, hash_seed)
            equal += len(found)
    return equal


def test_failing_runs_repeat_elsewhere():
    """A few of each world, both planes of jobs among them, in two processes with other hashes."""
    assert check_repeats(14, times=2, hash_seeds=("0", "1")) >= 14 * 2 * 2


@pytest.mark.long
def test_two_hundred_failing_runs_repeat_twenty_times():
    """200 runs x 20 replays x 3 hash seeds, and on each Python that CKPTSIM_PYTHONS names."""
    equal = check_repeats(200, times=20, hash_seeds=("0", "1", "2"))
    assert equal == 200 * 20 * 3 * (1 + len(OTHER_PYTHONS))
