"""A share of a sweep's runs made from the rows that these have left in all tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa

from ckptsim.analysis.findings import share
from ckptsim.analysis.findings.runs import ABSENT, WAITS, Ints, ints, lasting, run_metrics, run_of

Tables = Mapping[str, pa.Table]
KeyT = TypeVar("KeyT")


def summarise(tables: Tables) -> share.Share:
    """Return what the runs of these tables come to; the tables hold all rows of each run."""
    runs = tables["runs"]
    points = list(
        zip(*(runs[name].to_pylist() for name in ("scenario", "parameters")), strict=True)
    )
    checkpoints = lasting(tables)
    by_point = _grouped([points[run] for run in checkpoints["run"].tolist()])
    about = pd.DataFrame(
        {
            "point": pd.Series(points, dtype=object),
            **{name: runs[name].to_pylist() for name in ("seed", "ties", "outcome")},
            **{name: runs[name].to_pylist() for name in ("violations", "attempts")},
        }
    )
    return share.Share(
        runs=pd.concat([about, run_metrics(tables, checkpoints)], axis=1),
        durations={point: _durations(checkpoints.iloc[rows]) for point, rows in by_point.items()},
        delays={point: _delays(tables, checkpoints.iloc[rows]) for point, rows in by_point.items()},
        waits={point: _waits(tables, checkpoints.iloc[rows]) for point, rows in by_point.items()},
        tasks=_tasks(tables, points),
        violations=_violations(tables, points),
        errors=_errors(runs, points),
        goals=_goals(tables["goals"]),
        outliers=_outliers(tables, checkpoints),
    )


def _grouped(keys: Sequence[KeyT]) -> dict[KeyT, list[int]]:
    found: dict[KeyT, list[int]] = {}
    for place, key in enumerate(keys):
        found.setdefault(key, []).append(place)
    return found


def _durations(rows: pd.DataFrame) -> share.Durations:
    return share.Durations(
        elapsed_ns=rows["elapsed_ns"].to_numpy(),
        ended=rows["ended"].to_numpy(dtype=bool),
        statuses={str(name): int(n) for name, n in rows["status"].value_counts().items()},
    )


def _delays(tables: Tables, rows: pd.DataFrame) -> Ints:
    """Return how long barriers of completed checkpoints were on their way to the last task."""
    places = rows.loc[rows["ended"], "row"].to_numpy()
    values: Ints = ints(tables["checkpoints"], "start_delay_ns")[places]
    return np.asarray(values[values != ABSENT])


def _waits(tables: Tables, rows: pd.DataFrame) -> tuple[int, ...]:
    """Return where the time of completed checkpoints went, of those whose link says so."""
    done = rows[rows["ended"]]
    parts = [ints(tables["checkpoints"], part)[done["row"].to_numpy()] for part in WAITS]
    filled = parts[0] != ABSENT
    sums = [int(np.where(part == ABSENT, 0, part)[filled].sum()) for part in parts]
    return (int(filled.sum()), *sums, int(done["elapsed_ns"].to_numpy()[filled].sum()))


def _tasks(
    tables: Tables, points: Sequence[share.Point]
) -> dict[tuple[share.Point, str], tuple[int, ...]]:
    tasks = tables["tasks"]
    run = run_of(tasks, tables["runs"]).tolist()
    names = tasks["task"].to_pylist()
    subtasks: dict[tuple[int, str], int] = {}
    for key in zip(run, names, strict=True):
        subtasks[key] = subtasks.get(key, 0) + 1
    values = [
        np.rint(tasks[name].to_numpy() * share.SCALE).astype(np.int64) for name in share.TASK_MEANS
    ]
    found: dict[tuple[share.Point, str], tuple[int, ...]] = {}
    for place, key in enumerate(zip(run, names, strict=True)):
        mine = (subtasks[key], 1, *(int(column[place]) for column in values))
        named = (points[key[0]], key[1])
        found[named] = share.add_task(found[named], mine) if named in found else mine
    return found


def _violations(
    tables: Tables, points: Sequence[share.Point]
) -> dict[tuple[share.Point, str], share.Broken]:
    found = tables["violations"].to_pylist()
    runs = {row["run_key"]: (place, row) for place, row in enumerate(_identities(tables["runs"]))}
    first: dict[tuple[str, str], tuple[Any, ...]] = {}
    for row in found:
        key = (row["run_key"], row["property"])
        _, about = runs[row["run_key"]]
        told = tuple(row[name] for name in ("at_ns", "says", "story", "replay"))
        example = (about["seed"], about["ties"], *told)
        first[key] = min(first.get(key, example), example)
    broken: dict[tuple[share.Point, str], share.Broken] = {}
    for (run_key, name), example in first.items():
        point = points[runs[run_key][0]]
        mine = share.Broken(runs=1, examples=(example,))
        broken[point, name] = (
            share.add_broken(broken[point, name], mine) if (point, name) in broken else mine
        )
    return broken


def _identities(runs: pa.Table) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = runs.select(["run_key", "seed", "ties"]).to_pylist()
    return found


def _errors(
    runs: pa.Table, points: Sequence[share.Point]
) -> dict[tuple[share.Point, str], tuple[int, tuple[Any, ...]]]:
    found: dict[tuple[share.Point, str], tuple[int, tuple[Any, ...]]] = {}
    columns = [runs[name].to_pylist() for name in ("outcome", "error", "seed", "ties", "replay")]
    for point, outcome, error, *first in zip(points, *columns, strict=True):
        if outcome == "error":
            mine = (1, tuple(first))
            key = (point, str(error))
            found[key] = share.add_error(found[key], mine) if key in found else mine
    return found


def _goals(goals: pa.Table) -> dict[str, tuple[int, int, int]]:
    found: dict[str, tuple[int, int, int]] = {}
    for name, reached in zip(goals["goal"].to_pylist(), goals["reached"].to_pylist(), strict=True):
        found[name] = share.add_counts(found.get(name, (0, 0, 0)), (1, int(reached > 0), reached))
    return found


def _outliers(tables: Tables, checkpoints: pd.DataFrame) -> list[tuple[Any, ...]]:
    """Return the slowest checkpoint of the runs that have the slowest ones, slowest first."""
    table, runs = tables["checkpoints"], tables["runs"]
    keys = runs["run_key"].to_pylist()
    slowest = checkpoints.groupby("run")["elapsed_ns"].max()
    chosen = sorted((-int(slowest[run]), keys[run], run) for run in slowest.index)[: share.OUTLIERS]
    found = []
    for negative_ns, run_key, run in chosen:
        mine = checkpoints["elapsed_ns"] == -negative_ns
        rows = checkpoints[mine & (checkpoints["run"] == run)]["row"]
        # Many may take equally long: the first in the order of their names is the one to show.
        (of_row, *_) = sorted(
            table.take(pa.array(rows)).to_pylist(),
            key=lambda row: (row["scope"], row["attempt"], row["checkpoint_id"]),
        )
        told = {**runs.slice(run, 1).to_pylist()[0], **of_row, "elapsed_ns": -negative_ns}
        found.append((negative_ns, run_key, tuple(told[name] for name in share.OUTLIER_COLUMNS)))
    return found
