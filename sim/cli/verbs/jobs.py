"""`whatif`, `advise` and `validate`: predictions for real jobs."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ckptsim._api.jobs.advice import Advice
from ckptsim._api.jobs.advising import advise
from ckptsim._api.jobs.comparing import compare, run_scenarios
from ckptsim._api.jobs.recorded import named_job
from ckptsim._api.jobs.validated import Validation, validate
from ckptsim._api.jobs.whatif import WhatIf
from ckptsim.scenarios import Scenario
from ckptsim.scenarios.files import written_whole
from ckptsim.scenarios.job import Job
from ckptsim.sim.cli.main import EXIT_OURS
from ckptsim.sim.cli.options import (
    HOW_MUCH,
    Verb,
    check_master,
    flag,
    given,
    json_of,
    option,
    output_file,
    output_folder,
    positive,
    repeated,
)
from ckptsim.sim.cli.printing import document_text, show
from ckptsim.sim.cli.progress import ProgressBar, say
from ckptsim.sim.cli.verbs.recordings import IMPORT
from ckptsim.sim.extras import require
from ckptsim.sim.infer.advice.budget import records_per_s
from ckptsim.sim.infer.change import read_change, read_values
from ckptsim.sim.infer.folder import place_named
from ckptsim.sim.rows import RunResult

if TYPE_CHECKING:
    import pandas as pd

    from ckptsim.sim.validate import CheckpointSequence

# Records that one core simulates in some 90 s, measured on the shipped recordings.  Starting Spark
# takes some 5 s, so that less is done sooner without.
_MUCH = 60_000_000
_HERE, _AUTO = "here", "auto"


def _whatif(arguments: argparse.Namespace) -> int:
    found = compared(arguments)
    code = _shown(found, arguments)
    if arguments.view is not None:
        print(f"written: {found.view().save(arguments.view)}", file=sys.stderr)
    return code


def compared(arguments: argparse.Namespace) -> WhatIf:
    """Return the comparison that `whatif` asks for. Raises UserError."""
    return compare(
        named_job(arguments.job_place, arguments.machine, arguments.job, arguments.profile),
        lambda runs, says: _ran(runs, arguments.master, says),
        set=read_change(arguments.set),
        vary=read_values(arguments.vary),
        **given(arguments, "conf failure restart seeds full quick"),
    )


def _ran(runs: Sequence[tuple[Scenario, int]], master: str, says: str) -> Sequence[RunResult]:
    if master == _AUTO:
        installed = find_spec("pyspark") is not None
        records = sum(_records_of(cast("Job", scenario.model)) for scenario, _ in runs)
        master = "local[*]" if installed and records > _MUCH else _HERE
    with ProgressBar(says) as bar:

        def progress(done: int) -> None:
            bar(done=done, total=len(runs))

        if master == _HERE:
            return run_scenarios(runs, None, progress)
        from ckptsim.analysis.spark.session import spark_session

        check_master(master)
        say(f"starting Spark on {master}")
        with spark_session(master) as session:
            return run_scenarios(runs, session, progress)


def _records_of(job: Job) -> float:
    run_ns = job.duration_ns
    if job.checkpointing.count is not None:
        run_ns = min(run_ns, (job.checkpointing.count + 1) * job.checkpointing.interval_ns)
    return records_per_s(job) * run_ns / 1e9


def _advise(arguments: argparse.Namespace) -> int:
    with ProgressBar("advise") as bar:
        found = advise(
            arguments.job_place,
            modes=arguments.modes.split(","),
            set=read_change(arguments.set),
            job_id=arguments.job,
            progress=bar.step,
            **given(arguments, "mtbf restart rto max_reprocessed max_overhead load price_gb"),
            **given(arguments, "price_requests machine profile full quick"),
        )
    return _shown(found, arguments)


def _shown(found: WhatIf | Advice, arguments: argparse.Namespace) -> int:
    code = show(found, as_json=arguments.json)
    if arguments.out is not None:
        written_whole(arguments.out, found.page())
        print(f"written: {arguments.out}", file=sys.stderr)
    return code


def _validate(arguments: argparse.Namespace) -> int:
    if arguments.out is not None:
        require("pandas", "matplotlib")
    with ProgressBar("validate") as bar:
        found = validate(
            arguments.files,
            sequences=arguments.sequence,
            progress=lambda done, total: bar(done=done, total=total),
            **given(arguments, "seeds jobs"),
        )
    text = found.tables(runs=arguments.runs)
    print(document_text(found.to_dict()) if arguments.json else text)
    if arguments.out is not None:
        files = _written(arguments.out, found, text)
        print(f"written: {', '.join(map(str, files))}", file=sys.stderr)
    return EXIT_OURS if found.validation.broken else int(found.failed)


def _written(folder: Path, found: Validation, text: str) -> list[Path]:
    """Write figures, report and predictions. Return the paths."""
    import pandas as pd

    from ckptsim.analysis.figures import validation

    drawn = {}
    if pairs := found.validation.pairs():
        table = pd.DataFrame(pairs, columns=["family", "mode", "predicted", "measured"])
        drawn["predicted_and_measured.png"] = validation.predicted_and_measured(table)
    if sequences := found.validation.sequences:
        table = pd.concat([_sequence_table(one) for one in sequences], ignore_index=True)
        drawn["sequences.png"] = validation.sequences(table)
    for name, figure in drawn.items():
        buffer = io.BytesIO()
        figure.savefig(buffer, dpi=150, metadata={"Software": None})
        written_whole(folder / name, buffer.getvalue())
    written_whole(folder / "report.txt", f"{text}\n")
    written_whole(folder / "predictions.json", document_text(found.to_dict()))
    return [folder / name for name in (*drawn, "report.txt", "predictions.json")]


def _sequence_table(one: CheckpointSequence) -> pd.DataFrame:
    import pandas as pd

    columns = asdict(one)
    del columns["pauses"]
    return pd.DataFrame({"index": range(1, len(one.measured) + 1), **columns})


# Types of values ---------------------------------------------------------------------------------


def _price(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a price such as 0.005")
    return value


def _share(text: str) -> float:
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a share such as 2%")
    return value


_JOB = option("job_place", "a scenario, or a recording", "JOB.toml|DIR", place_named)
_PAGE = option("--out", "write the answer as a page, too", "PAGE.html", output_file)

VERBS = {
    "whatif": Verb(
        run=_whatif,
        options=(
            _JOB,
            *IMPORT,
            repeated(
                "--vary",
                "OPTION=A,B,...",
                "one variant for each value, and for each combination with other --vary",
            ),
            option(
                "--conf",
                "options of every variant: flink-conf.yaml, config.yaml, or a FlinkDeployment; "
                "--set overrides them",
                "FILE",
                Path,
            ),
            option(
                "--failure",
                "what a failure of this vertex would cost, too; without a name of the last one",
                "VERTEX",
                nargs="?",
                const=True,
                default=False,
            ),
            option(
                "--restart",
                "from a failure to the restart (default: what the job was set to, or 1 s)",
                "TIME",
            ),
            option("--seeds", "runs of each (default: 5)", type_=positive, default=5),
            *HOW_MUCH,
            option(
                "--master",
                "a Spark master, or `here` for this process; default: here, and local[*] where it "
                "would take minutes",
                "URL",
                default=_AUTO,
            ),
            _PAGE,
            option(
                "--view",
                "write a page in which you walk through the job as it is beside its first variant",
                "VIEW.html",
                output_file,
            ),
            json_of("the figures"),
        ),
        examples="""examples:
  ckptsim whatif recorded/ --set execution.checkpointing.unaligned.enabled=true
  ckptsim whatif orders --set parallelism.default=6 --out answer.html
  ckptsim whatif job.toml --vary 'execution.checkpointing.interval=500 ms,1 s,5 s'
  ckptsim whatif recorded/ --set 'source.orders.rate=3900 /s' --json
  ckptsim whatif recorded/ --conf flink-conf.yaml --vary interval="1 s,5 s"
  ckptsim whatif job.toml --set vertex.join.parallelism=4 --set 'vertex.join.state=20 mb'
  ckptsim whatif orders --failure join --restart 10s --vary execution.checkpointing.interval=1s,9s

