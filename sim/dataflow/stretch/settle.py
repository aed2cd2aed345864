"""Give what an inlet has become back to the objects of the callback driver."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from sim.dataflow.kinds import Kind
from sim.dataflow.segment import Segment, Slice
from sim.dataflow.states import State
from sim.dataflow.stretch.inlet import ARRIVAL, CREDIT, Inlet, Ints, Mode

if TYPE_CHECKING:
    from sim.dataflow.stretch.emission import Emission


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


def settle_lanes(inlet: Inlet, emissions: list[Emission], opened: list[list[Segment]]) -> None:
    """Set both ends of all lanes; `opened` takes the last buffer opened of each, per writer."""
    records, sizes = inlet.records[:-1], inlet.bytes[:-1]
    of_records = np.concatenate([[0], np.cumsum(records)])
    of_bytes = np.concatenate([[0], np.cumsum(sizes)])
    polled, base = np.array(inlet.polled), np.array(inlet.base)
    read_records = (of_records[polled] - of_records[base]).tolist()
    read_bytes = (of_bytes[polled] - of_bytes[base]).tolist()
    record = inlet.record_bytes
    for lane, channel in enumerate(inlet.channels):
        channel._credit = inlet.credit[lane]
        channel._ready_ns = inlet.clear_ns[lane]
        channel._pump_armed = inlet.armed[lane]
        channel.starved = inlet.starved[lane]
        channel._exclusive_free = inlet.own_free[lane]
        channel._floating_free = inlet.lent_free[lane]
        channel._required = inlet.required[lane]
        channel._waiting = inlet.waiting[lane]
        channel.announced = inlet.announced[lane]
        channel.listed = inlet.listed[lane]
        if read_bytes[lane]:
            channel.records += read_records[lane]
            channel.partial_bytes += read_bytes[lane] - read_records[lane] * record
        if inlet.touched[lane] or read_bytes[lane]:
            _settle_queues(inlet, lane, emissions[inlet.writers[lane]], opened)
    gate, task = inlet.gate, inlet.task
    gate.taken_bytes += sum(read_bytes)
    gate.floating_free = inlet.gate_free
    gate.ready = deque(inlet.channels[lane] for lane in inlet.ready)
    gate.lenders = deque(inlet.channels[lane] for lane in inlet.lenders)
    gate.listed = bool(gate.ready)
    task._ready = deque([gate] if gate.ready else [])


def _settle_queues(
    inlet: Inlet, lane: int, emission: Emission, opened: list[list[Segment]]
) -> None:
    channel = inlet.channels[lane]
    base, objects = inlet.base[lane], inlet.objects[lane]
    first_arrived, first_sent = inlet.start_of(lane)
    core, arrived = channel.core, inlet.arrived[lane]
    core.next_sequence += arrived - first_arrived
    core._data_arrived += arrived - first_arrived
    core.data_count = arrived - inlet.polled[lane]
    core._queue = deque(slice_of(inlet, lane, n) for n in range(inlet.polled[lane], arrived))
    sent, end = inlet.sent[lane], inlet.opened[lane]
    outgoing = channel.outlet.core
    outgoing.next_sequence += sent - first_sent
    outgoing.data_count = end - sent
    queue: deque[object] = deque()
    fresh_from = base + len(objects)
    for number in range(sent, end):
        if number < fresh_from:
            segment = objects[number - base]
        else:
            segment = emission.segment(inlet.places[lane], number - fresh_from)
        if isinstance(segment, Segment) and number < end - 1 and not segment.closed:
            segment.bytes, segment.closed = int(inlet.bytes[number]), True
            segment.records = int(inlet.records[number])
        queue.append(segment)
    outgoing._queue = queue
    if end > fresh_from and isinstance(queue[-1], Segment):
        opened[inlet.writers[lane]].append(queue[-1])


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
