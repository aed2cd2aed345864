"""What jobs can say of single subtasks, edges and machines, by its effect on a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ckptsim.scenarios.job import (
    Checkpointing,
    Engine,
    FixedDelay,
    Input,
    Job,
    Machine,
    Mode,
    NoRestart,
    Partitioner,
    PlacementKind,
    Plane,
    RateChange,
    Vertex,
    VertexKind,
)
from ckptsim.scenarios.job.faults import CrashTask
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.oracle.buffers import BufferOracle
from ckptsim.sim.kernel import Environment
from tests.job.buffers.plans import jobs, on_buffers

MS = 1_000_000
SECOND = 1000 * MS


def chain(
    source: dict[str, Any] | None = None,
    middle: dict[str, Any] | None = None,
    last: dict[str, Any] | None = None,
    **rest: Any,
) -> Job:
    """Return source -> middle -> last, with what each of them has besides."""
    first: dict[str, Any] = {"kind": VertexKind.SOURCE, "name": "source", "parallelism": 2}
    second: dict[str, Any] = {"name": "middle", "parallelism": 2, "service_ns": 200_000}
    third: dict[str, Any] = {"name": "last", "parallelism": 2, "service_ns": 100_000}
    first |= source or {}
    second |= {"inputs": (Input(upstream="source", partitioner=Partitioner.HASH),)} | (middle or {})
    third |= {"inputs": (Input(upstream="middle"),)} | (last or {})
    values: dict[str, Any] = {
        "checkpointing": Checkpointing(interval_ns=200 * MS, tolerable_failures=1000),
        "duration_ns": 3 * SECOND,
    }
    values |= rest
    restart = values.pop("restart", NoRestart())
    model = on_buffers(Vertex(**first), Vertex(**second), Vertex(**third), **values)
    return replace(model, restart=restart)


def ran(model: Job, *, seed: int = 1, faults: tuple[Any, ...] = ()) -> DataflowWorld:
    """Run a job in which every property must hold."""
    assert model.problems() == []
    world = DataflowWorld(Environment(seed), model, faults=FaultPlan(faults), observer=BufferOracle)
    world.run()
    assert world.violations == []
    return world


def processed(world: DataflowWorld, name: str) -> list[int]:
    """Return how many records each subtask of a vertex has processed."""
    return [task.processed for task in world.tasks_of(name)]


def test_any_subtask_can_be_slow() -> None:
    """Of an overloaded operator, a subtask of three times the service does a third of the work."""
    model = chain(middle={"parallelism": 3, "service_ns": MS, "service_factors": (1.0, 3.0, 1.0)})
    steps = [task.step_ns for task in ran(model).tasks_of("middle")]
    assert steps[0] == steps[2]
    assert steps[1] == pytest.approx(3 * steps[0], rel=0.02)


@pytest.mark.parametrize("ratio", [0.0, 0.01, 0.5, 1.5, 40.0])
def test_selectivity_is_records_out_over_records_in(ratio: float) -> None:
    """All that is read of an operator is its selectivity times what it processes, to one record."""
    model = chain(
        source={"rate_per_s": 400.0, "records": 600},
        middle={"selectivity": ratio},
        last={"service_ns": 0},
    )
    world = ran(model)
    expected = [int(count * round(ratio * 10**6)) // 10**6 for count in processed(world, "middle")]
    assert sum(processed(world, "last")) == sum(expected)


@pytest.mark.parametrize("mode", [Mode.ALIGNED, Mode.UNALIGNED, Mode.AT_LEAST_ONCE])
@pytest.mark.parametrize("ratio", [0.3, 2.5])
def test_selectivity_outlives_a_restart(mode: Mode, ratio: float) -> None:
    """After a restart each record is in the state of every task as often as it must be."""
    model = chain(
        middle={"selectivity": ratio},
        checkpointing=Checkpointing(mode=mode, interval_ns=150 * MS, tolerable_failures=1000),
        restart=FixedDelay(delay_ns=50 * MS),
    )
    crash = CrashTask(vertex="last", subtask=0, at_ns=900 * MS)
    world = ran(model, faults=(crash,))
    assert len(world.control.failovers) == 1


def test_keys_have_shares() -> None:
    """A receiver gets its share of the records, whichever subtask it is."""
    inputs = (Input(upstream="source", partitioner=Partitioner.HASH, shares=(1.0, 1.0, 6.0)),)
    source = {"rate_per_s": 4_000.0, "records": 8_000}
    world = ran(chain(source=source, middle={"parallelism": 3, "inputs": inputs, "service_ns": 0}))
    counts = processed(world, "middle")
    assert counts[2] / sum(counts) == pytest.approx(0.75, abs=0.02)
    assert counts[0] == pytest.approx(counts[1], rel=0.15)


@pytest.mark.parametrize(
    ("keeps", "expected"),
    [
        # Of 128 key groups the first sender has 64, and 43 of them are the first receiver's.
        (True, (0.75 * 43 / 64, 0.75 * 21 / 64 + 0.25 * 22 / 64, 0.25 * 42 / 64)),
        (False, (1 / 3, 1 / 3, 1 / 3)),
    ],
)
def test_a_second_key_may_be_the_first_one(keeps: bool, expected: tuple[float, ...]) -> None:
    """Senders that have three quarters of the keys send these on to where their groups lead."""
    uneven = Input(upstream="source", partitioner=Partitioner.HASH, shares=(3.0, 1.0))
    again = Input(upstream="middle", partitioner=Partitioner.HASH, keeps_key=keeps)
    model = chain(
        source={"rate_per_s": 4_000.0, "records": 8_000},
        middle={"parallelism": 2, "inputs": (uneven,), "service_ns": 0},
        last={"parallelism": 3, "inputs": (again,), "service_ns": 0},
    )
    counts = processed(ran(model), "last")
    assert [one / sum(counts) for one in counts] == pytest.approx(expected, abs=0.03)


def test_subtasks_of_a_source_have_rates_of_their_own() -> None:
    """Shares of the rate are shares of the records."""
    world = ran(chain(source={"rate_per_s": 1_000.0, "rate_shares": (1.0, 3.0)}))
    first, second = processed(world, "source")
    assert first == pytest.approx(250 * 3, abs=3)
    assert second == pytest.approx(750 * 3, abs=3)


def test_a_source_subtask_without_a_share_is_silent() -> None:
    """A share of zero is a rate of none."""
    world = ran(chain(source={"rate_per_s": 1_000.0, "rate_shares": (0.0, 1.0)}))
    assert processed(world, "source")[0] <= 1


def test_the_rate_of_a_source_changes_when_it_is_said() -> None:
    """Half the rate, nothing, and three times the rate, each for a second."""
    changes = (
        RateChange(at_ns=SECOND, factor=0.0),
        RateChange(at_ns=2 * SECOND, factor=3.0),
    )
    source = {"rate_per_s": 400.0, "rate_changes": changes}
    world = ran(chain(source=source, middle={"service_ns": 0}, last={"service_ns": 0}))
    assert sum(processed(world, "source")) == pytest.approx(400 + 1200, abs=6)


def test_bursts_come_again_after_their_period() -> None:
    """Each half second has a tenth of a second at five times the rate, and silence after it."""
    changes = (
        RateChange(at_ns=0, factor=5.0),
        RateChange(at_ns=100 * MS, factor=0.0),
        RateChange(at_ns=400 * MS, factor=1.0),
    )
    source = {"rate_per_s": 400.0, "rate_changes": changes, "rate_period_ns": 500 * MS}
    world = ran(chain(source=source, middle={"service_ns": 0}, last={"service_ns": 0}))
    periods = world.model.duration_ns / (500 * MS)
    assert sum(processed(world, "source")) == pytest.approx(periods * (200 + 40), rel=0.03)


def test_a_restart_keeps_the_rate_of_its_hour() -> None:
    """An attempt that begins after a change emits at the rate that holds then."""
    changes = (RateChange(at_ns=300 * MS, factor=0.1),)
    model = chain(
        source={"rate_per_s": 1_000.0, "rate_changes": changes},
        restart=FixedDelay(delay_ns=50 * MS),
    )
    crash = CrashTask(vertex="last", subtask=0, at_ns=700 * MS)
    world = ran(model, faults=(crash,))
    assert sum(processed(world, "source")) < 300 + 0.1 * 3_000 + 50


@pytest.mark.parametrize("engine", [Engine.COMPILED, Engine.PROCESSES])
def test_services_vary_about_their_mean(engine: Engine) -> None:
    """Work takes as long in the mean as without variation, and tasks differ."""
    quiet = chain(middle={"service_ns": MS}, duration_ns=6 * SECOND, engine=engine)
    wild = chain(
        middle={"service_ns": MS, "service_variation": 0.5}, duration_ns=6 * SECOND, engine=engine
    )
    usual, varied = (sum(processed(ran(model), "middle")) for model in (quiet, wild))
    assert varied == pytest.approx(usual, rel=0.08)
    steps = {task.step_ns for task in ran(wild).tasks_of("middle")}
    assert len(steps) == 2


def test_state_is_that_of_each_subtask() -> None:
    """A checkpoint has the bytes that are said of each subtask, with nothing around them."""
    world = ran(chain(middle={"subtask_state_bytes": (70_000, 5)}))
    record = next(r for r in world.coordinator.records.values() if r.status == "completed")
    sizes = [record.parts[t.number][0].state_bytes for t in world.tasks_of("middle")]
    assert sizes == [70_000, 5]


def test_a_map_can_say_what_kinds_of_placement_say() -> None:
    """Subtasks of equal index on one task manager, as a map, run as `mixed` does."""
    places = {"task_managers": (0, 1)}
    mapped = chain(source=places, middle=places, last=places, placement=PlacementKind.MAP)
    kinds = chain(placement=PlacementKind.MIXED)
    assert ran(mapped).env.trace.digest() == ran(kinds).env.trace.digest()
    everything_apart = chain(placement=PlacementKind.REMOTE)
    assert ran(mapped).env.trace.digest() != ran(everything_apart).env.trace.digest()


def test_a_slow_machine_lengthens_checkpoints() -> None:
    """What a core does for a checkpoint takes as many times longer."""

    def median_ns(machine: Machine) -> int:
        world = ran(chain(source={"rate_per_s": 100.0}, machine=machine))
        found = sorted(r.duration_ns or 0 for r in world.coordinator.records.values())
        return found[len(found) // 2]

    usual = median_ns(Machine())
    assert median_ns(Machine(cost_factor=3.0)) > 1.8 * usual
    assert median_ns(Machine(cores=1)) > usual


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"middle": {"service_factors": (1.0,)}}, "vertices[1].service_factors"),
        ({"middle": {"subtask_state_bytes": (1, 2, 3)}}, "vertices[1].subtask_state"),
        ({"source": {"rate_per_s": 1.0, "rate_shares": (0.0, 0.0)}}, "vertices[0].rate_shares"),
        (
            {"source": {"rate_per_s": 1.0, "rate_shares": (0.0, 1.0), "records": 5}},
            "vertices[0].rate_shares",
        ),
        ({"middle": {"rate_shares": (1.0, 1.0)}}, "vertices[1].rate_shares"),
        ({"source": {"selectivity": 2.0}}, "vertices[0].selectivity"),
        (
            {"last": {"inputs": (Input(upstream="middle", shares=(1.0, 2.0)),)}},
            "vertices[2].inputs[0].shares",
        ),
        (
            {"last": {"inputs": (Input(upstream="middle", keeps_key=True),)}},
            "vertices[2].inputs[0].keeps_key",
        ),
        (
            {"source": {"rate_changes": (RateChange(at_ns=1, factor=2.0),)}},
            "vertices[0].rate_changes",
        ),
        ({"source": {"rate_per_s": 1.0, "rate_period_ns": MS}}, "vertices[0].rate_period"),
        (
            {
                "source": {
                    "rate_per_s": 1.0,
                    "rate_changes": (RateChange(at_ns=MS, factor=2.0),),
                    "rate_period_ns": MS,
                }
            },
            "vertices[0].rate_period",
        ),
        ({"placement": PlacementKind.MAP}, "vertices[0].task_managers"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], path: str) -> None:
    """Lists have a value per subtask, weights a sum, and each is where it can act."""
    assert path in [problem.path for problem in chain(**changes).problems()]


def test_the_plane_of_records_refuses_what_it_cannot_do() -> None:
    """Selectivity, varying services and changing rates are refused, not ignored."""
    changes = (RateChange(at_ns=5, factor=2.0),)
    model = chain(
        source={"rate_per_s": 5.0, "rate_changes": changes},
        middle={"selectivity": 2.0, "service_variation": 0.1},
    )
    found = {problem.path for problem in replace(model, plane=Plane.RECORDS).problems()}
    assert {
        "vertices[0].rate_changes",
        "vertices[1].selectivity",
        "vertices[1].service_variation",
    } <= found


@st.composite
def worded(draw: st.DrawFn) -> Job:
    """Draw a job in which vertices say more than random jobs do otherwise."""
    model = draw(jobs())
    weights = st.floats(0.1, 5.0)
    sources = [vertex.name for vertex in model.vertices if vertex.is_source]
    vertices = []
    for vertex in model.vertices:
        count = vertex.parallelism
        values: dict[str, Any] = {
            "record_bytes": draw(st.sampled_from([None, 333, 9_000])),
            "record_variation": draw(st.sampled_from([0.0, 0.4, 1.0])),
            "task_managers": tuple(draw(st.integers(0, 2)) for _ in range(count)),
        }
        if vertex.is_source:
            if vertex.rate_per_s is not None and draw(st.booleans()):
                values["rate_changes"] = (RateChange(at_ns=123 * MS, factor=draw(weights)),)
                values["rate_period_ns"] = draw(st.sampled_from([None, 150 * MS]))
            if vertex.rate_per_s is not None and draw(st.booleans()):
                values["rate_shares"] = tuple(draw(weights) for _ in range(count))
        else:
            values["selectivity"] = draw(st.sampled_from([1.0, 0.0, 0.4, 2.7]))
            values["service_variation"] = draw(st.sampled_from([0.0, 0.0, 0.7]))
            values["service_factors"] = tuple(draw(weights) for _ in range(count))
            values["inputs"] = tuple(
                replace(
                    one,
                    shares=tuple(draw(weights) for _ in range(count)),
                    keeps_key=None if one.upstream in sources else draw(st.booleans()),
                )
                if one.partitioner is Partitioner.HASH
                else one
                for one in vertex.inputs
            )
        vertices.append(replace(vertex, **values))
    return replace(model, vertices=tuple(vertices), placement=PlacementKind.MAP)


@settings(
    max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(model=worded(), seed=st.integers(0, 10**6))
def test_every_property_holds_whatever_is_said(model: Job, seed: int) -> None:
    """No record is lost or invented, no buffer leaks, and checkpoints are consistent cuts."""
    ran(model, seed=seed)


@settings(
    max_examples=10, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(model=worded(), seed=st.integers(0, 10**6))
def test_drivers_agree_whatever_is_said(model: Job, seed: int) -> None:
    """The driver that goes record by record shows the same."""
    model = replace(model, duration_ns=300 * MS)
    fast = ran(model, seed=seed).env.trace.digest()
    assert fast == ran(replace(model, engine=Engine.PROCESSES), seed=seed).env.trace.digest()
