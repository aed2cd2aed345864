"""`advise` finds what paper finds where paper is right, and does better where it is not."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from ckptsim._api.jobs.advice import Advice
from ckptsim._api.jobs.plots import Curve, picture
from ckptsim.scenarios import Scenario
from ckptsim.scenarios import job as jobs
from ckptsim.scenarios.errors import ScenarioError
from ckptsim.scenarios.files.document import to_toml
from ckptsim.sim.cli.main import main
from ckptsim.sim.infer import advice
from ckptsim.sim.infer.advice.day import loaded
from ckptsim.sim.infer.advice.warnings import transaction_warnings, warnings_of
from ckptsim.sim.infer.advice.weighing import Prices, alternatives, commits_in_time, unseen
from tests.recording.folders import SHIPPED

MS = 1_000_000
FIELD = Path(__file__).parents[1] / "data" / "field" / "jobs"
Captured = pytest.CaptureFixture[str]


def scenario(*, sync_ms: int = 0, rate: float | None = None, **rest: Any) -> Scenario:
    """Return a job with one slow operator, which is busy all the time unless a rate is given."""
    operator: dict[str, Any] = {"state_bytes": rest.pop("state_bytes", 0)}
    model = jobs.Job(
        plane=jobs.Plane.BUFFERS,
        vertices=(
            jobs.Vertex(name="src", kind=jobs.VertexKind.SOURCE, rate_per_s=rate),
            jobs.Vertex(
                name="op",
                inputs=(jobs.Input(upstream="src"),),
                service_ns=10 * MS,
                snapshot_sync_ns=sync_ms * MS,
                **operator,
            ),
        ),
        network=jobs.Network(record_bytes=16_000),
        restart=jobs.NoRestart(),
        **rest,
    )
    return Scenario(name="job", link="barriers", says="a job to advise", model=model)


def test_the_optimum_is_young_s_where_its_assumptions_hold() -> None:
    """A snapshot that stops the job for 200 ms: within 5 % of Young and Daly, loss and all."""
    failures = advice.Failures(mtbf_s=100, restart_s=2)
    advisor = advice.Advisor(scenario(sync_ms=200), failures)
    points = advisor.curve(jobs.Mode.ALIGNED, [6.3 * 1.6**number for number in range(-3, 4)])
    for point in points:
        assert point.loss_s == pytest.approx(0.2, rel=0.06)
        # Everything that is after the last trigger, and until it completes everything that is after
        # the one before.
        half_s = point.effective_s / 2
        assert half_s <= point.undone_s <= 1.02 * (half_s + point.duration_s)
    found = advice.optimum_s(points)
    loss_s = points[3].loss_s
    assert found == pytest.approx(advice.young_s(loss_s, 100), rel=0.05)
    assert found == pytest.approx(advice.daly_s(loss_s, 100), rel=0.05)


def test_an_interval_below_the_duration_cannot_be_kept() -> None:
    """With a slow storage the interval on paper is out of reach.

    Everything that is advised costs no more.
    """
    slow = scenario(state_bytes=3_000_000, storage=jobs.Storage(write_bytes_per_s=1_000_000))
    advisor = advice.Advisor(slow, advice.Failures(mtbf_s=60, restart_s=1))
    points = advisor.curve(jobs.Mode.ALIGNED, [0.5, 2.0, 8.0, 20.0])
    assert points[0].effective_s == pytest.approx(points[0].duration_s)
    assert points[0].effective_s > 3
    assert advice.young_s(points[0].loss_s, 60) < points[0].duration_s
    best = advice.best_of(points, allowed=lambda _: True)
    assert best is points[2]
    assert [one.is_back_to_back for one in points] == [True, True, False, False]
    assert best.written_bytes_per_day == pytest.approx(3_000_000 * 86_400 / 8, rel=0.01)
    # Where nothing else keeps everything that is wanted, they are advised, and the sentence says
    # so.
    soon = advice.best_of(points, allowed=lambda one: one.undone_s < 5)
    assert soon in points[:2]
    assert "The job writes" in _told(Advice(name="job", curves=[_curve_of(points)], best=soon))
    assert "back to back" in _told(Advice(name="job", curves=[_curve_of(points)], best=soon))


def test_paper_on_paper() -> None:
    """Young's root, and Daly's expansion, which is the mean time itself for huge losses."""
    assert advice.young_s(2.0, 100.0) == 20.0
    assert advice.daly_s(2.0, 100.0) == pytest.approx(20 * (1 + math.sqrt(0.01) / 3 + 0.01 / 9))
    assert advice.daly_s(500.0, 100.0) == 100.0


def _point(interval_s: float, cost: float) -> advice.Point:
    return advice.Point(
        mode=jobs.Mode.ALIGNED,
        interval_s=interval_s,
        effective_s=interval_s,
        duration_s=0.1,
        loss_s=0.1,
        undone_s=interval_s / 2,
        undone_most_records=round(100 * interval_s),
        in_flight_bytes=0.0,
        cost=cost,
    )


def _curve_of(points: Sequence[advice.Point]) -> Curve:
    return Curve(
        mode=jobs.Mode.ALIGNED, points=tuple(points), optimum_s=6.0, young_s=5.0, daly_s=5.2
    )


def _told(found: Advice) -> str:
    """Return the output, whatever its lines are."""
    return " ".join(line.strip() for line in found.text.splitlines())


def test_the_optimum_lies_between_the_points() -> None:
    """A parabola over the logarithm meets the least of a/T + T/b. None at an end is made up."""
    found = advice.optimum_s([_point(t, 4 / t + t / 9) for t in (2.5, 4.0, 6.4, 10.2, 16.4)])
    assert found == pytest.approx(6.0, rel=0.01)
    assert advice.optimum_s([_point(t, t) for t in (1.0, 2.0, 4.0)]) is None


@pytest.mark.parametrize(
    ("restart_s", "most_s", "flat"),
    [(0.0, 100.0, (4.0, 6.4)), (0.0, 5.0, (4.0, 4.0)), (9.0, 100.0, (4.0, 6.4))],
)
def test_intervals_are_as_good_that_differ_by_no_more_than_failures_scatter(
    restart_s: float, most_s: float, flat: tuple[float, float]
) -> None:
    """Next to the best one, as long as they keep the objectives. Down-times make none alike."""
    times = ((1.6, 0.12), (2.5, 0.101), (4.0, 0.098), (6.4, 0.1), (10.2, 0.103), (16.4, 0.099))
    points = [_point(time_s, cost + restart_s / 10) for time_s, cost in times]
    failures = advice.Failures(mtbf_s=10.0, restart_s=restart_s)
    found = advice.flat_s(
        points, points[2], failures, allowed=lambda one: 3 < one.effective_s < most_s
    )
    assert found == flat
    told = _told(Advice(name="job", curves=[_curve_of(points)], best=points[2], flat_s=found))
    assert ("Any interval from 4.0 s to 6.4 s costs the same within 4 %" in told) == (
        flat == (4.0, 6.4)
    )


def test_the_frontier_leaves_out_what_is_beaten() -> None:
    """A point that is better in nothing than another one, and worse in something, is not on it."""
    short, long = _point(2.0, 0.1), _point(8.0, 0.1)
    beaten = replace(_point(9.0, 0.1), in_flight_bytes=1.0)
    slow = replace(_point(1.0, 0.1), duration_s=2.0)
    assert advice.frontier_of([long, beaten, short, slow]) == [short, slow]


def test_a_load_is_parts_of_a_day() -> None:
    """Before the first instant it is the one of the evening before. Equal loads are one part."""
    night, day, evening = advice.read_load("06:00=1, 18:00=50%,22:00=0.25")
    assert (night.factor, day.factor, evening.factor) == (1.0, 0.5, 0.25)
    assert (night.share, day.share, evening.share) == pytest.approx((12 / 24, 4 / 24, 8 / 24))
    assert len(advice.read_load("00:00=1,08:00=2,20:00=1")) == 2
    for bad in ("08:00", "25:00=1", "08:00=1,07:00=2", "08:00=0", "08:00=1,08:00=2"):
        with pytest.raises(ScenarioError, match="--load"):
            advice.read_load(bad)


def test_a_day_costs_what_its_parts_do() -> None:
    """An interval comes to the mean of its costs at each load, and to the most that it undoes."""
    failures = advice.Failures(mtbf_s=60, restart_s=1)
    job = scenario(sync_ms=50, rate=50.0)
    parts = advice.read_load("00:00=0.5,12:00=1.5")
    whole = advice.Advisor(job, failures, parts=parts).point(jobs.Mode.ALIGNED, 2.0)
    halves = [
        advice.Advisor(loaded(job, factor), failures).point(jobs.Mode.ALIGNED, 2.0)
        for factor in (0.5, 1.5)
    ]
    assert whole.cost == pytest.approx(sum(one.cost for one in halves) / 2)
    assert whole.undone_most_records == halves[1].undone_most_records
    assert halves[1].undone_most_records > 2 * halves[0].undone_most_records


def test_catching_up_takes_longer_at_a_higher_load() -> None:
    """What falls due while the job is down is worked off by spare capacity, which is less then."""
    failures = advice.Failures(mtbf_s=600, restart_s=5)
    low, high = (
        advice.Advisor(scenario(rate=rate), failures).point(jobs.Mode.ALIGNED, 4.0).caught_up_s
        for rate in (40.0, 80.0)
    )
    assert low is not None
    assert high is not None
    # Down for 5.3 s, and half an interval undone. Over the capacity that is left.
    assert low == pytest.approx((5.3 + 2.2 * 0.4) / 0.6, rel=0.1)
    assert high == pytest.approx((5.3 + 2.2 * 0.8) / 0.2, rel=0.1)
    assert advice.Advisor(scenario(), failures).point(jobs.Mode.ALIGNED, 4.0).caught_up_s is None


def test_the_picture_has_the_optima_of_paper_in_it() -> None:
    """Points, the simulated optimum, Young's and Daly's are drawn. An interval of 0 is not."""
    points = tuple(_point(t, 4 / t + t / 9) for t in (2.5, 4.0, 6.4, 10.2))
    curve = _curve_of(points)
    drawn = picture(curve)
    assert len(drawn["points"]) == 4
    assert [one["says"] for one in drawn["marks"]] == ["Young 5 s", "Daly 5.2 s", "simulated 6 s"]
    free = replace(curve, young_s=0.0, daly_s=0.0, optimum_s=None)
    assert picture(free)["marks"] == []
    other = replace(curve, points=tuple(replace(one, cost=2 * one.cost) for one in points))
    axes = [picture(one, beside=[curve, other]) for one in (curve, other)]
    assert axes[0]["costs"] == axes[1]["costs"]
    assert axes[0]["times"] == axes[1]["times"]


def test_the_page_draws_intervals_that_are_as_good() -> None:
    """A band from the least to the longest of them lies after the advised mode's curve alone."""
    points = tuple(_point(t, 4 / t + t / 9) for t in (2.5, 4.0, 6.4, 10.2))
    curve = _curve_of(points)
    other = replace(curve, mode=jobs.Mode.UNALIGNED)
    found = Advice(name="job", curves=[curve, other], best=points[2], flat_s=(4.0, 6.4))
    page = found.page()
    assert page.count("<rect") == 1
    assert page.index("as good: 4 s to 6.4 s") < page.index("<h3>unaligned")
    at = [f'cx="{left}"' for left in re.findall('<rect x="([0-9.]+)"', page)]
    assert at[0] in page
    assert "<rect" not in replace(found, flat_s=(4.0, 4.0)).page()


