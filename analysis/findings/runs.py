"""The metrics of single runs, and how long each of their checkpoints took or lasted.

Everything here is a function of whole runs: of the rows that some runs have left in all tables.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from ckptsim.scenarios.planning import FIGURES, METRICS

Ints = npt.NDArray[np.int64]
EXPECTED = "expected "  # before a metric's name: what theory says of it
WAITS = ("wait_records_ns", "wait_upload_ns", "wait_predecessor_ns", "wait_send_ns")
ABSENT = np.iinfo(np.int64).min  # no time or size of a run; a double would lose nanoseconds
_OF_RUN = (
    *("ended_ns", "finishing_ns", "finishing_checkpoints"),
    *("checkpoints_completed", "checkpoints_failed", "records_committed", "records_produced"),
)


def ints(table: pa.Table, column: str) -> Ints:
    """Return a column of whole numbers; ABSENT stands for an empty cell."""
    filled = table[column].fill_null(ABSENT)
    return np.asarray(filled.to_numpy(), dtype=np.int64)


def run_of(rows: pa.Table, runs: pa.Table) -> Ints:
    """Return for each row the position of its run."""
    keys = pd.Index(runs["run_key"].to_numpy(zero_copy_only=False))
    return np.asarray(keys.get_indexer(rows["run_key"].to_numpy(zero_copy_only=False)))


def lasting(tables: Mapping[str, pa.Table]) -> pd.DataFrame:
    """Return every checkpoint that is no step of others, with how long it took or lasted.

    Columns: `row` (its place in the table of checkpoints), `run` (that of its run in the table of
    runs), `elapsed_ns` (until completion; else until it or its attempt failed; else until the run
    ended), `ended` (whether it completed; if not, `elapsed_ns` is a bound), `status`,
    `triggered_ns`.
    """
    runs, checkpoints = tables["runs"], tables["checkpoints"]
    run = run_of(checkpoints, runs)
    triggered = ints(checkpoints, "triggered_ns")
    until = ints(checkpoints, "completed_ns")
    for otherwise in (_failed(tables, run), ints(runs, "ended_ns")[run]):
        until = np.where(until == ABSENT, otherwise, until)
    duration = ints(checkpoints, "duration_ns")
    elapsed = np.where(duration == ABSENT, np.maximum(until - triggered, 0), duration)
    status = checkpoints["status"].to_numpy(zero_copy_only=False)
    found = pd.DataFrame(
        {
            "row": np.arange(len(run)),
            "run": run,
            "elapsed_ns": elapsed,
            "ended": status == "completed",
            "status": status,
            "triggered_ns": triggered,
        }
    )
    outer = ~np.asarray(checkpoints["inner"].fill_null(False).to_numpy(zero_copy_only=False))
    return found[outer.astype(bool)].reset_index(drop=True)


def _failed(tables: Mapping[str, pa.Table], run: Ints) -> Ints:
    """Return for each checkpoint when its attempt failed; ABSENT where it did not."""
    recoveries = tables["recoveries"]
    failures = pd.DataFrame(
        {
            "run": run_of(recoveries, tables["runs"]),
            "attempt": ints(recoveries, "attempt"),
            "failed_ns": ints(recoveries, "failed_ns"),
        }
    )
    first = failures.groupby(["run", "attempt"])["failed_ns"].min()
    asked = pd.MultiIndex.from_arrays([run, ints(tables["checkpoints"], "attempt")])
    place = first.index.get_indexer(asked) if len(first) else np.full(len(run), -1)
    if not len(first):
        return np.full(len(run), ABSENT)
    return np.where(place < 0, ABSENT, first.to_numpy()[place])


def run_metrics(tables: Mapping[str, pa.Table], checkpoints: pd.DataFrame) -> pd.DataFrame:
    """Return one row per run: every metric as a double, NaN where the run has none.

    checkpoints: as from `lasting`.  Columns: those of METRICS, and for the figures of links what
    theory says of them, under EXPECTED and the name.  A run that ended in an error has none.
    """
    runs = tables["runs"]
    count = runs.num_rows
    found = {name: _floats(ints(runs, name)) for name in _OF_RUN}
    outcome = runs["outcome"].to_numpy(zero_copy_only=False)
    found["completed_share"] = (outcome == "completed").astype(float)
    ended = found["checkpoints_completed"] + found["checkpoints_failed"]
    with np.errstate(invalid="ignore"):
        found["failed_checkpoint_share"] = found["checkpoints_failed"] / ended
    found |= _of_checkpoints(tables, checkpoints, count)
    found |= _of_recoveries(tables, count)
    found |= _of_tasks(tables, count)
    found |= _of_links(tables, count)
    wide = pd.DataFrame({name: found[name] for name in METRICS})
    wide = wide.assign(**{name: found[name] for name in found if name.startswith(EXPECTED)})
    wide[outcome == "error"] = np.nan
    return wide


def _of_checkpoints(
    tables: Mapping[str, pa.Table], checkpoints: pd.DataFrame, count: int
) -> dict[str, npt.NDArray[np.float64]]:
    """Return what a run's completed checkpoints come to."""
    done = checkpoints[checkpoints["ended"]]
    groups = done.groupby("run")["elapsed_ns"]
    found = {
        "median_latency_ns": _per_run(groups.quantile(0.5), count),
        "p95_latency_ns": _per_run(groups.quantile(0.95), count),
        "longest_latency_ns": _per_run(groups.max(), count),
    }
    for name, of_group in (("start_delay_ns", "median"), ("persisted_bytes", "mean")):
        values = ints(tables["checkpoints"], name)[done["row"].to_numpy()]
        known = done.assign(value=values)[values != ABSENT]
        found[name] = _per_run(known.groupby("run")["value"].agg(of_group), count)
    return found


