"""`ckptsim order`: the ordering core as a destination for real Airbyte messages."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from ckptsim.models import ordering
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.answers.ordered import order, summary_document, summary_text
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_VIOLATED
from ckptsim.sim.cli.options import whole
from ckptsim.sim.order import BatchRules

EXAMPLES = """examples:
  ckptsim order tests/data/airbyte/source_faker.jsonl
  source-faker read --config config.json --catalog catalog.json | ckptsim order -
  ckptsim order recording.jsonl --medium socket --batch-records 50 --batch-delay 20

STATE messages go to stdout as soon as they may be released, everything else to stderr.  Records
are durable by batch size, batch age and upload delay, all counted in messages, never in seconds.
exit codes: 0 every state was released, 1 some were not, 2 a line is not a message"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    defaults = BatchRules()
    parser.add_argument("file", metavar="FILE", help="Airbyte messages as JSON lines; - for stdin")
    parser.add_argument(
        "--medium",
        choices=[medium.name.lower() for medium in ordering.Medium],
        default="stdio",
        help="how the messages travelled: states carry keys on sockets only (default: stdio)",
    )
    parser.add_argument(
        "--catalog",
        type=Path,
        help="configured catalog; without it streams are learnt as they come",
    )
    _add_count(parser, "--batch-records", defaults.batch_records, 1, "records in a full batch")
    _add_count(
        parser, "--batch-age", defaults.batch_age_messages, 1, "messages until a batch is too old"
    )
    _add_count(
        parser, "--batch-delay", defaults.upload_delay_messages, 0, "messages an upload takes"
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Read all messages, write released states to stdout and a summary to stderr."""
    summary = order(
        _lines(arguments.file),
        lambda line: print(line, flush=True),
        medium=arguments.medium,
        catalog=arguments.catalog,
        rules=BatchRules(
            batch_records=arguments.batch_records,
            batch_age_messages=arguments.batch_age,
            upload_delay_messages=arguments.batch_delay,
        ),
    )
    said = json.dumps(summary_document(summary)) if arguments.json else summary_text(summary)
    print(said, file=sys.stderr)
    return EXIT_FINE if summary.failure is None else EXIT_VIOLATED


def _add_count(
    parser: argparse.ArgumentParser, name: str, default: int, least: int, says: str
) -> None:
    parser.add_argument(
        name, type=whole(least), default=default, metavar="N", help=f"{says} (default: {default})"
    )


def _lines(name: str) -> Iterator[bytes]:
    """Yield the lines of a file, or of stdin as they come."""
    if name == "-":
        if sys.stdin is None:
            raise UserError("FILE: found -, but stdin is closed, expected messages there")
        yield from sys.stdin.buffer
        return
    try:
        with Path(name).open("rb") as source:
            yield from source
    except OSError as error:
        raise UserError(f"{name}: cannot be read: {error.strerror}") from error
