"""Records counted over all attempts: each is in the state of every task that it went to once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ckptsim.scenarios.job import Vertex, VertexKind
from ckptsim.sim.job.buffers.selectivity import Selectivity

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.task import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint

Violate = Callable[..., None]


def check_restored(world: DataflowWorld, restored: JobCheckpoint | None, violate: Violate) -> None:
    """Check that an attempt begins from a consistent cut.

    What the senders of an operator had emitted is in its state or was put back into its channels,
    in the sum over its subtasks; at least that much where records may be repeated.
    """
    if restored is None:
        return
    for operator in _readers(world):
        tasks = world.tasks_of(operator.name)
        sizes = [c.outlet.writer.record_bytes for task in tasks for c in task.channels]
        if min(sizes) != max(sizes):
            continue  # records of several sizes cannot be told from bytes alone
        size = sizes[0]
        emitted = _emitted(world, operator.name, lambda task: task.restored_records)
        put_back = sum(c.outlet.restored_bytes for task in tasks for c in task.channels)
        found = sum(task.restored_records for task in tasks) * size + put_back
        exactly = world.model.checkpointing.exactly_once
        if found < emitted * size or (exactly and found != emitted * size):
            says = f"begins from checkpoint {restored.checkpoint_id}: {emitted} records were sent "
            says += f"to {operator.name}, of which {found} bytes are in its state or in flight"
            violate("restored_checkpoint_is_a_cut", says, restored.checkpoint_id)


def check_counts(world: DataflowWorld, violate: Violate) -> None:
    """Check that a job that has ended has each record in state and output of each operator once.

    Once for each edge that leads there, and for each subtask of a broadcast; in a job that may
    repeat records at least that often.
    """
    if not world.control.ended:
        return
    careless = [vertex.name for vertex in _readers(world) if vertex.opens_after_finish]
    world.control.sinks.check_end(careless)
    exactly = world.model.checkpointing.exactly_once
    for operator in _readers(world):
        counts = {"state": sum(task.processed for task in world.tasks_of(operator.name))}
        if operator.kind is VertexKind.SINK:
            counts["output"] = world.control.sinks.external.committed_count(operator.name)
        expected = _emitted(world, operator.name, lambda task: task.processed)
        for what, found in counts.items():
            if found < expected or (exactly and found != expected):
                name = f"{'exactly' if exactly else 'at_least'}_once_{what}"
                violate(name, f"{operator.name} has {found} records, of {expected} sent to it")


def _readers(world: DataflowWorld) -> list[Vertex]:
    return [vertex for vertex in world.model.vertices if not vertex.is_source]


def _emitted(world: DataflowWorld, operator: str, records: Callable[[Task], int]) -> int:
    """Return how often something was sent to an operator; a record goes over each edge once."""
    total = 0
    for edge in world.graph.edges:
        if edge.downstream == operator:
            of = Selectivity(world.graph.vertex(edge.upstream).selectivity).emitted
            sent = sum(of(records(task)) for task in world.tasks_of(edge.upstream))
            total += world.graph.copies(edge) * sent
    return total
