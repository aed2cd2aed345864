"""Which interval of checkpoints costs least, from simulated runs and simulated failures.

Two things cost time: taking checkpoints, and doing again what a failure undoes.  A run without
failures shows how much less the job does than without checkpoints; a run that fails at phases
spread over the interval shows how much is done again.  Of an interval `T` with a loss `C` for each
checkpoint, failures with mean `M` between two, and a restart that takes `R`, the share of time that
is lost is `C/T + (R + undone(T))/M`.

On paper the optimum is `sqrt(2 C M)` (Young), or with terms of higher order (Daly); both take `C`
as fixed, and a checkpoint as taken at an instant.  They fail where a checkpoint lasts as long as
the interval, where alignment makes `C` depend on the interval, and where the job cannot catch up.

Source: J. W. Young, CACM 17(9), 1974; J. T. Daly, FGCS 22(3), 2006, equation 37.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.job import Checkpointing, FixedDelay, Job, Mode
from ckptsim.scenarios.job.faults import CrashTask
from ckptsim.sim.infer.advice.budget import records_per_s
from ckptsim.sim.infer.measures import WARM_UP, predicted
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world

_SECOND_NS = 1_000_000_000
_YEARS_NS = 10 * 86_400 * _SECOND_NS
# Checkpoints in a run without failures, and intervals before a failure in the others: enough for
# what relaxes from one checkpoint to the next.  Failures are spread over the phases before a
# checkpoint completes and after.
_CHECKPOINTS = 7
_EARLY, _LATE = 2, 4
_BEFORE = 3
# Neighbouring intervals differ by this factor; the records that a point may take to simulate.
_RATIO = 1.6
_RECORDS = 30_000_000
# Costs that differ from a curve by less follow it; six failures scatter by so much.
_FITS = 0.04


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """How often the job fails, in the mean, and how long it is down each time."""

    mtbf_s: float
    restart_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What one interval in one mode comes to.

    interval_s: that was set; effective_s: that is reached, since a checkpoint may outlast it.
    loss_s: what one checkpoint costs the job.  undone_s: what a failure undoes in the mean, as time
    that it takes to do again; undone_most_records: the most of the simulated failures.
    cost: share of the time that is lost.
    """

    mode: Mode
    interval_s: float
    effective_s: float
    duration_s: float
    loss_s: float
    undone_s: float
    undone_most_records: int
    in_flight_bytes: float
    cost: float


def young_s(loss_s: float, mtbf_s: float) -> float:
    """Return the best interval between two checkpoints by Young."""
    return math.sqrt(2 * loss_s * mtbf_s)


def daly_s(loss_s: float, mtbf_s: float) -> float:
    """Return the best interval between two checkpoints by Daly, from one's end to the other's."""
    if loss_s >= 2 * mtbf_s:
        return mtbf_s
    ratio = loss_s / (2 * mtbf_s)
    return young_s(loss_s, mtbf_s) * (1 + math.sqrt(ratio) / 3 + ratio / 9)


class Advisor:
    """Simulates a job at intervals and modes, each once; `failures` are those that it may have."""

    def __init__(self, scenario: Scenario, failures: Failures, *, seed: int = 1) -> None:
        self._scenario = scenario
        self.failures = self._failures = failures
        self._seed = seed
        self._points: dict[tuple[Mode, float], Point] = {}

    def point(self, mode: Mode, interval_s: float) -> Point:
        """Return what an interval comes to."""
        key = mode, interval_s
        if key not in self._points:
            self._points[key] = self._measured(mode, interval_s)
        return self._points[key]

    def curve(
        self, mode: Mode, intervals_s: Sequence[float], tick: Callable[[], object] = int
    ) -> list[Point]:
        """Return the points of a mode, by interval."""
        found = []
        for interval_s in sorted(intervals_s):
            found.append(self.point(mode, interval_s))
            tick()
        return found

    # Runs -------------------------------------------------------------------------------------

    def _measured(self, mode: Mode, interval_s: float) -> Point:
        window_s = max(_CHECKPOINTS * interval_s, 5.0)
        calm = self._run(mode, interval_s, window_s)
        found = predicted([calm])
        duration_s = found.duration_ms.get("median", window_s * 1e3) / 1e3
        effective_s = max(interval_s, duration_s)
        taken = int(found.duration_ms["n"]) + WARM_UP
        lost = max(0.0, 1 - _rate(calm) / self._without(window_s))
        loss_s = lost * window_s / taken
        undone = self._undone(mode, interval_s, (effective_s, duration_s))
        emitted = _emitted(calm)
        undone_s = math.fsum(share * count for share, count in undone) / max(1.0, emitted)
        failures = self._failures
        return Point(
            mode=mode,
            interval_s=interval_s,
            effective_s=effective_s,
            duration_s=duration_s,
            loss_s=loss_s,
            undone_s=undone_s,
            undone_most_records=max((count for _, count in undone), default=0),
            in_flight_bytes=found.persisted_bytes.get("median", 0.0),
            cost=loss_s / effective_s + (failures.restart_s + undone_s) / failures.mtbf_s,
        )

    def _undone(
        self, mode: Mode, interval_s: float, times_s: tuple[float, float]
    ) -> list[tuple[float, int]]:
        """Return shares of failures and how many records each undoes, each in a run of its own.

        times_s: the interval that is reached, and how long a checkpoint takes.  Before it completes
        a failure undoes a whole interval more, so phases are spread over either part on its own.
        """
        effective_s, duration_s = times_s
        early = min(1.0, duration_s / effective_s)
        found = []
        for share, phase_s in _phases(effective_s, early):
            at_s = _BEFORE * effective_s + phase_s
            window_s = at_s + self._failures.restart_s + 1
            failing = self._run(mode, interval_s, window_s, crash_s=at_s)
            found += [(share, row.records_reprocessed) for row in failing.recoveries[:1]]
        return found

    def _without(self, window_s: float) -> float:
        """Return records per second of the job without checkpoints, over the same time."""
        return _rate(self._run(Mode.ALIGNED, None, window_s))

    def _run(
        self,
        mode: Mode,
        interval_s: float | None,
        window_s: float,
        *,
        crash_s: float | None = None,
    ) -> RunResult:
        job = cast("Job", self._scenario.model)
        interval_ns = _YEARS_NS if interval_s is None else round(interval_s * _SECOND_NS)
        checkpointing = _in_mode(job.checkpointing, mode, interval_ns)
        restart = FixedDelay(delay_ns=round(self._failures.restart_s * _SECOND_NS))
        last = next(v for v in reversed(job.vertices) if not v.is_source)
        model = replace(
            job,
            checkpointing=checkpointing,
            restart=restart,
            duration_ns=max(1, round(window_s * _SECOND_NS)),
        )
        faults: tuple[CrashTask, ...] = ()
        if crash_s is not None:
            at_ns = round(crash_s * _SECOND_NS)
            faults = (CrashTask(vertex=last.name, subtask=0, at_ns=at_ns),)
        return run_world(replace(self._scenario, model=model, faults=faults), seed=self._seed)


