"""What a report shows of recoveries that took their time: their parts, and one of them in time."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict

import pandas as pd

from ckptsim.analysis.figures.recovery import PARTS, SHARE, recovery_parts, recovery_timeline
from ckptsim.analysis.report.pictures import Picture
from ckptsim.analysis.report.slowest import repeated
from ckptsim.analysis.summaries import Summaries
from ckptsim.analysis.words import point_label, time_in_words
from ckptsim.scenarios.files import document

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
        "checkpoints from trigger to end, hollow where they were given up.",
        figure=recovery_timeline(recovery, result.checkpoints),
        data=pd.DataFrame([asdict(recovery)]),
    )
