"""The keyed exchange of buffers: both drivers, how it grows, and a bare loop beside it.

One job: p sources of 20 MB/s each, keyed to p operators, with credits and aligned barriers every 6
simulated seconds.  Short stretches are measured and carried over to one simulated minute.
"""

from __future__ import annotations

from heapq import heapify, heapreplace
from time import process_time

from scenarios.dataflow import (
    CheckpointTable,
    DataflowModel,
    Engine,
    InputTable,
    NetworkTable,
    OperatorTable,
    Partitioner,
    SourceTable,
)
from sim.dataflow import DataflowWorld
from sim.kernel import Environment
from tests.bench.figures import Figure

SECOND = 1_000_000_000
RATE_PER_S = 19_531.0  # 20 MB/s of 1 KiB records
RECORDS_PER_BUFFER = 32
BUFFERS_PER_MINUTE = round(RATE_PER_S * 60 / RECORDS_PER_BUFFER)
FAST_R2 = 6.0
MINUTE_128_S = 30.0


def exchange(parallelism: int, seconds: float, engine: Engine = Engine.CALLBACKS) -> DataflowModel:
    """Return the p x p exchange."""
    return DataflowModel(
        sources=(
            SourceTable(
                name="source", parallelism=parallelism, rate_per_s=RATE_PER_S * parallelism
            ),
        ),
        operators=(
            OperatorTable(
                name="operator",
                parallelism=parallelism,
                inputs=(InputTable(upstream="source", partitioner=Partitioner.KEY_BY),),
                service_ns=40_000,
            ),
        ),
        network=NetworkTable(buffer_timeout_ns=0, jitter_ns=0),
        checkpoint=CheckpointTable(interval_ns=6 * SECOND, first_trigger_ns=SECOND),
        duration_ns=round(seconds * SECOND),
        engine=engine,
    )


def per_buffer(model: DataflowModel) -> tuple[float, float]:
    """Return CPU microseconds and calendar entries per buffer that reached an operator."""
    world = DataflowWorld(Environment(1), model)
    started = process_time()
    world.run()
    spent = process_time() - started
    records = sum(task.processed for task in world.tasks if task.gates)
    buffers = max(1.0, records / RECORDS_PER_BUFFER)
    return spent / buffers * 1e6, world.env.steps / buffers


def bare_loop(tasks: int, steps: int) -> float:
    """Return CPU microseconds per step of a hand-written loop over one entry per task."""
    heap = [(index, index) for index in range(tasks)]
    heapify(heap)
    started = process_time()
    for _ in range(steps):
        time, index = heap[0]
        heapreplace(heap, (time + 1_638_400 + index, index))
    return (process_time() - started) / steps * 1e6


def measure() -> list[Figure]:
    """Measure the drivers against each other, against a bare loop, and the growth with p."""
    fast, entries = per_buffer(exchange(64, 2.0))
    slow, _ = per_buffer(exchange(64, 0.25, Engine.PROCESSES))
    bare = bare_loop(128, 200_000) * entries
    figures = [
        Figure(
            name="record by record / stretches, 64 x 64",
            value=slow / fast,
            at_least=FAST_R2,
            says="reference driver (SimPy processes) against callbacks, CPU per buffer, credits on",
        ),
        Figure(
            name="exchange / bare heap loop, 64 x 64",
            value=fast / bare,
            says=f"model and kernel against heapreplace alone, {entries:.1f} entries per buffer",
        ),
    ]
    for parallelism, seconds in ((16, 6.0), (32, 4.0), (64, 3.0), (128, 2.0)):
        cost, _ = per_buffer(exchange(parallelism, seconds))
        minute = cost * 1e-6 * BUFFERS_PER_MINUTE * parallelism
        figures.append(
            Figure(
                name=f"one simulated minute, {parallelism} x {parallelism}",
                value=minute,
                unit="s",
                at_most=MINUTE_128_S if parallelism == 128 else None,
                says=f"{BUFFERS_PER_MINUTE * parallelism} buffers at {cost:.1f} us each, aligned "
                "barriers every 6 s",
            )
        )
    return figures
