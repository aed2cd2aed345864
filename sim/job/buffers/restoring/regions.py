"""Failovers of pipelined regions: which tasks restart, and how the others are carried over.

A region is all tasks that exchanges join.  Every exchange of a streaming job is pipelined, so the
regions of a job are the parts that no channel joins.  A failure restarts the regions of the tasks
that failed.  The others run on, and take no part in checkpoints until the job is whole again.

The attempt that follows has new objects for all tasks.  Tasks of other regions begin with their
state, their in-flight data and their open transactions of that instant.
Assumption: a record under service then is served anew, and records on their way start again.

Source: Apache Flink 1.20.3, RestartPipelinedRegionFailoverStrategy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.scenarios.job import FailoverKind
from ckptsim.sim.job.buffers.state import BufferSnapshot
from ckptsim.sim.job.buffers.tasks import Source

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.restoring.lateness import Instants, Key
    from ckptsim.sim.job.buffers.state import Span
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.graph import Graph


def regions_of(graph: Graph) -> list[int]:
    """Return the region of every task: the least number of a task in it."""
    found = list(range(len(graph.tasks)))

    def root(number: int) -> int:
        while found[number] != number:
            number = found[number] = found[found[number]]
        return number

    for channel in graph.channels:
        first, last = sorted((root(channel.upstream), root(channel.downstream)))
        found[last] = first
    return [root(number) for number in range(len(found))]


class Regions:
    """The tasks of one job that a failover leaves alone.

    carried: these tasks of the attempt before, by number, while the next one is made.  in_flight:
    when records between them were due, by channel.
    """

    def __init__(self, world: DataflowWorld) -> None:
        self.carried: dict[int, Task] = {}
        self.in_flight: dict[Key, Instants] = {}
        self._world = world
        self._restarted: list[int] = []

    @property
    def some_run(self) -> bool:
        """Whether a failover is under way that leaves others alone."""
        return bool(self._restarted)

    def halt(self) -> bool:
        """End the tasks of the regions that restart. Return False where all tasks do."""
        world, restarted = self._world, self._hit()
        if len(restarted) == len(world.tasks):
            return False
        self._restarted = restarted
        world.kill(number for number in restarted if world.is_alive(number))
        return True

    def _hit(self) -> list[int]:
        """Return the tasks that the failure under way restarts: all, or some regions."""
        world = self._world
        everybody = [task.number for task in world.tasks]
        failures = [one for one in world.control.failovers if one.resumed_ns is None]
        if (
            world.timed is None
            or world.model.recovery.failover is FailoverKind.FULL
            or world.identities is not None
            or not failures
            or not all(one.tasks for one in failures)
            or world.control.newest() is None
        ):
            return everybody
        regions = regions_of(world.graph)
        hit = {regions[number] for one in failures for number in one.tasks}
        found = [number for number in everybody if regions[number] in hit]
        others = (task for task in world.tasks if regions[task.number] not in hit)
        return everybody if any(task.has_ended for task in others) else found

    def carried_into(self, restored: JobCheckpoint | None) -> JobCheckpoint | None:
        """Return a checkpoint with the present state of tasks that run on. Their objects end."""
        world, again = self._world, dict.fromkeys(self._restarted)
        self._restarted = []
        if restored is None or not again:
            return restored
        world.catch_up()
        self.carried = {task.number: task for task in world.tasks if task.number not in again}
        lateness = None if world.timed is None else world.timed.lateness
        self.in_flight = {} if lateness is None else lateness.in_flight(self.carried)
        tasks = {number: self._now(task) for number, task in self.carried.items()}
        positions = {
            split: count
            for task in self.carried.values()
            if isinstance(task, Source)
            for split, count in task.splits.items()
        }
        world.end_attempt()
        return replace(
            restored,
            tasks={**restored.tasks, **tasks},
            positions={**restored.positions, **positions},
        )

    def _now(self, task: Task) -> BufferSnapshot:
        return BufferSnapshot(
            processed=task.processed,
            splits=task.held_splits if isinstance(task, Source) else {},
            exhausted=isinstance(task, Source) and task.is_exhausted,
            input_spans={},
            output_spans={
                place: self._spans(task, place) for place in range(len(task.subpartitions))
            },
        )

    def _spans(self, task: Task, place: int) -> list[Span]:
        """Return the records on their way to a receiver as full buffers."""
        end = task.subpartitions[place]
        key = end.input_channel.gate.task.number, end.input_channel.index
        count, size = len(self.in_flight.get(key, ())), end.writer.sizes.mean
        most = max(1, self._world.model.network.segment_bytes // size)
        return [(min(most, count - n) * size, min(most, count - n)) for n in range(0, count, most)]

    def equip(self, tasks: Iterable[Task]) -> None:
        """Give tasks of the new attempt what those that they continue have besides."""
        for task in tasks:
            before = self.carried.get(task.number)
            if before is None:
                continue
            task.snapshots.state = before.snapshots.state
            if before.sink is not None:
                task.control.lifecycle.step(lifecycle_events.StateRestored(()))
                task.sink = before.sink
                task.sink.continued(partial(attrgetter("processed"), task))

    def running_on(self) -> list[Task]:
        """Return the tasks that a failure has left alone, as new objects."""
        return [self._world.tasks[number] for number in self.carried]
