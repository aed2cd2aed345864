"""`ckptsim whatif`: a job as it is, measured and predicted, beside the job as it would be."""

from __future__ import annotations

import argparse
import json
import sys

from ckptsim.scenarios.files import written_whole
from ckptsim.sim.answers.jobs import what_if
from ckptsim.sim.answers.jobs.answer import Answer
from ckptsim.sim.cli.jobs.import_job import add_import_arguments
from ckptsim.sim.cli.jobs.runner import add_master_argument, run_scenarios
from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.places import output_file
from ckptsim.sim.cli.subject import positive
from ckptsim.sim.infer.change import read_change, read_values
from ckptsim.sim.infer.folder import job_named, place_named
from ckptsim.sim.recording.values import duration_ns

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
    parser.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="OPTION=A,B,...",
        help="one variant for each value, and for each combination with other --vary",
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
    named = job_named(arguments.job_place, job=arguments.job, machine=arguments.machine)
    return what_if.answer_to(
        named,
        question,
        lambda runs, says: run_scenarios(runs, master=arguments.master, says=says),
    )
