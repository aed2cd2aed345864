"""A task with two inputs takes them in turn, record by record. A union goes by buffers."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any

import pytest

from ckptsim.scenarios.job import Checkpointing, Engine, Input, Job, Mode, Vertex, VertexKind
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.buffers.input import InputChoice
from ckptsim.sim.kernel import Environment
from tests.job.buffers.plans import on_buffers

MS = 1_000_000


class Gate:
    """A gate with elements that are names."""

    def __init__(self, index: int, *elements: str) -> None:
        self.index = index
        self.ready = deque(elements)
        self.ready_ns = 0

    def poll(self) -> str | None:
        """Take the first element."""
        return self.ready.popleft() if self.ready else None


def choice(*gates: Gate) -> InputChoice:
    """Return the choice between gates."""
    return InputChoice(list(gates))  # type: ignore[arg-type]


def taken(chosen: InputChoice, count: int) -> list[Any]:
    """Take so many elements, one per ns."""
    return [chosen.poll(now) for now in range(count)]


def test_the_first_input_is_first_and_both_have_turns() -> None:
    """What both have is taken in turn, the first input's first, until there is nothing."""
    chosen = choice(Gate(0, "a", "b", "c"), Gate(1, "x", "y", "z"))
    assert taken(chosen, 7) == ["a", "x", "b", "y", "c", "z", None]


def test_a_task_that_starts_has_asked_all_in_vain() -> None:
    """What comes first is read first, and what comes after it has its turn a record later."""
    first, second = Gate(0, "a", "b"), Gate(1)
    chosen = choice(first, second)
    assert chosen.poll(5) == "a"
    second.ready.append("x")
    second.ready_ns = 6
    assert [chosen.poll(6), chosen.poll(7)] == ["b", "x"]


def test_what_is_unread_of_a_buffer_waits_for_its_turn() -> None:
    """A buffer of two records is read in two turns, with the other input's between them."""
    chosen = choice(Gate(0, "a"), Gate(1, "x", "y"))
    assert chosen.poll(0) == "a"
    unread: Any = ("a", "channel", 1, 7)
    chosen.set_aside(unread)
    assert chosen.unread_records("channel") == 1  # type: ignore[arg-type]
    assert [chosen.poll(1), chosen.poll(2), chosen.poll(3)] == ["x", unread, "y"]


def test_a_buffer_in_which_no_record_ends_is_no_turn() -> None:
    """The same input continues, and it is another's turn if that has nothing more."""
    chosen = choice(Gate(0, "begins", "ends"), Gate(1, "x"))
    assert chosen.poll(0) == "begins"
    chosen.go_on()
    assert [chosen.poll(0), chosen.poll(1)] == ["ends", "x"]
    alone = choice(Gate(0, "begins"), Gate(1, "x"))
    assert alone.poll(0) == "begins"
    alone.go_on()
    assert alone.poll(0) == "x"


def test_an_empty_input_is_looked_at_behind_the_choice() -> None:
    """What comes to an input that was empty has its turn a record later."""
    first, second = Gate(0, "a", "b", "c", "d"), Gate(1)
    chosen = choice(first, second)
    assert taken(chosen, 2) == ["a", "b"]
    assert not chosen.alternates
    second.ready.append("x")
    second.ready_ns = 2
    assert chosen.poll(2) == "c"
    assert chosen.alternates
    assert chosen.poll(3) == "x"


def job(engine: Engine, *, two_input: bool) -> Job:
    """Return two overloaded sources, one with records of four times the size, and what joins them.

    It is as fast as the first one alone, so both inputs have something to read all the time.
    """
    vertices = [
        Vertex(kind=VertexKind.SOURCE, name="small", parallelism=1, record_bytes=1_000),
        Vertex(kind=VertexKind.SOURCE, name="large", parallelism=1, record_bytes=4_000),
        Vertex(
            name="both",
            parallelism=1,
            inputs=(Input(upstream="small"), Input(upstream="large")),
            service_ns=MS,
            two_input=two_input,
        ),
    ]
    checkpointing = Checkpointing(mode=Mode.UNALIGNED, interval_ns=200 * MS)
    return replace(
        on_buffers(*vertices, checkpointing=checkpointing, duration_ns=2_000 * MS), engine=engine
    )


@pytest.mark.parametrize("engine", [Engine.PROCESSES, Engine.COMPILED])
def test_two_inputs_have_as_many_records_whatever_their_size(engine: Engine) -> None:
    """Of two backlogged inputs as many records are read. Of a union as many buffers."""
    counts = {}
    for two_input in (True, False):
        world = DataflowWorld(Environment(1), job(engine, two_input=two_input))
        world.run()
        join = next(task for task in world.tasks if task.gates)
        join.sync()
        small, large = join.channels
        counts[two_input] = [one.records - join.unread_records(one) for one in (small, large)]
    assert abs(counts[True][0] - counts[True][1]) <= 1
    assert counts[False][0] == pytest.approx(4 * counts[False][1], rel=0.1)
