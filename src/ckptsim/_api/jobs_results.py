"""Results about jobs of a real engine: a recording, an import, a comparison, advice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckptsim._api.frames import frame_of, tidy
from ckptsim._api.job_plots import AdvicePlots, CheckpointPlots, ValidationPlots, WhatIfPlots
from ckptsim._api.result import Facts, Result, facts_html
from ckptsim._api.scenario import Scenario, wrapped
from ckptsim.scenarios.files import written_whole
from ckptsim.sim.answers.jobs import advice_text, capturing, importing
from ckptsim.sim.answers.jobs.advice_picture import picture
from ckptsim.sim.answers.jobs.answer import Answer
from ckptsim.sim.infer.advice import Point
from ckptsim.sim.infer.change.variants import price_of
from ckptsim.sim.infer.verdict import Verdict
from ckptsim.sim.recording import Recording
from ckptsim.sim.validate import Comparison

if TYPE_CHECKING:
    import pandas as pd

_NS_PER_MS, _NS_PER_S = 1_000_000, 1_000_000_000
MEASURED = "as it is, measured"


def ns_of(value: float | None, unit_ns: int) -> int | None:
    """Return a time in ns, None where it is not known."""
    return None if value is None else round(value * unit_ns)


def recorded_rows(recording: Recording) -> list[dict[str, Any]]:
    """Return a row for every completed checkpoint of a recording."""
    first = min((one.trigger_ms or 0 for one in recording.completed), default=0)
    return [
        {
            "checkpoint_id": one.id,
            "triggered_ns": None
            if one.trigger_ms is None
            else (one.trigger_ms - first) * _NS_PER_MS,
            "duration_ns": ns_of(one.duration_ms, _NS_PER_MS),
            "checkpointed_bytes": one.checkpointed_bytes,
            "processed_bytes": one.processed_bytes,
            "persisted_bytes": one.persisted_bytes,
        }
        for one in recording.completed
    ]


_RECORDED = (
    *("checkpoint_id", "triggered_ns", "duration_ns", "checkpointed_bytes", "processed_bytes"),
    "persisted_bytes",
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Captured(Result):
    """A recording of a running job, and the folder in which it is."""

    captured: capturing.Captured

    @property
    def folder(self) -> Path:
        """Where the recording is."""
        return self.captured.folder

    def frame(self) -> pd.DataFrame:
        """Return one row per completed checkpoint that the server showed."""
        return tidy(frame_of(recorded_rows(self.captured.recording), _RECORDED))

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim capture --json` prints."""
        return self.captured.document()

    @property
    def plot(self) -> CheckpointPlots:
        """The figures of the recording."""
        return CheckpointPlots(self.captured.recording, ())

    def _facts(self) -> Facts:
        return [
            ("job", f"{self.captured.recording.job_name}"),
            ("vertices", len(self.captured.recording.vertices)),
            ("checkpoints", f"{len(self.captured.recording.completed)} completed"),
            ("not answered", ", ".join(self.captured.left_out) or "nothing"),
            ("written", f"{self.folder} ({self.captured.answers} answers)"),
            ("next", f"ckptsim.import_job({str(self.folder)!r})"),
        ]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class ImportedJob(Result):
    """A scenario that was made of a recording, with the origin of every value."""

    imported: importing.ImportedJob

    @property
    def scenario(self) -> Scenario:
        """The job, as a scenario that you can change and run."""
        return wrapped(self.imported.scenario)

    @property
    def verdict(self) -> Verdict | None:
        """How far a replay of the job as it is agrees with what was measured."""
        return self.imported.verdict

    def save(self, path: str | Path) -> Path:
        """Write the scenario as a file in which every value says how it was found."""
        written_whole(Path(path), self.imported.text)
        return Path(path)

    def frame(self) -> pd.DataFrame:
        """Return one row per value that was found: value, how sure it is, and how."""
        found = [
            {"name": one.name, "value": one.value, "sure": one.sure.value, "how": one.how}
            for one in self.imported.imported.findings
        ]
        return frame_of(found, ("name", "value", "sure", "how"))

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim import --json` prints."""
        return self.imported.document(None)

    @property
    def plot(self) -> CheckpointPlots:
        """The figures of the recording, beside its replay."""
        return CheckpointPlots(self.imported.recording, self.imported.replay)

    def _facts(self) -> Facts:
        imported = self.imported
        sure: dict[str, int] = {}
        for one in imported.imported.findings:
            sure[one.sure.value] = sure.get(one.sure.value, 0) + 1
        rows = [] if imported.verdict is None else [r for r in imported.verdict.rows if r.measured]
        return [
            ("job", imported.recording.job_name),
            ("values", ", ".join(f"{count} {name}" for name, count in sure.items())),
            ("asked", ", ".join(one.name for one in imported.imported.asked) or "nothing"),
            *(
                (row.name, f"{row.measured:,.0f} {row.unit}, replay {row.simulated or 0:,.0f}")
                for row in rows[:3]
            ),
            ("replay", imported.verdict or "not compared"),
        ]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class WhatIf(Result):
    """A job as it is, measured and predicted, beside the job as it would be."""

    answer: Answer

    @property
    def notes(self) -> Sequence[str]:
        """What must be read with the answer."""
        return self.answer.notes

    def frame(self) -> pd.DataFrame:
        """Return one row per way of running the job: the one measured, as it is, each variant."""
        found = []
        if self.answer.named.measures is not None:
            stats = self.answer.named.measures
            found.append({"job": MEASURED} | _durations(stats.duration_ms))
        for label, scenario, outcome in self.answer.labelled:
            price = price_of(scenario, outcome.measures)
            row: dict[str, Any] = {"job": label} | _durations(outcome.measures.duration_ms)
            row |= {
                "in_flight_bytes": price.in_flight_bytes,
                "written_bytes_per_day": price.written_bytes_per_day,
                "done_again_ns": ns_of(price.done_again_s, _NS_PER_S),
            }
            if outcome.failure is not None:
                row |= {
                    "down_ns": ns_of(outcome.failure.down_s, _NS_PER_S),
                    "done_again_records": outcome.failure.done_again_records,
                    "caught_up_ns": ns_of(outcome.failure.caught_up_s, _NS_PER_S),
                }
            found.append(row)
        return tidy(frame_of(found))

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim whatif --json` prints."""
        return self.answer.document()

    @property
    def plot(self) -> WhatIfPlots:
        """The figures of the comparison."""
        return WhatIfPlots(self.answer)

    def _facts(self) -> Facts:
        facts: list[tuple[str, object]] = []
        if self.answer.named.measures is not None:
            facts.append((MEASURED, _said(self.answer.named.measures.duration_ms)))
        for label, _, outcome in self.answer.labelled:
            facts.append((label, _said(outcome.measures.duration_ms)))
        return [*facts, *(("note", note) for note in self.answer.notes[:2])]

    def _repr_html_(self) -> str:
        return self.answer.body()


def _durations(stats: Any) -> dict[str, Any]:
    return {
        "n": stats["n"],
        "median_ns": ns_of(stats.get("median"), _NS_PER_MS),
        "p95_ns": ns_of(stats.get("p95"), _NS_PER_MS),
    }


def _said(stats: Any) -> str:
    if not stats["n"]:
        return "no checkpoint after the warm-up"
    return f"median {stats['median']:,.0f} ms, p95 {stats['p95']:,.0f} ms (n = {stats['n']})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Advice(Result):
    """What each interval costs in each mode, and which one costs least."""

    name: str
    advice: advice_text.Advice

    @property
    def best(self) -> Point | None:
        """The point that is advised; None where none keeps the objectives."""
        return self.advice.best

    @property
    def interval(self) -> timedelta | None:
        """The interval that is advised."""
        return None if self.best is None else timedelta(seconds=self.best.interval_s)

    def frame(self) -> pd.DataFrame:
        """Return one row per simulated interval and mode; `advised` marks the best one."""
        found = [
            {
                "mode": point.mode.value,
                "interval_ns": ns_of(point.interval_s, _NS_PER_S),
                "reached_ns": ns_of(point.effective_s, _NS_PER_S),
                "duration_ns": ns_of(point.duration_s, _NS_PER_S),
                "loss_ns": ns_of(point.loss_s, _NS_PER_S),
                "undone_ns": ns_of(point.undone_s, _NS_PER_S),
                "caught_up_ns": ns_of(point.caught_up_s, _NS_PER_S),
                "in_flight_bytes": point.in_flight_bytes,
                "written_bytes_per_day": point.written_bytes_per_day,
                "cost": point.cost,
                "advised": point is self.best,
            }
            for curve in self.advice.curves
            for point in curve.points
        ]
        return tidy(frame_of(found))

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim advise --json` prints."""
        return advice_text.document_of(self.advice)

    @property
    def plot(self) -> AdvicePlots:
        """The figures of the advice."""
        return AdvicePlots(self.advice)

    def _facts(self) -> Facts:
        best, facts = self.best, [("job", self.name)]
        if best is None:
            return [*facts, ("advised", "nothing, since no interval keeps the objectives")]
        least_s, longest_s = self.advice.flat_s
        facts += [
            ("advised", f"{best.mode.value} checkpoints every {best.interval_s:,.2f} s"),
            ("one takes", f"{best.duration_s * 1e3:,.0f} ms, loses {best.loss_s * 1e3:,.1f} ms"),
            ("a failure", f"undoes {best.undone_s:,.1f} s in the mean"),
            ("together", f"{best.cost:.2%} of the time"),
        ]
        if least_s != longest_s:
            facts.append(("as good", f"from {least_s:,.1f} s to {longest_s:,.1f} s"))
        facts += [
            (f"{c.mode.value}", f"on paper {c.young_s:,.1f} s (Young), {c.daly_s:,.1f} s (Daly)")
            for c in self.advice.curves
        ]
        return [*facts, *(("note", note) for note in self.advice.notes[:2])]

    def _repr_html_(self) -> str:
        drawn = "".join(
            f"<h4>{curve.mode.value}</h4>{picture(curve)}" for curve in self.advice.curves
        )
        return facts_html("Advice", self._facts()) + drawn


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Validation(Result):
    """Measured runs beside their predictions."""

    validation: Comparison

    def frame(self) -> pd.DataFrame:
        """Return one row per cell of measured runs: family, mode, predicted and measured median."""
        found = [
            {
                "cell": cell.name,
                "family": cell.family,
                "mode": cell.mode,
                "predicted_ns": ns_of(cell.duration.predicted, _NS_PER_MS),
                "measured_ns": ns_of(cell.duration.measured, _NS_PER_MS),
                "right": cell.duration_right,
            }
            for cell in self.validation.score.cells
        ]
        columns = ("cell", "family", "mode", "predicted_ns", "measured_ns", "right")
        return tidy(frame_of(found, columns))

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim validate --json` prints."""
        return self.validation.document()

    @property
    def plot(self) -> ValidationPlots:
        """The figures of the comparison."""
        return ValidationPlots(self.validation)

    def _facts(self) -> Facts:
        score = self.validation.score
        recovered = self.validation.recovered
        return [
            ("runs", len(self.validation.predictions) + len(recovered)),
            ("cells", len(score.cells)),
            ("durations right", f"{score.duration_share:.0%} of cells"),
            ("mean error", f"{score.mean_error:.1%} of durations above 100 ms"),
            ("bytes right", f"{score.persisted_share:.0%} of cells"),
            ("not simulated", len(score.skipped)),
        ]
