"""The fault plan of a run: counts occurrences and says which fault strikes now.

Occurrences count over all attempts of a run, so each fault strikes at most once (or as often in a
row as it says): faults stop by themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

from ckptsim.scenarios import sync

Effect = TypeVar("Effect")
Fault = TypeVar("Fault")
OfReader = TypeVar("OfReader", sync.IdCollision, sync.CountError, sync.ReaderFailure)
StateFault: TypeAlias = sync.RepeatState | sync.RepeatIndex | sync.MixedKind


class FaultPlan:
    """The faults of one run, by their kinds. Each is asked for where it strikes."""

    def __init__(self, faults: Iterable[sync.SyncFault]) -> None:
        self.strikes = 0  # how often any fault has struck
        self._faults: dict[type, list[Any]] = {}
        self._of_states: list[StateFault] = []
        for fault in faults:
            self._faults.setdefault(type(fault), []).append(fault)
            if isinstance(fault, StateFault):
                self._of_states.append(fault)
        self._points: dict[tuple[sync.Point, int], sync.Side] = {}
        for crash in self.of(sync.CrashPoint):  # the first of several at one passing
            self._points.setdefault((crash.point, crash.occurrence), crash.side)
        self._passed = Counter[sync.Point]()
        self._sends_at_end = 0

    def of(self, kind: type[Fault]) -> Sequence[Fault]:
        """Return the faults of a kind."""
        return self._faults.get(kind, ())

    def _of_reader(self, kind: type[OfReader], feed: int, reader: int) -> OfReader | None:
        own = (one for one in reversed(self.of(kind)) if (one.feed, one.reader) == (feed, reader))
        return next(own, None)

    def passes(self, point: sync.Point) -> sync.Side | None:
        """Count one passing of a point. Return who crashes there, if anybody."""
        if not self._points:
            return None
        self._passed[point] += 1
        return self._struck(self._points.get((point, self._passed[point])))

    def upload_fails(self, ordinal: int) -> bool:
        """Return whether the n-th upload of the run, from 1, fails."""
        return self._struck(
            any(
                fault.occurrence <= ordinal < fault.occurrence + fault.uploads
                for fault in self.of(sync.FailUpload)
            )
        )

    def send_fails(self, ordinal: int, *, at_end: bool) -> bool:
        """Return whether the n-th send, from 1, fails. at_end: while the sync waits for its end."""
        self._sends_at_end += at_end
        counts = {False: ordinal, True: self._sends_at_end if at_end else 0}
        return self._struck(
            any(
                fault.occurrence <= counts[fault.at_end] < fault.occurrence + fault.sends
                for fault in self.of(sync.FailSend)
            )
        )

    def upload_ns(self, duration_ns: int, now: int) -> int:
        """Return how long an upload takes that begins now."""
        return self._slowed(self.of(sync.SlowUpload), duration_ns, now)

    def send_ns(self, duration_ns: int, now: int) -> int:
        """Return how long a send takes that begins now."""
        return self._slowed(self.of(sync.SlowSend), duration_ns, now)

    def flood(self, feed: int, round_number: int) -> int:
        """Take the number of empty states that a feed emits before a round, from 0. Only once."""
        floods = self.of(sync.StateFlood)
        own = [one for one in floods if (one.feed, one.round) == (feed, round_number)]
        self._faults[sync.StateFlood] = [one for one in floods if one not in own]
        return self._struck(sum(one.states for one in own))

    def collision(self, feed: int, reader: int) -> tuple[int, int] | None:
        """Return the (feed, reader) with the partition id to draw again, if planned."""
        fault = self._struck(self._of_reader(sync.IdCollision, feed, reader))
        return None if fault is None else (fault.other_feed, fault.other_reader)

    def count_error(self, feed: int, reader: int) -> int:
        """Return by how much this reader's state miscounts."""
        fault = self._of_reader(sync.CountError, feed, reader)
        return self._struck(0 if fault is None else fault.records)

    def on_state(self, feed: int, reader: int) -> list[StateFault]:
        """Return what goes wrong with the state of this reader."""
        return self._struck(
            [one for one in self._of_states if (one.feed, one.reader) == (feed, reader)]
        )

    def reader_failure(self, feed: int, reader: int) -> int | None:
        """Return after how many packets this reader fails, or None when it does not."""
        fault = self._struck(self._of_reader(sync.ReaderFailure, feed, reader))
        return None if fault is None else fault.packets

    def reorder(self, ordinal: int) -> sync.ReorderUploads | None:
        """Return the window of reversed uploads that the n-th upload of the run belongs to."""
        for fault in self.of(sync.ReorderUploads):
            if fault.occurrence <= ordinal < fault.occurrence + fault.uploads:
                return self._struck(fault)
        return None

    def _slowed(
        self, faults: Iterable[sync.SlowUpload | sync.SlowSend], duration_ns: int, now: int
    ) -> int:
        """Return the duration times the largest factor of the windows that now lies in."""
        factors = [
            fault.factor for fault in faults if fault.at_ns <= now < fault.at_ns + fault.duration_ns
        ]
        return round(duration_ns * max(factors)) if self._struck(factors) else duration_ns

    def note_strike(self) -> None:
        """Count that a fault has struck: one with an instant or plan of another part."""
        self.strikes += 1

    def _struck(self, effect: Effect) -> Effect:
        self.strikes += bool(effect)
        return effect
