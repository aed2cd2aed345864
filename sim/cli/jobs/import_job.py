"""`ckptsim import`: make a scenario of a recording, and say how every value was found."""

from __future__ import annotations

import argparse
import json

from ckptsim.scenarios.job import Profile
from ckptsim.sim.answers.jobs.importing import import_job
from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.options import positive, repeated
from ckptsim.sim.cli.places import output_file
from ckptsim.sim.cli.progress import ProgressBar
from ckptsim.sim.infer.change import read_change
from ckptsim.sim.infer.folder import place_named
from ckptsim.sim.infer.tasks.machine import MachineChoice

EXAMPLES = """examples:
  ckptsim import orders --out job.toml             a recording that is shipped
  ckptsim import recorded/ --out job.toml
  ckptsim import recorded/ --out job.toml --set 'source.orders.rate=3900 /s'
  ckptsim import recorded/ --out job.toml --machine recorded --seeds 9
  ckptsim import recorded/ --out job.toml --json > imported.json

A recording is a folder that `ckptsim capture` wrote, or one made with curl in the same format.  The
last line says how far a replay of the job as it is agrees with what was measured: good, fair, or do
not trust, with the reason.
exit codes: 0 the scenario was written, 2 the recording says too little of a job"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument(
        "folder", type=place_named, metavar="DIR", help="a recording; `orders` is shipped"
    )
    parser.add_argument(
        "--out", type=output_file, required=True, metavar="JOB.toml", help="the file to write"
    )
    add_import_arguments(parser)
    parser.add_argument("--seeds", type=positive, default=3, help="of the replay (default: 3)")
    parser.add_argument("--no-replay", action="store_true", help="do not simulate the job as it is")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def add_import_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what decides how a recording becomes a scenario."""
    parser.add_argument("--job", metavar="ID", help="which one, if several were recorded")
    parser.add_argument(
        "--machine",
        type=MachineChoice,
        choices=list(MachineChoice),
        default=MachineChoice.QUIET,
        help="the machine that answers are for: one with nothing else to do (default), or as busy "
        "as while it was recorded",
    )
    parser.add_argument(
        "--profile",
        type=Profile,
        choices=list(Profile),
        default=Profile.PLAIN,
        help="whose constants hold for a recording: plain (default), or rig for the recordings "
        "that are shipped",
    )
    repeated(
        parser,
        "--set",
        "OPTION=VALUE",
        "say what the recording does not, by the engine's name or ours; may be repeated",
    )


def run(arguments: argparse.Namespace) -> int:
    """Import a recording, write the scenario, replay it and compare."""
    seeds = 0 if arguments.no_replay else arguments.seeds
    with ProgressBar("replay") as bar:
        found = import_job(
            arguments.folder,
            read_change(arguments.set),
            out=arguments.out,
            job=arguments.job,
            machine=arguments.machine,
            profile=arguments.profile,
            seeds=seeds,
            progress=lambda done: bar(done=done, total=seeds),
        )
    if arguments.json:
        print(json.dumps(found.document(arguments.out), indent=1))
    else:
        print("\n".join(found.lines(arguments.out)))
    return EXIT_FINE