def _of_recoveries(
    tables: Mapping[str, pa.Table], count: int
) -> dict[str, npt.NDArray[np.float64]]:
    """Return how long a run was down and what it did again."""
    recoveries = tables["recoveries"]
    run = run_of(recoveries, tables["runs"])
    again = pd.Series(ints(recoveries, "records_reprocessed")).groupby(run).sum()
    resumed, failed = ints(recoveries, "resumed_ns"), ints(recoveries, "failed_ns")
    back = resumed != ABSENT
    down = pd.Series((resumed - failed)[back]).groupby(run[back]).sum()
    return {
        "recovery_ns": _per_run(down, count),
        "records_reprocessed": _per_run(again, count),
        **_of_timed_recoveries(recoveries, run, ints(tables["runs"], "ended_ns"), count),
    }


def _of_timed_recoveries(
    recoveries: pa.Table, run: Ints, ended: Ints, count: int
) -> dict[str, npt.NDArray[np.float64]]:
    """Return the parts of recoveries that took their time, as means over those of a run.

    A part counts where both its ends are known.  One that was not caught up with lasts until the
    next failure, or the end of the run.
    """
    failed, first = ints(recoveries, "failed_ns"), ints(recoveries, "first_record_ns")
    following = pd.Series(failed).groupby(run).shift(-1, fill_value=ABSENT).to_numpy()
    until = np.where(following == ABSENT, ended[run] if len(run) else ended[:0], following)
    caught_up = ints(recoveries, "caught_up_ns")
    caught_up = np.where((caught_up == ABSENT) & (first != ABSENT), until, caught_up)
    known, resumed = ints(recoveries, "detected_ns"), ints(recoveries, "resumed_ns")
    read = ints(recoveries, "state_read_ns")
    # On records, and where restarts take no time, nothing has a size.
    timed = ints(recoveries, "bytes_read") != ABSENT
    zero = np.zeros_like(failed)
    spans = {
        "downtime_ns": (failed, first),
        "catch_up_ns": (failed, caught_up),
        "peak_latency_ns": (zero, ints(recoveries, "peak_latency_ns")),
        "recovery_detected_ns": (failed, known),
        "recovery_restart_ns": (known, resumed),
        "recovery_read_ns": (resumed, read),
        "recovery_first_record_ns": (read, first),
        "recovery_catch_up_ns": (first, caught_up),
    }
    came = pd.Series((ints(recoveries, "caught_up_ns") != ABSENT)[timed]).astype(float)
    found = {"caught_up_share": _per_run(came.groupby(run[timed]).mean(), count)}
    for name, (begin, end) in spans.items():
        there = timed & (begin != ABSENT) & (end != ABSENT)
        found[name] = _per_run(pd.Series((end - begin)[there]).groupby(run[there]).mean(), count)
    return found


def _of_tasks(tables: Mapping[str, pa.Table], count: int) -> dict[str, npt.NDArray[np.float64]]:
    """Return when the subtasks of a run have closed."""
    tasks = tables["tasks"]
    closed = ints(tasks, "finished_ns")
    known = closed != ABSENT
    groups = pd.Series(closed[known]).groupby(run_of(tasks, tables["runs"])[known])
    return {
        "first_closed_ns": _per_run(groups.min(), count),
        "median_closed_ns": _per_run(groups.median(), count),
    }


def _of_links(tables: Mapping[str, pa.Table], count: int) -> dict[str, npt.NDArray[np.float64]]:
    """Return the figures that links have computed themselves, and what theory says of them."""
    figures = tables["figures"]
    run = run_of(figures, tables["runs"])
    named = figures["figure"].to_numpy(zero_copy_only=False)
    found = {}
    for name in FIGURES:
        for column, title in (("value", name), ("expected", EXPECTED + name)):
            values = figures[column].to_numpy(zero_copy_only=False).astype(float)
            chosen = pd.Series(values[named == name], index=run[named == name])
            found[title] = _per_run(chosen, count)
    return found


def _per_run(values: pd.Series, count: int) -> npt.NDArray[np.float64]:
    """Return values by position of run as an array of all runs."""
    return values.reindex(range(count)).to_numpy(dtype=np.float64)


def _floats(values: Ints) -> npt.NDArray[np.float64]:
    return np.where(values == ABSENT, np.nan, values.astype(np.float64))
