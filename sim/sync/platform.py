"""The platform: keeps the last returned state per scope, and starts attempts again or gives up.

Source: Airbyte documentation, platform/understanding-airbyte/jobs (retries and back-off), and
resumability. The comparison of returned states with the source's follows airbytehq/airbyte issues
#33860 to #33862.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ckptsim.models.ordering import SendState, scope_text
from ckptsim.scenarios.sync import CountCheck

if TYPE_CHECKING:
    from ckptsim.scenarios.sync import PlatformTable
    from ckptsim.sim.kernel import Environment
    from ckptsim.sim.sync.attempt import Attempt
    from ckptsim.sim.sync.intervals import Intervals
    from ckptsim.sim.sync.oracle.truth import SourceState


@dataclass(frozen=True, slots=True)
class _Copy:
    """What the platform keeps of a state that the source printed."""

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
        """Note the copy of a state that the source prints beside sending it.

        claims: per feed what the state says, None where it says nothing of the feed.
        """
        feed = state.stream
        copy = _Copy(state.source_count, claims, feed)
        self._copies[(state.attempt, state.scope, state.payload)] = copy

    def take(self, attempt: Attempt, effect: SendState) -> bool:
        """Take a state that the destination returns. Return whether it is kept.

        One that the source never printed is not. One with different counts is refused or only
        reported, as the scenario says.
        """
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
