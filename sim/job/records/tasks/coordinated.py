"""Sinks with a global committer: their committers, and the writers of their subtasks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ckptsim.scenarios.job.faults import DelayPrecommit
from ckptsim.sim.job.control.sinks.committing import CommitterHost
from ckptsim.sim.job.control.sinks.writer import CoordinatedWriter
from ckptsim.sim.job.records.kinds import Kind

if TYPE_CHECKING:
    from ckptsim.sim.job.records.tasks.task import Task
    from ckptsim.sim.job.records.world import RecordWorld


def committers(world: RecordWorld) -> dict[str, CommitterHost]:
    """Return the hosts of the global committers of a job, by sink vertex."""
    return {
        vertex.name: CommitterHost(
            world.env,
            vertex.name,
            world.cores.global_committer,
            sinks=world.control.sinks,
            kind=Kind.MESSAGE,
            delay_ns=partial(world.messages.delay_ns, "committer"),
        )
        for vertex in world.job.vertices
        if vertex.global_committer
    }


def coordinated_writer(task: Task) -> CoordinatedWriter | None:
    """Return the writer of a sink's subtask, None of one that commits for itself."""
    world, vertex = task.attempt.world, task.spec.vertex
    if not vertex.global_committer:
        return None

    def writers(checkpoint: int) -> int:
        """Return how many subtasks take part in a checkpoint: those that have not finished."""
        places = world.coordinator.records[checkpoint].places.values()
        return sum(name == vertex.name for name, _ in places)

    sinks = world.control.sinks
    return CoordinatedWriter(
        sinks,
        task.place,
        sinks.committers[vertex.name],
        roll_records=vertex.file_records,
        writers=writers,
        late_ns=lambda number: task.attempt.faults.delay_ns(DelayPrecommit, task, number),
    )
