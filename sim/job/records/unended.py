"""Transactions that nobody has ended: what a restart leaves behind, and what times out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.sim.job.control.checkpoint import JobCheckpoint
from ckptsim.sim.job.records.kinds import Kind

if TYPE_CHECKING:
    from ckptsim.sim.job.records.world import RecordWorld


class Unended:
    """Watches over the transactions of one world in the external system.

    A sink ends what its restored state holds and nothing else: what was begun after that stays, and
    the external system gives it up after its time-out.

    Source: Apache Flink 1.20.3, TwoPhaseCommitSinkFunction; Apache Kafka, transaction.timeout.ms.
    """

    def __init__(self, world: RecordWorld) -> None:
        self._world = world
        self._timeout_ns = world.job.costs.transaction_timeout_ns

    def taken_over(self, restored: JobCheckpoint | None) -> None:
        """Note what the external system holds when a job is started from a checkpoint.

        Time-outs count anew: how long its user has waited is not known.
        """
        if restored is not None:
            self._world.external.recovers(restored.sink_states)
        for transaction in self._world.external.unended():
            self.begun(transaction.name)

    def begun(self, name: str) -> None:
        """Wait for the end of a transaction, as long as the external system does."""
        if self._timeout_ns is not None:
            world = self._world
            world.env.call_in(self._timeout_ns, Kind.FAULT, world.entity, self._time_out, name)

    def restarted(self, restored: JobCheckpoint | None) -> None:
        """Note what the sinks of the next attempt do not know of."""
        world = self._world
        if restored is not None:
            world.external.recovers(restored.sink_states)
        for transaction in world.external.unended():
            if transaction.attempt == world.attempts - 1 and not transaction.recovered:
                world.env.goals.reach("left_to_the_external_system")
                world.env.trace.record("unknown", world.entity, transaction.name)

    def _time_out(self, name: str) -> None:
        if self._world.external.time_out(name):
            self._world.env.goals.reach("transaction_timed_out")
            self._world.env.trace.record("timed_out", self._world.entity, name)
