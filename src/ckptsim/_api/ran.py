"""Results of runs: one run, a check of many, a find of a hunt, a run that is told again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckptsim._api.frames import frame_of, frame_of_rows
from ckptsim._api.plots import Plots, bars, inline, on, some
from ckptsim._api.result import Facts, Result, table_html
from ckptsim._api.scenario import Scenario, wrapped
from ckptsim.scenarios.dialect import duration_text, in_units, size_text
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import written_whole
from ckptsim.scenarios.job import Job, Plane
from ckptsim.sim import rows, search
from ckptsim.sim.answers.ran import check_document, checkpoints_text, find_document, run_document
from ckptsim.sim.answers.replaying import Retold
from ckptsim.sim.search import Subject

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TABLES = (
    *("checkpoints", "task_checkpoints", "tasks", "releases", "recoveries", "violations"),
    "figures",
)
_EVENTS_DRAWN = 300_000  # a longer run is not made again for the picture of a notebook
_ROWS_SHOWN = 10


@dataclass(slots=True, kw_only=True, repr=False, eq=False)
class RunResult(Result, rows.RunResult):
    """Everything that one run leaves behind: a list of rows per table, goals, the trace if kept."""

    subject: Subject = field(compare=False)

    @property
    def scenario(self) -> Scenario:
        """The scenario that was run."""
        return wrapped(self.subject.scenario)

    def frame(self, table: str = "checkpoints") -> pd.DataFrame:
        """Return a table of the run, one row per checkpoint unless you name another table.

        Durations and instants since the start of the run are timedelta64.
        Raises UserError for a table that is not there.
        """
        if table not in TABLES:
            raise UserError(f"frame: found {table!r}, expected one of {', '.join(TABLES)}")
        return frame_of_rows(table, getattr(self, table))

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim run --json` prints."""
        return run_document(self.subject, self)

    @property
    def plot(self) -> RunPlots:
        """The figures of the run."""
        return RunPlots(self)

    def with_trace(self) -> RunResult:
        """Return the same run with its trace, which is made again where it was not kept."""
        if self.trace:
            return self
        again = self.subject.run(self.run.seed, self.run.ties, keep_trace=True)
        again.violations = self.violations
        return run_result(again, self.subject)

    def _facts(self) -> Facts:
        run = self.run
        reached = [name for name, count in self.goals.items() if count]
        error = f": {in_units(run.error)}" if run.error else ""
        broken = ", ".join(dict.fromkeys(row.property for row in self.violations))
        return [
            ("scenario", f"{run.scenario} ({run.link}), seed {run.seed}, {run.ties} ties"),
            ("outcome", f"{run.outcome}{error}, after {duration_text(run.ended_ns)}"),
            ("records", f"{run.records_produced:,} produced, {run.records_committed:,} committed"),
            ("checkpoints", checkpoints_text(run.checkpoints_completed, self.checkpoints)),
            ("recoveries", len(self.recoveries)),
            ("reached", ", ".join(reached) or "no rare situation"),
            ("violations", f"{len(self.violations)}: {broken}" if broken else "none"),
            ("digest", run.digest),
            ("replay", run.replay),
        ]

    def _picture(self) -> str:
        """Return the first checkpoints, and the barriers of the slowest one of a job."""
        shown = [row for row in self.checkpoints if not row.inner]
        head = ("checkpoint", "status", "triggered", "duration", "persisted")
        cells = [
            (
                f"{row.scope}/{row.checkpoint_id}",
                row.status,
                duration_text(row.triggered_ns),
                "-" if row.duration_ns is None else duration_text(row.duration_ns),
                "-" if row.persisted_bytes is None else size_text(row.persisted_bytes),
            )
            for row in shown[:_ROWS_SHOWN]
        ]
        html = table_html(head, cells) if cells else ""
        if len(shown) > _ROWS_SHOWN:
            html += f"<p>and {len(shown) - _ROWS_SHOWN} more checkpoints</p>"
        slowest = _slowest(shown)
        if slowest is None or _job_on_buffers(self) is None or self.run.events > _EVENTS_DRAWN:
            return html
        title = f"barriers of checkpoint {slowest}, the slowest one"
        return html + inline(lambda: _barriers(self, slowest), title)


