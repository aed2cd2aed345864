"""All predictions beside their measurements, as text for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence
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
from ckptsim.sim.validate.score import Score, score
from ckptsim.sim.validate.sequence import CheckpointSequence
from ckptsim.sim.validate.state import StatePrediction, state_document, state_lines
from ckptsim.sim.validate.state.score import blocks_of, predicted_of
from ckptsim.sim.validate.text import report_lines, sequence_lines


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
    """Return one run with its recoveries in order."""
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
