"""The first steps and the page on finding bugs: their commands find what their words promise."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from ckptsim.sim.cli import main

ROOT = Path(__file__).parents[3]
PAGES = ("docs/first-steps.md", pytest.param("docs/finding-bugs.md", marks=pytest.mark.long))
# Verbs with a verdict on a core. `explain` and `conform` stand beside them.
VERBS = ("run", "check", "hunt", "replay", "conform", "explain")


def commands(page: str) -> list[list[str]]:
    """Return the words of the commands that a page shows in blocks, in order, without comments."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found: list[list[str]] = []
    for block in re.findall(r"```\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["ckptsim"] and words[1] in VERBS and ">" not in words:
                found.append(words[1:])
    return found


@pytest.mark.parametrize("page", PAGES)
def test_a_mutant_is_found_and_the_right_core_is_sound(page, tmp_path, monkeypatch, capsys):
    """Every command with a mutant shows a violation, and no command without one does."""
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    monkeypatch.chdir(tmp_path)
    faulty = 0
    for words in commands(page):
        code = main(words)
        text = capsys.readouterr().out
        if "--mutant" in words or words == ["replay", "smallest"]:
            faulty += 1
            if "--mutant" in words:
                name = words[words.index("--mutant") + 1]
            assert "VIOLATED " in text, words
            assert re.search(rf"\bmutant +{name}\b", text), words
            assert code == 1, words
        else:
            assert (code, "VIOLATED" in text) == (0, False), words
            assert words[0] != "check" or re.search(r"\nviolations +none\n", text), words
    assert faulty >= 3
