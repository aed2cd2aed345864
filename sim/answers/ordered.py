"""The answer of `order`: the states that the ordering core releases of Airbyte messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path

from ckptsim.models import ordering
from ckptsim.sim.order import BatchRules, Destination, Summary
from ckptsim.sim.order.destination import read_catalog


def order(
    lines: Iterable[bytes],
    emit: Callable[[str], None],
    *,
    medium: str = "stdio",
    catalog: Path | None = None,
    rules: BatchRules | None = None,
) -> Summary:
    """Read messages, hand every state that may be released to `emit`, and return what came.

    Raises UserError for a line that is no message, and for a catalog that is none.
    """
    travelled = ordering.Medium[medium.upper()]
    streams = None if catalog is None else read_catalog(catalog)
    destination = Destination(
        ordering.make_core(ordering.OrderingParameters(medium=travelled, streams=streams or ())),
        travelled,
        rules or BatchRules(),
        emit,
        catalog=streams,
    )
    for number, line in enumerate(lines, start=1):
        destination.read(line, number)
    return destination.finish()


def summary_text(summary: Summary) -> str:
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


def summary_document(summary: Summary) -> dict[str, object]:
    """Return what `--json` prints."""
    failure = summary.failure
    return {
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
