"""Jobs with a global committer: published bugs are found by their harm, and remedies are clean."""

from __future__ import annotations

import pytest

from ckptsim.models.committer import GlobalCommitter
from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.search import Subject
from tests.mutants.committer import MUTANTS, REMEDIES
from tests.situations import CLEAN, MOST, explored, runs_to_find

SLOT = "global_committer"
SHOWN_BY = {
    "empty_is_not_persisted": "quiet_table_restarts",
    "todays_writers": "committed_after_rescale",
    "merges_writers": "committed_after_rescale",
    "replaces_rows": "one_commit_of_three_writers",
}


def test_every_mutant_has_its_scenario() -> None:
    """No planted core is without a scenario of the library that shows it."""
    assert set(SHOWN_BY) == set(MUTANTS)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_published_bug_loses_data(name: str) -> None:
    """The first violation is harm, in the words of those who read the table."""
    subject = Subject(scenario=by_name(SHOWN_BY[name]), cores={SLOT: MUTANTS[name].factory})
    rows = [row for seed in range(8) for row in subject.run(seed, "random").violations[:1]]
    assert rows
    assert {row.property for row in rows} == {"table_has_completed_checkpoints"}


@pytest.mark.parametrize("scenario", sorted(set(SHOWN_BY.values())))
@pytest.mark.parametrize("core", REMEDIES)
def test_right_designs_are_clean(scenario: str, core: type[GlobalCommitter]) -> None:
    """Our own core, and one that persists at its own snapshots, lose nothing."""
    subject = Subject(scenario=by_name(scenario), cores={SLOT: core})
    for seed in range(3):
        assert subject.run(seed, "random").violations == []


@pytest.mark.long
@pytest.mark.parametrize("name", MUTANTS)
def test_exploring_finds_a_planted_core_soon(name: str) -> None:
    """The median over seeds is within the bound."""
    assert runs_to_find(SLOT, MUTANTS[name].factory) <= MOST


@pytest.mark.long
@pytest.mark.parametrize("core", REMEDIES)
def test_exploring_clears_right_designs(core: type[GlobalCommitter]) -> None:
    """They are clean in hundreds of runs."""
    report = explored(SLOT, core, seed=0, runs=CLEAN)
    assert (report.violating, report.runs) == ([], CLEAN)
