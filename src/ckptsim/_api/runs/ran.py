"""Results of runs: one run, and a check of many."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from ckptsim._api.columns import (
    frame_of_rows,
    notes_lines,
    paragraph,
    setting_of,
    table,
    violation_texts,
)
from ckptsim._api.result import Facts, Result, inline
from ckptsim._api.runs.plots import (
    CheckPlots,
    RunPlots,
    barriers_figure,
    checkpoints_text,
    figure_text,
    job_on_buffers,
    model_notes,
    recoveries_text,
    slowest,
)
from ckptsim._api.scenario import Scenario, wrapped
from ckptsim.scenarios.dialect import duration_text, in_units, size_text
from ckptsim.scenarios.errors import UserError
from ckptsim.sim import rows, search
from ckptsim.sim.infer.assumptions import assumptions
from ckptsim.sim.search import Subject
from ckptsim.sim.search.check import EXHAUSTIVE, MORE_RUNS
from ckptsim.sim.why import cause_lines
from ckptsim.sim.why.find import why_checked

if TYPE_CHECKING:
    import pandas as pd


TABLES = (
    *("checkpoints", "task_checkpoints", "tasks", "releases", "recoveries", "violations"),
    *("figures", "pending"),
)
ResultT = TypeVar("ResultT", bound=Result)
_EVENTS_DRAWN = 300_000  # a longer run is not made again for the picture of a notebook
_ROWS_SHOWN = 10
UNBROKEN = f"should break and did not in {MORE_RUNS} more runs either"


def setting_document(subject: Subject) -> dict[str, object]:
    """Return the settings that differ from the defaults, for a document."""
    return {
        "cores": subject.names,
        "mutant": subject.mutant,
        "ignored": list(subject.judging.ignore),
        "properties": subject.judging.property_names,
    }


@dataclass(slots=True, kw_only=True, repr=False, eq=False)
class RunResult(Result, rows.RunResult):
    """Everything that one run leaves: a list of rows per table, goals, the trace if kept."""

    subject: Subject = field(compare=False)

    @property
    def scenario(self) -> Scenario:
        """The scenario that was run."""
        return wrapped(self.subject.scenario)

    @property
    def failed(self) -> bool:
        """Whether the run violates a property that its scenario does not expect to break."""
        return any(row.property not in self.subject.scenario.violates for row in self.violations)

    def frame(self, table: str = "checkpoints") -> pd.DataFrame:
        """Return a table of the run, one row per checkpoint unless you name another table.

        Durations and instants since the start of the run are timedelta64.
        Raises UserError for a table that is not there.
        """
        if table not in TABLES:
            raise UserError(f"frame: found {table!r}, expected one of {', '.join(TABLES)}")
        return frame_of_rows(table, getattr(self, table))

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim run --json` prints: the run, its cores, the rows of all tables."""
        run = asdict(self.run)
        return {
            **{name: run[name] for name in ("digest", "run_key", "replay")},
            **setting_document(self.subject),
            "driver": self.driver,
            "run": run,
            "goals": self.goals,
            "violations": [asdict(row) for row in self.violations],
            **{name: [asdict(row) for row in getattr(self, name)] for name in _DOCUMENTED},
        }

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

    @property
    def text(self) -> str:
        """The figures of the run, causes of slow checkpoints, recoveries, and violations."""
        scenario = self.subject.scenario
        notes = notes_lines(model_notes(scenario.model))
        causes = cause_lines(scenario, self)
        told = ["\n".join(line for one in causes for line in paragraph(one))]
        rests = [] if self.subject.names else assumptions(scenario, self)
        told += ["\n".join(line for one in rests for line in paragraph(one))]
        told += [recoveries_text(self.recoveries) if self.recoveries else ""]
        parts = ["\n".join([table(self._pairs()), *notes]), *filter(None, told)]
        return "\n\n".join([*parts, *violation_texts(self.violations)])

    def _pairs(self) -> list[tuple[str, object]]:
        run = self.run
        reached = [f"{name} ({count})" for name, count in self.goals.items() if count]
        missed = [name for name in self.subject.scenario.goals if not self.goals.get(name)]
        return [
            ("scenario", f"{run.scenario} ({run.link}), seed {run.seed}, {run.ties} ties"),
            *setting_of(self.subject),
            ("outcome", run.outcome + (f": {in_units(run.error)}" if run.error else "")),
            ("ended at", f"{duration_text(run.ended_ns)}, after {run.attempts} attempt(s)"),
            ("records", f"{run.records_produced:,} produced, {run.records_committed:,} committed"),
            ("checkpoints", checkpoints_text(run.checkpoints_completed, self.checkpoints)),
            ("recoveries", len(self.recoveries)),
            *((row.figure, figure_text(row)) for row in self.figures),
            ("reached", ", ".join(reached) or "no rare situation"),
            ("not reached", ", ".join(missed) or "nothing that the scenario asks for"),
            ("violations", len(self.violations)),
            ("run by", self.driver),
            ("digest", f"{run.digest} ({run.events:,} events)"),
            ("replay", run.replay),
        ]

    def _facts(self) -> Facts:
        left_out = {"not reached", "run by", *(row.figure for row in self.figures)}
        return [pair for pair in self._pairs() if pair[0] not in left_out]

    def _shown(self) -> dict[str, Any]:
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
        left, number, found = (
            len(shown) - _ROWS_SHOWN,
            slowest(shown),
            {"head": head, "rows": cells},
        )
        if left > 0:
            found["more"] = f"and {left} more checkpoints"
        if number is None or job_on_buffers(self) is None or self.run.events > _EVENTS_DRAWN:
            return found
        caption = f"barriers of checkpoint {number}, the slowest one"
        svg = inline(lambda: barriers_figure(self, number), f"run-{self.run.digest[:8]}", caption)
        return found | {"svg": svg, "caption": caption}


