"""`ckptsim advise`: which interval and mode of checkpoints cost a job least, for given failures."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import cast

from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import written_whole
from ckptsim.scenarios.job import Job, Mode
from ckptsim.sim.cli.jobs.advice_text import Advice, Curve, document_of, lines_of, page_of
from ckptsim.sim.cli.jobs.import_job import add_import_arguments
from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.places import output_file
from ckptsim.sim.cli.progress import ProgressBar
from ckptsim.sim.infer import advice
from ckptsim.sim.infer.advice.budget import loads_of
from ckptsim.sim.infer.advice.day import WHOLE_DAY, loaded, read_load
from ckptsim.sim.infer.advice.warnings import transaction_warnings, warnings_of
from ckptsim.sim.infer.change import changed, read_change
from ckptsim.sim.infer.folder import job_named, place_named
from ckptsim.sim.recording.values import duration_ns

EXAMPLES = """examples:
  ckptsim advise orders --mtbf 30min --restart 20s
  ckptsim advise job.toml --mtbf 1h --restart 1min --max-reprocessed 50000
  ckptsim advise orders --mtbf 1h --restart 30s --rto 45s --modes aligned,unaligned --json
  ckptsim advise job.toml --mtbf 1d --load 00:00=0.3,08:00=1,20:00=60% --out advice.html

The cost of an interval is the share of time that taking checkpoints and doing again what failures
undo take together; both are simulated.  Young and Daly are what paper says with the same loss.
Checkpoints back to back are advised only where no other interval keeps the objectives.
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
    parser.add_argument(
        "--load",
        metavar="HH:MM=FACTOR,...",
        help="load through the day: from each instant on, times the rates of the sources",
    )
    parser.add_argument(
        "--out", type=output_file, metavar="PAGE.html", help="write the advice as a page, too"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Simulate intervals in each mode, and say which one costs least."""
    named = job_named(arguments.job_place, job=arguments.job, machine=arguments.machine)
    scenario = changed(named.scenario, read_change(arguments.set))
    job = cast("Job", scenario.model)
    parts = WHOLE_DAY if arguments.load is None else read_load(arguments.load)
    if arguments.load is not None and all(v.rate_per_s is None for v in job.vertices):
        expected = "a source with a rate: say one with --set source.NAME.rate"
        raise UserError(f"--load: found no source whose rate could change, expected {expected}")
    heaviest = cast("Job", loaded(scenario, max(part.factor for part in parts)).model)
    overloaded = [name for name, load in loads_of(heaviest).items() if load >= 1]
    if overloaded:
        raise UserError(
            f"{arguments.job_place}: found {', '.join(overloaded)} overloaded, expected a job that"
            " can catch up after a failure: no interval helps this one"
        )
    failures = advice.Failures(mtbf_s=arguments.mtbf, restart_s=arguments.restart)
    curves = []
    points = len(arguments.modes) * (_POINTS + 1)
    with ProgressBar("advise", total=points * advice.RUNS_OF_A_POINT * len(parts)) as bar:
        advisor = advice.Advisor(scenario, failures, parts=parts, ran=bar.step)
        for mode in arguments.modes:
            first = advisor.point(mode, job.checkpointing.interval_ns / 1e9)
            curves.append(
                _curve(advisor, mode, advice.grid_s(heaviest, first, failures, count=_POINTS))
            )
    wanted = _Objectives(arguments, failures)
    every = [point for curve in curves for point in curve.points]
    found = advice.best_of(every, allowed=wanted.allow)
    flat_s = (0.0, 0.0)
    if found is not None:
        of_mode = [point for point in every if point.mode is found.mode]
        flat_s = advice.flat_s(of_mode, found, failures, allowed=wanted.allow)
    cheapest = found or min(every, key=lambda one: one.cost)
    notes = [
        *transaction_warnings(job, cheapest, failures),
        *warnings_of(job, named.recording),
    ]
    answer = Advice(curves=curves, best=found, flat_s=flat_s, notes=notes)
    if arguments.json:
        print(json.dumps(document_of(answer), indent=1))
    else:
        print("\n".join(lines_of(answer)))
    if arguments.out is not None:
        written_whole(arguments.out, page_of(scenario.name, answer))
        print(f"written: {arguments.out}", file=sys.stderr)
    return EXIT_FINE


def _curve(advisor: advice.Advisor, mode: Mode, intervals_s: Sequence[float]) -> Curve:
    points = tuple(advice.around_the_least(advisor, mode, intervals_s))
    losses = sorted(point.loss_s for point in points)
    loss_s = losses[len(losses) // 2]
    mtbf_s = advisor.failures.mtbf_s
    kept = [point for point in points if not point.is_back_to_back]
    return Curve(
        mode=mode,
        points=points,
        optimum_s=advice.optimum_s(kept) if len(kept) > 2 else None,
        young_s=advice.young_s(loss_s, mtbf_s),
        daly_s=advice.daly_s(loss_s, mtbf_s),
    )


class _Objectives:
    """What an interval must keep to be advised."""

    def __init__(self, arguments: argparse.Namespace, failures: advice.Failures) -> None:
        self._arguments = arguments
        self._restart_s = failures.restart_s

    def allow(self, point: advice.Point) -> bool:
        """Tell whether a point keeps all objectives; what a failure undoes is taken at its most."""
        wanted = self._arguments
        worst_s = point.caught_up_most_s
        if worst_s is None:  # nothing is due at an instant: what is undone is done again
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