def test_an_optimum_on_paper_that_cannot_be_kept_is_no_interval() -> None:
    """The advice says that it is shorter than a checkpoint takes, and no 0.0 s."""
    points = tuple(_point(t, 4 / t + t / 9) for t in (2.5, 4.0, 6.4, 10.2))
    curve = _curve_of(points)
    told = _told(Advice(name="job", curves=[curve], best=points[1]))
    assert told.endswith("On paper it would be every 5.0 s (Young) or 5.2 s (Daly)")
    free = replace(curve, young_s=0.0, daly_s=0.0)
    told = _told(Advice(name="job", curves=[free], best=points[1]))
    assert told.endswith("shorter than one takes, so it cannot be kept")


@pytest.fixture(scope="module")
def job_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a scenario file with a job that is quick to simulate."""
    path = tmp_path_factory.mktemp("advise") / "job.toml"
    path.write_text(to_toml(scenario(sync_ms=100, rate=20.0)))
    return path


def test_advice_is_a_table_and_a_sentence(job_file: Path, tmp_path: Path, capsys: Captured) -> None:
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
    assert found["frontier"]
    assert found["as_good"]["least_s"] <= found["advised"]["effective_s"]
    assert found["advised"]["effective_s"] <= found["as_good"]["longest_s"]
    page = tmp_path / "advice.html"
    assert (
        main([*words, "--load", "00:00=0.5,12:00=1", "--rto", "1ms", "--json", "--out", str(page)])
        == 0
    )
    assert "<polyline" in page.read_text()
    assert json.loads(capsys.readouterr().out)["advised"] is None


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--mtbf", "often"], "--mtbf: found 'often', expected a duration such as"),
        (["--mtbf", "1h", "--max-overhead", "lots"], "a share such as"),
        (["--mtbf", "1h", "--modes", "sideways"], "--modes: found 'sideways'"),
        (["--mtbf", "1h", "--set", "source.src.rate=5000 /s"], "overloaded"),
        (["--mtbf", "1h", "--load", "00:00=2"], "a source with a rate"),
        (
            ["--mtbf", "1h", "--set", "source.src.rate=900 /s", "--load", "00:00=1,08:00=2"],
            "overloaded",
        ),
    ],
)
def test_what_cannot_be_advised_is_refused(capsys: Captured, words: list[str], says: str) -> None:
    """Wrong times and shares, unknown modes, and jobs that can never catch up."""
    assert main(["advise", str(SHIPPED / "job00"), *words]) == 2
    assert says in capsys.readouterr().err


def test_what_is_advised_is_a_row_with_a_break_and_a_price(capsys: Captured) -> None:
    """The row that is marked is the sentence's. A transaction that ends too soon is warned of."""
    words = ["advise", str(FIELD / "advice.toml"), "--mtbf", "1d", "--restart", "5min"]
    assert main([*words, "--modes", "aligned"]) == 0
    said = capsys.readouterr().out
    [marked] = [line.split() for line in said.splitlines() if line.endswith("<- advised")]
    told = " ".join(said.split())
    assert f"advised: aligned checkpoints every {marked[1]} s. One takes" in told
    assert float(marked[1]) > 24
    assert re.search(r"The job writes [0-9.]+ TB a day\.", told)
    assert "the transaction time-out of 1 min is shorter than interval + duration + restart" in told


