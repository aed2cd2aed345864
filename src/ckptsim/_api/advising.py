"""What `advise` simulates: intervals in each mode, with failures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from ckptsim._api.advice import Advice
from ckptsim._api.advice_picture import Curve
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.job import Job, Mode
from ckptsim.sim.infer import advice
from ckptsim.sim.infer.advice.budget import loads_of
from ckptsim.sim.infer.advice.day import WHOLE_DAY, LoadPeriod, loaded
from ckptsim.sim.infer.advice.warnings import transaction_warnings, warnings_of
from ckptsim.sim.infer.folder import Named

_POINTS = 7
MODES = (Mode.ALIGNED, Mode.UNALIGNED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is wished of checkpoints: for which failures, within which objectives, in which modes.

    max_overhead: the share of time that checkpoints may take.  load: parts of a day, None where
    the load is always the same.
    """

    mtbf_s: float
    restart_s: float = 10.0
    rto_s: float | None = None
    max_reprocessed: int | None = None
    max_overhead: float | None = None
    modes: Sequence[Mode] = MODES
    load: Sequence[LoadPeriod] | None = None

    def allows(self, point: advice.Point) -> bool:
        """Return whether a point keeps all objectives; a failure undoes as much as it can."""
        worst_s = point.caught_up_most_s
        if worst_s is None:  # nothing is due at an instant: what is undone is done again
            worst_s = self.restart_s + point.effective_s + point.duration_s
        overhead = point.loss_s / point.effective_s
        return (
            (self.rto_s is None or worst_s <= self.rto_s)
            and (self.max_reprocessed is None or point.undone_most_records <= self.max_reprocessed)
            and (self.max_overhead is None or overhead <= self.max_overhead)
        )


def advised(named: Named, wish: Wish, ran: Callable[[int], object] = int) -> Advice:
    """Simulate intervals in each mode, and return what each costs and which one costs least.

    ran: is called after each run, with about how many there are.
    Raises UserError for a job that cannot catch up after a failure, and for a load that has no
    source to change.
    """
    scenario = named.scenario
    job = cast("Job", scenario.model)
    parts = WHOLE_DAY if wish.load is None else wish.load
    if wish.load is not None and all(v.rate_per_s is None for v in job.vertices):
        expected = "a source with a rate: say one with --set source.NAME.rate"
        raise UserError(f"--load: found no source whose rate could change, expected {expected}")
    heaviest = cast("Job", loaded(scenario, max(part.factor for part in parts)).model)
    overloaded = [name for name, load in loads_of(heaviest).items() if load >= 1]
    if overloaded:
        raise UserError(
            f"{named.place or scenario.name}: found {', '.join(overloaded)} overloaded, expected a"
            " job that can catch up after a failure: no interval helps this one"
        )
    failures = advice.Failures(mtbf_s=wish.mtbf_s, restart_s=wish.restart_s)
    about = len(wish.modes) * (_POINTS + 1) * advice.RUNS_OF_A_POINT * len(parts)
    advisor = advice.Advisor(scenario, failures, parts=parts, ran=lambda: ran(about))
    curves = []
    for mode in wish.modes:
        first = advisor.point(mode, job.checkpointing.interval_ns / 1e9)
        grid_s = advice.grid_s(heaviest, first, failures, count=_POINTS)
        curves.append(_curve(advisor, mode, grid_s))
    every = [point for curve in curves for point in curve.points]
    found = advice.best_of(every, allowed=wish.allows)
    flat_s = (0.0, 0.0)
    if found is not None:
        of_mode = [point for point in every if point.mode is found.mode]
        flat_s = advice.flat_s(of_mode, found, failures, allowed=wish.allows)
    cheapest = found or min(every, key=lambda one: one.cost)
    notes = [*transaction_warnings(job, cheapest, failures), *warnings_of(job, named.recording)]
    return Advice(name=scenario.name, curves=curves, best=found, flat_s=flat_s, notes=notes)


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
