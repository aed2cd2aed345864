"""Designs as an axis: cores of the user's and mutants in plans, rows, tables and words."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from ckptsim.analysis.answers import printed
from ckptsim.analysis.summaries import read, refresh
from ckptsim.analysis.sweeps.plan import about_sweep, sweep_rows
from ckptsim.scenarios.errors import ScenarioError, UserError
from ckptsim.scenarios.planning import document_of, plan_from, points
from ckptsim.sim.cli import main
from ckptsim.sim.search.check import check
from ckptsim.sim.search.trial import Subject
from tests.analysis.report.small import sweep_here

DESIGNS = """
from ckptsim.models.barriers import SharedStateWriter
from ckptsim.models.ordering import make_core

class Writer(SharedStateWriter):
    pass

def right(parameters):
    return make_core(parameters)

def writer(subtasks):
    return Writer(subtasks)

def raising(parameters):
    core = make_core(parameters)
    step = core.step
    def fail(event):
        if type(event).__name__ == "RecordsDurable":
            raise ZeroDivisionError("durable")
        return step(event)
    core.step = fail
    return core
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write a module of the user's into the working directory and return its name."""
    (tmp_path / "designs_of_mine.py").write_text(DESIGNS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "designs_of_mine", raising=False)
    return "designs_of_mine"


def plan(scenario: str, grid: dict[str, list[object]], **more: object) -> dict[str, Any]:
    return {"name": "designs", "scenario": scenario, "replications": 2, "grid": grid, **more}


@pytest.mark.spark
def test_a_core_is_an_axis_of_ordering(spark: SparkSession, own: str, tmp_path: Path) -> None:
    """Our core has the keys that it has without the axis, the user's those that `check` gives."""
    grid: dict[str, list[object]] = {"core.ordering": ["builtin", f"{own}:right"]}
    rows = sweep_rows(plan_from(plan("reference", grid), source="test"))
    ours = sweep_rows(plan_from(plan("reference", {}), source="test"))
    assert [row.run_key for row in rows[:2]] == [row.run_key for row in ours]
    assert len({row.run_key for row in rows}) == 4
    store = sweep_here(plan("reference", grid), tmp_path / "out")
    runs = store.columns("runs", ["run_key", "cores", "digest", "replay", "seed"])
    assert {run["run_key"] for run in runs} == {row.run_key for row in rows}
    mine = [run for run in runs if run["cores"] != "{}"]
    assert all(f"--core ordering={own}:right" in run["replay"] for run in mine)
    assert all("--set" not in run["replay"] for run in runs)
    by_seed = {(run["seed"], run["cores"] == "{}"): run["digest"] for run in runs}
    assert by_seed[1, True] == by_seed[1, False]  # the same core, brought from outside
    refresh(spark, store)
    findings = read(store)
    assert dict(findings.axes) == {"ordering core": ["builtin", f"{own}:right"]}
    assert any(line.startswith(f"{own}:right ") for line in printed(findings, []))


def test_a_core_in_a_row_is_judged_as_in_check(own: str, tmp_path: Path) -> None:
    """What the user's core breaks is in the rows, in the order and the words of `check`."""
    core = f"{own}:raising"
    store = sweep_here(plan("reference", {"core.ordering": ["builtin", core]}), tmp_path)
    found = store.columns("violations", ["run_key", "property", "says", "replay"])
    (point,) = points(plan_from(plan("reference", {}), source="test"))
    subject = Subject(scenario=point.scenario, cores={"ordering": core}, source="reference")
    (trial, *_) = check(subject, range(1, 2), ties=("structural",)).unexpected
    first = [row for row in found if "--seed 1 " in row["replay"]]
    assert [row["property"] for row in first] == [row.property for row in trial.violations]
    assert first[0]["says"] == trial.violations[0].says
    assert first[0]["replay"] == trial.violations[0].replay
    assert store.tally().violated == 2
    assert main(shlex.split(first[0]["replay"])[1:]) == 1


