"""Many random jobs on buffers in a row.

`python -m tests.job.buffers.many FIRST LAST` runs the jobs of seeds FIRST to LAST, excluded,
and prints each violation, how far it is, and at the end what was reached.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.job.graph.planes import Plane
from ckptsim.scenarios.job.names import GOALS
from ckptsim.sim.rows import ViolationRow
from tests import many
from tests.job.buffers.plans import random_job

# What released Flink does: a tracker with one channel left loses the clock of a checkpoint and
# fails its task, and a savepoint without periodic checkpoints misses what closed tasks have queued.
# Each has a property of its own.
HAZARDS = ("single_channel_keeps_the_clock", "closed_tasks_leave_nothing_queued")


def _mode(scenario: Scenario) -> str:
    job: Any = scenario.model
    return str(job.checkpointing.mode.value)


def _is_hazard(_: Scenario, row: ViolationRow) -> bool:
    return row.property in HAZARDS


# Here the external system waits for ever, and no job restarts: see `test_sinks.py` and others.
_NOT_HERE = (
    "transaction_timed_out",
    "lost_by_heartbeat",
    "resubmitted",
    "left_to_the_external_system",
    "restarted",
    "restored_fully_finished",
    "restored_partly_finished",
    "failed_after_stop_savepoint",
)
WANTED = tuple(name for name in GOALS[Plane.BUFFERS] if name not in _NOT_HERE)
HUNT = many.Hunt(random_job=random_job, goals=WANTED, mode=_mode, is_hazard=_is_hazard)


def tally(seeds: Iterable[int]) -> many.Tally:
    """Run the random job of each seed under the next tie policy."""
    return many.tally(HUNT, seeds)


if __name__ == "__main__":
    many.show(HUNT, sys.argv[1:])
