"""`ckptsim validate`: predict measured Flink runs and print predicted beside measured."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import written_whole
from ckptsim.sim import validate
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_OURS
from ckptsim.sim.cli.places import output_folder
from ckptsim.sim.cli.progress import ProgressBar
from ckptsim.sim.extras import require
from ckptsim.sim.validate import recoveries
from ckptsim.sim.validate.folds import STEPS

if TYPE_CHECKING:
    import pandas as pd

EXAMPLES = """examples:
  ckptsim validate tests/data/flink/calibration.jsonl
  ckptsim validate tests/data/flink/recovery.jsonl
  ckptsim validate runs.jsonl --runs --seeds 9
  ckptsim validate runs.jsonl --ablation --jobs 2
  ckptsim validate runs.jsonl --folds 5 --seeds 1
  ckptsim validate runs.jsonl --json > predictions.json
  ckptsim validate runs.jsonl --out out/validate --sequence 't2_a_p1_d4#1'

Each line is one measured run; its configuration becomes a scenario and is simulated with several
seeds.  From the measurement itself comes only what Flink draws at random or an operator decided:
the phase of the periodic trigger, when sources ended, how many checkpoints were taken.
A line with `recoveries` is a run that failed; of each failure come its instant and the checkpoint
that was restored, and how long a client took to submit a job again.
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
    parser.add_argument(
        "--folds",
        type=_positive,
        metavar="K",
        help="fit the free constants K times without a K-th of the cells, and judge on that",
    )
    parser.add_argument(
        "--sequence",
        action="append",
        default=[],
        metavar="RUN_ID",
        help="print this run checkpoint by checkpoint, also told the measured pauses (repeatable)",
    )
    parser.add_argument(
        "--out",
        type=output_folder,
        metavar="DIR",
        help="write figures (predicted against measured, sequences), the report and the JSON there",
    )
    parser.add_argument("--json", action="store_true", help="print predictions and scores as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Predict every run and print the comparison."""
    if arguments.out is not None:
        require("pandas", "matplotlib")
    measurements = validate.read_measurements(arguments.files)
    runs = list(measurements.runs)
    if measurements.recoveries:
        _refuse_for_recoveries(arguments)
    wanted = _wanted(runs, arguments.sequence)
    if arguments.folds == 1:
        raise UserError("--folds: found 1, expected 2 or more")
    rounds = 1 + (len(validate.ABLATIONS) if arguments.ablation else 0)
    rounds += 1 + len(STEPS) if arguments.folds else 0
    with ProgressBar("validate") as bar:
        tick = _Tick(bar, len(runs) * rounds + len(wanted) + len(measurements.recoveries))
        recovered = recoveries.predict_recoveries(
            measurements.recoveries,
            seeds=arguments.seeds,
            jobs=arguments.jobs,
            progress=tick,
        )
        predictions = validate.predict_all(
            runs, seeds=arguments.seeds, jobs=arguments.jobs, progress=tick
        )
        full = validate.score(predictions)
        ablated = _ablated(runs, arguments, tick) if arguments.ablation else []
        sequences = []
        for one in wanted:
            sequences.append(validate.sequence_of(one, seeds=arguments.seeds))
            tick()
        folds = None
        if arguments.folds:
            if arguments.folds > len(full.cells):
                expected = f"expected no more than there are cells, {len(full.cells)}"
                raise UserError(f"--folds: found {arguments.folds}, {expected}")
            folds = validate.folds_of(
                runs,
                folds=arguments.folds,
                seeds=arguments.seeds,
                jobs=arguments.jobs,
                progress=tick,
            )
    found = document(predictions, full, ablated, sequences)
    lines = validate.report_lines(full, runs=arguments.runs) if runs else []
    lines += validate.sequence_lines(sequences)
    if ablated:
        lines += validate.ablation_lines(full, ablated)
    if folds is not None:
        found["folds"] = asdict(folds)
        lines += validate.folds_lines(folds)
    if recovered:
        judged = recoveries.score_recoveries(recovered)
        lines += recoveries.recovery_lines(judged)
        _add_recoveries(found, recovered, judged)
    print(json.dumps(found, indent=1) if arguments.json else "\n".join(lines))
    if arguments.out is not None:
        files = _written(arguments.out, found, lines, full, sequences)
        print(f"written: {', '.join(map(str, files))}", file=sys.stderr)
    broken = any(p.broken for p in predictions) or any(p.broken for p in recovered)
    return EXIT_OURS if broken else EXIT_FINE


def _refuse_for_recoveries(arguments: argparse.Namespace) -> None:
    """Refuse what is there for checkpoints alone."""
    for option in ("ablation", "folds", "sequence"):
        if getattr(arguments, option):
            raise UserError(f"--{option}: found a file of recoveries, expected one of checkpoints")


def _add_recoveries(
    found: dict[str, Any],
    predictions: Sequence[recoveries.RecoveryPrediction],
    judged: recoveries.RecoveryScore,
) -> None:
    found["runs"] += recoveries.recovery_entries(predictions)
    found["not_simulated"] += [
        {"run_id": one.run.run_id, "reason": one.reason} for one in judged.skipped
    ]
    found["recovery_score"] = recoveries.recovery_scores(judged)


class _Tick:
    """Moves a progress bar by one."""

    def __init__(self, bar: ProgressBar, total: int) -> None:
        self._bar, self._total, self._done = bar, total, 0

    def __call__(self) -> None:
        self._done += 1
        self._bar(done=self._done, total=self._total)


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


def _written(
    folder: Path,
    found: dict[str, Any],
    lines: Sequence[str],
    full: validate.Score,
    sequences: Sequence[validate.CheckpointSequence],
) -> list[Path]:
    """Write figures, report and predictions; return the paths."""
    import pandas as pd

    from ckptsim.analysis.figures import validation

    drawn = {}
    pairs = [
        (cell.family, cell.mode, cell.duration.predicted, cell.duration.measured)
        for cell in full.cells
    ]
    if pairs:
        columns = ["family", "mode", "predicted", "measured"]
        table = pd.DataFrame(pairs, columns=columns)
        drawn["predicted_and_measured.png"] = validation.predicted_and_measured(table)
    if sequences:
        table = pd.concat([_sequence_table(one) for one in sequences], ignore_index=True)
        drawn["sequences.png"] = validation.sequences(table)
    for name, figure in drawn.items():
        buffer = io.BytesIO()
        figure.savefig(buffer, dpi=150, metadata={"Software": None})
        written_whole(folder / name, buffer.getvalue())
    written_whole(folder / "report.txt", "\n".join([*lines, ""]))
    written_whole(folder / "predictions.json", json.dumps(found, indent=1))
    return [folder / name for name in (*drawn, "report.txt", "predictions.json")]


def _sequence_table(one: validate.CheckpointSequence) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        {
            "run_id": one.run_id,
            "index": range(1, len(one.measured) + 1),
            "measured": one.measured,
            "predicted": one.predicted,
            "least": one.least,
            "most": one.most,
            "told": one.told,
        }
    )


def _ablated(
    runs: list[validate.MeasuredRun], arguments: argparse.Namespace, tick: Callable[[], object]
) -> list[tuple[str, validate.Score]]:
    found = []
    for ablation in validate.ABLATIONS:
        predictions = validate.predict_all(
            runs, seeds=arguments.seeds, jobs=arguments.jobs, ablation=ablation, progress=tick
        )
        found.append((ablation.name, validate.score(predictions)))
    return found


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"found {text}, expected 1 or more")
    return value


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
