"""The runs with the slowest checkpoint and the longest recovery, run again and drawn."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import pandas as pd

from ckptsim.analysis.figures.barriers import (
    alignment_heat_map,
    durations_over_time,
    in_flight_bytes,
)
from ckptsim.analysis.figures.pending import pending_over_time
from ckptsim.analysis.figures.recovery import PARTS, SHARE, recovery_parts, recovery_timeline
from ckptsim.analysis.figures.run.barrier_story import barrier_story
from ckptsim.analysis.figures.run.lives import lives
from ckptsim.analysis.report.pictures import Picture
from ckptsim.analysis.summaries import Summaries
from ckptsim.analysis.words import point_label, time_in_words
from ckptsim.scenarios import Scenario, UserError
from ckptsim.scenarios.files import document
from ckptsim.scenarios.job import Job, Plane
from ckptsim.sim.job.buffers import senders_of
from ckptsim.sim.rows import RunResult
from ckptsim.sim.why import why_of
from ckptsim.sim.world import run_world


def slowest_run(findings: Summaries) -> Iterator[Picture]:
    """Run the run with the slowest checkpoint again, keeping its trace, and draw it."""
    if findings.outliers.empty:
        return
    row = findings.outliers.iloc[0]  # they are in order
    (point,) = [
        point
        for point in findings.points
        if (point["scenario"], point["parameters"]) == (row["scenario"], row["parameters"])
    ]
    scenario = document.read(json.loads(point["document"]), source=point["source"])
    result = repeated(point, scenario, seed=int(row["seed"]), ties=str(row["ties"]))
    if result is None:
        return
    yield from _around(result, row, scenario)
    if any(entry[1] == "task_state" for entry in result.trace):
        yield Picture(
            title="How its tasks ended",
            caption="A bar per task, coloured by its state, with its snapshots, acknowledgements "
            "and transactions; below, every checkpoint from its trigger to its end.",
            figure=lives(result.trace),
            data=_entries(result),
        )
    yield from _barriers(result)


def cause_at(findings: Summaries, key: tuple[str, str]) -> str:
    """Return the cause of the slowest checkpoint in a run of a point, which is made again.

    Empty where it is not known: of other worlds than jobs, and without the core that it ran with.
    """
    point = next(one for one in findings.points if (one["scenario"], one["parameters"]) == key)
    scenario = document.read(json.loads(point["document"]), source=point["source"])
    model, runs = scenario.model, findings.outliers
    mine = runs[(runs["scenario"] == key[0]) & (runs["parameters"] == key[1])]
    if not isinstance(model, Job) or not model.checkpointing.coordinated or mine.empty:
        return ""
    seed, ties = int(mine.iloc[0]["seed"]), str(mine.iloc[0]["ties"])
    result = repeated(point, scenario, seed=seed, ties=ties)
    return "" if result is None else why_of(scenario, result).line


def repeated(
    point: Mapping[str, Any], scenario: Scenario, *, seed: int, ties: str
) -> RunResult | None:
    """Run a run of a point again, with its trace. None without the core that it ran with.

    A page may be made where the user's core is not.
    """
    # A sweep of a release without designs has no columns for them.
    cores, mutant = json.loads(point.get("cores") or "{}"), point.get("mutant")
    try:
        return run_world(
            scenario, seed=seed, ties=ties, keep_trace=True, cores=cores, mutant=mutant
        )
    except UserError:
        return None


def _around(result: RunResult, row: pd.Series, scenario: Scenario) -> Iterator[Picture]:
    """Draw the barriers of the slowest checkpoint of a job, or the pending states of a sync."""
    number, slow = int(row["checkpoint_id"]), time_in_words(int(row["elapsed_ns"]))
    named = f"checkpoint {row['scope']}/{number}".replace("*/", "")
    view = str(row["replay"]).replace("ckptsim replay", "ckptsim view", 1)
    walk = f"Walk through the run: {view} --checkpoint {number} --out run.html"
    model = scenario.model
    if isinstance(model, Job) and model.plane is Plane.BUFFERS:
        yield Picture(
            title=f"Barriers of the slowest checkpoint: seed {row['seed']}",
            caption=f"The slowest, {named}, took {slow}. A lane per subtask: lines are barriers on "
            f"their way, bars are blocked channels. {walk}",
            figure=barrier_story(result.trace, senders_of(model), number),
            data=pd.DataFrame(map(asdict, result.task_checkpoints)),
        )
    elif result.pending:
        pending = pd.DataFrame(map(asdict, result.pending))
        yield Picture(
            title=f"Pending states of the run with the slowest one: seed {row['seed']}",
            caption=f"The slowest, {named}, took {slow}. Lines count the states that wait to be "
            f"returned, and points are the age of the oldest one. {walk}",
            figure=pending_over_time(pending),
            data=pending,
        )


def _barriers(result: RunResult) -> Iterator[Picture]:
    """Draw the parts of a run's barrier checkpoints, if it has any."""
    rows = [row for row in result.checkpoints if row.inner] or result.checkpoints
    checkpoints = pd.DataFrame(map(asdict, rows))
    subtasks = pd.DataFrame(map(asdict, result.task_checkpoints))
    timed = not checkpoints.empty and checkpoints["alignment_ns"].notna().any()
    done = checkpoints[checkpoints["status"] == "completed"] if timed else checkpoints[:0]
    if not done.empty and done["duration_ns"].astype(float).any():
        yield Picture(
            title="Its checkpoint durations and their parts",
            caption="Dots are the durations from end to end, bars the parts of the subtask that "
            "acknowledged last.",
            figure=durations_over_time(checkpoints, subtasks),
            data=checkpoints,
        )
    if timed and (checkpoints[["processed_bytes", "persisted_bytes"]].astype(float) > 0).any(
        axis=None
    ):
        yield Picture(
            title="In-flight data of its checkpoints",
            caption="What was processed while channels were aligned, and what was persisted of the "
            "data in flight, by the instant of the trigger. A kind that is zero is left out.",
            figure=in_flight_bytes(checkpoints),
            data=checkpoints,
        )
    if not subtasks.empty and subtasks["alignment_ns"].any():
        yield Picture(
            title="Alignment of each subtask",
            caption="How long each subtask held channels back for each checkpoint: the lighter, "
            "the longer; blank where a subtask took no part.",
            figure=alignment_heat_map(subtasks),
            data=subtasks,
        )


