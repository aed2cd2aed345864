"""`ckptsim schema`: the JSON Schema of scenario files and plans, for editors and other programs."""

from __future__ import annotations

import argparse
import json

from ckptsim.scenarios.files.json_schema import json_schema
from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.places import output_file

EXAMPLES = """examples:
  ckptsim schema > ckptsim.schema.json
  ckptsim schema --out ckptsim.schema.json

Editors for TOML complete and check a file whose first line names the schema:
  #:schema ./ckptsim.schema.json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument(
        "--out", type=output_file, metavar="FILE", help="where to write it; otherwise it is printed"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print or write the schema."""
    text = json.dumps(json_schema(), indent=1, ensure_ascii=False)
    if arguments.out is None:
        print(text)
        return EXIT_FINE
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(text + "\n", encoding="utf-8")
    print(f"written to {arguments.out}; a TOML file names it in a line: #:schema {arguments.out}")
    return EXIT_FINE
