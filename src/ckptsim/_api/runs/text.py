"""What a run came to, as text: checkpoints, figures, recoveries and their costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ckptsim._api.columns import aligned
from ckptsim.scenarios.composed import Pipeline
from ckptsim.scenarios.dialect import duration_text, in_units, size_text
from ckptsim.scenarios.job import Job, Plane
from ckptsim.scenarios.limits import unread
from ckptsim.scenarios.planning import FIGURES, Measure
from ckptsim.sim.infer.advice.warnings import hot_subtasks
from ckptsim.sim.rows import CheckpointRow, FigureRow, RecoveryRow


def checkpoints_text(completed: int, rows: Iterable[CheckpointRow]) -> str:
    """Return how many checkpoints ended in each way, and how long completed ones took."""
    durations = sorted(
        row.duration_ns for row in rows if row.status == "completed" and row.duration_ns is not None
    )
    text = f"{completed} completed"
    other: dict[str, int] = {}
    for row in rows:
        if row.status != "completed":
            other[row.status] = other.get(row.status, 0) + 1
    text += "".join(f", {count} {status}" for status, count in other.items())
    if durations:
        median, last = durations[(len(durations) - 1) // 2], durations[-1]
        text += f"; median {duration_text(median)}, longest {duration_text(last)}"
        text += f" (n = {len(durations)})"
    return text


def model_notes(model: object) -> list[str]:
    """Return hot subtasks of a job, and the keys that its plane, or its pipeline's, reads not."""
    if isinstance(model, Job):
        table = "job"
    elif isinstance(model, Pipeline):
        table = "pipeline"
    else:
        return []
    hot = hot_subtasks(model) if isinstance(model, Job) and model.plane is Plane.BUFFERS else ()
    return [says for _, says in hot] + [
        f'plane "{model.plane}" does not read {table}.{path}: {because}'
        for path, because in unread(model).items()
    ]


def figure_text(row: FigureRow) -> str:
    """Return the value of a figure, what it is, and what theory says of it."""
    metric = FIGURES[row.figure]
    told, *on_paper = (
        duration_text(round(value)) if metric.measure is Measure.TIME else f"{value:,.4g}"
        for value in (row.value, row.expected)
        if value is not None
    )
    return f"{told}: {metric.says}" + "".join(f", on paper {one}" for one in on_paper)


_LINES_MAX = 12
_HEAD = ("downtime", "bytes read", "done again", "backlog gone", "caught up")


def recoveries_text(rows: Sequence[RecoveryRow]) -> str:
    """Return the recoveries of a run with their costs, many of a cause together."""
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
        lines += [(f"{rest:,}", "", "", "", "", "", "other causes")] * bool(rest)
    return "\n".join(aligned(head, lines))


def _costs(rows: Sequence[RecoveryRow]) -> tuple[str, ...]:
    """Return what recoveries cost. Of several the range."""
    caught_up = [None if r.caught_up_ns is None else r.caught_up_ns - r.failed_ns for r in rows]
    late = sum(r.caught_up_ns is None and r.peak_latency_ns is not None for r in rows)
    not_yet = "not by the end" if len(rows) == 1 else f"{late:,} not by the end"
    known = _range(caught_up, lambda time: f"{duration_text(time)} later")
    late_text = [not_yet] * bool(late)
    gone = [
        None if r.backlog_gone_ns is None else max(0, r.backlog_gone_ns - r.failed_ns) for r in rows
    ]
    return (
        _range([_downtime_ns(row) for row in rows], duration_text),
        _range([row.bytes_read for row in rows], size_text),
        _range([row.records_reprocessed for row in rows], lambda count: f"{count:,}"),
        _range(gone, duration_text),
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
