"""The graph of a job: vertices with subtasks, edges with partitioners, and what fits together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

from ckptsim.scenarios import graphs
from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.fields import REQUIRED, choice, count, duration_ns, flag, name

_JOB = "assumption: part of the job"
_SMALL = "assumption: small enough to be hunted in milliseconds"
_FLINK = "Source: Apache Flink 1.20.3, "


class VertexKind(StrEnum):
    """What a vertex does."""

    SOURCE = "source"
    OPERATOR = "operator"
    SINK = "sink"


class Partitioner(StrEnum):
    """How records choose a subtask of the next vertex."""

    FORWARD = "forward"
    REBALANCE = "rebalance"
    RESCALE = "rescale"
    KEYED = "keyed"
    BROADCAST = "broadcast"
    GLOBAL = "global"


class Recorded(StrEnum):
    """What the checkpoint that a job is started from says of a vertex."""

    NONE = "none"
    RUNNING = "running"
    PARTIAL = "partial"
    FULL = "full"


POINTWISE = (Partitioner.FORWARD, Partitioner.RESCALE)
# Edges over which a barrier must not overtake: their order or their copies would not survive.
ALWAYS_ALIGNED = (*POINTWISE, Partitioner.BROADCAST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vertex:
    """One vertex of the job graph; every subtask is built alike."""

    name: str = name(REQUIRED, says="name of the vertex", source=_JOB)
    kind: VertexKind = choice("operator", VertexKind, says="what it does", source=_JOB)
    parallelism: int = count(
        1, minimum=1, maximum=128, unit="subtasks", says="number of subtasks", source=_SMALL
    )
    repeat: int = count(
        1,
        minimum=1,
        maximum=32,
        unit="vertices",
        says="an operator stands so many times in a row, named NAME1, NAME2, ... if more than once",
        source="assumption: makes the depth of a job one number",
    )
    chain: int = count(
        1, minimum=1, maximum=8, unit="operators", says="operators in the chain", source=_SMALL
    )
    service_ns: int = duration_ns(
        "1 ms", maximum="1 h", says="time to process one record", source=_SMALL
    )
    service_step_ns: int = duration_ns(
        0, maximum="1 h", says="added to the service time per subtask index", source=_SMALL
    )
    records: int | None = count(
        None,
        maximum=1_000_000,
        unit="records per subtask",
        says="what a source emits before it ends; absent: any number",
        source=_SMALL,
        optional=True,
    )
    ends_at_ns: int | None = duration_ns(
        None,
        says="instant at which a source ends if it has not before; absent: at no time",
        source=_SMALL,
        optional=True,
    )
    records_step: int = count(
        0,
        maximum=100_000,
        unit="records",
        says="added to the records per subtask index",
        source=_SMALL,
    )
    emit_interval_ns: int = duration_ns(
        "1 ms", maximum="1 h", says="time between two records of a source subtask", source=_SMALL
    )
    keeps_position: bool = flag(
        True,
        says="what a finished source subtask has read is remembered after a restore; a source "
        "without state reads again from its beginning",
        source=_FLINK + "observed: a partly finished vertex runs all subtasks again",
    )
    recorded: Recorded = choice(
        "none",
        Recorded,
        says="what the checkpoint that the job is started from has of it: nothing (it is new, or, "
        "if so all are, the job starts afresh), that it ran, that its first subtask had finished, "
        "or that all had; what does not fit together is refused",
        source=_FLINK + "VertexFinishedStateChecker",
    )
    union_state: bool = flag(
        False, says="it uses union list state, which is redistributed whole", source=_JOB
    )
    broadcast_state: bool = flag(
        False,
        says="its state is broadcast state, the same in every subtask; after a restore those that "
        "had finished get it from those that had not",
        source=_FLINK + "RoundRobinOperatorStateRepartitioner",
    )
    opens_after_finish: bool = flag(
        False,
        says="a sink opens transactions also after finish()",
        source=_FLINK + "TwoPhaseCommitSinkFunction opens none (FLINK-23473)",
    )

    @property
    def is_endless(self) -> bool:
        """Say whether it is a source that has no end of its own."""
        unbounded = self.records is None and self.ends_at_ns is None
        return self.kind is VertexKind.SOURCE and unbounded


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One edge of the job graph; two edges into a vertex are two input gates."""

    upstream: str = name(REQUIRED, says="vertex that sends", source=_JOB)
    downstream: str = name(REQUIRED, says="vertex that receives", source=_JOB)
    partitioner: Partitioner = choice(
        "keyed", Partitioner, says="how records choose a subtask", source=_JOB
    )


