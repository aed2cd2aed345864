"""Which checkpoint an attempt begins from: the newest that a restart may take, and no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.oracle.view import Violate

_NAME = "restarts_begin_from_the_newest"


class Origins:
    """The checkpoints of one job, and what its attempts began from.

    A failure goes back to the newest checkpoint that is no savepoint, or behind it to what the job
    was started from.  A savepoint is started from only by the user, who has it from the attempt
    that runs: what came behind those of earlier attempts was undone.
    Source: Apache Flink 1.20.3, DefaultCompletedCheckpointStoreUtils (savepoints are not restored
    from since FLINK-10354's revert, FLIP-193 and FLIP-203).
    """

    def __init__(self, violate: Violate) -> None:
        self._violate = violate
        self._attempts = 0
        self._newest = -1  # complete, and no savepoint
        self._savepoints: dict[int, int] = {}  # the attempt in which each was completed
        self._started_from: dict[int, None] = {}

    def completed(self, checkpoint: JobCheckpoint) -> None:
        """Note a checkpoint that is complete."""
        number = checkpoint.checkpoint_id
        if checkpoint.savepoint:
            self._savepoints[number] = self._attempts
        else:
            self._newest = max(self._newest, number)

    def begun(self, restored: JobCheckpoint | None) -> None:
        """Check what the next attempt begins from; the first may begin from anything."""
        number = -1 if restored is None else restored.checkpoint_id
        if self._attempts and number < self._newest:
            says = f"an attempt begins from {number}, though {self._newest} is complete"
            self._violate(_NAME, says)
        is_old = self._savepoints.get(number, self._attempts) < self._attempts
        if is_old and number not in self._started_from:
            self._violate(_NAME, f"an attempt begins from savepoint {number} of one that failed")
        self._started_from[number] = None
        self._attempts += 1
