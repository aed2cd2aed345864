"""The README: short, and everything that it shows is what the program prints and draws."""

from __future__ import annotations

import shlex

import pytest

from ckptsim.sim.cli import main
from tests.pages import ROOT, assert_shown, files_of, sessions_of

README = (ROOT / "README.md").read_text(encoding="utf-8")
WORDS_MAX = 500
PICTURE = "alignment_timeout", "3"


def test_the_readme_is_short() -> None:
    """The README has fewer than 500 words."""
    assert len(README.split()) < WORDS_MAX


def test_the_readme_shows_what_is_printed(tmp_path, monkeypatch, capsys) -> None:
    """Every command of the README prints the lines shown after it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, text in files_of(README).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    sessions = sessions_of(README)
    assert len(sessions) >= 2
    for command, *shown in sessions:
        code = main(shlex.split(command)[1:])
        printed = capsys.readouterr().out
        assert code == int("VIOLATED" in printed), command
        assert_shown(tuple(shown), printed)


def test_the_picture_is_the_one_that_is_drawn(tmp_path, monkeypatch, capsys) -> None:
    """The README's picture is the barriers of the checkpoint that its caption names."""
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    scenario, checkpoint = PICTURE
    assert f"Checkpoint {checkpoint} of `{scenario}`" in README
    assert main(["replay", scenario, "--checkpoint", checkpoint]) == 0
    capsys.readouterr()
    (drawn,) = tmp_path.rglob("barriers.svg")
    shown = ROOT / "docs" / "figures" / "barriers.svg"
    assert drawn.read_text(encoding="utf-8") == shown.read_text(encoding="utf-8")
