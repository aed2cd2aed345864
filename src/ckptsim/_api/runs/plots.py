"""A run as text (checkpoints, figures, recoveries and their costs), and as figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ckptsim._api.columns import aligned
from ckptsim._api.result import Plots, bars, on, some
from ckptsim.scenarios.composed import Pipeline
from ckptsim.scenarios.dialect import duration_text, in_units, size_text
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.job import Job, Plane
from ckptsim.scenarios.limits import unread
from ckptsim.scenarios.planning import FIGURES, Measure
from ckptsim.sim.infer.advice.warnings import hot_subtasks
from ckptsim.sim.rows import CheckpointRow, FigureRow, RecoveryRow

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ckptsim._api.runs.ran import CheckReport, RunResult
    from ckptsim.sim.kernel import Entry
    from ckptsim.sim.rows import CheckpointRow


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
    up_ns = row.resumed_ns if row.first_record_ns is None else row.first_record_ns
    return None if up_ns is None else up_ns - row.failed_ns


def _range(values: Sequence[int | None], shown: Callable[[int], str]) -> str:
    found = sorted(value for value in values if value is not None)
    if not found:
        return "-"
    low, high = shown(found[0]), shown(found[-1])
    return low if low == high else f"{low} to {high}"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RunPlots(Plots):
    """The figures of one run, such as durations, alignment, barriers, pending and recovery."""

    _first = "durations"
    _result: RunResult

    def durations(self, *, ax: Axes | None = None) -> Axes:
        """Draw the duration of every checkpoint and its parts over the time of its trigger."""
        with on(ax) as axes:
            from ckptsim.analysis.figures.barriers import durations_over_time

            parts = self._rows("task_checkpoints", some_at_least=False)
            durations_over_time(self._rows("checkpoints"), parts)
        return axes

    def in_flight(self, *, ax: Axes | None = None) -> Axes:
        """Draw the bytes in flight that every checkpoint processed and persisted."""
        with on(ax) as axes:
            from ckptsim.analysis.figures.barriers import in_flight_bytes

            in_flight_bytes(self._rows("checkpoints"))
        return axes

    def alignment(self, *, ax: Axes | None = None) -> Axes:
        """Draw how long every subtask aligned for every checkpoint."""
        with on(ax) as axes:
            from ckptsim.analysis.figures.barriers import alignment_heat_map

            alignment_heat_map(self._rows("task_checkpoints"))
        return axes

    def barriers(self, checkpoint: int | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw a checkpoint's barriers, by default the slowest. Raises UserError off buffers."""
        number = slowest(self._result.checkpoints) if checkpoint is None else checkpoint
        if job_on_buffers(self._result) is None or number is None:
            found = f"{self._result.run.scenario}: found no job on buffers with a checkpoint"
            raise UserError(f"{found}, expected one")
        with on(ax) as axes:
            barriers_figure(self._result, number)
        return axes

    def pending(self, *, ax: Axes | None = None) -> Axes:
        """Draw the states of a sync that wait to be returned, by scope and socket, over time."""
        with on(ax) as axes:
            pending_figure(self._result)
        return axes

    def recovery(self, number: int = 0, *, ax: Axes | None = None) -> Axes:
        """Draw one recovery, from the failure until the job has caught up."""
        found = self._result.recoveries
        if not 0 <= number < len(found):
            raise UserError(f"recovery: found {number}, but this run has {len(found)}")
        with on(ax) as axes:
            from ckptsim.analysis.figures.recovery import recovery_timeline

            recovery_timeline(found[number], self._result.checkpoints)
        return axes

    def _rows(self, table: str, *, some_at_least: bool = True) -> pd.DataFrame:
        from ckptsim.analysis.tables.frames import frame_of
        from ckptsim.analysis.tables.schema import arrow_table

        found = frame_of(table, arrow_table(table, getattr(self._result, table)))
        return some(found, table.replace("_", " ")) if some_at_least else found


def pending_figure(result: RunResult) -> Figure:
    """Return the pending states of a sync over time."""
    from ckptsim.analysis.figures.pending import pending_over_time

    return pending_over_time(result.plot._rows("pending"))  # noqa: SLF001 - of this module


def barriers_figure(
    result: RunResult, checkpoint: int, entries: Sequence[Entry] | None = None
) -> Figure:
    """Return the barriers of a checkpoint on their way through a job on buffers."""
    from ckptsim.analysis.figures.run.barrier_story import barrier_story
    from ckptsim.sim.job.buffers import senders_of

    model = job_on_buffers(result)
    assert model is not None
    return barrier_story(entries or result.with_trace().trace, senders_of(model), checkpoint)


def job_on_buffers(result: RunResult) -> Job | None:
    """Return the job of a run on buffers, None of any other."""
    model = result.subject.scenario.model
    return model if isinstance(model, Job) and model.plane is Plane.BUFFERS else None


def slowest(found: Sequence[CheckpointRow]) -> int | None:
    """Return the checkpoint that took longest, of those that completed."""
    done = [row for row in found if row.status == "completed" and row.duration_ns is not None]
    return max(done, key=lambda row: row.duration_ns or 0).checkpoint_id if done else None


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class CheckPlots(Plots):
    """The figures of a check."""

    _first = "goals"
    _report: CheckReport

    def goals(self, *, ax: Axes | None = None) -> Axes:
        """Draw how many runs reached each rare situation."""
        wanted = self._report.wanted_goals
        every = self._report.goals
        goals = {name: every.get(name, 0) for name in every if every[name] or name in wanted}
        label = f"runs that reached it (n = {self._report.runs})"
        return bars(list(goals), list(goals.values()), label, ax)
