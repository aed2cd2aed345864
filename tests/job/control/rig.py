"""A coordinator host with tasks, messages and a job of a test's own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ckptsim.models import coordinator
from ckptsim.models.barriers.barrier import Barrier
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator.plan import Edge, FinishedState, Pattern
from ckptsim.models.lifecycle import StopMode
from ckptsim.scenarios.job.faults import JobFault
from ckptsim.sim.job.control.checkpoint import CheckpointRecord, JobCheckpoint
from ckptsim.sim.job.control.coordinator import CoordinatorHost
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.control.planning import PlanCalculator
from ckptsim.sim.job.control.trace import ControlTrace
from ckptsim.sim.job.events import Events
from ckptsim.sim.job.settings import CoordinatorSettings
from ckptsim.sim.kernel import Entity, Environment

MS = 1_000_000
LATENCY_NS = 2 * MS


@dataclass(frozen=True)
class AVertex:
    """A vertex of the graph."""

    name: str
    parallelism: int
    union_state: bool = False


@dataclass
class APart:
    """An acknowledgement without content."""

    snapshot: Any = None
    operators_finished: bool = False
    persisted_bytes: int = 0
    state_bytes: int = 0


class ATask:
    """A task that writes down what it is reported."""

    def __init__(self, env: Environment, number: int, place: tuple[str, int]) -> None:
        self.number = number
        self.place = place
        self.entity: Entity = env.entity(*place)
        self.told: list[tuple[Any, ...]] = []
        self._env = env

    def trigger_checkpoint(self, barrier: Barrier, stop: StopMode | None) -> None:
        """Note a trigger."""
        self.told.append((self._env.now, "trigger", barrier.checkpoint, stop))

    def notify_complete(self, checkpoint: int) -> None:
        """Note a completion."""
        self.told.append((self._env.now, "complete", checkpoint))

    def notify_aborted(self, checkpoint: int, latest_completed: int | None) -> None:
        """Note an abort."""
        self.told.append((self._env.now, "aborted", checkpoint, latest_completed))


class SameLatency:
    """Messages that all take the same time. Storing takes none."""

    def __init__(self, env: Environment) -> None:
        self._env = env
        self.discarded: list[list[int]] = []

    def _send(self, call: Any, *arguments: Any, late_ns: int = 0) -> None:
        entity = self._env.entity("wire")
        self._env.call_in(LATENCY_NS + late_ns, 1, entity, call, *arguments)

    def trigger(self, _: Any, _checkpoint: int, *rest: Any, late_ns: int = 0) -> None:
        """Send a trigger."""
        self._send(*rest, late_ns=late_ns)

    def confirm(self, _: Any, _checkpoint: int, *rest: Any, late_ns: int = 0) -> None:
        """Send a completion."""
        self._send(*rest, late_ns=late_ns)

    def abort(self, _: Any, *rest: Any, late_ns: int = 0) -> None:
        """Send an abort."""
        self._send(*rest, late_ns=late_ns)

    def acknowledge(self, _: Any, *rest: Any, late_ns: int = 0) -> None:
        """Send an acknowledgement."""
        self._send(*rest, late_ns=late_ns)

    def decline(self, _: Any, *rest: Any) -> None:
        """Send a refusal."""
        self._send(*rest)

    def end_of_data(self, _: Any, *rest: Any) -> None:
        """Send a report."""
        self._send(*rest)

    def finished(self, _: Any, *rest: Any) -> None:
        """Send an end."""
        self._send(*rest)

    def store(self, _: int, call: Any, *arguments: Any) -> None:
        """Store at once."""
        call(*arguments)

    def discard(self, sizes: list[int], call: Any, *arguments: Any) -> None:
        """Note everything that is deleted."""
        self.discarded.append(sizes)


@dataclass
class AJob:
    """A job that writes down what it is reported."""

    running: bool = True
    can_checkpoint: bool = True
    told: list[tuple[Any, ...]] = field(default_factory=list)

    def has_backlog(self) -> bool:
        """Return that nothing is in flight."""
        return False

    def first_delay_ns(self) -> int:
        """Return 10 ms."""
        return 10 * MS

    def finished_on_restore(self, vertex: str) -> bool:
        """Return that nothing was restored."""
        return vertex == ""

    def checkpoint_of(
        self, record: CheckpointRecord, vertices: dict[str, FinishedState]
    ) -> JobCheckpoint:
        """Return a checkpoint without content."""
        return JobCheckpoint(
            checkpoint_id=record.checkpoint,
            savepoint=record.request.savepoint,
            tasks={},
            subtasks={},
            vertices=vertices,
            finished=frozenset(),
            positions={},
            lost_state=frozenset(),
        )

    def checkpoint_completed(self, record: CheckpointRecord) -> None:
        """Note it."""
        self.told.append(("completed", record.checkpoint))

    def checkpoints_failed(self, reason: FailureReason) -> None:
        """Note it."""
        self.told.append(("failed", reason))

    def stop_failed(self) -> None:
        """Note it."""
        self.told.append(("stop failed",))

    def task_finished(self, number: int) -> None:
        """Note it."""
        self.told.append(("finished", number))

    def all_finished(self) -> None:
        """Note it."""
        self.told.append(("all finished",))


class Rig:
    """A host with a source and two subtasks after it, numbered 0, 1 and 2."""

    def __init__(
        self, *faults: JobFault, union_state: bool = False, loss_ratio: float = 0.0
    ) -> None:
        self.env = env = Environment(1)
        self.job = AJob()
        self.messages = SameLatency(env)
        vertices = [AVertex("source", 1), AVertex("map", 2, union_state)]
        edges = [Edge("source", "map", Pattern.ALL_TO_ALL)]
        parameters = coordinator.CoordinatorParameters(
            interval_ns=100 * MS, timeout_ns=30 * MS, tolerable_failures=1_000
        )
        settings = CoordinatorSettings(
            kind=2, interval_ns=100 * MS, notification_loss_ratio=loss_ratio
        )
        events = Events()
        events.attach(ControlTrace(self.env))
        self.host = CoordinatorHost(
            env,
            coordinator.CheckpointCoordinator(parameters),
            settings=settings,
            planning=PlanCalculator(
                vertices, edges, self.job.finished_on_restore, after_finish=True
            ),
            listener=coordinator.EndOfDataListener(3, enabled=True),
            messages=self.messages,
            faults=FaultPlan(faults),
            job=self.job,
            events=events,
        )
        places = [("source", 0), ("map", 0), ("map", 1)]
        self.tasks = [ATask(env, number, place) for number, place in enumerate(places)]
        self.host.start(1, self.tasks)

    def run_until(self, ms: int) -> None:
        """Let so many ms pass."""
        self.env.run_until(ms * MS)

    def acknowledge(self, checkpoint: int, *numbers: int, finished: bool = False) -> None:
        """Let tasks acknowledge a checkpoint."""
        for number in numbers:
            self.host.acknowledge(
                self.tasks[number], checkpoint, APart(operators_finished=finished)
            )

    def finish(self, *numbers: int) -> None:
        """Let tasks close."""
        for number in numbers:
            self.host.task_closed(self.tasks[number])
