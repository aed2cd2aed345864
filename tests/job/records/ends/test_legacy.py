"""Legacy sources: what they emit after a stop, and what waits for their lock."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import Any

import pytest

from ckptsim.scenarios import ScenarioError
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.generators import GENERATORS, Choices
from ckptsim.scenarios.job import VertexKind
from ckptsim.scenarios.planning import with_parameters
from ckptsim.sim.cli import main
from ckptsim.sim.kernel import Streams
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world
from tests.job.records.ends.results_page import DOCUMENT, locked

PAGE = DOCUMENT.read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ ckptsim (.+)\n(.+)$", PAGE, re.MULTILINE)


def stopped(**keys: Any) -> RunResult:
    """Return a run of the stopped job with other keys of its source."""
    parameters = {f"job.vertices[0].{key}": value for key, value in keys.items()}
    made = with_parameters(by_name("legacy_source_stopped"), parameters, source="test")
    return run_world(made, seed=0)


@pytest.mark.parametrize(("command", "shown"), COMMANDS)
def test_command_prints_its_line(
    capsys: pytest.CaptureFixture[str], command: str, shown: str
) -> None:
    """Each command of the page finds what the page says."""
    assert main(shlex.split(command)) == int(shown.startswith("VIOLATED"))
    assert any(line.startswith(shown) for line in capsys.readouterr().out.splitlines())


@pytest.mark.parametrize("count", [0, 1, 7])
def test_a_cancelled_thread_emits_so_many_records_before_the_savepoint(count: int) -> None:
    """All of them are committed, and each keeps the savepoint waiting for its millisecond."""
    result, without = stopped(after_cancel_records=count), stopped(after_cancel_records=0)
    assert not result.violations
    assert result.goals["emitted_after_cancel"] == count
    assert result.run.records_committed == result.run.records_produced
    assert (result.run.records_produced or 0) - (without.run.records_produced or 0) == count
    assert (result.run.ended_ns or 0) - (without.run.ended_ns or 0) == count * 1_000_000


def test_a_cancelled_thread_with_nothing_left_returns_at_once() -> None:
    """The end of the input ends the function as its flag does."""
    result = stopped(after_cancel_records=100, records=27)
    assert not result.violations
    assert result.run.outcome == "completed"
    assert result.run.records_committed == 27


def test_a_suspended_mailbox_does_not_stop_the_thread() -> None:
    """Records come after EndOfData, and the sink has no transaction for them."""
    result = stopped(stopped_by="suspend")
    broken = {one.property for one in result.violations}
    assert {"end_marks_in_order", "exactly_once_output"} <= broken
    assert (result.run.records_committed or 0) < (result.run.records_produced or 0)


def test_a_trigger_waits_for_the_lock() -> None:
    """Under back-pressure a legacy source takes part one record later."""
    source, legacy = (float(row[1].removesuffix(" ms")) for row in locked())
    assert legacy - source >= 7
    assert all(f"| {' | '.join(row)} |" in PAGE for row in locked())


@pytest.mark.parametrize(
    ("name", "parameters", "expected"),
    [
        ("recovery_in_its_time", {"job.vertices[0].kind": "legacy"}, 'plane "buffers"'),
        ("stop_drain", {"job.vertices[0].stopped_by": "suspend"}, "legacy source"),
        ("stop_drain", {"job.vertices[1].after_cancel_records": 3}, "legacy source"),
    ],
)
def test_other_places_refuse_it(name: str, parameters: dict[str, object], expected: str) -> None:
    """Buffers know one kind of source, and other vertices have no function to cancel."""
    base = by_name(name)
    with pytest.raises(ScenarioError, match=expected):
        with_parameters(base, parameters, source="test")


def test_drawn_jobs_with_legacy_sources_break_nothing() -> None:
    """With random graphs and faults, mails wait for the lock, and nothing else changes."""
    streams, seen = Streams(5), 0
    for number in range(24):
        drawn = GENERATORS["barrier_protocol"](
            Choices((), streams.stream("choices", number).integer)
        )
        model: Any = drawn.model
        vertices = tuple(
            replace(one, kind=VertexKind.LEGACY, after_cancel_records=number % 4)
            if one.is_source
            else one
            for one in model.vertices
        )
        made = replace(drawn, model=replace(model, vertices=vertices))
        if not made.model.problems():
            seen += 1
            broken = {one.property for one in run_world(made, seed=1).violations}
            assert broken <= set(drawn.violates), number
    assert seen >= 8
