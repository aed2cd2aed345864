"""The result of `whatif`: a job as it is, measured and predicted, beside the job as it would be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, cast

from ckptsim._api.columns import aligned, frame_of, notes_lines, ns_of, paragraph, size_text, tidy
from ckptsim._api.jobs.plots import WhatIfPlots
from ckptsim._api.result import Facts, Result
from ckptsim.analysis.templates import notebook, page, rendered
from ckptsim.scenarios import Scenario
from ckptsim.scenarios.job import Job
from ckptsim.sim.infer.advice.failing import Failure, FailurePrice
from ckptsim.sim.infer.change.variants import Variant, parts_of, price_of, why
from ckptsim.sim.infer.folder import Named
from ckptsim.sim.infer.measures import Measures
from ckptsim.sim.rows import TaskRow
from ckptsim.sim.search import Subject
from ckptsim.sim.why import Why

if TYPE_CHECKING:
    import pandas as pd

    from ckptsim._api.runs.causes import View

_NS_PER_MS, _NS_PER_S = 1_000_000, 1_000_000_000
MEASURED = "as it is, measured"
_HEAD = ("", "duration", "p95", "over seeds", "in flight", "written a day", "done again")
_FAILURE_HEAD = ("", "down", "done again", "at most", "read", "latest record", "caught up after")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the runs of one scenario show, pooled, and the median duration of each run.

    completed: checkpoints of a run at most, with the warm-up.  notes: sentences for the reader.
    failure: what a failure costs, None where none was asked for.  why: the cause of the slowest
    checkpoint of the first run.  tasks: how its subtasks spent their time.
    """

    measures: Measures
    medians_ms: tuple[float, ...]
    completed: int = 0
    notes: tuple[str, ...] = ()
    why: Why
    tasks: Sequence[TaskRow] = ()
    failure: FailurePrice | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class WhatIf(Result):
    """A job as it is, measured and predicted, beside its variants (outcomes), with notes."""

    named: Named
    variants: Sequence[Variant]
    outcomes: Sequence[Outcome]
    notes: Sequence[str]
    failure: Failure | None = None

    @property
    def labelled(self) -> Iterator[tuple[str, Scenario, Outcome]]:
        """Yield the name, scenario and outcome of the job as it is and of each variant."""
        labels = ["as it is, predicted", *(one.name for one in self.variants)]
        scenarios = [self.named.scenario, *(one.scenario for one in self.variants)]
        yield from zip(labels, scenarios, self.outcomes, strict=True)

    def view(self) -> View:
        """Return a page of the job as it is beside its first variant, run with seed 0."""
        from ckptsim._api.runs.causes import View
        from ckptsim.analysis.viewer import view_of_run

        shown = list(self.labelled)[:2]
        return View(
            documents=[
                view_of_run(Subject(scenario=scenario), title=label) for label, scenario, _ in shown
            ]
        )

    @property
    def text(self) -> str:
        """The tables, which part of a checkpoint moved, the causes and the notes."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield from aligned(_HEAD, list(self._rows()))
        if self.variants:
            yield "\nwhich part of a checkpoint moved:"
            for line in self._moved():
                yield from aligned((), [("", line)])
        yield "\nwhy the slowest checkpoint of the first run took so long:"
        for label, _, outcome in self.labelled:
            yield from paragraph(f"  {label}: {outcome.why.line}")
        if self.failure is not None:
            yield f"\n{_failure_title(self.failure)}"
            yield from aligned(_FAILURE_HEAD, list(self._failure_rows()))
        yield from notes_lines(self.notes)

    def page(self) -> str:
        """Return the answer as a page."""
        return page(f"What if: {self.named.scenario.name}", self.body())

    @property
    def headline(self) -> tuple[str, str] | None:
        """The median duration before and with the first variant, and a sentence about them."""
        if not self.variants:
            return None
        before, after = (one.measures.duration_ms.get("median") for one in self.outcomes[:2])
        name = self.variants[0].name
        says = f"The median checkpoint takes {_ms(after)} with {name}, and {_ms(before)} as it is."
        return f"{_ms(before)} to {_ms(after)}", says

    def body(self) -> str:
        """Return the answer as HTML, for a page with more than that."""
        lasts = [(label, outcome.measures.last) for label, _, outcome in self.labelled]
        if self.named.measures is not None:
            lasts.insert(0, (MEASURED, self.named.measures.last))
        tables = [{"title": "", "head": _HEAD, "rows": list(self._rows())}]
        if self.failure is not None:
            rows = list(self._failure_rows())
            title = _failure_title(self.failure)
            tables.append({"title": title, "head": _FAILURE_HEAD, "rows": rows})
        return rendered(
            "whatif.html",
            headline=self.headline,
            graph=self.graph,
            causes=[f"{label}: {outcome.why.line}" for label, _, outcome in self.labelled],
            tables=tables,
            bars=_bars([(label, last.vertex, parts_of(last)) for label, last in lasts if last]),
            moved=self._moved(),
            notes=self.notes,
        )

    @property
    def graph(self) -> dict[str, Any]:
        """The graph of the job as it is, with its loads in the first run."""
        from ckptsim.analysis.viewer import job_graph

        return job_graph(cast("Job", self.named.scenario.model), self.outcomes[0].tasks)

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim whatif --json` prints. `variant` is the first of `variants`."""
        base = self.outcomes[0].measures
        measured = None if self.named.measures is None else _statistics(self.named.measures)
        baseline, *others = [_figures(scenario, outcome) for _, scenario, outcome in self.labelled]
        variants = [
            {"change": dict(variant.change), **found, "why": why(base, outcome.measures)}
            for variant, found, outcome in zip(
                self.variants, others, self.outcomes[1:], strict=True
            )
        ]
        return {
            "baseline": {"measured": measured, **baseline},
            "variant": variants[0] if variants else None,
            "variants": variants,
            "failure": None if self.failure is None else asdict(self.failure),
            "notes": list(self.notes),
        }

    def _rows(self) -> Iterator[tuple[str, ...]]:
        """Yield the rows of the table: measured, predicted as it is, and each variant."""
        if self.named.measures is not None:
            yield _measured_row(self.named.measures)
        for label, scenario, outcome in self.labelled:
            yield _row(label, scenario, outcome)

    def _failure_rows(self) -> Iterator[tuple[str, ...]]:
        for label, _, outcome in self.labelled:
            if outcome.failure is not None:
                yield _failure_row(label, outcome.failure)

    def _moved(self) -> list[str]:
        base = self.outcomes[0].measures
        return [
            f"{variant.name}: {why(base, outcome.measures)}"
            for variant, outcome in zip(self.variants, self.outcomes[1:], strict=True)
        ]

    def frame(self) -> pd.DataFrame:
        """Return one row per way of running the job: the one measured, as it is, each variant."""
        found = []
        if self.named.measures is not None:
            stats = self.named.measures
            found.append({"job": MEASURED} | _durations(stats.duration_ms))
        for label, scenario, outcome in self.labelled:
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

    @property
    def plot(self) -> WhatIfPlots:
        """The figures of the comparison."""
        return WhatIfPlots(self)

    def _facts(self) -> Facts:
        facts: list[tuple[str, object]] = []
        if self.named.measures is not None:
            facts.append((MEASURED, _said(self.named.measures.duration_ms)))
        for label, _, outcome in self.labelled:
            facts.append((label, _said(outcome.measures.duration_ms)))
        return [*facts, *(("note", note) for note in self.notes[:2])]

    def _repr_html_(self) -> str:
        return notebook(self.body())


