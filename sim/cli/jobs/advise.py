"""`ckptsim advise`: which interval and mode of checkpoints cost a job least, for given failures."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.job import Job, Mode
from ckptsim.sim.cli.columns import aligned
from ckptsim.sim.cli.jobs.import_job import add_import_arguments
from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.progress import ProgressBar
from ckptsim.sim.infer.advice import (
    Advisor,
    Failures,
    Point,
    best_of,
    daly_s,
    grid_s,
    optimum_s,
    young_s,
)
from ckptsim.sim.infer.advice.loads import loads_of
from ckptsim.sim.infer.advice.warnings import warnings_of
from ckptsim.sim.infer.change import changed, read_change
from ckptsim.sim.infer.folder import job_named, place_named
from ckptsim.sim.recording.values import duration_ns

EXAMPLES = """examples:
  ckptsim advise orders --mtbf 30min --restart 20s
  ckptsim advise job.toml --mtbf 1h --restart 1min --max-reprocessed 50000
  ckptsim advise orders --mtbf 1h --restart 30s --rto 45s --modes aligned,unaligned --json

The cost of an interval is the share of time that taking checkpoints and doing again what failures
undo take together; both are simulated.  Young and Daly are what paper says with the same loss.
exit codes: 0 done, 2 no such job, or nothing that meets the objectives' units"""

