"""The guide: its examples load and expand, its paths lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ckptsim.scenarios.files import load
from ckptsim.scenarios.planning import assignments, load_plan, runs, with_parameters

GUIDE = (Path(__file__).parents[2] / "docs" / "scenarios.md").read_text(encoding="utf-8")
SCENARIO, PLAN = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)


def test_the_examples_of_the_guide_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The guide's scenario loads, and its plan expands to the number of runs that it states."""
    monkeypatch.chdir(tmp_path)
    Path("slow-store.toml").write_text(SCENARIO, encoding="utf-8")
    Path("plan.toml").write_text(PLAN, encoding="utf-8")
    scenario = load(Path("slow-store.toml"))
    assert scenario.name == "slow-store"
    found = runs(load_plan("plan.toml"))
    assert len({run.point.index for run in found}) == 16
    assert len(found) == 16 * 20
    words = re.findall(r"--set (?:'([^']+)'|(\S+=\S+))", GUIDE)
    settings = [quoted or bare for quoted, bare in words if "PATH" not in quoted + bare]
    assert len(settings) >= 4
    for word in settings:
        with_parameters(scenario, assignments([word]))
