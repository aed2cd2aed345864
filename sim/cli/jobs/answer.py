"""The answer of `whatif`: rows, lines, the document of `--json`, and what the page shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from statistics import median
from typing import Any

from ckptsim.scenarios import Scenario
from ckptsim.sim.cli.columns import aligned, notes_lines, size_text
from ckptsim.sim.infer.advice.failing import Failure, FailurePrice
from ckptsim.sim.infer.change.variants import Variant, parts_of, price_of, why
from ckptsim.sim.infer.folder import Named
from ckptsim.sim.infer.measures import Measures

_MEASURED = "as it is, measured"
_HEAD = ("", "duration", "p95", "over seeds", "in flight", "written a day", "done again")
_FAILURE_HEAD = ("", "down", "done again", "at most", "read", "latest record", "caught up after")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the runs of one scenario show, pooled, and the median duration of each run.

    completed: checkpoints of a run at most, with those of the warm-up.  notes: what must be said.
    failure: what a failure costs, None where none was asked for.
    """

    measures: Measures
    medians_ms: tuple[float, ...]
    completed: int = 0
    notes: tuple[str, ...] = ()
    failure: FailurePrice | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A job, its variants, the outcome of each (that of the job as it is first), and notes."""

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

    def lines(self) -> Iterator[str]:
        """Yield what is printed."""
        yield from aligned(_HEAD, list(self._rows()))
        if self.variants:
            yield "\nwhich part of a checkpoint moved:"
            for line in self._moved():
                yield from aligned((), [("", line)])
        if self.failure is not None:
            yield f"\n{_failure_title(self.failure)}"
            yield from aligned(_FAILURE_HEAD, list(self._failure_rows()))
        yield from notes_lines(self.notes)

    def page(self) -> str:
        """Return the answer as a page."""
        title = f"What if: {self.named.scenario.name}"
        return whole_page(title, f"<h1>{escape(title)}</h1>\n{self.body()}")

    def body(self) -> str:
        """Return the answer as HTML, for a page with more than that."""
        lasts = [(label, outcome.measures.last) for label, _, outcome in self.labelled]
        if self.named.measures is not None:
            lasts.insert(0, (_MEASURED, self.named.measures.last))
        tables = [("", _HEAD, list(self._rows()))]
        if self.failure is not None:
            tables.append((_failure_title(self.failure), _FAILURE_HEAD, list(self._failure_rows())))
        return body(
            tables=tables,
            bars=[(label, last.vertex, parts_of(last)) for label, last in lasts if last],
            moved=self._moved(),
            notes=self.notes,
        )

    def document(self) -> dict[str, Any]:
        """Return what `--json` prints; `variant` is the first of `variants`, if there is one."""
        base = self.outcomes[0].measures
        measured = None if self.named.measures is None else _statistics(self.named.measures)
        baseline, *others = [_figures(scenario, outcome) for _, scenario, outcome in self.labelled]
        variants = [
            {
                "change": dict(variant.change),
                **found,
                "why": why(base, outcome.measures),
            }
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


# Rows --------------------------------------------------------------------------------------------


def _failure_title(failure: Failure) -> str:
    return (
        f"when {failure.vertex} fails, and the job is restarted after"
        f" {failure.restart_ns / 1e9:g} s (medians over the phases of the interval):"
    )


def _measured_row(found: Measures) -> tuple[str, ...]:
    return (
        _MEASURED,
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
    """Say why there is no duration."""
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
    }


def _statistics(found: Measures) -> Mapping[str, Any]:
    return {
        "end_to_end_duration_ms": found.duration_ms,
        "persisted_bytes": found.persisted_bytes,
        "processed_bytes": found.processed_bytes,
    }


Bar = tuple[str, str, Mapping[str, float]]
"""Label, name of the vertex that is last in a checkpoint, its parts in ms, in their order."""

Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""Title, empty for none; head and rows of texts."""

