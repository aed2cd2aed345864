"""The reference gives the runs of the fast driver: all that is seen, whatever the job and the ties.

What a task does at a record boundary is the same code. How it comes from one to the next is not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.generators.hazards import HAZARDS
from ckptsim.scenarios.job import Engine, Job, Partitioner
from ckptsim.scenarios.job.faults import JobFault, StallTask
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.buffers.constants import MECHANISMS, PLAIN, Mechanisms
from ckptsim.sim.job.buffers.input.wire import Wire
from ckptsim.sim.job.buffers.kinds import Kind
from ckptsim.sim.job.buffers.output import Subpartition
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.oracle.buffers import BufferOracle
from ckptsim.sim.job.oracle.buffers.counts import Journal
from ckptsim.sim.kernel import Environment, parse_ties
from ckptsim.sim.rules.beside import HostDuties
from ckptsim.sim.search import Subject
from tests.job.buffers.broken import MS, job
from tests.job.buffers.plans import crashing_job, jobs, random_job
from tests.job.records.plans import rescaled_job

TIES = ("random", "structural", "pct")
# The last ones are rescaled, each third of them in the time that this takes.
KINDS: tuple[Callable[[int], Scenario], ...] = (
    random_job,
    crashing_job,
    random_job,
    partial(rescaled_job, plane="buffers"),
)


def seen(
    model: Job,
    seed: int,
    ties: str,
    engine: Engine,
    faults: tuple[JobFault, ...] = (),
    *,
    mechanisms: Mechanisms = MECHANISMS,
) -> list[object]:
    """Return all that is seen of one run, except for how many entries it took."""
    env = Environment(seed, parse_ties(ties, seed), keep_trace=True)
    model = replace(model, engine=engine)
    plan = FaultPlan(faults)
    world = DataflowWorld(env, model, faults=plan, observer=BufferOracle, mechanisms=mechanisms)
    world.run()
    assert (world.compiled is not None) == (engine is Engine.COMPILED)
    if mechanisms is MECHANISMS:
        assert [v for v in world.violations if v[0] not in HAZARDS] == []
    for task in world.tasks:
        task.sync()
    return [
        *env.trace.entries,
        *((task.entity.name, task.processed, task.time_in) for task in world.tasks),
        env.goals.counts,
        world.violations,
        world.sampling.inputs,
        world.sampling.outputs,
        [repr(record) for record in world.control.failovers],
    ]


def assert_same(model: Job, seed: int, ties: str, faults: tuple[JobFault, ...] = ()) -> None:
    """Compare the reference with the fast driver."""
    fast = seen(model, seed, ties, Engine.COMPILED, faults)
    assert fast == seen(model, seed, ties, Engine.PROCESSES, faults)


def assert_same_job(number: int) -> None:
    """Compare them on the random job of a number, with its faults."""
    scenario = KINDS[number % len(KINDS)](number)
    assert isinstance(scenario.model, Job)
    faults = cast("tuple[JobFault, ...]", scenario.faults)
    assert_same(scenario.model, number, TIES[number % len(TIES)], faults)


@pytest.mark.parametrize("first", range(0, 80, 8))
def test_random_jobs_run_as_by_the_reference(first: int) -> None:
    """Stretches, blocks and tables change nothing: not in faults, restarts, nor rescales."""
    for number in range(first, first + 8):
        assert_same_job(number)


@pytest.mark.long
@pytest.mark.parametrize("first", range(80, 1_080, 20))
def test_many_random_jobs_run_as_by_the_reference(first: int) -> None:
    """The same on a thousand more."""
    for number in range(first, first + 20):
        assert_same_job(number)


@settings(
    max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(model=jobs(), seed=st.integers(0, 10**6), ties=st.sampled_from(TIES))
def test_drivers_agree_on_random_jobs(model: Job, seed: int, ties: str) -> None:
    """Nor do they in jobs of small records, large ones, and any number of buffers."""
    assert_same(model, seed, ties)


@pytest.mark.long
@settings(
    max_examples=600, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(model=jobs(), seed=st.integers(0, 10**6), ties=st.sampled_from(TIES))
def test_drivers_agree_on_many_random_jobs(model: Job, seed: int, ties: str) -> None:
    """The same on many more jobs."""
    assert_same(model, seed, ties)


@pytest.mark.parametrize("ties", TIES)
def test_whatever_happens_at_a_boundary_finds_it_still_to_come(ties: str) -> None:
    """Where all times are whole milliseconds nearly all mail comes at a record's very end."""
    scenario = by_name("back_pressure_aligned")
    assert isinstance(scenario.model, Job)
    model = replace(
        scenario.model,
        duration_ns=800 * MS,
        network=replace(
            scenario.model.network, latency_ns=MS, jitter_ns=0, send_ns=0, buffer_timeout_ns=5 * MS
        ),
    )
    stalls = tuple(
        StallTask(vertex=vertex.name, subtask=0, at_ns=at_ms * MS, lasts_ns=8 * MS)
        for vertex in model.vertices
        for at_ms in range(50, 700, 90)
    )
    assert_same(model, 2, ties, stalls)


