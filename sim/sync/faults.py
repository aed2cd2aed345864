"""The fault plan of a run: counts occurrences and says which fault strikes now.

Occurrences count over all attempts of a run, so each fault strikes at most once (or as often in a
row as it says): faults stop by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, TypeVar, assert_never

from ckptsim.scenarios import sync

Effect = TypeVar("Effect")
StateFault: TypeAlias = sync.RepeatState | sync.RepeatIndex | sync.MixedKind


class FaultPlan:
    """The faults of one run, sorted by where they strike."""

    def __init__(self, faults: Iterable[sync.SyncFault]) -> None:
        self.crashes_at: list[sync.CrashAt] = []
        self.stalls: list[sync.SocketStall] = []
        self.strikes = 0  # how often any fault has struck
        self._reorders: list[sync.ReorderUploads] = []
        self._points: dict[sync.Point, dict[int, sync.Side]] = {}
        self._passed: dict[sync.Point, int] = {}
        self._slow_uploads: list[sync.SlowUpload] = []
        self._fail_uploads: list[sync.FailUpload] = []
        self._slow_sends: list[sync.SlowSend] = []
        self._fail_sends: list[sync.FailSend] = []
        self._sends_at_end = 0
        self._floods: dict[tuple[int, int], int] = {}
        self._collisions: dict[tuple[int, int], tuple[int, int]] = {}
        self._count_errors: dict[tuple[int, int], int] = {}
        self._reader_failures: dict[tuple[int, int], int] = {}
        self._state_faults: dict[tuple[int, int], list[StateFault]] = {}
        for fault in faults:
            self._take(fault)

    def _take(self, fault: sync.SyncFault) -> None:
        match fault:
            case sync.CrashAt():
                self.crashes_at.append(fault)
            case sync.CrashPoint():
                self._points.setdefault(fault.point, {}).setdefault(fault.occurrence, fault.side)
            case sync.SocketStall():
                self.stalls.append(fault)
            case sync.SlowUpload():
                self._slow_uploads.append(fault)
            case sync.FailUpload():
                self._fail_uploads.append(fault)
            case sync.ReorderUploads():
                self._reorders.append(fault)
            case sync.FailSend():
                self._fail_sends.append(fault)
            case sync.SlowSend():
                self._slow_sends.append(fault)
            case sync.RepeatState() | sync.RepeatIndex() | sync.MixedKind():
                self._state_faults.setdefault((fault.feed, fault.reader), []).append(fault)
            case _:
                self._take_reader(fault)

    def _take_reader(
        self, fault: sync.IdCollision | sync.StateFlood | sync.CountError | sync.ReaderFailure
    ) -> None:
        match fault:
            case sync.IdCollision():
                other = (fault.other_feed, fault.other_reader)
                self._collisions[(fault.feed, fault.reader)] = other
            case sync.StateFlood():
                key = (fault.feed, fault.round)
                self._floods[key] = self._floods.get(key, 0) + fault.states
            case sync.CountError():
                self._count_errors[(fault.feed, fault.reader)] = fault.records
            case sync.ReaderFailure():
                self._reader_failures[(fault.feed, fault.reader)] = fault.packets
            case _:
                assert_never(fault)

    def passes(self, point: sync.Point) -> sync.Side | None:
        """Count one passing of a point. Return who crashes there, if anybody."""
        planned = self._points.get(point) if self._points else None
        if planned is None:
            return None
        self._passed[point] = count = self._passed.get(point, 0) + 1
        return self._struck(planned.get(count))

    def upload_fails(self, ordinal: int) -> bool:
        """Return whether the n-th upload of the run, from 1, fails."""
        return self._struck(
            any(
                fault.occurrence <= ordinal < fault.occurrence + fault.uploads
                for fault in self._fail_uploads
            )
        )

    def send_fails(self, ordinal: int, *, at_end: bool) -> bool:
        """Return whether the n-th send of the run, from 1, fails.

        at_end: whether it begins while the sync waits for its end.
        """
        self._sends_at_end += at_end
        counts = {False: ordinal, True: self._sends_at_end if at_end else 0}
        return self._struck(
            any(
                fault.occurrence <= counts[fault.at_end] < fault.occurrence + fault.sends
                for fault in self._fail_sends
            )
        )

    def upload_ns(self, duration_ns: int, now: int) -> int:
        """Return how long an upload takes that begins now."""
        return self._slowed(self._slow_uploads, duration_ns, now)

    def send_ns(self, duration_ns: int, now: int) -> int:
        """Return how long a send takes that begins now."""
        return self._slowed(self._slow_sends, duration_ns, now)

    def flood(self, feed: int, round_number: int) -> int:
        """Take the number of empty states that a feed emits before a round, from 0. Only once."""
        return self._struck(self._floods.pop((feed, round_number), 0))

    def collision(self, feed: int, reader: int) -> tuple[int, int] | None:
        """Return the (feed, reader) with the partition id to draw again, if planned."""
        return self._struck(self._collisions.get((feed, reader)))

    def count_error(self, feed: int, reader: int) -> int:
        """Return by how much this reader's state miscounts."""
        return self._struck(self._count_errors.get((feed, reader), 0))

    def on_state(self, feed: int, reader: int) -> list[StateFault]:
        """Return what goes wrong with the state of this reader."""
        return self._struck(self._state_faults.get((feed, reader), []))

    def reader_failure(self, feed: int, reader: int) -> int | None:
        """Return after how many packets this reader fails, or None when it does not."""
        after = self._reader_failures.get((feed, reader))
        self.strikes += after is not None
        return after

    def reorder(self, ordinal: int) -> sync.ReorderUploads | None:
        """Return the window of reversed uploads that the n-th upload of the run belongs to."""
        for fault in self._reorders:
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
        """Pass on what a fault does, and count it unless that is nothing."""
        self.strikes += bool(effect)
        return effect
