"""Properties of random jobs under fault plans and tie orders."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios import Scenario
from sim.world import run_world
from tests.jobs.many import is_hazard
from tests.jobs.plans import jobs


@settings(max_examples=60)
@given(scenario=jobs(), seed=st.integers(0, 1000), ties=st.sampled_from(("structural", "random")))
def test_no_fault_plan_breaks_a_property(scenario: Scenario, seed: int, ties: str) -> None:
    """Whatever fails and in whatever order ties fall: output and state come out exactly once.

    A stop whose savepoint's notification is lost waits for ever by Flink's rules; that hazard has
    a property of its own.
    """
    result = run_world(scenario, seed=seed, ties=ties)
    assert [v.says for v in result.violations if not is_hazard(v)] == []


@pytest.mark.parametrize("name", ["final_chain", "keyed_crash"])
def test_a_run_repeats(name: str) -> None:
    """The same scenario, seed and ties give the same digest again."""
    from scenarios.catalogue import by_name  # noqa: PLC0415

    scenario = by_name(name)
    digests = {run_world(scenario, seed=3, ties="random").run.digest for _ in range(2)}
    assert len(digests) == 1
