"""The door of ordering cores, and the designs from before states had indexes of their own.

`Design.INDEXES` is the core of `models/ordering/core`.  The other two are kept to be compared with:

* `ArrivalRequired`: states have indexes and ids. A state out of order is refused.
* `RangeCore`: indexes and ids are ignored.  A state covers the range of records that were
  read between the state before it and itself, and states go in the order of their arrival.

Both are right where one ordered channel joins source and destination.

Source: airbytehq/airbyte, bulk load CDK, `CheckpointManager` of 2024-10 to 2025-02: ranges of
record indexes in one queue, and an error for a state that is not the next one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, assert_never

from ckptsim.models.ordering import terms
from ckptsim.models.ordering.core import OrderingCore, Parts
from ckptsim.models.ordering.events import (
    Effect,
    Event,
    RecordsRead,
    SendFailed,
    SendState,
    StateRead,
    StateSent,
)
from ckptsim.models.ordering.lifecycle import Lifecycle
from ckptsim.models.ordering.release import PendingState, Shelf
from ckptsim.models.ordering.terms import (
    Blocked,
    CheckpointIndex,
    CheckpointKey,
    Medium,
    OrderingParameters,
    Refusal,
    Scope,
    StateKind,
)


class ArrivalRequired(Shelf):
    """A shelf that takes states in the order of their indexes only."""

    _accepted: CheckpointIndex = 0

    def refusal(self, key: CheckpointKey) -> Refusal | None:
        """Return why a key cannot be added: it is wrong in itself, or not the next one."""
        refused = super().refusal(key)
        if refused is None and key.index != self._accepted + 1:
            return Refusal.OUT_OF_ORDER
        return refused

    def add(self, state: PendingState) -> None:
        """Add the next state."""
        self._accepted = state.key.index
        super().add(state)


class EndWithLastChannel(Lifecycle):
    """Streams that end with the last channel, as on sockets: others may still hold records."""

    def __init__(self, parameters: OrderingParameters) -> None:
        super().__init__(replace(parameters, medium=Medium.SOCKET))


class RangeCore:
    """A core that attributes records to states by position alone.

    Inside is the core of STDIO, where a state ends the interval of the records read before it.  The
    wire's key of a state is kept beside it, to be returned with it.
    """

    def __init__(self, parameters: OrderingParameters) -> None:
        self.parameters = parameters
        by_position = replace(parameters, medium=Medium.STDIO)
        self._core = OrderingCore(by_position, Parts(lifecycle=EndWithLastChannel))
        self._received: dict[Scope, list[StateRead]] = {}

    def step(self, event: Event) -> list[Effect]:
        """Return an event's effects. Raises ProtocolError, also when a state has no index."""
        match event:
            case RecordsRead():
                effects = self._core.step(replace(event, id=None))
            case StateRead():
                effects = self._on_state(event)
            case StateSent() | SendFailed():
                index = self._position(event.scope, event.index)
                effects = self._core.step(replace(event, index=index))
            case _:
                effects = self._core.step(event)
        return [self._with_key(one) if isinstance(one, SendState) else one for one in effects]

    def blocked(self) -> tuple[Blocked, ...]:
        """Return for every scope with unsent states which is next and what it waits for."""
        return self._core.blocked()

    def pending_count(self) -> int:
        """Return the number of accepted states that were not sent."""
        return self._core.pending_count()

    def head(self, scope: Scope) -> CheckpointIndex | None:
        """Return the wire's index of the scope's first unsent state, or None."""
        position = self._core.head(scope)
        return None if position is None else self._received[scope][position - 1].index

    def _on_state(self, event: StateRead) -> list[Effect]:
        kind = StateKind.STREAM if event.kind is StateKind.STREAM else StateKind.GLOBAL
        inner = replace(event, kind=kind, index=None, id=None, inner=())
        effects = self._core.step(inner)
        scope = event.stream if kind is StateKind.STREAM else None
        self._received.setdefault(scope, []).append(event)
        return effects

    def _position(self, scope: Scope, index: CheckpointIndex) -> CheckpointIndex:
        """Return the place in the queue of the first unsent state, 0 if that is another one."""
        position = self._core.head(scope)
        if position is None or self._received[scope][position - 1].index != index:
            return 0
        return position

    def _with_key(self, effect: SendState) -> SendState:
        state = self._received[effect.scope][effect.key.index - 1]
        key = CheckpointKey(state.index or effect.key.index, state.id or effect.key.id)
        return replace(effect, key=key, kind=state.kind)


class OrderingDoor(Protocol):
    """An ordering core as hosts see it. Yours is made by `(OrderingParameters) -> OrderingDoor`."""

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
    """Step the core, carry out sends by `send`, and return other effects. Raises ProtocolError."""
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
