"""Jobs in a situation: published bugs are found by their harm, and right designs are clean."""

from __future__ import annotations

import pytest

from ckptsim.models.enumerator import SplitEnumerator
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.planning import with_parameters
from ckptsim.sim.search import Subject
from ckptsim.sim.slots import Factory
from tests.mutants import acknowledger, committer, enumerator, shared_state
from tests.situations.exploring import CLEAN, MOST, explored, runs_to_find

MUTANTS = {
    **committer.MUTANTS,
    **enumerator.MUTANTS,
    **acknowledger.MUTANTS,
    **shared_state.MUTANTS,
}
HARM = {
    "global_committer": "table_has_completed_checkpoints",
    "enumerator": "every_split_has_one_owner",
    "acknowledger": "logs_outlast_checkpoints",
    "shared_state": "restores_find_their_files",
}
SHOWN_BY = {
    "empty_is_not_persisted": "quiet_table_restarts",
    "todays_writers": "committed_after_rescale",
    "merges_writers": "committed_after_rescale",
    "replaces_rows": "one_commit_of_three_writers",
    "assigns_during_checkpoints": "splits_assigned_around_checkpoints",
    "opens_on_triggers": "splits_assigned_around_checkpoints",
    "keeps_at_once": "split_lost_in_a_call",
    "ignores_losses": "split_lost_in_a_call",
    "acknowledges_read": "log_cut_by_acknowledgements",
    "acknowledges_snapshots": "log_cut_by_late_notification",
    "subsumes_for_savepoints": "files_shared_beside_a_savepoint",
    "deletes_with_the_first": "file_older_than_its_checkpoint",
    "deletes_when_aborted": "file_older_than_its_checkpoint",
}
RIGHT: list[tuple[str, Factory]] = [
    *(("global_committer", core) for core in committer.REMEDIES),
    ("enumerator", SplitEnumerator),
    *(("acknowledger", core) for core in acknowledger.REMEDIES),
    *(("shared_state", core) for core in shared_state.REMEDIES),
]
SCENARIOS = {
    slot: sorted({SHOWN_BY[name] for name, one in MUTANTS.items() if one.slot == slot})
    for slot in HARM
}


def test_every_mutant_has_its_scenario() -> None:
    """No planted core is without a scenario of the library that shows it."""
    assert set(SHOWN_BY) == set(MUTANTS)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_published_bug_loses_or_doubles_data(name: str) -> None:
    """The first violation is harm, in the words of those who run such a system."""
    slot = MUTANTS[name].slot
    subject = Subject(scenario=by_name(SHOWN_BY[name]), cores={slot: MUTANTS[name].factory})
    rows = [row for seed in range(8) for row in subject.run(seed, "random").violations[:1]]
    assert {row.property for row in rows} == {HARM[slot]}


@pytest.mark.parametrize(("slot", "core"), RIGHT)
def test_right_designs_are_clean(slot: str, core: type) -> None:
    """Our own cores, and others that keep the same promise, do no harm."""
    for scenario in SCENARIOS[slot]:
        subject = Subject(scenario=by_name(scenario), cores={slot: core})
        for seed in range(3):
            assert subject.run(seed, "random").violations == []


@pytest.mark.parametrize("interval_ns", [2_000_000, 5_000_000])
def test_splits_are_assigned_while_checkpoints_follow_each_other_closely(interval_ns: int) -> None:
    """A checkpoint waits for splits that the one before it holds back, so the data end."""
    close = {"interval_ns": interval_ns, "max_concurrent": 3}
    values = {f"job.checkpointing.{key}": value for key, value in close.items()}
    values |= {"job.costs.rpc_ns": 8_000_000, "job.vertices[0].records": 60}
    scenario = with_parameters(by_name("splits_assigned_around_checkpoints"), values)
    for seed in range(3):
        assert Subject(scenario=scenario).run(seed, "random").violations == []


@pytest.mark.long
@pytest.mark.parametrize("name", MUTANTS)
def test_exploring_finds_a_planted_core_soon(name: str) -> None:
    """The median over seeds is within the bound."""
    assert runs_to_find(MUTANTS[name].slot, MUTANTS[name].factory) <= MOST


@pytest.mark.long
@pytest.mark.parametrize(("slot", "core"), RIGHT)
def test_exploring_clears_right_designs(slot: str, core: type) -> None:
    """They are clean in hundreds of runs."""
    report = explored(slot, core, seed=0, runs=CLEAN)
    assert (report.violating, report.runs) == ([], CLEAN)
