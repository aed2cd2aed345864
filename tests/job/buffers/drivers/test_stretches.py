"""Whole stretches at once leave the same world behind as entry by entry."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ckptsim.scenarios.job import Engine, Job
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.buffers.input import RemoteChannel
from ckptsim.sim.job.buffers.stretch import Stretches
from ckptsim.sim.kernel import Environment
from tests.bench.dataflow_models import exchange
from tests.job.buffers.strategies import plain_jobs


@dataclass
class Tally:
    """How many worlds were compared, had stretches, had little else, had both and starved."""

    worlds: int = 0
    with_stretches: int = 0
    mostly: int = 0
    starved: int = 0


def ended(model: Job, seed: int, steps: int | None) -> DataflowWorld:
    """Return a world that has run to its end; `steps` entries between two attempts, if any."""
    engine = Engine.CALLBACKS if steps is None else Engine.STRETCHES
    world = DataflowWorld(Environment(seed, keep_trace=True), replace(model, engine=engine))
    if steps is not None:
        world.stretches = Stretches(world, steps=steps, spared=0)
    world.run()
    return world


def state(world: DataflowWorld) -> dict[str, object]:
    """Return everything that a world is made of, by name, once all is accounted for."""
    found: dict[str, object] = {
        "trace": world.env.trace.entries,
        "goals": world.env.goals.counts,
        "samples": [world.sampling.inputs, world.sampling.outputs, world.sampling.count],
    }
    for task in world.tasks:
        task.sync()
        task.enter(task.state)
        name = task.entity.name
        found[name] = (task.processed, task.state, task.time_in, task._left)
        for number, writer in enumerate(task.writers):
            pool = writer.pool
            found[f"{name} writer {number}"] = (
                writer.emitted,
                writer.room().tolist(),
                writer.upcoming(50).tolist(),
                (pool.free, pool.held, pool.overdraft, pool.overdraft_peak),
            )
        for gate in task.gates:
            order = [c.index for c in gate.ready], [c.index for c in gate.lenders]
            found[f"{name} gate {gate.index}"] = (order, gate.floating_free, gate.taken_bytes)
        for channel in task.channels:
            if isinstance(channel, RemoteChannel):
                found[f"{name} channel {channel.index}"] = channel_state(channel)
    return found


def channel_state(channel: RemoteChannel) -> tuple[object, ...]:
    """Return what both ends of a channel hold."""
    core, outgoing = channel.core, channel.subpartition.core
    return (
        (channel._credit, channel._ready_ns, channel.starved, channel.announced, channel.listed),
        (channel._exclusive_free, channel._floating_free, channel._required, channel._waiting),
        (channel.records, channel.partial_bytes, core.next_sequence, core._data_arrived),
        [getattr(item, "bytes", item) for item, _ in core.normal_elements()],
        core.priority_elements(),
        [(s.bytes, s.records, s.closed) if hasattr(s, "size") else s for s in outgoing._queue],
        (
            outgoing.next_sequence,
            outgoing.data_count,
            core.data_count,
            channel.subpartition.taken_bytes,
        ),
    )


def different(model: Job, seed: int, steps: int, tally: Tally) -> dict[str, object]:
    """Return what both drivers leave behind differently, by name."""
    world = ended(model, seed, steps)
    stretches = world.stretches
    assert stretches is not None
    tally.worlds += 1
    tally.with_stretches += stretches.count > 0
    tally.mostly += 2 * stretches.covered_ns > world.env.now
    tally.starved += stretches.count > 0 and any(c.starved for t in world.tasks for c in t.channels)
    expected, found = state(ended(model, seed, None)), state(world)
    return {name: (expected[name], found[name]) for name in found if expected[name] != found[name]}


def compare(examples: int) -> Tally:
    """Compare the drivers on random jobs; return how many took stretches."""
    tally = Tally()

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(plain_jobs(), st.integers(0, 10**6), st.sampled_from([1, 7, 50, 400]))
    def same(model: Job, seed: int, steps: int) -> None:
        assert different(model, seed, steps, tally) == {}

    same()
    return tally


def test_a_stretch_leaves_the_same_world() -> None:
    """Trace, accounts, queues, credits and pools are equal whenever a stretch begins and ends."""
    tally = compare(60)
    assert 2 * tally.with_stretches > tally.worlds
    assert min(tally.mostly, tally.starved) > 5


@pytest.mark.long
def test_many_stretches_leave_the_same_world() -> None:
    """The same on many more jobs."""
    tally = compare(1500)
    assert 2 * tally.with_stretches > tally.worlds


@pytest.mark.parametrize("parallelism", [4, 12])
def test_the_exchange_is_covered(parallelism: int) -> None:
    """A keyed exchange with aligned barriers runs in stretches nearly all the time, and exactly."""
    model = exchange(parallelism, 8.0)
    fast, slow = ended(model, 1, 2_000), ended(model, 1, None)
    assert fast.stretches is not None
    assert fast.stretches.covered_ns > 0.9 * fast.env.now
    assert fast.env.steps * 10 < slow.env.steps
    assert state(fast) == state(slow)


def test_what_is_not_covered_runs_by_callbacks() -> None:
    """A job outside of what stretches cover takes none, and gives the same trace."""
    model = exchange(2, 0.5)
    model = replace(model, network=replace(model.network, jitter_ns=1_000))
    world = ended(model, 1, 1)
    assert world.stretches is not None
    assert world.stretches.count == 0
    assert state(world) == state(ended(model, 1, None))
