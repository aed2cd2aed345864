"""`conform` and `order`: conformance vectors against a core, and real Airbyte messages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from ckptsim._api.pages.vectors import conformance, ordered, outcome_text
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.cli.main import EXIT_USER
from ckptsim.sim.cli.options import CORES, Option, Verb, json_of, option, repeated, whole
from ckptsim.sim.cli.printing import document_text
from ckptsim.sim.conform.runner import PROMISES, VectorOutcome
from ckptsim.sim.order import BatchRules

_RULES = BatchRules()


def _conform(arguments: argparse.Namespace) -> int:

    def ran(one: VectorOutcome) -> None:
        if not arguments.json and outcome_text(one):
            print(outcome_text(one))

    found = conformance(
        arguments.files,
        core=arguments.core,
        mutant=arguments.mutant,
        ignore=arguments.ignore,
        ran=ran,
    )
    if found.problems:
        print("ckptsim conform: " + "\n".join(found.problems), file=sys.stderr, flush=True)
    if arguments.json:
        print(document_text(found.to_dict()["outcomes"]))
    elif found.outcomes or not found.problems:
        print(found.closing)
    return EXIT_USER if found.problems else int(found.failed)


def _order(arguments: argparse.Namespace) -> int:
    rules = BatchRules(
        batch_records=arguments.batch_records,
        batch_age_messages=arguments.batch_age,
        upload_delay_messages=arguments.batch_delay,
    )
    found = ordered(
        _stdin() if arguments.file == "-" else arguments.file,
        (),
        lambda line: print(line, flush=True),
        medium=arguments.medium,
        catalog=arguments.catalog,
        rules=rules,
    )
    import json

    print(json.dumps(found.to_dict()) if arguments.json else found.text, file=sys.stderr)
    return int(found.failed)


def _stdin() -> Iterable[bytes]:
    if sys.stdin is None:
        raise UserError("FILE: found -, but stdin is closed, expected messages there")
    return sys.stdin.buffer


def _count(name: str, default: int, least: int, says: str) -> Option:
    return option(name, f"{says} (default: {default})", "N", whole(least), default=default)


VERBS = {
    "conform": Verb(
        run=_conform,
        options=(
            option("files", "vectors, JSON lines", "FILE", Path, nargs="+"),
            *CORES,
            repeated(
                "--ignore",
                "NAME",
                "do not judge this vector, or what rests on this property of the ordering core "
                f"({', '.join(PROMISES)}); may be repeated",
            ),
            json_of("the outcomes"),
        ),
        examples="""examples:
  ckptsim conform tests/data/vectors/ordering.jsonl
  ckptsim conform tests/data/vectors/*.jsonl --json
  ckptsim conform tests/data/vectors/ordering.jsonl --core my_package.my_module:make_core
  ckptsim conform tests/data/vectors/ordering.jsonl --mutant gaps_tolerated""",
    ),
    "order": Verb(
        run=_order,
        options=(
            option("file", "Airbyte messages as JSON lines; - for stdin", "FILE"),
            option(
                "--medium",
                "how the messages travelled: states carry keys on sockets only (default: stdio)",
                choices=("stdio", "socket"),
                default="stdio",
            ),
            option(
                "--catalog",
                "configured catalog; without it streams are learnt as they come",
                type_=Path,
            ),
            _count("--batch-records", _RULES.batch_records, 1, "records in a full batch"),
            _count(
                "--batch-age", _RULES.batch_age_messages, 1, "messages until a batch is too old"
            ),
            _count("--batch-delay", _RULES.upload_delay_messages, 0, "messages an upload takes"),
            json_of("the summary"),
        ),
        examples="""examples:
  ckptsim order tests/data/airbyte/source_faker.jsonl
  source-faker read --config config.json --catalog catalog.json | ckptsim order -
  ckptsim order recording.jsonl --medium socket --batch-records 50 --batch-delay 20

STATE messages go to stdout as soon as they may be released, everything else to stderr.  Records
are durable by batch size, batch age and upload delay, all counted in messages, never in seconds.
exit codes: 0 every state was released, 1 some were not, 2 a line is not a message""",
    ),
}
