"""`ckptsim report`: turn the tables of sweeps into one page with figures."""

from __future__ import annotations

import argparse
from pathlib import Path

from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.progress import say

EXAMPLES = """examples:
  ckptsim report out/uploads
  ckptsim report out/demo        # a directory with several sweeps gives one page"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("directory", type=Path, metavar="DIR", help="what `sweep` has written")


def run(arguments: argparse.Namespace) -> int:
    """Aggregate the tables on Spark, draw, and name the page."""
    from ckptsim.analysis.report import sweeps_in, write_report
    from ckptsim.analysis.session import spark_session

    sweeps_in(arguments.directory)  # a wrong directory is told before Spark starts
    say("starting Spark")
    with spark_session() as session:
        path = write_report(session, arguments.directory, begins=lambda name: say(f"  {name}"))
    print(f"report: {path}")
    return EXIT_FINE
