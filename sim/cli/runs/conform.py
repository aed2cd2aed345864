"""`ckptsim conform`: run conformance vectors against a protocol core."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_USER, EXIT_VIOLATED
from ckptsim.sim.cli.options import add_ignore_argument
from ckptsim.sim.cli.subject import add_core_arguments, ran_with
from ckptsim.sim.conform.runner import (
    PROMISES,
    VectorOutcome,
    check_ignored,
    choose,
    declined,
    run_file,
    suites_of,
)
from ckptsim.sim.slots.resolve import Choice, read_cores, try_out

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
    choice = _choice(arguments)
    check_ignored(arguments.files, arguments.ignore)
    outcomes: list[VectorOutcome] = []
    problems: list[str] = []
    for path in arguments.files:
        try:
            for found in run_file(path, choice=choice):
                outcome = declined(found, arguments.ignore)
                outcomes.append(outcome)
                if not arguments.json:
                    _print(outcome)
        except UserError as error:  # the other files still say what they have to say
            problems += [line for line in str(error).splitlines() if line not in problems]
    if problems:
        print("ckptsim conform: " + "\n".join(problems), file=sys.stderr, flush=True)
    passed = sum(1 for o in outcomes if o.mismatch is None and o.skipped is None)
    failed = sum(1 for o in outcomes if o.mismatch is not None)
    skipped = len(outcomes) - passed - failed
    if arguments.json:
        print(json.dumps([asdict(o) for o in outcomes], indent=1))
    elif outcomes or not problems:
        tail = f", {skipped} skipped" if skipped else ""
        for what, name in ran_with(choice.names, choice.mutant):
            print(f"{what} {name}")
        left_out = dict.fromkeys(name for each in outcomes for name in each.left_out)
        if left_out:
            vectors = sum(1 for each in outcomes if each.left_out)
            print(f"left out of {vectors} vectors, since no host asks it: {', '.join(left_out)}")
        print(f"{passed} passed, {failed} failed{tail}")
    if problems:
        return EXIT_USER
    return EXIT_VIOLATED if failed else EXIT_FINE


def _choice(arguments: argparse.Namespace) -> Choice:
    """Return what stands in the slots of all files together.

    Raises UserError for cores and mutants that none of them is about.
    """
    if not arguments.core and arguments.mutant is None:
        return Choice()
    cores = read_cores(arguments.core, suites_of(arguments.files))
    choice = choose(arguments.files, cores=cores, mutant=arguments.mutant)
    try_out(cores, fenced=False)
    return choice


def _print(outcome: VectorOutcome) -> None:
    if outcome.skipped is not None:
        print(f"skipped {outcome.name}: {outcome.skipped}")
    elif outcome.mismatch is not None:
        found = outcome.mismatch
        print(
            f"FAILED {outcome.name} at {found.step}: expected {found.expected}, found {found.found}"
        )
