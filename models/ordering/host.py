"""A host's loop for sends that return before the next event: the smallest right interpreter."""

from __future__ import annotations

from collections.abc import Callable

from ckptsim.models.ordering.door import OrderingDoor
from ckptsim.models.ordering.effects import Effect, SendState
from ckptsim.models.ordering.events import Event, SendFailed, StateSent


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
