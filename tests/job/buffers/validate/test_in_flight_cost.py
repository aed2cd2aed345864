"""What in-flight data costs at a recovery, held against measured runs that differ in nothing else.

The measured jobs are back-pressured and fail once. They restore 0, 0.8 or 1.4 MB in flight, from a
fast disk and through streams of 1 MB/s.  `tests/data/flink/recovery.jsonl` has Flink's own
instants: a task is RUNNING when its recovered data has been processed.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ckptsim.scenarios.job.faults import CrashTask
from ckptsim.sim.job.buffers.world import DataflowWorld
from ckptsim.sim.job.control.failover import FailoverRecord
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.kernel import Environment
from ckptsim.sim.validate.config import recovering_model_of
from ckptsim.sim.validate.recoveries.predict import MACHINE

MS = 1_000_000
FILE = Path("tests/data/flink/recovery.jsonl")
ALIGNED, UNALIGNED, THROTTLED = "ru_a_bp#1", "ru_u_bp#1", "ru_u_bp_thr1#1"
RUNS = (ALIGNED, UNALIGNED, "ru_u_bp#2", "ru_at300_bp#1", THROTTLED)


@cache
def measured(run_id: str) -> Any:
    """Return a measured run."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return next(run for run in map(json.loads, lines) if run["run_id"] == run_id)


@cache
def predicted(run_id: str) -> FailoverRecord:
    """Simulate a run until some seconds after its failure, told what `validate` is reported."""
    run = measured(run_id)
    (recovery,) = run["recoveries"]
    model = recovering_model_of(run["config"], duration_ns=round(recovery["at_ms"] + 3_500) * MS)
    crash = CrashTask(vertex=model.vertices[-1].name, at_ns=recovery["at_ms"] * MS)
    phase_ns = round(recovery["restored_checkpoint"]["trigger_ms"] * MS)
    world = DataflowWorld(
        Environment(1), model, MACHINE, faults=FaultPlan((crash,)), phases=[phase_ns]
    )
    world.run()
    return world.control.failovers[0]


def handing_over_ms(run_id: str) -> tuple[float, float]:
    """Return from the first record of the last operator until its tasks ran: predicted, measured.

    Counting from there leaves out what restarts differ by for no reason in their configuration.
    """
    run, ours = measured(run_id), predicted(run_id)
    (recovery,) = run["recoveries"]
    assert ours.handed_over_ns is not None
    assert ours.first_record_ns is not None
    operator = next(v for k, v in run["subtask_states_ms"].items() if not k.startswith("Source"))
    running_ms = max(one["RUNNING"] for one in operator)
    measured_ms = running_ms - recovery["at_ms"] - recovery["downtime_ms"]
    return (ours.handed_over_ns - ours.first_record_ns) / MS, measured_ms


@pytest.mark.parametrize("run_id", RUNS)
def test_handing_over_takes_what_was_measured(run_id: str) -> None:
    """Within max(15 %, 50 ms): about the recovered records of a subtask times its service time."""
    ours, theirs = handing_over_ms(run_id)
    assert abs(ours - theirs) <= max(0.15 * theirs, 50)


def test_an_aligned_checkpoint_has_nothing_to_hand_over() -> None:
    """Unaligned in-flight data costs some 0.4 s before anything new is processed, aligned none."""
    assert predicted(ALIGNED).bytes_read == 0
    assert handing_over_ms(ALIGNED)[0] < 20
    assert 300 < handing_over_ms(UNALIGNED)[0] < 450


@pytest.mark.parametrize("run_id", [UNALIGNED, "ru_u_bp#2", "ru_at300_bp#1", THROTTLED])
def test_as_many_bytes_are_read_back_as_were_persisted(run_id: str) -> None:
    """What a checkpoint had in flight under the same back-pressure, within 10 %."""
    run = measured(run_id)
    number = run["recoveries"][0]["restored_checkpoint"]["id"]
    persisted = next(c["persisted_bytes"] for c in run["checkpoints"] if c["id"] == number)
    assert predicted(run_id).bytes_read == pytest.approx(persisted, rel=0.1)


def test_a_slow_stream_delays_the_sources_and_not_the_operator() -> None:
    """At 1 MB/s sources read their output state for some 0.35 s more before they are open.

    Recovered input is read while the operator works on it, so its own end hardly moves.
    """
    delays = []
    for run_id in (UNALIGNED, THROTTLED):
        run, ours = measured(run_id), predicted(run_id)
        sources = next(v for k, v in run["subtask_states_ms"].items() if k.startswith("Source"))
        opened_ms = max(one["RUNNING"] - one["INITIALIZING"] for one in sources)
        assert ours.opened_ns is not None
        assert ours.resumed_ns is not None
        delays.append(((ours.opened_ns - ours.resumed_ns) / MS, opened_ms))
    (fast, fast_measured), (slow, slow_measured) = delays
    assert slow - fast == pytest.approx(slow_measured - fast_measured, abs=50)
    assert abs(handing_over_ms(THROTTLED)[0] - handing_over_ms(UNALIGNED)[0]) < 60
