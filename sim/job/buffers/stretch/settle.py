"""Give what an inlet has become back to the objects of the callback driver."""

from __future__ import annotations

from collections import deque

import numpy as np

from ckptsim.sim.job.buffers.kinds import Kind, State
from ckptsim.sim.job.buffers.output import Segment, Slice
from ckptsim.sim.job.buffers.stretch.inlet import ARRIVAL, CREDIT, Inlet, Ints, Mode


class Service:
    """What the thread of an inlet has done by its present.

    times, numbers: turns, the buffer under way at the beginning included; done: records.
    """

    def __init__(self, inlet: Inlet) -> None:
        inlet.flush_polls()
        times, numbers = list(inlet.poll_times), list(inlet.poll_ids)
        if inlet.first_mode in (Mode.READING, Mode.LAST):
            times.insert(0, np.array([inlet.first_start], dtype=np.int64))
            numbers.insert(0, np.array([inlet.total], dtype=np.int64))
        none = np.zeros(0, dtype=np.int64)
        self.times: Ints = np.concatenate([*times, none])
        self.numbers: Ints = np.concatenate([*numbers, none])
        self._step_ns = inlet.step_ns
        self._lengths = inlet.records[self.numbers]
        self._ends = np.cumsum(self._lengths)
        self.left = 0
        if inlet.mode in (Mode.READING, Mode.LAST):
            self.left = (inlet.hand_end - inlet.now) // inlet.step_ns + 1
        self.done = int(self._lengths.sum()) - self.left

    def ends_at(self, ordinals: Ints) -> Ints:
        """Return when the records with these numbers are done, 0 for the first one."""
        turn = np.searchsorted(self._ends, ordinals, side="right")
        place = ordinals - (self._ends[turn] - self._lengths[turn])
        times: Ints = self.times[turn] + (place + 1) * self._step_ns
        return times


def settle_lanes(inlet: Inlet) -> list[tuple[int, Segment]]:
    """Set both ends of all lanes; return each open buffer that was opened, with its writer."""
    lanes = zip(
        inlet.channels,
        inlet.credit,
        inlet.clear_ns,
        inlet.armed,
        inlet.starved,
        inlet.own_free,
        inlet.lent_free,
        inlet.required,
        inlet.waiting,
        inlet.announced,
        inlet.listed,
        strict=True,
    )
    for channel, credit, clear, armed, starved, own, lent, want, waiting, told, listed in lanes:
        channel._credit = credit
        channel._ready_ns = clear
        channel._pump_armed = armed
        channel.starved = starved
        channel._exclusive_free = own
        channel._floating_free = lent
        channel._required = want
        channel._waiting = waiting
        channel.announced = told
        channel.listed = listed
    _settle_reading(inlet)
    _settle_received(inlet)
    return _settle_unsent(inlet)


def _settle_reading(inlet: Inlet) -> None:
    """Account for what has been read, and set the order in which channels stand."""
    of_records = np.concatenate([[0], np.cumsum(inlet.records[:-2])])
    of_bytes = np.concatenate([[0], np.cumsum(inlet.bytes[:-2])])
    read_records = of_records[inlet.polled] - of_records[inlet.base]
    read_bytes = of_bytes[inlet.polled] - of_bytes[inlet.base]
    partial = read_bytes - read_records * inlet.record_bytes
    for channel, records, size in zip(
        inlet.channels, read_records.tolist(), partial.tolist(), strict=True
    ):
        channel.records += records
        channel.partial_bytes += size
    gate, task = inlet.gate, inlet.task
    gate.taken_bytes += int(read_bytes.sum())
    gate.floating_free = inlet.gate_free
    gate.ready = deque(inlet.channels[lane] for lane in inlet.ready)
    gate.lenders = deque(inlet.channels[lane] for lane in inlet.lenders)
    gate.listed = bool(gate.ready)
    task.turns.ready = deque([gate] if gate.ready else [])


def _settle_received(inlet: Inlet) -> None:
    """Set what waits at the receiver."""
    ends = zip(inlet.cores, inlet.start_arrived, inlet.polled, inlet.arrived, strict=True)
    for lane, (core, before, polled, arrived) in enumerate(ends):
        core.next_sequence += arrived - before
        core._data_arrived += arrived - before
        core.data_count = arrived - polled
        if arrived > polled:
            core._queue = deque(slice_of(inlet, lane, n) for n in range(polled, arrived))
        elif core._queue:
            core._queue.clear()


