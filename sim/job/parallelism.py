"""A job that its user changes: what both data planes need to know of a rescale, or of a mode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ckptsim.models.recovery import DISTRIBUTIONS, Distribution
from ckptsim.models.recovery import Partitioner as Distributed
from ckptsim.scenarios.job import Job, Mode, Partitioner
from ckptsim.scenarios.job.graph import forward_group

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
    Partitioner.CUSTOM: Distributed.CUSTOM,
}
"""Under which class of the engine a partitioner goes."""


def distribution_of(partitioner: Partitioner) -> Distribution:
    """Return what a partitioner means for data in flight."""
    return DISTRIBUTIONS[CLASSES[partitioner]]


def with_parallelism(job: Job, subtasks: Mapping[str, int]) -> Job:
    """Return a job with so many subtasks per vertex. Vertices that are not named keep theirs."""
    vertices = tuple(
        replace(vertex, parallelism=subtasks.get(vertex.name, vertex.parallelism))
        for vertex in job.vertices
    )
    return replace(job, vertices=vertices)


def is_rescaled(graph: Graph, restored: JobCheckpoint) -> bool:
    """Return whether a checkpoint was taken at another parallelism than the one of a graph."""
    return any(
        len(restored.subtasks[vertex.name]) != vertex.parallelism for vertex in graph.vertices
    )


class Changes:
    """What the user has asked for and holds from the next attempt on."""

    def __init__(self) -> None:
        self._asked: dict[str, int] = {}
        self._mode: Mode | None = None

    def rescale(self, vertex: str, parallelism: int) -> None:
        """Give a vertex, and those joined to it by forward edges, another parallelism."""
        self._asked.pop(vertex, None)  # of two in one group the latest counts
        self._asked[vertex] = parallelism

    def resume(self, mode: Mode) -> None:
        """Change how checkpoints treat in-flight data."""
        self._mode = mode

    def subtasks(self, job: Job) -> dict[str, int]:
        """Return the vertices of a job that get another parallelism, with that."""
        found: dict[str, int] = {}
        for vertex, parallelism in self._asked.items():
            found |= dict.fromkeys(forward_group(job.vertices, vertex), parallelism)
        return found

    def apply(self, job: Job) -> Job:
        """Return the job as it is from now on: the same object, if nothing was asked for."""
        if self._asked:
            job = with_parallelism(job, self.subtasks(job))
        if self._mode is not None:
            job = replace(job, checkpointing=replace(job.checkpointing, mode=self._mode))
        self._asked, self._mode = {}, None
        return job
