"""The world of one sync: attempts one after the other, until one succeeds or the platform gives up.

Faults are finite, silence ends an attempt and attempts are limited, so every run ends. The bound on
the whole run is there to catch a program that breaks this.

Source: Airbyte documentation, platform/understanding-airbyte/jobs (retries and back-off), and
resumability. The comparison of returned states with the source's follows airbytehq/airbyte issues
#33860 to #33862.
"""

from __future__ import annotations

import math
import string
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, cast

from ckptsim.models.ordering import (
    Design,
    Medium,
    OrderingDoor,
    OrderingParameters,
    SendState,
    scope_text,
)
from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.sync import (
    GOALS,
    CountCheck,
    CrashAt,
    MissingState,
    StateKind,
    SyncFault,
    SyncModel,
)
from ckptsim.scenarios.sync import Medium as MediumChoice
from ckptsim.sim.kernel import explain_waits
from ckptsim.sim.sync.attempt import Attempt, waits
from ckptsim.sim.sync.faults import FaultPlan
from ckptsim.sim.sync.oracle.oracle import OrderingProperties
from ckptsim.sim.sync.oracle.truth import Truth
from ckptsim.sim.sync.vocabulary import KIND_ATTEMPT, KIND_FAULT

if TYPE_CHECKING:
    from ckptsim.scenarios.sync import PlatformTable
    from ckptsim.sim.kernel import Environment
    from ckptsim.sim.run_spec import RunSpec
    from ckptsim.sim.sync.intervals import Intervals
    from ckptsim.sim.sync.oracle.truth import SourceState


@dataclass(frozen=True, slots=True)
class _Copy:
    source_count: int
    claims: tuple[Intervals | None, ...]
    feed: int | None


class Platform:
    """What outlives the attempts."""

    def __init__(self, env: Environment, table: PlatformTable, feeds: int) -> None:
        self.resume: list[Intervals | None] = [None] * feeds
        self._env = env
        self._table = table
        self._entity = env.entity("platform")
        self._copies: dict[tuple[int, str, str], _Copy] = {}
        self.got_data = False
        self._empty_in_a_row = 0
        self._empty = 0
        self._partial = 0

    def has_other(self, attempt: int, scope: str, payload: str, count: int) -> bool:
        """Return whether another state at the same position, of other records, was printed."""
        found = self._copies.get((attempt, scope, payload))
        return found is not None and found.source_count != count

    def note(self, state: SourceState, claims: tuple[Intervals | None, ...]) -> None:
        """Note the printed copy of a state. claims: per feed, None for nothing."""
        feed = state.stream
        copy = _Copy(state.source_count, claims, feed)
        self._copies[(state.attempt, state.scope, state.payload)] = copy

    def take(self, attempt: Attempt, effect: SendState) -> bool:
        """Take a returned state. Return whether it is kept: printed, and its counts accepted."""
        scope = scope_text(effect.scope)
        key = (attempt.truth.number, scope, str(effect.payload))
        copy = self._copies.get(key)
        index = effect.key.index
        if copy is None:
            self._env.trace.record("state_unknown", self._entity, scope, index)
            return False
        counts = effect.statistics.destination
        if counts.accounted != copy.source_count:
            self._env.goals.reach("counts_differ")
            if self._table.count_check is CountCheck.REJECT:
                self._env.trace.record("state_rejected", self._entity, scope, index)
                self._env.goals.reach("state_rejected")
                return False
        self._env.trace.record("stored", self._entity, scope, index)
        if counts.accounted:
            self.got_data = True
        if copy.feed is not None:
            self.resume[copy.feed] = copy.claims[copy.feed]
        else:
            self.resume = list(copy.claims)
        return True

    def judge(self) -> int | None:
        """Take note of a failed attempt. Return the wait before the next, or None to give up."""
        got_data, self.got_data = self.got_data, False
        if got_data:
            self._empty_in_a_row = 0
            self._partial += 1
            return None if self._partial >= self._table.partial_attempts else 0
        self._empty_in_a_row += 1
        self._empty += 1
        if (
            self._empty_in_a_row >= self._table.empty_in_a_row
            or self._empty >= self._table.empty_attempts
        ):
            return None
        waits = self._table.backoff_ns
        return waits[min(self._empty_in_a_row, len(waits)) - 1]


