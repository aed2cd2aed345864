"""A run of records: many that are applied one after the other, in one event."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Consecutive data records that are being applied.

    first_ns: when the first of them is (or was) there; interval_ns: between two of them, 0 where
    all are there; record k, from 1, ends at `end_of(k)`.
    """

    position: int
    index: int
    records: int
    begun_ns: int
    first_ns: int
    interval_ns: int
    apply_ns: int

    def end_of(self, k: int) -> int:
        """Return when the k-th record has been applied."""
        busy = self.begun_ns + k * self.apply_ns
        slowest = max(self.interval_ns, self.apply_ns)
        arrived = self.first_ns + (k - 1) * slowest + self.apply_ns
        return max(busy, arrived)

    def done_by(self, now_ns: int) -> int:
        """Count the records that have been applied by an instant, itself included."""
        low, high = 0, self.records
        while low < high:
            middle = (low + high + 1) // 2
            if self.end_of(middle) <= now_ns:
                low = middle
            else:
                high = middle - 1
        return low
