"""Which subtask of an attempt follows which one of the checkpoint that it begins from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.recovery.persistence import SubtaskIndices, Succession, succession
from ckptsim.scenarios.job.graph import Partitioner, forward_group

if TYPE_CHECKING:
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.graph import Graph
    from ckptsim.sim.kernel import Environment


def successions(
    graph: Graph, restored: JobCheckpoint | None, env: Environment
) -> dict[str, Succession]:
    """Return who follows whom, by vertex.

    Vertices joined by forwarded edges go together.  Those joined to a source stay: its splits are
    what distinguish its subtasks. And those with a rescale edge, which joins each sender to some
    places only.  Where the parallelism has changed, positions are matched.
    """
    rule = SubtaskIndices(graph.job.channel_state.subtask_indices.value)
    kept = SubtaskIndices.KEPT
    orders: dict[tuple[str, ...], list[int]] = {}
    found: dict[str, Succession] = {}
    for vertex in graph.vertices:
        same = list(range(vertex.parallelism))
        if restored is None or rule is kept or len(restored.subtasks[vertex.name]) != len(same):
            found[vertex.name] = succession(kept, same, same)
            continue
        group = forward_group(graph.vertices, vertex.name)
        stays = any(graph.vertex(name).is_source for name in group) or any(
            edge.partitioner is Partitioner.RESCALE and {edge.upstream, edge.downstream} & {*group}
            for edge in graph.edges
        )
        if group not in orders:
            orders[group] = same if stays else _shuffled(same, env)
        found[vertex.name] = succession(rule, _identities(restored, vertex.name), orders[group])
    return found


def _identities(restored: JobCheckpoint, vertex: str) -> list[int]:
    """Return as which the subtasks of a vertex owned key groups, by index.

    Those that had finished have no state that says so: they are the ones that no other one is.
    """
    told = [None if one is None else one.identity for one in restored.snapshots_of(vertex)]
    others = (identity for identity in range(len(told)) if identity not in told)
    return [next(others) if identity is None else identity for identity in told]


def _shuffled(indices: list[int], env: Environment) -> list[int]:
    stream, left = env.stream("subtask indices"), list(indices)
    return [left.pop(stream.integer(0, len(left) - 1)) for _ in indices]
