"""Where the time of checkpoints went at some points of a sweep, read from its tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import pyarrow as pa
import pyarrow.compute

from ckptsim.analysis.answers import cliffs
from ckptsim.analysis.summaries import Summaries
from ckptsim.analysis.tables.pieces import read_table
from ckptsim.analysis.tables.store import SweepStore

# Of syncs: what a state waited for, in turn.
_WAITS = {
    "wait_records_ns": "the wait for records",
    "wait_upload_ns": "the upload",
    "wait_predecessor_ns": "the wait for the predecessor",
    "wait_send_ns": "the send",
}
# Of jobs: the part of the subtask that acknowledged last, as a Flink user knows its parts.
_PARTS = {
    "start_delay_ns": "start delay",
    "alignment_ns": "alignment",
    "sync_ns": "the synchronous part",
    "async_ns": "the asynchronous part",
}
_REST = "acknowledgement"
CAUSED = " There: "
"""Stands before the cause of a cliff."""
_OF_CHECKPOINTS = ("run_key", "checkpoint_id", "status", "inner", "duration_ns", *_WAITS)
_OF_TASKS = ("run_key", "checkpoint_id", "acknowledged_ns", *_PARTS)


def cliff_sentences(
    findings: Summaries, store: SweepStore, because: Callable[[cliffs.Key], str] | None = None
) -> list[str]:
    """Return the cliffs of a sweep in words, each with the phase that grew.

    because: the cause of a slow checkpoint at a point, empty where none is known.
    """
    found = cliffs.jumps(findings)
    of_checkpoints = checkpoint_phases(store, findings, cliffs.points_of(found))
    told = []
    for jump in found:
        phases = of_checkpoints
        if jump.metric in cliffs.RECOVERIES:
            phases = cliffs.recovery_phases(findings, jump.metric)
        known = jump.metric in (*cliffs.DURATIONS, *cliffs.RECOVERIES) and not phases.empty
        text = cliffs.sentence(jump, cliffs.cause(jump, phases) if known else None)
        why = because(jump.more) if because and jump.metric in cliffs.DURATIONS else ""
        told.append(f"{text}{CAUSED}{why}" if why else text)
    return told


def checkpoint_phases(
    store: SweepStore, findings: Summaries, wanted: Sequence[cliffs.Key]
) -> pd.DataFrame:
    """Return the phases of completed checkpoints at the points that are wanted, as `cause` takes.

    One piece of the tables is read after the other, so memory is bounded by a piece.
    """
    if not wanted:
        return pd.DataFrame()
    numbers = {(one["scenario"], one["parameters"]): one["point"] for one in findings.points}
    places = {
        (one["scenario"], one["parameters"]): one["point"] for one in store.points()
    }  # as runs name them
    of_point = {numbers[key]: key for key in wanted}
    parts = []
    for piece in store.pieces():
        runs = read_table(
            store.directory / "runs" / piece.name, ["run_key", "scenario", "parameters"]
        ).to_pylist()
        named = {
            run["run_key"]: places[run["scenario"], run["parameters"]]
            for run in runs
            if run["run_key"] not in piece.repeated
        }
        mine = {key: point for key, point in named.items() if point in of_point}
        tables = [
            _rows(store, table, piece.name, columns, mine)
            for table, columns in (
                ("checkpoints", _OF_CHECKPOINTS),
                ("task_checkpoints", _OF_TASKS),
            )
        ]
        per_run = phases_of_runs(*tables)
        summed = per_run.groupby(per_run.index.map(mine)).sum(min_count=1)
        parts.append(summed.dropna(axis="columns", how="all"))
    filled = [part for part in parts if len(part)]
    if not filled:
        return pd.DataFrame()
    sums = pd.concat(filled).groupby(level=0).sum(min_count=1)
    keys = [of_point[point] for point in sums.index]
    return sums.assign(
        scenario=[key[0] for key in keys], parameters=[key[1] for key in keys]
    ).reset_index(drop=True)


def _rows(
    store: SweepStore, table: str, piece: str, columns: Sequence[str], runs: Mapping[str, int]
) -> pd.DataFrame:
    """Return the rows of some runs in a piece of a table."""
    found = read_table(store.directory / table / piece, columns)
    keys = pa.array(sorted(runs), pa.string())
    mine: pd.DataFrame = found.filter(pa.compute.is_in(found["run_key"], keys)).to_pandas()
    return mine


def phases_of_runs(checkpoints: pd.DataFrame, tasks: pd.DataFrame) -> pd.DataFrame:
    """Return per run `n` completed checkpoints, the sums of their durations and of each phase.

    Index: the run.  A phase that its link does not know is empty.  Of a job it is the one of the
    subtask that acknowledged last, the first in the table where several did, and the rest of the
    duration is the acknowledgement.
    """
    outer = checkpoints["inner"].ne(other=True)  # empty where a link has no steps of others
    done = checkpoints[(checkpoints["status"] == "completed") & outer]
    waits = done[done["wait_records_ns"].notna()].fillna(dict.fromkeys(_WAITS, 0))
    in_turn = waits.rename(columns=_WAITS)[["run_key", "duration_ns", *_WAITS.values()]]
    # The last by time, and of those the first: the order of the table is the one of the run.
    ordered = tasks.sort_values("acknowledged_ns", ascending=False, kind="stable")
    last = ordered[ordered["acknowledged_ns"].notna()].drop_duplicates(["run_key", "checkpoint_id"])
    parts = done[["run_key", "checkpoint_id", "duration_ns"]].merge(
        last.drop(columns="acknowledged_ns"), on=["run_key", "checkpoint_id"]
    )
    parts[_REST] = (parts["duration_ns"] - parts[list(_PARTS)].sum(axis=1)).clip(lower=0)
    parts = parts.rename(columns=_PARTS).drop(columns="checkpoint_id")
    filled = [frame for frame in (in_turn, parts) if len(frame)]
    both = pd.concat(filled) if filled else in_turn
    return both.assign(n=1).groupby("run_key").sum(min_count=1)
