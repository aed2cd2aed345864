"""Measured runs of Flink: what `validate` predicts of each, and how far both agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckptsim._api.columns import frame_of, ns_of, tidy
from ckptsim._api.jobs.plots import ValidationPlots
from ckptsim._api.pages.vectors import paths_of
from ckptsim._api.result import Facts, Result
from ckptsim.scenarios.errors import UserError
from ckptsim.sim import validate as measured
from ckptsim.sim.validate.recoveries import predict_recovery
from ckptsim.sim.validate.state import predict_state

if TYPE_CHECKING:
    import pandas as pd

_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Validation(Result):
    """Measured runs beside their predictions."""

    validation: measured.Comparison

    def frame(self) -> pd.DataFrame:
        """Return one row per cell of measured runs: family, mode, predicted and measured median."""
        found = [
            (
                *(cell.name, cell.family, cell.mode),
                ns_of(cell.duration.predicted, _NS_PER_MS),
                ns_of(cell.duration.measured, _NS_PER_MS),
                cell.duration_right,
            )
            for cell in self.validation.score.cells
        ]
        columns = ("cell", "family", "mode", "predicted_ns", "measured_ns", "right")
        return tidy(frame_of(found, columns))

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim validate --json` prints."""
        return self.validation.document()

    @property
    def plot(self) -> ValidationPlots:
        """The figures of the comparison."""
        return ValidationPlots(self.validation)

    @property
    def text(self) -> str:
        """The tables of predicted and measured figures."""
        return self.tables()

    def tables(self, *, runs: bool = False) -> str:
        """Return the tables. runs: also one of every run."""
        return "\n".join(self.validation.lines(runs=runs))

    def _facts(self) -> Facts:
        score = self.validation.score
        recovered = self.validation.recovered
        return [
            ("runs", len(self.validation.predictions) + len(recovered)),
            ("cells", len(score.cells)),
            ("durations right", f"{score.duration_share:.0%} of cells"),
            ("mean error", f"{score.mean_error:.1%} of durations above 100 ms"),
            ("bytes right", f"{score.persisted_share:.0%} of cells"),
            ("not simulated", len(score.skipped)),
        ]


def validate(
    files: str | Path | Sequence[str | Path],
    *,
    seeds: int = 7,
    jobs: int = 1,
    sequences: Sequence[str] = (),
    progress: Callable[[int, int], object] | None = None,
) -> Validation:
    """Predict measured runs of Flink and compare.

    files: measured runs, one a line.  seeds: simulated runs of each. jobs: processes.
    sequences: runs that are looked at checkpoint by checkpoint.
    progress: called with runs done and all runs.

    Raises UserError for a line that is no measured run, and for sequences that the files have not.
    """
    measurements = measured.read_measurements(paths_of(files))
    runs, failing = measurements.runs, measurements.recoveries
    if failing and sequences:
        raise UserError("sequence: found a file of recoveries, expected one of checkpoints")
    wanted = _wanted(runs, sequences)
    states = measurements.states
    tick = _Tick(progress, len(runs) + len(wanted) + len(failing) + len(states))
    every = partial(measured.predict_all, jobs=jobs, progress=tick)
    stated = every(states, partial(predict_state, seeds=seeds))
    recovered = every(failing, partial(predict_recovery, seeds=seeds))
    predictions = every(runs, partial(measured.predict, seeds=seeds))
    shown = []
    for one in wanted:
        shown.append(measured.sequence_of(one, seeds=seeds))
        tick()
    found = measured.Comparison(
        predictions=predictions, recovered=recovered, sequences=shown, states=stated
    )
    return Validation(validation=found)


class _Tick:
    def __init__(self, progress: Callable[[int, int], object] | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def __call__(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)


def _wanted(
    runs: Sequence[measured.MeasuredRun], names: Sequence[str]
) -> list[measured.MeasuredRun]:
    known = {run.run_id: run for run in runs}
    for name in names:
        if name not in known:
            nearest = get_close_matches(name, known, 1, 0)
            raise UserError(f"sequence: found {name!r}, expected a run such as {nearest[0]!r}")
        if not known[name].jobs[0].checkpoints:
            raise UserError(f"sequence: found {name!r}, expected a run with its checkpoints")
    return [known[name] for name in names]
