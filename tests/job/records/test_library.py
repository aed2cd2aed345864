"""Each library scenario of bounded jobs shows what it says: goals, and nothing broken but that."""

import pytest

from ckptsim.scenarios.catalogue import all_names, by_name
from ckptsim.sim.search import Subject, check
from ckptsim.sim.world import run_world
from tests.job.records.mutants.mutant_table import SCENARIO_OF

LINKS = ("final_checkpoint", "barrier_protocol")
SCENARIOS = [
    name
    for name in all_names()
    if by_name(name).link in LINKS and name not in SCENARIO_OF.values()  # these have their mutants
]


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_breaks_what_it_must_and_reaches_its_goals(name: str) -> None:
    """Over a few seeds and orders nothing unexpected breaks, and every goal is reached."""
    scenario = by_name(name)
    report = check(Subject(scenario=scenario, source=name), range(6), ties=("structural", "random"))
    assert report.unexpected == []
    assert report.unbroken == []
    assert report.missed_goals == []


def test_no_checkpoint_completes_beside_an_endless_sibling() -> None:
    """Union state must end in one checkpoint, so an ended subtask keeps all others from it."""
    result = run_world(by_name("union_endless_sibling"), seed=0)
    completed = [row for row in result.checkpoints if row.status == "completed"]
    # One checkpoint before the first subtask ends at 10 ms would be at 15 ms: there is none.
    assert [row.kind for row in completed][:1] == ["savepoint"]
    refused = [row for row in result.checkpoints if row.status == "aborted"]
    assert len(refused) >= 10
    assert {row.reason for row in refused} <= {
        "union_state_partly_finished_operators",
        "CHECKPOINT_COORDINATOR_SUSPEND",
        "CHECKPOINT_DECLINED_TASK_CLOSING",
    }


def test_refused_checkpoints_of_union_state_do_not_count_as_failures() -> None:
    """A job that tolerates no failed checkpoint survives them: they are tasks that close."""
    result = run_world(by_name("union_partly_finished"), seed=0)
    assert result.run.outcome == "completed"
    assert result.run.attempts == 1
    refused = [row.reason for row in result.checkpoints if row.status == "aborted"]
    assert refused.count("union_state_partly_finished_operators") >= 3
