"""What `advise` simulates: intervals in each mode, with failures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from ckptsim._api.jobs.advice import Advice
from ckptsim._api.jobs.plots import Curve
from ckptsim._api.jobs.recorded import AnyJob, asked_for, named_job, with_options
from ckptsim._api.result import Duration, nanoseconds
from ckptsim._api.scenario import Value
from ckptsim.scenarios import Scenario
from ckptsim.scenarios.dialect import one_of
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.job import Job, Mode
from ckptsim.sim.infer import advice
from ckptsim.sim.infer.advice.budget import loads_of
from ckptsim.sim.infer.advice.day import WHOLE_DAY, LoadPeriod, loaded, read_load
from ckptsim.sim.infer.advice.warnings import transaction_warnings, warnings_of
from ckptsim.sim.infer.advice.weighing import (
    Prices,
    alternatives,
    commits_in_time,
    compared,
    expiry_warnings,
    unseen,
)
from ckptsim.sim.infer.assumptions import assumptions
from ckptsim.sim.infer.folder import Named

_POINTS = 7
# So many intervals have time for the checkpoints that assumptions are compared on.
_CHECKPOINTS = 8
# What these runs may take: a small part of all runs for an advice.
_RECORDS = 3_000_000
_NS_PER_S = 1_000_000_000


def advise(
    job: AnyJob,
    *,
    mtbf: Duration,
    restart: Duration = 10.0,
    rto: Duration | None = None,
    max_reprocessed: int | None = None,
    max_overhead: float | None = None,
    modes: Sequence[str] = ("aligned", "unaligned"),
    load: str | None = None,
    price_gb: float = 0.0,
    price_requests: float = 0.0,
    set: Mapping[str, Value] | None = None,
    machine: str = "quiet",
    profile: str = "plain",
    job_id: str | None = None,
    full: bool = False,
    quick: bool = False,
    progress: Callable[[int], object] = int,
) -> Advice:
    """Find the interval and mode of checkpoints that cost a job least, for given failures.

    job, set, machine, profile, job_id: as of `whatif`.  mtbf: mean time between two failures.
    restart: how long the job is down after one.  rto: most from a failure until no result is late.
    max_reprocessed: most records that a failure may undo. max_overhead: most of the time that
    checkpoints may take, from 0 to 1.  load: of the day, such as "00:00=0.3,08:00=1".
    full: simulate all of long jobs.  quick: fewer checkpoints of each interval.
    price_gb, price_requests: of 1,000,000,000 written bytes and of 1,000 requests. They
    decide between intervals that cost the same time.
    progress: called after each run, with about how many there are.

    Raises UserError for a place without such a job, and for one that no interval can help.
    """
    named = with_options(named_job(job, machine, job_id, profile), set)
    named, _ = asked_for(named, full=full, quick=False)
    mtbf_s, restart_s = _failures_s(mtbf, restart)
    rto_s = None if rto is None else nanoseconds(rto, "rto") / _NS_PER_S

    def allowed(point: advice.Point) -> bool:
        """Return whether a point keeps all objectives. A failure undoes as much as it can."""
        worst_s = point.caught_up_most_s
        if worst_s is None:  # nothing is due at an instant: all undone work is done again
            worst_s = restart_s + point.effective_s + point.duration_s
        overhead = point.loss_s / point.effective_s
        return (
            (rto_s is None or worst_s <= rto_s)
            and (max_reprocessed is None or point.undone_most_records <= max_reprocessed)
            and (max_overhead is None or overhead <= max_overhead)
        )

    return _advised(
        named,
        advice.Failures(mtbf_s=mtbf_s, restart_s=restart_s),
        modes=[_mode(name) for name in modes],
        periods=None if load is None else read_load(load),
        quick=quick,
        prices=Prices(price_gb, price_requests),
        allowed=allowed,
        progress=progress,
    )


def _failures_s(mtbf: Duration, restart: Duration) -> list[float]:
    """Return both times in seconds. Raises UserError for failures without time between them."""
    if not nanoseconds(mtbf, "mtbf"):
        raise UserError(f"mtbf: found {mtbf!r}, expected a time above 0")
    given = ((mtbf, "mtbf"), (restart, "restart"))
    return [nanoseconds(value, name) / _NS_PER_S for value, name in given]


def _check_load(name: object, heaviest: Job) -> None:
    overloaded = [name for name, load in loads_of(heaviest).items() if load >= 1]
    if overloaded:
        raise UserError(
            f"{name}: found {', '.join(overloaded)} overloaded, expected a"
            " job that can catch up after a failure: no interval helps this one"
        )


def _said(*, quick: bool) -> list[str]:
    return [f"quick: {advice.QUICK_CHECKPOINTS} checkpoints of each interval"] if quick else []


def _mode(name: str) -> Mode:
    known = {mode.value: mode for mode in Mode}
    if name not in known:
        raise UserError(f"modes: found {name!r}, expected {one_of(name, list(known))}")
    return known[name]


def _advised(
    named: Named,
    failures: advice.Failures,
    *,
    modes: Sequence[Mode],
    periods: Sequence[LoadPeriod] | None,
    quick: bool,
    prices: Prices,
    allowed: Callable[[advice.Point], bool],
    progress: Callable[[int], object],
) -> Advice:
    """Simulate intervals in each mode. periods: of the load, None where it does not change."""
    scenario = named.scenario
    job = cast("Job", scenario.model)
    parts = WHOLE_DAY if periods is None else periods
    if periods is not None and all(v.rate_per_s is None for v in job.vertices):
        expected = "a source with a rate: say one with --set source.NAME.rate"
        raise UserError(f"--load: found no source with a rate, expected {expected}")
    heaviest = cast("Job", loaded(scenario, max(part.factor for part in parts)).model)
    _check_load(named.place or scenario.name, heaviest)
    about = len(modes) * (_POINTS + 1) * advice.RUNS_OF_A_POINT * len(parts)
    advisor_of = partial(
        advice.Advisor,
        failures=failures,
        parts=parts,
        checkpoints=advice.QUICK_CHECKPOINTS if quick else advice.CHECKPOINTS,
        ran=partial(progress, about),
    )
    advisor = advisor_of(scenario)
    curves = []
    for mode in modes:
        first = advisor.point(mode, job.checkpointing.interval_ns / 1e9)
        grid_s = advice.grid_s(heaviest, first, failures, count=_POINTS)
        curves.append(_curve(advisor, mode, grid_s))
    every = [point for curve in curves for point in curve.points]
    in_time = commits_in_time(job, failures)
    found = advice.best_of(every, allowed=allowed, wanted=in_time, price=prices.of)
    flat_s = (0.0, 0.0)
    if found is not None:
        of_mode = [point for point in every if point.mode is found.mode]
        flat_s = advice.flat_s(of_mode, found, failures, allowed=allowed)
    cheapest = found or min(every, key=lambda one: one.cost)
    notes = [*transaction_warnings(job, cheapest, failures), *warnings_of(job, named.recording)]
    notes += _said(quick=quick)
    notes += [*expiry_warnings(job, cheapest), *_rests_on(scenario, cheapest)]
    others = []
    for name, other in alternatives(scenario):
        point = advisor_of(other).point(cheapest.mode, cheapest.interval_s)
        others.append((name, point, compared(name, point, cheapest)))
    return Advice(
        name=scenario.name,
        curves=curves,
        best=found,
        flat_s=flat_s,
        notes=notes,
        others=others,
        unseen=unseen(job),
        price_per_day=prices.of(cheapest),
    )


def _rests_on(scenario: Scenario, point: advice.Point) -> list[str]:
    """Return the assumptions of a job as it is advised, with time for several checkpoints."""
    job = cast("Job", scenario.model)
    table = replace(
        job.checkpointing,
        mode=point.mode,
        interval_ns=round(point.interval_s * _NS_PER_S),
        first_trigger_ns=None,
    )
    time_ns = round(_CHECKPOINTS * (point.effective_s + point.duration_s) * _NS_PER_S)
    advised = replace(scenario, model=replace(job, checkpointing=table, duration_ns=time_ns))
    return assumptions(advised, most_records=_RECORDS)


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
