"""Small tables of the shapes that figures take, made up but plausible."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ckptsim.analysis.answers.series import Place, Series
from ckptsim.analysis.statistics import interval
from ckptsim.analysis.summaries.schema import PROBABILITIES, WAITS
from tests.analysis.summaries.plain import quantile, survival

COUNT, UPLOAD = "sockets", "time of an upload"
AXES = (COUNT, UPLOAD)


def lasting(counts: tuple[int, ...] = (1, 2, 4, 8, 16), n: int = 200) -> list[pd.DataFrame]:
    """Return checkpoints of the points of a grid. Some are unfinished, many of the last."""
    draws = np.random.default_rng(1)
    return [
        pd.DataFrame(
            {
                "scenario": "parallel",
                "parameters": json.dumps({COUNT: count, UPLOAD: upload}),
                "elapsed_ns": draws.lognormal(15 + 1 / count, 0.6, n).astype(int),
                "ended": draws.random(n) > (0.5 if count == counts[-1] else 0.02),
            }
        )
        for count in counts
        for upload in ("5 ms", "20 ms")
    ]


def latency() -> pd.DataFrame:
    """Return quantiles with the columns of the summary of that name."""
    return pd.concat([_latency(group) for group in lasting()], ignore_index=True)


def _latency(group: pd.DataFrame) -> pd.DataFrame:
    point = group.iloc[0]
    curve = survival(list(zip(group["elapsed_ns"], group["ended"], strict=True)))
    done = group.loc[group["ended"], "elapsed_ns"].tolist()
    rows = []
    for p in PROBABILITIES:
        reached = [time for time, below in curve if below >= p]
        known = (float(quantile(done, p) or 0), min(reached, default=math.nan))
        rows.append((point["scenario"], point["parameters"], len(group), len(done), p, *known))
    names = ("n", "completed", "probability", "completed_ns", "latency_ns")
    return pd.DataFrame(rows, columns=["scenario", "parameters", *names])


def distribution() -> pd.DataFrame:
    """Return distributions with the columns of the summary of that name."""
    rows = [
        (group["scenario"].iloc[0], group["parameters"].iloc[0], len(group))
        + (int((~group["ended"]).sum()), time, float(below))
        for group in lasting()
        for time, below in survival(list(zip(group["elapsed_ns"], group["ended"], strict=True)))
    ]
    names = ("n", "unfinished", "latency_ns", "below")
    return pd.DataFrame(rows, columns=["scenario", "parameters", *names])


def waits() -> pd.DataFrame:
    """Return waiting times with the columns of the summary of that name."""
    draws = np.random.default_rng(2)
    rows = [
        {
            "scenario": "parallel",
            "parameters": group["parameters"].iloc[0],
            "n": 50,
            **{part: int(draws.integers(10**7, 10**9)) for part in WAITS},
        }
        for group in lasting()
    ]
    return pd.DataFrame(rows)


def intervals(metric: str = "ended_ns") -> pd.DataFrame:
    """Return means with the columns of both `intervals` and `differences`."""
    draws = np.random.default_rng(3)
    rows = []
    for count in (1, 2, 4, 8, 16):
        mean = float(draws.normal(0, 1) * 10**9)
        low, high = mean - 4e8, mean + 4e8
        parameters = json.dumps({COUNT: count})
        rows.append(("parallel", parameters, metric, 20, 0, mean, low, high))
    names = ["scenario", "parameters", "metric", "n", "unpaired", "mean", "low", "high"]
    return pd.DataFrame(rows, columns=names)


SIZES = ("10 kB", "30 kB", "100 kB", "300 kB", "1 MiB", "3 MB", "8 MiB")
PLACEMENTS = ("external", "colocated", "consumer group blob")


def swept_latency(axis: str, values: Sequence[str], other: str) -> pd.DataFrame:
    """Return percentiles along an axis in three panels, with counts of six digits."""
    rows = []
    for panel in range(3):
        for place, value in enumerate(values):
            n = 200_251 // (place + 1)
            parameters = json.dumps({axis: value, other: f"value {panel}"})
            for probability in (0.05, 0.25, 0.5, 0.75, 0.95, 0.99):
                latency = 10**7 * (place + 1) * (1 + probability)
                rows.append(("stored", parameters, n, n - 40, probability, latency))
    names = ["scenario", "parameters", "n", "completed", "probability", "latency_ns"]
    return pd.DataFrame(rows, columns=names)


def beside_theory() -> pd.DataFrame:
    """Return means of three figures with what theory says of them, of one line without a word."""
    draws = np.random.default_rng(6)
    rows = []
    for count in (1, 2, 4, 8, 16):
        for upload in ("5 ms", "20 ms"):
            for metric, paper in (
                ("undone_per_crash", 50.0 * count),
                ("lost_per_crash", 20.0 * count if upload == "5 ms" else 0.0),
                ("sync_share", 0.6 / count),
            ):
                mean = paper * float(draws.uniform(0.9, 1.1))
                known = paper if upload == "5 ms" else None
                parameters = json.dumps({COUNT: count, UPLOAD: upload})
                rows.append(
                    ("parallel", parameters, metric, 20, mean, 0.8 * mean, 1.2 * mean, known)
                )
    names = ["scenario", "parameters", "metric", "n", "mean", "low", "high", "expected"]
    return pd.DataFrame(rows, columns=names)


def barrier_checkpoints() -> pd.DataFrame:
    """Return rows of barrier checkpoints of one run. The last but one failed."""
    draws = np.random.default_rng(4)
    count = 20
    parts = {
        name: draws.integers(10**6, 10**8, count)
        for name in ("start_delay_ns", "alignment_ns", "sync_ns", "async_ns")
    }
    status = ["completed"] * (count - 2) + ["expired", "completed"]
    return pd.DataFrame(
        {
            "checkpoint_id": range(1, count + 1),
            "triggered_ns": [10**10 * number for number in range(count)],
            "status": status,
            "duration_ns": sum(parts.values()) + 10**6,
            "processed_bytes": draws.integers(0, 10**8, count),
            "persisted_bytes": draws.integers(0, 10**7, count),
            **parts,
        }
    )


def barrier_parts() -> pd.DataFrame:
    """Return rows of two subtasks in each of those checkpoints. The second acknowledges last."""
    whole = barrier_checkpoints()
    ends = whole["triggered_ns"] + whole["duration_ns"]
    first = whole.assign(subtask=0, acknowledged_ns=ends - 10**6, alignment_ns=10**9)
    return pd.concat([first, whole.assign(subtask=1, acknowledged_ns=ends)], ignore_index=True)


def task_checkpoints() -> pd.DataFrame:
    """Return rows of subtasks of three tasks over some checkpoints."""
    draws = np.random.default_rng(5)
    rows = [
        (task, subtask, checkpoint, int(draws.exponential(10**7 * (1 + subtask))))
        for task in ("source", "map", "sink")
        for subtask in range(8)
        for checkpoint in range(1, 31)
    ]
    return pd.DataFrame(rows, columns=["task", "subtask", "checkpoint_id", "alignment_ns"])


def pairs() -> pd.DataFrame:
    """Return predicted and measured values of some families."""
    draws = np.random.default_rng(6)
    measured = draws.lognormal(5, 2, 60)
    return pd.DataFrame(
        {
            "family": [f"T{1 + number % 5}" for number in range(60)],
            "mode": [
                ("aligned", "unaligned", "aligned_timeout")[number % 3] for number in range(60)
            ],
            "measured": measured,
            "predicted": measured * draws.lognormal(0, 0.2, 60),
        }
    )


def sequences() -> pd.DataFrame:
    """Return the durations of three runs' checkpoints, measured and predicted."""
    draws = np.random.default_rng(7)
    tables = []
    for run in range(3):
        measured = draws.normal(1600, 80, 14)
        told = measured + draws.normal(40, 30, 14)
        tables.append(
            pd.DataFrame(
                {
                    "run_id": f"t2_a_p1_d{run}#1",
                    "index": range(1, 15),
                    "measured": measured,
                    "predicted": 1604.0,
                    "least": 1590.0,
                    "most": 1640.0,
                    "told": told,
                }
            )
        )
    return pd.concat(tables, ignore_index=True)


