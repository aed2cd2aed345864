"""Studies of the predictions: what each mechanism contributes, and whether constants generalise.

`python -m tests.bench.validation FILE --seeds 1 --ablation --folds 5` prints both.  An ablation
predicts everything again with one mechanism left out.  Folds fit the constants to some of the
cells, and judge on the others.

Each free constant is moved by one step and everything predicted again. That gives how each cell's
duration follows it.  With these derivatives the constants are fitted by least squares, in units of
what counts as right, to all folds but one, and judged on that one.  A constant that the cells of a
fold hardly feel stays near its value (a ridge of one step).  All is linear: small changes, no
second simulation of the fitted constants.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ckptsim.scenarios.job import Job, PlacementKind
from ckptsim.sim.job.buffers.constants import MECHANISMS, RIG, Constants
from ckptsim.sim.validate import MeasuredRun, predict, predict_all, read_measurements
from ckptsim.sim.validate.predict import OURS, Assumptions, Jobs, Prediction
from ckptsim.sim.validate.score import ABSOLUTE_MS, LONG_MS, RELATIVE, Line, Score, score

_PLENTY = 1_000


def _no_flush(model: Job) -> Job:
    return replace(model, network=replace(model.network, buffer_timeout_ns=0))


def _no_channel_limit(model: Job) -> Job:
    return replace(model, network=replace(model.network, max_buffers_per_channel=_PLENTY))


def _few_floating(model: Job) -> Job:
    return replace(model, network=replace(model.network, floating_buffers=1))


def _all_remote(model: Job) -> Job:
    return replace(model, placement=PlacementKind.REMOTE)


def _no_debloat(model: Job) -> Job:
    return replace(model, network=replace(model.network, debloat=False))


def _no_network_time(model: Job) -> Job:
    network = replace(model.network, latency_ns=0, jitter_ns=0, send_ns=0)
    return replace(model, network=network)


_QUICK = replace(
    RIG,
    rpc_ns=0,
    message_cost_ns=0,
    acknowledge_cost_ns=0,
    barrier_cost_ns=0,
    complete_ns=0,
    finish_ns=0,
)
_FREE_FILES = replace(
    RIG,
    file_cost_ns=0,
    channel_file_cost_ns=0,
    channel_ns_per_mb=0,
    discard_file_ns=0,
    discard_ns_per_mb=0,
)
_EXACT_WAITS = replace(RIG, record_ns=1, park_overshoot_ns=0)
_EXACT_LIMITER = replace(RIG, limiter_overshoot_ns=0, limiter_chunk_ns=0)
_NO_PAUSES = replace(RIG, pause_ratio=0.0)

ABLATIONS: dict[str, Assumptions] = {
    "the task stops before its pool is empty": Assumptions(
        mechanisms=replace(MECHANISMS, stops_early=False)
    ),
    "a buffer is free when its last record is read": Assumptions(
        mechanisms=replace(MECHANISMS, freed_when_read=False)
    ),
    "the limit per channel": Assumptions(change=_no_channel_limit),
    "floating buffers (all but one)": Assumptions(change=_few_floating),
    "local channels": Assumptions(change=_all_remote),
    "the flush time-out": Assumptions(change=_no_flush),
    "a flush leaves the buffer open": Assumptions(mechanisms=replace(MECHANISMS, slices=False)),
    "random keys": Assumptions(mechanisms=replace(MECHANISMS, random_keys=False)),
    "equal keys stay on their index": Assumptions(mechanisms=replace(MECHANISMS, keys_stay=False)),
    "debloating": Assumptions(change=_no_debloat),
    "time on the network": Assumptions(change=_no_network_time),
    "messages take time": Assumptions(constants=_QUICK),
    "files take work": Assumptions(constants=_FREE_FILES),
    "shared cores": Assumptions(mechanisms=replace(MECHANISMS, shared_cores=False)),
    "waits that overshoot": Assumptions(constants=_EXACT_WAITS),
    "the limiter's overshoot": Assumptions(constants=_EXACT_LIMITER),
    "pauses of the machine": Assumptions(constants=_NO_PAUSES),
}


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

    used: with the constants as they are. fitted: on the cells that were fitted to. held_out: on the
    cells that were not.  changes: per constant, its value and the fitted ones of all folds, in ns.
    """

    count: int
    cells: int
    used: Errors
    fitted: Errors
    held_out: Errors
    changes: dict[str, tuple[int, tuple[int, ...]]]


def read_runs(paths: Sequence[Path]) -> list[MeasuredRun]:
    """Return the runs with checkpoints of some files."""
    return list(read_measurements(paths).runs)


def _predicted(
    runs: Sequence[MeasuredRun], seeds: int, jobs: int, under: Assumptions
) -> list[Prediction[MeasuredRun, Jobs]]:
    return predict_all(runs, partial(predict, seeds=seeds, under=under), jobs=jobs)


def folds_of(
    runs: Sequence[MeasuredRun],
    *,
    folds: int,
    seeds: int,
    jobs: int = 1,
) -> Folds:
    """Fit the constants `folds` times, each time without one part of the cells.

    Raises ValueError where a fold would have no cell.
    """
    cells = len({run.cell_id for run in runs})
    if not 2 <= folds <= cells:
        raise ValueError(f"found {folds} folds, expected from 2 to the number of cells, {cells}")

    def durations(constants: Constants) -> dict[str, Line]:
        found = _predicted(runs, seeds, jobs, Assumptions(constants=constants))
        return {cell.name: cell for cell in score(found).cells}

    base = durations(RIG)
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
    """Fit on all cells but the ones of a fold, for each fold.

    measured, start: durations in ms, shape (cells,). slopes: change per step, shape (cells,
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
    return int(getattr(RIG, name))


def _moved(name: str, step: int) -> Constants:
    return replace(RIG, **{name: _value(name) + step})


def _errors(predicted: Column, measured: Column) -> Errors:
    off = np.abs(predicted - measured)
    long = measured > LONG_MS
    return Errors(
        mean=float(np.mean(off[long] / measured[long])) if long.any() else 0.0,
        right=float(np.mean(off <= np.maximum(RELATIVE * measured, ABSOLUTE_MS))),
    )


def ablation_lines(scores: dict[str, Score]) -> list[str]:
    """Return what the scores become when one mechanism is left out."""
    lines = ["", f"{'left out':46}{'durations right':>17}{'error > 100 ms':>16}{'bytes right':>13}"]
    for name, found in scores.items():
        lines.append(
            f"{name:46}{100 * found.duration_share:>15.1f} %{100 * found.mean_error:>14.2f} %"
            f"{100 * found.persisted_share:>11.1f} %"
        )
    return lines


def main(words: list[str]) -> int:
    """Print the duties of some files of measured runs."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.validation")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="measured runs")
    parser.add_argument("--seeds", type=int, default=7, help="seeds per run (default: 7)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--ablation", action="store_true", help="leave out each mechanism in turn")
    parser.add_argument("--folds", type=int, metavar="K", help="fit K times, a K-th held out")
    asked = parser.parse_args(words)
    runs = read_runs(asked.files)
    if asked.ablation:
        models = {"nothing": OURS} | ABLATIONS
        scores = {
            name: score(_predicted(runs, asked.seeds, asked.jobs, model))
            for name, model in models.items()
        }
        print("\n".join(ablation_lines(scores)))
    if asked.folds:
        found = folds_of(runs, folds=asked.folds, seeds=asked.seeds, jobs=asked.jobs)
        print("\n".join(folds_lines(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
