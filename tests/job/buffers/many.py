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
from tests import many
from tests.job.buffers.plans import random_job
from tests.job.records.many import is_hazard


def _mode(scenario: Scenario) -> str:
    job: Any = scenario.model
    return str(job.checkpointing.mode.value)


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
HUNT = many.Hunt(random_job=random_job, goals=WANTED, mode=_mode, is_hazard=is_hazard)


def tally(seeds: Iterable[int]) -> many.Tally:
    """Run the random job of each seed under the next tie policy."""
    return many.tally(HUNT, seeds)


if __name__ == "__main__":
    many.show(HUNT, sys.argv[1:])