def test_a_transaction_is_open_until_a_failure_is_over() -> None:
    """Interval, duration and restart together must be shorter than its time-out."""
    point = _point(30.0, 0.1)
    job = cast("jobs.Job", scenario().model)
    failures = advice.Failures(mtbf_s=100.0, restart_s=20.0)

    def said(timeout_ms: int | None, mode: jobs.Mode = jobs.Mode.ALIGNED) -> list[str]:
        costs = jobs.Costs(transaction_timeout_ns=timeout_ms and timeout_ms * MS)
        own = replace(point, mode=mode)
        return list(transaction_warnings(replace(job, costs=costs), own, failures))

    assert said(50_200) == said(None) == said(50_000, jobs.Mode.AT_LEAST_ONCE) == []
    [line] = said(50_000)
    assert "30.0 s + 0.1 s + 20.0 s = 50 s" in line


def _priced(cost: float, files: float, **more: Any) -> advice.Point:
    return advice.Point(
        mode=jobs.Mode.ALIGNED,
        interval_s=10,
        effective_s=more.pop("effective_s", 10.0),
        duration_s=1,
        loss_s=0,
        undone_s=5,
        undone_most_records=1,
        in_flight_bytes=0,
        cost=cost,
        requests_per_day=files,
        **more,
    )


