"""When an attempt that follows a failure had what it restores, and began to do something new."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptsim.sim.job.control.failover import FailoverRecord
    from ckptsim.sim.job.records.attempt import Attempt


class RecoveryInstants:
    """Follows the recovery of one attempt. failover: the failure before it, if there was one."""

    __slots__ = ("_attempt", "_began_ns", "_failover", "_first_ns", "_taken_ns")

    def __init__(self, attempt: Attempt, failover: FailoverRecord | None) -> None:
        self._attempt = attempt
        self._failover = failover
        self._began_ns = self._taken_ns = attempt.env.now
        self._first_ns: int | None = None

    def data_taken(self) -> None:
        """Note that a task takes in-flight data, or its end, which a checkpoint had at it."""
        self._taken_ns = self._attempt.env.now

    def record_taken(self) -> None:
        """Note that an operator without outputs takes a record."""
        if self._first_ns is None:
            self._first_ns = self._attempt.env.now

    def note(self) -> None:
        """Note with the failure everything that was over when the attempt or the run ended."""
        attempt, failover = self._attempt, self._failover
        if failover is None:
            return
        failover.first_record_ns = self._first_ns
        opened_ns = max(self._began_ns, *(task.ready_ns for task in attempt.tasks))
        if opened_ns > attempt.env.now:
            return
        failover.opened_ns = opened_ns
        if not any(channel.recovered for channel in attempt.channels) and not any(
            gate.recovered and gate.recovered.is_reading
            for task in attempt.tasks
            for gate in task.gates
        ):
            failover.handed_over_ns = max(opened_ns, self._taken_ns)
