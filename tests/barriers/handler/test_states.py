"""Every state meets every input: effects and the next state, as whole lists."""

from __future__ import annotations

import pytest

from ckptsim._api.pages.tables import handler_lines
from ckptsim.models.barriers.barrier import Barrier, OptionKind
from ckptsim.models.barriers.handler import (
    ALIGNED_TABLE,
    ALTERNATING_TABLE,
    UNALIGNED_TABLE,
    AllBarriers,
    HandlerKind,
    SingleCheckpointHandler,
    State,
)
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.handler.machine import BarrierMachine
from ckptsim.models.barriers.handler.states import Guard, Illegal, Input, Table
from tests.barriers.handler.state_rows import (
    ALIGNED,
    ENDED,
    FULL_ROWS,
    NEWER,
    ROWS,
    SUBSUMED,
    TIMED,
    TURNED,
    WAYS,
    H,
    S,
    announced,
    arrived,
)


def led_to(state: State, channels: int = 3) -> SingleCheckpointHandler:
    """Return a handler that the usual way has led to a state."""
    kind, events = WAYS[state]
    handler = SingleCheckpointHandler(kind, channels)
    for event in events:
        handler.step(event)
    assert handler.state is state
    return handler


@pytest.mark.parametrize(("state", "event", "effects", "target"), ROWS)
def test_every_row(
    state: State,
    event: handler_events.HandlerEvent,
    effects: list[handler_events.HandlerEffect],
    target: State,
) -> None:
    """A state answers an input with exactly these effects, in this order, and continues there."""
    handler = led_to(state)
    assert handler.step(event) == effects
    assert handler.state is target


def given_by(state: State, event: handler_events.HandlerEvent) -> Input:
    """Return which input of the table an event is."""
    match event:
        case handler_events.BarrierArrived():
            return Input.UNALIGNED_BARRIER if event.barrier.is_unaligned else Input.BARRIER
        case handler_events.BarrierAnnounced():
            return Input.ANNOUNCEMENT
        case handler_events.ChannelEnded():
            return Input.END_OF_PARTITION
        case handler_events.CancellationArrived():
            return Input.ABORT
        case _:
            return Input.TIMEOUT


def test_the_rows_cover_the_tables() -> None:
    """Each pair of state and input is tested, except for the time-outs that no event can cause."""
    tested = {(state, given_by(state, event)) for state, event, _, _ in ROWS}
    untested = (ALIGNED_TABLE.keys() | ALTERNATING_TABLE.keys()) - tested
    assert untested == {(S.WAITING, Input.TIMEOUT), (S.COLLECTING, Input.TIMEOUT)}


@pytest.mark.parametrize(
    ("table", "states"),
    [
        (ALIGNED_TABLE, (S.WAITING, S.COLLECTING)),
        (
            ALTERNATING_TABLE,
            (
                S.ALTERNATING_WAITING,
                S.ALTERNATING_COLLECTING,
                S.WAITING_UNALIGNED,
                S.COLLECTING_UNALIGNED,
            ),
        ),
        (UNALIGNED_TABLE, (S.WAITING_UNALIGNED, S.COLLECTING_UNALIGNED)),
    ],
)
def test_tables_are_complete_and_closed(table: Table, states: tuple[State, ...]) -> None:
    """Every state has a row for every input, and every rule leads to a state of the table."""
    assert set(table) == {(state, given) for state in states for given in Input}
    for rule in table.values():
        if isinstance(rule, Illegal):
            continue
        assert rule.branches[-1].guard is Guard.ALWAYS
        for branch in rule.branches:
            ways_on = (branch.target is not None, bool(branch.then), branch.illegal is not None)
            assert sum(ways_on) == 1
            assert branch.target is None or branch.target in (*states, S.HOME)


def test_a_time_out_of_an_aligned_handler_is_illegal() -> None:
    """Its table names the row. A timer that fires nevertheless fails the task."""
    for state in (S.WAITING, S.COLLECTING):
        assert isinstance(ALIGNED_TABLE[state, Input.TIMEOUT], Illegal)
    handler = led_to(S.COLLECTING)
    assert handler.step(handler_events.TimerFired(110, ALIGNED)) == [
        handler_events.FailTask("an aligned handler has no time-out")
    ]


@pytest.mark.parametrize(
    ("kind", "effect"),
    [
        (
            OptionKind.AT_LEAST_ONCE,
            handler_events.FailTask("only an aligned barrier can turn unaligned"),
        ),
        (
            OptionKind.FORCED_ALIGNED,
            handler_events.FailTask("only an aligned barrier can turn unaligned"),
        ),
        (
            OptionKind.SAVEPOINT,
            handler_events.FailTask("a savepoint cannot be unaligned", bad_argument=True),
        ),
    ],
)
def test_a_barrier_that_keeps_its_kind_cannot_begin_an_unaligned_checkpoint(
    kind: OptionKind, effect: handler_events.FailTask
) -> None:
    """The task fails after the channel was blocked, and the state stays as it was."""
    handler = led_to(S.WAITING_UNALIGNED)
    assert handler.step(arrived(0, Barrier(1, 100, kind))) == [
        handler_events.BlockChannel(0),
        effect,
    ]
    assert handler.state is S.WAITING_UNALIGNED


