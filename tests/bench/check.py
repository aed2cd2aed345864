"""How many runs of the reference scenario `check` does, and what trace and fence cost in them."""

from __future__ import annotations

from contextlib import nullcontext
from statistics import median
from unittest.mock import patch

from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim import world
from ckptsim.sim.kernel import Trace
from ckptsim.sim.search import Subject, check
from tests.bench import Figure, interleaved, ratio

RUNS = 60
SCENARIO = "reference"


def _check() -> None:
    report = check(Subject(scenario=by_name(SCENARIO)), range(RUNS))
    if not report.passed:
        raise AssertionError(f"{SCENARIO}: {report.unexpected}")


def _check_untraced() -> None:
    with patch.object(Trace, "record", lambda *_: None):
        _check()


def _check_unfenced() -> None:
    with patch.object(world, "fence", nullcontext):
        _check()


def measure() -> list[Figure]:
    """Return runs per second and core, and the shares of trace and fence."""
    seconds = interleaved(
        {"check": _check, "untraced": _check_untraced, "unfenced": _check_unfenced}
    )
    return [
        Figure(
            name="check, runs per second and core",
            value=RUNS / median(seconds["check"]),
            unit="/s",
            at_least=120,
            says=f"{SCENARIO}: 2 streams, 2 sockets, 400 records, one crash; random ties",
        ),
        Figure(
            name="with trace / without",
            value=ratio(seconds["check"], seconds["untraced"]),
            says="the same runs with recording switched off",
        ),
        Figure(
            name="with fence / without",
            value=ratio(seconds["check"], seconds["unfenced"]),
            says="the same runs without the fence",
        ),
    ]
