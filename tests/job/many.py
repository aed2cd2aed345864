"""Many random jobs on a data plane in a row.

`python -m tests.job.many PLANE FIRST LAST` runs the jobs of the seeds FIRST to LAST, excluded, on
`records` or `buffers`, and prints each violation, its progress, and at the end the reached
situations.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import partial
from typing import Any

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.generators.hazards import hazards
from ckptsim.scenarios.job.graph.planes import Plane
from ckptsim.scenarios.job.names import GOALS
from ckptsim.sim.rows import RunResult, ViolationRow
from ckptsim.sim.world import run_world
from tests import many
from tests.job.buffers import plans as buffers
from tests.job.records import plans as records

# Here the external system waits for ever: a time-out within the length of a job loses records by
# design, which scenario `transaction_times_out` shows. Rescales are the ones of `RESCALED` on
# either plane.
_NOWHERE = (
    *("transaction_timed_out", "lost_by_heartbeat", "resubmitted"),
    *("restored_rescaled", "record_filtered"),
)
_NOT_HERE = {
    # These jobs draw no other ways to keep in-flight data than Apache Flink's, no tasks that take
    # checkpoints by themselves, no event time, and no recovery that takes time.
    Plane.RECORDS: (
        "watermark_passed_an_idle_input",
        "declined_during_recovery",
        "offset_lost",
        "memory_lent",
        "rescale_refused",
        "checkpoint_forced",
        "rolled_back_behind_a_checkpoint",
    ),
    # No job restarts: see `test_sinks.py` and others.
    Plane.BUFFERS: (
        "left_to_the_external_system",
        "restarted",
        "restored_fully_finished",
        "restored_partly_finished",
        "failed_after_stop_savepoint",
    ),
}
_RANDOM_JOB = {Plane.RECORDS: records.random_job, Plane.BUFFERS: buffers.random_job}


def is_hazard(scenario: Scenario, row: ViolationRow) -> bool:
    """Return whether a violation is one of the hazards, in the job or in a restart of it."""
    return any(f"{name}:" in f"{row.property}: {row.says}" for name in hazards(scenario))


def played(scenario: Scenario, seed: int) -> RunResult:
    """Run a random job under the next tie policy. It has broken nothing but by a hazard."""
    result = run_world(scenario, seed=seed, ties=many.TIES[seed % len(many.TIES)])
    assert [row for row in result.violations if not is_hazard(scenario, row)] == [], f"seed {seed}"
    return result


def _mode(scenario: Scenario) -> str:
    job: Any = scenario.model
    return str(job.checkpointing.mode.value)


HUNTS = {
    plane: many.Hunt(
        random_job=_RANDOM_JOB[plane],
        goals=tuple(name for name in GOALS[plane] if name not in _NOWHERE + _NOT_HERE[plane]),
        mode=_mode,
        is_hazard=is_hazard,
    )
    for plane in Plane
}


RESCALED = {
    plane: many.Hunt(
        random_job=partial(records.rescaled_job, plane=plane.value),
        goals=("restarted", "restored_rescaled", "record_filtered", "resubmitted"),
        mode=_mode,
        is_hazard=is_hazard,
    )
    for plane in Plane
}


def tally(plane: Plane, seeds: Iterable[int]) -> many.Tally:
    """Run the random job of each seed under the next tie policy."""
    return many.tally(HUNTS[plane], seeds)


if __name__ == "__main__":
    many.show(HUNTS[Plane(sys.argv[1])], sys.argv[2:])