@pytest.mark.spark
def test_the_writer_of_channel_state_is_an_axis(
    spark: SparkSession, own: str, tmp_path: Path
) -> None:
    """A core of the user's beside ours, and a mutant that loses an error beside the right core."""
    scenario = "flink_24667_disk_error"
    grid: dict[str, list[object]] = {"core.channel_state": ["builtin", f"{own}:writer"]}
    once = {"replications": 1}
    right = sweep_here(plan(scenario, grid, **once), tmp_path / "cores")
    assert (right.tally().runs, right.tally().violated) == (2, 0)
    wrong: dict[str, list[object]] = {"mutant": ["none", "write_error_lost"]}
    store = sweep_here(plan(scenario, wrong, **once), tmp_path / "wrong")
    assert (store.tally().runs, store.tally().violated) == (2, 1)
    (replay,) = [row["replay"] for row in store.columns("runs", ["run_key", "mutant", "replay"])
                   if row["mutant"]]  # fmt: skip
    assert "--mutant write_error_lost" in replay
    refresh(spark, store)
    findings = read(store)
    assert findings.axes == {"mutant": ["no mutant", "write_error_lost"]}
    (line,) = [one for one in printed(findings, []) if one.startswith("write_error_lost")]
    assert "1 of 1 runs" in line


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("core.ordering", "not_there_at_all:make", "no module 'not_there_at_all'"),
        ("core.ordering", "designs_of_mine:wrong", "no callable 'wrong'"),
        ("core.ordering", "designs_of_mine:writer", "core.ordering=designs_of_mine:writer: "),
        ("core.orderin", "designs_of_mine:right", 'did you mean "ordering"?'),
        ("core.handler", "designs_of_mine:right", "expected one of the slots of ordering"),
        ("mutant", "no_orderin", 'did you mean "no_ordering"?'),
    ],
)
def test_a_design_that_cannot_run_is_refused_before(
    own: str, path: str, value: str, says: str
) -> None:
    """Exit code 2 and a sentence, before Spark starts and before a directory is made."""
    del own
    ours = "none" if path == "mutant" else "builtin"
    asked = plan_from(plan("reference", {path: [ours, value]}), source="mine.toml")
    with pytest.raises(UserError) as caught:
        sweep_rows(asked)
    assert str(caught.value).startswith("mine.toml: ")
    assert says in str(caught.value)
    assert main(["sweep", "reference", "--vary", f"{path}={ours},{value}"]) == 2
    assert not Path("out").exists()


def test_a_design_is_a_text() -> None:
    """A number in the place of a core is a problem of the plan, at its place."""
    with pytest.raises(ScenarioError) as caught:
        plan_from(plan("reference", {"core.ordering": [3]}), source="mine.toml")
    assert "core.ordering" in str(caught.value)
    assert "found 3, expected names of cores or mutants" in str(caught.value)


def test_a_changed_core_is_another_sweep(own: str, tmp_path: Path) -> None:
    """Runs with an older source of a core are not taken for runs of a newer one."""
    asked = plan_from(plan("reference", {"core.ordering": [f"{own}:right"]}), source="test")
    before = about_sweep(asked, sweep_rows(asked))
    (tmp_path / f"{own}.py").write_text(DESIGNS + "\n# mended\n")
    after = about_sweep(asked, sweep_rows(asked))
    assert before["program"] != after["program"]
    assert before["keys"] == after["keys"]


def test_a_saved_plan_sweeps_the_same(own: str, tmp_path: Path) -> None:
    """A plan that is written and read again, from another folder, has the same run keys."""
    grid: dict[str, list[object]] = {
        "core.ordering": ["builtin", f"{own}:right"],
        "sync.sockets.latency": ["1 ms", "2 ms"],
    }
    asked = plan_from(plan("reference", grid, ties=["random"]), source="test")
    read = plan_from(json.loads(json.dumps(document_of(asked))), source="again")
    assert [row.run_key for row in sweep_rows(read)] == [row.run_key for row in sweep_rows(asked)]
    (tmp_path / "job.toml").write_text('name = "mine"\nlink = "ordering"\nsays = "mine"\n')
    own_file = plan_from(plan("./job.toml", {}), source="test")
    (tmp_path / "plans").mkdir()
    moved = document_of(own_file, "plans")
    assert moved["scenario"] == "../job.toml"
    again = plan_from(moved, source="test", folder="plans")
    assert [p.scenario for p in points(again)] == [p.scenario for p in points(own_file)]


def test_other_verbs_take_designs_as_parameters(
    own: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--set core.SLOT=...` is `--core`, `--vary mutant=...` is one `--mutant` after the other."""
    assert main(["run", "reference", "--set", f"core={own}:right", "--set", "mutant=none"]) == 0
    assert f"--core ordering={own}:right" in capsys.readouterr().out
    words = ["check", "reference", "--vary", "mutant=none,no_ordering", "--seeds", "1"]
    assert main(words) == 1
    assert "--mutant no_ordering" in capsys.readouterr().out
    assert main(["run", "reference", "--core", f"{own}:right", "--set", f"core={own}:right"]) == 2
