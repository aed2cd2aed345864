"""What pools and channels have out, lent and filled, counted apart from what they count themselves.

Observed pools and channels (`observed.py`) are their source.  A kernel counts the same for itself
(`compiled/kernel/base/counts.py`).

What control does shows in the trace of a run, and what data does shows there late or never: a slice
that leaves a flush interval too late comes to its receiver before the end all the same.  So two
drivers of one job are compared by their journals as well.

Channels and pools have a journal each, since at one instant their order among each other is free.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeAlias

from ckptsim.sim.job.buffers.compiled.columns import clock, writer

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.compiled import CompiledDriver
    from ckptsim.sim.job.oracle.buffers.counted import CountedChannel, CountedPool
    from ckptsim.sim.job.oracle.channels import ChannelOracle
    from ckptsim.sim.job.oracle.view import Violate
    from ckptsim.sim.kernel import Environment


_NAME = "buffers_are_accounted_for"


class PoolCount:
    """The segments of one output's pool that are out, with their maxima. note: for a journal."""

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


Entry = tuple[Any, ...]
"""The instant in ns, what happened, and to how much."""
Note: TypeAlias = Callable[[str, Any], None]
"""Notes what happens, and to how much."""


class Journal:
    """What happened, by the name of the channel or pool that it happened to."""

    def __init__(self, env: Environment) -> None:
        self._env = env
        self.entries: dict[str, list[Entry]] = {}

    def note_of(self, name: str) -> Note:
        """Return what takes notes under a name."""
        env, entries = self._env, self.entries.setdefault(name, [])

        def note(what: str, amount: Any) -> None:
            entries.append((env.now, what, amount))

        return note

    def of_channel(self, channel: ChannelOracle) -> Note:
        """Return what takes notes of a channel's elements."""
        return self.note_of(f"channel {channel.name}, input {channel.index}")

    def of_credit(self, channel: ChannelOracle) -> Note:
        """Return what takes notes of a channel's credit and buffers."""
        return self.note_of(f"credit of {channel.name}, input {channel.index}")

    def parting(self, other: Journal) -> str | None:
        """Return where another journal parts from this one first, None where it does not."""
        found: list[tuple[int, str]] = []
        for name in dict.fromkeys((*self.entries, *other.entries)):
            one, two = _first(self.entries.get(name, []), other.entries.get(name, []))
            first = one or two
            if first is not None:
                says = f"the kernel has {one or 'no more'}, the reference {two or 'no more'}"
                found.append((first[0], f"{name}: {says}"))
        return min(found)[1] if found else None


def _first(one: list[Entry], other: list[Entry]) -> tuple[Entry | None, Entry | None]:
    if one == other:
        return None, None
    return next(pair for pair in zip_longest(one, other) if pair[0] != pair[1])


class KernelNotes:
    """Notes in a journal what a kernel shows of each buffer."""

    def __init__(
        self,
        journal: Journal,
        driver: CompiledDriver,
        channels: list[CountedChannel],
        pools: list[CountedPool],
    ) -> None:
        self._driver = driver
        self._of_channels = {one.end.row: journal.of_channel(one) for one in channels}
        remote = [one for one in channels if not one.pulled]
        self._of_credits = {one.end.row: journal.of_credit(one) for one in remote}
        self._of_pools: dict[int, tuple[int, Note]] = {}
        for pool in pools:
            first = driver.m.item(pool.output.row + writer.FIRST_LANE)
            note = journal.note_of(f"pool {pool.name}, {pool.place}")
            for lane in range(driver.m.item(pool.output.row + writer.LANES)):
                self._of_pools[first + lane * writer.LANE_WIDTH] = lane, note

    def tell(self, what: int, number: int, item: int, size: int, records: int) -> None:
        """Note one line. See `columns/clock.py`."""
        if what in (clock.GIVEN, clock.RETURNED):
            lane, note = self._of_pools[number]
            note("hands out" if what == clock.GIVEN else "gets back", lane)
        elif what in (clock.SENT, clock.TAKEN):
            does = "sends" if what == clock.SENT else "delivers"
            self._of_channels[number](does, (size, records))
        elif what in (clock.SENT_EVENT, clock.TAKEN_EVENT):
            does = "sends" if what == clock.SENT_EVENT else "delivers"
            self._of_channels[number](does, str(self._driver.event_in(item)))
        elif what >= clock.FIRST_JOURNALED and number in self._of_credits:
            self._of_credits[number](*_of_credit(what, size))


def _of_credit(what: int, size: int) -> tuple[str, Any]:
    if what == clock.CREDITED:
        return "is credited", size
    if what == clock.SENT_EMPTY:
        return "sends", "empty"
    return "fills" if what == clock.ARRIVED else "frees", size != 0