# Assumption: no sync of a library scenario takes a month. A run that does is stuck.
_BOUND_NS = 30 * 24 * 3600 * 1_000_000_000
# Assumption: late reports trail a release by a few batches. Small, so that the bound is tested.
_RELEASED_IDS_KEPT = 64


class SyncWorld:
    """One run."""

    def __init__(self, spec: RunSpec) -> None:
        self.spec = spec
        self.model = cast("SyncModel", spec.scenario.model)
        self.env = spec.environment(GOALS)
        self.draws = Draws(self.env)
        self.faults = FaultPlan(cast("tuple[SyncFault, ...]", spec.scenario.faults))
        self.truth = Truth(self.model)
        self.platform = Platform(self.env, self.model.platform, len(self.truth.feeds))
        self.properties = OrderingProperties(self)
        self.attempt: Attempt | None = None
        self.succeeded = False
        self.gave_up: str | None = None
        self.gave_up_undisturbed = False
        self.stalled: str | None = None
        self.reader_counts = [0] * len(self.truth.feeds)
        self.drawn_ids: dict[tuple[int, int], str] = {}
        self.finished = self.env.event()
        self._uploads = 0
        self._sends = 0
        self.entity = self.env.entity("platform")
        on_sockets = self.model.medium is MediumChoice.SOCKET
        self.parameters = OrderingParameters(
            medium=Medium.SOCKET if on_sockets else Medium.STDIO,
            streams=self.truth.descriptors,
            channels=self.model.sockets.count if on_sockets else 1,
            released_ids_kept=_RELEASED_IDS_KEPT,
            design=self.model.destination.design if on_sockets else Design.INDEXES,
        )

    def run(self) -> None:
        """Run to the end: success, giving up, or the bound."""
        env = self.env
        for crash in self.faults.of(CrashAt):
            env.call_at(crash.at_ns, KIND_FAULT, self.entity, self._crash, crash.side)
        env.call_at(_BOUND_NS, KIND_FAULT, self.entity, self._out_of_time)
        self.spec.bound(env, partial(self.stop, "the run is cut short"))
        self._start_attempt()
        env.run(until=self.finished)
        env.finish()
        self.attempt = None  # at the bound one is still under way. Nothing can fail it any more
        self.properties.on_run_ended()
        for attempt in self.truth.attempts:
            if attempt.ended_ns is None:
                attempt.ended_ns = env.now

    def make_core(self, *, alone: bool = False) -> OrderingDoor:
        """Make the core of one attempt. alone: without rules beside it, which take their time."""
        make: Any = self.spec.cores.ordering
        if alone:
            make = getattr(make, "__wrapped__", make)
        core: OrderingDoor = make(self.parameters)
        return core

    def next_upload(self) -> int:
        """Number the uploads of the run from 1."""
        self._uploads += 1
        return self._uploads

    def next_send(self) -> int:
        """Number the sends of the run from 1."""
        self._sends += 1
        return self._sends

    def next_reader(self, feed: int) -> int:
        """Number the readers of a feed over the run from 0."""
        number = self.reader_counts[feed]
        self.reader_counts[feed] = number + 1
        return number

    def attempt_ended(self, attempt: Attempt, reason: str | None) -> None:
        """Continue after an attempt: finish, give up, or start again after a while."""
        self.attempt = None
        self.properties.ends.on_attempt_ended(attempt, reason)
        if reason is None:
            self.succeeded = True
            self._finish()
        else:
            wait_ns = self.platform.judge()
            self.properties.ends.on_judged(wait_ns)
            self.env.goals.reach("attempt_failed")
            if attempt.undisturbed:
                self.env.goals.reach("attempt_failed_undisturbed")
            if wait_ns is None:
                self.gave_up = reason
                self.gave_up_undisturbed = attempt.undisturbed
                self.env.goals.reach("gave_up")
                self.env.trace.record("gave_up", self.entity, attempt.truth.number)
                self._finish()
                return
            self.env.call_in(wait_ns, KIND_ATTEMPT, self.entity, self._start_attempt)

    def stop(self, reason: str) -> None:
        """End a run in which violations never cease."""
        self.gave_up = reason
        self._finish()

    def note_signs(self) -> None:
        """Note signs of life that no one has told of. There are none but in larger worlds."""

    def explain(self) -> str:
        """Say who waits for whom."""
        return "" if self.attempt is None else explain_waits(waits(self.attempt))

    def _start_attempt(self) -> None:
        base = self._base()
        self.attempt = attempt = self.make_attempt(base)
        self.env.trace.record("attempt", self.entity, attempt.truth.number)
        if attempt.truth.number > 1:
            self.env.goals.reach("attempt_restarted")
        attempt.start()

    def make_attempt(self, base: tuple[Intervals, ...]) -> Attempt:
        """Make an attempt. `base` is, per feed, what its source does not read again."""
        return Attempt(self, base)

    def _base(self) -> tuple[Intervals, ...]:
        resume = self.platform.resume
        base: list[Intervals] = []
        shared_known = self.model.state_kind is StateKind.SNAPSHOT and resume[-1] is not None
        for feed, claims in zip(self.truth.feeds, resume, strict=True):
            if claims is not None:
                base.append(claims)
            elif shared_known and self.model.source.missing_state is MissingState.FINISHED:
                self.env.goals.reach("missing_state_taken_for_finished")
                base.append(((0, feed.total),) if feed.total else ())
            else:
                base.append(())
        return tuple(base)

    def _crash(self, side: Any) -> None:
        attempt = self.attempt
        if attempt is not None:
            self.faults.note_strike()
            attempt.call_in(0, KIND_FAULT, attempt.entity, attempt.crash, side)

    def _out_of_time(self) -> None:
        self.stalled = f"the run is not over after {duration_text(_BOUND_NS)}: {self.explain()}"
        self._finish()

    def _finish(self) -> None:
        if not self.finished.triggered:
            self.finished.succeed()


