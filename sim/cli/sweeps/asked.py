"""The options that say what is swept."""

from __future__ import annotations

import argparse
from pathlib import Path

from ckptsim.sim.cli.subject import positive


def add_asked_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what is swept, with which seeds, and what is asked of it."""
    parser.add_argument(
        "plan",
        metavar="PLAN|SCENARIO",
        help="a plan's name or the path of its file; with --vary also a scenario's",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help="set a parameter at all points, by its path or Flink's name; may be repeated",
    )
    parser.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="PATH=A,B,...",
        help="sweep these values, in each combination with others: of a parameter, of core.SLOT "
        "(`builtin` is ours), or of `mutant` (`none` is right); may be repeated",
    )
    parser.add_argument(
        "--seeds",
        "--replications",
        type=positive,
        metavar="N",
        help="runs of each point; default: the plan's, of a scenario 10",
    )
    parser.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="M",
        help="answer with this metric, such as ended_ns; default: the plan's; may be repeated",
    )
    parser.add_argument(
        "--save-plan", type=Path, metavar="FILE", help="write what is swept as a plan, too"
    )
