"""Jobs as people run them, by the compiled driver: chains of keyed and rebalanced exchanges.

A source and operators of 1 ms, unlimited and 80 % loaded, aligned and unaligned, with flushes and a
checkpoint every ten simulated seconds.  The kernel is loaded before, compiled if it has to be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import process_time

from ckptsim.scenarios import job as jobs
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.oracle.buffers import BufferObserver, BufferOracle
from ckptsim.sim.kernel import Environment
from tests.bench import Figure
from tests.bench.dataflow_models import bare_simpy
from tests.job.buffers.plans import on_buffers

SECOND = 1_000_000_000
_EDGES = (jobs.Partitioner.HASH, jobs.Partitioner.REBALANCE)
_LOADED_PER_S = 780.0  # 80 % of what an operator of 1 ms can take
BAR_64_S = 0.35
BAR_128_S = 1.0
BAR_JUDGED = 2.0


def chain(parallelism: int, operators: int, *, loaded: bool, mode: jobs.Mode) -> jobs.Job:
    """Return a source and so many operators of 1 ms, keyed and rebalanced in turn."""
    rate = _LOADED_PER_S * parallelism if loaded else None
    vertices = [
        jobs.Vertex(
            kind=jobs.VertexKind.SOURCE, name="source", parallelism=parallelism, rate_per_s=rate
        )
    ]
    for number in range(operators):
        edge = jobs.Input(upstream=vertices[-1].name, partitioner=_EDGES[number % 2])
        vertices.append(
            jobs.Vertex(
                name=f"operator{number}",
                parallelism=parallelism,
                inputs=(edge,),
                service_ns=1_000_000,
            )
        )
    return on_buffers(
        *vertices,
        checkpointing=jobs.Checkpointing(
            mode=mode, interval_ns=10 * SECOND, first_trigger_ns=SECOND
        ),
        duration_ns=10 * SECOND,
        engine=jobs.Engine.COMPILED,
    )


def seconds_of(
    model: jobs.Job, observer: Callable[[DataflowWorld], BufferObserver] = BufferObserver
) -> tuple[float, DataflowWorld]:
    """Return the CPU seconds per simulated second of a run, its set-up included."""
    started = process_time()
    world = DataflowWorld(Environment(1), model, observer=observer)
    world.run()
    return (process_time() - started) * SECOND / world.env.now, world


def measure() -> list[Figure]:
    """Measure the four jobs at p = 64, and the largest one."""
    small = chain(2, 1, loaded=True, mode=jobs.Mode.ALIGNED)
    DataflowWorld(Environment(1), replace(small, duration_ns=SECOND // 10)).run()
    bare_us = bare_simpy(128, 200_000)
    figures = [
        _figure(64, 3, loaded=loaded, mode=mode, bar=BAR_64_S, bare_us=bare_us)
        for loaded in (False, True)
        for mode in (jobs.Mode.ALIGNED, jobs.Mode.UNALIGNED)
    ]
    largest = {"loaded": True, "mode": jobs.Mode.UNALIGNED}
    return [*figures, _figure(128, 5, **largest, bar=BAR_128_S, bare_us=bare_us), _judged()]


def _judged() -> Figure:
    """Return the cost of a judged run against one without the oracle."""
    model = chain(64, 3, loaded=True, mode=jobs.Mode.UNALIGNED)
    costs = [
        min(seconds_of(model, observer)[0] for _ in range(3))
        for observer in (BufferObserver, BufferOracle)
    ]
    return Figure(
        name="chain of 3, p = 64, 80 % loaded, unaligned, judged against not judged",
        value=costs[1] / costs[0],
        unit="times the CPU",
        at_most=BAR_JUDGED,
        says=f"{costs[1]:.3f} s of CPU per simulated s, with a checkpoint every ten",
    )


def _figure(
    parallelism: int, operators: int, *, loaded: bool, mode: jobs.Mode, bar: float, bare_us: float
) -> Figure:
    cost, world = seconds_of(chain(parallelism, operators, loaded=loaded, mode=mode))
    per_entry = cost * world.env.now / SECOND / world.env.steps * 1e6 / bare_us
    handovers = 0 if world.compiled is None else world.compiled.handovers
    load = "80 % loaded" if loaded else "unlimited"
    return Figure(
        name=f"chain of {operators}, p = {parallelism}, {load}, {mode}",
        value=cost,
        unit="s of CPU per simulated s",
        at_most=bar,
        says=f"{world.env.steps} entries, each {per_entry:.2f} of an event of bare SimPy; "
        f"{handovers} calls into the kernel's loop",
    )
