"""From what the source core emits to state messages, entered into the ground truth."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never, cast

from ckptsim.models.ordering import StateKind, StreamDescriptor
from ckptsim.models.ordering.source import EmitState
from ckptsim.scenarios.sync import MixedKind, RepeatIndex, RepeatState
from ckptsim.sim.sync.intervals import Intervals, IntervalSet
from ckptsim.sim.sync.oracle.truth import LOG_FEED, Partition, SourceState

if TYPE_CHECKING:
    from ckptsim.sim.sync.attempt import Attempt
    from ckptsim.sim.sync.faults import StateFault
    from ckptsim.sim.sync.oracle.truth import Feed


@dataclass(frozen=True, slots=True)
class View:
    """What a message says, per feed: the state's token or None, and the partitions new in it."""

    tokens: tuple[int | None, ...]
    partitions: tuple[Partition, ...]


class StateMaker:
    """Makes the states of one attempt.

    A reader's state is a number, its feed's token. What it claims is kept by the feed's plan.  A
    message's payload is the text of all the tokens that it repeats.
    """

    def __init__(self, attempt: Attempt, plans: list[FeedPlan]) -> None:
        self._attempt = attempt
        self._truth = attempt.world.truth
        self._table = attempt.model.source
        self._plans = plans

    def view(self, effect: EmitState) -> View:
        """Fix what a message says: absorb the news in it, repeat everything that is not."""
        tokens = self._tokens(effect)
        told = [
            plan.absorb(token)
            for plan, token in zip(self._plans, tokens, strict=True)
            if token is not None
        ]
        partitions = tuple(partition for partition in told if partition is not None)
        if len(partitions) < len(told):
            self._attempt.env.goals.reach("stale_entry_repeated")
        return View(tokens, partitions)

    def make(self, effect: EmitState, view: View) -> list[SourceState]:
        """Make the messages that go out for one effect: one, unless a fault is planned."""
        states = [self._make(effect, view)]
        if self._table.repeat_states and not self._truth.on_sockets:
            states.append(self._make(effect, View(view.tokens, ())))
        for partition in view.partitions:
            for fault in self._attempt.faults.on_state(partition.feed.index, partition.ordinal):
                self._spoil(states, fault, effect, view)
        return states

    def _spoil(
        self, states: list[SourceState], fault: StateFault, effect: EmitState, view: View
    ) -> None:
        """Do to a message what a fault plan says."""
        state = states[0]
        match fault:
            case RepeatState():
                again = View(view.tokens, ())
                states.append(state if self._truth.on_sockets else self._make(effect, again))
            case RepeatIndex():
                state.wire_index = max(1, state.index - 1)
            case MixedKind():
                if effect.kind is StateKind.STREAM:
                    states.append(self._mixed(effect, state))
            case _:
                assert_never(fault)

    def _mixed(self, effect: EmitState, state: SourceState) -> SourceState:
        """Make a global state that repeats what a stream's state says."""
        view = View((None,) * len(self._plans), ())
        mixed = self._make(replace(effect, stream=None, kind=StateKind.GLOBAL, count=0), view)
        mixed.wire_id = f"{state.wire_id}-again"
        mixed.claims = state.claims
        return mixed

    def _make(self, effect: EmitState, view: View) -> SourceState:
        truth = self._attempt.truth
        scope = LOG_FEED if effect.stream is None else str(effect.stream)
        states = truth.states.setdefault(scope, [])
        claims = tuple(
            None if token is None else plan.claims(token)
            for plan, token in zip(self._plans, view.tokens, strict=True)
        )
        state = SourceState(
            attempt=truth.number,
            scope=scope,
            index=len(states) + 1,
            payload=f"{scope} " + ",".join("-" if t is None else str(t) for t in view.tokens),
            now=self._attempt.env.now,
        )
        state.kind = effect.kind
        state.stream = None if effect.stream is None else self._truth.stream_index[effect.stream]
        state.wire_id = effect.partition_id
        state.inner = tuple((stream, own_id) for stream, _, own_id in effect.inner)
        state.source_count = effect.count
        state.size_bytes = self._size_bytes(state.stream)
        state.claims = tuple(own or () for own in claims)
        state.partitions = view.partitions
        states.append(state)
        self._attempt.world.platform.note(state, claims)
        return state

    def _size_bytes(self, stream: int | None) -> int:
        """Return the size of a state of a stream, or of one that several feeds share."""
        own = None if stream is None else self._attempt.model.streams[stream].state_bytes
        return self._table.state_bytes if own is None else own

    def _tokens(self, effect: EmitState) -> tuple[int | None, ...]:
        """Return per feed the token that a message carries, None where it carries none."""
        if effect.kind is StateKind.STREAM:
            known: dict[object, object] = {effect.stream: effect.payload}
        else:
            known = dict(effect.states) | {None: effect.payload}
        return tuple(cast("int | None", known.get(plan.descriptor)) for plan in self._plans)


class FeedPlan:
    """What one feed has left to read in one attempt, cut into rounds of partitions."""

    def __init__(self, feed: Feed, descriptor: StreamDescriptor | None, base: Intervals) -> None:
        self.feed = feed
        self.descriptor = descriptor
        self.round = 0
        self._claimed = IntervalSet(base)
        self._left = deque(self._claimed.missing(0, feed.total))
        # What the n-th state of this attempt claims, once it has been absorbed.
        self._claims: list[Intervals] = [base]
        self._new: dict[int, Partition] = {}  # those without a message of their state

    def next_round(self, readers: int) -> list[Partition]:
        """Take the partitions of the next round, at most as many as there are readers."""
        self.round += 1
        partitions: list[Partition] = []
        while self._left and len(partitions) < readers:
            low, high = self._left.popleft()
            end = min(high, low + self.feed.partition_records)
            if end < high:
                self._left.appendleft((end, high))
            partitions.append(Partition(self.feed, low=low, high=end))
        return partitions

    def cut(self, partition: Partition, at: int) -> None:
        """End a partition before its planned end. The rest is left for a later round."""
        if at < partition.high:
            self._left.appendleft((at, partition.high))
            partition.high = at

    def new_token(self, partition: Partition) -> int:
        """Return the name of the state that a reader's end makes. What it claims comes later."""
        self._claims.append(())
        token = len(self._claims) - 1
        self._new[token] = partition
        return token

    def absorb(self, token: int) -> Partition | None:
        """Let a state that is new claim its partition and all that was absorbed before."""
        partition = self._new.pop(token, None)
        if partition is None:
            return None
        self._claimed.add(partition.low, partition.high)
        self._claims[token] = self._claimed.intervals()
        return partition

    def claims(self, token: int) -> Intervals:
        """Return what an absorbed state claims."""
        return self._claims[token]
