"""The keyed exchange of buffers, and hand-written loops to hold it against."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from random import Random
from time import process_time
from typing import Any

import simpy

from ckptsim.scenarios import job as jobs
from tests.job.buffers.plans import on_buffers

SECOND = 1_000_000_000
RATE_PER_S = 19_531.0  # 20 MB/s of 1 KiB records
RECORDS_PER_BUFFER = 32
SERVICE_NS = 40_000
LATENCY_NS = 150_000
_GAP_NS = round(RECORDS_PER_BUFFER * SECOND / RATE_PER_S)
_OPEN, _ARRIVE, _FREE, _CREDIT, _DONE = range(5)


def exchange(
    parallelism: int, seconds: float, engine: jobs.Engine = jobs.Engine.COMPILED
) -> jobs.Job:
    """Return the p x p exchange: 20 MB/s per source, aligned barriers every 6 simulated seconds."""
    return on_buffers(
        jobs.Vertex(
            kind=jobs.VertexKind.SOURCE,
            name="source",
            parallelism=parallelism,
            rate_per_s=RATE_PER_S * parallelism,
        ),
        jobs.Vertex(
            name="operator",
            parallelism=parallelism,
            inputs=(jobs.Input(upstream="source", partitioner=jobs.Partitioner.HASH),),
            service_ns=SERVICE_NS,
        ),
        network=jobs.Network(buffer_timeout_ns=0, jitter_ns=0, latency_ns=LATENCY_NS),
        checkpointing=jobs.Checkpointing(interval_ns=6 * SECOND, first_trigger_ns=SECOND),
        duration_ns=round(seconds * SECOND),
        engine=engine,
    )


def hand_loop(parallelism: int, seconds: float) -> float:
    """Return CPU microseconds per buffer of a `heapq` loop that is written for the exchange.

    It has the five steps of a buffer (opened, arrived, read, credited, processed) and credits, but
    no records, floating buffers, pools, checkpoints or trace.
    """
    draw = Random(1)
    end = round(seconds * SECOND)
    heap: list[tuple[int, int, int, int]] = [
        (draw.randrange(_GAP_NS), _OPEN, source, 0) for source in range(parallelism)
    ]
    heapify(heap)
    credit = [[2] * parallelism for _ in range(parallelism)]
    behind = [[0] * parallelism for _ in range(parallelism)]
    lines: list[list[int]] = [[] for _ in range(parallelism)]
    busy = [False] * parallelism
    length = RECORDS_PER_BUFFER * SERVICE_NS
    buffers = 0
    started = process_time()
    while heap and heap[0][0] < end:
        now, kind, one, other = heappop(heap)
        if kind == _OPEN:
            heappush(heap, (now + _GAP_NS, _OPEN, one, 0))
            other = draw.randrange(parallelism)
            behind[one][other] += 1
        elif kind == _CREDIT:
            credit[one][other] += 1
        elif kind == _ARRIVE:
            lines[other].append(one)
        elif kind == _FREE:
            heappush(heap, (now + LATENCY_NS, _CREDIT, one, other))
            heappush(heap, (now + SERVICE_NS, _DONE, one, other))
        else:
            busy[other] = False
            buffers += 1
        if kind in (_OPEN, _CREDIT):
            if behind[one][other] and credit[one][other]:
                behind[one][other] -= 1
                credit[one][other] -= 1
                heappush(heap, (now + LATENCY_NS, _ARRIVE, one, other))
        elif kind != _FREE and lines[other] and not busy[other]:
            busy[other] = True
            heappush(heap, (now + length - SERVICE_NS, _FREE, lines[other].pop(0), other))
    return (process_time() - started) / buffers * 1e6


def bare_simpy(tasks: int, steps: int) -> float:
    """Return CPU microseconds per event of SimPy processes that only wait."""
    env = simpy.Environment(0)

    def tick(pause: int) -> Any:
        for _ in range(steps // tasks):
            yield env.timeout(pause)

    for index in range(tasks):
        env.process(tick(_GAP_NS + index))
    started = process_time()
    env.run()
    return (process_time() - started) / steps * 1e6
