"""Branches of cores: which of them runs reach, and the reasons why some are not reached."""

from __future__ import annotations

import pytest

from ckptsim.models.ordering import OrderingCore
from ckptsim.sim.search.explore import Explorer
from tests.search.exploring.branches import Branches, branches_by_file, source_of
from tests.search.exploring.unreached import explained, places_of, reasons


def test_a_function_that_is_not_as_its_source_says_stays_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What somebody has changed in memory runs changed also where branches are watched."""
    monkeypatch.setattr(OrderingCore, "pending_count", lambda _: 41)
    branches_by_file([])  # gives all functions their notes
    assert OrderingCore.pending_count(None) == 41  # type: ignore[arg-type]


def test_branches_are_named_and_told_once() -> None:
    """Each branch that runs is named the first time only, with file, line and way."""
    branches, explorer = Branches(), Explorer(link="ordering")
    found, named = branches.run(explorer, 0)
    assert len(named) == len(set(named)) > 50
    assert {name.rpartition(" ")[2] for name in named} <= {
        *("call", "true", "false", "loop", "case", "except", "and", "or")
    }
    again, no_more = branches.run(explorer, 0)
    assert no_more == []
    assert again.trial.digest == found.trial.digest
    files = branches_by_file(named)
    reached = sum(count - len(missing) for count, missing in files.values())
    assert reached == len(named), "each branch is one of a file's"


def test_what_no_run_can_reach_is_no_branch_of_a_run() -> None:
    """Interfaces, cases that types exclude and what the import runs are not counted."""
    found = branches_by_file([])
    assert "barriers/handler/interface.py" in found
    assert found["core.py"][1][0].endswith(" call"), "of the error, not of the interface before it"
    assert all(count == len(missing) > 0 for count, missing in found.values())
    tables = found["lifecycle/tables.py"][1]
    source = source_of("lifecycle/tables.py").decode().splitlines()
    assert not any("_same(" in source[int(name.split()[0]) - 1] for name in tables)


def test_reasons_are_of_places_that_are_there() -> None:
    """When source changes, the reason why a branch is not reached goes with it."""
    gone = [f"{path} {what}" for path, what in reasons() if what not in places_of(path)]
    assert gone == []
    _, missing = branches_by_file([])["barriers/handler/machine.py"]
    found = explained("barriers/handler/machine.py", missing)
    assert found
    assert set(found) <= set(missing)
    assert len(set(found.values())) == 1
