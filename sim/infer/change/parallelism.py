"""A job with another parallelism: settings of single subtasks are dropped.

State is spread over the new subtasks. Skew is forgotten, except for uneven key groups. New subtasks
run on the task managers of equal index, or on their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ckptsim.scenarios.job import Input, Job, Partitioner, PlacementKind, Vertex
from ckptsim.scenarios.job.graph import row_names
from ckptsim.sim.infer.tasks.keys import key_group_shares


def with_parallelism(job: Job, wanted: Mapping[str, int]) -> Job:
    """Return a job in which the named vertices have so many subtasks."""
    vertices = [
        _rescaled(vertex, wanted[vertex.name])
        if wanted.get(vertex.name, vertex.parallelism) != vertex.parallelism
        else vertex
        for vertex in job.vertices
    ]
    counts = {vertex.name: vertex.parallelism for vertex in vertices}
    counts |= {name: vertex.parallelism for vertex in vertices for name in row_names(vertex)}
    joined = [
        replace(v, inputs=tuple(_joined(one, v, counts[one.upstream]) for one in v.inputs))
        for v in vertices
    ]
    job = replace(job, vertices=tuple(joined))
    return _placed(job) if job.placement is PlacementKind.MAP else job


def _rescaled(vertex: Vertex, parallelism: int) -> Vertex:
    """Return a vertex with other subtasks. The service is the mean of those that there were."""
    before = vertex.parallelism
    mean = sum(vertex.service_of(subtask) for subtask in range(before)) / before
    total = sum(vertex.subtask_state_bytes)
    own = tuple(total // parallelism for _ in range(parallelism)) if total else ()
    return replace(
        vertex,
        parallelism=parallelism,
        service_ns=round(mean),
        slow_subtask_factor=1.0,
        service_step_ns=0,
        service_factors=(),
        rate_shares=(),
        subtask_state_bytes=own,
        inputs=tuple(replace(one, shares=_shares(one, parallelism)) for one in vertex.inputs),
    )


def _shares(one: Input, parallelism: int) -> tuple[float, ...]:
    """Return the shares of new subtasks in the records of an input. Empty for even ones."""
    shares = key_group_shares(parallelism, None)
    return shares if one.partitioner is Partitioner.HASH and len(set(shares)) > 1 else ()


def _joined(one: Input, vertex: Vertex, upstream: int) -> Input:
    """Return an input that the engine would make: forward needs as many subtasks on both sides."""
    if one.partitioner is Partitioner.FORWARD and upstream != vertex.parallelism:
        return replace(one, partitioner=Partitioner.REBALANCE)
    return one


def _placed(job: Job) -> Job:
    """Return a job with task managers for new subtasks."""
    known = [vertex.task_managers for vertex in job.vertices]
    by_index: dict[int, int] = {}
    for numbers in known:
        for index, number in enumerate(numbers):
            by_index.setdefault(index, number)
    following = max((n for numbers in known for n in numbers), default=-1) + 1
    for index in range(max(vertex.parallelism for vertex in job.vertices)):
        if index not in by_index:
            by_index[index], following = following, following + 1
    vertices = tuple(
        replace(
            vertex,
            task_managers=tuple(
                vertex.task_managers[index]
                if index < len(vertex.task_managers)
                else by_index[index]
                for index in range(vertex.parallelism)
            ),
        )
        for vertex in job.vertices
    )
    return replace(job, vertices=vertices)
