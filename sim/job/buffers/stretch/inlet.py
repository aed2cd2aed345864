"""One operator's input as numbers: its lanes, from the senders' queues to the thread.

As long as no output pool runs dry, what a sender emits does not depend on its receivers.  So a
receiver together with its channels (the queues in front of the wire, the wire, credits, floating
buffers, the gate, the thread) is a system of its own, fed by openings at known times.  `exact.py`
and `fast.py` move it on; `load` and `settle.py` translate from and to the objects of the world.

Buffers are numbered lane by lane in their order.  Four places of a lane say where its buffers are:
`polled` <= `arrived` <= `sent` <= `opened`, each the number of the next buffer to do so.  The last
number but one is the buffer that the thread is reading at the beginning.

Source: the callback driver, `channels.py`, `gate.py`, `subpartition.py`, `task.py`.
"""

from __future__ import annotations

from collections import deque
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ckptsim.sim.job.buffers.input import RemoteChannel
from ckptsim.sim.job.buffers.kinds import State
from ckptsim.sim.job.buffers.output import Segment, Slice, records_in

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.output import RecordWriter
    from ckptsim.sim.job.buffers.stretch.emission import Feed
    from ckptsim.sim.job.buffers.stretch.messages import Messages
    from ckptsim.sim.job.buffers.tasks import Task

Ints = NDArray[np.int64]

Entry = tuple[int, int, int, int, int, int]
"""Time, kind, rank of the lane, order inside it, lane (-1: none), argument."""

NEVER = 1 << 62

# Kinds of entries of an inlet's own calendar, with the numbers of `Kind`, so in the same order.
ARRIVAL = 16
CREDIT = 17
MAIL = 18
RESUME = 21
SAMPLE = 23


class Mode(IntEnum):
    """What the thread does."""

    IDLE = 0
    WAKING = 1
    READING = 2  # in the records before the last one of a buffer
    LAST = 3  # in the last record: the receiver's buffer is free
    PAUSED = 4


