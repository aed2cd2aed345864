"""The page on cores in programs: its programs are convicted as it says."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ckptsim.sim.cli import main
from ckptsim.sim.slots.process.program import close_all
from tests.pages import assert_shown, files_of, sessions_of, text_of

ROOT = Path(__file__).parents[2]
PAGE = text_of("process-cores.md")


def _compiles(java: str | None) -> bool:
    """Return whether a Java runtime compiles a source file by itself."""
    if java is None:
        return False
    told = subprocess.run([java, "--list-modules"], capture_output=True, text=True, check=False)
    return "jdk.compiler" in told.stdout


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Write the page's files into a folder and work there, with this Python as `python`."""
    for name, text in files_of(PAGE).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    monkeypatch.setenv("PATH", path)
    yield tmp_path
    close_all()


@pytest.mark.parametrize("session", sessions_of(PAGE), ids=lambda session: session[0][-60:])
def test_a_command_prints_what_the_page_shows(folder, capsys, session) -> None:
    """Each line shown is printed, in that order, and the exit code says what the lines say."""
    command, *shown = session
    if "process:java" in command and not _compiles(shutil.which("java")):
        pytest.skip("no Java with a compiler is installed")
    words = shlex.split(command.replace("tests/data", str(ROOT / "tests" / "data")))
    code = main(words[1:])
    assert_shown(tuple(shown), capsys.readouterr().out)
    assert code == (0 if shown[-1].split() == ["violations", "none"] else 1)
