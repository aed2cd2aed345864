"""Without an optional package everything works that does not need it. The rest says what to do."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from ckptsim.sim.cli.main import EXIT_FINE, EXIT_USER, main
from ckptsim.sim.extras import EXTRAS, ExtraMissing, extras_explained, require

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MEASURED = "tests/data/flink/calibration.jsonl"
# Import names that are not the names of their distributions, or that come with another one.
DISTRIBUTIONS = {"py4j": "pyspark"}


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every optional package one that is not installed."""
    ours = ("ckptsim.analysis", "ckptsim.sim.store.real")
    for name in list(sys.modules):
        if name.startswith(ours) or name.partition(".")[0] in EXTRAS:
            monkeypatch.delitem(sys.modules, name)
    for name in EXTRAS:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("sweep upload_latency --out {}/sweep", "sweeps"),
        ("report {}", "sweeps"),
        ("demo --out {}/demo", "sweeps"),
        (f"validate {MEASURED} --out {{}}/validate", "sweeps"),
        ("run pipeline_aligned --store {}/a.duckdb", "store"),
        ("store {}/a.duckdb", "store"),
        ("measure-store --out {}/costs.toml", "store"),
    ],
)
def test_a_verb_names_the_extra_that_it_needs(
    command: str, extra: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A verb without its package ends as for wrong input, with the command to install it."""
    assert main(command.format(tmp_path).split()) == EXIT_USER
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.endswith(f"pip install 'ckptsim[{extra}]'\n")
    assert len(told.err.splitlines()) == 1
    assert list(tmp_path.rglob("*.*")) == []


@pytest.mark.usefixtures("bare")
def test_a_story_is_told_without_its_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`replay` writes story and traces all the same, and says why the picture is missing."""
    words = ["replay", "alignment_timeout", "--checkpoint", "3", "--out", str(tmp_path)]
    assert main(words) == EXIT_FINE
    assert "barriers.svg is not drawn: this needs matplotlib" in capsys.readouterr().err
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"story.txt", "trace.perfetto.json", "sequence.mmd", "shiviz.log"}


def test_a_run_imports_no_extra() -> None:
    """A fresh interpreter that lists, runs and checks has imported no optional package."""
    program = (
        "import sys; from ckptsim.sim.cli import main\n"
        "assert main(['list', '--json']) == 0\n"
        "for name in ('reference', 'alignment_timeout', 'pipeline', 'external_crashes'):\n"
        "    assert main(['run', name]) == 0\n"
        "assert main(['check', 'reference', '--seeds', '2']) == 0\n"
        f"print([name for name in {sorted(EXTRAS)!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


def test_other_import_errors_pass() -> None:
    """A module of ours or of a user's that is not there is not taken for a missing extra."""
    with pytest.raises(ModuleNotFoundError), extras_explained():
        require("ckptsim.no_such_module")
    with pytest.raises(ExtraMissing, match=r"ckptsim\[store\]"), extras_explained():
        raise ModuleNotFoundError(name="duckdb.inner")


def test_each_extra_brings_what_it_is_named_for() -> None:
    """Every optional package is among the requirements of the extra that the message names."""
    for package, extra in EXTRAS.items():
        names = {Requirement(line).name for line in PROJECT["optional-dependencies"][extra]}
        assert DISTRIBUTIONS.get(package, package) in names


def test_the_lock_has_one_version_within_every_range() -> None:
    """`requirements.lock` pins each requirement, also of the extras, within its range."""
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    pinned = re.findall(r"(?m)^([\w.-]+)==([\w.]+)", lock)
    groups = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    for requirement in (Requirement(line) for group in groups for line in group):
        versions = [version for name, version in pinned if name == requirement.name]
        assert len(versions) == 1, requirement.name
        assert requirement.specifier.contains(versions[0]), f"{requirement} and {versions}"
        assert all(clause.operator != "==" for clause in requirement.specifier)
