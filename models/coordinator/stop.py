"""What becomes of a job that fails around a stop with savepoint.

Before the savepoint is complete the stop has failed and the job fails over as ever.  After that it
must not: an older checkpoint would produce again what the savepoint's completion has committed.
The savepoint is consistent, though some of its side effects may not be committed; the user restarts
from it.

Source: Apache Flink 1.15, StopWithSavepointStoppingException (FLINK-26783).
"""

from __future__ import annotations

from enum import Enum


class Recovery(Enum):
    """What a failure leads to."""

    RESTART = "restart from the latest completed checkpoint"
    FAIL = "fail for good; the user restarts from the savepoint"


def after_failure(*, stop_completed: bool) -> Recovery:
    """Decide on a failure; stop_completed: the savepoint of a stop is complete."""
    return Recovery.FAIL if stop_completed else Recovery.RESTART