@pytest.mark.parametrize("ties", ["pct", "pct:40"])
def test_drivers_agree_on_who_falls_behind(ties: str) -> None:
    """Priorities that hold for long, and fall at many instants or at few, are the same in both."""
    for seed in range(4):
        scenario = random_job(200 + seed)
        assert isinstance(scenario.model, Job)
        faults = cast("tuple[JobFault, ...]", scenario.faults)
        assert_same(scenario.model, seed, ties, faults)


@pytest.mark.parametrize("mechanism", ["stops_early", "freed_when_read", "slices"])
def test_drivers_agree_without_a_mechanism(mechanism: str) -> None:
    """What an ablation leaves out is left out by both."""
    lacking = replace(MECHANISMS, **{mechanism: False})
    for number in range(6):
        model = random_job(300 + number).model
        assert isinstance(model, Job)
        runs = (
            seen(model, number, TIES[number % 3], engine, mechanisms=lacking)
            for engine in (Engine.COMPILED, Engine.PROCESSES)
        )
        assert next(runs) == next(runs), number


@pytest.mark.parametrize(("selectivity", "ends"), [(1.0, 257), (0.3, 859), (2.5, 103)])
def test_no_boundary_is_a_tie_because_no_more_records_are_drawn(
    selectivity: float, ends: int
) -> None:
    """The kernel draws 256 records ahead. Mail at their very end is served where others serve it.

    In a buffer that takes thousands of them nothing else ends there.
    """
    model = job(partitioner=Partitioner.FORWARD)
    small = replace(model.network, record_bytes=8, segment_bytes=32_768, buffer_timeout_ns=0)
    source = replace(model.vertices[0], selectivity=selectivity)
    step_ns = PLAIN.source_record_ns
    vertices = (source, *model.vertices[1:])
    model = replace(model, network=small, vertices=vertices, duration_ns=1_100 * step_ns)
    for seed in range(8):
        stall = StallTask(vertex=source.name, subtask=0, at_ns=ends * step_ns, lasts_ns=step_ns)
        assert_same(model, seed, "random", (stall,))


@pytest.mark.parametrize("rate_per_s", [None, 300.0])
def test_drivers_agree_on_a_source_that_stands_still_at_once(rate_per_s: float | None) -> None:
    """A mail that comes at the instant of the start finds a source that has not begun."""
    stall = (StallTask(vertex="source", subtask=0, at_ns=0, lasts_ns=8 * MS),)
    assert_same(job(rate_per_s=rate_per_s), 4, "structural", stall)


@pytest.mark.parametrize("name", ["back_pressure_aligned", "alignment_timeout", "bounded_union"])
def test_drivers_agree_on_the_library(name: str) -> None:
    """Whole library scenarios, at their full length, have one trace."""
    model = by_name(name).model
    assert isinstance(model, Job)
    assert_same(model, 1, "structural")


def test_what_a_thread_raises_ends_the_run_at_once() -> None:
    """An error in a task's mail ends every driver's run where it is, whatever the order of ties."""
    found = []
    for engine in Engine:
        env = Environment(3, parse_ties("random", 3))
        world = DataflowWorld(env, replace(job(), engine=engine))
        task = world.tasks[-1]
        env.call_at(100 * MS, Kind.MAIL, task.entity, task.post, {}.pop, "nothing")
        with pytest.raises(KeyError):
            world.run()
        found.append((env.now, env.trace.digest()))
    assert found == found[:1] * len(found)


def test_exploring_compares_both_drivers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of the kernel that the reference does not give is a violation. Else there is none."""
    model = replace(job(), engine=Engine.COMPILED)
    scenario = replace(random_job(0), model=model, faults=())
    subject = Subject(scenario=scenario, watches=(HostDuties,))
    assert subject.run(0, "random").violations == []
    right = Wire.forward
    monkeypatch.setattr(Wire, "forward", lambda wire, at, *rest: right(wire, at + 1, *rest))
    found = {row.property for row in subject.run(0, "random").violations}
    assert found == {"both_drivers_give_one_run"}


def test_journals_part_at_the_first_instant_that_differs() -> None:
    """Of several channels the first one to part is named, with both entries or the missing part."""
    env = Environment(0)
    one, two = Journal(env), Journal(env)
    one.entries.setdefault("a", []).append((5, "sends", (10, 1)))
    assert one.parting(one) is None
    two.entries.setdefault("a", []).append((7, "sends", (10, 1)))
    one.entries.setdefault("b", []).append((4, "sends", (10, 1)))
    assert one.parting(two) == "b: the kernel has (4, 'sends', (10, 1)), the reference no more"


def test_exploring_compares_what_data_did(monkeypatch: pytest.MonkeyPatch) -> None:
    """Buffers that are never flushed, which no trace of this job shows, part the journals."""
    model = job(rate_per_s=400.0, duration_ns=100 * MS, first_trigger_ns=60_000 * MS)
    scenario = replace(random_job(0), model=replace(model, engine=Engine.COMPILED), faults=())
    subject = Subject(scenario=scenario, watches=(HostDuties,))
    assert subject.run(0, "random").violations == []
    monkeypatch.setattr(Subpartition, "flush", lambda _: None)
    (row,) = subject.run(0, "random").violations
    assert row.property == "both_drivers_give_one_run"
    assert row.says.startswith("channel source[1] -> operator[0], input 1: the kernel has (")
