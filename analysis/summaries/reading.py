"""The summaries of one sweep as pandas frames, without Spark."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, cast

import pandas as pd
import pyarrow as pa

from ckptsim.analysis.summaries.schema import POINT, SUMMARIES, VERSION, WAITS
from ckptsim.analysis.tables import aggregates
from ckptsim.analysis.tables.pieces import read_piece, read_table
from ckptsim.analysis.tables.store import SweepStore
from ckptsim.analysis.words import names_in_words, value_in_words
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.planning import METRICS, SCENARIO_AXIS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POLL_S = 0.2
Point = tuple[str, str]  # scenario and parameters
Values = Mapping[Point, Mapping[int, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summaries:
    """The summaries of one sweep, with swept parameters in words.

    about: what the sweep says of itself. points: its points in order. axes: the swept parameters,
    the slowest varying first, with their values.  A point's `parameters` are the swept ones alone,
    as JSON, and like `axes` in words: `{"time of an upload": "20 ms"}`.
    replications: by metric and point the values of every seed, read where they are asked for.
    tie_policies: under how many orders of simultaneous events every seed is run. A seed's value is
    the mean over them.  For the frames see the package.
    """

    about: Mapping[str, Any]
    points: list[dict[str, Any]]
    axes: Mapping[str, list[str]]
    outcomes: pd.DataFrame
    latency: pd.DataFrame
    distribution: pd.DataFrame
    phases: pd.DataFrame
    waits: pd.DataFrame
    first_barriers: pd.DataFrame
    tasks: pd.DataFrame
    intervals: pd.DataFrame
    differences: pd.DataFrame
    expected: pd.DataFrame
    violations: pd.DataFrame
    errors: pd.DataFrame
    outliers: pd.DataFrame
    goals: pd.DataFrame
    replications: Mapping[str, Values]
    tie_policies: int


def is_current(store: SweepStore) -> bool:
    """Return whether the summaries of a sweep are the ones of all rows that it has."""
    return aggregates.made_from(store.directory) == _made_from(store)


def _made_from(store: SweepStore) -> dict[str, object]:
    """Return what summaries are current: their version, and what they are made from."""
    named = "\n".join(point[name] for point in store.points() for name in POINT)
    digest = hashlib.blake2b(named.encode(), digest_size=16).hexdigest()
    return {"version": VERSION, "pieces": store.piece_names(), "points": digest}


def refresh(session: SparkSession, store: SweepStore) -> None:
    """Aggregate the rows of a sweep on Spark, where its summaries are not current.

    Raises UserError when the directory holds no sweep, or one without a run, when a table in it is
    damaged, or when another process writes into it.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    from ckptsim.analysis.spark.session import cancel_jobs
    from ckptsim.analysis.summaries.aggregate import aggregate

    with store.writing():
        if is_current(store):
            return
        pieces = store.pieces()
        made = _made_from(store)
        # This thread never talks to Java meanwhile, so that it can be interrupted at any instant.
        with ThreadPoolExecutor(1) as threads:
            work = threads.submit(aggregate, session, store)
            try:
                while not work.done():
                    wait([work], POLL_S)
                work.result()
            except (PySparkException, Py4JJavaError) as error:
                for piece in pieces:
                    read_piece(store.directory, piece)  # raises the problem of a table
                says = f"{store.directory}: Spark could not aggregate its rows: {error}"
                raise RuntimeError(says) from error
            except BaseException:
                while not work.done():  # it may begin one more job after each
                    cancel_jobs(session.sparkContext)
                    wait([work], POLL_S)
                raise
        aggregates.move_in(store.directory, SUMMARIES, made)


def frames(store: SweepStore) -> dict[str, pd.DataFrame]:
    """Return the frames of a sweep by name, as Spark has written them.

    Raises UserError when the directory holds no sweep, or summaries that are not current.
    """
    found = _few(store)
    points = store.points()
    for name in ("replications", "metrics"):
        long = _named(_table(store, name), points)
        keys = [column for column in long.columns if column not in ("metric", "value")]
        wide = long.pivot_table(index=keys, columns="metric", values="value", sort=False)
        columns = [*keys, *(metric for metric in METRICS if metric in wide)]
        found[name] = wide.reset_index()[columns].rename_axis(columns=None)
    return found


def read(store: SweepStore) -> Summaries:
    """Return the summaries of a sweep, with swept parameters in words.

    Raises UserError when the directory holds no sweep, or summaries that are not current.
    """
    about, points = store.swept(), store.points()
    words = _Words(about, points)
    found = {name: words.frame(frame) for name, frame in _few(store).items()}
    policies = found["outcomes"].pop("tie_policies")
    return Summaries(
        about=about,
        points=[{**point, "parameters": words.parameters(point)} for point in points],
        axes=words.axes,
        replications=Replications(partial(_values, store, [words.key(point) for point in points])),
        tie_policies=int(policies.max()),
        **found,
    )


