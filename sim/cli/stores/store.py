"""`ckptsim store`: look into a store file without changing it."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from ckptsim.sim.cli.main import EXIT_FINE, EXIT_VIOLATED

EXAMPLES = """examples:
  ckptsim store runs.duckdb
  ckptsim store orders.duckdb --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a store file")
    parser.add_argument("--json", action="store_true", help="print the contents as JSON")


def run(arguments: argparse.Namespace) -> int:
    """List the partitions of a store; a damaged checkpoint is exit code 1."""
    from ckptsim.sim.store.real import inspect_store

    contents = inspect_store(arguments.file)
    damaged = any(each.damage is not None for each in contents.partitions)
    if arguments.json:
        document = asdict(contents) | {"path": str(contents.path)}
        print(json.dumps(document, indent=1))
        return EXIT_VIOLATED if damaged else EXIT_FINE
    facts = ", ".join(f"{name} {value}" for name, value in contents.about.items())
    print(f"{contents.path}: {facts}")
    print(f"{'partition':<40} {'rows':>8} {'position':>10} {'blob bytes':>10}  checkpoint")
    for each in contents.partitions:
        state = each.checkpoint
        position = "-" if state is None else str(state.position)
        size = "-" if each.blob_bytes is None else str(each.blob_bytes)
        note = f"DAMAGED: {each.damage}" if each.damage is not None else ""
        if state is not None:
            note = "end of push" if state.end_of_push else "no end of push"
        elif each.damage is None:
            note = "none" if each.blob_bytes is None else "a blob of the user's"
        print(f"{each.key!s:<40} {each.rows:>8} {position:>10} {size:>10}  {note}")
    return EXIT_VIOLATED if damaged else EXIT_FINE
