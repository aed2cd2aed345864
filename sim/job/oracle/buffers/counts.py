"""What pools and channels have out, lent and filled, counted apart from what they count themselves.

Observed pools and channels (`observed.py`) are their source.  A kernel counts the same for itself
(`compiled/kernel/base/counts.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptsim.sim.job.oracle.buffers.journal import Note
    from ckptsim.sim.job.oracle.view import Violate

_NAME = "buffers_are_accounted_for"


class PoolCount:
    """The segments of one output's pool that are out.

    most: segments that may be out at once. most_per_channel: of one channel.  note: for a journal.
    """

    note: Note | None = None

    def __init__(
        self, name: str, violate: Violate, *, channels: int, most: int, most_per_channel: int
    ) -> None:
        self._name = name
        self._violate = violate
        self._most = most
        self._most_per_channel = most_per_channel
        self.out = 0
        self._out_of = [0] * channels

    def given(self, channel: int) -> None:
        """Check a segment that is handed out: never more than may be."""
        if self.note is not None:
            self.note("hands out", channel)
        self.out += 1
        self._out_of[channel] += 1
        if self.out > self._most or self._out_of[channel] > self._most_per_channel:
            says = f"{self.out} segments of {self._name} are out, {self._out_of[channel]} "
            says += f"of one channel; at most {self._most} and {self._most_per_channel} may be"
            self._violate(_NAME, says)

    def returned(self, channel: int) -> None:
        """Check a segment that comes back: one that was out."""
        if self.note is not None:
            self.note("gets back", channel)
        self.out -= 1
        self._out_of[channel] -= 1
        if self._out_of[channel] < 0:
            self._violate(_NAME, f"a segment of {self._name} comes back twice")


class GateCount:
    """How many floating buffers of a gate hold data."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.filled = 0


class CreditCount:
    """The credit of one channel over the network, and the buffers of its receiver that hold data.

    exclusive: buffers of its own. floating: the ones of its gate.  note: for a journal.
    """

    note: Note | None = None

    def __init__(self, name: str, violate: Violate, *, exclusive: int, floating: GateCount) -> None:
        self._name = name
        self._violate = violate
        self._exclusive = exclusive
        self._floating = floating
        self._filled = 0  # exclusive buffers that hold data.
        self._allowed = (
            exclusive  # slices that the receiver has given credit for and that were not.
        )
        self._on_way = 0  # credit and data that have left and not arrived.
        self._stopped = False  # it has no buffers of its own, and has given back what it had.

    def sent(self, *, empty: bool = False) -> None:
        """Check that data, or an empty buffer, leaves on credit."""
        if empty and self.note is not None:
            self.note("sends", "empty")
        self._allowed -= 1
        self._on_way += 1
        what = "an empty buffer" if empty else "data"
        self._check(self._allowed >= 0, f"sends {what} without credit")

    def arrived_empty(self) -> None:
        """Note that an empty buffer has arrived."""
        self._on_way -= 1

    def granted(self, count: int) -> None:
        """Note credit that leaves the receiver."""
        self._on_way += count

    def credited(self, count: int) -> None:
        """Note credit that reaches the sender."""
        if self.note is not None:
            self.note("is credited", count)
        self._on_way -= count
        self._allowed += count

    def stopped(self) -> None:
        """Note that the receiver gives back what it has borrowed, after a blocking event."""
        self._stopped = not self._exclusive

    def look(self, free: int) -> None:
        """Check that the sender knows of each free buffer of the receiver, or is about to."""
        if not self._stopped and free != self._allowed + self._on_way:
            says = f"has {free} buffers free, its sender credit for {self._allowed}, and"
            self._check(False, f"{says} {self._on_way} are on the way")

    def resumed(self) -> None:
        """Note that the sender continues: without buffers of its own it begins with none."""
        if not self._exclusive:
            self._allowed = 0
            self._stopped = False

    def arrived(self, *, floating: bool) -> None:
        """Check that data finds a free buffer."""
        if self.note is not None:
            self.note("fills", floating)
        self._on_way -= 1
        if floating:
            self._floating.filled += 1
            self._check(self._floating.filled <= self._floating.total, "fills a buffer not lent")
        else:
            self._filled += 1
            self._check(self._filled <= self._exclusive, "receives data without a free buffer")

    def freed(self, *, floating: bool) -> None:
        """Check that a buffer is freed that held data."""
        if self.note is not None:
            self.note("frees", floating)
        if floating:
            self._floating.filled -= 1
        else:
            self._filled -= 1
        self._check(self._filled >= 0 and self._floating.filled >= 0, "frees a buffer twice")

    def _check(self, holds: bool, says: str) -> None:  # noqa: FBT001 - the condition itself
        if not holds:
            self._violate(_NAME, f"channel {self._name} {says}")
