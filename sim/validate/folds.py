"""Do the constants generalise?  Fit them on some of the cells, and look at the others.

Each free constant is moved by one step and everything predicted again; that gives how each cell's
duration follows it.  With these derivatives the constants are fitted by least squares, in units of
what counts as right, to all folds but one, and judged on that one.  A constant that the cells of a
fold hardly feel stays near its value (a ridge of one step).  All is linear: small changes, no
second simulation of the fitted constants.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ckptsim.sim.job.buffers.constants import CONSTANTS, Constants
from ckptsim.sim.validate.ablation import NOTHING
from ckptsim.sim.validate.measured import MeasuredRun
from ckptsim.sim.validate.predict import predict_all
from ckptsim.sim.validate.score import ABSOLUTE_MS, LONG_MS, RELATIVE, Line, score

Column = NDArray[np.float64]

_US = 1_000
_MS = 1_000_000
STEPS: dict[str, int] = {
    "record_ns": 2 * _US,
    "source_record_ns": 1 * _US,
    "rpc_ns": 1 * _MS,
    "message_cost_ns": 500 * _US,
    "acknowledge_cost_ns": 500 * _US,
    "barrier_cost_ns": 1 * _MS,
    "complete_ns": 1 * _MS,
    "file_cost_ns": 2 * _MS,
    "state_ns_per_mb": 500 * _US,
    "channel_file_cost_ns": 1 * _MS,
    "channel_ns_per_mb": 1 * _MS,
    "limiter_overshoot_ns": 20 * _US,
    "limiter_chunk_ns": 4 * _US,
}
"""The free constants, and by how much each is moved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """Mean absolute relative error above 100 ms, and the share of durations that are right."""

    mean: float
    right: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Folds:
    """What the folds gave.

    used: with the constants as they are; fitted: on the cells that were fitted to; held_out: on the
    cells that were not.  changes: per constant, its value and the fitted ones of all folds, in ns.
    """

    count: int
    cells: int
    used: Errors
    fitted: Errors
    held_out: Errors
    changes: dict[str, tuple[int, tuple[int, ...]]]


def folds_of(
    runs: Sequence[MeasuredRun],
    *,
    folds: int,
    seeds: int,
    jobs: int = 1,
    progress: Callable[[], object] | None = None,
) -> Folds:
    """Fit the constants `folds` times, each time without one part of the cells."""

    def durations(constants: Constants) -> dict[str, Line]:
        ablation = replace(NOTHING, constants=constants)
        found = predict_all(runs, seeds=seeds, jobs=jobs, ablation=ablation, progress=progress)
        return {cell.name: cell for cell in score(found).cells}

    base = durations(CONSTANTS)
    names = sorted(base)
    measured = np.array([base[name].duration.measured for name in names])
    start = np.array([base[name].duration.predicted for name in names])
    slopes = np.empty((len(names), len(STEPS)))
    for column, (constant, step) in enumerate(STEPS.items()):
        moved = durations(_moved(constant, step))
        slopes[:, column] = [moved[name].duration.predicted for name in names] - start
    return fit(names, measured, start, slopes, folds=folds)


def fit(
    names: Sequence[str],
    measured: Column,
    start: Column,
    slopes: NDArray[np.float64],
    *,
    folds: int,
) -> Folds:
    """Fit on all cells but those of a fold, for each fold.

    measured, start: durations in ms, shape (cells,); slopes: change per step, shape (cells,
    constants).  Cells go to the folds in turn, in the order of their names.
    """
    place = np.arange(len(names)) % folds
    scale = np.maximum(RELATIVE * measured, ABSOLUTE_MS)
    least = -np.array([_value(name) / step for name, step in STEPS.items()])
    inside, outside, steps = [], np.empty_like(start), []
    for fold in range(folds):
        train = place != fold
        weighted = slopes[train] / scale[train, None]
        missing = (measured[train] - start[train]) / scale[train]
        ridge = np.eye(len(STEPS)) / len(STEPS)
        found = np.linalg.solve(weighted.T @ weighted + ridge, weighted.T @ missing)
        found = np.maximum(found, least)
        steps.append(found)
        after = start + slopes @ found
        inside.append(_errors(after[train], measured[train]))
        outside[~train] = after[~train]
    return Folds(
        count=folds,
        cells=len(names),
        used=_errors(start, measured),
        fitted=Errors(
            mean=statistics.fmean(e.mean for e in inside),
            right=statistics.fmean(e.right for e in inside),
        ),
        held_out=_errors(outside, measured),
        changes={
            name: (_value(name), tuple(round(_value(name) + found[i] * step) for found in steps))
            for i, (name, step) in enumerate(STEPS.items())
        },
    )


def folds_lines(found: Folds) -> list[str]:
    """Return the table of errors and of fitted constants as text."""
    lines = [
        "",
        f"{f'{found.count} folds over {found.cells} cells':34}{'error > 100 ms':>16}{'right':>10}",
    ]
    for name, errors in (
        ("constants as they are", found.used),
        ("fitted, on the cells fitted to", found.fitted),
        ("fitted, on the cells held out", found.held_out),
    ):
        lines.append(f"{name:34}{100 * errors.mean:>14.2f} %{100 * errors.right:>8.1f} %")
    lines += ["", f"{'constant':34}{'used us':>12}{'least us':>12}{'most us':>12}"]
    for name, (value, fitted) in found.changes.items():
        row = (value, min(fitted), max(fitted))
        lines.append(f"{name:34}" + "".join(f"{number / _US:>12.1f}" for number in row))
    return lines


def _value(name: str) -> int:
    return int(getattr(CONSTANTS, name))


def _moved(name: str, step: int) -> Constants:
    return replace(CONSTANTS, **{name: _value(name) + step})


def _errors(predicted: Column, measured: Column) -> Errors:
    off = np.abs(predicted - measured)
    long = measured > LONG_MS
    return Errors(
        mean=float(np.mean(off[long] / measured[long])) if long.any() else 0.0,
        right=float(np.mean(off <= np.maximum(RELATIVE * measured, ABSOLUTE_MS))),
    )
