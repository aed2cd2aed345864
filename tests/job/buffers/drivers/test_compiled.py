"""The compiled driver alone: its log, its streams, its memory, and the kernel without numba.

That it gives the runs of the reference is in `test_drivers.py`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.job import Engine, Job
from ckptsim.scenarios.job.faults import JobFault
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.buffers.compiled.columns import clock
from ckptsim.sim.job.buffers.compiled.kernel.base.streams import bits, exponential_ns
from ckptsim.sim.job.buffers.compiled.random_streams import seed as seed_stream
from ckptsim.sim.job.buffers.tasks import Source
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.oracle.buffers import BufferObserver, BufferOracle
from ckptsim.sim.kernel import Environment, parse_ties
from ckptsim.sim.kernel.streams import Streams
from tests.job.buffers.plans import random_job


def run(
    model: Job,
    seed: int,
    ties: str,
    faults: tuple[JobFault, ...] = (),
    *,
    observer: Callable[[DataflowWorld], BufferObserver] = BufferOracle,
) -> DataflowWorld:
    """Run a job to its end, with an oracle that follows every buffer unless another is given."""
    env = Environment(seed, parse_ties(ties, seed), keep_trace=True)
    world = DataflowWorld(env, model, faults=FaultPlan(faults), observer=observer)
    world.run()
    return world


def seen(world: DataflowWorld) -> list[object]:
    """Return all that is seen of a run, except for how many entries it took."""
    for task in world.tasks:
        task.sync()
    return [
        world.env.trace.digest(),
        *world.env.trace.entries,
        *((task.entity.name, task.processed, task.time_in) for task in world.tasks),
        world.env.goals.counts,
        world.violations,
        world.sampling.inputs,
        world.sampling.outputs,
    ]


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_told_where_nobody_listens(seed: int) -> None:
    """Without an oracle the kernel writes down no buffer, and the run is the same."""
    job = replace(random_job(seed).model, engine=Engine.COMPILED)
    faults = cast("tuple[JobFault, ...]", random_job(seed).faults)
    alone = run(job, seed, "structural", faults, observer=BufferObserver)
    assert alone.compiled is not None
    assert not alone.compiled.m[clock.FOLLOWED]
    followed = run(job, seed, "structural", faults)
    assert followed.compiled is not None
    assert followed.compiled.m[clock.FOLLOWED]
    assert seen(alone) == seen(followed)


def test_streams_draw_the_same_inside_the_kernel() -> None:
    """A stream gives the kernel the words and durations that it gives Python."""
    assert in_python("draws()") == str(draws_of_python())


def draws() -> list[int]:
    """Draw words and durations by the kernel's functions, which only run in Python if all do."""
    m = np.zeros(8, dtype=np.int64)
    seed_stream(m, 0, Streams(7).stream("wire", 3).state)
    with np.errstate(over="ignore"):
        words = [int(bits(m, 0)) for _ in range(300)]
        return words + [exponential_ns(m, 0, 100_000.0) for _ in range(300)]


def draws_of_python() -> list[int]:
    """Draw the same by the stream itself."""
    stream = Streams(7).stream("wire", 3)
    return [stream.bits() for _ in range(300)] + [
        stream.exponential_ns(100_000) for _ in range(300)
    ]


def in_python(call: str) -> str:
    """Return what a call of this module prints in a process without a compiled kernel."""
    module = "tests.job.buffers.drivers.test_compiled"
    root = Path(__file__).parents[4]
    return subprocess.run(
        [sys.executable, "-c", f"import {module} as t; print(t.{call})"],
        env=os.environ | {"CKPTSIM_KERNEL": "python", "PYTHONPATH": f"{root}/src:{root}"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def test_memory_grows_with_channels_and_not_with_time() -> None:
    """A job looked at four times as long, with as many more checkpoints, has tables no larger."""
    model = by_name("back_pressure_aligned").model
    assert isinstance(model, Job)
    sizes = []
    for seconds in (1, 4):
        timed = replace(model, duration_ns=seconds * 1_000_000_000, engine=Engine.COMPILED)
        world = run(timed, 1, "structural")
        assert world.compiled is not None
        sizes.append((len(world.compiled.m), len(world.coordinator.records)))
    (short, few), (long, more) = sizes
    assert more > few
    assert long == short


@pytest.mark.parametrize("engine", [Engine.COMPILED, Engine.PROCESSES])
def test_sources_say_whether_they_have_records(engine: Engine) -> None:
    """The watchdog, which asks when nothing happens, is reported the same with each driver."""
    model = by_name("back_pressure_aligned").model
    assert isinstance(model, Job)
    world = run(replace(model, duration_ns=10_000_000, engine=engine), 1, "structural")
    assert [task.has_records for task in world.tasks if isinstance(task, Source)] == [True, True]


def test_the_kernel_runs_without_numba() -> None:
    """For debugging the same functions run in Python, with the same digest."""
    assert in_python("digest()") == digest()


def digest() -> str:
    """Return the digest of a short run, as the kernel is run in this process."""
    model = by_name("back_pressure_aligned").model
    assert isinstance(model, Job)
    model = replace(model, duration_ns=300_000_000, engine=Engine.COMPILED)
    return run(model, 1, "structural").env.trace.digest()
