"""The properties of the ordering protocol, checked against the ground truth as things happen.

The world calls a hook at every relevant event.  A hook compares what the core does with the account
of every record (`sim/sync/truth`), never with the core's own counters.  A run continues after a
violation, so that it shows what a broken rule loses in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from ckptsim.models.ordering import FailSync, Refusal, SendState, scope_text
from ckptsim.scenarios.sync import DECLINED, PROPERTIES
from ckptsim.sim.story import instant
from ckptsim.sim.sync.intervals import IntervalSet, shown
from ckptsim.sim.sync.oracle.ends import EndChecks
from ckptsim.sim.sync.oracle.records import RecordChecks, ReplayChecks
from ckptsim.sim.sync.oracle.release import ReleaseChecks
from ckptsim.sim.violations import ViolationLog, record_violation

if TYPE_CHECKING:
    from ckptsim.sim.rows import ViolationRow
    from ckptsim.sim.sync.attempt import Attempt
    from ckptsim.sim.sync.oracle.truth import Partition, SourceState, Truth
    from ckptsim.sim.sync.socket import Socket
    from ckptsim.sim.sync.world import SyncWorld


# Assumption: a core that has violated so much repeats itself without an end.
VIOLATIONS_MAX = 10_000


class OrderingProperties:
    """All properties of one run, by `names`. `violations` has the first of each."""

    names: Collection[str] = PROPERTIES

    def __init__(self, world: SyncWorld) -> None:
        self.violations: list[ViolationRow] = []
        declined = DECLINED[world.model.destination.design]
        self.violation_log = ViolationLog(declined.union(world.spec.ignore))
        self._world = world
        self._env = world.env
        self._truth = world.truth
        self.releases = ReleaseChecks(world, self.violate)
        self.ends = EndChecks(world, self.violate)
        self.readers = ReaderChecks(world, self.violate)
        self.records = RecordChecks(world, self.violate)
        self.replays = ReplayChecks(world, self.violate)
        self._requested_step = 0
        self._requested_during_send = False
        self._failed_sends = 0  # in a row

    def violate(self, name: str, says: str, state: SourceState | None = None) -> None:
        """Note that a property does not hold, the first time with the story of a state."""
        if name not in self.names:
            raise KeyError(name)
        if self.violation_log.is_first(name):
            story = state_story(self._truth, state) if state is not None else []
            row = self._world.spec.violation(
                name,
                self._env.now,
                says,
                story=story,
                scope=None if state is None else state.scope,
                index=None if state is None else state.index,
            )
            self.violations.append(row)
            record_violation(self._env, self._world.entity, name, says)
        elif self.violation_log.total >= VIOLATIONS_MAX:
            self._world.stop(f"violated: {name}")

    @property
    def may_hold_back(self) -> bool:
        """Whether it is declined that the data ready is sent: other rules say the same again."""
        return "every_state_is_released" in self.violation_log.ignored

    def on_attempt_started(self, attempt: Attempt) -> None:
        """Check what an attempt resumes from."""
        self._requested_step = 0
        self._requested_during_send = False
        self._failed_sends = 0
        self.releases.begin()
        self.readers.begin()
        self.records.begin()
        self.replays.begin()
        self.ends.on_attempt_started(attempt)

    # States -----------------------------------------------------------------------------------

    def on_send(self, attempt: Attempt, effect: SendState) -> None:
        """Check a state that the core has released, before it is sent."""
        self.ends.check_memory(attempt)
        self.releases.on_send(attempt, effect)

    def on_stored(self, attempt: Attempt, effect: SendState, *, kept: bool) -> None:
        """Enter whether the platform keeps a state. Of one that it does not all is read again."""
        state = self.releases.find(attempt, effect)
        if kept and effect.statistics.destination.accounted:
            attempt.truth.got_data = True
        elif state is not None and not kept:
            state.refused = True

    def on_sent(self, attempt: Attempt, effect: SendState) -> SourceState | None:
        """Enter that a send has returned."""
        self._failed_sends = 0
        return self.releases.on_sent(attempt, effect)

    def before_failed_send(self, attempt: Attempt, effect: SendState) -> tuple[int, int | None]:
        """Return all that is unsent and its lowest index, which a failed send must not change."""
        core = attempt.destination.core
        return core.pending_count(), core.head(effect.scope)

    def on_send_failed(
        self, attempt: Attempt, effect: SendState, before: tuple[int, int | None]
    ) -> None:
        """Check that a failed send has changed nothing but the memory, which is free after it."""
        self._failed_sends += 1
        state, after = self.releases.find(attempt, effect), self.before_failed_send(attempt, effect)
        if state is not None and state.reserved:
            says = f"state {scope_text(effect.scope)}/{effect.key.index} holds memory behind a send"
            self.violate("run_ends_with_a_reason", says, state)
        if after != before and not self._is_superseded(before, after):
            self.violate(
                "failed_send_changes_nothing",
                f"a failed send of {scope_text(effect.scope)}/{effect.key.index} changed (unsent, "
                f"lowest unsent index) from {before} to {after}",
                state,
            )

    def _is_superseded(self, before: tuple[int, int | None], after: tuple[int, int | None]) -> bool:
        """Return whether a later state may have taken the place of the one that was not sent."""
        if "releases_without_gaps" not in self.violation_log.ignored:
            return False
        return 0 < after[0] < before[0] and (after[1] or 0) >= (before[1] or 0)

    def on_sends_given_up(self, attempt: Attempt) -> None:
        """Check that so many sends in a row have failed as an attempt may have."""
        may = attempt.model.destination.send_tries
        if self._failed_sends != may:
            says = (
                f"the attempt gives up after {self._failed_sends} failed sends in a row, not {may}"
            )
            self.violate("run_ends_with_a_reason", says)

    # Flushes ----------------------------------------------------------------------------------

    def on_flush_requested(self, attempt: Attempt) -> None:
        """Enter a request: the data ready now must be sent by the flush that follows."""
        self._requested_step = attempt.truth.next_step()
        if attempt.destination.sender.busy:
            self._requested_during_send = True
            self._env.goals.reach("flush_requested_during_send")

    def on_flushed(self, attempt: Attempt) -> None:
        """Check, when no send is under way, that nothing was left that was ready when asked."""
        if attempt.over or attempt.destination.sender.busy or self.may_hold_back:
            return
        state = self.releases.left_behind(attempt, self._requested_step)
        during, self._requested_during_send = self._requested_during_send, False
        if state is not None:
            self.violate(
                "no_flush_request_lost" if during else "every_state_is_released",
                f"state {state.scope}/{state.index} was ready when a flush was asked for, and the "
                "flush has ended without it",
                state,
            )

    # Ends -------------------------------------------------------------------------------------

    def on_complete(self, attempt: Attempt) -> None:
        """Check the success of an attempt."""
        self.ends.on_complete(attempt)
        self._on_rest(attempt)

    def on_fail(self, attempt: Attempt, effect: FailSync) -> None:
        """Check the verdict of a failed attempt."""
        self.ends.on_fail(attempt, effect)
        if effect.kind is Refusal.UNFLUSHED_STATES:
            self._on_rest(attempt)

    def _on_rest(self, attempt: Attempt) -> None:
        """Compare with other interleavings, unless the core may release later in any of them."""
        if not self.may_hold_back:
            self.replays.on_rest(attempt)

    def on_silence(self, attempt: Attempt, sentence: str) -> None:
        """Check, when nothing has moved for long, what it was."""
        if self.may_hold_back and attempt.destination.memory.waiting:
            self._env.goals.reach("silence")
            self._world.faults.note_strike()
            return
        self.ends.on_silence(attempt, sentence)

    def on_run_ended(self) -> None:
        """Check the whole run."""
        self.ends.on_run_ended()


_OWN = "readers_have_their_own"


class ReaderChecks:
    """How many readers of an attempt are at work, and on which sockets."""

    def __init__(self, world: SyncWorld, violate: Callable[[str, str], None]) -> None:
        self._on_sockets = world.truth.on_sockets
        self._violate = violate
        self._busy: dict[int, None] = {}  # sockets
        self._count = 0

    def begin(self) -> None:
        """Begin an attempt, in which no one reads yet."""
        self._busy.clear()
        self._count = 0

    def on_taken(self, attempt: Attempt, socket: Socket) -> None:
        """Check that who begins has a connection and, on sockets, a socket to itself."""
        self._count += 1
        most = attempt.model.source.connections
        if self._count > most:
            self._violate(_OWN, f"{self._count} read at once, with {most} connections")
        if self._on_sockets and socket.index in self._busy:
            self._violate(_OWN, f"two write to socket {socket.index} at once")
        self._busy[socket.index] = None

    def on_released(self, socket: Socket) -> None:
        """Note that one has ended."""
        self._count -= 1
        self._busy.pop(socket.index, None)


def state_story(truth: Truth, state: SourceState) -> list[str]:
    """Return one line per thing that happened to a state and to the records it claims."""
    name = f"{state.scope}/{state.index}"
    entries: list[tuple[int, str]] = [
        (
            state.triggered_ns,
            f"the source makes state {name} (count {state.source_count}){_ahead(state)}",
        )
    ]
    for partition in state.partitions:
        entries += _partition(partition)
    if state.accepted_ns is not None:
        entries.append((state.accepted_ns, f"state {name} is read from socket[{state.socket}]"))
    before = truth.attempts[-1].states.get(state.scope, [])[: state.index - 1]
    if before and before[-1].acknowledged_ns is not None:
        entries.append((before[-1].acknowledged_ns, f"its predecessor {before[-1].index} is sent"))
    elif before:
        entries.append((state.triggered_ns, f"its predecessor {before[-1].index} is not yet sent"))
    if state.send_ns is not None:
        entries.append((state.send_ns, f"state {name} is sent, try {state.tries}"))
    if state.acknowledged_ns is not None:
        entries.append((state.acknowledged_ns, f"the send of state {name} returns"))
    entries.sort(key=lambda entry: entry[0])
    return [f"{instant(at_ns):>14}  {text}" for at_ns, text in entries]


def _ahead(state: SourceState) -> str:
    """Say what a state claims that was still being read when it was made, as a relative clause."""
    feeds = {one.feed.index: (one.feed.name, IntervalSet()) for one in state.unread}
    for one in state.unread:
        feeds[one.feed.index][1].add(one.low, one.high)
    found = [f"{shown(open_.intervals())} of {name}" for name, open_ in feeds.values()]
    return (
        f", which claims records {' and '.join(found)} that are still being read" if found else ""
    )


def _partition(partition: Partition) -> list[tuple[int, str]]:
    size = partition.high - partition.low
    which = f"records {shown(((partition.low, partition.high),))} of {partition.feed.name}"
    which += f" (id {partition.wire_id}, socket[{partition.socket}])"
    entries = [(partition.started_ns, f"a reader begins {which}")]
    if partition.read:
        entries.append(
            (partition.last_read_ns, f"{partition.read} of {size} of {which} have been read")
        )
    if partition.durable:
        entries.append(
            (partition.last_durable_ns, f"{partition.durable} of {size} of {which} are durable")
        )
    return entries
