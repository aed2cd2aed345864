"""Measured runs of state, storage and recovery, predicted from their configuration alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ckptsim
from ckptsim.scenarios import ScenarioError
from ckptsim.sim.validate.state.measured import RECOVERY, STEADY

FILE = Path(__file__).parents[3] / "data" / "flink" / "state.jsonl"


def test_measured_runs_are_predicted() -> None:
    """Nine of ten values are right, with the keys of the measured blocks, in every family."""
    found = ckptsim.validate([FILE], seeds=2).validation
    runs = found.document()["runs"]
    assert len(runs) == 5
    for one in runs:
        assert set(one["predicted"]["steady"]) == set(one["measured"]["steady"]) == set(STEADY)
    (failed,) = [one for one in runs if one["run_id"] == "r_base#2"]
    assert set(failed["predicted"]["recovery"]) == set(RECOVERY)
    score = found.document()["state_score"]
    assert score["share"] >= 0.9
    assert min(score["families"].values()) >= 0.7
    assert any("family S" in line for line in found.lines(runs=False))


def test_a_line_that_is_no_run_is_refused_with_its_place(tmp_path: Path) -> None:
    """The message names the unknown backend, and the ones that are known."""
    line = json.loads(FILE.read_text("utf-8").splitlines()[0])
    line["config"]["backend"] = "disk"
    wrong = tmp_path / "runs.jsonl"
    wrong.write_text(json.dumps(line), "utf-8")
    with pytest.raises(ScenarioError) as caught:
        ckptsim.validate([wrong], seeds=1)
    assert "config.backend" in str(caught.value)
    assert "hashmap, rocksdb" in str(caught.value)