class Inlet:
    """The lanes of one operator that has one gate, all of whose channels are remote.

    A lane has the index of its channel.  writers: number of each lane's writer; places: channel of
    that writer; ranks: order of the lanes among messages of one instant; feeders: the writers, each
    once; feeds: each lane's channel, counted over all feeders.  seen_inside, seen_behind: what all
    samples have counted together, at the receiver and per lane at the sender.
    """

    def __init__(self, task: Task, writers: list[RecordWriter]) -> None:
        self.task = task
        self.gate = task.gates[0]
        self.channels = [c for c in task.channels if isinstance(c, RemoteChannel)]
        self.cores = [c.core for c in self.channels]
        self.outgoing = [c.subpartition.core for c in self.channels]
        self.writers = [writers.index(c.subpartition.writer) for c in self.channels]
        self.places = [c.subpartition.channel for c in self.channels]
        self.senders = [c.subpartition.owner.number for c in self.channels]
        self.feeders = tuple(sorted(set(self.writers)))
        self.feeds = self._counted_over(writers)
        by_rank = sorted(range(len(self.channels)), key=self._rank)
        self.ranks = [0] * len(by_rank)
        for rank, lane in enumerate(by_rank):
            self.ranks[lane] = rank
        self.rank_array: Ints = np.array(self.ranks, dtype=np.int64)
        wire = self.channels[0].wire
        self.latency_ns = wire.latency_ns
        self.send_ns = wire.send_ns
        self.wake_ns = task.wake_ns
        self.step_ns = task.step_ns
        network = task.world.model.network
        self.exclusive = network.exclusive_buffers
        self.floating_total = network.floating_buffers
        self.most_held = network.max_buffers_per_channel
        self.record_bytes = network.record_bytes

    def _counted_over(self, writers: list[RecordWriter]) -> Ints:
        first, firsts = 0, {}
        for feeder in self.feeders:
            firsts[feeder] = first
            first += len(writers[feeder].subpartitions)
        lanes = zip(self.writers, self.places, strict=True)
        return np.array([firsts[writer] + place for writer, place in lanes], dtype=np.int64)

    def _rank(self, lane: int) -> bytes:
        return self.channels[lane].wire.entity.ranks[ARRIVAL]

    # From the world ---------------------------------------------------------------------------

    def load(self, now: int, messages: Messages, feed: Feed) -> None:
        """Take the state of the world at `now`, and what the senders are going to open."""
        self.now = now
        self.seq = 0
        self.heap: list[Entry] = []
        self._load_lanes()
        self._load_queues(messages)
        self._load_sizes(feed)
        self._load_openings(feed)
        self._load_thread(messages)
        gate = self.gate
        self.gate_free = gate.floating_free
        self.ready = deque(channel.index for channel in gate.ready)
        self.lenders = deque(channel.index for channel in gate.lenders)
        self.inside = sum(self.arrived) - sum(self.polled)
        self.stalled = sum(o - s >= 2 for o, s in zip(self.opened, self.sent, strict=True))
        self.eager = sum(want != self.exclusive for want in self.required)
        self.poll_times: list[Ints] = []
        self.poll_ids: list[Ints] = []
        self.polls: list[tuple[int, int]] = []
        self.idle_from: list[int] = []
        self.wake_at: list[int] = []
        self.holdings: list[tuple[int, int, int, int]] = []
        self.seen_inside = 0
        self.seen_behind = [0] * len(self.channels)
        self.full_ns = NEVER

    def push(self, time: int, kind: int, lane: int, argument: int) -> None:
        """Add an entry to the inlet's calendar before it is put in order."""
        rank = self.ranks[lane] if lane >= 0 else 0
        self.heap.append((time, kind, rank, self.seq, lane, argument))
        self.seq += 1

    def _load_lanes(self) -> None:
        channels = self.channels
        self.credit = [c._credit for c in channels]
        self.clear_ns = [c._ready_ns for c in channels]
        self.armed = [c._pump_armed for c in channels]
        self.starved = [c.starved for c in channels]
        self.own_free = [c._exclusive_free for c in channels]
        self.lent_free = [c._floating_free for c in channels]
        self.required: list[int] = [c._required for c in channels]
        self.waiting = [c._waiting for c in channels]
        self.announced = [c.announced for c in channels]
        self.listed = [c.listed for c in channels]

    def _load_queues(self, messages: Messages) -> None:
        """Collect what there is of each lane: at the receiver, on the wire, at the sender."""
        self.objects: list[list[Any]] = [list(core._queue) for core in self.cores]
        self._queued = [len(found) for found in self.objects]
        for lane, time, slice_, backlog in messages.arrivals.get(self.task.number, ()):
            self.objects[lane].append(slice_)
            self.push(time, ARRIVAL, lane, backlog)
        for lane, time, count in messages.credits.get(self.task.number, ()):
            self.push(time, CREDIT, lane, count)
        self._wired = [len(found) for found in self.objects]
        for found, core in zip(self.objects, self.outgoing, strict=True):
            found.extend(core._queue)

    def _load_sizes(self, feed: Feed) -> None:
        """Give every buffer its number, and note the sizes of those that are there."""
        known = np.array([len(found) for found in self.objects], dtype=np.int64)
        self.fresh: Ints = feed.opened[self.feeds]
        all_ = known + self.fresh
        base = np.cumsum(all_) - all_
        self.total = int(all_.sum())
        self.base: list[int] = base.tolist()
        self.known: list[int] = known.tolist()
        # Behind all buffers: the one that is read at the beginning, and none.
        self.records = np.zeros(self.total + 2, dtype=np.int64)
        self.bytes = np.zeros(self.total + 2, dtype=np.int64)
        self.lent = bytearray(self.total + 2)
        sizes = [self._size(item) for found in self.objects for item in found]
        numbers = in_rows(base, known)
        self.records[numbers] = [records for records, _, _ in sizes]
        self.bytes[numbers] = [size for _, size, _ in sizes]
        for number, (_, _, floating) in zip(numbers.tolist(), sizes, strict=True):
            if floating:
                self.lent[number] = 1
        self.polled: list[int] = list(self.base)
        self.arrived: list[int] = (base + self._queued).tolist()
        self.sent: list[int] = (base + self._wired).tolist()
        self.opened: list[int] = (base + known).tolist()
        self.start_arrived, self.start_sent = self.arrived[:], self.sent[:]
        self.start_opened = self.opened[:]

    def _size(self, item: Slice | Segment) -> tuple[int, int, bool]:
        """Return records, bytes and whether it is in a floating buffer."""
        if isinstance(item, Slice):
            return item.records, item.bytes, item.floating
        if item.closed:
            return item.records, item.bytes, False
        return records_in(item, item.size, self.record_bytes), item.size, False

    def _load_openings(self, feed: Feed) -> None:
        """Put what the senders are going to open in the order of time."""
        fresh = self.fresh
        places = in_rows(feed.first[self.feeds], fresh)
        lanes = np.repeat(np.arange(len(fresh)), fresh)
        numbers = in_rows(np.array(self.start_opened, dtype=np.int64), fresh)
        self.records[numbers] = feed.records[places]
        self.bytes[numbers] = feed.capacity[self.feeds][lanes]
        times = feed.times[places]
        order = np.argsort(times, kind="stable")
        self.feed = feed
        self.open_times: Ints = times[order]
        self.open_lane: Ints = lanes[order]
        self.open_ids: Ints = numbers[order]
        self.next_open = 0
        self._record_list: list[int] | None = None
        self._opening_lists: tuple[list[int], list[int]] | None = None

    def flush_polls(self) -> None:
        """Turn the turns noted one by one into arrays."""
        if self.polls:
            noted = np.array(self.polls, dtype=np.int64)
            self.poll_times.append(noted[:, 0])
            self.poll_ids.append(noted[:, 1])
            self.polls = []

    def record_list(self) -> list[int]:
        """Return the records of every buffer, by number."""
        if self._record_list is None:
            self._record_list = self.records.tolist()
        return self._record_list

    def opening_lists(self) -> tuple[list[int], list[int]]:
        """Return times and lanes of all openings; a last one never happens."""
        if self._opening_lists is None:
            times: list[int] = self.open_times.tolist()
            lanes: list[int] = self.open_lane.tolist()
            self._opening_lists = ([*times, NEVER], [*lanes, -1])
        return self._opening_lists

    def _load_thread(self, messages: Messages) -> None:
        task = self.task
        self.hand, self.hand_lane, self.hand_end = self.total, -1, NEVER
        self.at = NEVER
        if task.state is State.IDLE:
            self.mode = Mode.IDLE
        elif task.state is State.PAUSED:
            self.mode = Mode.PAUSED
        elif task.state is State.WAKING:
            self.mode = Mode.WAKING
            self.at = messages.timers[task.number]
        else:
            slice_, channel = task._slice, task._channel
            left = task._left
            self.hand_lane = next(i for i, c in enumerate(self.channels) if c is channel)
            self.records[self.hand] = left
            self.lent[self.hand] = slice_ is not None and slice_.floating
            self.hand_end = task._start_ns + left * self.step_ns
            self.mode = Mode.LAST if left == 1 else Mode.READING
            self.at = self.hand_end - (0 if left == 1 else self.step_ns)
        self.first_mode = self.mode
        self.first_start = task._start_ns
        self.first_at = self.at

    def wake(self, time: int) -> None:
        """Have a mail wake the thread, if it sleeps then."""
        self.push(time, MAIL, -1, 0)

    def resume(self, time: int) -> None:
        """Have a pause end."""
        self.first_at = time
        self.push(time, RESUME, -1, 0)

    def sample(self, time: int) -> None:
        """Have the queues counted."""
        self.push(time, SAMPLE, -1, 0)


def in_rows(firsts: Ints, counts: Ints) -> Ints:
    """Return `count` numbers from each `first` on, row by row."""
    ends = np.cumsum(counts)
    return np.repeat(firsts - ends + counts, counts) + np.arange(int(counts.sum()))
