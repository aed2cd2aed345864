"""Which subtask owns the key of a record: by key groups, or by shares that a scenario asks for.

A record's identity is its key, an int of Java.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from ckptsim.models.recovery import default_max_parallelism, key_group, operator_of_key_group
from ckptsim.scenarios.job import Partitioner
from ckptsim.sim.job.records.state import SOURCE_SPAN, Record

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Edge
    from ckptsim.sim.job.graph import Graph

# The least that a vertex gets when none is set, so it stays when the vertex is rescaled.
# Source: Apache Flink 1.20.3, KeyGroupRangeAssignment.
KEY_GROUPS = default_max_parallelism(1)


def owner_of(graph: Graph, edge: Edge, record: Record) -> int:
    """Return the subtask that a record goes to by its key, which is a rule of the graph."""
    if edge.partitioner is Partitioner.CUSTOM:
        return record % graph.vertex(edge.downstream).parallelism
    hot = graph.hot_sources.get(record // SOURCE_SPAN) if graph.hot_sources else None
    if hot is not None and is_hot(record, hot):
        return 0  # the hot key is in the first key group
    parallelism = graph.vertex(edge.downstream).parallelism
    return by_shares(record, edge.shares) if edge.shares else by_key_group(record, parallelism)


def timestamp_of(graph: Graph, record: Record) -> int:
    """Return the event time of a record in ns: when the rate of its split makes it due."""
    split, position = divmod(record, SOURCE_SPAN)
    name = next(name for name, numbers in graph.splits.items() if split in numbers)
    return (position + 1) * graph.begun_as(name).pause_of(split - graph.splits[name].start)


def keyed_above(graph: Graph, vertex: str) -> Edge | None:
    """Return the keyed edge with the owners of a vertex.

    Its own, or one above by forwarded edges.
    """
    inputs = [edge for edge in graph.edges if edge.downstream == vertex]
    if len(inputs) != 1:
        return None
    if inputs[0].partitioner is Partitioner.FORWARD:
        return keyed_above(graph, inputs[0].upstream)
    return inputs[0] if inputs[0].partitioner is Partitioner.HASH else None


def follows_source(graph: Graph, vertex: str) -> bool:
    """Return whether forwarded edges alone lead from a source to a vertex."""
    if graph.vertex(vertex).is_source:
        return True
    inputs = [edge for edge in graph.edges if edge.downstream == vertex]
    forwarded = len(inputs) == 1 and inputs[0].partitioner is Partitioner.FORWARD
    return forwarded and follows_source(graph, inputs[0].upstream)


def unit_of(graph: Graph, vertex: str, record: Record) -> tuple[int, ...] | None:
    """Return what a record must keep its order in at a vertex, None where it need not.

    It is its split, and after a keyed edge its key group, too: unless shares, or other edges before
    it, have spread the records of a key group over several subtasks.
    """
    split = record // SOURCE_SPAN
    if follows_source(graph, vertex):
        return (split,)
    if not _in_order_by_key(graph, vertex):
        return None
    hot = graph.hot_sources.get(split) if graph.hot_sources else None
    if hot is not None and is_hot(record, hot):
        return (split, -1)
    return (split, key_group(record, KEY_GROUPS))


def _in_order_by_key(graph: Graph, vertex: str) -> bool:
    """Return whether forwarded edges, and those by key group, lead from a source to a vertex."""
    keyed = keyed_above(graph, vertex)
    if keyed is None or keyed.shares:  # which go by records, so that a key group is no one's
        return False
    return follows_source(graph, keyed.upstream) or _in_order_by_key(graph, keyed.upstream)


def by_key_group(record: Record, parallelism: int) -> int:
    """Return the subtask that owns the key group of a record."""
    group = key_group(record, KEY_GROUPS)
    return operator_of_key_group(group, max_parallelism=KEY_GROUPS, parallelism=parallelism)


def by_shares(record: Record, shares: tuple[float, ...]) -> int:
    """Return the subtask of a record where each subtask has a share of the keys."""
    mixed = ((record * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF) >> 32
    bounds = list(accumulate(shares))
    return min(bisect_right(bounds, mixed / 2**32 * bounds[-1]), len(shares) - 1)


def is_hot(record: Record, ratio: float) -> bool:
    """Return whether a record is one of those with a key of subtask 0, a share of all records."""
    mixed = (record * 0xD6E8FEB86659FD93) & 0xFFFFFFFFFFFFFFFF
    return mixed >> 32 < ratio * 2**32
