"""The commands `sweep` and `report` as a user runs them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyarrow import parquet

from ckptsim.analysis.spark.package import program_root
from ckptsim.analysis.sweeps.plan import free_place, sweep_rows
from ckptsim.analysis.tables.store import SweepStore
from ckptsim.scenarios.planning import load_plan
from ckptsim.sim.cli import main

PLAN = """
name = "mine"
scenario = "reference"
replications = {replications}
[overrides]
"sync.streams[*].records" = {records}
[grid]
"sync.sockets.count" = [1, 2]
"""
# So many records that a run takes a tenth of a second: a signal then meets a sweep under way.
LONG = 8000

# A shell lets what it starts in the background ignore interrupts, and tests may run there.
PROGRAM = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from ckptsim.sim.cli import main; sys.exit(main())"
)

PROPERTY = """
def one_attempt(truth):
    return "the run had records" if truth.records else None
"""
WRONG = {
    "--master": ["--master", "sparc://host:7077"],
    "--partitions": ["--partitions", "0"],
    "--conf": ["--conf", "executor.memory=1g"],
}


def plan(directory: Path, *, replications: int, records: int = 200) -> Path:
    path = directory / "plan.toml"
    path.write_text(PLAN.format(replications=replications, records=records))
    return path


@pytest.mark.parametrize("option", WRONG)
def test_a_wrong_option_is_told_before_spark_starts(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, one line that names the option, the value found and the value expected."""
    code = main(["sweep", str(plan(tmp_path, replications=1)), *WRONG[option]])
    said = capsys.readouterr().err
    assert code == 2
    assert said.startswith(f"ckptsim sweep: {option}: found ")
    assert "expected" in said
    assert said.count("\n") == 1


