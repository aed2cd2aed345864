"""What one size of job costs: `python -m tests.bench.scale_point PARALLELISM OPERATORS`.

A chain of keyed and rebalanced exchanges, 80 % loaded, with flushes.  It settles for half a
simulated second, runs on for some more that are timed, and then has one unaligned checkpoint in a
second that is timed too.  Each size has a process of its own, with the memory of the job.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import process_time

from ckptsim.scenarios.job import Machine, Mode
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.buffers.kinds import Kind
from ckptsim.sim.kernel import Environment
from tests.bench.chains import SECOND, chain

SETTLED_NS = SECOND // 2


def scale_point(parallelism: int, operators: int) -> dict[str, float]:
    """Run one size in a child process. Return its figures, seconds of CPU and bytes."""
    words = [sys.executable, "-m", "tests.bench.scale_point", str(parallelism), str(operators)]
    found = subprocess.run(words, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(found.stdout)
    return figures


def main(parallelism: int, operators: int) -> None:
    """Run it here and print the figures."""
    small = replace(chain(2, 1, loaded=True, mode=Mode.UNALIGNED), duration_ns=SECOND // 10)
    DataflowWorld(Environment(1), small).run()  # the kernel is loaded
    before = resident_bytes()
    # As many channels for as long as give a time that can be measured.
    timed_ns = SECOND * max(1, round(2**17 / (parallelism**2 * operators))) // 4
    trigger_ns = SETTLED_NS + timed_ns
    model = chain(parallelism, operators, loaded=True, mode=Mode.UNALIGNED)
    checkpointing = replace(model.checkpointing, first_trigger_ns=trigger_ns)
    model = replace(
        model,
        checkpointing=checkpointing,
        duration_ns=trigger_ns + SECOND,
        # With the two of the default the checkpoint of a thousand tasks waits for them for seconds.
        machine=Machine(cores=parallelism * (operators + 1)),
    )
    started = process_time()
    world = DataflowWorld(Environment(1), model)
    marks = [process_time()]
    for instant in (SETTLED_NS, trigger_ns - 1):
        entity = world.env.entity("bench", instant)
        world.env.call_at(instant, Kind.MEASURE, entity, lambda: marks.append(process_time()))
    world.run()
    made, settled, triggered, ended = *marks, process_time()
    per_second = (triggered - settled) * SECOND / timed_ns
    channels = len(world.graph.channels)
    figures = {
        "parallelism": parallelism,
        "vertices": operators + 1,
        "channels": channels,
        "set_up_s": made - started,
        "per_second_s": per_second,
        "per_checkpoint_s": max(0.0, ended - triggered - per_second),
        "bytes_per_channel": (resident_bytes() - before) / channels,
    }
    print(json.dumps(figures))


def resident_bytes() -> int:
    """Return the memory that this process has at present, in bytes. Linux alone shows."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
