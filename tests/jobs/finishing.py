"""How long a chain takes to finish against depth, interval and backlog, under four protocols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sim.world import run_world
from tests.jobs.chains import S, chain

PROTOCOLS: dict[str, dict[str, Any]] = {
    "aligned": {"mode": "aligned"},
    "unaligned": {"mode": "unaligned"},
    "naive, aligned": {"mode": "aligned", "protocol": "naive"},
    "naive, unaligned": {"mode": "unaligned", "protocol": "naive"},
}
END = 25


def time_to_finish(**parameters: Any) -> float:
    """Return the seconds from the end of the source's input to the end of the job."""
    first = -(-END // parameters.get("interval", 10)) * parameters.get("interval", 10)
    result = run_world(chain(end=END, first=first, **parameters), seed=0)
    if result.run.outcome != "completed":
        raise AssertionError(f"{parameters}: {result.run.outcome}")
    return result.run.ended_ns / S - END


def line(name: str, swept: str, values: Sequence[int], **fixed: Any) -> list[tuple[float, float]]:
    """Return the points of one protocol."""
    options = PROTOCOLS[name]
    return [(v, time_to_finish(**{swept: v}, **options, **fixed)) for v in values]


def panels() -> dict[str, dict[str, list[tuple[float, float]]]]:
    """Return the three panels of the figure."""
    return {
        "depth of the chain [hops]": {
            n: line(n, "depth", (1, 2, 4, 6, 8), backlog=3) for n in PROTOCOLS
        },
        "interval [s]": {n: line(n, "interval", (2, 5, 10, 20, 30), backlog=3) for n in PROTOCOLS},
        "backlog per hop [s]": {n: line(n, "backlog", (0, 2, 4, 7, 10)) for n in PROTOCOLS},
    }