def _settle_unsent(inlet: Inlet) -> list[tuple[int, Segment]]:
    """Set what has not been sent; return each open buffer that was opened, with its writer."""
    feed, fresh = inlet.feed, (inlet.opened, inlet.start_opened)
    last = feed.first[inlet.feeds] + np.array(fresh[0]) - np.array(fresh[1]) - 1
    heads = feed.heads[last].tolist()
    sizes = feed.capacity[inlet.feeds].tolist()
    ends = zip(inlet.outgoing, inlet.start_sent, inlet.sent, *fresh, strict=True)
    found = []
    for lane, (outgoing, before, sent, end, known) in enumerate(ends):
        if end == known and sent == before:
            continue
        outgoing.next_sequence += sent - before
        outgoing.data_count = end - sent
        queue = outgoing._queue
        queue.clear()
        if end - sent > 1:
            queue.extend(_closed(inlet, lane, number) for number in range(sent, end - 1))
        if end > known:
            opened = Segment(inlet.places[lane], sizes[lane], heads[lane])
            queue.append(opened)
            found.append((inlet.writers[lane], opened))
        elif end > sent:
            queue.append(inlet.objects[lane][-1])
    return found


def _closed(inlet: Inlet, lane: int, number: int) -> Segment:
    """Return a full buffer that has not been sent."""
    place = number - inlet.base[lane]
    objects = inlet.objects[lane]
    size, records = int(inlet.bytes[number]), int(inlet.records[number])
    if place < len(objects):
        segment: Segment = objects[place]
    else:
        opening = int(inlet.feed.first[inlet.feeds[lane]]) + place - len(objects)
        segment = Segment(inlet.places[lane], size, int(inlet.feed.heads[opening]))
    segment.bytes, segment.records, segment.closed = size, records, True
    return segment


def slice_of(inlet: Inlet, lane: int, number: int) -> Slice:
    """Return a buffer as it lies on the wire or at the receiver."""
    place = number - inlet.base[lane]
    objects = inlet.objects[lane]
    item = objects[place] if place < len(objects) else None
    if not isinstance(item, Slice):
        item = Slice(int(inlet.bytes[number]), int(inlet.records[number]))
    item.floating = bool(inlet.lent[number])
    return item


def settle_messages(inlet: Inlet) -> None:
    """Enter what is on the wires into the calendar again."""
    env = inlet.task.env
    on_wire = list(inlet.arrived)
    for time, kind, _, _, lane, argument in sorted(inlet.heap):
        if kind not in (ARRIVAL, CREDIT):
            continue
        channel = inlet.channels[lane]
        entity = channel.wire.entity
        if kind == ARRIVAL:
            slice_ = slice_of(inlet, lane, on_wire[lane])
            on_wire[lane] += 1
            env.call_at(time, Kind.ARRIVAL, entity, channel._arrive, slice_, argument)
        elif argument:
            env.call_at(time, Kind.CREDIT, entity, channel._add_credit, argument)
        else:
            env.call_at(time, Kind.CREDIT, entity, channel._pump_again)


def settle_thread(inlet: Inlet, service: Service) -> None:
    """Set the thread, its time account and its timer; the outputs have been set before."""
    task, now = inlet.task, inlet.now
    _account(inlet)
    task.processed += service.done
    if inlet.mode is Mode.IDLE:
        task.state = State.IDLE
    elif inlet.mode is Mode.PAUSED:
        task.state = State.PAUSED
    elif inlet.mode is Mode.WAKING:
        task.state = State.WAKING
        task._timer.arm_at(inlet.at)
    else:
        task.state = State.BUSY
    if task.state is not State.BUSY:
        task._slice = None
        task._left = task._count = 0
        return
    if inlet.hand != inlet.total:
        task._slice = slice_of(inlet, inlet.hand_lane, inlet.hand)
        task._channel = inlet.channels[inlet.hand_lane]
    left = service.left
    count = min([max(1, left - 1), *(writer.to_next for writer in task.writers)])
    task._left, task._count = left, count
    task._start_ns = inlet.hand_end - left * inlet.step_ns
    task._timer.arm_at(task._start_ns + count * inlet.step_ns)
    if now > task._start_ns + count * inlet.step_ns:
        raise AssertionError("a stretch that is over")


def _account(inlet: Inlet) -> None:
    """Add up what the thread did since it began to do what it did at first."""
    task, now = inlet.task, inlet.now
    since = task.since_ns
    begins, wakes = list(inlet.idle_from), list(inlet.wake_at)
    spent = [0] * len(State)
    if inlet.first_mode is Mode.IDLE:
        begins.insert(0, since)
    elif inlet.first_mode is Mode.WAKING:
        spent[State.WAKING] = min(now, inlet.first_at) - since
    elif inlet.first_mode is Mode.PAUSED:
        spent[State.PAUSED] = min(now, inlet.first_at) - since
    ends = wakes if len(wakes) == len(begins) else [*wakes, now]
    spent[State.IDLE] = sum(ends) - sum(begins)
    spent[State.WAKING] += sum(min(inlet.wake_ns, now - wake) for wake in wakes)
    spent[State.BUSY] = now - since - sum(spent)
    for state, time in enumerate(spent):
        task.time_in[state] += time
    task.since_ns = now
