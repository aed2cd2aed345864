"""The slow reference of what a kernel counts: each line of its log, counted once more."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.compiled.columns import clock, counts, gate, writer
from ckptsim.sim.job.oracle.buffers import BufferOracle
from ckptsim.sim.job.oracle.buffers.counted import CountsFollower
from ckptsim.sim.job.oracle.buffers.counts import CreditCount, GateCount, Journal, PoolCount

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers import DataflowWorld
    from ckptsim.sim.job.buffers.compiled import CompiledDriver


class _Flow:
    """Everything that has left the sender of one channel and come to its task."""

    def __init__(self) -> None:
        self.sent = self.sent_bytes = self.taken = self.taken_bytes = 0
        self.on_way: deque[tuple[int, int, int]] = deque()


class Replay:
    """Counts the buffers of one attempt. broken: the properties that do not hold, in order."""

    def __init__(self, driver: CompiledDriver, broken: list[str]) -> None:
        self._driver = driver
        self._broken = broken
        tables, exclusive = driver.tables, driver.m.item(clock.EXCLUSIVE)
        self._flows = {one.row: _Flow() for one in tables.channels}
        self._gates = {one.row: GateCount(one.floating) for one in tables.gates}
        self._credits = {
            one.row: CreditCount(
                str(one.row),
                self._violate,
                exclusive=exclusive,
                floating=self._gates[one.gate.row],
            )
            for one in tables.channels
        }
        self._pools = {one.row: self._pool(one.row) for one in tables.writers}
        self._writer_of = {
            driver.m.item(row + writer.FIRST_LANE) + lane * writer.LANE_WIDTH: (row, lane)
            for row in self._pools
            for lane in range(driver.m.item(row + writer.LANES))
        }

    def _violate(self, name: str, says: str, checkpoint: int | None = None, /) -> None:
        del says, checkpoint
        self._broken.append(name)

    def _pool(self, row: int) -> PoolCount:
        item = self._driver.m.item
        return PoolCount(
            str(row),
            self._violate,
            channels=item(row + writer.LANES),
            most=item(row + writer.MOST_OUT),
            most_per_channel=item(row + writer.MOST_OUT_OF_LANE),
        )

    def tell(self, what: int, number: int, item: int, size: int, records: int) -> None:
        """Count one line of the log."""
        if what in (clock.GIVEN, clock.RETURNED):
            row, lane = self._writer_of[number]
            pool = self._pools[row]
            (pool.given if what == clock.GIVEN else pool.returned)(lane)
            return
        flow = self._flows.get(number, _Flow())
        if what == clock.SENT:
            flow.sent, flow.sent_bytes = flow.sent + 1, flow.sent_bytes + size
            flow.on_way.append((item, size, records))
        elif what == clock.TAKEN:
            flow.taken, flow.taken_bytes = flow.taken + 1, flow.taken_bytes + size
            if not flow.on_way or flow.on_way.popleft() != (item, size, records):
                self._broken.append("order_is_kept")
        elif what in (clock.CREDITED, clock.SENT_EMPTY, clock.ARRIVED, clock.FREED, clock.RESUMED):
            self._tell_credit(self._credits[number], what, size)

    def _tell_credit(self, credit: CreditCount, what: int, size: int) -> None:
        if what == clock.CREDITED:
            credit.credited(size)
        elif what == clock.SENT_EMPTY:
            credit.sent(empty=True)
        elif what == clock.ARRIVED:
            credit.sent()  # of a remote channel alone: local ones have no wire and no credit
            credit.arrived(floating=size != 0)
        elif what == clock.FREED:
            credit.freed(floating=size != 0)
        else:
            credit.resumed()

    def compare(self) -> None:
        """Compare what the kernel has counted."""
        m, tables = self._driver.m, self._driver.tables
        for one, row in zip(tables.channels, tables.counts(m).tolist(), strict=True):
            flow = self._flows[one.row]
            found = [row[counts.SENT], row[counts.SENT_BYTES]]
            assert found == [flow.sent, flow.sent_bytes]
            assert [row[counts.TAKEN], row[counts.TAKEN_BYTES]] == [flow.taken, flow.taken_bytes]
            assert row[counts.FILLED] == self._credits[one.row]._filled
        for number, pool in self._pools.items():
            assert m.item(number + writer.SEGMENTS_OUT) == pool.out
            first = m.item(number + writer.HELD) + 1
            lanes = m.item(number + writer.LANES)
            assert m[first : first + 2 * lanes : 2].tolist() == pool._out_of
        for number, floating in self._gates.items():
            assert m.item(number + gate.FILLED) == floating.filled


class _Both:
    """Lets a journal and the reference hear of each line."""

    def __init__(self, follower: CountsFollower, replay: Replay) -> None:
        self._follower, self.replay = follower, replay
        self.recovered, self.told_to_resume = follower.recovered, follower.told_to_resume

    def tell(self, *line: int) -> None:
        """Hear one line."""
        self._follower.tell(*line)
        self.replay.tell(*line)


class ReplayedOracle(BufferOracle):
    """An oracle beside which each buffer is counted once more, compared wherever it looks around.

    broken: the properties of buffers that the reference finds broken.
    """

    def __init__(self, world: DataflowWorld) -> None:
        super().__init__(world, journal=Journal(world.env))
        self.broken: list[str] = []
        self.compared = 0
        self._replay: Replay | None = None

    def follower(self, driver: CompiledDriver) -> CountsFollower:
        """Return what learns the log of the attempt's kernel, and counts it."""
        follower = super().follower(driver)
        self._replay = Replay(driver, self.broken)
        return _Both(follower, self._replay)  # type: ignore[return-value]

    def look(self) -> None:
        """Compare both counts."""
        super().look()
        if self._replay is not None:
            self._replay.compare()
            self.compared += 1
