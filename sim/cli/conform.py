"""`ckptsim conform`: run conformance vectors against a protocol core."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_VIOLATED
from ckptsim.sim.conform.runner import VectorOutcome, run_file
from ckptsim.sim.plugins import load_factory

EXAMPLES = """examples:
  ckptsim conform tests/data/vectors/ordering.jsonl
  ckptsim conform tests/data/vectors/*.jsonl --json
  ckptsim conform tests/data/vectors/ordering.jsonl --core my_package.my_module:make_core
  ckptsim conform tests/data/vectors/ordering.jsonl --mutant gaps_tolerated"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="vectors, JSON lines")
    parser.add_argument("--core", metavar="MODULE:FACTORY", help="run this core instead of ours")
    parser.add_argument("--mutant", metavar="NAME", help="run a mutant of our core")
    parser.add_argument("--json", action="store_true", help="print the outcomes as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Run every file's vectors, print those that fail, and end with the counts.

    Raises UserError behind the counts when a file or lines of it are not vectors.
    """
    factory = load_factory(arguments.core) if arguments.core else None
    outcomes: list[VectorOutcome] = []
    problems: list[str] = []
    for path in arguments.files:
        try:
            for outcome in run_file(path, factory=factory, mutant=arguments.mutant):
                outcomes.append(outcome)
                if not arguments.json:
                    _print(outcome)
        except UserError as error:  # the other files still say what they have to say
            problems += [line for line in str(error).splitlines() if line not in problems]
    passed = sum(1 for o in outcomes if o.mismatch is None and o.skipped is None)
    failed = sum(1 for o in outcomes if o.mismatch is not None)
    skipped = len(outcomes) - passed - failed
    if arguments.json:
        print(json.dumps([asdict(o) for o in outcomes], indent=1))
    else:
        tail = f", {skipped} skipped" if skipped else ""
        print(f"{passed} passed, {failed} failed{tail}")
    if problems:
        raise UserError("\n".join(problems))
    return EXIT_VIOLATED if failed else EXIT_FINE


def _print(outcome: VectorOutcome) -> None:
    if outcome.skipped is not None:
        print(f"skipped {outcome.name}: {outcome.skipped}")
    elif outcome.mismatch is not None:
        found = outcome.mismatch
        print(
            f"FAILED {outcome.name} at {found.step}: expected {found.expected}, found {found.found}"
        )
