"""An inlet at rest, moved on by arithmetic: as if credits never ran out, and then verified.

From rest to rest, floating buffers change nothing but how early credit comes back.  A channel whose
buffer `exclusive` places earlier had been freed, and its credit had come back, before the next one
is sent has credit whatever the floating ones do; so sending times are opening times.  What follows
is the order of service: one line in which a channel stands once, by arrival or, if more of it is
there, by its last turn.
"""

from __future__ import annotations

from heapq import heapify
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sim.dataflow.stretch.inlet import ARRIVAL, MAIL, NEVER, RESUME, SAMPLE, Entry, Ints, Mode

if TYPE_CHECKING:
    from sim.dataflow.stretch.inlet import Inlet


class Span:
    """The next openings of an inlet at rest, with all that follows from them.

    times, lanes, numbers: of arrivals, in order; a lane of -1 is a mail, which only wakes.
    polls: when each one's turn is, -1 for never; order: arrivals in the order of their turns.
    idle_from, wake_at: when the thread falls asleep and is woken; the last sleep has no end.
    valid_ns: until when the figures hold; violated: whether a verification says so.
    """

    def __init__(self, inlet: Inlet, count: int, until: int) -> None:
        self._inlet = inlet
        first, last = inlet.next_open, min(inlet.next_open + count, len(inlet.open_times))
        self.complete = last == len(inlet.open_times)
        self.valid_ns = until if self.complete else int(inlet.open_times[last])
        self.violated = False
        self.open_times = inlet.open_times[first:last]
        self.open_lanes = inlet.open_lane[first:last]
        numbers = inlet.open_ids[first:last] - 1
        self._sent = np.array(inlet.sent, dtype=np.int64)
        self.sends_data: NDArray[np.bool_] = numbers >= self._sent[self.open_lanes]
        self.send_times: Ints = self.open_times[self.sends_data]
        self.send_lanes: Ints = self.open_lanes[self.sends_data]
        self.sends: Ints = numbers[self.sends_data]
        self._arrive()
        self._serve()
        self._verify()

    def _arrive(self) -> None:
        inlet = self._inlet
        early = sorted(e for e in inlet.heap if e[1] in (ARRIVAL, MAIL))
        coming = list(inlet.arrived)
        numbers = []
        for _, kind, _, _, lane, _ in early:
            numbers.append(coming[lane] if kind == ARRIVAL else -1)
            if kind == ARRIVAL:
                coming[lane] += 1
        times = [e[0] for e in early]
        lanes = [e[4] for e in early]
        all_times = np.concatenate([_ints(times), self.send_times + inlet.latency_ns])
        all_lanes = np.concatenate([_ints(lanes), self.send_lanes])
        all_numbers = np.concatenate([_ints(numbers), self.sends])
        width = len(inlet.ranks) + 1
        ranks = np.append(inlet.rank_array, width - 1)[all_lanes]
        order = np.argsort((all_times - inlet.now) * width + ranks, kind="stable")
        self.times: Ints = all_times[order]
        self.lanes: Ints = all_lanes[order]
        self.numbers: Ints = all_numbers[order]
        self.real: NDArray[np.bool_] = self.numbers >= 0

    def _serve(self) -> None:
        inlet, numbers, real = self._inlet, self.numbers, self.real
        count = len(numbers)
        index_of = np.full(inlet.total + 2, count, dtype=np.int64)
        index_of[numbers[real]] = np.flatnonzero(real)
        base, end = inlet.bounds[:, self.lanes]
        following = np.where(real & (numbers + 1 < end), index_of[numbers + 1], count)
        before = np.where(real & (numbers > base), index_of[numbers - 1], count)
        before[before == count] = -1
        lasting = inlet.records[numbers] * inlet.step_ns
        self.idle_from = [inlet.now - inlet.latency_ns - 1]
        self.wake_at: list[int] = []
        polls, self.order = self._line(
            following.tolist(), before.tolist(), lasting.tolist(), real.tolist()
        )
        self.polls: Ints = _ints(polls[:-1])

    def _line(
        self, following: list[int], before: list[int], lasting: list[int], real: list[bool]
    ) -> tuple[list[int], list[int]]:
        """Serve arrivals in their line; return the time of each one's turn and the order."""
        times = [*self.times.tolist(), NEVER]
        wake = self._inlet.wake_ns
        count = len(following)
        polls = [-1] * count
        polls.append(0)  # of whatever came before the span: index -1
        line: list[int] = []
        here = turn = 0
        while here < count:
            now = times[here] + wake
            self.wake_at.append(times[here])
            while True:
                while times[here] <= now:
                    if real[here] and polls[before[here]] >= 0:
                        line.append(here)
                    here += 1
                if turn == len(line):
                    break
                index = line[turn]
                turn += 1
                polls[index] = now
                if following[index] < here:
                    line.append(following[index])
                now += lasting[index]
            self.idle_from.append(now)
        return polls, line

    def _verify(self) -> None:
        """Find when the figures stop to hold: a send without credit, or on a busy wire."""
        inlet, real, sends, lanes = self._inlet, self.real, self.sends, self.send_lanes
        read = np.maximum(inlet.records[self.numbers] - 1, 0) * inlet.step_ns
        served = real & (self.polls >= 0)
        freed = np.full(inlet.total + 2, NEVER, dtype=np.int64)
        freed[self.numbers[served]] = (self.polls + read)[served]
        # With nothing between two buffers on a wire, a credit that is left tells about `starved`.
        needed = inlet.exclusive if inlet.send_ns else inlet.exclusive - 1
        partner = sends - needed
        in_span = partner >= np.array(inlet.polled, dtype=np.int64)[lanes]
        back = freed[np.where(in_span, partner, 0)] + inlet.latency_ns
        bad = in_span & (back > self.send_times)
        clear = np.full(inlet.total + 2, 0, dtype=np.int64)
        clear[sends] = self.send_times + inlet.send_ns
        first_clear = np.array(inlet.clear_ns, dtype=np.int64)[lanes]
        clear_at = np.where(sends > self._sent[lanes], clear[sends - 1], first_clear)
        bad |= clear_at > self.send_times
        if bad.any():
            self.violated = True
            self.valid_ns = min(self.valid_ns, int(self.send_times[bad].min()))

    def rest_before(self, until: int) -> tuple[int, int] | None:
        """Return the end of the last rest that holds, and how many sleeps had ended before.

        It is a rest when the thread sleeps for longer than credit takes to come back.
        """
        end = min(self.valid_ns, until)
        for index in range(len(self.idle_from) - 1, -1, -1):
            woken = self.wake_at[index] if index < len(self.wake_at) else NEVER
            rested = self.idle_from[index] + self._inlet.latency_ns
            if woken <= end and rested < woken:
                return woken, index
            if end == until and rested < end <= woken:
                return end, index
        return None

    def adopt(self, now: int, sleeps: int) -> None:
        """Put the inlet where it is at the end of a rest."""
        inlet = self._inlet
        self._adopt_service(now, sleeps)
        self._adopt_samples(now)
        width = len(inlet.ranks)
        is_open = self.open_times < now
        is_sent = self.send_times < now
        has_come = self.real & (self.times < now)
        opened = np.bincount(self.open_lanes[is_open], minlength=width)
        sent = np.bincount(self.send_lanes[is_sent], minlength=width)
        arrived = np.bincount(self.lanes[has_come], minlength=width)
        for lane in np.flatnonzero(opened + sent + arrived).tolist():
            inlet.touched[lane] = True
            inlet.opened[lane] += int(opened[lane])
            inlet.sent[lane] += int(sent[lane])
            inlet.arrived[lane] += int(arrived[lane])
            inlet.polled[lane] = inlet.arrived[lane]
            inlet.credit[lane] = inlet.exclusive - (inlet.sent[lane] - inlet.arrived[lane])
            if arrived[lane]:
                inlet.announced[lane], inlet.required[lane] = 0, inlet.exclusive
        for lane, time in zip(
            self.send_lanes[is_sent].tolist(), self.send_times[is_sent].tolist(), strict=True
        ):
            inlet.clear_ns[lane] = time + inlet.send_ns
        for index in np.flatnonzero(is_open & ~self.sends_data).tolist():
            lane, time = int(self.open_lanes[index]), int(self.open_times[index])
            inlet.holdings.append((time, RESUME, lane, 1))
        self._adopt_wires(now)
        inlet.next_open += int(np.count_nonzero(is_open))
        inlet.now, inlet.mode, inlet.at = now, Mode.IDLE, NEVER

    def _adopt_service(self, now: int, sleeps: int) -> None:
        inlet = self._inlet
        inlet.flush_polls()
        order = _ints(self.order)
        times = self.polls[order]
        taken = (times >= 0) & (times < now)
        inlet.poll_times.append(times[taken])
        inlet.poll_ids.append(self.numbers[order[taken]])
        inlet.wake_at.extend(self.wake_at[:sleeps])
        inlet.idle_from.extend(self.idle_from[1 : sleeps + 1])

    def _adopt_samples(self, now: int) -> None:
        inlet = self._inlet
        polls = np.sort(self.polls[self.polls >= 0])
        arrivals = self.times[self.real]
        for time in sorted(e[0] for e in inlet.heap if e[1] == SAMPLE and e[0] < now):
            come = int(np.searchsorted(arrivals, time, side="right"))
            gone = int(np.searchsorted(polls, time, side="left"))
            opened = np.bincount(
                self.open_lanes[self.open_times < time], minlength=len(inlet.ranks)
            )
            sent = np.bincount(self.send_lanes[self.send_times < time], minlength=len(opened))
            behind = np.array(inlet.opened) + opened - np.array(inlet.sent) - sent
            inlet.samples.append((time, come - gone, behind.tolist()))

    def _adopt_wires(self, now: int) -> None:
        """Keep in the inlet's calendar what is still on its way."""
        inlet = self._inlet
        heap: list[Entry] = [e for e in inlet.heap if e[0] >= now]
        known = len(heap)
        late = (self.send_times < now) & (self.send_times + inlet.latency_ns >= now)
        for time, lane in zip(
            self.send_times[late].tolist(), self.send_lanes[late].tolist(), strict=True
        ):
            inlet.seq += 1
            arrival = time + inlet.latency_ns
            heap.append((arrival, ARRIVAL, inlet.ranks[lane], inlet.seq, lane, 0))
        inlet.heap = heap
        if len(heap) > known or known:
            heapify(heap)


def _ints(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)
