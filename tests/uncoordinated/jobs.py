"""Many random jobs with tasks that take checkpoints by themselves.

`python -m tests.uncoordinated.jobs FIRST LAST` runs the jobs of the seeds FIRST to LAST, excluded.
"""

from __future__ import annotations

import sys

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.generators.pipelines import uncoordinated
from tests import many
from tests.job.records.plans import Seeded

WANTED = ("checkpoint_forced", "rolled_back_behind_a_checkpoint", "restarted")


def random_job(seed: int) -> Scenario:
    """Return the job of a seed."""
    return uncoordinated(Seeded(seed))


HUNT = many.Hunt(
    random_job=random_job,
    goals=WANTED,
    mode=lambda scenario: str(scenario.model.checkpointing.protocol),  # type: ignore[attr-defined]
    is_hazard=lambda _scenario, _row: False,
)

if __name__ == "__main__":
    many.show(HUNT, sys.argv[1:])
