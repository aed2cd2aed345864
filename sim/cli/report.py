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
    """Aggregate the tables, on Spark where there are many rows, draw, and name the page."""
    from ckptsim.analysis.findings import wants_spark
    from ckptsim.analysis.report import sweeps_in, write_report
    from ckptsim.analysis.session import spark_session

    def begins(name: str) -> None:
        say(f"  {name}")

    if any(wants_spark(store) for store in sweeps_in(arguments.directory)):
        say("starting Spark")
        with spark_session() as session:
            path = write_report(arguments.directory, session, begins=begins)
    else:
        path = write_report(arguments.directory, begins=begins)
    print(f"report: {path}")
    return EXIT_FINE
