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
from tests.job.records.rescaling import flip76_timed as timed
from tests.job.records.rescaling.flip76_table import BEGIN, END, table, timed_tables

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


def test_recoveries_are_what_the_program_gives() -> None:
    """Each way has the files, requests and seconds of the table at width 4, and breaks nothing."""
    found = timed.results("flip76_read_back", lambda values: values["parallelism"] == 4)
    for (way, _), result in found.items():
        assert f"| `{way}` | {' | '.join(timed.read_back_cell(result))} |" in PAGE


def test_spilling_pays_where_the_page_says() -> None:
    """At 16 MB/s it pays under back-pressure and not without, and at 8 MB/s from 8 ms on alone."""
    cases = {("500 us", "16 MB/s"), ("1100 us", "16 MB/s"), ("8 ms", "8 MB/s")}
    found = timed.results(
        "flip76_spilling",
        lambda values: (
            (values["service"], values["write"]) in cases
            and str(values["scenario"]).endswith("service")
        ),
    )
    pays = {
        case
        for case in cases
        if timed.lasts_ms(found["continuous_service", *case])
        < timed.lasts_ms(found["log_service", *case])
    }
    assert pays == cases - {("500 us", "16 MB/s")}


@pytest.mark.long
def test_all_tables_with_times_are_what_the_program_gives() -> None:
    """All three plans give the tables of the page."""
    plans = [timed.results(f"flip76_{name}") for name in ("read_back", "fan_out", "spilling")]
    assert all(lines in PAGE for lines in timed_tables(*plans).values())


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
