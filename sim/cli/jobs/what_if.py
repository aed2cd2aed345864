"""`ckptsim whatif`: a job as it is, measured and predicted, beside the job as it would be."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import cast

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.files import written_whole
from ckptsim.scenarios.job import Job
from ckptsim.sim.answers.jobs import what_if
from ckptsim.sim.answers.jobs.answer import Answer
from ckptsim.sim.cli.jobs.import_job import add_import_arguments
from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.options import positive, repeated, spark_settings
from ckptsim.sim.cli.places import output_file
from ckptsim.sim.cli.progress import ProgressBar, say
from ckptsim.sim.infer.advice.budget import records_per_s
from ckptsim.sim.infer.change import read_change, read_values
from ckptsim.sim.infer.folder import job_named, place_named
from ckptsim.sim.recording.values import duration_ns
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world

EXAMPLES = """examples:
  ckptsim whatif recorded/ --set execution.checkpointing.unaligned.enabled=true
  ckptsim whatif orders --set parallelism.default=6 --out answer.html
  ckptsim whatif job.toml --vary 'execution.checkpointing.interval=500 ms,1 s,5 s'
  ckptsim whatif recorded/ --set 'source.orders.rate=3900 /s' --json
  ckptsim whatif job.toml --set vertex.join.parallelism=4 --set 'vertex.join.state=20 mb'
  ckptsim whatif orders --failure join --restart 10s --vary execution.checkpointing.interval=1s,9s

Options have the engine's own names, or ours: source.NAME.KEY, vertex.NAME.KEY, or a path such as
job.network.latency.  A change that only says what the recording does not belongs to `import --set`.
exit codes: 0 done, 2 no such job, option or value"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument(
        "job_place", type=place_named, metavar="JOB.toml|DIR", help="a scenario, or a recording"
    )
    add_import_arguments(parser)
    repeated(
        parser,
        "--vary",
        "OPTION=A,B,...",
        "one variant for each value, and for each combination with other --vary",
    )
    parser.add_argument(
        "--failure",
        nargs="?",
        const=what_if.LAST,
        metavar="VERTEX",
        help="what a failure of this vertex would cost, too; without a name of the last one",
    )
    parser.add_argument(
        "--restart",
        type=_restart_ns,
        metavar="TIME",
        help="from a failure to the restart (default: what the job was set to, or 1 s)",
    )
    parser.add_argument("--seeds", type=positive, default=5, help="runs of each (default: 5)")
    add_master_argument(parser)
    parser.add_argument(
        "--out", type=output_file, metavar="PAGE.html", help="write the answer as a page, too"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def _restart_ns(text: str) -> int:
    found = duration_ns(text)
    if found is None or found < 0 or text.isdigit():
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a time such as 10s or 500 ms")
    return found


def run(arguments: argparse.Namespace) -> int:
    """Simulate the job as it is and every variant, and compare."""
    answer = answer_to(arguments)
    if arguments.json:
        print(json.dumps(answer.document(), indent=1))
    else:
        print("\n".join(answer.lines()))
    if arguments.out is not None:
        written_whole(arguments.out, answer.page())
        print(f"written: {arguments.out}", file=sys.stderr)
    return EXIT_FINE


def answer_to(arguments: argparse.Namespace) -> Answer:
    """Return the answer to a command line of this verb.

    Raises UserError for what is no question, and for a job, option or value that cannot be.
    """
    question = what_if.Question(
        change=read_change(arguments.set),
        varied=read_values(arguments.vary),
        failure=arguments.failure,
        restart_ns=arguments.restart,
        seeds=arguments.seeds,
    )
    named = job_named(
        arguments.job_place,
        job=arguments.job,
        machine=arguments.machine,
        profile=arguments.profile,
    )
    return what_if.answer_to(
        named,
        question,
        lambda runs, says: run_scenarios(runs, master=arguments.master, says=says),
    )


# Records that one core simulates in some 90 s, measured on the shipped recordings.  Starting Spark
# takes some 5 s, so that less is done sooner without.
_MUCH = 60_000_000
HERE = "here"
_AUTO = "auto"


def add_master_argument(parser: argparse.ArgumentParser) -> None:
    """Declare where runs are carried out."""
    parser.add_argument(
        "--master",
        default=_AUTO,
        metavar="URL",
        help="a Spark master, or `here` for this process; default: here, and local[*] where it "
        "would take minutes",
    )


def run_scenarios(
    runs: Sequence[tuple[Scenario, int]], *, master: str, says: str
) -> list[RunResult]:
    """Return the results of scenarios with their seeds, in their order, without judgements."""
    if master == _AUTO:
        installed = find_spec("pyspark") is not None
        records = sum(_records_of(cast("Job", scenario.model)) for scenario, _ in runs)
        master = "local[*]" if installed and records > _MUCH else HERE
    with ProgressBar(says) as bar:
        if master == HERE:
            found = []
            for scenario, seed in runs:
                found.append(run_world(scenario, seed=seed, judged=False))
                bar(done=len(found), total=len(runs))
            return found
        from ckptsim.analysis.spark.session import spark_session
        from ckptsim.analysis.sweeps.results import run_all

        say(f"starting Spark on {master}")
        with spark_session(checked_master(master)) as session:
            return run_all(session, runs, progress=lambda done: bar(done=done, total=len(runs)))


def checked_master(master: str) -> str:
    """Return a Spark master; raises UserError for what cannot be one."""
    spark_settings(argparse.Namespace(master=master, partitions=None, conf=[]))
    return master


def _records_of(job: Job) -> float:
    """Return about how many records a run processes until its last checkpoint, or its end."""
    run_ns = job.duration_ns
    if job.checkpointing.count is not None:
        run_ns = min(run_ns, (job.checkpointing.count + 1) * job.checkpointing.interval_ns)
    return records_per_s(job) * run_ns / 1e9