_ALPHABET = string.ascii_uppercase + string.ascii_lowercase + string.digits
_STANDARD_NORMAL = NormalDist()
_HALF_A_STEP = 2.0**-54  # keyed numbers are multiples of 2**-53. Their cells' middles avoid 0
_CHARACTERS_PER_DRAW = 8  # 62**8 is below 2**53


class Draws:
    """Draws that are addressed by (component, index, counter)."""

    def __init__(self, env: Environment) -> None:
        self._keyed = env.streams.keyed

    def lognormal_ns(self, where: tuple[str, int, int], *, median_ns: int, spread: float) -> int:
        """Return a log-normal duration by its median and the deviation of its logarithm."""
        if not spread:
            return median_ns
        normal = _STANDARD_NORMAL.inv_cdf(self._keyed(*where) + _HALF_A_STEP)
        return round(median_ns * math.exp(spread * normal))

    def share(self, where: tuple[str, int, int]) -> float:
        """Return a number from 0 to below 1."""
        return float(self._keyed(*where))

    def up_to(self, where: tuple[str, int, int], highest: int) -> int:
        """Return a whole number from 0 to `highest`, all equally likely up to 2**-53."""
        return int(self._keyed(*where) * (highest + 1))

    def identifier(self, where: tuple[str, int, int], characters: int) -> str:
        """Return a random text of letters and digits."""
        component, index, counter = where
        text = ""
        for part in range(0, characters, _CHARACTERS_PER_DRAW):
            count = min(_CHARACTERS_PER_DRAW, characters - part)
            number = self.up_to((f"{component}.{part}", index, counter), 62**count - 1)
            for _ in range(count):
                number, place = divmod(number, 62)
                text += _ALPHABET[place]
        return text
