"""A checkpoint given to the same job with other parallelisms: every record is taken up once."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptsim.models.coordinator.plan import FinishedState
from ckptsim.models.core import ProtocolError
from ckptsim.scenarios import ScenarioError
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.job import Input, Job, Mode, Partitioner, Plane, Vertex, VertexKind
from ckptsim.scenarios.planning import with_parameters
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.buffers.restoring.redistribution import Flight
from ckptsim.sim.job.buffers.restoring.rescale import rescaled
from ckptsim.sim.job.buffers.state import BufferSnapshot, Span
from ckptsim.sim.job.control.checkpoint import JobCheckpoint
from ckptsim.sim.job.graph import Graph
from ckptsim.sim.kernel import Environment
from ckptsim.sim.validate.recoveries.predict import with_parallelism
from ckptsim.sim.world import run_world
from tests.job.buffers.failover.test_timed_failover import S, job

BYTES = 1_000


def taken_up(held: JobCheckpoint, old: Graph, new: Graph) -> JobCheckpoint:
    """Return what a job with other parallelisms takes up."""
    return rescaled(held, old, new).checkpoint


def graph(parallelism: int, partitioner: Partitioner) -> Graph:
    """Return two subtasks of a source before so many of an operator."""
    source = Vertex(name="source", kind=VertexKind.SOURCE, parallelism=2)
    edge = Input(upstream="source", partitioner=partitioner)
    operator = Vertex(name="operator", parallelism=parallelism, inputs=(edge,))
    return Graph(Job(plane=Plane.BUFFERS, vertices=(source, operator)))


def checkpoint(of: Graph, counts: list[int]) -> JobCheckpoint:
    """Return a checkpoint with in-flight records at both ends of every channel, in turn."""
    tasks = {}
    places = cycle(counts)

    def spans() -> list[Span]:
        return [(BYTES * count, count) for count in (next(places), next(places)) if count]

    for task in of.tasks:
        tasks[task.index] = BufferSnapshot(
            processed=100 + task.index,
            exhausted=False,
            input_spans={place: spans() for place in range(len(of.inputs[task.index]))},
            output_spans={place: spans() for place in range(of.output_count(task.index))},
        )
    return JobCheckpoint(
        checkpoint_id=3,
        savepoint=False,
        tasks=tasks,
        subtasks=of.subtasks,
        vertices=dict.fromkeys(("source", "operator"), FinishedState.NONE),
        finished=frozenset(),
        positions={0: 100, 1: 101},
        lost_state=frozenset(),
    )


def by_sender(of: Graph, held: JobCheckpoint, *, outputs: bool) -> list[int]:
    """Return how many records of each sender are in flight at one end of its channels."""
    found = [0, 0]
    for channel in of.channels:
        task = channel.upstream if outputs else channel.downstream
        place = channel.output if outputs else channel.input
        snapshot = held.tasks[task]
        spans = (snapshot.output_spans if outputs else snapshot.input_spans).get(place, [])
        for size, records in spans:
            assert size == BYTES * records
            found[channel.upstream] += records
    return found


@pytest.mark.parametrize("partitioner", [Partitioner.HASH, Partitioner.REBALANCE])
@given(
    old=st.integers(1, 8),
    new=st.integers(1, 8),
    counts=st.lists(st.integers(0, 40), min_size=1, max_size=7),
)
def test_every_record_is_taken_up_once(
    partitioner: Partitioner, old: int, new: int, counts: list[int]
) -> None:
    """From any parallelism to any other, whatever is replicated and filtered."""
    before, after = graph(old, partitioner), graph(new, partitioner)
    held = checkpoint(before, counts)
    found = taken_up(held, before, after)
    for outputs in (False, True):
        assert by_sender(after, found, outputs=outputs) == by_sender(before, held, outputs=outputs)
    done = [
        one.tasks[n].processed
        for one, g in ((held, before), (found, after))
        for n in g.tasks_of("operator")
    ]
    assert sum(done[:old]) == sum(done[old:])


@pytest.mark.parametrize("partitioner", [Partitioner.HASH, Partitioner.REBALANCE])
def test_the_same_parallelism_changes_nothing(partitioner: Partitioner) -> None:
    """An identity keeps every buffer in its channel."""
    here = graph(3, partitioner)
    held = checkpoint(here, [3, 1, 4, 1, 5])
    found = taken_up(held, here, here)
    for number, snapshot in held.tasks.items():
        kept = found.tasks[number]
        assert kept.processed == snapshot.processed
        for mine, theirs in (
            (kept.input_spans, snapshot.input_spans),
            (kept.output_spans, snapshot.output_spans),
        ):
            assert mine == {place: spans for place, spans in theirs.items() if spans}


def test_an_edge_that_cannot_be_redistributed_is_refused() -> None:
    """In-flight data of a broadcast has no mappers. Without such data there is nothing to ask."""
    before, after = graph(2, Partitioner.BROADCAST), graph(3, Partitioner.BROADCAST)
    with pytest.raises(ProtocolError, match="unsupported"):
        taken_up(checkpoint(before, [1]), before, after)
    taken_up(checkpoint(before, [0]), before, after)


def test_records_of_several_sizes_are_all_kept_once() -> None:
    """Each record that ends in a buffer is kept with it, however large the others are."""
    flight = Flight(received=[(4096, 1), (100, 9)], sent=[(50, 0), (3000, 2)])
    kept = np.arange(12) % 3 == 0
    both = [(*first, *second) for first, second in map(flight.filtered, (kept, ~kept))]
    assert [sum(records for _, records in spans) for spans in both] == [4, 8]
    assert sum(size for spans in both for size, _ in spans) == 4096 + 100 + 50 + 3000


@pytest.mark.parametrize(("mode", "parallelism"), [(Mode.ALIGNED, 4), (Mode.UNALIGNED, 1)])
def test_a_job_goes_on_with_another_parallelism(mode: Mode, parallelism: int) -> None:
    """It takes up the in-flight data, and its sources continue from their positions."""
    model = job(rate=None, mode=mode, duration_ns=2 * S)
    first = DataflowWorld(Environment(1), model)
    first.run()
    kept = first.coordinator.completed
    latest = kept[max(kept)]
    other = with_parallelism(replace(model, duration_ns=3 * S), parallelism)
    again = taken_up(latest, first.graph, Graph(other))
    second = DataflowWorld(Environment(2), other, restored=again)
    assert sum(second.positions().values()) == sum(latest.positions.values())
    second.run()
    assert second.timed is not None
    done = sum(task.processed for task in second.tasks_of("operator"))
    emitted = sum(second.positions().values())
    assert done <= emitted
    assert emitted - done < 2 * 2 * 11 * 33 * max(parallelism, 2)
    rate = (done - sum(task.restored_records for task in second.tasks_of("operator"))) / 3
    assert rate == pytest.approx(parallelism * 940, rel=0.1)


@pytest.mark.parametrize(
    "table",
    [
        {"handled_by": "downstream"},
        {"handled_by": "downstream", "recovered": "atomic"},
        {"spilling": "continuous", "replay_from": "file_index"},
        {"spilling": "continuous", "persistence": "log_service"},
    ],
)
def test_each_way_to_keep_data_in_flight_survives_a_rescale(table: dict[str, str]) -> None:
    """The oracle finds no byte lost or doubled, however the data was kept and put back."""
    parameters = {f"job.channel_state.{key}": value for key, value in table.items()}
    made = with_parameters(by_name("rescaled_in_its_time"), parameters, source="test")
    result = run_world(made, seed=0)
    assert result.violations == []
    assert all(result.goals[name] for name in made.goals)


def test_what_identities_alone_can_show_is_refused_on_buffers() -> None:
    """A log that is replayed from its start repeats records, which buffers cannot tell."""
    parameters = {"job.channel_state.replay_from": "log_start"}
    with pytest.raises(ScenarioError, match=r"told_at_snapshot\" or \"file_index"):
        with_parameters(by_name("flip76_timed_continuous"), parameters, source="test")
