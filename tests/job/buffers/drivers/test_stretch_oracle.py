"""The oracle also follows what moves in whole stretches, and properties hold there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ckptsim.scenarios.job import Engine, Job
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.buffers.stretch import Stretches, stretch
from ckptsim.sim.job.buffers.stretch.inlet import Inlet
from ckptsim.sim.job.oracle.buffers import BufferOracle
from ckptsim.sim.kernel import Environment
from ckptsim.sim.slots import OURS, ProtocolCores
from tests import broken_counts
from tests.job.buffers.broken import job, mutant
from tests.job.buffers.drivers.test_stretches import ended, state
from tests.job.buffers.strategies import plain_jobs
from tests.job.properties import cores

Break = Callable[[Inlet], object]

_PLAIN = {"buffer_timeout_ns": 0, "jitter_ns": 0}
QUIET = job(rate_per_s=900.0, network=_PLAIN)
BUSY = job(rate_per_s=1_900.0, network=_PLAIN)


def watched(model: Job, seed: int, steps: int, protocol: ProtocolCores = OURS) -> DataflowWorld:
    """Return a world that has run in stretches to its end, with the oracle."""
    model = replace(model, engine=Engine.STRETCHES)
    env = Environment(seed, keep_trace=True)
    world = DataflowWorld(env, model, protocol=protocol, observer=BufferOracle)
    world.stretches = Stretches(world, steps=steps, spared=0)
    world.run()
    return world


@settings(
    max_examples=10, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(model=plain_jobs(), seed=st.integers(0, 10**6), steps=st.sampled_from([1, 7, 50, 400]))
def test_stretches_hold_every_property(model: Job, seed: int, steps: int) -> None:
    """No property breaks wherever stretches begin and end, and the oracle changes nothing."""
    world = watched(model, seed, steps)
    assert world.violations == []
    assert state(world) == state(ended(model, seed, steps))


FAULTY = {
    "senders_are_resumed_once": replace(
        OURS, handler=cores.handler(cores.ResumesTwice), output_subpartition=cores.TakesAnyResume
    ),
    "alignment_figures_are_sane": replace(
        OURS, handler=cores.handler(cores.MeasuresSinceTheTrigger)
    ),
    "needed_barriers_stay_fixed": replace(OURS, handler=cores.handler(broken_counts.NeedsOneLess)),
    "notified_after_completion": mutant("told_before_stored"),
}


@pytest.mark.parametrize("breaks", list(FAULTY))
def test_stretches_show_a_faulty_core(breaks: str) -> None:
    """A core with a broken promise is caught in a job that runs in stretches, too."""
    world = watched(QUIET, 1, 50, FAULTY[breaks])
    assert world.stretches is not None
    assert 2 * world.stretches.covered_ns > world.env.now
    assert breaks in {found for found, *_ in world.violations}


def _lose_a_buffer(inlet: Inlet) -> None:
    for channel in inlet.channels:
        if channel.core.data_count > 1:
            channel.core._queue.popleft()
            channel.core.data_count -= 1


def _read_twice(inlet: Inlet) -> None:
    inlet.task.processed += 1


def _keep_a_floating_buffer(inlet: Inlet) -> None:
    inlet.gate.floating_free -= 1


def _free_another_buffer(inlet: Inlet) -> None:
    inlet.channels[0]._exclusive_free += 1


def _find_a_segment(inlet: Inlet) -> None:
    inlet.channels[0].subpartition.writer.pool.size += 1


@pytest.mark.parametrize(
    ("wrong", "breaks"),
    [
        (_lose_a_buffer, "every_record_is_somewhere"),
        (_read_twice, "every_record_is_somewhere"),
        (_keep_a_floating_buffer, "credits_stay_within_bounds"),
        (_free_another_buffer, "credits_stay_within_bounds"),
        (_find_a_segment, "pools_stay_within_bounds"),
    ],
)
def test_a_stretch_that_loses_count_is_caught(
    wrong: Break, breaks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a stretch leaves behind is counted again: buffers, records, credits and segments."""
    right = stretch.settle_messages

    def settle(inlet: Inlet) -> None:
        right(inlet)
        wrong(inlet)

    monkeypatch.setattr(stretch, "settle_messages", settle)
    world = watched(BUSY, 1, 50)
    assert world.violations[0][0] == breaks