_POINTS = 7
_MODES = (Mode.ALIGNED, Mode.UNALIGNED)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument(
        "job_place", type=place_named, metavar="JOB.toml|DIR", help="a scenario, or a recording"
    )
    add_import_arguments(parser)
    parser.add_argument(
        "--mtbf", type=_seconds, required=True, metavar="TIME", help="mean time between failures"
    )
    parser.add_argument(
        "--restart", type=_seconds, default=10.0, metavar="TIME", help="down after one (10 s)"
    )
    parser.add_argument("--rto", type=_seconds, metavar="TIME", help="most from failure to done")
    parser.add_argument(
        "--max-reprocessed", type=int, metavar="N", help="most records that a failure may undo"
    )
    parser.add_argument(
        "--max-overhead", type=_share, metavar="SHARE", help="most that checkpoints may take: 2%%"
    )
    parser.add_argument(
        "--modes", type=_modes, default=_MODES, help="which to compare (aligned,unaligned)"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The points of a mode, by interval, and the best intervals simulated and on paper."""

    mode: Mode
    points: tuple[Point, ...]
    optimum_s: float | None
    young_s: float
    daly_s: float


def run(arguments: argparse.Namespace) -> int:
    """Simulate intervals in each mode, and say which one costs least."""
    named = job_named(arguments.job_place, job=arguments.job, machine=arguments.machine)
    scenario = changed(named.scenario, read_change(arguments.set))
    job = cast("Job", scenario.model)
    overloaded = [name for name, load in loads_of(job).items() if load >= 1]
    if overloaded:
        raise UserError(
            f"{arguments.job_place}: found {', '.join(overloaded)} overloaded, expected a job that"
            " can catch up after a failure: no interval helps this one"
        )
    failures = Failures(mtbf_s=arguments.mtbf, restart_s=arguments.restart)
    advisor = Advisor(scenario, failures)
    curves = []
    total = len(arguments.modes) * _POINTS
    with ProgressBar("advise") as bar:
        for index, mode in enumerate(arguments.modes):
            first = advisor.point(mode, job.checkpointing.interval_ns / 1e9)
            curves.append(_curve(advisor, mode, grid_s(job, first, failures, count=_POINTS)))
            bar(done=(index + 1) * _POINTS, total=total)
    wanted = _Objectives(arguments, failures)
    found = best_of([p for curve in curves for p in curve.points], allowed=wanted.allow)
    notes = list(warnings_of(job, named.recording))
    if arguments.json:
        print(json.dumps(_document(curves, found, notes), indent=1))
    else:
        print("\n".join(_lines(curves, found, notes)))
    return EXIT_FINE


def _curve(advisor: Advisor, mode: Mode, intervals_s: Sequence[float]) -> Curve:
    points = tuple(advisor.curve(mode, intervals_s))
    losses = sorted(point.loss_s for point in points)
    loss_s = losses[len(losses) // 2]
    mtbf_s = advisor.failures.mtbf_s
    return Curve(
        mode=mode,
        points=points,
        optimum_s=optimum_s(points) if len(points) > 2 else None,
        young_s=young_s(loss_s, mtbf_s),
        daly_s=daly_s(loss_s, mtbf_s),
    )


class _Objectives:
    """What an interval must keep to be advised."""

    def __init__(self, arguments: argparse.Namespace, failures: Failures) -> None:
        self._arguments = arguments
        self._restart_s = failures.restart_s

    def allow(self, point: Point) -> bool:
        """Tell whether a point keeps all objectives; what a failure undoes is taken at its most."""
        wanted = self._arguments
        worst_s = self._restart_s + point.effective_s + point.duration_s
        return (
            (wanted.rto is None or worst_s <= wanted.rto)
            and (
                wanted.max_reprocessed is None
                or point.undone_most_records <= wanted.max_reprocessed
            )
            and (
                wanted.max_overhead is None
                or point.loss_s / point.effective_s <= wanted.max_overhead
            )
        )


# Output ------------------------------------------------------------------------------------------

_HEAD = ("mode", "interval", "reached", "duration", "loss each", "undone", "in flight", "cost", "")


def _lines(curves: Sequence[Curve], best: Point | None, notes: Sequence[str]) -> Iterator[str]:
    rows = [_row(point, best) for curve in curves for point in curve.points]
    yield from aligned(_HEAD, rows)
    yield ""
    for curve in curves:
        least = "outside of these" if curve.optimum_s is None else f"at {curve.optimum_s:,.2f} s"
        paper = f"Young {curve.young_s:,.2f} s, Daly {curve.daly_s:,.2f} s"
        yield f"{curve.mode.value}: least cost {least}; on paper {paper}. {_why(curve)}"
    yield f"\n{_sentence(curves, best)}"
    if notes:
        yield ""
        yield from (f"note: {note}" for note in notes)


def _row(point: Point, best: Point | None) -> tuple[str, ...]:
    return (
        point.mode.value,
        f"{point.interval_s:,.2f} s",
        f"{point.effective_s:,.2f} s",
        f"{point.duration_s * 1e3:,.0f} ms",
        f"{point.loss_s * 1e3:,.1f} ms",
        f"{point.undone_s:,.2f} s",
        f"{point.in_flight_bytes / 1e6:,.1f} MB",
        f"{point.cost:.3%}",
        "<- advised" if point is best else "",
    )


def _why(curve: Curve) -> str:
    """Say whether paper can be believed here."""
    first = curve.points[0]
    if curve.young_s < first.duration_s:
        return "Paper's is shorter than a checkpoint takes, so it cannot be kept."
    losses = [point.loss_s for point in curve.points]
    if min(losses) > 0 and max(losses) > 1.5 * min(losses):
        return "The loss depends on the interval, which paper takes as fixed."
    return "The assumptions of paper hold."


def _sentence(curves: Sequence[Curve], best: Point | None) -> str:
    if best is None:
        return "advised: nothing, since no simulated interval keeps the objectives"
    curve = next(one for one in curves if one.mode is best.mode)
    interval_s = best.effective_s
    if curve.optimum_s is not None and best is min(curve.points, key=lambda one: one.cost):
        interval_s = curve.optimum_s
    return (
        f"advised: {best.mode.value} checkpoints every {interval_s:,.1f} s. One takes"
        f" {best.duration_s * 1e3:,.0f} ms and costs {best.loss_s * 1e3:,.1f} ms of work, a failure"
        f" undoes {best.undone_s:,.1f} s in the mean; together {best.cost:.2%} of the time"
    )


def _document(curves: Sequence[Curve], best: Point | None, notes: Sequence[str]) -> dict[str, Any]:
    """Return what `--json` prints."""
    return {
        "curves": [asdict(curve) for curve in curves],
        "advised": None if best is None else asdict(best),
        "says": _sentence(curves, best),
        "notes": list(notes),
    }


# Arguments ---------------------------------------------------------------------------------------


def _seconds(text: str) -> float:
    found = duration_ns(text) if not text.isdigit() else None
    if found is None or found <= 0:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a time such as 30min or 20s")
    return found / 1e9


def _share(text: str) -> float:
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a share such as 2%")
    return value


def _modes(text: str) -> tuple[Mode, ...]:
    known = {mode.value: mode for mode in Mode}
    words = [word.strip() for word in text.split(",")]
    if not all(word in known for word in words):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected some of {', '.join(known)}")
    return tuple(known[word] for word in words)
