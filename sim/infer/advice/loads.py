"""How much the sources of a job ask of its operators: rates, selectivity and shares of keys."""

from __future__ import annotations

from ckptsim.scenarios.job import Job
from ckptsim.sim.job.buffers.constants import CONSTANTS, step_ns
from ckptsim.sim.job.graph import Graph

_SECOND_NS = 1_000_000_000


def loads_of(job: Job) -> dict[str, float]:
    """Return per operator which part of its capacity the sources with a rate ask for.

    Of its busiest subtask, by its service time and share of keys.  Sources that emit as fast as
    they can ask for whatever there is, and are not counted.
    """
    rates = {v.name: v.rate_per_s or 0.0 for v in job.vertices if v.is_source}
    graph = Graph(job.spelled_out())
    found: dict[str, float] = {}
    for vertex in graph.vertices:  # a scenario may have receivers before their senders
        _rate(graph, vertex.name, rates)
        if vertex.is_source:
            continue
        total = arriving(graph, vertex.name, rates)
        shares = _shares(graph, vertex.name)
        found[vertex.name] = max(
            total * share * step_ns(vertex.service_of(subtask), CONSTANTS) / _SECOND_NS
            for subtask, share in enumerate(shares)
        )
    return found


def _rate(graph: Graph, name: str, rates: dict[str, float]) -> float:
    """Return how many records per second all subtasks of a vertex emit on one of its edges."""
    if name not in rates:
        rates[name] = arriving(graph, name, rates) * graph.vertex(name).selectivity
    return rates[name]


def arriving(graph: Graph, name: str, rates: dict[str, float]) -> float:
    """Return how many records per second all subtasks of a vertex are sent."""
    return sum(
        _rate(graph, edge.upstream, rates) * graph.copies(edge)
        for edge in graph.edges
        if edge.downstream == name
    )


def _shares(graph: Graph, name: str) -> list[float]:
    """Return the share of each subtask in what its vertex is sent, by its most skewed input."""
    count = graph.vertex(name).parallelism
    even = [1 / count] * count
    for edge in graph.edges:
        if edge.downstream != name:
            continue
        hot = graph.vertex(edge.upstream).hot_ratio
        total = sum(edge.shares)
        own = [share / total for share in edge.shares] if total else even
        own = [(1 - hot) * share + (hot if not place else 0) for place, share in enumerate(own)]
        even = own if max(own) > max(even) else even
    return even
