"""The result of `advise`: the cost of each interval in each mode, and the one that costs least."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ckptsim._api.columns import aligned, frame_of, notes_lines, ns_of, paragraph, size_text, tidy
from ckptsim._api.jobs.plots import AdvicePlots, Curve, picture
from ckptsim._api.result import Facts, Result
from ckptsim.analysis.templates import notebook, page, rendered
from ckptsim.sim.infer.advice import SCATTER, Point, frontier_of

if TYPE_CHECKING:
    import pandas as pd

_NS_PER_S = 1_000_000_000
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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Advice(Result):
    """The cost of each interval in each mode, and the interval that costs least.

    name: of the job. best: the point that is advised, None where none keeps the objectives.
    flat_s: the least and the longest interval that cost the same as the best one, within scatter.
    notes: what must be read with the advice.  others: settings of state at that interval, each with
    its point and a sentence.  unseen: a line with all that has no part.  price_per_day: of the
    advised point.
    """

    name: str
    curves: Sequence[Curve]
    best: Point | None
    flat_s: tuple[float, float] = (0.0, 0.0)
    notes: Sequence[str] = ()
    others: Sequence[tuple[str, Point, str]] = ()
    unseen: str = ""
    price_per_day: float = 0.0

    @property
    def interval(self) -> timedelta | None:
        """The interval that is advised."""
        return None if self.best is None else timedelta(seconds=self.best.interval_s)

    @property
    def points(self) -> list[Point]:
        """The simulated intervals of all modes."""
        return [point for curve in self.curves for point in curve.points]

    def frame(self) -> pd.DataFrame:
        """Return one row per simulated interval and mode. `advised` marks the best one."""
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
            for point in self.points
        ]
        return tidy(frame_of(found))

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim advise --json` prints."""
        flat = {"least_s": self.flat_s[0], "longest_s": self.flat_s[1], "within": SCATTER}
        return {
            "curves": [asdict(curve) for curve in self.curves],
            "frontier": [asdict(point) for point in frontier_of(self.points)],
            "advised": None if self.best is None else asdict(self.best),
            "as_good": None if self.best is None else flat,
            "says": _sentence(self),
            "notes": list(self.notes),
            "others": {name: asdict(point) for name, point, _ in self.others},
            "not_looked_at": self.unseen,
            "price_per_day": self.price_per_day,
        }

    @property
    def plot(self) -> AdvicePlots:
        """The figures of the advice."""
        return AdvicePlots(self)

    @property
    def text(self) -> str:
        """The table, the frontier, optima beside those on paper, the advice and the notes."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield from aligned(_HEAD, [_row(point, self.best) for point in self.points])
        yield "\nnothing has shorter checkpoints, less in flight and a sooner recovery than"
        yield from (f"  {line}" for line in _frontier(self.points))
        yield ""
        for curve in self.curves:
            least = _outside(curve) if curve.optimum_s is None else f"at {curve.optimum_s:,.2f} s"
            paper = f"Young {curve.young_s:,.2f} s, Daly {curve.daly_s:,.2f} s"
            yield from paragraph(
                f"{curve.mode.value}: least cost {least}; on paper {paper}. {_why(curve)}"
            )
        yield ""
        yield from paragraph(_sentence(self))
        for _, _, says in self.others:
            yield from paragraph(says)
        yield from paragraph(self.unseen)
        yield from notes_lines(self.notes)

    def page(self) -> str:
        """Return the advice as a page: the curves of the cost, the table, the frontier, notes."""
        return page(f"How often should {self.name} take checkpoints?", self._inside())

    def _inside(self) -> str:
        best = self.best
        told = "" if best is None else f"{best.mode.value}, every {best.interval_s:,.3g} s"
        return rendered(
            "advice.html",
            headline=told or "No interval keeps the objectives",
            says=_sentence(self),
            curves=[self._drawn(curve) for curve in self.curves],
            head=_HEAD,
            rows=[_row(point, best) for point in self.points],
            frontier=list(_frontier(self.points)),
            notes=self.notes,
        )

    def _drawn(self, curve: Curve) -> dict[str, Any]:
        advised = self.best is not None and self.best.mode is curve.mode
        drawn = picture(curve, self.flat_s if advised else (0.0, 0.0), beside=self.curves)
        return {"mode": curve.mode.value, "drawn": drawn, "why": _why(curve)}

    def _facts(self) -> Facts:
        best, facts = self.best, [("job", self.name)]
        if best is None:
            return [*facts, ("advised", "nothing, since no interval keeps the objectives")]
        least_s, longest_s = self.flat_s
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
            for c in self.curves
        ]
        return [*facts, *(("note", note) for note in self.notes[:2])]

    def _repr_html_(self) -> str:
        return notebook(self._inside())


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
    kept = [point for point in curve.points if not point.is_back_to_back] or curve.points
    least = min(kept, key=lambda one: one.cost)
    if least is kept[0]:
        return f"at or below {least.interval_s:,.2f} s, the shortest of these"
    return "outside of these"


def _cannot_be_kept(curve: Curve) -> bool:
    return curve.young_s < curve.points[0].duration_s


def _why(curve: Curve) -> str:
    losses = [point.loss_s for point in curve.points]
    off = 1.0 if curve.optimum_s is None else abs(curve.young_s / curve.optimum_s - 1)
    if _cannot_be_kept(curve):
        return "Paper's is shorter than a checkpoint takes, so it cannot be kept."
    if min(losses) > 0 and max(losses) > 1.5 * min(losses):
        return "The loss depends on the interval, which paper takes as fixed."
    if off > _NEAR:
        return "The closed form takes the loss as fixed and counts only it and the undone work."
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
        f" The job writes {size_text(best.written_bytes_per_day)} a day. That is"
        f" {best.requests_per_day:,.0f} files{_price(advice)}."
        f" {_no_break(best)}{_flat(advice)}{_late(best)}{_on_paper(curve)}"
    )


def _price(advice: Advice) -> str:
    return f", for {advice.price_per_day:,.2f}" if advice.price_per_day else ""


def _no_break(best: Point) -> str:
    if not best.is_back_to_back:
        return ""
    return (
        f"They are back to back, one every {best.effective_s:,.2f} s, and the storage never rests:"
        " no longer interval keeps the objectives. "
    )


def _flat(advice: Advice) -> str:
    least_s, longest_s = advice.flat_s
    if least_s == longest_s:
        return ""
    return (
        f"Any interval from {least_s:,.1f} s to {longest_s:,.1f} s costs the same within"
        f" {100 * SCATTER:.0f} % of what intervals can change. "
    )


def _on_paper(curve: Curve) -> str:
    if _cannot_be_kept(curve):
        return "The interval on paper is shorter than one takes, so it cannot be kept"
    return (
        f"On paper it would be every {curve.young_s:,.1f} s (Young) or {curve.daly_s:,.1f} s (Daly)"
    )


def _late(best: Point) -> str:
    if best.caught_up_s is None or best.caught_up_most_s is None:
        return ""
    return (
        f"After a failure no result is late any more in {best.caught_up_s:,.0f} s in the mean,"
        f" {best.caught_up_most_s:,.0f} s at most. "
    )


def _frontier(points: Sequence[Point]) -> Iterator[str]:
    for point in frontier_of(points):
        yield (
            f"{point.mode.value} every {point.interval_s:,.2f} s:"
            f" {point.duration_s * 1e3:,.0f} ms, {size_text(point.in_flight_bytes)},"
            f" {_recovery(point)}{', no break' * point.is_back_to_back}"
        )


def _recovery(point: Point) -> str:
    if point.caught_up_s is None:
        return f"{point.undone_s:,.1f} s undone"
    return f"caught up after {point.caught_up_s:,.1f} s"
