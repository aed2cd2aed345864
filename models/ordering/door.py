"""What every implementation of the ordering protocol offers, and the factory of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, assert_never

from ckptsim.models.ordering import terms
from ckptsim.models.ordering.blocking import Blocked
from ckptsim.models.ordering.core import OrderingCore, Parts
from ckptsim.models.ordering.designs import ArrivalRequired, RangeCore
from ckptsim.models.ordering.effects import Effect, SendState
from ckptsim.models.ordering.events import Event, SendFailed, StateSent


class OrderingDoor(Protocol):
    """An ordering core as hosts see it: one door, and questions.

    An implementation of one's own is a factory `(OrderingParameters) -> OrderingDoor`.
    """

    def step(self, event: Event) -> list[Effect]:
        """Take one event and return its effects. Raise ProtocolError when it is refused."""

    def blocked(self) -> tuple[Blocked, ...]:
        """Return which state of a scope is next and what it waits for, used where a sync stalls."""

    def pending_count(self) -> int:
        """Return the number of states that were not sent, used before and after a failed send."""

    def head(self, scope: terms.Scope) -> terms.CheckpointIndex | None:
        """Return the lowest unsent index of a scope, used before and after a failed send."""


def make_core(parameters: terms.OrderingParameters) -> OrderingDoor:
    """Build the ordering core of one attempt, in the design that the parameters name."""
    match parameters.design:
        case terms.Design.INDEXES:
            return OrderingCore(parameters)
        case terms.Design.ARRIVAL:
            return OrderingCore(parameters, Parts(shelf=ArrivalRequired))
        case terms.Design.RANGES:
            return RangeCore(parameters)
        case _:
            assert_never(parameters.design)


def drive(core: OrderingDoor, event: Event, send: Callable[[SendState], bool]) -> list[Effect]:
    """Step the core, carry out its sends at once, and return all other effects in order.

    send: hands a state to the platform and returns whether the platform has it.

    Raises ProtocolError when the core refuses the event.
    """
    others: list[Effect] = []
    effects = core.step(event)
    while effects:
        following: list[Effect] = []
        for effect in effects:
            if isinstance(effect, SendState):
                following += core.step(_outcome(effect, sent=send(effect)))
            else:
                others.append(effect)
        effects = following
    return others


def _outcome(effect: SendState, *, sent: bool) -> Event:
    if sent:
        return StateSent(scope=effect.scope, index=effect.key.index)
    return SendFailed(scope=effect.scope, index=effect.key.index)
