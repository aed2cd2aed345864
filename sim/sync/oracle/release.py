"""The properties of one release: order, content, counts and the durability of what it claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ckptsim.models.ordering import SendState, StateKind, scope_text
from ckptsim.scenarios.sync import MissingState
from ckptsim.sim.sync.intervals import IntervalSet, first_missing

if TYPE_CHECKING:
    from ckptsim.models.ordering import Count
    from ckptsim.sim.sync.attempt import Attempt
    from ckptsim.sim.sync.intervals import Intervals
    from ckptsim.sim.sync.oracle.truth import Account, Partition, SourceState
    from ckptsim.sim.sync.world import SyncWorld


class ReleaseChecks:
    """Checks of every send against the ground truth of one attempt at a time."""

    def __init__(
        self, world: SyncWorld, violate: Callable[[str, str, SourceState | None], None]
    ) -> None:
        self._world = world
        self._truth = world.truth
        self._goals = world.env.goals
        self._violate = violate
        self._totals: dict[int, tuple[int, int, int]] = {}
        self._next_totals = self._totals  # with the outstanding state
        self._per_stream: bool | None = None

    def begin(self) -> None:
        """Begin an attempt."""
        self._totals = self._next_totals = {}
        self._per_stream = None

    def find(self, attempt: Attempt, effect: SendState) -> SourceState | None:
        """Return the source's state of that scope and index."""
        states = attempt.truth.states.get(scope_text(effect.scope), [])
        index = effect.key.index
        return states[index - 1] if 1 <= index <= len(states) else None

    def skipped(self, attempt: Attempt, state: SourceState) -> list[SourceState]:
        """Return the states between the last one that was returned and one that is sent."""
        states = attempt.truth.states.get(state.scope, [])
        return states[attempt.truth.released.get(state.scope, 0) : state.index - 1]

    # Arrival ----------------------------------------------------------------------------------

    def on_state_read(self, attempt: Attempt, state: SourceState) -> None:
        """Enter the arrival of a state: from now on it may be released when it is ready."""
        state.accepted_step = attempt.truth.next_step()
        state.accounts = self._accounts(attempt, state)
        own = state.partitions
        if any(p.read < p.high - p.low for p in own):
            self._goals.reach("state_before_its_records")
        elif own:
            self._goals.reach("state_after_its_records")
        if any(p.socket != state.socket for p in own):
            self._goals.reach("state_on_other_socket")
        if not state.source_count:
            self._goals.reach("empty_state")

    def _accounts(self, attempt: Attempt, state: SourceState) -> tuple[Account, ...]:
        """Return what the core has to wait for: by id on sockets, by interval on STDIO."""
        truth = attempt.truth
        every = range(len(self._truth.descriptors))
        streams = every if state.stream is None else (state.stream,)
        if not self._truth.on_sockets:
            accounts = tuple(truth.end_interval(stream) for stream in streams)
            if sum(account.read for account in accounts) != state.source_count:
                self._goals.reach("interval_counts_differ")
            return accounts
        keys = {(self._truth.stream_index[stream], own_id): None for stream, own_id in state.inner}
        if state.wire_id is not None:
            keys |= {(stream, state.wire_id): None for stream in streams}
        return tuple(truth.account(stream, wire_id) for stream, wire_id in keys)

    # Release ----------------------------------------------------------------------------------

    def on_send(self, attempt: Attempt, effect: SendState) -> None:
        """Check a release. Enter its beginning."""
        state = self.find(attempt, effect)
        name = f"{scope_text(effect.scope)}/{effect.key.index}"
        if state is None or state.accepted_ns is None:
            says = f"state {name} is sent, which was never received"
            self._violate("releases_are_a_prefix", says, state)
            return
        self._check_order(attempt, state, name)
        self._check_content(effect, state, name)
        self._check_claims(attempt, state, name)
        skipped = [one for before in self.skipped(attempt, state) for one in before.accounts]
        self._check_counts(effect, state, skipped, name)
        if state.tries:
            self._goals.reach("retry_after_failed_send")
        elif self._was_blocked(attempt, state):
            self._goals.reach("release_blocked_by_predecessor")
        state.tries += 1
        state.send_ns = self._world.env.now
        if state.first_send_ns is None:
            state.first_send_ns = state.send_ns

    def _check_order(self, attempt: Attempt, state: SourceState, name: str) -> None:
        released = attempt.truth.released.get(state.scope, 0)
        if state.index <= released:
            self._violate("released_at_most_once", f"state {name} is sent again", state)
        if state.index > released + 1:
            self._violate(
                "releases_without_gaps",
                f"state {name} is sent when {released} is the last that was returned",
                state,
            )
        per_stream = state.stream is not None
        if self._per_stream is not None and self._per_stream is not per_stream:
            self._violate("one_kind_per_attempt", f"state {name} is of the other kind", state)
        self._per_stream = per_stream

    def _check_content(self, effect: SendState, state: SourceState, name: str) -> None:
        same = effect.payload == state.payload and effect.source_count == state.source_count
        if self._truth.on_sockets:
            same = same and effect.key.id == state.wire_id
        if not same:
            self._violate(
                "released_states_are_unchanged",
                f"state {name} is sent as {effect.payload!r} (id {effect.key.id}, count "
                f"{effect.source_count}), was {state.payload!r} (id {state.wire_id}, count "
                f"{state.source_count})",
                state,
            )

    def _check_claims(self, attempt: Attempt, state: SourceState, name: str) -> None:
        for feed, claims in zip(self._truth.feeds, state.claims, strict=True):
            durable = attempt.truth.durable[feed.index]
            if durable.covers_all(claims):
                continue
            low, high = first_missing(durable.missing, claims)
            counted = self._counted(state)
            own = any(p.feed is feed and p.low < high and low < p.high for p in counted)
            repeated = not own and state.kind is not StateKind.STREAM
            self._violate(
                "snapshot_claims_are_durable" if repeated else "no_premature_acknowledgement",
                f"state {name} is sent, but records {low}-{high - 1} of {feed.name}, which it "
                "claims, are not durable",
                state,
            )

    def _counted(self, state: SourceState) -> list[Partition]:
        ids = (state.wire_id, *(own_id for _, own_id in state.inner))
        on_sockets = self._truth.on_sockets
        return [one for one in state.partitions if not on_sockets or one.wire_id in ids]

    def _check_counts(
        self, effect: SendState, state: SourceState, skipped: Sequence[Account], name: str
    ) -> None:
        """Check counts and running totals. skipped: of states that this one represents, too.

        A core takes the counts of those over at an instant of its own.  Where a later level revises
        them, either is right: their sum alone is checked, and later totals build on the sent data.
        """
        accounts = state.accounts
        totals = self._next_totals = self._with([*skipped, *accounts])
        state.settled = _settled(accounts)[:2]
        streams = totals if state.stream is None else (state.stream,)
        found, total = effect.statistics.destination, effect.statistics.total
        told: list[tuple[Count, tuple[int, ...], bool]] = [(found, _settled(accounts), False)]
        revised = {account.stream for account in skipped if account.is_revised}
        whole = tuple(sum(totals[s][part] for s in streams) for part in range(3))
        told.append((total, whole, not revised.isdisjoint(streams)))
        each = {self._truth.stream_index[s]: count for s, count in effect.statistics.per_stream}
        told += [(c, totals.get(s, (0, 0, 0)), s in revised) for s, c in each.items()]
        for stream in sorted(revised):
            own = each.get(stream, total)
            totals[stream] = (own.records, own.rejected, own.size_bytes)
        right = all(_agree(count, true, either=either) for count, true, either in told)
        if self._truth.on_sockets:
            right = right and sum(state.settled) == state.source_count
        for count, true, either in told:
            if count.size_bytes != true[2] and not either:
                says = f"state {name} is sent with {count.size_bytes} committed bytes, "
                self._violate("counts_are_true", f"{says}{true[2]} in truth", state)
        if not right:
            records, rejected = state.settled
            self._violate(
                "counts_are_true",
                f"state {name} is sent with {found.records} + {found.rejected} records, in all "
                f"{total.records} + {total.rejected}; in truth {records} + {rejected}, in all "
                f"{whole[0]} + {whole[1]}; the source counted {state.source_count}",
                state,
            )

    def _with(self, accounts: Iterable[Account]) -> dict[int, tuple[int, int, int]]:
        totals = dict(self._totals)
        for account in accounts:
            records, rejected, size_bytes = totals.get(account.stream, (0, 0, 0))
            own = account.settled
            size_bytes += account.settled_bytes
            totals[account.stream] = (records + own[0], rejected + own[1], size_bytes)
        return totals

    def on_sent(self, attempt: Attempt, effect: SendState) -> SourceState | None:
        """Enter that a send has returned. Return the state."""
        state = self.find(attempt, effect)
        if state is None:
            return None
        state.acknowledged_ns = self._world.env.now
        self._totals = self._next_totals
        before = list(attempt.truth.acknowledged)
        attempt.truth.acknowledge(state)
        self._check_growth(attempt, state, before)
        return state

    def _check_growth(self, attempt: Attempt, state: SourceState, before: list[Intervals]) -> None:
        """Check that a returned state claims what those before it did, or an attempt before."""
        if self._world.model.source.missing_state is MissingState.FINISHED:
            return  # what such a source takes for read no one has claimed
        after = attempt.truth.acknowledged
        for feed, earlier, now in zip(self._truth.feeds, before, after, strict=True):
            if not IntervalSet(now).covers_all(earlier):
                says = f"state {state.scope}/{state.index} claims less of {feed.name} than before"
                self._violate("resume_is_monotone", says, state)

    # Liveness ---------------------------------------------------------------------------------

    def left_behind(self, attempt: Attempt, requested_step: int) -> SourceState | None:
        """Return a state that was ready when a flush was asked for and has not been sent."""
        truth = attempt.truth
        for scope, states in truth.states.items():
            released = truth.released.get(scope, 0)
            if released < len(states) and self._ready(states[released], requested_step):
                return states[released]
        return None

    def _ready(self, state: SourceState, step: int) -> bool:
        """Return whether a state had arrived, with all that it has to wait for, at that step."""
        if state.accepted_ns is None or state.accepted_step > step:
            return False
        accounts = state.accounts
        if any(a.reported != a.read or a.reported_step > step for a in accounts):
            return False
        if not self._truth.on_sockets:
            return True
        return sum(account.reported for account in accounts) == state.source_count

    def _was_blocked(self, attempt: Attempt, state: SourceState) -> bool:
        if state.index < 2:
            return False
        before = attempt.truth.states[state.scope][state.index - 2].acknowledged_ns
        durable = max((p.last_durable_ns for p in state.partitions), default=0)
        return before is not None and max(durable, state.accepted_ns or 0) < before


def _settled(accounts: Iterable[Account]) -> tuple[int, int, int]:
    """Return committed and rejected records of accounts, and the bytes of the committed ones."""
    own = [(*account.settled, account.settled_bytes) for account in accounts]
    records, rejected, size_bytes = (sum(part) for part in zip((0, 0, 0), *own, strict=True))
    return records, rejected, size_bytes


def _agree(told: Count, true: tuple[int, ...], *, either: bool) -> bool:
    """Return whether counts of records agree. either: in sum, however many are rejected."""
    if either:
        return told.records + told.rejected == true[0] + true[1]
    return (told.records, told.rejected) == true[:2]
