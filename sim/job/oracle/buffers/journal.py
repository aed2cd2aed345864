"""A journal of what each channel and pool of a job did, and when. For the comparison of two runs.

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
    from ckptsim.sim.kernel import Environment

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
    """Return the first entries that are not the same."""
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
            self._of_channels[number](does, str(self._driver.event_in[item]))
        elif what >= clock.FIRST_JOURNALED and number in self._of_credits:
            self._of_credits[number](*_of_credit(what, size))


def _of_credit(what: int, size: int) -> tuple[str, Any]:
    if what == clock.CREDITED:
        return "is credited", size
    if what == clock.SENT_EMPTY:
        return "sends", "empty"
    return "fills" if what == clock.ARRIVED else "frees", size != 0
