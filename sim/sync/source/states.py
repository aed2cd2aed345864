"""From what the source core emits to state messages, entered into the ground truth."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never, cast

from ckptsim.models.ordering import StateKind, StreamDescriptor
from ckptsim.models.ordering.source import EmitState
from ckptsim.scenarios.sync import CheckpointLock, MixedKind, RepeatIndex, RepeatState
from ckptsim.sim.sync.intervals import Intervals, IntervalSet
from ckptsim.sim.sync.oracle.truth import LOG_FEED, Partition, SourceState
from ckptsim.sim.sync.socket import RecordPacket

if TYPE_CHECKING:
    from ckptsim.sim.sync.attempt import Attempt
    from ckptsim.sim.sync.faults import StateFault
    from ckptsim.sim.sync.oracle.truth import Feed


@dataclass(frozen=True, slots=True)
class View:
    """What a message says per feed: token and new partitions. unread: of readers at work."""

    tokens: tuple[int | None, ...]
    partitions: tuple[Partition, ...]
    unread: tuple[Partition, ...] = ()


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

    def packet(self, partition: Partition, low: int, high: int) -> RecordPacket:
        """Make a packet of a partition's records, and enter it into the ground truth."""
        stream = self._truth.stream_at(partition.feed, low)
        size = (high - low) * self._attempt.model.streams[stream].record_bytes
        packet = RecordPacket(partition, stream, low=low, high=high, size_bytes=size)
        partition.produced += packet.count
        self._attempt.world.properties.records.on_produced(self._attempt, packet)
        return packet

    def view(self, effect: EmitState) -> View:
        """Fix what a message says: absorb the news in it, repeat everything that is not."""
        tokens = self._tokens(effect)
        told = [
            plan.absorb(token)
            for plan, token in zip(self._plans, tokens, strict=True)
            if token is not None
        ]
        new = [one for one in told if one is not None]
        if len(new) < len(told):
            self._attempt.env.goals.reach("stale_entry_repeated")
        unread = tuple(partition for _, passed in new for partition in passed)
        return View(tokens, tuple(partition for partition, _ in new), unread)

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
        view = View((None,) * len(self._plans), ())
        told = replace(effect, stream=None, kind=StateKind.GLOBAL, count=0, index=None)
        mixed = self._make(told, view)
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
        platform = self._attempt.world.platform
        payload = f"{scope} " + ",".join("-" if t is None else str(t) for t in view.tokens)
        if platform.has_other(truth.number, scope, payload, effect.count):
            payload += f" again at {len(states) + 1}"
        state = SourceState(
            attempt=truth.number,
            scope=scope,
            index=len(states) + 1,
            payload=payload,
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
        state.unread = view.unread
        # Without the lock a message gets its index only now, after what it says.
        if effect.index is not None and self._table.checkpoint_lock is CheckpointLock.LOCKED:
            state.wire_index = effect.index
        states.append(state)
        platform.note(state, claims)
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
        self._base = base
        self._claimed = IntervalSet(base)
        self._left = deque(self._claimed.missing(0, feed.total))
        self._planned: list[Partition] = []
        self._position = 0  # how many of these the states so far have claimed
        # What the n-th state of this attempt claims, once a message has told it.
        self._claims: list[Intervals] = [base]
        self._new: dict[int, tuple[Partition, int]] = {}  # not told yet, with their positions

    @property
    def exhausted(self) -> bool:
        """Whether all partitions have been planned."""
        return not self._left

    def next_round(self, readers: int) -> list[Partition]:
        """Take the partitions of the next round, at most as many as there are readers."""
        self.round += 1
        partitions: list[Partition] = []
        while self._left and len(partitions) < readers:
            partitions.append(self.next_partition())
        return partitions

    def next_partition(self) -> Partition:
        """Take the next partition."""
        low, high = self._left.popleft()
        end = min(high, low + self.feed.partition_records)
        if end < high:
            self._left.appendleft((end, high))
        partition = Partition(self.feed, low=low, high=end)
        self._planned.append(partition)
        partition.place = len(self._planned)
        return partition

    def cut(self, partition: Partition, at: int) -> bool:
        """End a partition before its planned end. The rest is left.  Return whether one is."""
        if at == partition.high:
            return False
        self._left.appendleft((at, partition.high))
        partition.high = at
        return True

    def new_token(self, partition: Partition) -> int:
        """Return the name of the state that a reader's end makes. What it claims comes later."""
        self._claims.append(())
        token = len(self._claims) - 1
        self._new[token] = (partition, partition.place or len(self._planned))
        return token

    def absorb(self, token: int) -> tuple[Partition, tuple[Partition, ...]] | None:
        """Let a new state claim its records. Return its partition and the unread ones."""
        found = self._new.pop(token, None)
        if found is None:
            return None
        partition, position = found
        if position < self._position:  # it was overtaken by a later position
            before = IntervalSet(self._base)
            for one in self._planned[:position]:
                before.add(one.low, one.high)
            self._claims[token] = before.intervals()
            return partition, ()
        passed = self._planned[self._position : position]
        for one in passed:
            self._claimed.add(one.low, one.high)
        self._position = position
        self._claims[token] = self._claimed.intervals()
        return partition, tuple(one for one in passed if one.produced < one.high - one.low)

    def claims(self, token: int) -> Intervals:
        """Return what a state claims that was told."""
        return self._claims[token]
