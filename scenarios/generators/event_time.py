"""Event time in random jobs on records."""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios.generators.choices import Choices

_MS = 1_000_000


def add_event_time(choices: Choices, job: dict[str, Any], *, rescaled: bool) -> None:
    """Have the sources of some jobs tell watermarks, and of some of these that they are idle.

    rescaled: subtasks may come to read several splits.  Of these they have read some, and others
    not yet, when they tell the first watermark after a restart, if they tell it soon.
    """
    if choices.integer(0, 3) <= (1 if rescaled else 2):
        return
    tells = {"watermark_interval_ns": choices.of((1, 1, 5) if rescaled else (5, 1, 20)) * _MS}
    idle_ns = choices.of((0, 2 * _MS, 10 * _MS))
    job["event_time"] = tells | ({"idle_timeout_ns": idle_ns} if idle_ns else {})
