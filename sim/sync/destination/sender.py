"""The way of a released state to the platform: slow at times, failing at times."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ckptsim.models.ordering import SendFailed, SendState, StateSent, scope_text
from ckptsim.scenarios.sync import Point
from ckptsim.sim.sync.kinds import KIND_SENT, KIND_STORED

if TYPE_CHECKING:
    from ckptsim.sim.sync.attempt import Attempt
    from ckptsim.sim.sync.destination.destination import Destination
    from ckptsim.sim.sync.oracle.truth import SourceState


class Sender:
    """Sends states one at a time and reports how that went."""

    def __init__(self, attempt: Attempt, destination: Destination) -> None:
        self.stored_unacknowledged = False
        self.busy = False
        self._attempt = attempt
        self._destination = destination
        self._table = attempt.model.destination
        self._entity = attempt.env.entity("sender")
        self._host = attempt.env.entity("destination")
        self._failed_in_a_row = 0

    def send(self, effect: SendState) -> None:
        """Begin to send a state that the core has released."""
        attempt = self._attempt
        self.busy = True
        number = attempt.world.next_send()
        scope, index = scope_text(effect.scope), effect.key.index
        attempt.env.trace.record("send", self._host, scope, index, number)
        attempt.world.properties.on_send(attempt, effect)
        attempt.point(Point.BEFORE_SEND)
        drawn = attempt.world.draws.lognormal_ns(
            ("destination.send", 0, number),
            median_ns=self._table.send_ns,
            spread=self._table.send_spread,
        )
        duration = attempt.faults.send_ns(drawn, attempt.env.now)
        at_end = self._destination.awaits_timer
        if attempt.faults.send_fails(number, at_end=at_end):
            if at_end:
                attempt.env.goals.reach("send_failed_at_end")
            attempt.call_in(duration, KIND_SENT, self._entity, self._failed, effect)
            return
        there = duration // 2
        attempt.call_in(there, KIND_STORED, self._entity, self._stored, effect, duration - there)

    def _stored(self, effect: SendState, back_ns: int) -> None:
        attempt = self._attempt
        kept = attempt.world.platform.take(attempt, effect)
        attempt.world.properties.on_stored(attempt, effect, kept=kept)
        self.stored_unacknowledged = True
        attempt.point(Point.AFTER_SEND)
        attempt.call_in(back_ns, KIND_SENT, self._entity, self._sent, effect)

    def _sent(self, effect: SendState) -> None:
        attempt = self._attempt
        attempt.sign()
        self.busy = self.stored_unacknowledged = False
        self._failed_in_a_row = 0
        scope, index = scope_text(effect.scope), effect.key.index
        attempt.env.trace.record("sent", self._host, scope, index)
        properties = attempt.world.properties
        state = properties.releases.find(attempt, effect)
        stands_for = [] if state is None else properties.releases.skipped(attempt, state)
        self._free([*stands_for, properties.on_sent(attempt, effect)])
        attempt.point(Point.AFTER_ACKNOWLEDGE)
        attempt.env.trace.record("released", self._host, scope, index)
        self._destination.deliver(StateSent(scope=effect.scope, index=effect.key.index))
        attempt.world.properties.on_flushed(attempt)

    def _free(self, states: Iterable[SourceState | None]) -> None:
        """Free memory of states after their first send, whether that returned or failed."""
        for state in states:
            if state is not None and state.reserved:
                state.reserved = False
                self._destination.memory.free(state.size_bytes)

    def _failed(self, effect: SendState) -> None:
        attempt = self._attempt
        self.busy = False
        self._failed_in_a_row += 1
        scope, index = scope_text(effect.scope), effect.key.index
        attempt.env.trace.record("send_failed", self._host, scope, index)
        attempt.env.goals.reach("send_failed")
        properties = attempt.world.properties
        self._free([properties.releases.find(attempt, effect)])
        before = properties.before_failed_send(attempt, effect)
        self._destination.deliver(SendFailed(scope=effect.scope, index=effect.key.index))
        properties.on_send_failed(attempt, effect, before)
        if self._failed_in_a_row >= self._table.send_tries:
            properties.on_sends_given_up(attempt)
            attempt.fail(f"{self._failed_in_a_row} sends in a row failed, last state {index}")
