"""An inlet's calendar, entry by entry, credits and floating buffers included.

It does what channels, gate and task of the callback driver do, on numbers instead of objects: no
timer, no element and no call per step.  Only what touches the one inlet is in its calendar.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from sim.dataflow.stretch.fast import Span
from sim.dataflow.stretch.inlet import ARRIVAL, CREDIT, MAIL, NEVER, RESUME, Mode

if TYPE_CHECKING:
    from sim.dataflow.stretch.inlet import Inlet

# How many openings are worked out at a time: speed only.
_SPAN_MIN = 512
_SPAN_MAX = 8192

_IDLE, _WAKING, _READING, _LAST, _PAUSED = Mode


def advance(inlet: Inlet, until: int, *, to_rest: bool) -> bool:  # noqa: C901, PLR0912, PLR0915 - one loop over one calendar, inlined because it is the hot one
    """Carry out what happens before `until`.

    With `to_rest` it stops early, and returns True, at an instant at which the inlet is at rest:
    the thread is idle, every receiver's buffer is where it was at the beginning of the run, no
    credit is on its way and nothing waits for one.  Then only the wires hold data.
    """
    heap, ready, lenders = inlet.heap, inlet.ready, inlet.lenders
    polled, arrived, sent, opened = inlet.polled, inlet.arrived, inlet.sent, inlet.opened
    credit, clear, armed, starved = inlet.credit, inlet.clear_ns, inlet.armed, inlet.starved
    own, lent, required = inlet.own_free, inlet.lent_free, inlet.required
    waiting, listed, announced = inlet.waiting, inlet.listed, inlet.announced
    records, is_lent, ranks = inlet.record_list(), inlet.lent, inlet.ranks
    open_times, open_lanes = inlet.opening_lists()
    latency, send, wake, step = inlet.latency_ns, inlet.send_ns, inlet.wake_ns, inlet.step_ns
    touched, polls = inlet.touched, inlet.polls
    place, mode, at, coming = inlet.next_open, inlet.mode, inlet.at, inlet.coming
    hand, hand_lane, hand_end = inlet.hand, inlet.hand_lane, inlet.hand_end
    gate_free, inside, stalled, seq = inlet.gate_free, inlet.inside, inlet.stalled, inlet.seq
    resting = False

    def pump(lane: int, now: int, *, late: bool) -> None:
        nonlocal seq, stalled
        while True:
            count = opened[lane] - sent[lane]
            if now < clear[lane]:
                if not armed[lane] and count >= 2:
                    armed[lane] = True
                    seq += 1
                    heappush(heap, (clear[lane], CREDIT, ranks[lane], seq, lane, 0))
                return
            if not credit[lane]:
                starved[lane] = starved[lane] or count > 0
                return
            if count < 2:
                return
            sent[lane] += 1
            touched[lane] = True
            credit[lane] -= 1
            clear[lane] = now + send
            seq += 1
            heappush(heap, (now + latency, ARRIVAL, ranks[lane], seq, lane, count - 2))
            if late:
                inlet.holdings.append((now, CREDIT, lane, -1))
                stalled -= count == 2

    def give_credit(lane: int, now: int, count: int) -> None:
        nonlocal seq, coming
        seq += 1
        coming += 1
        heappush(heap, (now + latency, CREDIT, ranks[lane], seq, lane, count))

    def return_lent(now: int) -> None:
        nonlocal gate_free
        while lenders:
            lane = lenders.popleft()
            waiting[lane] = False
            free = own[lane] + lent[lane]
            if free >= required[lane]:
                continue
            lent[lane] += 1
            if free + 1 < required[lane]:
                lenders.append(lane)
                waiting[lane] = True
            give_credit(lane, now, 1)
            return
        gate_free += 1

    def recycle(number: int, lane: int, now: int) -> None:
        if is_lent[number]:
            return_lent(now)
            return
        own[lane] += 1
        if lent[lane] and own[lane] + lent[lane] > required[lane]:
            lent[lane] -= 1
            return_lent(now)
        else:
            give_credit(lane, now, 1)

    def rests() -> bool:
        return (
            not stalled
            and not lenders
            and gate_free == inlet.floating_total
            and not any(e[1] == CREDIT or (e[1] == ARRIVAL and e[5]) for e in heap)
        )

    while True:
        opening = open_times[place]
        now = heap[0][0] if heap else NEVER
        if now <= at and now <= opening:
            if now >= until:
                break
            _, kind, _, _, lane, argument = heappop(heap)
            if kind == ARRIVAL:
                number = arrived[lane]
                arrived[lane] = number + 1
                touched[lane] = True
                inside += 1
                if lent[lane]:
                    lent[lane] -= 1
                    is_lent[number] = 1
                else:
                    own[lane] -= 1
                announced[lane] = argument
                required[lane] = want = argument + inlet.exclusive
                free = own[lane] + lent[lane]
                if free < want and not waiting[lane]:
                    granted = min(want - free, gate_free)
                    gate_free -= granted
                    lent[lane] += granted
                    if free + granted < want:
                        lenders.append(lane)
                        waiting[lane] = True
                    if granted:
                        give_credit(lane, now, granted)
                if not listed[lane]:
                    listed[lane] = True
                    ready.append(lane)
                    if mode == _IDLE:
                        mode, at = _WAKING, now + wake
                        inlet.wake_at.append(now)
                continue
            if kind == CREDIT:
                if argument:
                    credit[lane] += argument
                    coming -= 1
                else:
                    armed[lane] = False
                pump(lane, now, late=True)
                if to_rest and mode == _IDLE and not coming and rests():
                    resting = True
                    break
                continue
            if kind == MAIL:
                if mode == _IDLE:
                    mode, at = _WAKING, now + wake
                    inlet.wake_at.append(now)
                continue
            if kind != RESUME:
                inlet.samples.append((now, inside, _behind(opened, sent)))
                continue
            mode = _LAST
        elif at <= opening:
            if at >= until:
                break
            now = at
            if mode == _READING:
                recycle(hand, hand_lane, now)
                mode, at = _LAST, hand_end
                continue
        else:
            if opening >= until:
                break
            lane = open_lanes[place]
            place += 1
            before = opened[lane] - sent[lane]
            opened[lane] += 1
            touched[lane] = True
            if before == 1:
                pump(lane, opening, late=False)
                stalled += opened[lane] - sent[lane] == 2
            held = opened[lane] - sent[lane]
            if held > before:
                inlet.holdings.append((opening, RESUME, lane, 1))
                if held >= inlet.most_held:
                    inlet.full_ns = min(inlet.full_ns, opening)
            continue
        # The thread takes the next buffer at `now`, or goes to sleep.
        while ready:
            lane = ready.popleft()
            number = polled[lane]
            polled[lane] = number + 1
            inside -= 1
            if arrived[lane] > number + 1:
                ready.append(lane)
            else:
                listed[lane] = False
            length = records[number]
            polls.append((now, number))
            if length > 1:
                mode, hand, hand_lane = _READING, number, lane
                hand_end = now + length * step
                at = hand_end - step
                break
            recycle(number, lane, now)
            if length:
                mode, hand, hand_lane = _LAST, number, lane
                at = hand_end = now + step
                break
        else:
            mode, at = _IDLE, NEVER
            inlet.idle_from.append(now)
            if to_rest and not coming and rests():
                resting = True
                break

    inlet.now = now if resting else until
    inlet.next_open, inlet.mode, inlet.at, inlet.coming = place, Mode(mode), at, coming
    inlet.hand, inlet.hand_lane, inlet.hand_end = hand, hand_lane, hand_end
    inlet.gate_free, inlet.inside, inlet.stalled, inlet.seq = gate_free, inside, stalled, seq
    return resting


def _behind(opened: list[int], sent: list[int]) -> list[int]:
    return [o - s for o, s in zip(opened, sent, strict=True)]


def run(inlet: Inlet, until: int) -> None:
    """Move an inlet on to `until`: by arithmetic from rest to rest, entry by entry in between."""
    heapify(inlet.heap)
    size = _SPAN_MIN
    while inlet.now < until and advance(inlet, until, to_rest=True):
        while True:
            span = Span(inlet, size, until)
            rest = span.rest_before(until)
            gained = rest is not None and rest[0] > inlet.now
            if rest is not None and gained:
                span.adopt(*rest)
            if span.violated:
                size = _SPAN_MIN
                advance(inlet, min(until, span.valid_ns + 1), to_rest=False)
                break
            if span.complete:
                advance(inlet, until, to_rest=False)
                break
            if not gained and size == _SPAN_MAX:
                break
            size = min(2 * size, _SPAN_MAX)
