"""Every scenario of the library shows what it says, under several seeds and orders of ties."""

from __future__ import annotations

from typing import Any

import pytest

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import all_scenarios
from ckptsim.scenarios.sync import Outcome
from ckptsim.sim.search import Subject, check

TIES = ("random", "structural", "pct")
SEEDS = {"ordering": 12, "checkpoint_store": 9}
# Links whose runs come to their end whatever fails, but where a property breaks or a model says so.
ENDS = ("ordering", "barriers", "composed")


@pytest.mark.parametrize("scenario", all_scenarios(), ids=lambda scenario: scenario.name)
def test_a_scenario_shows_what_it_says(scenario: Scenario) -> None:
    """What must breaks and nothing else, every goal is reached, runs repeat and end as they do."""
    seeds = range(SEEDS.get(scenario.link, 6))
    subject = Subject(scenario=scenario, source=scenario.name)
    report = check(subject, seeds, ties=TIES, keep_going=True)
    assert [(each.seed, each.ties, each.violations) for each in report.unexpected] == []
    assert (report.unbroken, report.late, report.missed_goals) == ([], {}, [])
    model: Any = scenario.model
    may_fail = scenario.violates or getattr(model, "outcome", None) is Outcome.ANY
    if scenario.link in ENDS and not may_fail:
        assert report.outcomes == {"completed": report.runs}
    if scenario.link == "checkpoint_store":
        assert report.outcomes.keys() <= {"completed", "failed"}
        assert not scenario.violates or report.runs in report.expected.values()
