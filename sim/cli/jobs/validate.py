"""`ckptsim validate`: predict measured Flink runs and print predicted beside measured."""

from __future__ import annotations

import argparse
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ckptsim.scenarios.files import written_whole
from ckptsim.sim import validate
from ckptsim.sim.answers.jobs.validating import Extras, Validation, validate_files
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_OURS
from ckptsim.sim.cli.places import output_folder
from ckptsim.sim.cli.progress import ProgressBar
from ckptsim.sim.extras import require

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
    with ProgressBar("validate") as bar:
        found = validate_files(
            arguments.files,
            seeds=arguments.seeds,
            jobs=arguments.jobs,
            extras=Extras(
                ablation=arguments.ablation,
                folds=arguments.folds,
                sequences=arguments.sequence,
            ),
            progress=lambda done, total: bar(done=done, total=total),
        )
    lines = list(found.lines(runs=arguments.runs))
    print(json.dumps(found.document(), indent=1) if arguments.json else "\n".join(lines))
    if arguments.out is not None:
        files = _written(arguments.out, found, lines)
        print(f"written: {', '.join(map(str, files))}", file=sys.stderr)
    return EXIT_OURS if found.broken else EXIT_FINE


def _written(folder: Path, found: Validation, lines: list[str]) -> list[Path]:
    """Write figures, report and predictions; return the paths."""
    import pandas as pd

    from ckptsim.analysis.figures import validation

    drawn = {}
    if pairs := found.pairs():
        columns = ["family", "mode", "predicted", "measured"]
        table = pd.DataFrame(pairs, columns=columns)
        drawn["predicted_and_measured.png"] = validation.predicted_and_measured(table)
    if found.sequences:
        table = pd.concat([_sequence_table(one) for one in found.sequences], ignore_index=True)
        drawn["sequences.png"] = validation.sequences(table)
    for name, figure in drawn.items():
        buffer = io.BytesIO()
        figure.savefig(buffer, dpi=150, metadata={"Software": None})
        written_whole(folder / name, buffer.getvalue())
    written_whole(folder / "report.txt", "\n".join([*lines, ""]))
    written_whole(folder / "predictions.json", json.dumps(found.document(), indent=1))
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


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"found {text}, expected 1 or more")
    return value
