"""The figures of one run, and of a check of many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ckptsim._api.plots import Plots, bars, on, some
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.job import Job, Plane

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ckptsim._api.runs.ran import CheckReport, RunResult
    from ckptsim.sim.kernel import Entry
    from ckptsim.sim.rows import CheckpointRow


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
        """Draw the barriers of a checkpoint on their way through a job. Without one the slowest.

        Raises UserError for a run that is not of a job on buffers.
        """
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
