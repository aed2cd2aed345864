"""Which checkpoint an attempt begins from: the one that a restart has to take, and no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.scenarios.dialect import exact_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.oracle.view import Violate
    from ckptsim.sim.kernel import Environment

_NAME = "restarts_begin_from_the_newest"
_LOGS = "logs_keep_what_is_needed"
_NOTHING = -1  # in the place of a number: the job began without a checkpoint


class Origins:
    """The checkpoints of one job, and what its attempts have to begin from.

    A failure goes back to the newest checkpoint that is no savepoint, or behind it to what the job
    was started from.  A savepoint is started from only by the user, who has it from the attempt
    that runs: what came behind those of earlier attempts was undone.  Where tasks take checkpoints
    by themselves, the newest line of them is looked for, which is the attempt's beginning at least.
    Source: Apache Flink 1.20.3, DefaultCompletedCheckpointStoreUtils (savepoints are not restored
    from since FLINK-10354's revert, FLIP-193 and FLIP-203).
    """

    def __init__(self, env: Environment, violate: Violate) -> None:
        self._env = env
        self._violate = violate
        self._discarded_ns: dict[int, int] = {}
        self._has_begun = False
        self._started_from = _NOTHING  # by the user
        self._newest = _NOTHING  # complete, and no savepoint
        self._savepoint = _NOTHING  # the newest of the attempt that runs
        self._positions: Mapping[int, int] = {}  # where the splits of uncoordinated jobs began

    def completed(self, checkpoint: JobCheckpoint) -> None:
        """Note a checkpoint that is complete."""
        number = checkpoint.checkpoint_id
        if checkpoint.savepoint:
            self._savepoint = max(self._savepoint, number)
        else:
            self._newest = max(self._newest, number)

    def discarded(self, number: int) -> None:
        """Note when a checkpoint is discarded."""
        self._discarded_ns[number] = self._env.now

    def _why(self) -> str:
        """Say what became of the checkpoint that is due, and of a savepoint after it."""
        says = ""
        if self._due in self._discarded_ns:
            says = f", which was discarded at {exact_text(self._discarded_ns[self._due])}"
        if self._savepoint > self._due:
            says += f"; no failure goes back to savepoint {self._savepoint}"
            if self._savepoint in self._discarded_ns:
                at = exact_text(self._discarded_ns[self._savepoint])
                says += f", which was discarded at {at}"
        return says

    def submitted(self) -> None:
        """Expect that the user starts the job again from the newest of what there is."""
        self._started_from = max(self._due, self._savepoint)

    def begun(self, restored: JobCheckpoint | None) -> None:
        """Check what the next attempt begins from; the first may begin from anything."""
        number = _NOTHING if restored is None else restored.checkpoint_id
        if not self._has_begun:
            self._has_begun, self._started_from = True, number
        elif number != self._due:
            says = f"an attempt begins from {_called(number)}, and not from {_called(self._due)}"
            self._violate(_NAME, says + self._why())
        self._savepoint = _NOTHING

    def begun_on_a_line(self, restored: JobCheckpoint | None) -> None:
        """Check that an attempt whose tasks go back by themselves lies not behind the one before.

        How that one began is a line of checkpoints, too.
        """
        positions: Mapping[int, int] = {} if restored is None else restored.positions
        for split, count in self._positions.items():
            if positions.get(split, 0) < count:
                says = f"an attempt begins at place {positions.get(split, 0)} of split {split}, "
                self._violate(_NAME, f"{says}where the one before it began at {count}")
        self._positions = positions

    def log_service_cut(self, oldest: int) -> None:
        """Check that a log service still has what a failure would go back to."""
        if oldest > self._due:
            says = f"a log service keeps what is in flight from checkpoint {oldest} on, and a "
            self._violate(_LOGS, f"{says}failure goes back to {_called(self._due)}")

    @property
    def _due(self) -> int:
        """Return the number of what a restart has to begin from."""
        return max(self._started_from, self._newest)


def _called(number: int) -> str:
    return "nothing" if number == _NOTHING else f"checkpoint {number}"
