"""An inlet moved on by arithmetic: as if credits never ran out, and then verified.

Floating buffers change nothing but how early credit comes back.  A channel whose buffer `exclusive`
places earlier had been freed, and its credit had come back, before the next one is sent has credit
whatever the floating ones do; so sending times are opening times, and what follows from them is the
order of service.  Where the floating buffers are is known again when the inlet is at rest: when the
thread has slept for longer than credit takes to come back.
"""

from __future__ import annotations

from collections import deque
from heapq import heapify
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ckptsim.sim.job.buffers.stretch.inlet import (
    ARRIVAL,
    CREDIT,
    MAIL,
    NEVER,
    RESUME,
    SAMPLE,
    Ints,
    Mode,
)
from ckptsim.sim.job.buffers.stretch.line import Line

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.stretch.inlet import Entry, Inlet


def is_calm(inlet: Inlet) -> bool:
    """Tell whether a span may begin: nothing waits for credit, and no channel wants more.

    Then floating buffers are only lent in place of exclusive ones that are in use, so all of them
    are back at the next rest.
    """
    if inlet.stalled or inlet.eager or _resumed_ns(inlet) == NEVER:
        return False
    if not inlet.floating_total or inlet.most_held == 1:
        return False
    if any(e[1] in (ARRIVAL, CREDIT) and _waits(e) for e in inlet.heap):
        return False
    free = zip(inlet.own_free, inlet.lent_free, strict=True)
    return all(own + lent <= inlet.exclusive for own, lent in free)


def _resumed_ns(inlet: Inlet) -> int | None:
    """Return when the pause that is under way ends, if there is one."""
    if inlet.mode is not Mode.PAUSED:
        return None
    return min((e[0] for e in inlet.heap if e[1] == RESUME), default=NEVER)


def _waits(entry: Entry) -> bool:
    """Tell whether a message speaks of data that waits."""
    return entry[5] > 0 if entry[1] == ARRIVAL else entry[5] == 0