def test_prices_and_transactions_choose_among_intervals_that_cost_the_same_time() -> None:
    """Within scatter the cheapest is taken, and one that outlives transactions is not wanted."""
    quick, cheap, dear = _priced(0.1, 9e6), _priced(0.102, 1e6), _priced(0.12, 1e3)
    every = [quick, cheap, dear]
    assert advice.best_of(every, allowed=lambda _: True) is quick
    price = Prices(requests=0.005).of
    assert price(quick) == pytest.approx(45)
    assert advice.best_of(every, allowed=lambda _: True, price=price) is cheap
    late = _priced(0.01, 1, effective_s=40.0)
    table = jobs.Costs(transaction_timeout_ns=30_000 * MS)
    in_time = commits_in_time(
        cast("jobs.Job", scenario(costs=table).model), advice.Failures(mtbf_s=1e5, restart_s=10)
    )
    assert advice.best_of([late, quick], allowed=lambda _: True, wanted=in_time) is quick
    assert advice.best_of([late], allowed=lambda _: True, wanted=in_time) is late


def test_other_settings_of_state_are_compared_where_they_are_known() -> None:
    """Increments need a delta, local recovery a state, and the rest is named."""
    model = cast("jobs.Job", scenario(state_bytes=10**9).model)
    assert "incremental checkpoints (say state_delta or keys of op)" in unseen(model)
    known = replace(model.vertices[1], state_delta_bytes=10**7)
    keyed = replace(scenario(), model=replace(model, vertices=(model.vertices[0], known)))
    names = [name for name, _ in alternatives(keyed)]
    assert names == ["incremental checkpoints of RocksDB", "local recovery"]
    assert [name for name, _ in alternatives(scenario(state_bytes=1))] == ["local recovery"]
    assert not list(alternatives(scenario()))
    assert "no vertex has any" in unseen(cast("jobs.Job", scenario().model))


def test_a_hot_subtask_is_named_with_its_vertex() -> None:
    """A subtask beyond its capacity is reported with the mean of its vertex, others as before."""
    model = cast("jobs.Job", scenario(rate=200).model)
    hot = replace(model.vertices[0], hot_ratio=0.5, parallelism=1)
    keyed = jobs.Input(upstream="src", partitioner=jobs.Partitioner.HASH)
    op = replace(model.vertices[1], parallelism=4, inputs=(keyed,))
    told = list(warnings_of(replace(model, vertices=(hot, op))))
    says = "subtask 0 of op is busy 1.3 times its capacity, so its backlog grows"
    assert told[0] == f"{says}; the vertex is at 50%"
    even = list(warnings_of(replace(model, vertices=(replace(hot, hot_ratio=0.0), op))))
    assert not any("subtask" in one for one in even)