def test_a_wrong_plan_and_a_wrong_directory_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No plan of that name, a directory with other files, a directory without a sweep."""
    assert main(["sweep", "upload_latenzy"]) == 2
    assert "upload_latency" in capsys.readouterr().err
    words = ["sweep", str(plan(tmp_path, replications=1)), "--out", str(tmp_path)]
    assert main(words) == 2
    assert "expected an empty directory" in capsys.readouterr().err
    assert main(["report", str(tmp_path)]) == 2
    assert "no sweep.json" in capsys.readouterr().err


def command(*words: str) -> list[str]:
    return [sys.executable, "-P", "-c", PROGRAM, *words]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(program_root()), "JAVA_HOME": "/nonexistent"}


def sweeping(directory: Path) -> list[str]:
    return command(
        *("sweep", str(plan(directory, replications=100, records=LONG))),
        *("--out", "out", "--master", "local[2]", "--json", "--no-report"),
    )


def stopped(words: list[str], cwd: Path, by: signal.Signals) -> tuple[int, str]:
    """Stop a sweep by a signal once it has saved runs. Return its exit code and the first word."""
    process = subprocess.Popen(
        words, cwd=cwd, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 120
    while not list(cwd.glob("out/runs/*.parquet")) and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(by)
    _, said = process.communicate(timeout=90)
    kept = len(SweepStore(cwd / "out").run_keys())
    how, _, told = said.decode().removeprefix("ckptsim: ").partition("; ")
    assert told == f"{kept} of 200 runs are kept in out; the same command does the rest\n", said
    return process.returncode, how


@pytest.mark.spark
@pytest.mark.long
def test_a_sweep_that_is_asked_to_end_keeps_its_runs(tmp_path: Path) -> None:
    """SIGTERM ends a sweep on Spark with 143 and whole tables, as Ctrl-C does with 130."""
    assert stopped(sweeping(tmp_path), tmp_path, signal.SIGTERM) == (143, "terminated")
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith((".", "_"))]


@pytest.mark.spark
@pytest.mark.long
def test_a_property_of_the_users_is_judged_on_spark(tmp_path: Path) -> None:
    """Workers find the user's function, and its violations are in the tables under its name."""
    (tmp_path / "mine.py").write_text(PROPERTY)
    words = (
        str(plan(tmp_path, replications=2)),
        "--out",
        "out",
        "--master",
        "local[2]",
        "--json",
        "--no-report",
    )
    done = subprocess.run(
        command("sweep", *words, "--property", "mine:one_attempt"),
        cwd=tmp_path, env=environment(), capture_output=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["violated"] == 4
    violations = parquet.read_table(tmp_path / "out" / "violations").to_pylist()
    assert {row["property"] for row in violations} == {"mine:one_attempt"}
    assert {row["says"] for row in violations} == {"the run had records"}


@pytest.mark.spark
def test_an_interrupted_sweep_goes_on_where_it_was(tmp_path: Path) -> None:
    """Ctrl-C ends a sweep with the saved runs. The same command does the rest."""
    words = sweeping(tmp_path)
    assert stopped(words, tmp_path, signal.SIGINT) == (130, "interrupted")

    plan(tmp_path, replications=100, records=LONG)
    done = subprocess.run(
        words, cwd=tmp_path, env=environment(), capture_output=True, timeout=300, check=True
    )
    summary = json.loads(done.stdout)
    assert summary["runs"] == 200
    assert 0 < summary["skipped"] < 200  # many, so that some are left when the signal comes
    assert summary["skipped"] + summary["done"] == 200
    assert done.stderr == b""
    assert summary["errors"] == summary["violated"] == 0


MINE = """
from ckptsim.models.ordering import make_core

def make(parameters):
    return make_core(parameters)
"""


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Sweep a scenario without a plan, in a directory of the user's. Return it and the text."""
    place = tmp_path_factory.mktemp("mine")
    (place / "mine.py").write_text(MINE)
    words = (
        "reference",
        "--vary",
        "core.ordering=builtin,mine:make",
        "--vary",
        "latency=1 ms,9 ms",
    )
    more = ("--seeds", "2", "--save-plan", "saved.toml", "--master", "local[2]")
    done = subprocess.run(
        command("sweep", *words, *more),
        cwd=place, env=environment(), capture_output=True, timeout=300, check=True, text=True,
    )  # fmt: skip
    assert done.stderr == ""
    return place, done.stdout.splitlines()


@pytest.mark.spark
def test_a_sweep_without_a_plan_prints_its_answers(swept: tuple[Path, list[str]]) -> None:
    """A line per point with values in words, a sentence, and where tables and page are."""
    place, said = swept
    assert said[2] == "What changes with core.ordering and latency?"
    assert said[4].split() == ["ordering", "core", "latency", "median", "p95", "n", "violations"]
    points = [line.split()[:3] for line in said[5:9]]
    assert [point[0] for point in points] == ["builtin", "builtin", "mine:make", "mine:make"]
    assert [point[1:] for point in points] == [["1", "ms"], ["9", "ms"]] * 2
    assert any(line.startswith("Median checkpoint duration of a run") for line in said)
    assert said[-4:] == [
        "plan: saved.toml",
        "tables: out/reference",
        "report: out/reference/report.html",
        "open it: ckptsim report out/reference --open",
    ]
    assert max(map(len, said)) <= 100
    assert SweepStore(place / "out" / "reference").tally().errors == 0
    assert {path.name for path in place.iterdir()} - {"__pycache__"} == {
        *("mine.py", "out", "saved.toml"),
    }


@pytest.mark.spark
def test_a_sweep_writes_the_page_that_report_makes(
    swept: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`sweep` leaves the tables and the page that `report` would make."""
    place, _ = swept
    with_sweep = (place / "out" / "reference" / "report.html").read_text()
    assert "What changes with core.ordering and latency?" in with_sweep
    assert "ordering core" in with_sweep
    monkeypatch.chdir(place)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: bool(opened.append(url)) or True)
    assert main(["report", "out/reference", "--open"]) == 0
    assert opened == [(place / "out" / "reference" / "report.html").as_uri()]
    assert (place / "out" / "reference" / "report.html").read_text() == with_sweep


@pytest.mark.spark
def test_a_saved_plan_is_the_same_sweep(
    swept: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan that was saved has the runs that are there, and is explained."""
    place, _ = swept
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(place)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    keys = {row.run_key for row in sweep_rows(load_plan("saved.toml"))}
    assert keys == SweepStore(Path("out/reference")).run_keys()
    assert main(["explain", "saved.toml"]) == 0


@pytest.mark.spark
def test_another_sweep_of_a_scenario_gets_a_directory_of_its_own(
    swept: tuple[Path, list[str]], tmp_path: Path
) -> None:
    """Without --out a sweep takes the first directory that is free, or that has it already."""
    there = swept[0] / "out" / "reference"
    about = SweepStore(there).about()
    assert free_place(there, about, resume=True) == there
    other = {**about, "keys": "others"}
    assert free_place(there, other, resume=True).name == "reference-2"
    assert free_place(there, other, resume=False) == there
    assert free_place(tmp_path, other, resume=True) == tmp_path
    (tmp_path / "notes.txt").touch()
    assert free_place(tmp_path, other, resume=True).name == f"{tmp_path.name}-2"
