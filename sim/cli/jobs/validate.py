"""`ckptsim validate`: predict measured Flink runs and print predicted beside measured."""

from __future__ import annotations

import argparse
import io
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ckptsim.scenarios.files import written_whole
from ckptsim.sim import validate
from ckptsim.sim.answers.jobs.validating import validate_files
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_OURS
from ckptsim.sim.cli.options import positive, repeated
from ckptsim.sim.cli.places import output_folder
from ckptsim.sim.cli.progress import ProgressBar
from ckptsim.sim.extras import require

if TYPE_CHECKING:
    import pandas as pd

EXAMPLES = """examples:
  ckptsim validate tests/data/flink/calibration.jsonl
  ckptsim validate tests/data/flink/recovery.jsonl
  ckptsim validate runs.jsonl --runs --seeds 9
  ckptsim validate runs.jsonl --jobs 2
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
    parser.add_argument("--seeds", type=positive, default=7, help="seeds per run (default: 7)")
    parser.add_argument("--jobs", type=positive, default=1, help="processes (default: 1)")
    parser.add_argument("--runs", action="store_true", help="print every run, not only cells")
    repeated(
        parser,
        "--sequence",
        "RUN_ID",
        "print this run checkpoint by checkpoint, also told the measured pauses (repeatable)",
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
            sequences=arguments.sequence,
            progress=lambda done, total: bar(done=done, total=total),
        )
    lines = found.lines(runs=arguments.runs)
    print(json.dumps(found.document(), indent=1) if arguments.json else "\n".join(lines))
    if arguments.out is not None:
        files = _written(arguments.out, found, lines)
        print(f"written: {', '.join(map(str, files))}", file=sys.stderr)
    return EXIT_OURS if found.broken else EXIT_FINE


def _written(folder: Path, found: validate.Comparison, lines: list[str]) -> list[Path]:
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

    columns = asdict(one)
    del columns["pauses"]
    return pd.DataFrame({"index": range(1, len(one.measured) + 1), **columns})
