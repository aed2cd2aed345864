"""Many random jobs of the record-by-record world in a row.

`python -m tests.job.records.many FIRST LAST` runs the jobs of the seeds FIRST to LAST, excluded,
and prints each violation, how far it is, and at the end what was reached.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.generators.final_checkpoint import HAZARDS, STOP_HAZARD
from ckptsim.scenarios.job import Protocol
from ckptsim.scenarios.job.graph.planes import Plane
from ckptsim.scenarios.job.names import GOALS
from ckptsim.sim.rows import ViolationRow
from tests import many
from tests.job.records.plans import random_job


def is_hazard(scenario: Scenario, row: ViolationRow) -> bool:
    """Say whether a violation is one of the hazards, in the job or in a restart of it."""
    job: Any = scenario.model
    flink = job.ending.protocol is Protocol.FLINK
    known = [name for name in HAZARDS if flink or name != STOP_HAZARD]
    return any(f"{name}:" in f"{row.property}: {row.says}" for name in known)


def _mode(scenario: Scenario) -> str:
    job: Any = scenario.model
    return str(job.checkpointing.mode.value)


# Here the external system waits for ever: a time-out within the length of a job loses records by
# design, which scenario `transaction_times_out` shows.
# These jobs draw no other ways to keep in-flight data than Apache Flink's, and no tasks that take
# checkpoints by themselves.
_NOT_HERE = (
    "transaction_timed_out",
    "lost_by_heartbeat",
    "resubmitted",
    "offset_lost",
    "memory_lent",
    "rescale_refused",
    "checkpoint_forced",
    "rolled_back_behind_a_checkpoint",
)
WANTED = tuple(name for name in GOALS[Plane.RECORDS] if name not in _NOT_HERE)
HUNT = many.Hunt(random_job=random_job, goals=WANTED, mode=_mode, is_hazard=is_hazard)


def tally(seeds: Iterable[int]) -> many.Tally:
    """Run the random job of each seed under the next tie policy."""
    return many.tally(HUNT, seeds)


if __name__ == "__main__":
    many.show(HUNT, sys.argv[1:])
