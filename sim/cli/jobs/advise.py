"""`ckptsim advise`: which interval and mode of checkpoints cost a job least, for given failures."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace

from ckptsim.scenarios.files import written_whole
from ckptsim.scenarios.job import Mode
from ckptsim.sim.answers.jobs.advice_text import document_of, lines_of, page_of
from ckptsim.sim.answers.jobs.advise import MODES, Wish, advise
from ckptsim.sim.cli.jobs.import_job import add_import_arguments
from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.places import output_file
from ckptsim.sim.cli.progress import ProgressBar
from ckptsim.sim.infer.advice.day import read_load
from ckptsim.sim.infer.change import changed, read_change
from ckptsim.sim.infer.folder import job_named, place_named
from ckptsim.sim.recording.values import duration_ns

EXAMPLES = """examples:
  ckptsim advise orders --mtbf 30min --restart 20s
  ckptsim advise job.toml --mtbf 1h --restart 1min --max-reprocessed 50000
  ckptsim advise orders --mtbf 1h --restart 30s --rto 45s --modes aligned,unaligned --json
  ckptsim advise job.toml --mtbf 1d --load 00:00=0.3,08:00=1,20:00=60% --out advice.html

The cost of an interval is the share of time that taking checkpoints and doing again what failures
undo take together; both are simulated.  Young and Daly are what paper says with the same loss.
Checkpoints back to back are advised only where no other interval keeps the objectives.
exit codes: 0 done, 2 no such job, or nothing that meets the objectives' units"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument(
        "job_place", type=place_named, metavar="JOB.toml|DIR", help="a scenario, or a recording"
    )
    add_import_arguments(parser)
    parser.add_argument(
        "--mtbf", type=_seconds, required=True, metavar="TIME", help="mean time between failures"
    )
    parser.add_argument(
        "--restart", type=_seconds, default=10.0, metavar="TIME", help="down after one (10 s)"
    )
    parser.add_argument("--rto", type=_seconds, metavar="TIME", help="most from failure to done")
    parser.add_argument(
        "--max-reprocessed", type=int, metavar="N", help="most records that a failure may undo"
    )
    parser.add_argument(
        "--max-overhead", type=_share, metavar="SHARE", help="most that checkpoints may take: 2%%"
    )
    parser.add_argument(
        "--modes", type=_modes, default=MODES, help="which to compare (aligned,unaligned)"
    )
    parser.add_argument(
        "--load",
        metavar="HH:MM=FACTOR,...",
        help="load through the day: from each instant on, times the rates of the sources",
    )
    parser.add_argument(
        "--out", type=output_file, metavar="PAGE.html", help="write the advice as a page, too"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Simulate intervals in each mode, and say which one costs least."""
    named = job_named(
        arguments.job_place,
        job=arguments.job,
        machine=arguments.machine,
        profile=arguments.profile,
    )
    named = replace(named, scenario=changed(named.scenario, read_change(arguments.set)))
    wish = Wish(
        mtbf_s=arguments.mtbf,
        restart_s=arguments.restart,
        rto_s=arguments.rto,
        max_reprocessed=arguments.max_reprocessed,
        max_overhead=arguments.max_overhead,
        modes=arguments.modes,
        load=None if arguments.load is None else read_load(arguments.load),
    )
    with ProgressBar("advise") as bar:
        answer = advise(named, wish, ran=bar.step)
    if arguments.json:
        print(json.dumps(document_of(answer), indent=1))
    else:
        print("\n".join(lines_of(answer)))
    if arguments.out is not None:
        written_whole(arguments.out, page_of(named.scenario.name, answer))
        print(f"written: {arguments.out}", file=sys.stderr)
    return EXIT_FINE


# Arguments ---------------------------------------------------------------------------------------


def _seconds(text: str) -> float:
    found = duration_ns(text) if not text.isdigit() else None
    if found is None or found <= 0:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a time such as 30min or 20s")
    return found / 1e9


def _share(text: str) -> float:
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a share such as 2%")
    return value


def _modes(text: str) -> tuple[Mode, ...]:
    known = {mode.value: mode for mode in Mode}
    words = [word.strip() for word in text.split(",")]
    if not all(word in known for word in words):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected some of {', '.join(known)}")
    return tuple(known[word] for word in words)
