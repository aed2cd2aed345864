"""One stream's record counts: read, durable by level, per checkpoint id.

Each id has its own counters and no id's counters say anything of another's. Equal ids of different
streams never meet, because each stream has a ledger of its own.  The two levels count the same
records, so they are compared, never added.

Memory: counters of released ids are kept exactly for the newest `released_ids_kept` of them,
because a late report of the second level may still come.  Older ones are folded into one allowance
per level: the sum of what the level has not reported yet.

Source: airbytehq/airbyte, bulk load CDK, `StreamManager`. The upper check, the choice of one
level's triple instead of a maximum per component, and the memory policy are this core's own.
"""

from __future__ import annotations

from collections import deque

from ckptsim.models.ordering.terms import ZERO, CheckpointId, Count, Level


class IdCounts:
    """The counters of one id.

    credited: what the running totals have already taken of this id, so that no record is
        counted twice; released: whether a state covering the id was sent.
    """

    __slots__ = ("complete", "credited", "persisted", "read", "read_bytes", "released")

    def __init__(self) -> None:
        self.read = 0
        self.read_bytes = 0
        self.persisted = ZERO
        self.complete = ZERO
        self.credited = ZERO
        self.released = False

    def at(self, level: Level) -> Count:
        """Return what the level has reported."""
        return self.complete if level is Level.COMPLETE else self.persisted


class Ledger:
    """The counters of one stream."""

    def __init__(self, released_ids_kept: int) -> None:
        self._ids: dict[CheckpointId, IdCounts] = {}
        self._released_ids_kept = released_ids_kept
        self._released: deque[CheckpointId] = deque()
        self._allowance = {Level.PERSISTED: 0, Level.COMPLETE: 0}
        self.records_read = 0
        self.records_complete = 0

    def read(self, identity: CheckpointId, count: int, size_bytes: int) -> None:
        """Count records as read."""
        counts = self._ids.get(identity)
        if counts is None:
            if count == 0 and size_bytes == 0:
                return
            counts = self._ids[identity] = IdCounts()
        counts.read += count
        counts.read_bytes += size_bytes
        self.records_read += count

    def exceeds(self, level: Level, identity: CheckpointId, increment: Count) -> bool:
        """Return whether the level would account for more records than were read for the id."""
        counts = self._ids.get(identity)
        if counts is None:
            return increment.accounted > self._allowance[level]
        return counts.at(level).accounted + increment.accounted > counts.read

    def account(self, level: Level, identity: CheckpointId, increment: Count) -> None:
        """Add an increment that does not exceed."""
        if level is Level.COMPLETE:
            self.records_complete += increment.accounted
        counts = self._ids.get(identity)
        if counts is None:
            self._allowance[level] -= increment.accounted
        elif level is Level.COMPLETE:
            counts.complete += increment
        else:
            counts.persisted += increment

    def at(self, level: Level, identity: CheckpointId) -> Count:
        """Return what a level has reported for the id."""
        counts = self._ids.get(identity)
        return ZERO if counts is None else counts.at(level)

    def read_for(self, identity: CheckpointId) -> int:
        """Return how many records were read for the id."""
        counts = self._ids.get(identity)
        return 0 if counts is None else counts.read

    def accounted(self, identity: CheckpointId) -> int:
        """Return how many records of the id are durable: the level that accounts for most."""
        counts = self._ids.get(identity)
        if counts is None:
            return 0
        return max(counts.persisted.accounted, counts.complete.accounted)

    def sufficient(self, identity: CheckpointId) -> bool:
        """Return whether exactly the records read for the id are durable."""
        return self.accounted(identity) == self.read_for(identity)

    def committed(self, identity: CheckpointId) -> Count:
        """Return the triple of the level that accounts for most. COMPLETE has the later word."""
        counts = self._ids.get(identity)
        if counts is None:
            return ZERO
        if counts.complete.accounted >= counts.persisted.accounted:
            return counts.complete
        return counts.persisted

    def uncredited(self, identity: CheckpointId) -> Count:
        """Return what the running totals have not taken of the id yet."""
        counts = self._ids.get(identity)
        return ZERO if counts is None else self.committed(identity) - counts.credited

    def release(self, identity: CheckpointId, credited: Count) -> None:
        """Note that a state covering the id was sent with these records added to the totals."""
        counts = self._ids.get(identity)
        if counts is None:
            return
        counts.credited += credited
        if not counts.released:
            counts.released = True
            self._released.append(identity)
            if len(self._released) > self._released_ids_kept:
                self._fold(self._released.popleft())

    @property
    def all_complete(self) -> bool:
        """Return whether level COMPLETE accounts for every record read, or none was read."""
        return self.records_complete == self.records_read

    @property
    def ids(self) -> tuple[CheckpointId, ...]:
        """The ids with counters of their own, in the order of their first record."""
        return tuple(self._ids)

    @property
    def allowances(self) -> tuple[int, int]:
        """What folded ids may still report, at PERSISTED and at COMPLETE."""
        return self._allowance[Level.PERSISTED], self._allowance[Level.COMPLETE]

    def _fold(self, identity: CheckpointId) -> None:
        counts = self._ids.pop(identity)
        for level in Level:
            self._allowance[level] += counts.read - counts.at(level).accounted
