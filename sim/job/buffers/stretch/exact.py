"""An inlet's calendar, entry by entry, credits and floating buffers included.

It does what channels, gate and task of the callback driver do, on numbers instead of objects: no
timer, no element and no call per step.  Only what touches the one inlet is in its calendar.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.stretch.fast import is_calm
from ckptsim.sim.job.buffers.stretch.inlet import ARRIVAL, CREDIT, MAIL, NEVER, RESUME, Mode

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.stretch.inlet import Entry, Inlet

_IDLE, _WAKING, _READING, _LAST, _ = Mode


def advance(inlet: Inlet, until: int, *, to_calm: bool) -> bool:
    """Carry out what happens before `until`.

    With `to_calm` it stops early, and returns True, at an instant from which on arithmetic can
    take over.
    """
    heap = inlet.heap
    open_times, open_lanes = inlet.opening_lists()
    records = inlet.record_list()
    while True:
        opening, at = open_times[inlet.next_open], inlet.at
        now = heap[0][0] if heap else NEVER
        if min(now, opening, at) >= until:
            inlet.now = until
            return False
        if now <= at and now <= opening:
            entry = heappop(heap)
            if not _happen(inlet, entry):
                if to_calm and entry[1] == CREDIT and is_calm(inlet):
                    inlet.now = now
                    return True
                continue
        elif at <= opening:
            now = at
            if inlet.mode is _READING:
                _recycle(inlet, inlet.hand, inlet.hand_lane, now)
                inlet.mode, inlet.at = _LAST, inlet.hand_end
                continue
        else:
            _open(inlet, opening, open_lanes[inlet.next_open])
            continue
        if not _take_next(inlet, records, now) and to_calm and is_calm(inlet):
            inlet.now = now
            return True


def _happen(inlet: Inlet, entry: Entry) -> bool:
    """Carry an entry out; True when the thread turns to its next buffer with it."""
    now, kind, _, _, lane, argument = entry
    if kind == ARRIVAL:
        _arrive(inlet, lane, now, argument)
    elif kind == CREDIT:
        if argument:
            inlet.credit[lane] += argument
        else:
            inlet.armed[lane] = False
        _pump(inlet, lane, now, late=True)
    elif kind == MAIL:
        _wake(inlet, now)
    elif kind == RESUME:
        return True
    else:
        inlet.seen_inside += inlet.inside
        ends = zip(inlet.seen_behind, inlet.opened, inlet.sent, strict=True)
        inlet.seen_behind = [seen + opened - sent for seen, opened, sent in ends]
    return False


def _wake(inlet: Inlet, now: int) -> None:
    if inlet.mode is _IDLE:
        inlet.mode, inlet.at = _WAKING, now + inlet.wake_ns
        inlet.wake_at.append(now)


def _arrive(inlet: Inlet, lane: int, now: int, backlog: int) -> None:
    number = inlet.arrived[lane]
    inlet.arrived[lane] = number + 1
    inlet.inside += 1
    own, lent = inlet.own_free, inlet.lent_free
    if lent[lane]:
        lent[lane] -= 1
        inlet.lent[number] = 1
    else:
        own[lane] -= 1
    inlet.announced[lane] = backlog
    want = backlog + inlet.exclusive
    if want != inlet.required[lane]:
        inlet.eager += (want != inlet.exclusive) - (inlet.required[lane] != inlet.exclusive)
        inlet.required[lane] = want
    free = own[lane] + lent[lane]
    if free < want and not inlet.waiting[lane]:
        granted = min(want - free, inlet.gate_free)
        inlet.gate_free -= granted
        lent[lane] += granted
        if free + granted < want:
            inlet.lenders.append(lane)
            inlet.waiting[lane] = True
        if granted:
            _give_credit(inlet, lane, now, granted)
    if not inlet.listed[lane]:
        inlet.listed[lane] = True
        inlet.ready.append(lane)
        _wake(inlet, now)


def _open(inlet: Inlet, now: int, lane: int) -> None:
    """Open a buffer at the sender, which lets the one before it leave."""
    opened, sent = inlet.opened, inlet.sent
    inlet.next_open += 1
    before = opened[lane] - sent[lane]
    opened[lane] += 1
    if before == 1:
        _pump(inlet, lane, now, late=False)
        inlet.stalled += opened[lane] - sent[lane] == 2
    held = opened[lane] - sent[lane]
    if held > before:
        inlet.holdings.append((now, RESUME, lane, 1))
        if held >= inlet.most_held:
            inlet.full_ns = min(inlet.full_ns, now)


def _pump(inlet: Inlet, lane: int, now: int, *, late: bool) -> None:
    """Send what can be sent; `late` when it did not leave as the next one was opened."""
    opened, sent, credit, clear = inlet.opened, inlet.sent, inlet.credit, inlet.clear_ns
    while True:
        count = opened[lane] - sent[lane]
        if now < clear[lane]:
            if not inlet.armed[lane] and count >= 2:
                inlet.armed[lane] = True
                _push(inlet, clear[lane], CREDIT, lane, 0)
            return
        if not credit[lane]:
            inlet.starved[lane] = inlet.starved[lane] or count > 0
            return
        if count < 2:
            return
        sent[lane] += 1
        credit[lane] -= 1
        clear[lane] = now + inlet.send_ns
        _push(inlet, now + inlet.latency_ns, ARRIVAL, lane, count - 2)
        if late:
            inlet.holdings.append((now, CREDIT, lane, -1))
            inlet.stalled -= count == 2


def _push(inlet: Inlet, time: int, kind: int, lane: int, argument: int) -> None:
    inlet.seq += 1
    heappush(inlet.heap, (time, kind, inlet.ranks[lane], inlet.seq, lane, argument))


def _give_credit(inlet: Inlet, lane: int, now: int, count: int) -> None:
    _push(inlet, now + inlet.latency_ns, CREDIT, lane, count)


def _recycle(inlet: Inlet, number: int, lane: int, now: int) -> None:
    """Free a receiver's buffer."""
    if inlet.lent[number]:
        _return_lent(inlet, now)
        return
    own, lent = inlet.own_free, inlet.lent_free
    own[lane] += 1
    if lent[lane] and own[lane] + lent[lane] > inlet.required[lane]:
        lent[lane] -= 1
        _return_lent(inlet, now)
    else:
        _give_credit(inlet, lane, now, 1)


