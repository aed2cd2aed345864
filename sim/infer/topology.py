"""Which vertices a recorded job has, how they are joined, and where their subtasks run."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.job import Partitioner, PlacementKind
from ckptsim.sim.infer.found import Found, Sureness
from ckptsim.sim.recording import Recording, VertexAnswer, VertexInput

_PLAN = ("/plan",)
_PLACES = ("/vertices/:id",)
_LONGEST_NAME = 60
_LONGEST_CHAIN = 8
# The metric that only an operator with two inputs of its own has.
# Source: Apache Flink 1.20.3, MetricNames.currentInputWatermarkName.
_SECOND_INPUT = "currentInput2Watermark"


def ordered(recording: Recording) -> tuple[VertexAnswer, ...]:
    """Return the vertices with every sender before its receivers, else in the job's order.

    Raises UserError for a graph that has a cycle.
    """
    left = list(recording.vertices)
    known = {vertex.id for vertex in left}
    done: dict[str, VertexAnswer] = {}
    while left:
        ready = [
            v for v in left if all(i.upstream in done for i in v.inputs if i.upstream in known)
        ]
        if not ready:
            names = ", ".join(vertex.name for vertex in left)
            raise UserError(f"{recording.job_name}: found a cycle among {names}, expected a graph")
        for vertex in ready:
            done[vertex.id] = vertex
        left = [vertex for vertex in left if vertex.id not in done]
    return tuple(done.values())


def check_joined(recording: Recording) -> None:
    """Check that every vertex reads from another one, or is read.

    Raises UserError: without a plan nothing is known of a job, and a job of one chain has no
    exchange for barriers.
    """
    known = {vertex.id for vertex in recording.vertices}
    read = {edge.upstream for vertex in recording.vertices for edge in vertex.inputs}
    alone = [
        vertex.name
        for vertex in recording.vertices
        if vertex.id not in read and not any(edge.upstream in known for edge in vertex.inputs)
    ]
    if not alone:
        return
    if len(recording.vertices) == 1:
        expected = "at least one exchange, which barriers have to cross"
        raise UserError(f"{recording.job_name}: found one vertex, {alone[0]}, expected {expected}")
    expected = "an answer of /jobs/:id/plan that says who reads from whom"
    raise UserError(
        f"{recording.job_name}: found no input or output of {', '.join(alone)}, expected {expected}"
    )


def names_of(recording: Recording) -> dict[str, str]:
    """Return a name for each vertex that a scenario may have: the one of its first operator."""
    found: dict[str, str] = {}
    taken: list[str] = []
    for vertex in recording.vertices:
        name = base = bare_name(vertex.name.split(" -> ")[0])
        count = 1
        while name in taken:
            count += 1
            name = f"{base}-{count}"
        taken.append(name)
        found[vertex.id] = name
    return found


def chain_of(vertex: VertexAnswer) -> Found[int]:
    """Return how many operators a vertex chains, eight at most."""
    count = max(1, len(vertex.operators))
    return Found(
        value=min(_LONGEST_CHAIN, count),
        how="operators in the description of the vertex",
        answers=_PLAN,
        sure=Sureness.READ,
    )


def bare_name(name: str) -> str:
    """Return an operator's name as a scenario may have it, without the word that it is a source."""
    stripped = re.sub(r"^(Source|Sink):\s*", "", name)
    plain = re.sub(r"[^A-Za-z0-9_.\-]+", "-", stripped).strip("-._")
    return plain[:_LONGEST_NAME].rstrip("-._") or "vertex"


def partitioner_of(
    vertex: VertexAnswer, edge: VertexInput, upstream: VertexAnswer
) -> Found[Partitioner]:
    """Return how records choose a subtask of `vertex` on one of its inputs."""
    ship = (edge.ship or "").split("[")[0].strip().upper()
    same = upstream.parallelism == vertex.parallelism
    if ship == "FORWARD" and not same:
        how = f'"{ship}" between {upstream.parallelism} and {vertex.parallelism} subtasks'
        return Found(value=Partitioner.RESCALE, how=how, answers=_PLAN, sure=Sureness.READ)
    if ship.lower() in list(Partitioner) and ship != "CUSTOM":
        how = f'ship strategy "{ship}" of the plan'
        return Found(value=Partitioner(ship.lower()), how=how, answers=_PLAN, sure=Sureness.READ)
    if ship:  # a partitioner of the job's own: some subtask for each record
        how = f'ship strategy "{ship[:40]}" is unknown, taken as by key'
        return Found(value=Partitioner.HASH, how=how, answers=_PLAN, sure=Sureness.ESTIMATED)
    usual = Partitioner.FORWARD if same else Partitioner.REBALANCE
    return Found(
        value=usual,
        how="the plan does not say; the engine's own choice for this parallelism",
        answers=(),
        sure=Sureness.ASSUMED,
        effect="decides who waits for whom; by key, skew of keys counts",
    )


def two_input_of(vertex: VertexAnswer) -> Found[bool]:
    """Return whether the two inputs of a vertex are connected, not a union."""
    if not vertex.metrics:
        return Found(
            value=False,
            how="no list of metrics shows it; assumed to be a union",
            answers=(),
            sure=Sureness.ASSUMED,
            effect="who is read first: barriers of a busy input wait longer in a union",
        )
    connected = any(metric.endswith(_SECOND_INPUT) for metric in vertex.metrics)
    what = "there is a metric" if connected else "there is no metric"
    return Found(
        value=connected,
        how=f"{what} {_SECOND_INPUT}, which two inputs of an operator have",
        answers=("/vertices/:id/metrics",),
        sure=Sureness.COUNTED,
    )


def placement_of(recording: Recording) -> tuple[Found[PlacementKind], Mapping[str, list[int]]]:
    """Return the kind of the placement, and per vertex the task manager of each subtask."""
    numbers: dict[str, int] = {}
    places: dict[str, list[int]] = {}
    for vertex in recording.vertices:
        places[vertex.id] = []
        for subtask in vertex.subtasks:
            name = subtask.task_manager or subtask.host
            if name is None:
                return _unknown_placement(), {}
            places[vertex.id].append(numbers.setdefault(name, len(numbers)))
    total = sum(len(place) for place in places.values())
    kind = PlacementKind.MAP
    if len(numbers) == total:
        kind = PlacementKind.REMOTE
    elif len(numbers) == 1:
        kind = PlacementKind.LOCAL
    elif _by_index(places):
        kind = PlacementKind.MIXED
    how = f"{total} subtasks on {len(numbers)} task managers, from their ids"
    return Found(value=kind, how=how, answers=_PLACES, sure=Sureness.READ), places


def _by_index(places: Mapping[str, list[int]]) -> bool:
    """Return whether exactly the subtasks of equal index share a task manager."""
    first: dict[int, int] = {}
    for place in places.values():
        for index, number in enumerate(place):
            if first.setdefault(index, number) != number:
                return False
    return len(set(first.values())) == len(first)


def _unknown_placement() -> Found[PlacementKind]:
    return Found(
        value=PlacementKind.REMOTE,
        how="the task managers of some subtasks are not in the recording",
        answers=(),
        sure=Sureness.ASSUMED,
        effect="local channels hold fewer buffers, so that less is in flight",
    )
