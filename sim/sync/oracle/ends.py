"""The properties of beginnings and ends: of streams, of attempts and of the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ckptsim.models.ordering import EndStream, FailSync, OrderingCore, Refusal
from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.sync import Levels, Outcome
from ckptsim.sim.sync.intervals import IntervalSet, first_missing

if TYPE_CHECKING:
    from ckptsim.sim.sync.attempt import Attempt
    from ckptsim.sim.sync.oracle.truth import SourceState
    from ckptsim.sim.sync.world import SyncWorld


class EndChecks:
    """Checks of what begins and ends."""

    def __init__(
        self, world: SyncWorld, violate: Callable[[str, str, SourceState | None], None]
    ) -> None:
        self._world = world
        self._truth = world.truth
        self._of_state = violate

    def _violate(self, name: str, says: str, state: SourceState | None = None) -> None:
        self._of_state(name, says, state)

    def on_attempt_started(self, attempt: Attempt) -> None:
        """Check that the skipped part is durable, and that all that was returned is skipped."""
        truth = attempt.truth
        resume = self._world.platform.resume
        for feed, base, known in zip(self._truth.feeds, truth.base, resume, strict=True):
            stored = self._truth.stored[feed.index]
            if known is not None and not stored.covers_all(base):
                low, high = first_missing(stored.missing, base)
                says, state = "", self._truth.kept_claim(feed, low)
                if state is not None and state.unread:  # its source claimed too much
                    says = f": state {state.scope}/{state.index} claims records {low}-{high - 1}"
                self._violate(
                    "no_record_lost",
                    f"attempt {truth.number} skips records of {feed.name} that are not durable"
                    f"{says}",
                    state if says else None,
                )
            if truth.number > 1:
                earlier = self._truth.attempts[-2].acknowledged[feed.index]
                if not IntervalSet(base).covers_all(earlier):
                    self._violate(
                        "resume_is_monotone",
                        f"attempt {truth.number} reads records of {feed.name} again that were "
                        "acknowledged in the attempt before",
                    )

    def on_stream_ended(self, attempt: Attempt, effect: EndStream) -> None:
        """Check that a stream ends after its last record, with the right number of them."""
        stream = self._truth.stream_index[effect.stream]
        read = attempt.truth.read.get(stream, 0)
        still_open = attempt.destination.open_sockets
        early = self._truth.on_sockets and still_open
        if early or effect.records_read != read:
            self._violate(
                "closing_is_orderly",
                f"stream {effect.stream} was ended with {effect.records_read} records when {read} "
                f"had been read and {still_open} sockets were open",
            )

    def on_complete(self, attempt: Attempt) -> None:
        """Check the success of an attempt."""
        lost = attempt.source.crashed  # with states that it had made and not written
        for states in attempt.truth.states.values():
            for state in states:
                if state.acknowledged_ns is None and not (lost and state.accepted_ns is None):
                    self._violate(
                        "every_state_is_released",
                        f"the attempt succeeded without state {state.scope}/{state.index}",
                        state,
                    )
        scopes = self._truth.scopes
        missing = [name for name in scopes if name not in attempt.truth.completed]
        if missing or attempt.destination.open_sockets or not attempt.destination.uploader.idle:
            self._violate(
                "closing_is_orderly",
                f"the attempt succeeded before its end; without COMPLETE: {missing or 'none'}",
            )
        for partition in attempt.truth.partitions:
            if not partition.produced == partition.read == partition.durable and not lost:
                self._violate(
                    "closing_is_orderly",
                    f"the attempt succeeded with records of {partition.feed.name} under way: "
                    f"{partition.produced} sent, {partition.read} read, "
                    f"{partition.durable} durable",
                )
        self._check_counters(attempt)
        if attempt.destination.completing:
            says = f"the attempt succeeded before {attempt.destination.completing} batches are "
            self._violate("closing_is_orderly", f"{says}reported as complete")
        reserved = attempt.destination.memory.used_bytes
        if reserved:
            says = f"the attempt succeeded with {reserved} bytes reserved for states"
            self._violate("closing_is_orderly", says)
        if attempt.destination.awaits_timer:
            says = "the attempt succeeded and left the timer of its end set"
            self._violate("closing_is_orderly", says)

    def _check_counters(self, attempt: Attempt) -> None:
        """Check the memory of our core. No other is asked for it."""
        core = attempt.destination.core
        if not isinstance(core, OrderingCore):
            return
        kept = self._world.parameters.released_ids_kept
        for stream in core.observe().streams:
            if len(stream.ids) > kept:
                self._violate(
                    "no_counters_left",
                    f"{len(stream.ids)} ids of {stream.stream} have counters, {kept} may",
                )

    def on_fail(self, attempt: Attempt, effect: FailSync) -> None:
        """Check the failure of an attempt: it must be one, and name the content of the way."""
        unsent = any(
            state.accepted_ns is not None and state.acknowledged_ns is None
            for states in attempt.truth.states.values()
            for state in states
        )
        true = {
            Refusal.INCOMPLETE_STREAMS: bool(effect.incomplete),
            Refusal.UNFLUSHED_STATES: bool(effect.blocked) and unsent,
            Refusal.SEND_FAILED: unsent,
        }
        if not true.get(effect.kind, False):
            self._violate(
                "run_ends_with_a_reason", f"the attempt failed without a true reason: {effect}"
            )
        elif effect.kind is Refusal.SEND_FAILED and attempt.destination.awaits_timer:
            says = "the attempt ends for a send that failed before the wait for its end was over"
            self._violate("run_ends_with_a_reason", says)
        elif effect.kind is Refusal.UNFLUSHED_STATES and not self._is_explained(attempt):
            says = f"the attempt ends with unsent states, and nothing is under way: {effect}"
            self._violate("run_ends_with_a_reason", says)

    def on_attempt_ended(self, attempt: Attempt, reason: str | None) -> None:
        """Check that an attempt with a dead source is no success, whatever else went well."""
        if reason is None and attempt.source.crashed:
            says = f"attempt {attempt.truth.number} counts as a success though its source crashed"
            self._violate("run_ends_with_a_reason", says)

    def check_memory(self, attempt: Attempt) -> bool:
        """Check that no one waits for memory that is free, and return whether that is so."""
        memory, whole = attempt.destination.memory, attempt.model.destination.state_memory_bytes
        if memory.waiting and memory.used_bytes + memory.wanted_bytes <= whole:
            self._in_vain(attempt, "enough is free")
        elif memory.waiting and not memory.used_bytes:
            self._in_vain(attempt, "none is in use")
        else:
            return True
        return False

    def check_turn(self, attempt: Attempt, state: SourceState) -> None:
        """Check that no one was waiting when a state got memory without waiting for it."""
        if waiting := attempt.destination.memory.waiting:
            says = f"{state.scope}/{state.index} takes memory before {waiting[0]}, which waits"
            self._violate("run_ends_with_a_reason", says, state)

    def _in_vain(self, attempt: Attempt, why: str) -> None:
        who = attempt.destination.memory.waiting[0]
        says = f"{who} waits for memory for a state though {why}"
        self._violate("run_ends_with_a_reason", says)

    def on_judged(self, wait_ns: int | None) -> None:
        """Check the platform's answer to a failed attempt against all attempts so far."""
        got, table = [one.got_data for one in self._truth.attempts], self._world.model.platform
        empty, waits = len(got) - sum(got), table.backoff_ns
        in_a_row = next((n for n, one in enumerate(reversed(got)) if one), len(got))
        if in_a_row:
            over = in_a_row >= table.empty_in_a_row or empty >= table.empty_attempts
            next_ns = waits[min(in_a_row, len(waits)) - 1]
        else:
            over, next_ns = sum(got) >= table.partial_attempts, 0
        if wait_ns != (None if over else next_ns):
            says = f"attempt {len(got)} failed, {in_a_row} in a row without data; the platform "
            says += "gives up" if wait_ns is None else f"waits {duration_text(wait_ns)}"
            self._violate("run_ends_with_a_reason", says)

    def on_silence(self, attempt: Attempt, sentence: str) -> None:
        """Check, when nothing has moved for long, that something explains it."""
        self._world.env.goals.reach("silence")
        self._check_silent(attempt)
        if not self.check_memory(attempt):
            return
        memory, uploader = attempt.destination.memory, attempt.destination.uploader
        if uploader.standing:
            says = f"{uploader.standing} batches wait though one more upload may be under way"
            self._violate("run_ends_with_a_reason", says)
        elif memory.waiting:
            self._violate("flood_does_not_block_data", sentence)
            # What comes of it, a sync that does not complete, is said by that already.
            self._world.faults.note_strike()
        # A stall explains also when it is over: what it has held up may still be on its way to be
        # read.  It explains no end of an attempt: by then all sockets have been read to theirs.
        elif not (attempt.stalled_since_sign or self._is_explained(attempt)):
            self._violate("run_ends_with_a_reason", f"nothing moves: {sentence}")

    def _check_silent(self, attempt: Attempt) -> None:
        """Check that nothing was read, stored or sent for as long as an attempt is left alone."""
        partitions = attempt.truth.partitions
        states = [state for own in attempt.truth.states.values() for state in own]
        moved = [ns for one in partitions for ns in (one.last_read_ns, one.last_durable_ns)]
        moved += [ns for one in states for ns in (one.accepted_ns, one.acknowledged_ns) if ns]
        limit_ns = attempt.model.destination.stall_limit_ns
        latest_ns = max(moved, default=0)
        if attempt.env.now - latest_ns < limit_ns:
            says = "an attempt is taken for silent, though something moved at "
            says += duration_text(latest_ns)
            self._violate("run_ends_with_a_reason", says)

    def _is_explained(self, attempt: Attempt) -> bool:
        """Return whether something is under way, or a fault has a state wait for what never comes.

        That is a state with a wrong count, each one of a destination with one level only, and one
        after a state that a crash of the source has lost.
        """
        destination = attempt.destination
        if destination.sender.busy or destination.completing or not destination.uploader.idle:
            return True
        if attempt.source_works:
            return True
        if attempt.model.destination.levels is Levels.DISJOINT:
            return True
        unsent = [
            state
            for states in attempt.truth.states.values()
            for state in states
            if state.acknowledged_ns is None
        ]
        if attempt.source.crashed and any(state.accepted_ns is None for state in unsent):
            return True
        return self._truth.on_sockets and any(
            state.accepted_ns is not None
            and all(account.reported == account.read for account in state.accounts)
            and sum(account.read for account in state.accounts) != state.source_count
            for state in unsent
        )

    def on_run_ended(self) -> None:
        """Check that the run has ended, and that a completed one has stored everything."""
        world = self._world
        if world.stalled is not None:
            self._violate("run_ends_with_a_reason", world.stalled)
        # A last attempt in which a fault has struck may fail: the faults have not stopped.
        if world.gave_up_undisturbed and world.model.outcome is Outcome.COMPLETED:
            attempts = len(self._truth.attempts)
            says = f"the platform gave up after attempt {attempts}: {world.gave_up}"
            self._violate("sync_completes", says)
        if not world.succeeded:
            return
        for feed in self._truth.feeds:
            missing = self._truth.stored[feed.index].missing(0, feed.total)
            if missing:
                low, high = missing[0]
                self._violate(
                    "no_record_lost",
                    f"the sync completed, but records {low}-{high - 1} of {feed.name} were never "
                    f"stored{self._truth.left_out(feed)}",
                )
                return
