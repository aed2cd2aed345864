"""The designs of a destination, the disorder of states, and the states that are pending."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ckptsim.models import ordering
from ckptsim.models.core import ProtocolError
from ckptsim.models.ordering import Design, Medium, OrderingParameters, Refusal
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.sync import Design as DesignChoice
from ckptsim.scenarios.sync import SyncModel
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world

USERS = ordering.StreamDescriptor("users")


def _run(design: str, *, disorder: float | None, sockets: int = 4, seed: int = 0) -> RunResult:
    scenario = by_name("design_indexes")
    model = scenario.model
    assert isinstance(model, SyncModel)
    changed = replace(
        model,
        source=replace(model.source, disorder=disorder),
        sockets=replace(model.sockets, count=sockets),
        destination=replace(model.destination, design=DesignChoice(design)),
    )
    return run_world(replace(scenario, model=changed, goals=()), seed=seed)


def _core(design: Design) -> ordering.OrderingDoor:
    return ordering.make_core(
        OrderingParameters(medium=Medium.SOCKET, streams=(USERS,), channels=2, design=design)
    )


def _state(index: int, count: int) -> ordering.StateRead:
    return ordering.StateRead(
        kind=ordering.StateKind.STREAM,
        stream=USERS,
        index=index,
        id=f"p{index}",
        source_count=count,
        payload=f"state {index}",
    )


def test_states_in_order_are_required_by_one_design() -> None:
    """State 2 before state 1 is refused and changes nothing, and state 1 is accepted after it."""
    core = _core(Design.ARRIVAL)
    with pytest.raises(ProtocolError) as refused:
        core.step(_state(2, 0))
    assert refused.value.kind is Refusal.OUT_OF_ORDER
    core.step(_state(1, 0))
    core.step(_state(2, 0))
    assert core.pending_count() == 2


def test_ranges_attribute_records_by_position_and_return_the_key_of_the_wire() -> None:
    """A state waits for all records read before it, of any id, and goes with its own key."""
    core = _core(Design.RANGES)
    (_, passed) = core.step(ordering.RecordsRead(stream=USERS, id="p9", count=2, size_bytes=2))
    assert isinstance(passed, ordering.PassRecords)
    core.step(_state(2, 5))  # its own records have not come: no design of ranges can know
    assert core.step(ordering.FlushRequested()) == []
    assert core.head(USERS) == 2
    core.step(ordering.RecordsDurable(stream=USERS, id=passed.id, count=2, size_bytes=2))
    (send,) = core.step(ordering.FlushRequested())
    assert isinstance(send, ordering.SendState)
    assert (send.key.index, send.key.id, send.payload) == (2, "p2", "state 2")
    core.step(ordering.SendFailed(scope=USERS, index=2))
    (again,) = core.step(ordering.FlushRequested())
    assert again == send
    assert core.step(ordering.StateSent(scope=USERS, index=2)) == []
    assert core.pending_count() == 0


@pytest.mark.parametrize("design", list(DesignChoice))
@pytest.mark.parametrize("seed", range(3))
def test_every_design_is_right_on_one_socket(design: DesignChoice, seed: int) -> None:
    """Where one channel carries everything, no design acknowledges anything too early."""
    result = _run(design.value, disorder=1.0, sockets=1, seed=seed)
    assert result.run.outcome == "completed"
    assert result.violations == []


def test_disorder_zero_brings_states_in_order_and_one_does_not() -> None:
    """With disorder 0 the first socket carries all states, with 1 every socket some of them."""
    ordered, mixed = (_run("indexes", disorder=share) for share in (0.0, 1.0))
    assert {row.socket for row in ordered.pending} == {0}
    assert {row.socket for row in mixed.pending} == {0, 1, 2, 3}
    assert ordered.violations == mixed.violations == []


def test_records_by_position_are_acknowledged_too_early_on_several_sockets() -> None:
    """Even states in order return before their records are durable, and indexes prevent it."""
    wrong = {
        design: sum(
            figure.value
            for seed in range(3)
            for figure in _run(design, disorder=0.0, seed=seed).figures
            if figure.figure == "wrong_acknowledgements"
        )
        for design in ("ranges", "indexes")
    }
    assert wrong["indexes"] == 0
    assert wrong["ranges"] > 0


def test_pending_rows_follow_the_states() -> None:
    """Rows are by time, end at nothing, and their peaks are the figures of the run."""
    result = _run("indexes", disorder=1.0)
    assert [row.at_ns for row in result.pending] == sorted(row.at_ns for row in result.pending)
    last = {(row.scope, row.socket): row for row in result.pending}
    assert all(row.states == row.size_bytes == 0 for row in last.values())
    figures = {row.figure: row.value for row in result.figures}
    assert figures["pending_states"] >= max(row.states for row in result.pending) > 0
    assert figures["pending_bytes"] == 1024 * figures["pending_states"]
    assert figures["pending_age_ns"] == max(row.oldest_age_ns for row in result.pending)


def test_a_state_that_is_read_as_its_attempt_ends_is_pending_no_more() -> None:
    """A crash at any instant leaves nothing pending in the last rows of the attempt."""
    scenario = by_name("design_ranges")
    for seed in range(4):
        result = run_world(scenario, seed=seed)
        last = {(row.attempt, row.scope, row.socket): row for row in result.pending}
        assert all(row.states == row.size_bytes == 0 for row in last.values())
