"""`ckptsim validate`: predict measured Flink runs and print predicted beside measured."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sim.cli.main import EXIT_FINE, EXIT_OURS
from sim.validate import (
    ABLATIONS,
    MeasuredRun,
    Prediction,
    Score,
    ablation_lines,
    predict_all,
    read_runs,
    report_lines,
    score,
)

EXAMPLES = """examples:
  ckptsim validate tests/data/flink/calibration.jsonl
  ckptsim validate runs.jsonl --runs --seeds 9
  ckptsim validate runs.jsonl --ablation --jobs 2
  ckptsim validate runs.jsonl --json > predictions.json

Each line is one measured run; its configuration becomes a scenario and is simulated with several
seeds.  From the measurement itself comes only what Flink draws at random or an operator decided:
the phase of the periodic trigger, when sources ended, how many checkpoints were taken.
exit codes: 0 done, 2 a line is not in the schema of measured runs, 3 a simulation failed"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="measured runs")
    parser.add_argument("--seeds", type=_positive, default=7, help="seeds per run (default: 7)")
    parser.add_argument("--jobs", type=_positive, default=1, help="processes (default: 1)")
    parser.add_argument("--runs", action="store_true", help="print every run, not only cells")
    parser.add_argument(
        "--ablation", action="store_true", help="leave out one mechanism after the other, too"
    )
    parser.add_argument("--json", action="store_true", help="print predictions and scores as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Predict every run and print the comparison."""
    runs = read_runs(arguments.files)
    rounds = 1 + (len(ABLATIONS) if arguments.ablation else 0)
    tick = _progress(len(runs) * rounds)
    predictions = predict_all(runs, seeds=arguments.seeds, jobs=arguments.jobs, progress=tick)
    full = score(predictions)
    ablated = _ablated(runs, arguments, tick) if arguments.ablation else []
    tick(close=True)
    code = EXIT_OURS if any(p.broken for p in predictions) else EXIT_FINE
    if arguments.json:
        print(json.dumps(document(predictions, full, ablated), indent=1))
        return code
    lines = report_lines(full, runs=arguments.runs)
    if ablated:
        lines += ablation_lines(full, ablated)
    print("\n".join(lines))
    return code


def _ablated(
    runs: list[MeasuredRun], arguments: argparse.Namespace, tick: Callable[[], object]
) -> list[tuple[str, Score]]:
    found = []
    for ablation in ABLATIONS:
        predictions = predict_all(
            runs, seeds=arguments.seeds, jobs=arguments.jobs, ablation=ablation, progress=tick
        )
        found.append((ablation.name, score(predictions)))
    return found


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"found {text}, expected 1 or more")
    return value


def _progress(total: int) -> Any:
    """Return a function that moves a progress bar, which exists on a terminal only."""
    from tqdm import tqdm

    bar = tqdm(total=total, unit="run", disable=not sys.stderr.isatty(), file=sys.stderr)

    def tick(*, close: bool = False) -> None:
        if close:
            bar.close()
        else:
            bar.update()

    return tick


def document(
    predictions: list[Prediction], full: Score, ablated: list[tuple[str, Score]]
) -> dict[str, Any]:
    """Return what `--json` prints."""
    found: dict[str, Any] = {
        "runs": [_entry(prediction) for prediction in predictions if prediction.jobs],
        "not_simulated": [
            {"run_id": p.run.run_id, "reason": p.reason} for p in predictions if p.reason
        ],
        "score": _scores(full),
    }
    if ablated:
        found["ablation"] = [{"left_out": name} | _scores(other) for name, other in ablated]
    return found


def _entry(prediction: Prediction) -> dict[str, Any]:
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


def _scores(found: Score) -> dict[str, Any]:
    return {
        "cells": len(found.cells),
        "duration_share": round(found.duration_share, 4),
        "duration_mean_error": round(found.mean_error, 4),
        "persisted_share": round(found.persisted_share, 4),
        "endings": len(found.endings),
        "endings_right": sum(ending.right for ending in found.endings),
    }
