"""Which interval of checkpoints costs least, from simulated runs and simulated failures.

Two things cost time: taking checkpoints, and doing again what a failure undoes.  A run without
failures shows how much less the job does than without checkpoints. A run that fails at phases
spread over the interval shows how much is done again.  Let an interval be `T`, the loss
of a checkpoint `C`, the mean time between failures `M` and a restart `R`. Then the share of time
that is lost is `C/T + (R + undone(T))/M`.

On paper the optimum is `sqrt(2 C M)` (Young), or with terms of higher order (Daly). Both take `C`
as fixed, and a checkpoint as taken at an instant.  They fail where a checkpoint lasts as long as
the interval, where alignment makes `C` depend on the interval, and where the job cannot catch up.

Source: J. W. Young, CACM 17(9), 1974. J. T. Daly, FGCS 22(3), 2006, equation 37.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import cast

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.job import Checkpointing, FixedDelay, Job, Mode, Recovery
from ckptsim.scenarios.job.faults import CrashTask
from ckptsim.sim.infer.advice.budget import records_per_s
from ckptsim.sim.infer.advice.curve import Failures, Point, shortest_s, young_s
from ckptsim.sim.infer.advice.day import DAY_S, WHOLE_DAY, LoadPeriod, loaded, mean_of
from ckptsim.sim.infer.advice.failing import afterwards_ns, can_make_up, caught_up_s, replayable
from ckptsim.sim.infer.advice.weighing import requests_of
from ckptsim.sim.infer.measures import WARM_UP, predicted
from ckptsim.sim.rows import RecoveryRow, RunResult
from ckptsim.sim.world import run_world

_SECOND_NS = 1_000_000_000
_YEARS_NS = 10 * 86_400 * _SECOND_NS
# Checkpoints in a run without failures, of a quick answer too, and intervals before a failure in
# the others: enough for what relaxes from one checkpoint to the next.  Failures are spread over the
# phases before a checkpoint completes and after.
CHECKPOINTS, QUICK_CHECKPOINTS = 7, 4
# So many checkpoints after the warm-up show what one takes. A run that waits for them ends here.
_SEEN = 3
_LONGEST_S = 3600.0
_EARLY, _LATE = 2, 4
RUNS_OF_A_POINT = 2 + _EARLY + _LATE
"""Runs that a point takes for each part of the day: two without failures, and those with one."""
_BEFORE = 3
# Neighbouring intervals differ by this factor. The records that a point may take to simulate.
_RATIO = 1.6
_MORE = 6
# Of the restart: what half of such an interval adds to it, 5 %, is the most that one can gain.
_OF_RESTART = 0.1
_RECORDS = 30_000_000


class Advisor:
    """Simulates a job at intervals and modes, each once. `failures` are those that it may have.

    parts: of a day, with their loads. What an interval comes to is the mean over the day.  A
    failure strikes at any time of it, so it costs in the mean what it costs in each part.
    checkpoints: of a run without failures.  ran: is called after each run.
    """

    def __init__(
        self,
        scenario: Scenario,
        failures: Failures,
        *,
        seed: int = 1,
        parts: Sequence[LoadPeriod] = WHOLE_DAY,
        checkpoints: int = CHECKPOINTS,
        ran: Callable[[], object] = int,
    ) -> None:
        self._scenarios = [(part.share, loaded(scenario, part.factor)) for part in parts]
        self.failures = failures
        self._seed = seed
        self._ran = ran
        self._checkpoints = checkpoints
        self._points: dict[tuple[Mode, float], Point] = {}

    def point(self, mode: Mode, interval_s: float) -> Point:
        """Return what an interval comes to."""
        key = mode, interval_s
        if key not in self._points:
            runs = [
                (share, _Runs(one, self.failures, self._seed, self._ran, self._checkpoints))
                for share, one in self._scenarios
            ]
            found = [(share, one.point(mode, interval_s)) for share, one in runs]
            self._points[key] = mean_of(found)
        return self._points[key]

    def curve(self, mode: Mode, intervals_s: Sequence[float]) -> list[Point]:
        """Return the points of a mode, by interval."""
        return [self.point(mode, interval_s) for interval_s in sorted(intervals_s)]


class _Runs:
    """The runs of a job at one load."""

    def __init__(
        self,
        scenario: Scenario,
        failures: Failures,
        seed: int,
        ran: Callable[[], object],
        checkpoints: int,
    ) -> None:
        self._ran = ran
        self._checkpoints = checkpoints
        self._scenario = scenario
        self._failures = failures
        self._seed = seed
        self._makes_up = can_make_up(cast("Job", scenario.model))
        self._inline_bytes = cast("Job", scenario.model).storage.inline_threshold_bytes

    def point(self, mode: Mode, interval_s: float) -> Point:
        window_s = max(self._checkpoints * interval_s, 5.0)
        calm = self._run(mode, interval_s, window_s)
        found = predicted([calm])
        while int(found.duration_ms["n"]) < _SEEN and window_s < _LONGEST_S:
            # Checkpoints outlast the interval: too few of them are done to say what one takes.
            window_s *= 2
            calm = self._run(mode, interval_s, window_s)
            found = predicted([calm])
        duration_s = found.duration_ms.get("median", window_s * 1e3) / 1e3
        pause_s = cast("Job", self._scenario.model).checkpointing.min_pause_ns / _SECOND_NS
        effective_s = max(interval_s, duration_s + pause_s)
        taken = int(found.duration_ms["n"]) + WARM_UP
        lost = max(0.0, 1 - _rate(calm) / self._without(window_s))
        loss_s = lost * window_s / taken
        undone = self._undone(mode, interval_s, (effective_s, duration_s))
        emitted = _emitted(calm)
        undone_s = math.fsum(s * row.records_reprocessed for s, row in undone) / max(1.0, emitted)
        late = [(s, caught_up_s(row)) for s, row in undone if self._makes_up]
        known = [(s, time_s) for s, time_s in late if time_s is not None]
        all_known = bool(late) and len(known) == len(late)
        failures = self._failures
        return Point(
            mode=mode,
            interval_s=interval_s,
            effective_s=effective_s,
            duration_s=duration_s,
            loss_s=loss_s,
            undone_s=undone_s,
            undone_most_records=max((row.records_reprocessed for _, row in undone), default=0),
            in_flight_bytes=found.persisted_bytes.get("median", 0.0),
            written_bytes_per_day=found.written_bytes * DAY_S / effective_s,
            requests_per_day=requests_of(calm, self._inline_bytes) * DAY_S / effective_s,
            cost=loss_s / effective_s + (failures.restart_s + undone_s) / failures.mtbf_s,
            caught_up_s=math.fsum(s * time_s for s, time_s in known) if all_known else None,
            caught_up_most_s=max(time_s for _, time_s in known) if all_known else None,
        )

    def _undone(
        self, mode: Mode, interval_s: float, times_s: tuple[float, float]
    ) -> list[tuple[float, RecoveryRow]]:
        """Return shares of failures and the recovery from each, each in a run of its own.

        times_s: the interval that is reached, and how long a checkpoint takes.  Before it completes
        a failure undoes a whole interval more, so phases are spread over either part on its own.
        """
        effective_s, duration_s = times_s
        early = min(1.0, duration_s / effective_s)
        found = []
        for share, phase_s in _phases(effective_s, early):
            at_s = _BEFORE * effective_s + phase_s
            window_s = at_s + self._failures.restart_s + 1
            if self._makes_up:
                window_s = at_s + self._afterwards_s(effective_s + phase_s)
            failing = self._run(mode, interval_s, window_s, crash_s=at_s)
            found += [(share, row) for row in failing.recoveries[:1]]
        return found

    def _afterwards_s(self, undone_s: float) -> float:
        """Return how long a run continues so that the job catches up, in a number of records."""
        job = cast("Job", self._scenario.model)
        restart_ns = round(self._failures.restart_s * _SECOND_NS)
        undone_ns = round(undone_s * _SECOND_NS)
        most = _RECORDS // 30
        return afterwards_ns(job, restart_ns, undone_ns, most_records=most) / _SECOND_NS

    def _without(self, window_s: float) -> float:
        """Return records per second of the job without checkpoints, over the same time."""
        return _rate(self._run(Mode.ALIGNED, None, window_s))

    def _run(
        self, mode: Mode, interval_s: float | None, window_s: float, *, crash_s: float | None = None
    ) -> RunResult:
        job = cast("Job", self._scenario.model)
        interval_ns = _YEARS_NS if interval_s is None else round(interval_s * _SECOND_NS)
        checkpointing = _in_mode(job.checkpointing, mode, interval_ns)
        restart = FixedDelay(delay_ns=round(self._failures.restart_s * _SECOND_NS))
        last = next(v for v in reversed(job.spelled_out().vertices) if not v.is_source)
        model = replace(
            job,
            checkpointing=checkpointing,
            restart=restart,
            duration_ns=max(1, round(window_s * _SECOND_NS)),
        )
        faults: tuple[CrashTask, ...] = ()
        if crash_s is not None:
            if self._makes_up:
                # Only a failover in its time knows when records were due.
                vertices = tuple(replayable(vertex) for vertex in job.vertices)
                model = replace(model, vertices=vertices, recovery=Recovery(timed=True))
            at_ns = round(crash_s * _SECOND_NS)
            faults = (CrashTask(vertex=last.name, subtask=0, at_ns=at_ns),)
        scenario = replace(self._scenario, model=model, faults=faults)
        result = run_world(scenario, seed=self._seed, judged=False)
        self._ran()
        return result


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


def around_the_least(
    advisor: Advisor, mode: Mode, intervals_s: Sequence[float], *, more: int = _MORE
) -> list[Point]:
    """Return the points of a mode by interval, so many beyond the longest while it costs least.

    Where spare capacity makes up for what a checkpoint costs, the loss is next to nothing and paper
    begins far below the least.
    """
    found = advisor.curve(mode, intervals_s)
    for _ in range(more):
        if min(found, key=lambda one: one.cost) is not found[-1]:
            break
        found.append(advisor.point(mode, found[-1].interval_s * _RATIO))
    return found


def grid_s(job: Job, first: Point, failures: Failures, *, count: int) -> list[float]:
    """Return intervals about the best one on paper, as far as runs of them take seconds.

    first: a point that says what a checkpoint costs and how long it lasts.  Of the intervals that
    are too short for a break between two checkpoints there is one, as all come to the same.  Far
    below the time of a restart nothing is left to gain: a failure undoes half an interval.
    """
    shortest = max(shortest_s(first.duration_s), _OF_RESTART * failures.restart_s, 0.05)
    centre = max(young_s(first.loss_s, failures.mtbf_s), shortest)
    below = math.floor(math.log(centre / shortest, _RATIO)) + 1
    least = centre / _RATIO ** min(below, count // 2)
    # All runs of a point together are some 35 intervals.
    longest = _RECORDS / 35 / max(1.0, records_per_s(job))
    found = [least * _RATIO**number for number in range(count)]
    return [interval for interval in found if interval <= longest] or [min(found)]
