"""What the log of a kernel tells of buffers, handed to the oracles and counts that it concerns.

The kernel writes a line where an observed pool or channel (`observed.py`) would call; a cell of its
tables is what a slice is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.compiled.columns import clock, writer
from ckptsim.sim.job.buffers.output import Slice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ckptsim.sim.job.buffers.compiled import CompiledDriver
    from ckptsim.sim.job.buffers.compiled.channel import CompiledChannel
    from ckptsim.sim.job.buffers.compiled.output import CompiledWriter
    from ckptsim.sim.job.oracle.buffers.counts import CreditCount, PoolCount
    from ckptsim.sim.job.oracle.channels import ChannelOracle


@dataclass(frozen=True, slots=True)
class LoggedChannel:
    """A channel of the kernel, with whom its buffers concern."""

    channel: CompiledChannel
    oracle: ChannelOracle
    count: CreditCount | None  # None inside a task manager


class LogFollower:
    """Hears what happens to each buffer of one attempt."""

    def __init__(
        self,
        driver: CompiledDriver,
        channels: Iterable[LoggedChannel],
        pools: Iterable[tuple[CompiledWriter, PoolCount]],
    ) -> None:
        self._driver = driver
        self._channels = {one.channel.row: (one.oracle, one.count) for one in channels}
        self._pools: dict[int, tuple[PoolCount, int]] = {}
        for output, count in pools:
            first = driver.m.item(output.row + writer.FIRST_LANE)
            for lane in range(driver.m.item(output.row + writer.LANES)):
                self._pools[first + lane * writer.LANE_WIDTH] = count, lane
        self._on_way: dict[int, Slice] = {}  # by cell

    def tell(self, what: int, number: int, item: int, size: int, records: int) -> None:
        """Hear one line; see `columns/clock.py`."""
        if what >= clock.GIVEN:
            count, lane = self._pools[number]
            if what == clock.GIVEN:
                count.given(lane)
            else:
                count.returned(lane)
            return
        oracle, credit = self._channels[number]
        if what == clock.SENT:
            slice_ = self._on_way[item] = Slice(size, records)
            oracle.sent(slice_)
            if credit is not None:
                credit.sent()
        elif what == clock.TAKEN:
            oracle.taken(self._taken(item, size, records))
        elif what == clock.SENT_EVENT:
            oracle.sent(self._driver.event_in(item))
        elif what == clock.TAKEN_EVENT:
            oracle.taken(self._driver.event_in(item), priority=size != 0)
        elif what == clock.OVERTAKING_ARRIVED:
            oracle.arrived(self._driver.event_in(item))
        elif what == clock.RESUMED:
            oracle.resumed()
            if credit is not None:
                credit.resumed()
        elif credit is not None:
            _count(credit, what, size)

    def _taken(self, cell: int, size: int, records: int) -> Slice:
        """Return the slice of a cell, another one if it is not what was sent."""
        sent = self._on_way.pop(cell, None)
        if sent is None or (sent.bytes, sent.records) != (size, records):
            return Slice(size, records)
        return sent

    def recovered(self, number: int, item: int, size: int, records: int) -> None:
        """Note recovered data: it counts as sent, before anything that the sender sends."""
        slice_ = self._on_way[item] = Slice(size, records)
        self._channels[number][0].sent(slice_)

    def told_to_resume(self, number: int) -> None:
        """Note that the sender of a channel is told to continue."""
        self._channels[number][0].told_to_resume()


def _count(credit: CreditCount, what: int, size: int) -> None:
    """Count what only channels over the network do."""
    if what == clock.ARRIVED:
        credit.arrived(floating=size != 0)
    elif what == clock.FREED:
        credit.freed(floating=size != 0)
    elif what == clock.CREDITED:
        credit.credited(size)
    else:
        credit.sent_empty()
