"""Sweeps from Python: a scenario with what varies, tidy frames, figures, a lent session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from matplotlib import pyplot as plt

import ckptsim as ck
from ckptsim.models.coordinator import CheckpointCoordinator
from tests.package.own_core import Silent

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
INTERVALS, MODES = ["40 ms", "80 ms"], ["aligned", "unaligned"]
CORE = f"{CheckpointCoordinator.__module__}:CheckpointCoordinator"


@pytest.fixture(scope="module")
def swept(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> ck.SweepResult:
    """A job on buffers, made in Python, at two intervals in two modes with two cores.

    The session is not ours: it is not stopped, and its settings are left alone.
    """
    job = ck.loads(ck.dumps(ck.load("alignment_timeout").with_(duration="1 s")))
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    before = dict(spark.conf.getAll)
    done = ck.sweep(
        job,
        vary={
            "interval": INTERVALS,
            "mode": MODES,
            "core.coordinator": ["builtin", CheckpointCoordinator],
        },
        seeds=1,
        out=tmp_path_factory.mktemp("swept") / "mine",
        spark=spark,
    )
    assert dict(spark.conf.getAll) == before
    assert spark.range(3).count() == 3
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    return done


def test_a_frame_has_one_row_per_run(swept: ck.SweepResult) -> None:
    """Swept parameters are the first columns, with their own types. Durations are timedelta64."""
    frame = swept.frame()
    assert len(frame) == swept.runs == 8
    assert list(frame.columns[:3]) == ["interval", "mode", "core.coordinator"]
    assert frame["interval"].dtype == np.dtype("m8[ns]")
    interval_ms = frame["interval"].astype("int64") // 10**6
    assert interval_ms.tolist() == [40] * 4 + [80] * 4
    assert frame["mode"].tolist() == (["aligned"] * 2 + ["unaligned"] * 2) * 2
    assert frame["core.coordinator"].tolist() == ["builtin", CORE] * 4
    assert frame["digest"].nunique() == 4  # the same core, brought from outside
    assert frame["ended"].dtype == frame["median_latency"].dtype == np.dtype("m8[ns]")


def test_a_run_of_a_sweep_is_the_run_alone(swept: ck.SweepResult) -> None:
    """The key, the checkpoints and the command of a run are those for the scenario, kept in a file.

    The file lies beside the tables, as the scenario was made in Python.
    """
    (path,) = swept.directory.parent.glob("alignment_timeout-*.toml")
    run = ck.run(ck.load(path).with_(interval="40 ms", mode="aligned"), seed=1)
    frame = swept.frame()
    assert run.run.run_key == frame["run_key"][0]
    assert frame["replay"][0].startswith(f"ckptsim replay {path} --seed 1 --set ")
    checkpoints = swept.checkpoints()
    own = checkpoints[checkpoints["run_key"] == run.run.run_key]
    wanted = [row.duration_ns for row in run.checkpoints if row.duration_ns is not None]
    assert own["duration"].dropna().astype("int64").tolist() == wanted
    assert list(checkpoints.columns[:2]) == ["interval", "mode"]
    assert len(swept.recoveries().columns) > 2


def test_summaries_count_what_the_frames_have(swept: ck.SweepResult) -> None:
    """The n of every percentile is the number of rows of its point, and Spark has the same."""
    latency = swept.summaries()["latency"]
    axes = ["interval", "mode", "core.coordinator"]
    middle = latency[latency["probability"] == 0.5].set_index(axes)
    rows = swept.checkpoints().groupby(axes).size()
    assert middle["n"].to_dict() == rows.to_dict()
    done = swept.checkpoints()
    done = done[done["status"] == "completed"].groupby(axes).size()
    assert middle["completed"].to_dict() == done.to_dict()
    assert middle["completed_time"].dtype == np.dtype("m8[ns]")
    assert latency["latency"].dtype == np.dtype("m8[ns]")
    assert swept.checkpoints(spark=True).count() == rows.sum()
    found: Any = swept.summaries(spark=True)["latency"]
    assert found.count() == len(latency)
    assert {"scenario", "parameters"} < set(found.columns)


def test_a_figure_shows_the_n_of_its_percentiles(swept: ck.SweepResult) -> None:
    """Durations are drawn on given axes, a pair of lines per mode and core, each with its n."""
    figure, ax = plt.subplots()
    assert swept.plot.duration(x="interval", by="mode", ax=ax) is ax
    labels = [line.get_label() for line in ax.lines if not str(line.get_label()).startswith("_")]
    assert [str(label).partition(" (")[0] for label in labels] == [
        f"{mode}, {core}: {what}"
        for mode in MODES
        for core in ("builtin", CORE)
        for what in ("median", "95 %")
    ]
    assert all("(n = " in str(label) for label in labels)
    for draw in (swept.plot.bands, swept.plot.distribution, swept.plot.metric):
        assert draw(ax=figure.add_subplot()) is figure.axes[-1]
    assert swept.plot.differences().get_title(loc="left").startswith("Median checkpoint duration")
    with pytest.raises(ck.ScenarioError, match="expected a parameter that"):
        swept.plot.duration(x="intervall")
    with pytest.raises(ck.UserError, match="found no timed recovery"):
        swept.plot.recoveries()
    plt.close("all")


def test_a_sweep_is_read_again_and_reported(swept: ck.SweepResult, spark: SparkSession) -> None:
    """The directory has the sweep. Its columns and answers are the same, and a page is written."""
    again = ck.read_sweep(swept.directory)
    assert again.frame().equals(swept.frame())
    assert again.answers == swept.answers
    assert len(repr(again).splitlines()) <= 12
    assert "<table" in again._repr_html_()
    assert again.to_dict()["runs"] == 8
    page = ck.report(swept, spark=spark)
    assert page.path.is_file()
    assert page.frame()["runs"].tolist() == [8]


def test_what_cannot_be_swept_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Nothing to vary, an unknown option and a function that workers cannot import are refused."""
    job = ck.load("reference")

    def local(parameters: object) -> object:
        return Silent(parameters)

    with pytest.raises(ck.UserError, match="vary: found nothing"):
        ck.sweep(job, out=tmp_path / "none", spark=spark)
    with pytest.raises(ck.ScenarioError, match='vary: found "sokets"'):
        ck.sweep(job, vary={"sokets": [1]}, out=tmp_path / "none", spark=spark)
    with pytest.raises(ck.UserError, match="a function of this session"):
        ck.sweep(job, vary={"core.ordering": [local]}, out=tmp_path / "none", spark=spark)
    with pytest.raises(ck.UserError, match="beside a plan"):
        ck.sweep({"name": "p"}, vary={"a": [1]}, out=tmp_path / "none", spark=spark)
