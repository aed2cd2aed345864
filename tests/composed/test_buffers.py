"""Pipelines on buffers: what holds on records holds there, and what breaks there breaks here."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.world import run_world
from tests.composed.plans import MS, on_buffers, pipelines
from tests.composed.test_library import ANTI, SOUND
from tests.composed.test_mutants import FOUND_BY
from tests.composed.test_random_pipelines import TIES, survey

SEEDS = range(8)
# When the crash strikes that shows the loss: in front of it something was committed.
CRASH_AT_NS = {"pipeline_disk_lost": 560 * MS, "pipeline_not_hooked": 560 * MS}


@pytest.mark.parametrize("name", SOUND)
def test_sound_designs_keep_their_promise(name: str) -> None:
    """Whatever fails, each record is stored, once where that is promised, and the run ends well."""
    found = [run_world(on_buffers(name), seed=s, ties=TIES[s % len(TIES)]) for s in SEEDS]
    assert [row.says for result in found for row in result.violations] == []
    assert {result.run.outcome for result in found} == {"completed"}


@pytest.mark.parametrize("name", ANTI)
def test_anti_patterns_show_what_they_break(name: str) -> None:
    """Every property that an anti-pattern is said to break is broken in some run, and no other."""
    scenario = on_buffers(name, crash_at_ns=CRASH_AT_NS.get(name))
    found = [run_world(scenario, seed=s, ties=TIES[s % len(TIES)]) for s in SEEDS]
    broken = {row.property for result in found for row in result.violations}
    assert broken == set(by_name(name).violates)


@pytest.mark.parametrize("mutant", FOUND_BY)
def test_mutant_is_found_where_the_right_one_is_not(mutant: str) -> None:
    """Within a few seeds the mutant breaks what it breaks on records, the right one nothing."""
    name, broken = FOUND_BY[mutant]
    scenario = on_buffers(name)
    for seed in range(40):
        result = run_world(scenario, seed=seed, ties="random", mutant=mutant)
        if broken in {row.property for row in result.violations}:
            assert run_world(scenario, seed=seed, ties="random").violations == []
            return
    pytest.fail(f"{mutant} breaks nothing on {name}")


@settings(max_examples=50)
@given(scenario=pipelines("buffers"), seed=st.integers(0, 1000), ties=st.sampled_from(TIES))
def test_no_fault_plan_breaks_a_property(scenario: Scenario, seed: int, ties: str) -> None:
    """Whatever fails and in whatever order ties fall, the run completes with each record stored."""
    result = run_world(scenario, seed=seed, ties=ties)
    assert [row.says for row in result.violations] == []
    assert result.run.outcome == "completed"


def check_situations(reached: Counter[str]) -> None:
    """Check that rare situations were reached where links meet, and in the buffers."""
    for goal in (
        "attempt_restarted",
        "committed_again",
        "committed_before_the_crash",
        "crashed_between_data_and_checkpoint",
        "in_flight_records_restored",
        "redelivered_record_dropped",
        "redelivered_record_still_under_way",
        "snapshot_during_commit",
        "several_transactions_in_one_commit",
        "source_crashed",
        "back_pressured",
        "credit_starvation",
        "overtook_buffers",
    ):
        assert reached[goal] >= 2, goal


def test_plans_reach_the_rare_situations() -> None:
    """Some plans crash, recover, drop and commit again, so the suite is not idle."""
    check_situations(survey(range(110), "buffers"))


@pytest.mark.parametrize("seed", [1133])
def test_plans_that_once_found_something(seed: int) -> None:
    """Plans that showed a fault of the program stay whole.

    The state of readers that had finished before the second of three attempts was forgotten.
    """
    survey(range(seed, seed + 1), "buffers")


@pytest.mark.long
def test_five_thousand_plans() -> None:
    """Five thousand random fault plans and tie orders break nothing, and reach what is rarest."""
    reached = survey(range(1_000, 6_000), "buffers")
    for goal in ("restored_after_end_of_data", "timed_out_in_output", "expired"):
        assert reached[goal], goal