def spelled_out(
    vertices: Sequence[Vertex], edges: Sequence[Edge]
) -> tuple[tuple[Vertex, ...], tuple[Edge, ...]]:
    """Return a graph in which every vertex stands once.

    Repeated ones are joined in a row by the partitioner of the first edge that leads to them.
    """
    rows = {vertex.name: _row(vertex) for vertex in vertices}
    joined: list[Edge] = []
    entered: set[str] = set()
    for edge in edges:
        last, row = rows[edge.upstream][-1], rows[edge.downstream]
        joined.append(replace(edge, upstream=last.name, downstream=row[0].name))
        if edge.downstream not in entered:
            entered.add(edge.downstream)
            joined += [
                replace(edge, upstream=one.name, downstream=next_.name)
                for one, next_ in pairwise(row)
            ]
    return tuple(vertex for row in rows.values() for vertex in row), tuple(joined)


def _row(vertex: Vertex) -> list[Vertex]:
    if vertex.repeat == 1:
        return [vertex]
    return [
        replace(vertex, name=f"{vertex.name}{number}", repeat=1)
        for number in range(1, vertex.repeat + 1)
    ]


# Between two records of a source without a number of records; with none at all between them, and
# none in the tasks behind it, an instant would never end.  Assumption: as for other intervals.
SHORTEST_NS = 1_000


def graph_problems(vertices: Sequence[Vertex], edges: Sequence[Edge]) -> list[Problem]:
    """Return what is wrong with a graph; the first kind of fault that is found hides others."""
    names = [vertex.name for vertex in vertices]
    found = [
        Problem(f"vertices[{index}].name", f'"{repeated}"', "a name that no other vertex has")
        for index, repeated in graphs.repeated(names)
    ]
    for index, edge in enumerate(edges):
        found += [
            Problem(f"edges[{index}].{side}", f'"{value}"', "the name of a vertex")
            for side, value in (("upstream", edge.upstream), ("downstream", edge.downstream))
            if value not in names
        ]
    if found:
        return found
    before = {n: [e.upstream for e in edges if e.downstream == n] for n in names}
    circle = graphs.cycle(before)
    if circle:
        return [Problem("edges", " -> ".join(circle), "a graph without a cycle")]
    by_name = {vertex.name: vertex for vertex in vertices}
    once = [vertex.name for vertex in spelled_out(vertices, edges)[0]]
    found += [
        Problem("vertices", f'two vertices called "{once[index]}"', "names that differ when spelt")
        for index, _ in graphs.repeated(once)
    ]
    for index, vertex in enumerate(vertices):
        found += _place_problems(index, vertex, before[vertex.name], edges)
    for index, edge in enumerate(edges):
        up, down = by_name[edge.upstream], by_name[edge.downstream]
        if edge.partitioner is Partitioner.FORWARD and up.parallelism != down.parallelism:
            found.append(
                Problem(
                    f"edges[{index}].partitioner",
                    f"forward from {up.parallelism} to {down.parallelism} subtasks",
                    "equal parallelism on both sides",
                )
            )
    return found


def _place_problems(
    index: int, vertex: Vertex, inputs: Sequence[str], edges: Sequence[Edge]
) -> list[Problem]:
    """Return what is wrong with the place of a vertex in the graph."""
    path = f"vertices[{index}]"
    outputs = [edge for edge in edges if edge.upstream == vertex.name]
    found = []
    if (vertex.kind is VertexKind.SOURCE) == bool(inputs):
        expected = "no edge into a source" if inputs else "an edge into every other vertex"
        found.append(Problem(f"{path}.kind", f'"{vertex.kind.value}"', expected))
    if vertex.kind is not VertexKind.OPERATOR and vertex.repeat > 1:
        found.append(Problem(f"{path}.repeat", str(vertex.repeat), "1, but for an operator"))
    if vertex.kind is VertexKind.SINK and outputs:
        found.append(Problem(f"{path}.kind", '"sink"', "no edge out of a sink"))
    unbounded = vertex.kind is VertexKind.SOURCE and vertex.records is None
    if unbounded and vertex.emit_interval_ns < SHORTEST_NS:
        expected = "1 us or more, or a number of records: nothing else bounds a source"
        found.append(Problem(f"{path}.emit_interval", f"{vertex.emit_interval_ns} ns", expected))
    if vertex.recorded is Recorded.PARTIAL and vertex.parallelism == 1:
        found.append(Problem(f"{path}.recorded", '"partial"', "more than one subtask for that"))
    partitioners = [edge.partitioner for edge in edges if edge.downstream == vertex.name]
    alike = bool(partitioners) and set(partitioners) == {Partitioner.BROADCAST}
    if vertex.broadcast_state and not alike:
        expected = "false, unless every edge into the vertex is a broadcast"
        found.append(Problem(f"{path}.broadcast_state", "true", expected))
    if vertex.kind is not VertexKind.SOURCE:
        found += [
            Problem(f"{path}.{key}", str(value), "nothing but at a source")
            for key, value in (("records", vertex.records), ("ends_at", vertex.ends_at_ns))
            if value is not None
        ]
    return found
