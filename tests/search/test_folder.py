"""The folder of a find: its pytest file fails for the reason found, and holds once that is gone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ckptsim.sim.cli import main

ROOT = Path(__file__).parents[2]
MUTANT = "cursor_before_send"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Hunt a mutant of the ordering core into a folder."""
    place = tmp_path_factory.mktemp("hunt") / "found"
    words = ["hunt", "b01_send_fails", "--mutant", MUTANT, "--out", str(place)]
    assert main(words) == 1
    return place


def run_pytest(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the folder's test alone, from another folder."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)],
        cwd=folder.parent,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_pytest_file_fails_for_the_reason_found(folder) -> None:
    """It runs with nothing but the folder and the package, and shows sentence and story."""
    decisions = json.loads((folder / "decisions.json").read_text("utf-8"))
    done = run_pytest(folder)
    assert "1 failed" in done.stdout, done.stdout + done.stderr
    assert f"test_{decisions['property']}" in done.stdout
    assert decisions["says"] in done.stdout
    assert "last good point" in done.stdout


def test_the_pytest_file_passes_when_the_fault_is_gone(folder, tmp_path) -> None:
    """With our core in the mutant's place the same file passes."""
    for name in ("scenario.toml", "test_find.py"):
        text = (folder / name).read_text("utf-8")
        (tmp_path / name).write_text(text.replace(f"mutant='{MUTANT}'", "mutant=None"))
    done = run_pytest(tmp_path)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_a_folder_repeats_wherever_it_is(folder, tmp_path, capsys) -> None:
    """Moved elsewhere it repeats the digest, and every file but the replay command is the same."""
    moved = shutil.copytree(folder, tmp_path / "elsewhere")
    assert main(["replay", str(moved), "--out", str(tmp_path / "pictures")]) == 1
    text = capsys.readouterr().out
    assert "repeated: the digest is the one that was kept" in text
    for name in ("trace.perfetto.json", "sequence.mmd", "shiviz.log"):
        assert (tmp_path / "pictures" / name).read_bytes() == (folder / name).read_bytes()
