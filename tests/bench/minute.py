"""One simulated minute of the exchange in a process of its own: `python -m tests.bench.minute 128`.

Prints CPU seconds and the largest resident memory in MB.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from time import process_time

from ckptsim.scenarios.job import Engine
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.kernel import Environment
from tests.bench.dataflow_models import exchange


def minute(parallelism: int) -> dict[str, float]:
    """Run the whole minute by the compiled driver in a child process; return its figures."""
    command = [sys.executable, "-m", "tests.bench.minute", str(parallelism)]
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
