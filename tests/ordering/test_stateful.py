"""The core alone against a model that is as simple as can be: the log of all that was accepted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ckptsim.models.core import ProtocolError
from ckptsim.models.ordering import (
    CompleteRead,
    Effect,
    Event,
    FailSync,
    FinishRequested,
    Level,
    Medium,
    OrderingCore,
    OrderingParameters,
    Refusal,
    Scope,
    SendState,
    StateKind,
    StateRead,
    StreamDescriptor,
    drive,
)
from tests.mutants.ordering import MUTANTS
from tests.ordering.helpers import FLUSH, A, B, durable, failed, read, sent

STREAMS = (A, B)
IDS = ("p", "q", "r")
INDEXES = st.integers(0, 4)
COUNTS = st.integers(0, 3)


@dataclass
class Log:
    """Everything that was accepted, and nothing derived from it."""

    read: Counter[tuple[StreamDescriptor, str]] = field(default_factory=Counter)
    reported: Counter[tuple[StreamDescriptor, str, Level]] = field(default_factory=Counter)
    states: list[tuple[Scope, int, str, int]] = field(default_factory=list)
    released: list[tuple[Scope, int]] = field(default_factory=list)
    completed: list[StreamDescriptor] = field(default_factory=list)

    def accounted(self, stream: StreamDescriptor, identity: str) -> int:
        return max(self.reported[stream, identity, level] for level in Level)

    def next_index(self, scope: Scope) -> int:
        return 1 + sum(1 for released, _ in self.released if released == scope)

    def ready(self, scope: Scope) -> tuple[Scope, int, str, int] | None:
        """Return the state of the scope that may go now."""
        for state in self.states:
            if state[:2] == (scope, self.next_index(scope)) and self.covered(state):
                return state
        return None

    def covered(self, state: tuple[Scope, int, str, int]) -> bool:
        scope, _, identity, count = state
        streams = STREAMS if scope is None else (scope,)
        durable_now = sum(self.accounted(stream, identity) for stream in streams)
        return durable_now == count and all(
            self.accounted(stream, identity) == self.read[stream, identity] for stream in streams
        )

    def refusal(self, scope: Scope, index: int, identity: str) -> Refusal | None:
        kinds = {found is None for found, *_ in self.states}
        if kinds and (scope is None) not in kinds:
            return Refusal.MIXED_STATE_TYPES
        mine = [state for state in self.states if state[0] == scope]
        pending = [state[1] for state in mine if (scope, state[1]) not in self.released]
        if index < 1:
            return Refusal.INVALID_INDEX
        if index in pending:
            return Refusal.DUPLICATE_INDEX
        if index < self.next_index(scope):
            return Refusal.STALE_INDEX
        if identity in [state[2] for state in mine]:
            return Refusal.DUPLICATE_ID
        return None

    def pending_count(self) -> int:
        return len(self.states) - len(self.released)


class SocketMachine(RuleBasedStateMachine):
    """Rules are events. The log predicts refusals, releases and verdicts."""

    make: Callable[[OrderingParameters], Any] = OrderingCore

    @initialize(whole=st.booleans())
    def start(self, whole: bool) -> None:
        parameters = OrderingParameters(medium=Medium.SOCKET, streams=STREAMS)
        self.core = self.make(parameters)
        self.log = Log()
        self.outstanding: SendState | None = None
        # Everything that was ready when a flush was requested during a send: it must have gone when
        # the sends come to rest, unless one fails after that or records change the data ready.
        self.must_go: list[tuple[Scope, int]] = []
        # Mostly one kind of state, so that runs get somewhere. The other kind is refused.
        self.usual: tuple[Scope, ...] = (None,) if whole else STREAMS

    def expect(self, event: Event, refusal: Refusal | None) -> list[Effect]:
        """Step the core. It must refuse exactly when the log says so, and then not change."""
        before = self.core.observe()
        found: str | None = None
        effects: list[Effect] = []
        try:
            effects = self.core.step(event)
        except ProtocolError as error:
            found = error.kind
        assert found == refusal
        assert found is None or self.core.observe() == before
        return effects

    @rule(
        stream=st.sampled_from(STREAMS),
        identity=st.sampled_from(IDS),
        count=COUNTS,
        late=st.sampled_from((False,) * 7 + (True,)),
    )
    def records_read(self, stream: StreamDescriptor, identity: str, count: int, late: bool) -> None:
        """Records come, seldom after their state: that makes its count wrong for good."""
        if not late and any(state[2] == identity for state in self.log.states):
            return
        self.expect(read(stream, identity, count), None)
        self.log.read[stream, identity] += count
        self.must_go = []

    @rule(
        stream=st.sampled_from(STREAMS),
        identity=st.sampled_from(IDS),
        count=COUNTS,
        rejected=st.sampled_from((0, 0, 0, 1)),
        level=st.sampled_from(Level),
    )
    def records_durable(
        self, stream: StreamDescriptor, identity: str, count: int, rejected: int, level: Level
    ) -> None:
        portion = (stream, identity)
        total = self.log.reported[(*portion, level)] + count + rejected
        refusal = Refusal.OVER_COUNT if total > self.log.read[portion] else None
        self.expect(durable(stream, identity, count, rejected, level), refusal)
        if refusal is None:
            self.log.reported[(*portion, level)] = total
            self.must_go = []

    @rule(
        stream=st.sampled_from(STREAMS),
        identity=st.sampled_from(IDS),
        rejected=st.integers(0, 1),
        level=st.sampled_from(Level),
        half=st.booleans(),
    )
    def most_durable(
        self, stream: StreamDescriptor, identity: str, rejected: int, level: Level, half: bool
    ) -> None:
        """All records of an id, or half of them, reach a level. Some may be rejected."""
        portion = (stream, identity)
        missing = self.log.read[portion] - self.log.reported[(*portion, level)]
        missing = missing // 2 if half else missing
        rejected = min(rejected, missing)
        self.records_durable(stream, identity, missing - rejected, rejected, level)

    @rule(
        pick=st.integers(0, 7),
        rejected=st.integers(0, 1),
        level=st.sampled_from(Level),
        half=st.booleans(),
    )
    def most_of_a_state_durable(self, pick: int, rejected: int, level: Level, half: bool) -> None:
        """All or half of the records of some unsent state reach a level."""
        unsent = [s for s in self.log.states if s[:2] not in self.log.released]
        for scope, _, identity, _ in unsent[pick % max(1, len(unsent)) :][:1]:
            for stream in STREAMS if scope is None else (scope,):
                self.most_durable(stream, identity, rejected, level, half)

    @rule(
        pick=st.integers(0, 1),
        identity=st.sampled_from(IDS),
        wrong=st.sampled_from((0, 0, 0, -1, 1)),
    )
    def next_state_read(self, pick: int, identity: str, wrong: int) -> None:
        """The state that the scope waits for arrives, mostly with the right count."""
        scope = self.usual[pick % len(self.usual)]
        index = self.log.next_index(scope)
        self.state_read(pick, other=False, index=index, identity=identity, wrong=wrong)

    @rule(
        pick=st.integers(0, 1),
        identity=st.sampled_from(IDS),
        count=COUNTS,
        rejected=st.integers(0, 1),
        level=st.sampled_from(Level),
        half=st.booleans(),
        wrong=st.sampled_from((0, 0, 0, -1, 1)),
    )
    def interval(
        self,
        *,
        pick: int,
        identity: str,
        count: int,
        rejected: int,
        level: Level,
        half: bool,
        wrong: int,
    ) -> None:
        """Records, their state and what became of them come together."""
        self.records_read(STREAMS[pick], identity, count, late=False)
        self.next_state_read(pick, identity, wrong)
        self.most_durable(STREAMS[pick], identity, rejected, level, half)

    @rule(
        pick=st.integers(0, 1),
        other=st.sampled_from((False,) * 9 + (True,)),
        index=INDEXES,
        identity=st.sampled_from(IDS),
        wrong=st.sampled_from((0, 0, 0, 1)),
    )
    def state_read(self, pick: int, other: bool, index: int, identity: str, wrong: int) -> None:
        scopes = ((None,) if self.usual == STREAMS else STREAMS) if other else self.usual
        scope = scopes[pick % len(scopes)]
        streams = STREAMS if scope is None else (scope,)
        count = wrong + sum(self.log.read[stream, identity] for stream in streams)
        refusal = self.log.refusal(scope, index, identity)
        kind = StateKind.GLOBAL if scope is None else StateKind.STREAM
        event = StateRead(
            kind=kind,
            stream=scope,
            index=index,
            id=identity,
            source_count=count,
            payload=(scope, index),
        )
        self.expect(event, refusal)
        if refusal is None:
            self.log.states.append((scope, index, identity, count))

    @precondition(lambda self: self.outstanding is None)
    @rule(fails_after=st.none() | st.integers(0, 2))
    def flush_at_once(self, fails_after: int | None) -> None:
        """A whole pass with sends that return at once. One of them may fail."""
        sends: list[SendState] = []

        def send(effect: SendState) -> bool:
            ok = fails_after is None or len(sends) < fails_after
            if ok:
                self.note(effect)
                sends.append(effect)
            return ok

        assert drive(self.core, FLUSH, send) == []
        if fails_after is None:
            assert all(self.log.ready(scope) is None for scope in (*STREAMS, None))

    @precondition(lambda self: self.outstanding is None)
    @rule()
    def flush_slowly(self) -> None:
        self.must_go = []
        self.take(self.core.step(FLUSH))
        ready = any(self.log.ready(scope) is not None for scope in (*STREAMS, None))
        assert (self.outstanding is not None) == ready

    @precondition(lambda self: self.outstanding is not None)
    @rule(ok=st.booleans(), flush_before=st.booleans())
    def send_returns(self, ok: bool, flush_before: bool) -> None:
        effect = self.outstanding
        assert effect is not None
        if flush_before:
            scopes = (*STREAMS, None)
            self.must_go = [state[:2] for s in scopes if (state := self.log.ready(s)) is not None]
            assert self.core.step(FLUSH) == []
        elif not ok:
            self.must_go = []
        self.outstanding = None
        if ok:
            self.note(effect)
        self.take(self.core.step(sent(effect) if ok else failed(effect)))
        if self.outstanding is None:
            assert set(self.must_go) <= set(self.log.released)

    @rule(stream=st.sampled_from(STREAMS))
    def complete(self, stream: StreamDescriptor) -> None:
        self.expect(CompleteRead(stream=stream), None)
        self.log.completed.append(stream)

    @precondition(lambda self: self.outstanding is None)
    @rule()
    def finish(self) -> None:
        def send(effect: SendState) -> bool:
            self.note(effect)
            return True

        (verdict,) = drive(self.core, FinishRequested(), send)
        if set(self.log.completed) != set(STREAMS):
            assert isinstance(verdict, FailSync)
            assert verdict.kind is Refusal.INCOMPLETE_STREAMS
        elif self.log.pending_count():
            assert isinstance(verdict, FailSync)
            assert verdict.kind is Refusal.UNFLUSHED_STATES
            assert sum(blocked.pending for blocked in verdict.blocked) == self.log.pending_count()
        else:
            assert not isinstance(verdict, FailSync)

    def take(self, effects: list[Effect]) -> None:
        """Keep the one send that may come of a step as the outstanding one."""
        for effect in effects:
            assert isinstance(effect, SendState)
            assert self.outstanding is None
            assert self.log.ready(effect.scope) is not None
            self.outstanding = effect

    def note(self, effect: SendState) -> None:
        """Compare a send with what the log says must go, and note it as returned."""
        scope = effect.scope
        released = (scope, self.log.next_index(scope))
        assert effect.payload == (scope, effect.key.index) == released
        self.log.released.append(released)

    @invariant()
    def nothing_is_lost(self) -> None:
        if not hasattr(self, "log"):
            return
        assert self.core.pending_count() == self.log.pending_count()
        for stream in STREAMS:
            mine = sum(n for (found, _), n in self.log.read.items() if found == stream)
            assert self.core.records_read(stream) == mine
        assert len(self.core.blocked()) == len(
            {s[0] for s in self.log.states if s[:2] not in self.log.released}
        )


EFFORT = settings(
    max_examples=400, stateful_step_count=50, deadline=None, derandomize=True, database=None
)
TestSocketMachine = SocketMachine.TestCase
TestSocketMachine.settings = EFFORT


@pytest.mark.parametrize(
    "mutant",
    [
        "no_ordering",
        "gaps_tolerated",
        "arrival_order",
        "no_source_count",
        "at_least",
        "rejects_ignored",
        "levels_added",
        "cursor_before_send",
        "kinds_mixed",
        "early_return",
        "flush_dropped",
        "removed_before_send",
        "message_replaced",
        "stale_accepted",
    ],
)
def test_the_machine_tells_a_mutant_from_the_core(mutant: str) -> None:
    """The same machine, at the same effort, finds a difference in each mutant.

    `no_local_check` is missing: on sockets the source's count hides it except for rare wrong
    counts.
    """

    class MutantMachine(SocketMachine):
        make = staticmethod(MUTANTS[mutant].factory)

    quick = settings(EFFORT, phases=(Phase.generate,), print_blob=False, report_multiple_bugs=False)
    with pytest.raises(BaseException) as found:  # noqa: PT011 - whatever the machine raises
        run_state_machine_as_test(MutantMachine, settings=quick)
    assert not isinstance(found.value, KeyboardInterrupt)
