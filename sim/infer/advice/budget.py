"""Keep a simulated run short enough for an answer: fewer checkpoints, or an earlier end.

How much a run costs is the number of records that all tasks process together, give or take.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from ckptsim.scenarios import Scenario, UserError
from ckptsim.scenarios.job import Job
from ckptsim.scenarios.job.graph.planes import Plane
from ckptsim.sim.infer.measures import WARM_UP, behind_warm_up
from ckptsim.sim.job.buffers.constants import constants_of, step_ns
from ckptsim.sim.job.graph import Graph
from ckptsim.sim.rows import RunResult

_SECOND_NS = 1_000_000_000


def loads_of(job: Job) -> dict[str, float]:
    """Return per operator which part of its capacity its busiest subtask is asked for."""
    return {name: max(loads) for name, loads in subtask_loads(job).items()}


def subtask_loads(job: Job) -> dict[str, list[float]]:
    """Return per operator which part of its capacity the sources with a rate ask each subtask for.

    By its service time and share of keys.  Sources that emit as fast as they can ask for whatever
    there is, and are not counted.
    """
    rates = {v.name: v.rate_per_s or 0.0 for v in job.vertices if v.is_source}
    graph, constants = Graph(job.spelled_out()), constants_of(job)
    found: dict[str, list[float]] = {}
    for vertex in graph.vertices:  # a scenario may have receivers before their senders
        _rate(graph, vertex.name, rates)
        if vertex.is_source:
            continue
        total = arriving(graph, vertex.name, rates)
        shares = _shares(graph, vertex.name)
        found[vertex.name] = [
            total * share * step_ns(vertex.service_of(subtask), constants) / _SECOND_NS
            for subtask, share in enumerate(shares)
        ]
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


# Records per run: some 3 s on one core, measured on the shipped recordings. And everything that is
# the most where intervals are so long that fewer would not show a checkpoint after the warm-up.
_WANTED = 2_000_000
MOST_RECORDS = 20_000_000
LEAST_CHECKPOINTS = 4
QUICK_CHECKPOINTS = 4
"""So many behind the warm-up are an answer of `--quick`."""


def bounded(scenario: Scenario) -> Scenario:
    """Return a scenario with runs of seconds, and as many checkpoints as that allows."""
    job = cast("Job", scenario.model)
    rate = max(1.0, records_per_s(job))
    interval_s = job.checkpointing.interval_ns / _SECOND_NS
    wanted = job.checkpointing.count
    if wanted is not None:
        affordable = max(LEAST_CHECKPOINTS, int(_WANTED / rate / interval_s))
        wanted = min(wanted, affordable)
        # A run that ends by the clock has time for them, whatever interval was set since.
        time_ns = max(job.duration_ns, 2 * wanted * job.checkpointing.interval_ns)
    else:
        time_ns = job.duration_ns
    longest_ns = max(1, min(time_ns, round(MOST_RECORDS / rate * _SECOND_NS)))
    checkpointing = replace(job.checkpointing, count=wanted)
    return replace(
        scenario, model=replace(job, checkpointing=checkpointing, duration_ns=longest_ns)
    )


def shortened(
    scenario: Scenario, *, full: bool, quick: bool
) -> tuple[dict[str, object], Sequence[str]]:
    """Return the parameters of a run that simulates all, or few checkpoints, and notes.

    full: also what would be passed over.  Raises UserError for all but jobs on buffers.
    """
    job, parameters, notes = scenario.model, dict[str, object](), list[str]()
    if (full or quick) and (not isinstance(job, Job) or job.plane is not Plane.BUFFERS):
        option = "--full" if full else "--quick"
        raise UserError(f"{option}: found {scenario.name}, expected a job on buffers")
    if full:
        parameters["job.skip"] = "never"
    if quick:
        most = WARM_UP + QUICK_CHECKPOINTS
        count = min(most, cast("Job", job).checkpointing.count or most)
        parameters["job.checkpointing.count"] = count
        notes.append(f"quick: ends with checkpoint {count}, and knows of none behind it")
    return parameters, notes


def lengthened(scenario: Scenario, results: Sequence[RunResult]) -> Scenario | None:
    """Return a scenario with time for checkpoints after the warm-up, which its runs lacked.

    None where they had some, where something other than the clock ended a run, and where a longer
    run would take minutes.
    """
    job = cast("Job", scenario.model)
    out_of_time = all(result.run.ended_ns >= job.duration_ns for result in results)
    if not job.checkpointing.enabled or not out_of_time or any(map(behind_warm_up, results)):
        return None
    known_ns = [row.duration_ns or 0 for result in results for row in result.checkpoints]
    each_ns = max([job.checkpointing.interval_ns, *known_ns])
    wanted_ns = max(2 * job.duration_ns, (WARM_UP + LEAST_CHECKPOINTS) * each_ns)
    longest_ns = round(MOST_RECORDS / max(1.0, records_per_s(job)) * _SECOND_NS)
    if min(wanted_ns, longest_ns) <= job.duration_ns:
        return None
    return replace(scenario, model=replace(job, duration_ns=min(wanted_ns, longest_ns)))


def records_per_s(job: Job) -> float:
    """Return about how many records all tasks process per second, by what tasks can do at most."""
    graph = Graph(job.spelled_out())
    rates = {
        vertex.name: vertex.rate_per_s
        if vertex.rate_per_s is not None
        else _fastest(graph, vertex.name)
        for vertex in graph.vertices
        if vertex.is_source
    }
    found = 0.0
    for vertex in graph.vertices:
        sent = rates[vertex.name] if vertex.is_source else arriving(graph, vertex.name, rates)
        found += sent if vertex.is_source else min(sent, _capacity(graph, vertex.name))
    return found


def _capacity(graph: Graph, name: str) -> float:
    vertex, constants = graph.vertex(name), constants_of(graph.job)
    steps = (step_ns(vertex.service_of(i), constants) for i in range(vertex.parallelism))
    return sum(_SECOND_NS / step for step in steps)


def _fastest(graph: Graph, name: str) -> float:
    """Return the most that a source emits which has no rate: what its slowest receiver takes."""
    own = graph.vertex(name).parallelism * _SECOND_NS / constants_of(graph.job).source_record_ns
    limits = [
        _capacity(graph, edge.downstream) / graph.copies(edge)
        for edge in graph.edges
        if edge.upstream == name
    ]
    return min([own, *limits])
