"""What a failure costs a job, as `whatif --failure` prices it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import cast

import pytest

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.job import (
    Checkpointing,
    Input,
    Job,
    NoRestart,
    Plane,
    RateChange,
    Storage,
    Vertex,
    VertexKind,
)
from ckptsim.sim.cli.main import main
from ckptsim.sim.infer.advice import failing
from ckptsim.sim.infer.measures import predicted, simulated
from ckptsim.sim.infer.options import restart_delay_of
from ckptsim.sim.recording import read_recording
from tests.recording.folders import SHIPPED

MS = 1_000_000
SECOND = 1_000 * MS
Captured = pytest.CaptureFixture[str]


def scenario(*, rate: float | None = 500.0, interval_s: int = 4) -> Scenario:
    """Return a job at half load that takes a checkpoint every few seconds."""
    model = Job(
        plane=Plane.BUFFERS,
        vertices=(
            Vertex(name="src", kind=VertexKind.SOURCE, rate_per_s=rate),
            Vertex(
                name="op", inputs=(Input(upstream="src"),), service_ns=MS, state_bytes=2_000_000
            ),
        ),
        checkpointing=Checkpointing(interval_ns=interval_s * SECOND, count=4),
        storage=Storage(read_bytes_per_s=4_000_000),
        restart=NoRestart(),
        duration_ns=600 * SECOND,
    )
    return Scenario(name="job", link="barriers", says="a job that fails", model=model)


def price(found: Scenario, *, restart_s: float, count: int = 4) -> failing.FailurePrice:
    """Return what a failure of the last operator costs."""
    calm = predicted(simulated(found, seeds=(1,)))
    job = cast("Job", found.model)
    failure = failing.failure_of(job, None, restart_ns=round(restart_s * SECOND))
    runs = failing.failing(found, failure, calm, count=count)
    return failing.price_of_failures([simulated(one, seeds=(1,))[0] for one in runs])


def test_a_failure_undoes_half_an_interval() -> None:
    """At phases spread evenly half the interval is done again in the mean, all of it at most."""
    found = price(scenario(), restart_s=1)
    assert found.failures == 4
    assert found.done_again_records == pytest.approx(500 * 2, rel=0.1)
    assert found.done_again_most_records == pytest.approx(500 * 3.5, rel=0.1)
    assert price(scenario(interval_s=8), restart_s=1).done_again_records == pytest.approx(
        500 * 4, rel=0.1
    )


def test_a_longer_restart_is_down_and_caught_up_later() -> None:
    """Nine seconds more of delay are nine more down, and at half load twice as many to catch up."""
    short, long = price(scenario(), restart_s=1), price(scenario(), restart_s=10)
    assert short.down_s is not None
    assert long.down_s is not None
    # 2 MB of state at 4 MB/s, the delay, and a few hundred ms to cancel and deploy.
    assert 1.5 < short.down_s < 2.2
    assert long.down_s - short.down_s == pytest.approx(9, abs=0.2)
    assert short.caught_up_s is not None
    assert long.caught_up_s is not None
    assert long.caught_up_s - short.caught_up_s == pytest.approx(18, rel=0.05)
    assert short.latest_s is not None
    assert short.latest_s > short.down_s
    assert not short.not_caught_up
    assert not long.not_caught_up


def test_without_a_rate_nothing_is_late() -> None:
    """A source that emits as fast as it can has nothing to catch up with, and is notified so."""
    found = scenario(rate=None)
    known = price(found, restart_s=1)
    assert known.latest_s is None
    assert known.caught_up_s is None
    assert known.not_caught_up == 0
    notes = " ".join(failing.failure_warnings(cast("Job", found.model)))
    assert "none can be late" in notes
    assert "no limit" not in notes


def test_a_rate_that_changes_is_not_caught_up_with() -> None:
    """It cannot be simulated as a log, so the answer says the missing part from the price."""
    found = scenario()
    job = cast("Job", found.model)
    source = replace(job.vertices[0], rate_changes=(RateChange(at_ns=SECOND, factor=0.5),))
    changing = replace(job, vertices=(source, *job.vertices[1:]))
    assert any("its rate changes" in one for one in failing.failure_warnings(changing))
    calm = predicted(simulated(found, seeds=(1,)))
    failure = failing.failure_of(changing, "src", restart_ns=SECOND)
    runs = failing.failing(replace(found, model=changing), failure, calm, count=2)
    assert not any(cast("Job", one.model).problems() for one in runs)


def test_a_restart_takes_as_long_as_the_job_was_set_to() -> None:
    """The delay of the strategy that was recorded. One second where nothing says so."""
    recording = read_recording(SHIPPED / "job00")
    assert restart_delay_of({}) == restart_delay_of(recording.options) == SECOND
    options = {
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.delay": "3 s",
    }
    assert restart_delay_of(options) == 3 * SECOND


def test_the_answer_has_the_price_of_each_variant(capsys: Captured) -> None:
    """The table and the JSON have a recovery of the job as it is and of every variant."""
    words = ["whatif", str(SHIPPED / "job08"), "--failure", "op1", "--seeds", "2"]
    words += ["--set", "source.srcA.rate=500 /s"]
    vary = ["--vary", "execution.checkpointing.interval=1 s,5 s"]
    assert main([*words, *vary, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["failure"] == {"vertex": "op1", "restart_ns": SECOND}
    often, rarely = (one["failure"] for one in found["variants"])
    assert rarely["done_again_records"] > 3 * often["done_again_records"]
    assert rarely["caught_up_s"] > often["caught_up_s"] > often["down_s"]
    assert main([*words, "--restart", "2s"]) == 0
    printed = capsys.readouterr().out
    assert "when op1 fails, and the job is restarted after 2 s" in printed
    assert "no limit; say one with job.storage.read" in printed


@pytest.mark.spark
def test_runs_on_spark_give_the_same_answer(capsys: Captured) -> None:
    """A master is where the runs are carried out, and nothing else."""
    words = ["whatif", str(SHIPPED / "job00"), "--failure", "--seeds", "2", "--json"]
    words += ["--set", "execution.checkpointing.interval=2 s"]
    assert main([*words, "--master", "here"]) == 0
    here = json.loads(capsys.readouterr().out)
    assert main([*words, "--master", "local[2]"]) == 0
    assert json.loads(capsys.readouterr().out) == here
