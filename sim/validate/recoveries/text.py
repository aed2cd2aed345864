"""The comparison of recoveries as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ckptsim.sim.validate.recoveries.measured import Figures
from ckptsim.sim.validate.recoveries.predict import RecoveryPrediction
from ckptsim.sim.validate.recoveries.score import RecoveryLine, RecoveryScore, Share
from ckptsim.sim.validate.score import Pair

_NOTHING = "-"


def recovery_lines(found: RecoveryScore) -> list[str]:
    """Return a table of all recoveries, predicted / measured, and the shares below it."""
    head = (
        f"{'recovery':32}{'downtime ms':>16}{'done again':>16}{'peak ms':>16}{'caught up ms':>18}"
    )
    lines = [head, *(_row(line) for line in found.lines), ""]
    lines += [
        f"downtime within max(15 %, 200 ms): {_of(found.downtime)}",
        f"records done again within max(10 %, 300): {_of(found.reprocessed)}",
        f"caught up within max(10 %, 350 ms): {_of(found.catch_up)}",
        f"caught up: mean error {100 * found.catch_up_error:.2f} % of max(measured, 2 s)",
        f"peak latency: mean error {100 * found.peak_error:.2f} %",
    ]
    lines += [f"not simulated: {one.run.run_id}: {one.reason}" for one in found.skipped]
    return lines


def recovery_entries(predictions: Sequence[RecoveryPrediction]) -> list[dict[str, Any]]:
    """Return what `--json` prints per run: predicted and measured recoveries in order."""
    return [
        {
            "run_id": one.run.run_id,
            "cell_id": one.run.cell_id,
            "family": one.run.family,
            "predicted": {"recoveries": [_figures(figures) for figures in one.figures]},
            "measured": {"recoveries": [_figures(each.figures) for each in one.run.recoveries]},
        }
        for one in predictions
        if one.figures
    ]


def recovery_scores(found: RecoveryScore) -> dict[str, Any]:
    """Return the shares and errors that `--json` prints."""
    return {
        "recoveries": len(found.lines),
        "downtime_share": round(found.downtime.share, 4),
        "reprocessed_share": round(found.reprocessed.share, 4),
        "catch_up_share": round(found.catch_up.share, 4),
        "catch_up_mean_error": round(found.catch_up_error, 4),
        "peak_latency_mean_error": round(found.peak_error, 4),
    }


def _figures(figures: Figures) -> dict[str, Any]:
    return {key: None if value is None else round(value) for key, value in asdict(figures).items()}


def _row(line: RecoveryLine) -> str:
    came = line.came
    caught = _pair(line.catch_up)
    if line.catch_up is None and came is not None and came[0] != came[1]:
        caught = "came / never" if came[0] else "never / came"
    return (
        f"{line.name:32}{_pair(line.downtime):>16}{_pair(line.reprocessed):>16}"
        f"{_pair(line.peak_latency):>16}{caught:>18}"
    )


def _pair(pair: Pair | None) -> str:
    return _NOTHING if pair is None else f"{pair.predicted:.0f} / {pair.measured:.0f}"


def _of(share: Share) -> str:
    return f"{share.right} of {share.count} ({100 * share.share:.0f} %)"
