"""The keyed exchange of buffers: both drivers, how it grows, and a loop written by hand beside it.

One job: p sources of 20 MB/s each, keyed to p operators, with credits and aligned barriers every 6
simulated seconds.  `python -m tests.bench.dataflow 128` prints CPU seconds and the largest resident
memory in MB of one simulated minute with p = 128, in a process that does nothing else.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from math import log
from time import process_time
from unittest.mock import patch

from ckptsim.scenarios.job import Engine, Job
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.kernel import Environment, Trace
from tests.bench import Figure, interleaved, ratio
from tests.bench.dataflow_models import RATE_PER_S, RECORDS_PER_BUFFER, exchange, hand_loop

BUFFERS_PER_MINUTE = round(RATE_PER_S * 60 / RECORDS_PER_BUFFER)
FAST_R2 = 100.0
MINUTE_128_S = 8.0
MEMORY_128_MB = 300.0


def per_buffer(model: Job) -> float:
    """Return CPU microseconds per buffer that reached an operator."""
    world = DataflowWorld(Environment(1), model)
    started = process_time()
    world.run()
    spent = process_time() - started
    records = sum(task.processed for task in world.tasks if task.gates)
    return spent / max(1.0, records / RECORDS_PER_BUFFER) * 1e6


def measure() -> list[Figure]:
    """Measure the drivers against each other, against a loop by hand, and the growth with p."""
    return [*_drivers(), *_minutes(), _trace()]


def _drivers() -> list[Figure]:
    per_buffer(exchange(2, 0.1))  # which loads the kernel
    fast = per_buffer(exchange(64, 4.0))
    slow = per_buffer(exchange(64, 0.25, Engine.PROCESSES))
    return [
        Figure(
            name="reference / compiled, 64 x 64",
            value=slow / fast,
            at_least=FAST_R2,
            says="SimPy processes record by record against the kernel, CPU per buffer, credits on",
        ),
        Figure(
            name="buffer by the kernel / hand-written heapq loop",
            value=fast / hand_loop(64, 2.0),
            says="the loop, in Python, has credits and the steps of a buffer, but neither records, "
            "floating buffers, pools, checkpoints nor a trace",
        ),
    ]


def _minutes() -> list[Figure]:
    figures, costs = [], {}
    for parallelism in (16, 32, 64, 128):
        found = minute(parallelism)
        costs[parallelism] = found["cpu_s"]
        largest = parallelism == 128
        figures.append(
            Figure(
                name=f"one simulated minute, {parallelism} x {parallelism}",
                value=found["cpu_s"],
                unit="s",
                at_most=MINUTE_128_S if largest else None,
                says=f"{BUFFERS_PER_MINUTE * parallelism} buffers, CPU, compiled",
            )
        )
        if largest:
            figures.append(
                Figure(
                    name="memory of it",
                    value=found["memory_mb"],
                    unit="MB",
                    at_most=MEMORY_128_MB,
                    says="largest resident set of a process that does nothing else",
                )
            )
    figures.append(
        Figure(
            name="growth of the minute with p, exponent",
            value=log(costs[128] / costs[32]) / log(4),
            says="from 32 to 128; the number of buffers grows with 1, of channels with 2",
        )
    )
    return figures


def _trace() -> Figure:
    def traced() -> None:
        DataflowWorld(Environment(1), exchange(32, 6.0)).run()

    def untraced() -> None:
        with patch.object(Trace, "record", lambda *_: None):
            traced()

    seconds = interleaved({"traced": traced, "untraced": untraced}, rounds=3)
    return Figure(
        name="with trace / without, 32 x 32",
        value=ratio(seconds["traced"], seconds["untraced"]),
        says="6 simulated seconds with one checkpoint, compiled",
    )


def minute(parallelism: int) -> dict[str, float]:
    """Run the whole minute by the compiled driver in a child process. Return its figures."""
    command = [sys.executable, "-m", "tests.bench.dataflow", str(parallelism)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(found.stdout)
    return figures


def main(parallelism: int) -> None:
    """Run it here and print the figures."""
    started = process_time()
    world = DataflowWorld(Environment(1), exchange(parallelism, 60.0, Engine.COMPILED))
    world.run()
    spent = process_time() - started
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"cpu_s": spent, "memory_mb": kilobytes / 1024}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