class Span:
    """The next openings of a calm inlet, with all that follows from them.

    times, lanes, numbers: of what comes, in the line's order; a lane of -1 is a mail, which only
    wakes.  valid_ns: until when the figures hold; violated: whether a verification says so;
    complete: whether no opening follows.
    """

    def __init__(self, inlet: Inlet, count: int, until: int) -> None:
        self._inlet = inlet
        first, last = inlet.next_open, min(inlet.next_open + count, len(inlet.open_times))
        self.complete = last == len(inlet.open_times)
        self.valid_ns = until if self.complete else int(inlet.open_times[last])
        self.violated = False
        self._sent = _ints(inlet.sent)
        self._polled = _ints(inlet.polled)
        self.open_times = inlet.open_times[first:last]
        self.open_lanes = inlet.open_lane[first:last]
        numbers = inlet.open_ids[first:last] - 1
        self.sends_data: NDArray[np.bool_] = numbers >= self._sent[self.open_lanes]
        self.send_times: Ints = self.open_times[self.sends_data]
        self.send_lanes: Ints = self.open_lanes[self.sends_data]
        self.sends: Ints = numbers[self.sends_data]
        self._line_up()
        self._serve()
        self._verify()

    def _line_up(self) -> None:
        """Put what is there in its line, then what is going to arrive."""
        inlet = self._inlet
        early = sorted(e for e in inlet.heap if e[1] in (ARRIVAL, MAIL))
        coming = list(inlet.arrived)
        numbers = []
        for _, kind, _, _, lane, _ in early:
            numbers.append(coming[lane] if kind == ARRIVAL else -1)
            if kind == ARRIVAL:
                coming[lane] += 1
        times = np.concatenate([_ints([e[0] for e in early]), self.send_times + inlet.latency_ns])
        lanes = np.concatenate([_ints([e[4] for e in early]), self.send_lanes])
        width = len(inlet.ranks) + 1
        ranks = np.append(inlet.rank_array, width - 1)[lanes]
        order = np.argsort((times - inlet.now) * width + ranks, kind="stable")
        there = [(lane, inlet.polled[lane]) for lane in inlet.ready]
        there += [
            (lane, number)
            for lane in inlet.ready
            for number in range(inlet.polled[lane] + 1, inlet.arrived[lane])
        ]
        self._known = len(there)
        self.times: Ints = np.concatenate([np.full(len(there), inlet.now), times[order]])
        self.lanes: Ints = np.concatenate([_ints([lane for lane, _ in there]), lanes[order]])
        coming_numbers = np.concatenate([_ints(numbers), self.sends])[order]
        self.numbers: Ints = np.concatenate([_ints([n for _, n in there]), coming_numbers])
        self.real: NDArray[np.bool_] = self.numbers >= 0

    def _serve(self) -> None:
        inlet, numbers = self._inlet, self.numbers
        lasting = inlet.records[numbers] * inlet.step_ns
        self.line = Line(self.times, numbers, lasting, len(inlet.records))
        free = self._resumed_ns = _resumed_ns(inlet)
        if inlet.mode is Mode.WAKING:
            free = inlet.at
        elif inlet.mode in (Mode.READING, Mode.LAST):
            free = inlet.hand_end
        follows = numbers > self._polled[self.lanes]
        self.line.serve(follows, free_ns=free, wake_ns=inlet.wake_ns)
        if free is None:
            self.line.idle_from[0] = inlet.now

    def _verify(self) -> None:
        """Find when the figures stop to hold: a send without credit, or on a busy wire."""
        inlet, sends, lanes = self._inlet, self.sends, self.send_lanes
        back = self.line.turn_of()
        read = np.maximum(inlet.records - 1, 0) * inlet.step_ns
        back += read + inlet.latency_ns
        # With nothing between two buffers on a wire, a credit that is left tells about `starved`.
        needed = inlet.exclusive if inlet.send_ns else inlet.exclusive - 1
        partner = sends - needed
        credited = np.where(
            partner >= self._polled[lanes], back[partner], self._last_credits()[lanes]
        )
        bad = credited > self.send_times
        clear = np.zeros(len(inlet.records), dtype=np.int64)
        clear[sends] = self.send_times + inlet.send_ns
        first_clear = _ints(inlet.clear_ns)[lanes]
        clear_at = np.where(sends > self._sent[lanes], clear[sends - 1], first_clear)
        bad |= clear_at > self.send_times
        if bad.any():
            self.violated = True
            self.valid_ns = min(self.valid_ns, int(self.send_times[bad].min()))

    def _last_credits(self) -> Ints:
        """Return when all credit of what has been read is back, per lane."""
        inlet = self._inlet
        last = np.zeros(len(inlet.ranks), dtype=np.int64)
        for time, kind, _, _, lane, _ in inlet.heap:
            if kind == CREDIT:
                last[lane] = max(last[lane], time)
        if inlet.mode is Mode.READING:
            last[inlet.hand_lane] = inlet.hand_end - inlet.step_ns + inlet.latency_ns
        return last

    def rest_before(self, until: int) -> tuple[int, int] | None:
        """Return the end of the last rest that holds, and how many sleeps had ended before.

        It is a rest when the thread sleeps for longer than credit takes to come back.
        """
        end = min(self.valid_ns, until)
        woken = np.append(self.line.wake_at, NEVER)
        rested = self.line.idle_from + self._inlet.latency_ns
        ends = np.where(woken <= end, woken, end if end == until else 0)
        rests = np.flatnonzero(rested < ends)
        if not len(rests):
            return None
        return int(ends[rests[-1]]), int(rests[-1])

    def adopt(self, now: int, sleeps: int) -> None:
        """Put the inlet where it is at the end of a rest."""
        inlet = self._inlet
        self._adopt_service(now, sleeps)
        self._adopt_samples(now)
        width = len(inlet.ranks)
        is_open = self.open_times < now
        is_sent = self.send_times < now
        has_come = self.real & (self.times < now)
        has_come[: self._known] = False
        opened = np.bincount(self.open_lanes[is_open], minlength=width)
        sent = self._sent + np.bincount(self.send_lanes[is_sent], minlength=width)
        arrived = _ints(inlet.arrived) + np.bincount(self.lanes[has_come], minlength=width)
        clear_ns = _ints(inlet.clear_ns)
        clear_ns[self.send_lanes[is_sent]] = self.send_times[is_sent] + inlet.send_ns
        inlet.opened = (_ints(inlet.opened) + opened).tolist()
        inlet.sent = sent.tolist()
        inlet.arrived = arrived.tolist()
        inlet.polled = arrived.tolist()
        inlet.credit = (inlet.exclusive - (sent - arrived)).tolist()
        inlet.clear_ns = clear_ns.tolist()
        for index in np.flatnonzero(is_open & ~self.sends_data).tolist():
            lane, time = int(self.open_lanes[index]), int(self.open_times[index])
            inlet.holdings.append((time, RESUME, lane, 1))
        self._adopt_rest(now)
        inlet.next_open += int(np.count_nonzero(is_open))

    def _adopt_rest(self, now: int) -> None:
        """Have everything where it is in a rest."""
        inlet = self._inlet
        width = len(inlet.ranks)
        inlet.own_free = [inlet.exclusive] * width
        inlet.lent_free = [0] * width
        inlet.waiting = [False] * width
        inlet.listed = [False] * width
        inlet.announced = [0] * width
        inlet.ready, inlet.lenders = deque(), deque()
        inlet.gate_free = inlet.floating_total
        inlet.inside = 0
        self._adopt_wires(now)
        inlet.now, inlet.mode, inlet.at = now, Mode.IDLE, NEVER

    def _adopt_service(self, now: int, sleeps: int) -> None:
        inlet, line = self._inlet, self.line
        inlet.flush_polls()
        turns = line.turns[line.order]
        taken = line.order[self.real[line.order] & (turns < now)]
        inlet.poll_times.append(line.turns[taken])
        inlet.poll_ids.append(self.numbers[taken])
        known = 1 if inlet.mode is Mode.IDLE else 0
        inlet.wake_at.extend(line.wake_at[:sleeps].tolist())
        inlet.idle_from.extend(line.idle_from[known : sleeps + 1].tolist())

    def _adopt_samples(self, now: int) -> None:
        inlet = self._inlet
        due = _ints(sorted(e[0] for e in inlet.heap if e[1] == SAMPLE and e[0] < now))
        if not len(due):
            return
        order = self.line.order
        turns = self.line.turns[order[self.real[order]]]
        arrivals = self.times[self._known :][self.real[self._known :]]
        come = np.searchsorted(arrivals, due, side="right")
        gone = np.where(  # a pause ends before the queues are counted, all else behind that
            due == self._resumed_ns,
            np.searchsorted(turns, due, side="right"),
            np.searchsorted(turns, due, side="left"),
        )
        inlet.seen_inside += len(due) * inlet.inside + int((come - gone).sum())
        seen = _ints(inlet.seen_behind) + len(due) * (_ints(inlet.opened) - self._sent)
        for times, lanes, sign in (
            (self.open_times, self.open_lanes, 1),
            (self.send_times, self.send_lanes, -1),
        ):
            behind = len(due) - np.searchsorted(due, times, side="right")
            np.add.at(seen, lanes, sign * behind)
        inlet.seen_behind = seen.tolist()

    def _adopt_wires(self, now: int) -> None:
        """Keep in the inlet's calendar what is still on its way."""
        inlet = self._inlet
        heap: list[Entry] = [e for e in inlet.heap if e[0] >= now]
        late = (self.send_times < now) & (self.send_times + inlet.latency_ns >= now)
        for time, lane in zip(
            self.send_times[late].tolist(), self.send_lanes[late].tolist(), strict=True
        ):
            inlet.seq += 1
            arrival = time + inlet.latency_ns
            heap.append((arrival, ARRIVAL, inlet.ranks[lane], inlet.seq, lane, 0))
        heapify(heap)
        inlet.heap = heap


def _ints(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)
