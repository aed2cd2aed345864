"""Everything that a report says about one sweep, as small frames.

Each piece of the store holds whole runs, so it is summarised by itself and the shares are merged:
there is no shuffle.  A small sweep is summarised here, a large one on Spark with the same function.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ckptsim.analysis.findings import points
from ckptsim.analysis.findings.points import Replications, Spoken
from ckptsim.analysis.findings.share import OUTLIER_COLUMNS, Point, Share, merge
from ckptsim.analysis.findings.summarise import summarise
from ckptsim.analysis.tables.pieces import Piece, read_piece
from ckptsim.analysis.tables.store import SweepStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK_ROWS = 3_000_000  # from here on reading takes longer here than starting Spark does


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The findings of one sweep.

    about: what the sweep says of itself; points: its points in order; axes: the swept parameters,
    the slowest varying first, with their values.  A point's `parameters` are the swept ones alone,
    as JSON, and like `axes` in words: `{"time of an upload": "20 ms"}`.  All frames with a point
    are in the order of the points.  For the columns see the functions of `points` of the same
    names.
    outliers: the slowest checkpoints, one per run at most, with the run's replay command.
    replications: by metric and point the values of every seed.
    tie_policies: under how many orders of simultaneous events every seed is run; a seed's value is
    the mean over them.
    """

    about: Mapping[str, Any]
    points: list[dict[str, Any]]
    axes: Mapping[str, list[str]]
    outcomes: pd.DataFrame
    latency: pd.DataFrame
    distribution: pd.DataFrame
    waits: pd.DataFrame
    intervals: pd.DataFrame
    expected: pd.DataFrame
    differences: pd.DataFrame
    violations: pd.DataFrame
    errors: pd.DataFrame
    outliers: pd.DataFrame
    goals: pd.DataFrame
    tasks: pd.DataFrame
    first_barriers: pd.DataFrame
    replications: Replications
    tie_policies: int


def find(store: SweepStore, session: SparkSession | None = None) -> Findings:
    """Compute the findings of the sweep in a directory, on Spark where a session is given.

    Raises UserError when the directory holds no sweep, or one without a run.
    """
    pieces = store.pieces()
    if session is None:
        share = merge([_summary(store.directory, piece) for piece in pieces])
    else:
        shipped = session.sparkContext.parallelize(pieces, max(1, len(pieces)))
        share = merge(shipped.map(partial(_summary, store.directory)).collect())
    return findings_of(share, store)


def _summary(directory: Path, piece: Piece) -> Share:
    return summarise(read_piece(directory, piece))


def wants_spark(store: SweepStore) -> bool:
    """Tell whether a sweep has so many rows that Spark summarises it sooner."""
    return store.row_count() >= SPARK_ROWS


def findings_of(share: Share, store: SweepStore) -> Findings:
    """Return the findings from the share of all runs, with swept parameters in words."""
    about, swept = store.swept(), store.points()
    keys: list[Point] = [(point["scenario"], point["parameters"]) for point in swept]
    spoken = Spoken(about, swept)
    values = points.replications(share, keys)
    slowest = [entry[-1] for entry in share.outliers]
    frames = {
        "outcomes": points.outcomes(share, keys),
        "latency": points.latency(share, keys),
        "distribution": points.distribution(share, keys),
        "waits": points.waits(share, keys),
        "intervals": points.intervals(values, keys),
        "expected": points.expected(share, keys),
        "differences": points.differences(values, keys),
        "violations": points.violations(share, keys),
        "errors": points.errors(share, keys),
        "outliers": pd.DataFrame(slowest, columns=list(OUTLIER_COLUMNS)),
        "tasks": points.task_times(share, keys),
        "first_barriers": points.first_barriers(share, keys),
    }
    return Findings(
        about=about,
        points=[{**point, "parameters": spoken.parameters(point)} for point in swept],
        axes=spoken.axes,
        goals=points.goals(share),
        replications={
            metric: {(key[0], spoken.of[key]): seeds for key, seeds in found.items()}
            for metric, found in values.items()
        },
        tie_policies=share.runs["ties"].nunique(),
        **{name: spoken.frame(frame) for name, frame in frames.items()},
    )
