"""The answer of `advise`: its table, its sentences, the document of `--json` and the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from ckptsim.scenarios.job import Mode
from ckptsim.sim.cli.columns import aligned, notes_lines, paragraph, size_text
from ckptsim.sim.cli.jobs.answer import table_lines, whole_page
from ckptsim.sim.infer.advice import SCATTER, Point, frontier_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The points of a mode, by interval, and the best intervals simulated and on paper."""

    mode: Mode
    points: tuple[Point, ...]
    optimum_s: float | None
    young_s: float
    daly_s: float


_WIDE, _HIGH, _LEFT, _BELOW = 640, 260, 60, 40
_COST, _PAPER, _BEST = "#4c78a8", "#f58518", "#54a24b"
_TICKS = 4


def picture(curve: Curve, flat_s: tuple[float, float] = (0.0, 0.0)) -> str:
    """Return a drawing: cost over the interval, both of them simulated, and the optima as lines.

    The interval is the one that is reached, on a logarithmic axis; the cost begins at 0.  Behind
    the curve lies a band over intervals that are as good as the best one, where these are several.
    """
    marks = [("Young", curve.young_s, _PAPER), ("Daly", curve.daly_s, _PAPER)]
    if curve.optimum_s is not None:
        marks.append(("simulated", curve.optimum_s, _BEST))
    points = sorted(curve.points, key=lambda one: one.effective_s)
    times = [one.effective_s for one in points] + [time_s for _, time_s, _ in marks if time_s > 0]
    low, high = math.log(min(times) / 1.1), math.log(max(times) * 1.1)
    most = max(one.cost for one in points) * 1.1 or 1.0

    def x(time_s: float) -> float:
        return _LEFT + (math.log(time_s) - low) / (high - low) * _WIDE

    def y(cost: float) -> float:
        return 10 + (1 - cost / most) * _HIGH

    lines = [
        *_band(x, flat_s),
        *_axes((x, y), math.exp(low), math.exp(high), most),
        *_marks(x, marks),
        *_curve((x, y), points),
    ]
    size = f"0 0 {_LEFT + _WIDE + 90} {_HIGH + _BELOW + 20}"
    label = f"cost of {curve.mode.value} checkpoints over their interval"
    return f'<svg viewBox="{size}" role="img" aria-label="{escape(label)}">{"".join(lines)}</svg>'


Scale = Callable[[float], float]


def _axes(scales: tuple[Scale, Scale], low: float, high: float, most: float) -> Iterator[str]:
    x, y = scales
    bottom = _HIGH + 10
    yield f'<path d="M{_LEFT} 10V{bottom}H{_LEFT + _WIDE}" fill="none" stroke="currentColor"/>'
    for number in range(_TICKS + 1):
        cost = most * number / _TICKS
        yield f'<text x="{_LEFT - 8}" y="{y(cost) + 4:.0f}" text-anchor="end">{cost:.2%}</text>'
        time_s = low * (high / low) ** (number / _TICKS)
        place = f'x="{x(time_s):.0f}" y="{bottom + 16}" text-anchor="middle"'
        yield f"<text {place}>{time_s:,.3g} s</text>"
    middle = _LEFT + _WIDE / 2
    says = "from one checkpoint to the next; upwards the share of the time that is lost"
    yield f'<text x="{middle:.0f}" y="{bottom + 36}" text-anchor="middle">{says}</text>'


def _band(x: Scale, flat_s: tuple[float, float]) -> Iterator[str]:
    least_s, longest_s = flat_s
    if least_s == longest_s:
        return
    left, wide = x(least_s), x(longest_s) - x(least_s)
    place = f'x="{left + wide / 2:.1f}" y="{_HIGH + 2}" text-anchor="middle"'
    yield (
        f'<rect x="{left:.1f}" y="10" width="{wide:.1f}" height="{_HIGH}" fill="{_BEST}"'
        f' opacity="0.2"/><text {place}>as good: {least_s:,.3g} s to {longest_s:,.3g} s</text>'
    )


def _marks(x: Scale, marks: list[tuple[str, float, str]]) -> Iterator[str]:
    """Yield a dashed line for each optimum; an interval of 0 has no place on the axis."""
    for number, (name, time_s, colour) in enumerate(marks):
        if time_s <= 0:
            continue
        at = f"{x(time_s):.1f}"
        yield (
            f'<path d="M{at} 10V{_HIGH + 10}" stroke="{colour}" stroke-dasharray="5 4"/>'
            f'<text x="{at}" y="{24 + 14 * number}" dx="4">{name} {time_s:,.3g} s</text>'
        )


def _curve(scales: tuple[Scale, Scale], points: list[Point]) -> Iterator[str]:
    x, y = scales
    places = [(x(one.effective_s), y(one.cost)) for one in points]
    path = " ".join(f"{across:.1f},{up:.1f}" for across, up in places)
    yield f'<polyline points="{path}" fill="none" stroke="{_COST}" stroke-width="2"/>'
    for (across, up), one in zip(places, points, strict=True):
        says = f"every {one.effective_s:,.2f} s: {one.cost:.3%}"
        yield (
            f'<circle cx="{across:.1f}" cy="{up:.1f}" r="4" fill="{_COST}">'
            f"<title>{escape(says)}</title></circle>"
        )


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