def back_pressure() -> pd.DataFrame:
    """Return durations per mode against back-pressure."""
    rows = [
        (mode, ratio, 60, 10**8 * slope(ratio), 7 * 10**7 * slope(ratio), 2 * 10**8 * slope(ratio))
        for mode, slope in (
            ("aligned", lambda ratio: 1 + 40 * ratio**3),
            ("unaligned", lambda ratio: 1 + ratio),
            ("timed out", lambda ratio: 1 + min(3.0, 40 * ratio**3)),
        )
        for ratio in (0.0, 0.2, 0.4, 0.6, 0.8, 0.95)
    ]
    names = ["mode", "backpressured_ratio", "n", "middle", "low", "high"]
    durations = pd.DataFrame(rows, columns=names).assign(measure="ns")
    delays = durations.assign(middle=durations["middle"] * 0.8)
    sizes = durations.assign(measure="bytes", middle=durations["middle"] / 100, low=0.0)
    both = {
        "duration": durations,
        "until the first barrier": delays,
        "persisted in-flight data": sizes,
    }
    return pd.concat([table.assign(quantity=name) for name, table in both.items()])


def series(*, ordered: bool = True, several: int = 3) -> list[Series]:
    """Return a metric along numbers or words, a series each of several batch sizes."""
    draws = np.random.default_rng(8)
    found = []
    for number in range(several):
        values = ("1", "2", "4", "8", "16") if ordered else PLACEMENTS
        places = []
        for rank, shown in enumerate(values):
            seeds = dict(enumerate((draws.normal(1, 0.1, 6) * 1e7 * (rank + 1) ** number).tolist()))
            mean = interval(list(seeds.values()))
            at = float(shown) if ordered else None
            places.append(Place(shown=shown, number=at, seeds=seeds, mean=mean))
        label = f"records per batch {10 * 5**number}" if several > 1 else ""
        found.append(Series(label=label, places=tuple(places)))
    return found
