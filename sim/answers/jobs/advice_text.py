"""The answer of `advise`: its table, its sentences, the document of `--json` and the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from ckptsim.sim.answers.columns import aligned, notes_lines, paragraph, size_text
from ckptsim.sim.answers.jobs.advice_picture import Curve, picture
from ckptsim.sim.answers.jobs.variant_page import table_lines, whole_page
from ckptsim.sim.infer.advice import SCATTER, Point, frontier_of

# Optima that differ by less are one: six failures for each point scatter by so much.
_NEAR = 0.15
_BACK_TO_BACK = "no break"
_HEAD = (
    "mode",
    "interval",
    "reached",
    "duration",
    "loss each",
    "undone",
    "caught up",
    "in flight",
    "per day",
    "cost",
    "",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """The curve of each mode, the best point that keeps the objectives, and notes.

    flat_s: the least and the longest interval that cost the same as the best one, within scatter.
    """

    curves: Sequence[Curve]
    best: Point | None
    flat_s: tuple[float, float] = (0.0, 0.0)
    notes: Sequence[str] = ()


def lines_of(advice: Advice) -> Iterator[str]:
    """Yield what is printed: the table, optima beside those on paper, the frontier, the advice."""
    curves, best = advice.curves, advice.best
    rows = [_row(point, best) for curve in curves for point in curve.points]
    yield from aligned(_HEAD, rows)
    yield "\nnothing has shorter checkpoints, less in flight and a sooner recovery than"
    yield from (f"  {line}" for line in _frontier(curves))
    yield ""
    for curve in curves:
        least = _outside(curve) if curve.optimum_s is None else f"at {curve.optimum_s:,.2f} s"
        paper = f"Young {curve.young_s:,.2f} s, Daly {curve.daly_s:,.2f} s"
        yield from paragraph(
            f"{curve.mode.value}: least cost {least}; on paper {paper}. {_why(curve)}"
        )
    yield ""
    yield from paragraph(_sentence(advice))
    yield from notes_lines(advice.notes)


def _row(point: Point, best: Point | None) -> tuple[str, ...]:
    return (
        point.mode.value,
        f"{point.interval_s:,.2f} s",
        f"{point.effective_s:,.2f} s",
        f"{point.duration_s * 1e3:,.0f} ms",
        f"{point.loss_s * 1e3:,.1f} ms",
        f"{point.undone_s:,.2f} s",
        "-" if point.caught_up_s is None else f"{point.caught_up_s:,.1f} s",
        size_text(point.in_flight_bytes),
        size_text(point.written_bytes_per_day),
        f"{point.cost:.3%}",
        "<- advised" if point is best else _BACK_TO_BACK if point.is_back_to_back else "",
    )


def _outside(curve: Curve) -> str:
    """Say on which side of the simulated intervals the least cost lies."""
    kept = [point for point in curve.points if not point.is_back_to_back] or curve.points
    least = min(kept, key=lambda one: one.cost)
    if least is kept[0]:
        return f"at or below {least.interval_s:,.2f} s, the shortest that leaves a break"
    return "outside of these"


def _cannot_be_kept(curve: Curve) -> bool:
    return curve.young_s < curve.points[0].duration_s


def _why(curve: Curve) -> str:
    """Say whether paper can be believed here."""
    losses = [point.loss_s for point in curve.points]
    off = 1.0 if curve.optimum_s is None else abs(curve.young_s / curve.optimum_s - 1)
    if _cannot_be_kept(curve):
        return "Paper's is shorter than a checkpoint takes, so it cannot be kept."
    if min(losses) > 0 and max(losses) > 1.5 * min(losses):
        return "The loss depends on the interval, which paper takes as fixed."
    if off > _NEAR:
        return "Paper takes the loss as fixed and counts nothing but it and what is undone."
    return "The assumptions of paper hold."


def _sentence(advice: Advice) -> str:
    curves, best = advice.curves, advice.best
    if best is None:
        return "advised: nothing, since no simulated interval keeps the objectives"
    curve = next(one for one in curves if one.mode is best.mode)
    return (
        f"advised: {best.mode.value} checkpoints every {best.interval_s:,.2f} s. One takes"
        f" {best.duration_s * 1e3:,.0f} ms and costs {best.loss_s * 1e3:,.1f} ms of work, a failure"
        f" undoes {best.undone_s:,.1f} s in the mean; together {best.cost:.2%} of the time."
        f" The job writes {size_text(best.written_bytes_per_day)} a day."
        f" {_no_break(best)}{_flat(advice)}{_late(best)}{_on_paper(curve)}"
    )


def _no_break(best: Point) -> str:
    """Say that checkpoints follow each other without a break, where they do."""
    if not best.is_back_to_back:
        return ""
    return (
        f"They are back to back, one every {best.effective_s:,.2f} s, and the storage never rests:"
        " no longer interval keeps the objectives. "
    )


def _flat(advice: Advice) -> str:
    """Say which intervals are as good, where these are more than one."""
    least_s, longest_s = advice.flat_s
    if least_s == longest_s:
        return ""
    return (
        f"Any interval from {least_s:,.1f} s to {longest_s:,.1f} s costs the same within"
        f" {100 * SCATTER:.0f} % of what intervals can change. "
    )


def _on_paper(curve: Curve) -> str:
    """Say what interval paper has, without the end of the sentence."""
    if _cannot_be_kept(curve):
        return "The interval on paper is shorter than one takes, so it cannot be kept"
    return (
        f"On paper it would be every {curve.young_s:,.1f} s (Young) or {curve.daly_s:,.1f} s (Daly)"
    )


def _late(best: Point) -> str:
    """Say how long results are late after a failure, where that is known."""
    if best.caught_up_s is None or best.caught_up_most_s is None:
        return ""
    return (
        f"After a failure no result is late any more in {best.caught_up_s:,.0f} s in the mean,"
        f" {best.caught_up_most_s:,.0f} s at most. "
    )


def _frontier(curves: Sequence[Curve]) -> Iterator[str]:
    for point in frontier_of([p for curve in curves for p in curve.points]):
        yield (
            f"{point.mode.value} every {point.interval_s:,.2f} s:"
            f" {point.duration_s * 1e3:,.0f} ms, {size_text(point.in_flight_bytes)},"
            f" {_recovery(point)}{', no break' * point.is_back_to_back}"
        )


def _recovery(point: Point) -> str:
    if point.caught_up_s is None:
        return f"{point.undone_s:,.1f} s undone"
    return f"caught up after {point.caught_up_s:,.1f} s"


def page_of(name: str, advice: Advice) -> str:
    """Return the advice as a page: the curves of the cost, the table, the frontier, notes."""
    curves, best, notes = advice.curves, advice.best, advice.notes
    rows = [_row(point, best) for curve in curves for point in curve.points]
    title = f"How often should {name} take checkpoints?"
    items = "".join(f"<li>{escape(line)}</li>" for line in _frontier(curves))
    said = "".join(f"<li>{escape(note)}</li>" for note in notes)
    inside = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(_sentence(advice))}.</p>",
        *(_drawn(curve, advice) for curve in curves),
        *table_lines(("", _HEAD, rows)),
        "<h3>Shortest checkpoints, least in flight, soonest recovered</h3>",
        f"<p>Nothing is better in all three at</p><ul>{items}</ul>",
        f"<h3>To be read with it</h3><ul>{said}</ul>" if notes else "",
    ]
    return whole_page(title, "\n".join(inside))


def _drawn(curve: Curve, advice: Advice) -> str:
    advised = advice.best is not None and advice.best.mode is curve.mode
    drawing = picture(curve, advice.flat_s) if advised else picture(curve)
    return f"<h3>{escape(curve.mode.value)}</h3>{drawing}<p>{escape(_why(curve))}</p>"


def document_of(advice: Advice) -> dict[str, Any]:
    """Return what `--json` prints."""
    curves, best = advice.curves, advice.best
    frontier = frontier_of([point for curve in curves for point in curve.points])
    flat = {"least_s": advice.flat_s[0], "longest_s": advice.flat_s[1], "within": SCATTER}
    return {
        "curves": [asdict(curve) for curve in curves],
        "frontier": [asdict(point) for point in frontier],
        "advised": None if best is None else asdict(best),
        "as_good": None if best is None else flat,
        "says": _sentence(advice),
        "notes": list(advice.notes),
    }
