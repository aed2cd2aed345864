"""The page on FLIP-76: each command convicts what it says, and the right core is not convicted."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from ckptsim.sim.cli import main
from tests.job.records.rescaling.flip76_table import BEGIN, END, table

PAGE = (Path(__file__).parents[4] / "docs" / "flip76.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ ckptsim (.+)\n(VIOLATED.*)$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("command", "shown"), COMMANDS)
def test_command_convicts_the_alternative(
    capsys: pytest.CaptureFixture[str], command: str, shown: str
) -> None:
    """With its mutant or its parameter the command ends with 1 and prints the property.

    Without, it ends with 0.
    """
    words = shlex.split(command)
    assert main(words) == 1
    assert any(line.startswith(shown) for line in capsys.readouterr().out.splitlines())
    place = words.index("--mutant" if "--mutant" in words else "--set")
    assert main(words[:place] + words[place + 2 :]) == 0


def test_table_is_what_the_program_gives() -> None:
    """`tests.job.records.rescaling.flip76_table` would write the table that is there."""
    assert BEGIN + table() + END in PAGE


def test_page_has_a_command_per_mutant() -> None:
    """No command is left without the line that it must print."""
    assert len(COMMANDS) == PAGE.count("$ ckptsim ") >= 15
