"""`ckptsim order`: the ordering core as a destination for real Airbyte messages."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from ckptsim.models import ordering
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_VIOLATED
from ckptsim.sim.cli.options import whole
from ckptsim.sim.order import BatchRules, Destination, Summary
from ckptsim.sim.order.destination import read_catalog

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
    medium = ordering.Medium[arguments.medium.upper()]
    catalog = None if arguments.catalog is None else read_catalog(arguments.catalog)
    destination = Destination(
        ordering.make_core(ordering.OrderingParameters(medium=medium, streams=catalog or ())),
        medium,
        BatchRules(
            batch_records=arguments.batch_records,
            batch_age_messages=arguments.batch_age,
            upload_delay_messages=arguments.batch_delay,
        ),
        emit=lambda line: print(line, flush=True),
        catalog=catalog,
    )
    for number, line in enumerate(_lines(arguments.file), start=1):
        destination.read(line, number)
    summary = destination.finish()
    print(_as_json(summary) if arguments.json else _as_text(summary), file=sys.stderr)
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


def _as_text(summary: Summary) -> str:
    """Return the summary as a short table and the verdict."""
    rows = [("stream", "records", "committed", "states", "released", "status")]
    rows += [
        (
            str(stream),
            str(found.records_read),
            str(found.records_committed),
            str(found.states_read),
            str(found.states_sent),
            found.status or "-",
        )
        for stream, found in summary.streams.items()
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    read = f"{summary.messages} messages: {summary.records_read} records, "
    sent = f"{summary.states_read} states; {summary.states_sent} states released, "
    committed = f"{summary.records_committed} records committed in {summary.batches} batches"
    lines = [read + sent + committed]
    lines += ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    if summary.counts_differing:
        lines.append(f"{summary.counts_differing} states count other records than the source said")
    lines += [f"the source reported an error: {error}" for error in summary.source_errors]
    if summary.failure is not None:
        lines.append(f"FAILED: {summary.failure}")
    return "\n".join(lines)


def _as_json(summary: Summary) -> str:
    failure = summary.failure
    return json.dumps(
        {
            "messages": summary.messages,
            "records_read": summary.records_read,
            "records_committed": summary.records_committed,
            "states_read": summary.states_read,
            "states_released": summary.states_sent,
            "batches": summary.batches,
            "counts_differing": summary.counts_differing,
            "streams": [
                {"name": stream.name, "namespace": stream.namespace, **asdict(found)}
                for stream, found in summary.streams.items()
            ],
            "source_errors": summary.source_errors,
            "failure": None
            if failure is None
            else {
                "kind": failure.kind,
                "incomplete": [str(stream) for stream in failure.incomplete],
                "blocked": [_blocked_json(blocked) for blocked in failure.blocked],
            },
        }
    )


def _blocked_json(blocked: ordering.Blocked) -> dict[str, object]:
    short = blocked.shortfall
    return {
        "scope": ordering.scope_text(blocked.scope),
        "next_index": blocked.next_index,
        "lowest_index": blocked.lowest,
        "pending": blocked.pending,
        "obstacle": blocked.obstacle.name.lower(),
        "expected": None if short is None else short.expected,
        "found": None if short is None else short.found,
        "says": str(blocked),
    }