class RunPlots(Plots):
    """The figures of one run: durations, in_flight, alignment, barriers, recovery, timeline."""

    __slots__ = ("_result",)

    def __init__(self, result: RunResult) -> None:
        self._result = result

    def __call__(self, *, ax: Axes | None = None) -> Axes:
        """Draw the duration of every checkpoint and its parts."""
        return self.durations(ax=ax)

    def durations(self, *, ax: Axes | None = None) -> Axes:
        """Draw the duration of every checkpoint and its parts over the time of its trigger."""
        with on(ax) as axes:
            from ckptsim.analysis.figures.barriers import durations_over_time

            durations_over_time(self._rows("checkpoints"))
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
        """Draw the barriers of a checkpoint on their way through a job; without one the slowest.

        Raises UserError for a run that is not of a job on buffers.
        """
        number = _slowest(self._result.checkpoints) if checkpoint is None else checkpoint
        if _job_on_buffers(self._result) is None or number is None:
            found = f"{self._result.run.scenario}: found no job on buffers with a checkpoint"
            raise UserError(f"{found}, expected one")
        with on(ax) as axes:
            _barriers(self._result, number)
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

    def timeline(self, window_ns: tuple[int, int] | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw what every part did, and which checkpoints were pending; window_ns: a part of it."""
        from ckptsim.sim.world import load_world

        traced = self._result.with_trace()
        vocabulary = load_world(traced.subject.scenario.world).VOCABULARY
        with on(ax) as axes:
            from ckptsim.analysis.figures.run.timeline import timeline

            timeline(traced.trace, vocabulary, traced.checkpoints, window_ns=window_ns)
        return axes

    def _rows(self, table: str) -> pd.DataFrame:
        from ckptsim.analysis.tables.frames import frame_of
        from ckptsim.analysis.tables.schema import arrow_table

        found = frame_of(table, arrow_table(table, getattr(self._result, table)))
        return some(found, table.replace("_", " "))


def _barriers(result: RunResult, checkpoint: int) -> Figure:
    from ckptsim.analysis.figures.run.barrier_story import barrier_story
    from ckptsim.sim.job.buffers import senders_of

    model = _job_on_buffers(result)
    assert model is not None
    return barrier_story(result.with_trace().trace, senders_of(model), checkpoint)


def _job_on_buffers(result: RunResult) -> Job | None:
    model = result.subject.scenario.model
    return model if isinstance(model, Job) and model.plane is Plane.BUFFERS else None


def _slowest(found: Sequence[rows.CheckpointRow]) -> int | None:
    """Return the checkpoint that took longest, of those that completed."""
    done = [row for row in found if row.status == "completed" and row.duration_ns is not None]
    return max(done, key=lambda row: row.duration_ns or 0).checkpoint_id if done else None


def run_result(result: rows.RunResult, subject: Subject) -> RunResult:
    """Return a result of a run with what it ran."""
    held = {one.name: getattr(result, one.name) for one in fields(rows.RunResult)}
    return RunResult(**held, subject=subject)


@dataclass(slots=True, kw_only=True, repr=False, eq=False)
class CheckReport(Result, search.CheckReport):
    """What many runs of one scenario showed; `passed` says whether it was fine."""

    subject: Subject

    def frame(self) -> pd.DataFrame:
        """Return one row per violation: seed, ties, property, when, what, and how to replay it."""
        found = [
            frame_of_rows("violations", trial.violations).assign(seed=trial.seed, ties=trial.ties)
            for trial in self.unexpected
        ]
        if not found:
            return frame_of_rows("violations", []).assign(seed=0, ties="")
        import pandas as pd

        return pd.concat(found, ignore_index=True)

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim check --json` prints."""
        return check_document(self.subject, self)

    @property
    def plot(self) -> CheckPlots:
        """The figures of the check."""
        return CheckPlots(self)

    def _facts(self) -> Facts:
        ties = ", ".join(self.ties)
        broken = Counter(row.property for trial in self.unexpected for row in trial.violations)
        outcomes = ", ".join(f"{count} {name}" for name, count in self.outcomes.items())
        facts: list[tuple[str, object]] = [
            ("scenario", f"{self.subject.scenario.name} ({self.subject.scenario.link})"),
            ("passed", self.passed),
            ("runs", f"{self.runs}, of {len(self.seeds)} seed(s), {ties} ties"),
            ("outcomes", outcomes),
            ("reached", ", ".join(name for name, runs in self.goals.items() if runs) or "nothing"),
            ("not reached", ", ".join(self.missed_goals) or "nothing that was asked for"),
            ("violations", ", ".join(f"{n} in {c}" for n, c in broken.items()) or "none"),
        ]
        if self.unexpected:
            facts.append(("first", self.unexpected[0].violations[0].says))
            facts.append(("replay", self.unexpected[0].violations[0].replay))
        return facts


class CheckPlots(Plots):
    """The figures of a check."""

    __slots__ = ("_report",)

    def __init__(self, report: CheckReport) -> None:
        self._report = report

    def __call__(self, *, ax: Axes | None = None) -> Axes:
        """Draw how many runs reached each rare situation."""
        return self.goals(ax=ax)

    def goals(self, *, ax: Axes | None = None) -> Axes:
        """Draw how many runs reached each rare situation."""
        wanted = self._report.wanted_goals
        every = self._report.goals
        goals = {name: every.get(name, 0) for name in every if every[name] or name in wanted}
        label = f"runs that reached it (n = {self._report.runs})"
        return bars(list(goals), list(goals.values()), label, ax)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Find(Result, search.Find):
    """A violation that was found, and the smallest scenario that breaks the property."""

    subject: Subject

    @property
    def smallest(self) -> Scenario:
        """The smallest scenario that breaks the property, as one that you can change and run."""
        return wrapped(self.shrunk.scenario)

    @property
    def violation(self) -> rows.ViolationRow:
        """The violation in the run of the smallest scenario."""
        found = self.shrunk.trial.violations
        return next((row for row in found if row.property == self.property), found[0])

    def save(self, folder: str | Path) -> Path:
        """Write what `ckptsim hunt` writes: scenario, decisions, a test, the story, pictures."""
        from ckptsim.sim.search.folder import keep

        path, trial = Path(folder), self.shrunk.trial
        smallest = replace(self.subject, scenario=self.shrunk.scenario)
        keep(path, smallest, seed=trial.seed, ties=trial.ties, name=self.property)
        return path

    def frame(self) -> pd.DataFrame:
        """Return the violations of the run of the smallest scenario, one row each."""
        return frame_of_rows("violations", self.shrunk.trial.violations)

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim hunt --json` prints, without a folder."""
        return find_document(self, self.subject)

    @property
    def plot(self) -> Plots:
        """The figures of the run of the smallest scenario."""
        return self._run().plot

    def _run(self) -> RunResult:
        smallest = replace(self.subject, scenario=self.shrunk.scenario)
        trial = self.shrunk.trial
        return run_result(smallest.run(trial.seed, trial.ties, keep_trace=True), smallest)

    def _facts(self) -> Facts:
        before, after = len(self.scenario.faults), len(self.shrunk.scenario.faults)
        trial = self.shrunk.trial
        return [
            ("property", self.property),
            ("says", self.violation.says),
            ("found", f"after {self.runs} run(s) of {self.scenario.name}"),
            ("shrunk", f"{self.shrunk.steps} steps, faults {before} -> {after}"),
            ("decisions", f"{self.shrunk.decisions}; seed {trial.seed}, {trial.ties} ties"),
            ("next", "ckptsim.replay(find), find.smallest, find.save(folder)"),
        ]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Replay(Result):
    """A run that was made again, with its story; `result` has its rows and its trace."""

    result: RunResult
    retold: Retold

    @property
    def story(self) -> list[str]:
        """The story, line by line."""
        return [str(line) for line in self.retold.lines]

    @property
    def text(self) -> str:
        """The story as text, and after it that of each violation."""
        return "\n".join([*self.story, *(row.story for row in self.result.violations)])

    @property
    def repeats(self) -> bool | None:
        """Whether a find in a folder is as it was; None where nothing was kept."""
        return self.retold.repeats

    def save(self, folder: str | Path) -> Path:
        """Write the story and the files for Perfetto, Mermaid and ShiViz."""
        for name, text in self.retold.files.items():
            written_whole(Path(folder) / name, text)
        return Path(folder)

    def frame(self) -> pd.DataFrame:
        """Return the entries that are told, one row each: time, kind, entity and fields."""
        entries = [
            {"time_ns": at, "kind": kind, "entity": who, "fields": rest}
            for at, kind, who, *rest in self.retold.entries
        ]
        from ckptsim._api.frames import tidy

        return tidy(frame_of(entries, ("time_ns", "kind", "entity", "fields")))

    def to_dict(self) -> dict[str, Any]:
        """Return the story, the violations and the digest."""
        return {
            "digest": self.result.run.digest,
            "run_key": self.result.run.run_key,
            "repeated": self.repeats,
            "story": self.story,
            "violations": [row.property for row in self.result.violations],
        }

    @property
    def plot(self) -> RunPlots:
        """The figures of the run."""
        return self.result.plot

    def _facts(self) -> Facts:
        facts = [("story", f"{len(self.retold.lines)} lines: print(replay.text)")]
        if self.repeats is not None:
            facts.append(("repeats", str(self.repeats)))
        return [*facts, *self.result._facts()]  # noqa: SLF001 - of the same kind