def test_an_announced_unaligned_barrier_is_not_aligned() -> None:
    """The end of a channel fails the task when an aligned barrier has followed such a message."""
    handler = SingleCheckpointHandler(H.ALTERNATING, 3)
    handler.step(announced(1, 7, TURNED))
    handler.step(arrived(0, ALIGNED))
    assert handler.step(ENDED) == [handler_events.FailTask("an unaligned barrier is being aligned")]


def test_tables_can_be_printed() -> None:
    """Each row is one line that names the state, the input, the actions and where they lead."""
    lines = handler_lines(ALTERNATING_TABLE)
    assert len(lines) == len(ALTERNATING_TABLE)
    assert lines[0] == (
        "ALTERNATING_WAITING + BARRIER: forget_announcement, block; "
        "if FULL: initialize, trigger, resume_all -> ALTERNATING_WAITING; "
        "if TIMED_OUT: TIMEOUT then UNALIGNED_BARRIER; -> ALTERNATING_COLLECTING"
    )
    assert any(
        line.startswith("WAITING + TIMEOUT: illegal") for line in handler_lines(ALIGNED_TABLE)
    )


@pytest.mark.parametrize(("state", "event", "effects"), FULL_ROWS)
def test_the_last_barrier(
    state: State, event: handler_events.HandlerEvent, effects: list[handler_events.HandlerEffect]
) -> None:
    """With two channels the second delivery completes the checkpoint and the handler is home."""
    handler = led_to(state, channels=2)
    assert handler.step(event) == effects
    assert handler.state is WAYS_HOME[handler_kind_of(state)]
    assert handler.blocked == ()
    assert handler.aligned == ()
    assert not handler.pending


WAYS_HOME = {H.ALIGNED: S.WAITING, H.ALTERNATING: S.ALTERNATING_WAITING}


def handler_kind_of(state: State) -> HandlerKind:
    """Return the kind of handler that the usual way to a state takes."""
    return WAYS[state][0]


def test_the_last_barrier_in_time_stays_aligned_although_the_time_out_has_passed() -> None:
    """Completeness is looked at before lateness: no timer, no switch."""
    handler = SingleCheckpointHandler(H.ALTERNATING, 1)
    effects = handler.step(arrived(0, TIMED, 1000))
    assert handler_events.TriggerCheckpoint(TIMED, 900) in effects
    assert handler_events.SetTimer(1, 0, TIMED) in effects


def test_the_passive_time_out_is_strict() -> None:
    """At exactly the time-out a barrier is still in time. One nanosecond later it is not."""
    for now_ns, state in ((150, S.ALTERNATING_COLLECTING), (151, S.COLLECTING_UNALIGNED)):
        handler = SingleCheckpointHandler(H.ALTERNATING, 2)
        handler.step(arrived(0, TIMED, now_ns))
        assert handler.state is state


def test_all_barriers_settle_once() -> None:
    """Open, then done or failed. Done for older checkpoints. Unknown for newer ones."""
    handler = led_to(S.COLLECTING, channels=2)
    assert handler.all_barriers(1) is AllBarriers.OPEN
    handler.step(arrived(1, ALIGNED))
    assert handler.all_barriers(1) is AllBarriers.DONE
    handler.step(handler_events.HandlerClosed())
    assert handler.all_barriers(1) is AllBarriers.DONE
    closed = led_to(S.COLLECTING)
    closed.step(handler_events.HandlerClosed())
    assert closed.all_barriers(1) is AllBarriers.FAILED
    assert closed.all_barriers(0) is AllBarriers.DONE


def test_a_newer_barrier_subsumes_and_its_target_is_what_is_open_then() -> None:
    """The older checkpoint is aborted first. The new one needs the channels open at that moment."""
    handler = led_to(S.ALTERNATING_COLLECTING)
    handler.step(ENDED)
    effects = handler.step(arrived(1, NEWER))
    assert effects[:3] == [
        handler_events.CancelTimer(1),
        handler_events.ResumeChannels((0,)),
        handler_events.AbortCheckpoint(1, SUBSUMED),
    ]
    assert handler.target == 2
    handler.step(handler_events.ChannelEnded(120, 1))
    assert handler.target == 2


def test_an_action_exists_for_every_name() -> None:
    """Each action that a table names is a method of the machine."""
    for table in (ALIGNED_TABLE, ALTERNATING_TABLE):
        for rule in table.values():
            if isinstance(rule, Illegal):
                continue
            named = [*rule.actions, *(a for branch in rule.branches for a in branch.actions)]
            for action in named:
                assert callable(getattr(BarrierMachine, action.name.lower()))
