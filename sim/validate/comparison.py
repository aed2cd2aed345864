"""All predictions beside their measurements, as text for people and as JSON for programs."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ckptsim.sim.validate.measured import MeasuredRun
from ckptsim.sim.validate.predict import Jobs, Prediction
from ckptsim.sim.validate.recoveries import (
    RecoveryPrediction,
    RecoveryScore,
    recovery_lines,
    score_recoveries,
)
from ckptsim.sim.validate.recoveries.measured import Figures
from ckptsim.sim.validate.score import LONG_MS, Line, Pair, Score, mean_error, score
from ckptsim.sim.validate.sequence import CheckpointSequence
from ckptsim.sim.validate.state import StatePrediction, state_document, state_lines
from ckptsim.sim.validate.state.predict import blocks_of, predicted_of

_HEAD = (
    f"{'':30}{'duration ms':>19}{'':>8}{'p95 ms':>17}{'start delay':>15}{'alignment':>13}"
    f"{'persisted KiB':>17}{'processed KiB':>15}{'records/s':>14}"
)


def report_lines(score: Score, *, runs: bool) -> list[str]:
    """Return the report: cells (and runs), families and modes, bounded jobs, totals."""
    lines = ["predicted / measured", _HEAD, *_block(score.cells, "cell")]
    if runs:
        lines += ["", _HEAD, *_block(score.runs, "run")]
    lines += ["", *_groups(score.cells), "", *_other_errors(score.cells)]
    return [*lines, *_endings(score), *_skipped(score), "", *_totals(score)]


def _block(cells: Sequence[Line], what: str) -> list[str]:
    return [_line(cell) for cell in cells] + [f"({len(cells)} {what}s)"]


def _line(cell: Line) -> str:
    mark = "" if cell.duration_right else "  duration off"
    mark += "" if cell.persisted_right else "  bytes off"
    speed = "" if cell.throughput is None else _pair(cell.throughput)
    return (
        f"{cell.name:30}{_pair(cell.duration):>19}{_percent(cell.duration):>8}"
        f"{_pair(cell.p95):>17}{_pair(cell.start_delay):>15}{_pair(cell.alignment):>13}"
        f"{_pair(cell.persisted, 1024):>17}{_pair(cell.processed, 1024):>15}{speed:>14}{mark}"
    )


def _pair(pair: Pair, unit: int = 1) -> str:
    return f"{pair.predicted / unit:.0f}/{pair.measured / unit:.0f}"


def _percent(pair: Pair) -> str:
    return f"{100 * pair.error:+.1f}%" if pair.measured > LONG_MS else ""


def _groups(cells: Sequence[Line]) -> list[str]:
    head = f"{'family and mode':30}{'cells':>6}{'duration right':>16}"
    lines = [head + f"{'error > 100 ms':>16}{'bytes right':>13}"]
    keys = sorted({(cell.family, cell.mode) for cell in cells})
    for family, mode in keys:
        group = [c for c in cells if (c.family, c.mode) == (family, mode)]
        lines.append(_group_line(f"{family} {mode}", group))
    return lines


def _group_line(name: str, group: Sequence[Line]) -> str:
    right = sum(cell.duration_right for cell in group)
    whole = sum(cell.persisted_right for cell in group)
    has_long = any(cell.duration.measured > LONG_MS for cell in group)
    error = f"{100 * mean_error(group):.1f}%" if has_long else "-"
    return f"{name:30}{len(group):>6}{right:>16}{error:>16}{whole:>13}"


def _other_errors(cells: Sequence[Line]) -> list[str]:
    """Return how far the other figures are off in the mean, per family and mode."""
    head = (
        f"{'mean deviation of medians':30}{'p95 ms':>10}{'start delay ms':>16}{'alignment ms':>14}"
    )
    lines = [head + f"{'processed KiB':>15}{'persisted KiB':>15}{'records/s':>11}"]
    for family, mode in sorted({(cell.family, cell.mode) for cell in cells}):
        group = [c for c in cells if (c.family, c.mode) == (family, mode)]
        rates = [abs(c.throughput.error) for c in group if c.throughput is not None]
        speed = f"{100 * statistics.fmean(rates):.1f} %" if rates else "-"
        lines.append(
            f"{f'{family} {mode}':30}{_off(c.p95 for c in group):>10.1f}"
            f"{_off(c.start_delay for c in group):>16.1f}{_off(c.alignment for c in group):>14.1f}"
            f"{_off(c.processed for c in group) / 1024:>15.1f}"
            f"{_off(c.persisted for c in group) / 1024:>15.1f}{speed:>11}"
        )
    return lines


def _off(pairs: Iterable[Pair]) -> float:
    return statistics.fmean(abs(pair.predicted - pair.measured) for pair in pairs)


def sequence_lines(found: Sequence[CheckpointSequence]) -> list[str]:
    """Return runs checkpoint by checkpoint: measured, predicted, and with the measured pauses."""
    lines = []
    for one in found:
        free, told = one.correlations
        lines += [
            "",
            f"{one.run_id}: durations in ms, checkpoint by checkpoint",
            f"{'':12}{'measured':>10}{'predicted':>11}{'with measured pauses':>22}{'pause ms':>10}",
        ]
        columns = zip(one.measured, one.predicted, one.told, one.pauses, strict=True)
        lines += [
            f"{index:>12}{measured:>10.0f}{predicted:>11.0f}{with_pauses:>22.0f}{pause:>10}"
            for index, (measured, predicted, with_pauses, pause) in enumerate(columns, start=1)
        ]
        lines.append(f"{'correlation':>12}{'':>10}{free:>11.2f}{told:>22.2f}  (without the first)")
    return lines


def _endings(score: Score) -> list[str]:
    if not score.endings:
        return []
    head = f"{'bounded jobs':34}{'drain ms':>12}{'source ms':>14}{'end ms':>14}"
    lines = [
        "",
        "from the end of the source: the last record, the source finished, the job finished",
        head + "   checkpoints   ended at once",
    ]
    for ending in score.endings:
        mark = "" if ending.right else "  off"
        ours, theirs = ("yes" if once else "next tick" for once in ending.at_once)
        lines.append(
            f"{ending.name:34}{_pair(ending.drain_ms):>12}{_pair(ending.source_ms):>14}"
            f"{_pair(ending.finish_ms):>14}{'{}/{}'.format(*ending.checkpoints):>14}"
            f"   {ours}/{theirs}{mark}"
        )
    return lines


def _skipped(score: Score) -> list[str]:
    lines = [f"not simulated: {p.run.run_id}: {p.reason}" for p in score.skipped]
    return lines + [f"not compared: {name}: no checkpoint completed" for name in score.empty]


def _totals(score: Score) -> list[str]:
    cells = len(score.cells)
    right = _count(c.duration_right for c in score.cells)
    whole = _count(c.persisted_right for c in score.cells)
    lines = [
        _share_line("durations within max(10 %, 20 ms)", right, cells),
        f"mean absolute error of durations above 100 ms: {100 * score.mean_error:.2f} %",
        _share_line("persisted bytes within max(10 %, 32 KiB)", whole, cells),
    ]
    if score.endings:
        once = _count(e.at_once[0] is e.at_once[1] for e in score.endings)
        lines.append(
            f"bounded jobs: way of ending right in {once}, all right in "
            f"{_count(e.right for e in score.endings)} of {len(score.endings)}"
        )
    return lines


def _share_line(what: str, right: int, cells: int) -> str:
    return f"{what}: {right} of {cells} cells ({100 * right / max(1, cells):.1f} %)"


def _count(marks: Iterable[bool]) -> int:
    return sum(1 for mark in marks if mark)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Predictions of checkpoints and of recoveries, and the runs shown checkpoint by checkpoint."""

    predictions: Sequence[Prediction[MeasuredRun, Jobs]]
    recovered: Sequence[RecoveryPrediction] = ()
    sequences: Sequence[CheckpointSequence] = ()
    states: Sequence[StatePrediction] = ()

    @property
    def score(self) -> Score:
        """How good the predictions of checkpoints are."""
        return score(self.predictions)

    @property
    def broken(self) -> bool:
        """Whether a simulation itself failed."""
        return any(one.broken for one in self._every)

    @property
    def _every(self) -> list[Prediction[Any, Any]]:
        return [*self.predictions, *self.recovered, *self.states]

    def pairs(self) -> list[tuple[str, str, float, float]]:
        """Return family, mode, predicted and measured median duration in ms of each cell."""
        return [
            (cell.family, cell.mode, cell.duration.predicted, cell.duration.measured)
            for cell in self.score.cells
        ]

    def lines(self, *, runs: bool) -> list[str]:
        """Return the tables. runs: also of every run."""
        lines = report_lines(self.score, runs=runs) if self.predictions else []
        lines += sequence_lines(self.sequences)
        lines += recovery_lines(score_recoveries(self.recovered)) if self.recovered else []
        return lines + (state_lines(self.states, runs=runs) if self.states else [])

    def document(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        found: dict[str, Any] = {
            "runs": [
                *(_entry(one, one.found) for one in self.predictions if one.found),
                *(_recoveries(one) for one in self.recovered if one.found),
                *(_state(one) for one in self.states if one.found),
            ],
            "not_simulated": [
                {"run_id": one.run.run_id, "reason": one.reason}
                for one in self._every
                if one.reason
            ],
            "score": _scores(self.score),
        }
        if self.sequences:
            found["sequences"] = [asdict(one) for one in self.sequences]
        if self.recovered:
            found["recovery_score"] = _recovery_scores(score_recoveries(self.recovered))
        if self.states:
            found["state_score"] = state_document(self.states)
        return found


def _state(one: StatePrediction) -> dict[str, Any]:
    return _beside(one, predicted_of(one), blocks_of(one.run))


def _entry(prediction: Prediction[MeasuredRun, Jobs], found: Jobs) -> dict[str, Any]:
    """Return one run: the first job's figures, and all jobs where there are several."""
    jobs = prediction.run.jobs[: len(found.jobs)]
    measured = [dict(job.summary or {}) | dict(job.finish or {}) for job in jobs]
    entry = _beside(prediction, found.jobs[0], measured[0])
    entry["predicted_records_per_s"] = found.rates[0]
    if len(found.jobs) > 1:
        entry["jobs"] = [
            {"predicted": ours, "measured": theirs}
            for ours, theirs in zip(found.jobs, measured, strict=True)
        ]
    return entry


def _recoveries(one: RecoveryPrediction) -> dict[str, Any]:
    measured = [_figures(each.figures) for each in one.run.recoveries]
    predicted = [_figures(figures) for figures in one.found or ()]
    return _beside(one, {"recoveries": predicted}, {"recoveries": measured})


def _beside(
    one: Prediction[Any, Any], predicted: dict[str, Any], measured: dict[str, Any]
) -> dict[str, Any]:
    run = one.run
    about = {"run_id": run.run_id, "cell_id": run.cell_id, "family": run.family}
    return about | {"predicted": predicted, "measured": measured}


def _figures(figures: Figures) -> dict[str, Any]:
    return {key: None if value is None else round(value) for key, value in asdict(figures).items()}


def _scores(found: Score) -> dict[str, Any]:
    return {
        "cells": len(found.cells),
        "duration_share": round(found.duration_share, 4),
        "duration_mean_error": round(found.mean_error, 4),
        "persisted_share": round(found.persisted_share, 4),
        "endings": len(found.endings),
        "endings_right": sum(ending.right for ending in found.endings),
    }


def _recovery_scores(found: RecoveryScore) -> dict[str, Any]:
    return {
        "recoveries": len(found.lines),
        "downtime_share": round(found.downtime.share, 4),
        "reprocessed_share": round(found.reprocessed.share, 4),
        "catch_up_share": round(found.catch_up.share, 4),
        "catch_up_mean_error": round(found.catch_up_error, 4),
        "peak_latency_mean_error": round(found.peak_error, 4),
    }
