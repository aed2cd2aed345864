"""The sinks of one job over all its attempts, and the external system that they write to.

A sink ends what its restored state holds and nothing else: what an attempt began after the
checkpoint that is restored stays open, and the external system gives it up after its time-out.

Source: Apache Flink 1.20.3, TwoPhaseCommitSinkFunction. Apache Kafka, transaction.timeout.ms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ckptsim.models.recovery import split
from ckptsim.scenarios.dialect import duration_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ckptsim.models.lifecycle import SinkState
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.control.sinks.external import ExternalSystem
    from ckptsim.sim.job.graph import TaskSpec
    from ckptsim.sim.kernel import Environment


class Coordinator(Protocol):
    """What sinks ask of the coordinator of a job's checkpoints."""

    highest_completed: int
    stop_id: int | None

    @property
    def stop_completed(self) -> bool:
        """Return whether the savepoint of a stop is complete."""


class Sinks:
    """What the sinks of a job have in common.

    timeout_ns: after which the external system aborts a transaction that no one has ended. kind: of
    the calendar entries of time-outs.  coordinator: of the job's checkpoints.  violate: told
    (property, sentence) of what does not hold.
    """

    def __init__(
        self,
        env: Environment,
        external: ExternalSystem,
        *,
        timeout_ns: int | None,
        kind: int,
        coordinator: Coordinator,
        violate: Callable[[str, str], None],
    ) -> None:
        self.external = external
        self.violate = violate
        self.reach = env.goals.reach
        self._env = env
        self._entity = env.entity("job")
        self._timeout_ns = timeout_ns
        self._kind = kind
        self._coordinator = coordinator
        self._left: set[str] = set()
        self._due_ns: dict[str, int] = {}  # when the external system gives a transaction up
        self.attempt = 1

    # Attempts ---------------------------------------------------------------------------------

    def taken_over(self, restored: JobCheckpoint | None) -> None:
        """Note what the external system holds when a job is started from a checkpoint.

        Time-outs count anew: how long its user has waited is not known.
        """
        self._known(restored)
        for transaction in self.external.unended():
            if not transaction.recovered:
                transaction.attempt = 0  # of a job before this one
            self._wait_for(transaction.name)

    def restarted(self, attempt: int, restored: JobCheckpoint | None) -> None:
        """Note what the sinks of the next attempt do not know of."""
        self._known(restored)
        for transaction in self.external.unended():
            if transaction.attempt == self.attempt and not transaction.recovered:
                self._env.goals.reach("left_to_the_external_system")
                self._env.trace.record("unknown", self._entity, transaction.name)
        self.attempt = attempt

    def _known(self, restored: JobCheckpoint | None) -> None:
        if restored is not None:
            self.external.recovers(restored.sink_states)

    def states_of(self, restored: JobCheckpoint | None, spec: TaskSpec) -> tuple[SinkState, ...]:
        """Return the elements of list state that fall to a subtask of a sink vertex."""
        if restored is None:
            return ()
        snapshots = restored.snapshots_of(spec.vertex.name)
        kept = [None if one is None else one.transactions for one in snapshots]
        elements = [() if state is None else (state,) for state in kept]
        return split(elements, spec.vertex.parallelism)[spec.subtask]

    # What a sink asks -------------------------------------------------------------------------

    def begin(self, task: str, vertex: str) -> str:
        """Open a transaction of a task. Return its name."""
        begun = self.external.begin(task, vertex, attempt=self.attempt)
        self._wait_for(begun.name)
        return begun.name

    def check_commit(self, checkpoint: int, task: str) -> None:
        """Check that something that covers a checkpoint was complete before the commit."""
        if self._coordinator.highest_completed < checkpoint:
            says = f"{task} commits transaction {checkpoint} before its completion"
            self.violate("no_commit_before_completion", says)

    def check_time(self, name: str) -> None:
        """Check that the external system has not kept a transaction for longer than it waits."""
        late_ns = self._env.now - self._due_ns.get(name, self._env.now)
        if late_ns > 0 and self.external.has_no_end(name):
            says = f"{name} is still there, {duration_text(late_ns)} after the external "
            says += "system's time-out"
            self.violate("no_transaction_lingers", says)

    def left(self, checkpoint: int, name: str) -> None:
        """Note that a closing sink leaves a transaction pre-committed for a checkpoint.

        That is right after the savepoint of a stop only: such a checkpoint pre-commits nothing. The
        next job aborts it as the open one of the stop's savepoint, or commits it as pending in the
        later savepoint.
        """
        coordinator = self._coordinator
        savepoint = coordinator.stop_id if coordinator.stop_completed else None
        if savepoint is not None and checkpoint > savepoint:
            self._left.add(name)

    def check_end(self, careless: Collection[str]) -> None:
        """Check, when a job has ended, that no transaction is left.

        careless: sinks that open transactions after finish().  No one ends what an attempt that
        failed had begun after the checkpoint that was restored, as no state speaks of it, and what
        a sink may leave that closes.
        """
        for one in self.external.unended():
            self.check_time(one.name)
        left = [
            one.name
            for one in self.external.unended()
            if one.sink not in careless
            and one.name not in self._left
            and (one.recovered or one.attempt == self.attempt)
        ]
        if left:
            self.violate("no_transaction_lingers", f"nobody ends {', '.join(left)}")

    def _wait_for(self, name: str) -> None:
        """Wait for the end of a transaction, as long as the external system does."""
        if self._timeout_ns is not None:
            self._due_ns[name] = self._env.now + self._timeout_ns
            self._env.call_in(self._timeout_ns, self._kind, self._entity, self._time_out, name)

    def _time_out(self, name: str) -> None:
        if self.external.time_out(name):
            self._env.goals.reach("transaction_timed_out")
            self._env.trace.record("timed_out", self._entity, name)
