"""Measured costs reach the model: the file that is written runs, with what was measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenarios import load
from scenarios.store import StoreModel
from sim.cli.main import EXIT_FINE, EXIT_USER, main
from sim.world import run_world


def test_measured_costs_are_those_that_the_model_uses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every measured cost stands in the written scenario, which runs."""
    out = tmp_path / "deep" / "measured.toml"
    words = ["measure-store", "--repeats", "3", "--json", "--out", str(out)]
    assert main(words) == EXIT_FINE
    document = json.loads(capsys.readouterr().out)
    assert all(row["n"] >= 3 and row["median_ns"] > 0 for row in document["measurements"])
    scenario = load(out)
    model = scenario.model
    assert isinstance(model, StoreModel)
    for name, value in document["costs"].items():
        assert getattr(model.costs, name) == value
    result = run_world(scenario, seed=0)
    assert result.violations == []
    synced = [row for row in result.checkpoints if row.status == "completed"]
    assert min(row.duration_ns or 0 for row in synced) >= model.costs.transaction_ns


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--scenario", "s01_crash"], "s01_crash"),
        (["--folder", "/no/such/folder"], "expected a folder"),
        (["--repeats", "1"], "from 3 to 10000"),
    ],
)
def test_wrong_arguments_are_the_users(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A scenario, folder or number that will not do is refused with what was expected."""
    assert main(["measure-store", *words]) == EXIT_USER
    assert says in capsys.readouterr().err
