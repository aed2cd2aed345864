"""When records fall due: logs keep what they are late with, other sources drop it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.files import loads
from ckptsim.scenarios.job import Job
from ckptsim.sim.job.buffers.due import turned
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world

_JOB = """
name = "log"
link = "barriers"
says = "a source whose rate changes, a task that crashes"

[job]
duration = "12 s"

[[job.vertices]]
name = "source"
kind = "source"
parallelism = 2
rate = "100 /s"
CHANGES

[[job.vertices]]
name = "sink"
kind = "sink"
inputs = [{ upstream = "source", partitioner = "rebalance" }]
service = "1 ms"

[job.checkpointing]
interval = "1 s"

[job.restart]
kind = "fixed_delay"
delay = "500 ms"

[job.recovery]
timed = TIMED
"""
_CHANGES = 'rate_changes = [{ at = "2 s", factor = 3.0 }, { at = "4 s", factor = 0.5 }]'
_CRASH = """
[[faults]]
kind = "crash_task"
vertex = "sink"
at = "3 s"
"""


def _scenario(*, changes: bool = False, crash: bool = False, timed: bool = True) -> Scenario:
    text = _JOB.replace("CHANGES", _CHANGES if changes else "")
    text = text.replace("TIMED", "true" if timed else "false")
    return loads(text + (_CRASH if crash else ""), source="log.toml")


def _run(scenario: Scenario, **source: Any) -> RunResult:
    job = cast("Job", scenario.model)
    first, *others = job.vertices
    model = replace(job, vertices=(replace(first, **source), *others))
    return run_world(replace(scenario, model=model), seed=1)


@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("in_step", [True, False])
@pytest.mark.parametrize(("changes", "due"), [(False, 1_200), (True, 200 + 600 + 400)])
def test_a_log_loses_nothing_by_a_failure(
    changes: bool, due: int, in_step: bool, timed: bool
) -> None:
    """After a failure, and through changes of the rate, all records that fell due are emitted."""
    result = _run(_scenario(changes=changes, crash=True, timed=timed), in_step=in_step)
    assert len(result.recoveries) == 1
    assert due - 2 <= result.run.records_produced <= due + 2
    assert not result.figures or result.figures[0].figure != "records_missed"


@pytest.mark.parametrize("changes", [False, True])
def test_what_another_source_misses_is_counted(changes: bool) -> None:
    """A source that is not replayable misses what falls due while it is down, and says so."""
    scenario = _scenario(changes=changes, crash=True)
    result = _run(scenario, replayable=False)
    (missed,) = [one for one in result.figures if one.figure == "records_missed"]
    assert 1_200 - result.run.records_produced - 4 <= missed.value
    assert missed.value <= 1_200 - result.run.records_produced
    assert missed.value > 50
    assert not _run(_scenario(changes=changes), replayable=False).figures


def test_without_trouble_both_are_alike() -> None:
    """Where nothing fails or waits, a run is the same whether its source is replayable or not."""
    for changes in (False, True):
        calm = _scenario(changes=changes)
        assert _run(calm).run.digest == _run(calm, replayable=False).run.digest


def test_a_new_rate_keeps_the_records_that_are_late() -> None:
    """A log that is three records late at a change is so after it. Others take the new rate."""
    assert turned(100, (10, 40), 125, replayable=True) == 130 - 3 * 40
    assert turned(100, (10, 40), 125, replayable=False) == 100
    assert turned(130, (10, 40), 125, replayable=True) == 130
    assert turned(130, (10, 2), 125, replayable=True) == 127
