"""The graph of a job: its edges, its forward groups, and its vertices each spelled out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ckptsim.scenarios.job.graph.edges import Edge, Partitioner
from ckptsim.scenarios.job.graph.vertex import Vertex


def edges_of(vertices: Sequence[Vertex]) -> tuple[Edge, ...]:
    """Return all edges, by receiving vertex and in the order of its inputs."""
    return tuple(
        Edge(
            upstream=one.upstream,
            downstream=vertex.name,
            partitioner=one.partitioner,
            shares=one.shares,
            keeps_key=one.keeps_key,
            record_bytes=one.record_bytes,
            record_variation=one.record_variation,
        )
        for vertex in vertices
        for one in vertex.inputs
    )


def forward_group(vertices: Sequence[Vertex], name_: str) -> tuple[str, ...]:
    """Return the vertices that forward edges join to a vertex, itself among them, in their order.

    Source: Apache Flink 1.20.3, ForwardGroup: they share one parallelism.
    """
    edges = [e for e in edges_of(vertices) if e.partitioner is Partitioner.FORWARD]
    group = [name_]
    for member in group:  # grows while it is looked through
        for edge in edges:
            ends = (edge.upstream, edge.downstream)
            if member in ends:
                group += [end for end in ends if end not in group]
    return tuple(vertex.name for vertex in vertices if vertex.name in group)


def spelled_out(vertices: Sequence[Vertex]) -> tuple[Vertex, ...]:
    """Return a graph in which every vertex is once.

    Repeated ones are joined in a row by the partitioner of their first input.  An input may name
    any of a row. The name of the vertex means the last.
    """
    if all(vertex.repeat == 1 for vertex in vertices):
        return tuple(vertices)
    last = {vertex.name: row_names(vertex)[-1] for vertex in vertices}
    found: list[Vertex] = []
    for vertex in vertices:
        inputs = tuple(
            replace(one, upstream=last.get(one.upstream, one.upstream)) for one in vertex.inputs
        )
        for name_ in row_names(vertex):
            found.append(replace(vertex, name=name_, repeat=1, inputs=inputs))
            inputs = tuple(replace(one, upstream=name_) for one in vertex.inputs[:1])
    return tuple(found)


def row_names(vertex: Vertex) -> list[str]:
    """Return the names under which a vertex is in the graph."""
    if vertex.repeat == 1:
        return [vertex.name]
    return [f"{vertex.name}{number}" for number in range(1, vertex.repeat + 1)]