# Rows --------------------------------------------------------------------------------------------


def _failure_title(failure: Failure) -> str:
    return (
        f"when {failure.vertex} fails, and the job is restarted after"
        f" {failure.restart_ns / 1e9:g} s (medians over the phases of the interval):"
    )


def _measured_row(found: Measures) -> tuple[str, ...]:
    return (
        MEASURED,
        _ms(found.duration_ms.get("median")),
        _ms(found.duration_ms.get("p95")),
        f"n = {found.duration_ms['n']}",
        size_text(found.persisted_bytes.get("median")),
        "",
        "",
    )


def _row(label: str, scenario: Scenario, outcome: Outcome) -> tuple[str, ...]:
    measures, price = outcome.measures, price_of(scenario, outcome.measures)
    spread = outcome.medians_ms
    if not spread:
        return (label, "-", "-", _none(outcome), "-", "-", "-")
    return (
        label,
        _ms(measures.duration_ms.get("median")),
        _ms(measures.duration_ms.get("p95")),
        f"{min(spread):,.0f} to {max(spread):,.0f} ms",
        size_text(price.in_flight_bytes),
        size_text(price.written_bytes_per_day),
        f"{price.done_again_s:,.1f} s",
    )


def _none(outcome: Outcome) -> str:
    if not outcome.completed:
        return "none completed"
    return f"{outcome.completed} of {outcome.completed} left out as warm-up"


def _failure_row(label: str, price: FailurePrice) -> tuple[str, ...]:
    caught_up = _seconds(price.caught_up_s)
    if price.not_caught_up:
        caught_up += f" ({price.not_caught_up} of {price.failures} not)"
    return (
        label,
        _seconds(price.down_s),
        f"{price.done_again_records:,.0f} records",
        f"{price.done_again_most_records:,}",
        size_text(price.read_bytes),
        _seconds(price.latest_s),
        caught_up,
    )


def _bars(rows: Sequence[tuple[str, str, Mapping[str, float]]]) -> list[dict[str, Any]]:
    """Return bars of parts in ms as a template draws them: label, vertex, parts, and the whole."""
    longest = max((sum(parts.values()) for _, _, parts in rows), default=0.0) or 1.0
    return [
        {
            "label": label,
            "vertex": vertex,
            "took": _ms(sum(parts.values())),
            "parts": [
                {"name": name, "share": f"{value / longest:.4f}", "took": _ms(value)}
                for name, value in parts.items()
            ],
        }
        for label, vertex, parts in rows
    ]


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f} ms"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:,.2f} s"


# Figures -----------------------------------------------------------------------------------------


def _figures(scenario: Scenario, outcome: Outcome) -> dict[str, Any]:
    medians = outcome.medians_ms
    return {
        "predicted": _statistics(outcome.measures),
        "median_of_seeds_ms": {
            "n": len(medians),
            "least": min(medians, default=None),
            "middle": median(medians) if medians else None,
            "most": max(medians, default=None),
        },
        "price": asdict(price_of(scenario, outcome.measures)),
        "failure": None if outcome.failure is None else asdict(outcome.failure),
        "vertices": {name: asdict(one) for name, one in outcome.measures.vertices.items()},
        **outcome.why.document(),
    }


def _statistics(found: Measures) -> Mapping[str, Any]:
    return {
        "end_to_end_duration_ms": found.duration_ms,
        "persisted_bytes": found.persisted_bytes,
        "processed_bytes": found.processed_bytes,
    }


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
