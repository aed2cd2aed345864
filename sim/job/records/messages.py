"""Messages between coordinator and tasks at fixed costs, late and out of order where so set.

Triggers to one task keep their order whatever chance adds to a message (the ones of one instant are
said below): one thread of the coordinator sends them, and remote calls between two ends keep their
order.  A task with some ended inputs has only these calls, and resumes a channel that nothing
blocks where an older one comes after a newer one.  A fault can still delay one of them.
Source: Apache Flink 1.20.3, CheckpointCoordinator (its timer thread sends all triggers), and the
rule of Pekko's message ordering, which holds per pair of sender and receiver.

Where messages keep no order, each checkpoint's triggers and notifications are sent as by a thread
of its own: the ones of two checkpoints that arrive at one instant come in the order of ties.
Source: Apache Flink 1.20.3, ExecutionGraphHandler has acknowledgements processed by a pool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.records.kinds import Kind

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Costs
    from ckptsim.sim.job.port import Call, TaskGateway
    from ckptsim.sim.kernel import Entity, Environment


class RecordMessages:
    """The messages of one job."""

    def __init__(self, env: Environment, costs: Costs) -> None:
        self._env = env
        self._costs = costs
        self._job = env.entity("job")
        self._coordinator = env.entity("coordinator")
        self._triggered_ns: dict[Entity, int] = {}  # when the latest trigger reaches each task

    def trigger(
        self, task: TaskGateway, checkpoint: int, call: Call, *arguments: Any, late_ns: int = 0
    ) -> None:
        """Send the trigger of a checkpoint to a task, after the one before."""
        delay_ns = self._costs.rpc_ns + self._jitter("rpc", self._costs.rpc_jitter_ns)
        arrives_ns, before_ns = self._env.now + delay_ns, self._triggered_ns.get(task.entity, 0)
        if arrives_ns < before_ns:
            arrives_ns = before_ns + 1
        self._triggered_ns[task.entity] = arrives_ns
        delay_ns = arrives_ns - self._env.now + late_ns
        entity = self._sender("trigger", checkpoint)
        self._env.call_in(delay_ns, Kind.MESSAGE, entity, call, *arguments)

    def confirm(
        self, task: TaskGateway, checkpoint: int, call: Call, *arguments: Any, late_ns: int = 0
    ) -> None:
        """Tell a task that a checkpoint is complete."""
        del task
        late_ns += self._jitter("notification delay", self._costs.notification_jitter_ns)
        self._send(late_ns, self._sender("completion", checkpoint), call, *arguments)

    def abort(self, task: TaskGateway, call: Call, *arguments: Any, late_ns: int = 0) -> None:
        """Tell a task that a checkpoint was aborted."""
        del task
        self._send(late_ns, self._job, call, *arguments)

    def acknowledge(self, task: TaskGateway, call: Call, *arguments: Any, late_ns: int = 0) -> None:
        """Send a task's acknowledgement."""
        del task
        self._send(late_ns, self._job, call, *arguments)

    def decline(self, task: TaskGateway, call: Call, *arguments: Any) -> None:
        """Send a task's refusal of a checkpoint."""
        del task
        self._send(0, self._job, call, *arguments)

    def end_of_data(self, task: TaskGateway, call: Call, *arguments: Any) -> None:
        """Send a task's report that it has ended its data.

        What follows of it follows the other messages of its instant: a task that has FINISHED by
        then is no part of the final checkpoint.
        """
        del task
        self._send(0, self._job, call, *arguments, kind=Kind.COORDINATOR)

    def finished(self, task: TaskGateway, call: Call, *arguments: Any) -> None:
        """Let a task that has left be known as FINISHED. Until then it may be asked for."""
        del task
        self._send(0, self._job, call, *arguments)

    def store(self, checkpoint: int, call: Call, *arguments: Any) -> None:
        """Write the metadata of a checkpoint."""
        del checkpoint
        delay_ns = self._costs.completion_ns
        self._env.call_in(delay_ns, Kind.COORDINATOR, self._coordinator, call, *arguments)

    def discard(self, sizes: list[int], call: Call, *arguments: Any) -> None:
        """Delete files, which costs nothing here."""

    def delay_ns(self, purpose: str) -> int:
        """Draw how long a message of another kind takes."""
        return self._costs.rpc_ns + self._jitter(purpose, self._costs.rpc_jitter_ns)

    def _sender(self, what: str, checkpoint: int) -> Entity:
        return self._job if self._costs.messages_in_order else self._env.entity(what, checkpoint)

    def _send(
        self, late_ns: int, entity: Entity, call: Call, *arguments: Any, kind: Kind = Kind.MESSAGE
    ) -> None:
        costs = self._costs
        delay_ns = costs.rpc_ns + late_ns + self._jitter("rpc", costs.rpc_jitter_ns)
        self._env.call_in(delay_ns, kind, entity, call, *arguments)

    def _jitter(self, purpose: str, at_most_ns: int) -> int:
        """Draw a delay between 0 and a bound, both included."""
        return self._env.stream(purpose).integer(0, at_most_ns) if at_most_ns else 0
