"""`ckptsim conform`: run conformance vectors against a protocol core."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from ckptsim.sim.answers.conforming import conform
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_USER, EXIT_VIOLATED
from ckptsim.sim.cli.options import add_ignore_argument
from ckptsim.sim.cli.subject import add_core_arguments, ran_with
from ckptsim.sim.conform.runner import PROMISES, VectorOutcome, suites_of
from ckptsim.sim.slots.resolve import read_cores

EXAMPLES = """examples:
  ckptsim conform tests/data/vectors/ordering.jsonl
  ckptsim conform tests/data/vectors/*.jsonl --json
  ckptsim conform tests/data/vectors/ordering.jsonl --core my_package.my_module:make_core
  ckptsim conform tests/data/vectors/ordering.jsonl --mutant gaps_tolerated"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="vectors, JSON lines")
    add_core_arguments(parser)
    add_ignore_argument(
        parser,
        says="do not judge this vector, or what rests on this property of the ordering core "
        f"({', '.join(PROMISES)}); may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="print the outcomes as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Run every file's vectors, print those that fail, and end with the counts.

    What is no vector is told before them, with exit code 2; where nothing ran there are no counts.
    """
    found = conform(
        arguments.files,
        cores=read_cores(arguments.core, suites_of(arguments.files)) if arguments.core else None,
        mutant=arguments.mutant,
        ignore=arguments.ignore,
        told=id if arguments.json else _print,
    )
    outcomes, problems, choice = found.outcomes, found.problems, found.choice
    if problems:
        print("ckptsim conform: " + "\n".join(problems), file=sys.stderr, flush=True)
    if arguments.json:
        print(json.dumps([asdict(o) for o in outcomes], indent=1))
    elif outcomes or not problems:
        for what, name in ran_with(choice.names, choice.mutant):
            print(f"{what} {name}")
        left_out = dict.fromkeys(name for each in outcomes for name in each.left_out)
        if left_out:
            vectors = sum(1 for each in outcomes if each.left_out)
            print(f"left out of {vectors} vectors, since no host asks it: {', '.join(left_out)}")
        print(found.counts())
    if problems:
        return EXIT_USER
    return EXIT_VIOLATED if found.failed else EXIT_FINE


def _print(outcome: VectorOutcome) -> None:
    if outcome.skipped is not None:
        print(f"skipped {outcome.name}: {outcome.skipped}")
    elif outcome.mismatch is not None:
        found = outcome.mismatch
        print(
            f"FAILED {outcome.name} at {found.step}: expected {found.expected}, found {found.found}"
        )
