"""What decides how an answer is to be read, said with it: overload, too few checkpoints, limits."""

from __future__ import annotations

from collections.abc import Iterator

from ckptsim.scenarios.job import Job
from ckptsim.sim.infer.verdict import ENOUGH_CHECKPOINTS
from ckptsim.sim.job.buffers.constants import CONSTANTS, step_ns
from ckptsim.sim.job.graph import Graph
from ckptsim.sim.recording import Recording

_SECOND_NS = 1_000_000_000
# Above this part of its capacity a task has long queues most of the time.
_NEARLY = 0.95


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
        total = _arriving(graph, vertex.name, rates)
        shares = _shares(graph, vertex.name)
        found[vertex.name] = max(
            total * share * step_ns(vertex.service_of(subtask), CONSTANTS) / _SECOND_NS
            for subtask, share in enumerate(shares)
        )
    return found


def _rate(graph: Graph, name: str, rates: dict[str, float]) -> float:
    """Return how many records per second all subtasks of a vertex emit on one of its edges."""
    if name not in rates:
        rates[name] = _arriving(graph, name, rates) * graph.vertex(name).selectivity
    return rates[name]


def _arriving(graph: Graph, name: str, rates: dict[str, float]) -> float:
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


def warnings_of(job: Job, recording: Recording | None = None) -> Iterator[str]:
    """Yield what an answer about a job must say, one sentence each."""
    for name, load in loads_of(job).items():
        if load > 1:
            yield (
                f"{name} is overloaded: sources with a rate ask for {load:.2g} times what it can"
                " do, so its backlog grows; simulated sources drop what they miss"
            )
        elif load > _NEARLY:
            yield f"{name} is at {load:.0%} of its capacity: a little more load changes everything"
    unlimited = [v.name for v in job.vertices if v.is_source and v.rate_per_s is None]
    if unlimited:
        yield (
            f"{', '.join(unlimited)}: as fast as the slowest task takes records, since no rate of"
            " its own could be seen; if it has one, say so with source.NAME.rate"
        )
    if job.storage.write_bytes_per_s is None:
        yield (
            "the storage has no limit: what is written beyond the recorded sizes is an"
            " extrapolation; say one with job.storage.write"
        )
    if recording is not None:
        yield from _of_recording(job, recording)


def _of_recording(job: Job, recording: Recording) -> Iterator[str]:
    count = len(recording.completed)
    if count < ENOUGH_CHECKPOINTS:
        yield f"only {count} completed checkpoints were recorded, expected {ENOUGH_CHECKPOINTS}"
    interval_ms = job.checkpointing.interval_ns / 1e6
    if recording.duration_ms and interval_ms > recording.duration_ms:
        yield (
            f"the interval of {interval_ms / 1000:,.0f} s is longer than the recording of"
            f" {recording.duration_ms / 1000:,.0f} s: what relaxes in between was not seen"
        )
    if recording.job_state not in (None, "RUNNING"):
        yield f"the job was {recording.job_state} when it was recorded, not RUNNING"
    failed = sum(1 for one in recording.checkpoints if one.status == "FAILED")
    if failed > 1:
        yield f"{failed} recorded checkpoints failed, which no replay shows"
