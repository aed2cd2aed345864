"""The answer of `validate`: measured runs, what was predicted of each, and how far both agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ckptsim.scenarios.errors import UserError
from ckptsim.sim import validate
from ckptsim.sim.validate import recoveries
from ckptsim.sim.validate.folds import STEPS, Folds


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What is looked at besides: mechanisms left out, folds of a fit, single sequences."""

    ablation: bool = False
    folds: int | None = None
    sequences: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """The predictions of all runs with their scores.

    recovered: of the runs that failed; ablated: the scores without one mechanism each.
    """

    predictions: Sequence[validate.Prediction]
    score: validate.Score
    recovered: Sequence[recoveries.RecoveryPrediction]
    ablated: Sequence[tuple[str, validate.Score]]
    sequences: Sequence[validate.CheckpointSequence]
    folds: Folds | None

    @property
    def broken(self) -> bool:
        """Return whether a simulation failed."""
        failed = any(one.broken for one in self.predictions)
        return failed or any(one.broken for one in self.recovered)

    def lines(self, *, runs: bool = False) -> Iterator[str]:
        """Yield what is printed; runs: every run, not only cells."""
        if self.predictions:
            yield from validate.report_lines(self.score, runs=runs)
        yield from validate.sequence_lines(self.sequences)
        if self.ablated:
            yield from validate.ablation_lines(self.score, self.ablated)
        if self.folds is not None:
            yield from validate.folds_lines(self.folds)
        if self.recovered:
            yield from recoveries.recovery_lines(recoveries.score_recoveries(self.recovered))

    def document(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        found = document(self.predictions, self.score, self.ablated, self.sequences)
        if self.folds is not None:
            found["folds"] = asdict(self.folds)
        if self.recovered:
            judged = recoveries.score_recoveries(self.recovered)
            found["runs"] += recoveries.recovery_entries(self.recovered)
            found["not_simulated"] += [
                {"run_id": one.run.run_id, "reason": one.reason} for one in judged.skipped
            ]
            found["recovery_score"] = recoveries.recovery_scores(judged)
        return found

    def pairs(self) -> list[tuple[str, str, float, float]]:
        """Return family, mode, predicted and measured median duration in ms of each cell."""
        return [
            (cell.family, cell.mode, cell.duration.predicted, cell.duration.measured)
            for cell in self.score.cells
        ]


def validate_files(
    files: Sequence[Path],
    *,
    seeds: int = 7,
    jobs: int = 1,
    extras: Extras | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Validation:
    """Predict every measured run of some files, and compare.

    seeds: simulated runs of each; jobs: processes; progress: is called with runs done and all.
    Raises UserError for a line that is no measured run, and for extras that the files have not.
    """
    wanted = extras or Extras()
    measurements = validate.read_measurements(files)
    runs = list(measurements.runs)
    if measurements.recoveries:
        _refuse_for_recoveries(wanted)
    chosen = _wanted(runs, wanted.sequences)
    if wanted.folds == 1:
        raise UserError("--folds: found 1, expected 2 or more")
    rounds = 1 + (len(validate.ABLATIONS) if wanted.ablation else 0)
    rounds += 1 + len(STEPS) if wanted.folds else 0
    tick = _Tick(progress, len(runs) * rounds + len(chosen) + len(measurements.recoveries))
    recovered = recoveries.predict_recoveries(
        measurements.recoveries, seeds=seeds, jobs=jobs, progress=tick
    )
    predictions = validate.predict_all(runs, seeds=seeds, jobs=jobs, progress=tick)
    full = validate.score(predictions)
    ablated = []
    for ablation in validate.ABLATIONS if wanted.ablation else ():
        without = validate.predict_all(
            runs, seeds=seeds, jobs=jobs, ablation=ablation, progress=tick
        )
        ablated.append((ablation.name, validate.score(without)))
    sequences = []
    for one in chosen:
        sequences.append(validate.sequence_of(one, seeds=seeds))
        tick()
    folds = None
    if wanted.folds:
        if wanted.folds > len(full.cells):
            expected = f"expected no more than there are cells, {len(full.cells)}"
            raise UserError(f"--folds: found {wanted.folds}, {expected}")
        folds = validate.folds_of(runs, folds=wanted.folds, seeds=seeds, jobs=jobs, progress=tick)
    return Validation(
        predictions=predictions,
        score=full,
        recovered=recovered,
        ablated=ablated,
        sequences=sequences,
        folds=folds,
    )


def _refuse_for_recoveries(extras: Extras) -> None:
    """Refuse what is there for checkpoints alone."""
    given = {"ablation": extras.ablation, "folds": extras.folds, "sequence": extras.sequences}
    for option, value in given.items():
        if value:
            raise UserError(f"--{option}: found a file of recoveries, expected one of checkpoints")


class _Tick:
    """Counts the runs that are done."""

    def __init__(self, progress: Callable[[int, int], object] | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def __call__(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)


def _wanted(
    runs: Sequence[validate.MeasuredRun], names: Sequence[str]
) -> list[validate.MeasuredRun]:
    """Return the runs of these names."""
    known = {run.run_id: run for run in runs}
    for name in names:
        if name not in known:
            nearest = get_close_matches(name, known, 1, 0)
            raise UserError(f"--sequence: found {name!r}, expected a run such as {nearest[0]!r}")
        if not known[name].jobs[0].checkpoints:
            raise UserError(f"--sequence: found {name!r}, expected a run with its checkpoints")
    return [known[name] for name in names]


def document(
    predictions: Sequence[validate.Prediction],
    full: validate.Score,
    ablated: Sequence[tuple[str, validate.Score]],
    sequences: Sequence[validate.CheckpointSequence],
) -> dict[str, Any]:
    """Return what `--json` prints."""
    found: dict[str, Any] = {
        "runs": [_entry(prediction) for prediction in predictions if prediction.jobs],
        "not_simulated": [
            {"run_id": p.run.run_id, "reason": p.reason} for p in predictions if p.reason
        ],
        "score": _scores(full),
    }
    if sequences:
        found["sequences"] = [asdict(one) for one in sequences]
    if ablated:
        found["ablation"] = [{"left_out": name} | _scores(other) for name, other in ablated]
    return found


def _entry(prediction: validate.Prediction) -> dict[str, Any]:
    """Return one run: the first job's figures, and all jobs where there are several."""
    jobs = prediction.run.jobs[: len(prediction.jobs)]
    measured = [dict(job.summary or {}) | dict(job.finish or {}) for job in jobs]
    entry: dict[str, Any] = {
        "run_id": prediction.run.run_id,
        "cell_id": prediction.run.cell_id,
        "family": prediction.run.family,
        "predicted": prediction.jobs[0],
        "measured": measured[0],
        "predicted_records_per_s": prediction.rates[0],
    }
    if len(prediction.jobs) > 1:
        entry["jobs"] = [
            {"predicted": ours, "measured": theirs}
            for ours, theirs in zip(prediction.jobs, measured, strict=True)
        ]
    return entry


def _scores(found: validate.Score) -> dict[str, Any]:
    return {
        "cells": len(found.cells),
        "duration_share": round(found.duration_share, 4),
        "duration_mean_error": round(found.mean_error, 4),
        "persisted_share": round(found.persisted_share, 4),
        "endings": len(found.endings),
        "endings_right": sum(ending.right for ending in found.endings),
    }
