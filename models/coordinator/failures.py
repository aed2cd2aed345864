"""Which failed checkpoints count, when there are too many, and what follows a failed stop.

Source: Apache Flink 1.20.3, CheckpointFailureManager.
"""

from __future__ import annotations

from enum import Enum

from ckptsim.models.barriers.reason import FailureReason

COUNTED_REASONS: frozenset[FailureReason] = frozenset(
    {
        FailureReason.IO_EXCEPTION,
        FailureReason.CHECKPOINT_ASYNC_EXCEPTION,
        FailureReason.CHECKPOINT_EXPIRED,
        FailureReason.CHECKPOINT_DECLINED,
        FailureReason.FINALIZE_CHECKPOINT_FAILURE,
    }
)
"""The reasons that count; all others, such as a failed trigger, are forgiven."""

PREFLIGHT_REASONS: frozenset[FailureReason] = frozenset(
    {
        FailureReason.PERIODIC_SCHEDULER_SHUTDOWN,
        FailureReason.TOO_MANY_CHECKPOINT_REQUESTS,
        FailureReason.MINIMUM_TIME_BETWEEN_CHECKPOINTS,
        FailureReason.NOT_ALL_REQUIRED_TASKS_RUNNING,
        FailureReason.IO_EXCEPTION,
        FailureReason.BLOCKING_OUTPUT_EXIST,
    }
)
"""The reasons for which a request is refused before any task was triggered."""


class FailureCounter:
    """Counts failed checkpoints in a row.

    tolerable: how many in a row the job survives. None for any number.
    """

    __slots__ = ("_count", "_counted", "_succeeded", "_tolerable")

    def __init__(self, tolerable: int | None) -> None:
        self._tolerable = tolerable
        self._count = 0
        self._counted: set[int] = set()
        self._succeeded = -1

    @property
    def count(self) -> int:
        """Failures counted since the last success."""
        return self._count

    def failed(self, reason: FailureReason, checkpoint: int | None) -> bool:
        """Count a failure and decide whether the job must fail. Then counting begins anew.

        checkpoint: None when the request was refused before it had a number.  A checkpoint counts
        once, and not at all when a newer one has succeeded.
        """
        if checkpoint is not None and checkpoint <= self._succeeded:
            return False
        counts = self._tolerable is not None and reason in COUNTED_REASONS
        if counts and checkpoint not in self._counted:
            self._count += 1
            if checkpoint is not None:
                self._counted.add(checkpoint)
        if self._tolerable is None or self._count <= self._tolerable:
            return False
        self._clear()
        return True

    def succeeded(self, checkpoint: int) -> None:
        """Forget all failures, unless a newer checkpoint has succeeded already."""
        if checkpoint > self._succeeded:
            self._succeeded = checkpoint
            self._clear()

    def _clear(self) -> None:
        self._count = 0
        self._counted.clear()


class Recovery(Enum):
    """What a failure leads to."""

    RESTART = "restart from the latest completed checkpoint"
    FAIL = "fail for good; the user restarts from the savepoint"


def after_failure(*, stop_completed: bool) -> Recovery:
    """Decide on a failure of the job around a stop with savepoint.

    Before the savepoint is complete the stop has failed and the job fails over as ever.  After that
    it must not: an older checkpoint would produce again what the savepoint's completion has
    committed.  The savepoint is consistent, though some of its side effects may not be committed.

    stop_completed: the savepoint of the stop is complete.

    Source: Apache Flink 1.15, StopWithSavepointStoppingException (FLINK-26783).
    """
    return Recovery.FAIL if stop_completed else Recovery.RESTART
