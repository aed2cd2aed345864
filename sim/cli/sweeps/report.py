"""`ckptsim report`: turn the tables of sweeps into one page with figures."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path

from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.options import repeated
from ckptsim.sim.cli.places import kept_folder
from ckptsim.sim.cli.progress import say

EXAMPLES = """examples:
  ckptsim report out/uploads --open
  ckptsim report out/demo        # a directory with several sweeps gives one page
  ckptsim report out/modes --metric p95_latency_ns --metric persisted_bytes
  ckptsim report out/modes --by "checkpoint mode" --points "service time of a record=1 ms"
  ckptsim report out/modes --compare out/modes-before    # point by point, paired by seed"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument(
        "directory", type=kept_folder, metavar="DIR", help="what `sweep` has written"
    )
    repeated(
        parser, "--metric", "M", "answer with this metric instead of the plan's; may be repeated"
    )
    parser.add_argument(
        "--by", metavar="PARAM", help="lay figures and sentences along this swept parameter"
    )
    repeated(parser, "--points", "PARAM=VALUE", "only points with this value; may be repeated")
    parser.add_argument(
        "--compare",
        type=Path,
        metavar="OTHER_DIR",
        help="compare each point with the same one of another sweep of the plan",
    )
    parser.add_argument("--open", action="store_true", help="open the page in a browser")


def run(arguments: argparse.Namespace) -> int:
    """Draw the summaries, made anew on Spark where rows are newer, and name the page."""
    from ckptsim.analysis.report import View, write_report

    view = View(
        metrics=tuple(arguments.metric),
        by=arguments.by,
        points=tuple(arguments.points),
        compare=arguments.compare,
    )
    path = write_report(arguments.directory, view=view, begins=lambda name: say(f"  {name}"))
    print(f"report: {path}")
    if arguments.open and not webbrowser.open(path.resolve().as_uri()):
        say("there is no browser here")
    return EXIT_FINE