def _return_lent(inlet: Inlet, now: int) -> None:
    """Lend a floating buffer on to the first channel that still wants one."""
    own, lent, required = inlet.own_free, inlet.lent_free, inlet.required
    while inlet.lenders:
        lane = inlet.lenders.popleft()
        inlet.waiting[lane] = False
        free = own[lane] + lent[lane]
        if free >= required[lane]:
            continue
        lent[lane] += 1
        if free + 1 < required[lane]:
            inlet.lenders.append(lane)
            inlet.waiting[lane] = True
        _give_credit(inlet, lane, now, 1)
        return
    inlet.gate_free += 1


def _take_next(inlet: Inlet, records: list[int], now: int) -> bool:
    """Have the thread take its next buffer; False when there is none, and it goes to sleep."""
    ready, polled = inlet.ready, inlet.polled
    while ready:
        lane = ready.popleft()
        number = polled[lane]
        polled[lane] = number + 1
        inlet.inside -= 1
        if inlet.arrived[lane] > number + 1:
            ready.append(lane)
        else:
            inlet.listed[lane] = False
        length = records[number]
        inlet.polls.append((now, number))
        if length > 1:
            inlet.mode, inlet.hand, inlet.hand_lane = _READING, number, lane
            inlet.hand_end = now + length * inlet.step_ns
            inlet.at = inlet.hand_end - inlet.step_ns
            return True
        _recycle(inlet, number, lane, now)
        if length:
            inlet.mode, inlet.hand, inlet.hand_lane = _LAST, number, lane
            inlet.at = inlet.hand_end = now + inlet.step_ns
            return True
    inlet.mode, inlet.at = _IDLE, NEVER
    inlet.idle_from.append(now)
    return False
