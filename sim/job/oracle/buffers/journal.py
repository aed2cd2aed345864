"""A journal of what each channel and pool of a job did, and when; for the comparison of two runs.

What control does shows in the trace of a run, and what data does shows there late or never: a slice
that leaves a flush interval too late comes to its receiver before the end all the same.  So two
drivers of one job are compared by their journals as well.

Channels and pools have a journal each, since at one instant their order among each other is free.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeVar

from ckptsim.models.barriers.barrier import Announcement, NetworkEvent
from ckptsim.sim.job.buffers.compiled.columns import clock, writer
from ckptsim.sim.job.oracle.buffers.counted import CountsFollower
from ckptsim.sim.job.oracle.buffers.counts import CreditCount, PoolCount
from ckptsim.sim.job.oracle.buffers.oracle import BufferOracle
from ckptsim.sim.job.oracle.channels import ChannelOracle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ckptsim.models.coordinator.plan import Plan
    from ckptsim.sim.job.buffers.compiled import CompiledDriver
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.control.checkpoint import CheckpointRecord, JobCheckpoint
    from ckptsim.sim.job.port import ObservedTask
    from ckptsim.sim.kernel import Environment

_Noted = TypeVar("_Noted")
Entry = tuple[Any, ...]
"""The instant in ns, what happened, and to how much."""


class Journal:
    """What happened, by the name of the channel or pool that it happened to."""

    def __init__(self, env: Environment) -> None:
        self._env = env
        self.entries: dict[str, list[Entry]] = {}

    def of(self, name: str) -> list[Entry]:
        """Return the entries of a name."""
        return self.entries.setdefault(name, [])

    def now(self) -> int:
        """Return the instant of what is told."""
        return self._env.now

    def parting(self, other: Journal) -> str | None:
        """Return where another journal parts from this one first, None where it does not."""
        found: list[tuple[int, str]] = []
        for name in dict.fromkeys((*self.entries, *other.entries)):
            one, two = _first(self.of(name), other.of(name))
            first = one or two
            if first is not None:
                says = (
                    f"{name}: the kernel has {one or 'no more'}, the reference {two or 'no more'}"
                )
                found.append((first[0], says))
        return min(found)[1] if found else None


def _first(one: list[Entry], other: list[Entry]) -> tuple[Entry | None, Entry | None]:
    """Return the first entries that are not the same."""
    if one == other:
        return None, None
    return next(pair for pair in zip_longest(one, other) if pair[0] != pair[1])


class JournaledChannel(ChannelOracle):
    """A channel whose elements are noted as they leave and as they are taken."""

    journal: Journal
    entries: list[Entry]

    def sent(self, element: object, /) -> None:
        """Note an element that leaves its sender."""
        self._note("sends", element)
        super().sent(element)

    def taken(self, element: object, /, *, priority: bool = False) -> None:
        """Note an element that comes to the task."""
        self._note("delivers", element)
        super().taken(element, priority=priority)

    def _note(self, what: str, element: Any) -> None:
        if isinstance(element, Announcement):
            return  # a kernel tells of the barrier alone
        event = isinstance(element, NetworkEvent)
        told = str(element) if event else (element.bytes, element.records)
        self.entries.append((self.journal.now(), what, told))


class JournaledPool(PoolCount):
    """A pool whose segments are noted as they go out and come back."""

    journal: Journal
    entries: list[Entry]

    def given(self, channel: int) -> None:
        """Note a segment that is handed out."""
        self.entries.append((self.journal.now(), "hands out", channel))
        super().given(channel)

    def returned(self, channel: int) -> None:
        """Note a segment that comes back."""
        self.entries.append((self.journal.now(), "gets back", channel))
        super().returned(channel)


class JournaledCredit(CreditCount):
    """The credit of a channel, noted as it comes and as buffers are filled and freed."""

    __slots__ = ("entries", "journal")

    journal: Journal
    entries: list[Entry]

    def credited(self, count: int) -> None:
        """Note credit that reaches the sender."""
        self.entries.append((self.journal.now(), "is credited", count))
        super().credited(count)

    def sent_empty(self) -> None:
        """Note an empty buffer that leaves."""
        self.entries.append((self.journal.now(), "sends", "empty"))
        super().sent_empty()

    def arrived(self, *, floating: bool) -> None:
        """Note data that fills a buffer."""
        self.entries.append((self.journal.now(), "fills", floating))
        super().arrived(floating=floating)

    def freed(self, *, floating: bool) -> None:
        """Note a buffer that is free again."""
        self.entries.append((self.journal.now(), "frees", floating))
        super().freed(floating=floating)


class JournalFollower(CountsFollower):
    """Notes what a kernel tells of each buffer, besides; places: the entries of channels, by row.

    credits: those of the credit of channels over the network; pools: those of pools, by lane.
    """

    def __init__(
        self,
        journal: Journal,
        of_channels: Mapping[int, list[Entry]],
        of_credits: Mapping[int, list[Entry]],
        of_pools: Mapping[int, tuple[int, list[Entry]]],
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self._journal = journal
        self._of_channels = of_channels
        self._of_credits = of_credits
        self._of_pools = of_pools

    def tell(self, what: int, number: int, item: int, size: int, records: int) -> None:
        """Hear one line; see `columns/clock.py`."""
        now = self._journal.now()
        if what in (clock.GIVEN, clock.RETURNED):
            lane, entries = self._of_pools[number]
            entries.append((now, "hands out" if what == clock.GIVEN else "gets back", lane))
        elif what in (clock.SENT, clock.TAKEN):
            does = "sends" if what == clock.SENT else "delivers"
            self._of_channels[number].append((now, does, (size, records)))
        elif what >= clock.FIRST_JOURNALED:
            if number in self._of_credits:
                self._of_credits[number].append((now, *_of_credit(what, size)))
        else:
            if what in (clock.SENT_EVENT, clock.TAKEN_EVENT):
                does = "sends" if what == clock.SENT_EVENT else "delivers"
                event = self._driver.event_in(item)
                self._of_channels[number].append((now, does, str(event)))
            super().tell(what, number, item, size, records)


def _of_credit(what: int, size: int) -> tuple[str, Any]:
    if what == clock.CREDITED:
        return "is credited", size
    if what == clock.SENT_EMPTY:
        return "sends", "empty"
    return "fills" if what == clock.ARRIVED else "frees", size != 0


class JournaledOracle(BufferOracle):
    """The oracle of jobs on buffers, with a journal of all attempts."""

    follows = clock.EVERY
    channel_type = JournaledChannel
    pool_type = JournaledPool
    credit_type = JournaledCredit

    def __init__(self, world: DataflowWorld) -> None:
        super().__init__(world)
        self.journal = Journal(world.env)

    def channel(
        self, sender: ObservedTask, receiver: ObservedTask, **settings: Any
    ) -> ChannelOracle:
        """Return the oracle of a channel, with a journal."""
        found = super().channel(sender, receiver, **settings)
        return self._noted(found, _of_channel(found))

    def follower(self, driver: CompiledDriver) -> JournalFollower:
        """Return what hears the log of the attempt's kernel, and notes all of it."""
        lanes: dict[int, tuple[int, list[Entry]]] = {}
        for pool in self._counted_pools:
            place = self._pools[pool.output.task.number].index(pool)
            first = driver.m.item(pool.output.row + writer.FIRST_LANE)
            entries = self.journal.of(f"pool {pool.name}, {place}")
            for lane in range(driver.m.item(pool.output.row + writer.LANES)):
                lanes[first + lane * writer.LANE_WIDTH] = lane, entries
        of = self.journal.of
        remote = (one for one in self._counted if not one.pulled)
        return JournalFollower(
            self.journal,
            {one.end.row: of(_of_channel(one)) for one in self._counted},
            {one.end.row: of(_of_credits(one)) for one in remote},
            lanes,
            **self._follows(driver),
        )

    def planned(self, plan: Plan) -> None:
        """Look around before each checkpoint, as small jobs are over before samples are taken."""
        super().planned(plan)
        self.look()

    def completed(self, record: CheckpointRecord, kept: JobCheckpoint | None) -> None:
        """Look around behind each checkpoint."""
        super().completed(record, kept)
        self.look()

    def _pool_count(self, task: Task, name: str, **settings: Any) -> PoolCount:
        place = len(self._pools.get(task.number, ()))
        return self._noted(super()._pool_count(task, name, **settings), f"pool {name}, {place}")

    def _credit(self, oracle: ChannelOracle, **settings: Any) -> CreditCount:
        return self._noted(super()._credit(oracle, **settings), _of_credits(oracle))

    def _noted(self, found: _Noted, name: str) -> _Noted:
        one: Any = found
        one.journal, one.entries = self.journal, self.journal.of(name)
        return found


def _of_channel(oracle: ChannelOracle) -> str:
    return f"channel {oracle.name}, input {oracle.index}"


def _of_credits(oracle: ChannelOracle) -> str:
    return f"credit of {oracle.name}, input {oracle.index}"