Options have the engine's own names, or ours: source.NAME.KEY, vertex.NAME.KEY, or a path such as
job.network.latency.  A change that only says what the recording does not belongs to `import --set`.
exit codes: 0 done, 2 no such job, option or value""",
    ),
    "advise": Verb(
        run=_advise,
        options=(
            _JOB,
            *IMPORT,
            option("--mtbf", "mean time between failures", "TIME", required=True),
            option("--restart", "down after one (10 s)", "TIME", default=10.0),
            option("--rto", "most from failure to done", "TIME"),
            option("--max-reprocessed", "most records that a failure may undo", "N", int),
            option("--max-overhead", "most that checkpoints may take: 2%%", "SHARE", _share),
            option("--price-gb", "of a GB that is written (0)", "N", _price, default=0.0),
            option("--price-requests", "of 1,000 requests (0)", "N", _price, default=0.0),
            option("--modes", "which to compare (aligned,unaligned)", default="aligned,unaligned"),
            option(
                "--load",
                "load through the day: from each instant on, times the rates of the sources",
                "HH:MM=FACTOR,...",
            ),
            *HOW_MUCH,
            _PAGE,
            json_of("the figures"),
        ),
        examples="""examples:
  ckptsim advise orders --mtbf 30min --restart 20s
  ckptsim advise job.toml --mtbf 1h --restart 1min --max-reprocessed 50000
  ckptsim advise orders --mtbf 1h --restart 30s --rto 45s --modes aligned,unaligned --json
  ckptsim advise job.toml --mtbf 1d --load 00:00=0.3,08:00=1,20:00=60% --out advice.html

The cost of an interval is the share of time that taking checkpoints and doing again what failures
undo take together; both are simulated.  Young and Daly are what paper says with the same loss.
Checkpoints back to back are advised only where no other interval keeps the objectives.
exit codes: 0 done, 2 no such job, or nothing that meets the objectives' units""",
    ),
    "validate": Verb(
        run=_validate,
        options=(
            option("files", "measured runs", "FILE", Path, nargs="+"),
            option("--seeds", "seeds per run (default: 7)", type_=positive, default=7),
            option("--jobs", "processes (default: 1)", type_=positive, default=1),
            flag("--runs", "print every run, not only cells"),
            repeated(
                "--sequence",
                "RUN_ID",
                "print this run checkpoint by checkpoint, with the measured pauses (repeatable)",
            ),
            option(
                "--out",
                "write figures (predicted against measured, sequences), the report and the JSON "
                "there",
                "DIR",
                output_folder,
            ),
            json_of("predictions and scores"),
        ),
        examples="""examples:
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
exit codes: 0 done, 2 a line is not in the schema of measured runs, 3 a simulation failed""",
    ),
}