def _phases(effective_s: float, early: float) -> Iterator[tuple[float, float]]:
    """Yield shares of all failures and when each strikes, from a trigger on, in s.

    early: the share of the interval before the checkpoint completes.
    """
    for number in range(_EARLY):
        yield early / _EARLY, (number + 0.5) / _EARLY * early * effective_s
    late = 1 - early
    for number in range(_LATE if late > 0 else 0):
        yield late / _LATE, (early + (number + 0.5) / _LATE * late) * effective_s


def _in_mode(table: Checkpointing, mode: Mode, interval_ns: int) -> Checkpointing:
    """Return checkpoints in a mode, begun after an interval, as many as a run has time for."""
    return replace(
        table,
        mode=mode,
        interval_ns=interval_ns,
        first_trigger_ns=None if interval_ns == _YEARS_NS else interval_ns,
        count=None,
        tolerable_failures=1_000_000,
        max_concurrent=1,
    )


def _rate(result: RunResult) -> float:
    """Return how many records per second all tasks together have processed, at least one."""
    total = max(1, sum(task.records for task in result.tasks))
    return total / max(1, result.run.ended_ns) * _SECOND_NS


def _emitted(result: RunResult) -> float:
    """Return how many records per second the sources have emitted."""
    return result.run.records_produced / max(1, result.run.ended_ns) * _SECOND_NS


def best_of(points: Sequence[Point], *, allowed: Callable[[Point], bool]) -> Point | None:
    """Return the point of least cost among those that are allowed; of equal ones the longest."""
    found = [point for point in points if allowed(point)]
    return min(found, key=lambda one: (one.cost, -one.effective_s), default=None)


def optimum_s(points: Sequence[Point]) -> float | None:
    """Return the interval of least cost; None where the least is at an end, so it lies outside.

    points: of one mode, by interval.  Where the costs follow `a/T + b + cT` it is the least of that
    curve, which all points have a part in; elsewhere a parabola over the logarithm of the interval
    joins the least point and its neighbours.
    """
    costs = [point.cost for point in points]
    place = costs.index(min(costs))
    if not 0 < place < len(points) - 1:
        return None
    near = points[max(0, place - 2) : place + 3]
    return _on_a_curve(near) or _on_a_parabola(points[place - 1 : place + 2])


def _on_a_curve(points: Sequence[Point]) -> float | None:
    """Return the least of the curve of that form that fits best; None where none fits."""
    if len(points) < 4:
        return None
    times = np.array([point.effective_s for point in points])
    costs = np.array([point.cost for point in points])
    basis = np.stack([1 / times, np.ones_like(times), times], axis=1)
    found = np.linalg.lstsq(basis, costs, rcond=None)[0]
    rest = np.abs(basis @ found - costs) / costs
    if float(rest.max()) > _FITS or found[0] <= 0 or found[2] <= 0:
        return None
    return float(math.sqrt(found[0] / found[2]))


def _on_a_parabola(points: Sequence[Point]) -> float:
    x0, x1, x2 = (math.log(point.effective_s) for point in points)
    y0, y1, y2 = (point.cost for point in points)
    over = (x1 - x0) ** 2 * (y1 - y2) - (x1 - x2) ** 2 * (y1 - y0)
    under = (x1 - x0) * (y1 - y2) - (x1 - x2) * (y1 - y0)
    return math.exp(x1 - over / (2 * under)) if under else points[1].effective_s


def grid_s(job: Job, first: Point, failures: Failures, *, count: int) -> list[float]:
    """Return intervals about the best one on paper, as far as runs of them take seconds.

    first: a point that says what a checkpoint costs and how long it lasts.
    """
    centre = max(young_s(first.loss_s, failures.mtbf_s), first.duration_s, 0.05)
    # All runs of a point together are some 35 intervals.
    longest = _RECORDS / 35 / max(1.0, records_per_s(job))
    found = [centre * _RATIO ** (number - count // 2) for number in range(count)]
    return [interval for interval in found if interval <= longest] or [min(found)]
