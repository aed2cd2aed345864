"""The page on FLIP-76: each command convicts what it says, and the right core is not convicted."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.job import StopKind
from ckptsim.sim.cli import main
from ckptsim.sim.world import run_world
from tests.job.records.rescaling.flip76_table import BEGIN, END, table

PAGE = (Path(__file__).parents[4] / "docs" / "flip76.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ ckptsim (.+)\n(VIOLATED.*)$", PAGE, re.MULTILINE)
# Seeds of the right core that the short test looks at. The long one takes all of the command.
_FEW = ["--seeds", "5"]


def _right(command: str) -> list[str]:
    """Return a command without its mutant or its first parameter."""
    words = shlex.split(command)
    place = words.index("--mutant" if "--mutant" in words else "--set")
    return words[:place] + words[place + 2 :]


RIGHT = sorted({shlex.join(_right(command)) for command, _ in COMMANDS})


@pytest.mark.parametrize(("command", "shown"), COMMANDS)
def test_command_convicts_the_alternative(
    capsys: pytest.CaptureFixture[str], command: str, shown: str
) -> None:
    """With its mutant or its parameter the command ends with 1 and prints the property."""
    words = shlex.split(command)
    assert main(words) == 1
    assert any(line.startswith(shown) for line in capsys.readouterr().out.splitlines())


@pytest.mark.parametrize("command", RIGHT)
def test_nothing_is_found_without(command: str) -> None:
    """The same command finds nothing wrong with the right core, in its first few seeds."""
    assert main(shlex.split(command) + _FEW) == 0


@pytest.mark.long
@pytest.mark.parametrize("command", RIGHT)
def test_nothing_is_found_without_in_all_seeds(command: str) -> None:
    """Nor in all the seeds of the command."""
    assert main(shlex.split(command)) == 0


def test_table_is_what_the_program_gives() -> None:
    """`tests.job.records.rescaling.flip76_table` would write the table that is there."""
    assert BEGIN + table() + END in PAGE


def test_page_has_a_command_per_mutant() -> None:
    """No command is left without the line that it must print."""
    assert len(COMMANDS) == PAGE.count("$ ckptsim ") >= 15


def test_a_savepoint_cuts_no_log() -> None:
    """It subsumes no checkpoint: after a stop with one the checkpoint before can be restored."""
    made = by_name("flip76_log_service_retained")
    job: Any = made.model
    ending = replace(job.ending, stop_at_ns=43_000_000, stop_kind=StopKind.DRAIN)
    checkpointing = replace(job.checkpointing, retained=1, count=None)
    made = replace(
        made, model=replace(job, checkpointing=checkpointing, ending=ending), violates=()
    )
    for seed in range(6):
        result = run_world(made, seed=seed)
        assert result.goals["savepoint_completed"]
        assert result.violations == []
