"""`advise` finds what paper finds where paper is right, and does better where it is not."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.files.toml import to_toml
from ckptsim.scenarios.job import (
    Input,
    Job,
    Mode,
    Network,
    NoRestart,
    Plane,
    Storage,
    Vertex,
    VertexKind,
)
from ckptsim.sim.cli.main import main
from ckptsim.sim.infer.advice import (
    Advisor,
    Failures,
    Point,
    best_of,
    daly_s,
    optimum_s,
    young_s,
)
from tests.recording.folders import SHIPPED

MS = 1_000_000
Captured = pytest.CaptureFixture[str]


def scenario(*, sync_ms: int = 0, rate: float | None = None, **rest: Any) -> Scenario:
    """Return a job with one slow operator, which is busy all the time unless a rate is given."""
    operator: dict[str, Any] = {"state_bytes": rest.pop("state_bytes", 0)}
    model = Job(
        plane=Plane.BUFFERS,
        vertices=(
            Vertex(name="src", kind=VertexKind.SOURCE, rate_per_s=rate),
            Vertex(
                name="op",
                inputs=(Input(upstream="src"),),
                service_ns=10 * MS,
                snapshot_sync_ns=sync_ms * MS,
                **operator,
            ),
        ),
        network=Network(record_bytes=16_000),
        restart=NoRestart(),
        **rest,
    )
    return Scenario(name="job", link="barriers", says="a job to advise", model=model)


def test_the_optimum_is_young_s_where_its_assumptions_hold() -> None:
    """A snapshot that stops the job for 200 ms: within 5 % of Young and Daly, loss and all."""
    failures = Failures(mtbf_s=100, restart_s=2)
    advisor = Advisor(scenario(sync_ms=200), failures)
    points = advisor.curve(Mode.ALIGNED, [6.3 * 1.6**number for number in range(-3, 4)])
    for point in points:
        assert point.loss_s == pytest.approx(0.2, rel=0.06)
        # What is behind the last trigger, and until it completes what is behind the one before.
        half_s = point.effective_s / 2
        assert half_s <= point.undone_s <= 1.02 * (half_s + point.duration_s)
    found = optimum_s(points)
    loss_s = points[3].loss_s
    assert found == pytest.approx(young_s(loss_s, 100), rel=0.05)
    assert found == pytest.approx(daly_s(loss_s, 100), rel=0.05)


def test_an_interval_below_the_duration_cannot_be_kept() -> None:
    """With a slow storage the interval on paper is out of reach; what is advised costs no more."""
    slow = scenario(state_bytes=3_000_000, storage=Storage(write_bytes_per_s=1_000_000))
    advisor = Advisor(slow, Failures(mtbf_s=60, restart_s=1))
    points = advisor.curve(Mode.ALIGNED, [0.5, 2.0, 8.0, 20.0])
    assert points[0].effective_s == pytest.approx(points[0].duration_s)
    assert points[0].effective_s > 3
    assert young_s(points[0].loss_s, 60) < points[0].duration_s
    best = best_of(points, allowed=lambda _: True)
    assert best is not None
    fresh = Advisor(slow, Failures(mtbf_s=60, restart_s=1), seed=7)
    on_paper = fresh.point(Mode.ALIGNED, max(0.05, young_s(points[0].loss_s, 60)))
    assert fresh.point(Mode.ALIGNED, best.interval_s).cost <= 1.02 * on_paper.cost


def test_paper_on_paper() -> None:
    """Young's root, and Daly's expansion, which is the mean time itself for huge losses."""
    assert young_s(2.0, 100.0) == 20.0
    assert daly_s(2.0, 100.0) == pytest.approx(20 * (1 + math.sqrt(0.01) / 3 + 0.01 / 9))
    assert daly_s(500.0, 100.0) == 100.0


def _point(interval_s: float, cost: float) -> Point:
    return Point(
        mode=Mode.ALIGNED,
        interval_s=interval_s,
        effective_s=interval_s,
        duration_s=0.1,
        loss_s=0.1,
        undone_s=interval_s / 2,
        undone_most_records=round(100 * interval_s),
        in_flight_bytes=0.0,
        cost=cost,
    )


def test_the_optimum_lies_between_the_points() -> None:
    """A parabola over the logarithm meets the least of a/T + T/b; none at an end is made up."""
    found = optimum_s([_point(t, 4 / t + t / 9) for t in (2.5, 4.0, 6.4, 10.2, 16.4)])
    assert found == pytest.approx(6.0, rel=0.01)
    assert optimum_s([_point(t, t) for t in (1.0, 2.0, 4.0)]) is None


@pytest.fixture(scope="module")
def job_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a scenario file with a job that is quick to simulate."""
    path = tmp_path_factory.mktemp("advise") / "job.toml"
    path.write_text(to_toml(scenario(sync_ms=100, rate=20.0)))
    return path


def test_advice_is_a_table_and_a_sentence(job_file: Path, capsys: Captured) -> None:
    """The command names mode, interval, loss and what paper says, and keeps the objectives."""
    words = ["advise", str(job_file), "--mtbf", "1min", "--modes", "aligned"]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "advised: aligned checkpoints every" in printed
    assert "on paper Young" in printed
    assert main([*words, "--max-reprocessed", "60", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["advised"]["undone_most_records"] <= 60
    assert len(found["curves"][0]["points"]) == 7
    assert main([*words, "--rto", "1ms", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["advised"] is None


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--mtbf", "often"], "a time such as"),
        (["--mtbf", "1h", "--max-overhead", "lots"], "a share such as"),
        (["--mtbf", "1h", "--modes", "sideways"], "expected some of"),
        (["--mtbf", "1h", "--set", "source.src.rate=5000 /s"], "overloaded"),
    ],
)
def test_what_cannot_be_advised_is_refused(capsys: Captured, words: list[str], says: str) -> None:
    """Wrong times and shares, unknown modes, and jobs that can never catch up."""
    assert main(["advise", str(SHIPPED / "job00"), *words]) == 2
    assert says in capsys.readouterr().err
