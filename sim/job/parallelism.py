"""A job with other numbers of subtasks: what both data planes need to know of a rescale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ckptsim.models.recovery import DISTRIBUTIONS, Distribution
from ckptsim.models.recovery import Partitioner as Distributed
from ckptsim.scenarios.job import Job, Partitioner

if TYPE_CHECKING:
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.graph import Graph

CLASSES: Mapping[Partitioner, Distributed] = {
    Partitioner.FORWARD: Distributed.FORWARD,
    Partitioner.HASH: Distributed.KEY_GROUP,
    Partitioner.REBALANCE: Distributed.REBALANCE,
    Partitioner.RESCALE: Distributed.RESCALE,
    Partitioner.SHUFFLE: Distributed.SHUFFLE,
    Partitioner.BROADCAST: Distributed.BROADCAST,
    Partitioner.GLOBAL: Distributed.GLOBAL,
}
"""Under which class of the engine a partitioner goes."""


def distribution_of(partitioner: Partitioner) -> Distribution:
    """Return what a partitioner means for data in flight."""
    return DISTRIBUTIONS[CLASSES[partitioner]]


def with_parallelism(job: Job, subtasks: Mapping[str, int]) -> Job:
    """Return a job with so many subtasks per vertex; vertices that are not named keep theirs."""
    vertices = tuple(
        replace(vertex, parallelism=subtasks.get(vertex.name, vertex.parallelism))
        for vertex in job.vertices
    )
    return replace(job, vertices=vertices)


def is_rescaled(graph: Graph, restored: JobCheckpoint) -> bool:
    """Tell whether a checkpoint was taken at another parallelism than that of a graph."""
    return any(
        len(restored.subtasks[vertex.name]) != vertex.parallelism for vertex in graph.vertices
    )
