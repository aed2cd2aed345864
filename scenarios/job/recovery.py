"""How a job comes back from a failure, besides the restart strategy."""

from __future__ import annotations

from dataclasses import dataclass

from ckptsim.scenarios.fields import flag

_COURSE = "assumption: off, so that small jobs are hunted in milliseconds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """How a job comes back from a failure."""

    timed: bool = flag(
        False,
        says="a failover takes the time that was measured: the failure is reported, tasks are "
        "cancelled and deployed anew, state and in-flight data are read, and partitions are asked "
        "for behind them; off: the next attempt begins whole when the restart delay is over",
        source=_COURSE,
    )
