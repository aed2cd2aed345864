"""Messages between coordinator and tasks, on the wire and on the machine's cores.

Messages to tasks take `rpc_ns` and some time of a core. What a completed checkpoint has replaced is
deleted on the same cores, so a checkpoint that is triggered right after another one begins later at
the sources.

Source: Apache Flink 1.20.3, CheckpointCoordinator. The times are in `constants.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.buffers.kinds import Kind

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Costs
    from ckptsim.sim.job.buffers.constants import Constants
    from ckptsim.sim.job.buffers.state import Storage
    from ckptsim.sim.job.buffers.timers import Pauses
    from ckptsim.sim.job.port import Call, TaskGateway
    from ckptsim.sim.kernel import Entity, Environment

_MB = 1_000_000


class BufferMessages:
    """The messages of one job. pauses: of the machine."""

    def __init__(
        self, env: Environment, storage: Storage, constants: Constants, pauses: Pauses, costs: Costs
    ) -> None:
        self._storage = storage
        self._env = env
        self._cores = storage.cores
        self._constants = constants
        self._pauses = pauses
        self._jitter_ns = costs.notification_jitter_ns
        self._complete_ns = constants.complete_ns + costs.completion_ns
        self._entity = env.entity("coordinator")

    # To a task --------------------------------------------------------------------------------

    def trigger(
        self, task: TaskGateway, checkpoint: int, call: Call, *arguments: Any, late_ns: int = 0
    ) -> None:
        """Send the trigger of a checkpoint to a task."""
        late_ns += self._pauses.before_sources_ns(checkpoint)
        self._send(task, late_ns, call, *arguments)

    def confirm(
        self, task: TaskGateway, checkpoint: int, call: Call, *arguments: Any, late_ns: int = 0
    ) -> None:
        """Tell a task that a checkpoint is complete. By chance later than others are reported."""
        if self._jitter_ns:
            late_ns += self._env.stream("notification delay").integer(0, self._jitter_ns)
        self._send(task, late_ns, call, *arguments)

    def abort(self, task: TaskGateway, call: Call, *arguments: Any, late_ns: int = 0) -> None:
        """Tell a task that a checkpoint was aborted."""
        self._send(task, late_ns, call, *arguments)

    def _send(self, task: TaskGateway, late_ns: int, call: Call, *arguments: Any) -> None:
        """Deliver a message to a task: the way there, and its handling on a core."""
        constants = self._constants
        self._env.call_in(
            constants.rpc_ns + late_ns,
            Kind.COORDINATOR,
            task.entity,
            self._cores.run,
            constants.message_cost_ns,
            task.entity,
            call,
            *arguments,
        )

    # To the coordinator -----------------------------------------------------------------------

    def acknowledge(self, task: TaskGateway, call: Call, *arguments: Any, late_ns: int = 0) -> None:
        """Send a task's acknowledgement, which a core of the task's has to make first."""
        constants, entity = self._constants, task.entity
        delay_ns = constants.rpc_ns + late_ns
        self._cores.run(
            constants.acknowledge_cost_ns, entity, self.later, delay_ns, entity, call, *arguments
        )

    def decline(self, task: TaskGateway, call: Call, *arguments: Any) -> None:
        """Send a task's refusal of a checkpoint."""
        self.later(self._constants.rpc_ns, task.entity, call, *arguments)

    def end_of_data(self, task: TaskGateway, call: Call, *arguments: Any) -> None:
        """Send a task's report that it has ended its data."""
        self.later(self._constants.rpc_ns, task.entity, call, *arguments)

    def finished(self, task: TaskGateway, call: Call, *arguments: Any) -> None:
        """Let a task that has closed be known as FINISHED."""
        self.later(self._constants.finish_ns, task.entity, call, *arguments)

    def later(self, delay_ns: int, entity: Entity, call: Call, *arguments: Any) -> None:
        """Call a function of the coordinator after a delay."""
        self._env.call_in(delay_ns, Kind.COORDINATOR, entity, call, *arguments)

    # At the coordinator -----------------------------------------------------------------------

    def store(self, checkpoint: int, call: Call, *arguments: Any) -> None:
        """Write the metadata of a checkpoint."""
        delay_ns = self._complete_ns + self._pauses.behind_ns(checkpoint)
        self.later(delay_ns, self._entity, call, *arguments)

    def discard(self, sizes: list[int], call: Call, *arguments: Any) -> None:
        """Delete files, and the metadata: on the machine's cores where that costs them anything."""
        self._storage.delete(len(sizes) + 1, call, *arguments)
        constants = self._constants
        for size in sizes if constants.discard_file_ns else ():
            cost_ns = constants.discard_file_ns + constants.discard_ns_per_mb * size // _MB
            self._cores.run(cost_ns, self._entity, self.discarded)

    def discarded(self) -> None:
        """End a deletion that no one waits for."""