_DOCUMENTED = ("checkpoints", "task_checkpoints", "tasks", "releases", "recoveries", "figures")


def extended(kind: type[ResultT], found: Any, **more: Any) -> ResultT:
    """Return a result of the program as one of its kind here, with more fields."""
    held = {one.name: getattr(found, one.name) for one in fields(found)}
    return kind(**{name: value for name, value in held.items() if name not in more}, **more)


def run_result(result: rows.RunResult, subject: Subject) -> RunResult:
    """Return a result of a run with what it ran."""
    return extended(RunResult, result, subject=subject)


@dataclass(slots=True, kw_only=True, repr=False, eq=False)
class CheckReport(Result, search.CheckReport):
    """The outcome of many runs of one scenario. `passed` says whether it was fine."""

    subject: Subject

    @property
    def failed(self) -> bool:
        """Whether a run broke a property unexpectedly, or none broke one that should break."""
        return not self.passed

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
        return {
            "scenario": self.subject.scenario.name,
            **setting_document(self.subject),
            "first": self.seeds.start,
            "seeds": len(self.seeds),
            "ties": list(self.ties),
            "runs": self.runs,
            "events": self.events,
            "passed": self.passed,
            "outcomes": self.outcomes,
            "goals": self.goals,
            "missed_goals": self.missed_goals,
            "unexplored_seeds": self.unexplored,
            "expected_violations": self.expected,
            "seeds_until_expected": self.late,
            "violations": [
                {"seed": found.seed, "ties": found.ties} | asdict(row)
                for found in self.unexpected
                for row in found.violations
            ],
            "first_violating_seed": self.unexpected[0].seed if self.unexpected else None,
            "causes": [
                {"seed": found.seed, "ties": found.ties} | cause.document()
                for found, cause in why_checked(self.subject, self)
            ],
            "digest": self.digest,
        }

    @property
    def plot(self) -> CheckPlots:
        """The figures of the check."""
        return CheckPlots(self)

    @property
    def text(self) -> str:
        """The violations with their stories, then the figures of the check, and the causes."""
        rows = (row for found in self.unexpected for row in found.violations)
        parts = violation_texts(row for row in rows if row.property not in self.expected)
        told = ["\n".join(line for one in self.causes for line in paragraph(one))]
        return "\n\n".join([*parts, table(self._pairs()), *filter(None, told)])

    @property
    def causes(self) -> list[str]:
        """A line on the cause of each kind of violation, or of slow and failed checkpoints."""
        return [
            f"seed {found.seed}: {cause.because if found.violations else cause.line}"
            for found, cause in why_checked(self.subject, self)
        ]

    @property
    def late_text(self) -> str:
        """Which properties that should break need more seeds for it, and how many."""
        late = ", ".join(f"{name} breaks with {seeds}" for name, seeds in self.late.items())
        return f"no violation of what should break in {len(self.seeds)} seed(s): {late}"

    def _pairs(self) -> list[tuple[str, object]]:
        reached = [f"{name} in {runs}" for name, runs in self.goals.items() if runs]
        found = ", ".join(f"seed {trial.seed}" for trial in self.unexpected[:10])
        broken = ", ".join(f"{name} in {runs}" for name, runs in self.expected.items())
        failed = ", ".join(f"{count} {kind}" for kind, (count, _) in self.incomplete.items())
        pairs: list[tuple[str, object]] = [
            ("scenario", f"{self.subject.scenario.name} ({self.subject.scenario.link})"),
            *setting_of(self.subject),
            ("runs", f"{self.runs}, of {len(self.seeds)} seed(s), {', '.join(self.ties)} ties"),
            ("outcomes", ", ".join(f"{count} {name}" for name, count in self.outcomes.items())),
            *([("checkpoints", f"not completed: {failed}")] if failed else []),
            ("reached", ", ".join(reached) or "no rare situation"),
            ("not reached", ", ".join(self.missed_goals) or "nothing that the scenario asks for"),
            *([("as expected", f"broke {broken}")] if broken else []),
            ("violations", f"{len(self.unexpected)} run(s): {found}" if found else "none"),
            ("digest", self.digest),
        ]
        if self.ties == (EXHAUSTIVE,) and not self.unexpected:
            more = ", ".join(map(str, self.unexplored[:10]))
            pairs.append(("orders", f"more exist for seed {more}" if more else "all were tried"))
        if self.late:
            pairs.append(("too few seeds", self.late_text))
        if self.unbroken:
            pairs.append(("FAILED", f"{UNBROKEN}: {', '.join(self.unbroken)}"))
        return pairs

    def _facts(self) -> Facts:
        broken = Counter(row.property for trial in self.unexpected for row in trial.violations)
        names = ", ".join(f"{name} in {runs}" for name, runs in broken.items()) or "none"
        facts = [
            ("violations", names) if name == "violations" else (name, value)
            for name, value in self._pairs()
            if name != "digest"
        ]
        facts.insert(1, ("passed", self.passed))
        if self.unexpected:
            first = self.unexpected[0].violations[0]
            facts += [("first", first.says), ("replay", first.replay)]
        return facts