def _few(store: SweepStore) -> dict[str, pd.DataFrame]:
    """Return the frames that do not grow with the runs, with the names of their points."""
    if not is_current(store):
        raise UserError(
            f"{store.directory}: found rows that no summary has, expected current ones; "
            f"`ckptsim report {store.directory}` makes them"
        )
    points = store.points()
    found = {
        name: _named(_table(store, name), points)
        for name in SUMMARIES
        if name not in ("replications", "metrics", "estimates")
    }
    estimates = _named(_table(store, "estimates"), points)
    for frame, kind in (("intervals", "mean"), ("differences", "difference")):
        found[frame] = estimates[estimates["kind"] == kind].reset_index(drop=True)
        found[frame] = found[frame].drop(columns="kind")
    found["intervals"] = found["intervals"].drop(columns="unpaired")
    found["differences"] = found["differences"].astype({"unpaired": "int64"})
    theory = estimates[estimates["kind"] == "expected"].reset_index(drop=True)
    found["expected"] = theory[[*POINT, "metric", "mean"]].rename(columns={"mean": "expected"})
    found["waits"] = _waits(found["phases"])
    return found


def _waits(phases: pd.DataFrame) -> pd.DataFrame:
    """Return the phases that follow each other with a column each. They have the same `n`."""
    chosen = phases[phases["phase"].isin(WAITS)]
    rows = [
        (*key, *some.set_index("phase")["total_ns"].reindex(WAITS), some["duration_ns"].iloc[0])
        for key, some in chosen.groupby([*POINT, "n"], sort=False)
    ]
    return pd.DataFrame(rows, columns=[*POINT, "n", *WAITS, "duration_ns"])


def _table(store: SweepStore, name: str, metric: str | None = None) -> pd.DataFrame:
    """Return a table, or its rows of a metric."""
    columns = list(SUMMARIES[name])
    parts = [
        read_table(path, columns, filters=None if metric is None else [("metric", "=", metric)])
        for path in aggregates.files_of(store.directory, name)
    ]
    found: pd.DataFrame = pa.concat_tables(parts).to_pandas()
    return found


def _named(frame: pd.DataFrame, points: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return a frame with the names of its points in the place of their positions."""
    if "point" not in frame:
        return frame
    places = frame.pop("point").tolist()
    for index, name in enumerate(POINT):
        frame.insert(
            index, name, pd.Series([points[place][name] for place in places], dtype=object)
        )
    return frame


class Replications(Mapping[str, Values]):
    """By metric and point the values of every seed. A metric is read where it is asked for."""

    def __init__(self, load: Callable[[str], Values]) -> None:
        self._load = cache(load)

    def __getitem__(self, metric: str) -> Values:
        if metric not in METRICS:
            raise KeyError(metric)
        return self._load(metric)

    def __iter__(self) -> Iterator[str]:
        return iter(METRICS)

    def __len__(self) -> int:
        return len(METRICS)


def _values(store: SweepStore, keys: Sequence[Point], metric: str) -> Values:
    """Return the values of a metric by point and seed. keys: of the points, in their order."""
    rows = _table(store, "replications", metric).sort_values(["point", "seed"])
    return {
        keys[cast("int", place)]: dict(
            zip(some["seed"].tolist(), some["value"].tolist(), strict=True)
        )
        for place, some in rows.groupby("point")
    }


class _Words:
    """The swept parameters of a sweep in words.

    axes: swept values by name, in the order of the plan.
    """

    def __init__(self, about: Mapping[str, Any], points: Sequence[Mapping[str, Any]]) -> None:
        paths = [path for path, _ in about["axes"]]
        # A sweep of an older release has none.
        self._names = names_in_words(paths, about.get("words", {}))
        self.axes = {
            self._names[path]: [value_in_words(path, value) for value in values]
            for path, values in about["axes"]
        }
        self._of = {
            tuple(point[name] for name in POINT): self.parameters(point) for point in points
        }

    def parameters(self, point: Mapping[str, Any]) -> str:
        """Return the swept parameters of a point in words, as JSON in the order of the plan."""
        values = {**json.loads(point["parameters"]), SCENARIO_AXIS: point["scenario"]}
        swept = {
            name: value_in_words(path, values[path])
            for path, name in self._names.items()
            if path in values
        }
        return json.dumps(swept, ensure_ascii=False)

    def key(self, point: Mapping[str, Any]) -> Point:
        """Return the scenario of a point, and its parameters in words."""
        return point["scenario"], self.parameters(point)

    def frame(self, found: pd.DataFrame) -> pd.DataFrame:
        """Return a frame with the parameters of its points in words."""
        if "parameters" not in found:
            return found
        keys = zip(*(found[name] for name in POINT), strict=True)
        return found.assign(parameters=[self._of[key] for key in keys])
