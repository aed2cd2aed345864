"""The state tables of the barrier handler, as data.

A rule says what happens when an input meets a state: first some actions, then the first branch with
a true guard.  A branch runs actions and goes to a state, or hands the barrier to further inputs in
turn ("the time-out first, then the barrier as an unaligned one").  `machine.py` runs the tables.
`ckptsim explain barrier-states` prints them.

WAITING and COLLECTING belong to the aligned handler.  The four ALTERNATING states belong to the
handler with time-outs. The strictly unaligned handler uses the two unaligned ones of them.  HOME is
where a handler starts and returns to.

Source: Apache Flink 1.20.3, WaitingForFirstBarrier, CollectingBarriers, AlternatingWaitingFor-
FirstBarrier, AlternatingCollectingBarriers and their unaligned counterparts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias


class State(IntEnum):
    """A state of the handler."""

    HOME = 0  # only as a target: the handler's first state
    WAITING = 1
    COLLECTING = 2
    ALTERNATING_WAITING = 3
    ALTERNATING_COLLECTING = 4
    WAITING_UNALIGNED = 5
    COLLECTING_UNALIGNED = 6


class Input(IntEnum):
    """What meets a state."""

    BARRIER = 0  # any kind but unaligned
    UNALIGNED_BARRIER = 1
    ANNOUNCEMENT = 2
    END_OF_PARTITION = 3
    ABORT = 4
    TIMEOUT = 5


class Action(IntEnum):
    """A step of a rule. `machine.py` has one method for each."""

    BLOCK = 0  # unless the barrier came by RPC
    FORGET_ANNOUNCEMENT = 1
    REMEMBER_ANNOUNCEMENT = 2
    PRIORITIZE = 3  # the announced barrier, at once
    PRIORITIZE_ALL = 4  # every announced barrier
    FINISH_CHANNEL = 5  # forget that it is blocked or announced
    INITIALIZE = 6
    INITIALIZE_UNALIGNED = 7
    START_GATES = 8
    STOP_GATES = 9
    TRIGGER = 10
    TRIGGER_UNALIGNED = 11
    RESUME_ALL = 12  # and forget all announcements


class Guard(IntEnum):
    """A condition of a branch."""

    ALWAYS = 0
    FULL = 1  # every channel that was open when the checkpoint began has delivered
    TIMED_OUT = 2  # timeoutable, and more than its time-out has passed since its trigger
    SAVEPOINT = 3
    FIXED = 4  # neither aligned nor timeoutable nor unaligned: it keeps its kind
    OVERTAKING = 5  # unaligned from the start


@dataclass(frozen=True, slots=True)
class Illegal:
    """An input that a state must not get. bad_argument: the barrier itself is refused."""

    story: str
    bad_argument: bool = False


@dataclass(frozen=True, slots=True)
class Branch:
    """What a rule does when its guard holds. then: inputs to take instead of going to `target`."""

    guard: Guard
    actions: tuple[Action, ...] = ()
    target: State | None = None
    then: tuple[Input, ...] = ()
    illegal: Illegal | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """What a state does with an input."""

    actions: tuple[Action, ...]
    branches: tuple[Branch, ...]


Table: TypeAlias = dict[tuple[State, Input], Rule | Illegal]

_A, _G, _I, _S = Action, Guard, Input, State


def _always(target: State, *actions: Action) -> Branch:
    return Branch(_G.ALWAYS, actions, target)


def _rule(*actions: Action, branches: tuple[Branch, ...]) -> Rule:
    return Rule(actions, branches)


_FINISH = (_A.STOP_GATES, _A.RESUME_ALL)
_START = (_A.INITIALIZE_UNALIGNED, _A.START_GATES, _A.TRIGGER_UNALIGNED)


def _aligned_rows(state: State) -> Table:
    full = Branch(_G.FULL, (_A.TRIGGER, _A.RESUME_ALL), _S.WAITING)
    collect = _always(_S.COLLECTING)
    # Waiting for the first barrier means that no checkpoint is open, or one known only by an
    # announcement: the end of a channel never triggers there.
    ended = (full, collect) if state is _S.COLLECTING else (_always(_S.WAITING),)
    return {
        (state, _I.BARRIER): _rule(_A.BLOCK, branches=(full, collect)),
        (state, _I.UNALIGNED_BARRIER): Illegal("an aligned handler got an unaligned barrier"),
        (state, _I.ANNOUNCEMENT): _rule(branches=(_always(state),)),
        (state, _I.END_OF_PARTITION): _rule(_A.FINISH_CHANNEL, branches=ended),
        (state, _I.ABORT): _rule(_A.RESUME_ALL, branches=(_always(_S.WAITING),)),
        (state, _I.TIMEOUT): Illegal("an aligned handler has no time-out"),
    }


def _alternating_rows(state: State) -> Table:
    waits = state is _S.ALTERNATING_WAITING
    full = Branch(_G.FULL, (_A.INITIALIZE, _A.TRIGGER, _A.RESUME_ALL), _S.ALTERNATING_WAITING)
    collect = _always(_S.ALTERNATING_COLLECTING)
    barrier_late = Branch(_G.TIMED_OUT, then=(_I.TIMEOUT, _I.UNALIGNED_BARRIER))
    end_late = Branch(_G.TIMED_OUT, then=(_I.TIMEOUT, _I.END_OF_PARTITION))
    # The checkpoint was opened by an unaligned barrier's announcement, which no one sends.
    mixed = Branch(_G.OVERTAKING, illegal=Illegal("an unaligned barrier is being aligned"))
    ended = (_always(state),) if waits else (mixed, full, end_late, collect)
    # Before the first barrier the time-out only makes announced barriers overtake. After it the
    # checkpoint begins at once.
    timeout = _always(_S.WAITING_UNALIGNED) if waits else _always(_S.COLLECTING_UNALIGNED, *_START)
    return {
        (state, _I.BARRIER): _rule(
            _A.FORGET_ANNOUNCEMENT, _A.BLOCK, branches=(full, barrier_late, collect)
        ),
        (state, _I.UNALIGNED_BARRIER): _rule(
            branches=(Branch(_G.ALWAYS, then=(_I.TIMEOUT, _I.UNALIGNED_BARRIER)),)
        ),
        (state, _I.ANNOUNCEMENT): _rule(_A.REMEMBER_ANNOUNCEMENT, branches=(_always(state),)),
        (state, _I.END_OF_PARTITION): _rule(_A.FINISH_CHANNEL, branches=ended),
        (state, _I.ABORT): _rule(_A.RESUME_ALL, branches=(_always(_S.ALTERNATING_WAITING),)),
        (state, _I.TIMEOUT): _rule(_A.PRIORITIZE_ALL, branches=(timeout,)),
    }


def _waiting_unaligned_rows() -> Table:
    state = _S.WAITING_UNALIGNED
    branches = (Branch(_G.FULL, _FINISH, _S.HOME), _always(_S.COLLECTING_UNALIGNED))
    blocked = (
        Branch(_G.SAVEPOINT, illegal=Illegal("a savepoint cannot be unaligned", bad_argument=True)),
        Branch(_G.FIXED, illegal=Illegal("only an aligned barrier can turn unaligned")),
        Branch(_G.FULL, (*_START, *_FINISH), _S.HOME),
        _always(_S.COLLECTING_UNALIGNED, *_START),
    )
    return {
        (state, _I.BARRIER): _rule(_A.BLOCK, branches=blocked),
        (state, _I.UNALIGNED_BARRIER): _rule(*_START, branches=branches),
        (state, _I.ANNOUNCEMENT): _rule(_A.PRIORITIZE, branches=(_always(state),)),
        (state, _I.END_OF_PARTITION): _rule(_A.FINISH_CHANNEL, branches=(_always(state),)),
        (state, _I.ABORT): _rule(_A.RESUME_ALL, branches=(_always(_S.HOME),)),
        (state, _I.TIMEOUT): _rule(branches=(_always(state),)),
    }


def _collecting_unaligned_rows() -> Table:
    state = _S.COLLECTING_UNALIGNED
    branches = (Branch(_G.FULL, _FINISH, _S.HOME), _always(state))
    return {
        (state, _I.BARRIER): _rule(_A.BLOCK, branches=branches),
        (state, _I.UNALIGNED_BARRIER): _rule(branches=branches),
        (state, _I.ANNOUNCEMENT): _rule(_A.PRIORITIZE, branches=(_always(state),)),
        (state, _I.END_OF_PARTITION): _rule(_A.FINISH_CHANNEL, branches=branches),
        (state, _I.ABORT): _rule(*_FINISH, branches=(_always(_S.HOME),)),
        (state, _I.TIMEOUT): _rule(branches=(_always(state),)),
    }


UNALIGNED_TABLE: Table = _waiting_unaligned_rows() | _collecting_unaligned_rows()
ALIGNED_TABLE: Table = _aligned_rows(_S.WAITING) | _aligned_rows(_S.COLLECTING)
ALTERNATING_TABLE: Table = (
    _alternating_rows(_S.ALTERNATING_WAITING)
    | _alternating_rows(_S.ALTERNATING_COLLECTING)
    | UNALIGNED_TABLE
)
