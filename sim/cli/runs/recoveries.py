"""The recoveries of a run as people read them: a line each, or a line per cause of many."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ckptsim.scenarios.dialect import duration_text, in_units, size_text
from ckptsim.sim.answers.columns import aligned
from ckptsim.sim.rows import RecoveryRow

_LINES_MAX = 12
_HEAD = ("downtime", "bytes read", "done again", "caught up")


def recoveries_text(rows: Sequence[RecoveryRow]) -> str:
    """Return the recoveries of a run, with what each cost; of many those of a cause together."""
    head: tuple[str, ...]
    lines: list[tuple[str, ...]]
    if len(rows) <= _LINES_MAX:
        head = ("failed at", "restored from", *_HEAD, "cause")
        lines = [
            (
                duration_text(row.failed_ns),
                row.restored_from or "nothing",
                *_costs([row]),
                in_units(row.cause),
            )
            for row in rows
        ]
    else:
        head = ("recoveries", *_HEAD, "cause")
        causes = dict.fromkeys(row.cause for row in rows)
        groups = [[row for row in rows if row.cause == cause] for cause in causes]
        groups.sort(key=len, reverse=True)
        lines = [
            (f"{len(own):,}", *_costs(own), in_units(own[0].cause)) for own in groups[:_LINES_MAX]
        ]
        rest = sum(map(len, groups[_LINES_MAX:]))
        lines += [(f"{rest:,}", "", "", "", "", "other causes")] * bool(rest)
    return "\n".join(aligned(head, lines))


def _costs(rows: Sequence[RecoveryRow]) -> tuple[str, ...]:
    """Return what recoveries cost; of several the range."""
    caught_up = [None if r.caught_up_ns is None else r.caught_up_ns - r.failed_ns for r in rows]
    late = sum(r.caught_up_ns is None and r.peak_latency_ns is not None for r in rows)
    not_yet = "not by the end" if len(rows) == 1 else f"{late:,} not by the end"
    known = _range(caught_up, lambda time: f"{duration_text(time)} later")
    late_text = [not_yet] * bool(late)
    return (
        _range([_downtime_ns(row) for row in rows], duration_text),
        _range([row.bytes_read for row in rows], size_text),
        _range([row.records_reprocessed for row in rows], lambda count: f"{count:,}"),
        ", ".join([known, *late_text] if known != "-" else late_text) or "-",
    )


def _downtime_ns(row: RecoveryRow) -> int | None:
    """Return the time to the first record, or to the next attempt where that is all there is."""
    up_ns = row.resumed_ns if row.first_record_ns is None else row.first_record_ns
    return None if up_ns is None else up_ns - row.failed_ns


def _range(values: Sequence[int | None], shown: Callable[[int], str]) -> str:
    found = sorted(value for value in values if value is not None)
    if not found:
        return "-"
    low, high = shown(found[0]), shown(found[-1])
    return low if low == high else f"{low} to {high}"