def _entries(result: RunResult) -> pd.DataFrame:
    """Return the entries of a trace as a table: when, what, who, and the rest as text."""
    rows = [(entry[0], entry[1], entry[2], " ".join(map(str, entry[3:]))) for entry in result.trace]
    return pd.DataFrame(rows, columns=["time_ns", "entry", "entity", "fields"])


LENGTH = "catch_up_ns"


def recovery_pictures(findings: Summaries) -> Iterator[Picture]:
    """Draw where the time of recoveries went, and the middle one of the sweep."""
    found = findings.intervals
    known = found[found["metric"].isin([*PARTS, SHARE]) & found["mean"].notna()]
    if known.empty:
        return
    yield Picture(
        title="Where the time of a recovery went",
        caption="Mean times in the order in which they pass: until the job manager knows of the "
        "failure, until all tasks are cancelled and the restart delay is over, until tasks are "
        "deployed and have read their state, until the first record, and until no record is late "
        "any more. Where a job does not catch up, the last part ends with what was simulated.",
        figure=recovery_parts(known, list(findings.axes)),
        data=known,
    )
    yield from _typical(findings)


def _typical(findings: Summaries) -> Iterator[Picture]:
    """Run the run with the middle one of all recoveries again, and draw that."""
    found = sorted(
        (value, point, seed)
        for point, values in findings.replications.get(LENGTH, {}).items()
        for seed, value in values.items()
        if not math.isnan(value)
    )
    if not found:
        return
    _, key, seed = found[(len(found) - 1) // 2]
    (point,) = [one for one in findings.points if (one["scenario"], one["parameters"]) == key]
    scenario = document.read(json.loads(point["document"]), source=point["source"])
    result = repeated(point, scenario, seed=int(seed), ties="structural")
    recoveries = [] if result is None else result.recoveries
    recovery = next((one for one in recoveries if one.first_record_ns is not None), None)
    if result is None or recovery is None:
        return
    peak = time_in_words(recovery.peak_latency_ns)
    yield Picture(
        title="One recovery: the middle one of the sweep",
        caption=f"{point_label(key[1], findings.axes)}, seed {seed}, from {recovery.restored_from}:"
        f" {recovery.records_reprocessed:,} records were done again, and the latest record was "
        f"{peak} late. The dashed line is the failure. Upper lane: what the job did. Middle: "
        "in-flight data of the checkpoint, which tasks process before anything new. Lower: "
        "checkpoints from trigger to end, hollow where they were aborted.",
        figure=recovery_timeline(recovery, result.checkpoints),
        data=pd.DataFrame([asdict(recovery)]),
    )