_COLOURS = ("#4c78a8", "#f58518", "#54a24b")
_STYLE = """
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .3rem .8rem; text-align: right; border-bottom: 1px solid #8884; }
.text { text-align: left; }
td + td { white-space: nowrap; }
.scroll { overflow-x: auto; }
svg.bars { display: block; width: 100%; min-width: 47rem; }
svg text { fill: currentColor; font-size: 12px; }
"""
_OF_WHAT = (
    "Of the subtask that acknowledges last, in the checkpoint of median duration. What is written"
    " while barriers are awaited counts as alignment."
)
_BAR, _GAP, _LEFT, _WIDE = 18, 10, 380, 500
# Of 12 px, that the space on the left has.
_LETTERS = 42


def whole_page(title: str, inside: str) -> str:
    """Return a page around what is HTML already; title: plain text."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>\n"
        f"{inside}\n</body></html>\n"
    )


def body(
    *,
    tables: Sequence[Table],
    bars: Sequence[Bar],
    moved: Sequence[str],
    notes: Sequence[str],
) -> str:
    """Return what stands below the title, as HTML for this page or a larger one."""
    return "\n".join(
        [
            *(line for table in tables for line in table_lines(table)),
            "<h3>Where a checkpoint spends its time</h3>",
            f"<p>{_OF_WHAT}</p>",
            _picture(bars),
            _list("What moved", moved),
            _list("To be read with it", notes),
        ]
    )


def table_lines(table: Table) -> Iterator[str]:
    """Yield a table as HTML, below its title."""
    title, head, rows = table
    if title:
        yield f"<h3>{escape(title[:1].upper() + title[1:].rstrip(':'))}</h3>"
    yield '<div class="scroll"><table><thead>' + _html_row("th", head) + "</thead><tbody>"
    yield from (_html_row("td", row) for row in rows)
    yield "</tbody></table></div>"


def _html_row(cell: str, texts: Sequence[str]) -> str:
    first, *others = texts
    cells = [f'<{cell} class="text">{escape(first)}</{cell}>']
    cells += [f"<{cell}>{escape(text)}</{cell}>" for text in others]
    return f"<tr>{''.join(cells)}</tr>"


def _list(head: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<h3>{escape(head)}</h3><ul>{items}</ul>"


def _picture(bars: Sequence[Bar]) -> str:
    """Return horizontal bars, one per label, of the parts one behind the other."""
    if not bars:
        return "<p>No checkpoint was completed.</p>"
    longest = max(sum(parts.values()) for _, _, parts in bars) or 1.0
    lines = []
    for index, (label, vertex, parts) in enumerate(bars):
        top = index * (_BAR + _GAP)
        lines.append(f'<text x="0" y="{top + 13}">{escape(_end_of(label))}</text>')
        at = float(_LEFT)
        for (name, value), colour in zip(parts.items(), _COLOURS, strict=False):
            wide = value / longest * _WIDE
            says = f"{name} of {vertex}: {value:,.0f} ms"
            lines.append(
                f'<rect x="{at:.1f}" y="{top}" width="{wide:.1f}" height="{_BAR}" '
                f'fill="{colour}"><title>{escape(says)}</title></rect>'
            )
            at += wide
        total = f"{sum(parts.values()):,.0f} ms, {vertex}"
        lines.append(f'<text x="{at + 6:.1f}" y="{top + 13}">{escape(total)}</text>')
    below = len(bars) * (_BAR + _GAP)
    for index, (name, colour) in enumerate(zip(bars[0][2], _COLOURS, strict=False)):
        left = _LEFT + index * 130
        lines.append(f'<rect x="{left}" y="{below}" width="12" height="12" fill="{colour}"/>')
        lines.append(f'<text x="{left + 18}" y="{below + 11}">{escape(name)}</text>')
    size = f"0 0 {_LEFT + _WIDE + 220} {below + 24}"
    picture = (
        f'<svg class="bars" viewBox="{size}" role="img" aria-label="parts">{"".join(lines)}</svg>'
    )
    return f'<div class="scroll">{picture}</div>'


def _end_of(label: str) -> str:
    """Return a label that fits beside its bar: variants differ in their last changes."""
    end = label
    while len(end) > _LETTERS and ", " in end:
        end = end.partition(", ")[2]
    if end != label:
        end = f"…, {end}"
    return end if len(end) <= _LETTERS else f"…{end[1 - _LETTERS :]}"
