"""What Spark makes of drawn tables: equal to a plain reading, and to itself in any division."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from ckptsim.analysis import summaries
from ckptsim.analysis.summaries import aggregate
from ckptsim.analysis.summaries.schema import POINT, SUMMARIES
from ckptsim.analysis.tables import aggregates
from ckptsim.analysis.tables.store import SweepStore
from tests.analysis.summaries.plain import Reading
from tests.analysis.summaries.tables import divided, drawn, write

pytestmark = pytest.mark.spark
SEED = 11
FRAMES = ("outcomes", "latency", "distribution", "phases", "first_barriers", "outliers", "tasks",
          "violations", "errors", "goals", "intervals", "differences", "expected")  # fmt: skip


@pytest.fixture(scope="module")
def swept(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SweepStore:
    """A sweep of drawn rows in one piece, aggregated."""
    points, rows = drawn(SEED)
    store = write(tmp_path_factory.mktemp("drawn") / "one", points, rows)
    summaries.refresh(spark, store)
    return store


@pytest.fixture(scope="module")
def reading() -> Reading:
    """The same rows, read in plain Python."""
    return Reading(*drawn(SEED))


def said(frame: pd.DataFrame, store: SweepStore) -> list[tuple[Any, ...]]:
    """Return the rows of a frame with their points as places in the plan, gaps as None."""
    places = {point["parameters"]: place for place, point in enumerate(store.points())}
    if "parameters" in frame:
        frame = frame.assign(scenario=frame["parameters"].map(places)).drop(columns="parameters")
    rows = frame.drop(columns=[name for name in ("tie_policies",) if name in frame])
    return [
        tuple(None if isinstance(one, float) and math.isnan(one) else one for one in row)
        for row in rows.astype(object).itertuples(index=False)
    ]


def alike(one: Any, other: Any) -> bool:
    """Return whether two cells are equal: whole numbers to the last, others to 1e-9."""
    if one is None or other is None or isinstance(other, str):
        return one == other
    if isinstance(other, int):
        return int(one) == other
    return math.isclose(one, float(other), rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize("name", FRAMES)
def test_summaries_are_what_a_plain_reading_finds(
    name: str, swept: SweepStore, reading: Reading
) -> None:
    """Counts and sums agree to the last integer, means and quantiles to 1e-9."""
    found = said(summaries.frames(swept)[name], swept)
    wanted = getattr(reading, name)()
    assert len(found) == len(wanted) > 0
    for one, other in zip(found, wanted, strict=True):
        assert len(one) == len(other)
        assert all(map(alike, one, other)), (one, other)


def test_metrics_and_replications_are_what_a_plain_reading_finds(
    swept: SweepStore, reading: Reading
) -> None:
    """Each run has the metrics that its rows give, each seed their mean over tie policies."""
    frames = summaries.frames(swept)
    points = [point["parameters"] for point in swept.points()]
    runs = frames["metrics"].set_index("run_key").drop(columns=[*POINT, "seed", "ties"])
    wanted = reading.metrics()
    assert runs.notna().to_numpy().sum() == len(wanted)
    assert all(alike(runs.loc[key, metric], value) for (key, metric), value in wanted.items())
    seeds = frames["replications"].set_index(["parameters", "seed"]).drop(columns="scenario")
    means = reading.replications()
    assert seeds.notna().to_numpy().sum() == sum(map(len, means.values()))
    for (point, metric), values in means.items():
        assert all(alike(seeds.loc[(points[point], s), metric], one) for s, one in values.items())


def bytes_of(store: SweepStore) -> dict[str, str]:
    """Return a digest of each table's files."""
    return {
        table: "".join(
            hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()
            for path in aggregates.files_of(store.directory, table)
        )
        for table in SUMMARIES
    }


@pytest.mark.parametrize("partitions", [4, 16])
def test_bytes_do_not_depend_on_pieces_and_partitions(
    partitions: int,
    swept: SweepStore,
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The plan of a large sweep, with shuffles into 4 and 16 parts, writes what one task does."""
    points, rows = drawn(SEED)
    store = write(tmp_path / "many", points, *divided(rows, 20 // partitions))
    thorough = aggregate.thorough

    def shuffled(size: aggregate.Size) -> dict[str, str]:
        # Compiled expressions are the ones of the long test below.
        quick = {name: aggregate.QUICK[name] for name in aggregate.QUICK if "codegen" in name}
        return {**thorough(size), "spark.sql.shuffle.partitions": str(partitions), **quick}

    monkeypatch.setattr(aggregate, "SMALL_ROWS", 0)
    monkeypatch.setattr(aggregate, "thorough", shuffled)
    summaries.refresh(spark, store)
    assert bytes_of(store) == bytes_of(swept)


@pytest.mark.long
def test_bytes_do_not_depend_on_who_writes_and_on_compilation(
    swept: SweepStore, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Expressions that are compiled give the same bytes. So do rows that the driver ships."""
    points, rows = drawn(SEED)
    store = write(tmp_path / "large", points, *divided(rows, 5))
    monkeypatch.setattr(aggregate, "SMALL_ROWS", 0)
    summaries.refresh(spark, store)
    assert bytes_of(store) == bytes_of(swept)
    monkeypatch.setattr(aggregate, "is_shared", lambda *_: False)
    shipped = write(tmp_path / "shipped", points, *divided(rows, 5))
    summaries.refresh(spark, shipped)
    for name, frame in summaries.frames(shipped).items():
        pd.testing.assert_frame_equal(frame, summaries.frames(swept)[name], check_exact=True)
