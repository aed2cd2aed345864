"""The load of a job through the day: which part of it has how much, and what a day comes to."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.errors import Problem, ScenarioError
from ckptsim.scenarios.job import Job
from ckptsim.sim.infer.advice.curve import Point

DAY_S = 86_400
_DAY_MIN = 24 * 60
_STEP = re.compile(r"(\d{1,2}):(\d{2})=(\d{1,4}(?:\.\d{1,6})?)(%?)")
_MOST_PARTS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPeriod:
    """A part of the day, and times how much of their rates its sources emit."""

    share: float
    factor: float


WHOLE_DAY = (LoadPeriod(share=1.0, factor=1.0),)


def read_load(text: str) -> tuple[LoadPeriod, ...]:
    """Return the parts of a day such as `00:00=0.3,08:00=1,20:00=60%`, by their load.

    Before the first instant the load is the one of the last one, as the day before.  Parts of equal
    load are one.  Raises ScenarioError for a text that is no load.
    """
    steps = [_step(word.strip()) for word in text.split(",")]
    minutes = [at for at, _ in steps]
    if minutes != sorted(set(minutes)):
        raise ScenarioError([Problem("--load", f'"{text}"', "instants in order, each once")])
    if len(steps) > _MOST_PARTS:
        raise ScenarioError([Problem("--load", f"{len(steps)} parts", f"at most {_MOST_PARTS}")])
    ends = [*minutes[1:], minutes[0] + _DAY_MIN]
    shares: dict[float, float] = {}
    for (at, factor), end in zip(steps, ends, strict=True):
        shares[factor] = shares.get(factor, 0.0) + (end - at) / _DAY_MIN
    return tuple(LoadPeriod(share=share, factor=factor) for factor, share in shares.items())


def _step(word: str) -> tuple[int, float]:
    match = _STEP.fullmatch(word)
    if match is None or int(match[1]) > 23 or int(match[2]) > 59:
        expected = "HH:MM=FACTOR, such as 08:00=1.5 or 20:00=60%"
        raise ScenarioError([Problem("--load", f'"{word}"', expected)])
    factor = float(match[3]) / (100 if match[4] else 1)
    if not factor:
        raise ScenarioError([Problem("--load", f'"{word}"', "a factor above 0")])
    return int(match[1]) * 60 + int(match[2]), factor


def loaded(scenario: Scenario, factor: float) -> Scenario:
    """Return a scenario with sources that emit times as much."""
    job = cast("Job", scenario.model)
    vertices = tuple(
        replace(one, rate_per_s=one.rate_per_s * factor) if one.rate_per_s else one
        for one in job.vertices
    )
    return replace(scenario, model=replace(job, vertices=vertices))


def mean_of(points: Sequence[tuple[float, Point]]) -> Point:
    """Return what an interval comes to over a day, given shares of it and points.

    What lasts or undoes most is the one of the worst part. All else is the mean over the day.
    """

    def mean(of: Callable[[Point], float]) -> float:
        return math.fsum(share * of(point) for share, point in points)

    first = points[0][1]
    late = [(share, p.caught_up_s) for share, p in points]
    most = [p.caught_up_most_s for _, p in points]
    return replace(
        first,
        effective_s=mean(lambda p: p.effective_s),
        duration_s=max(p.duration_s for _, p in points),
        loss_s=mean(lambda p: p.loss_s),
        undone_s=mean(lambda p: p.undone_s),
        undone_most_records=max(p.undone_most_records for _, p in points),
        in_flight_bytes=mean(lambda p: p.in_flight_bytes),
        written_bytes_per_day=mean(lambda p: p.written_bytes_per_day),
        requests_per_day=mean(lambda p: p.requests_per_day),
        cost=mean(lambda p: p.cost),
        caught_up_s=None
        if any(time_s is None for _, time_s in late)
        else math.fsum(share * (time_s or 0.0) for share, time_s in late),
        caught_up_most_s=None if None in most else max(time_s or 0.0 for time_s in most),
    )
