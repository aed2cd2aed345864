"""The calendar entries that belong to the flow of data, told apart from all others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.buffers.input import RemoteChannel
from ckptsim.sim.job.buffers.output import Slice
from ckptsim.sim.job.buffers.tasks import Task
from ckptsim.sim.kernel import Timer

if TYPE_CHECKING:
    from ckptsim.sim.kernel import Environment


class Messages:
    """What is under way at one instant, each list in the order of the calendar.

    arrivals: per receiving task, on which of its channels when which slice arrives, and the backlog
    that it tells; credits: per receiving task, on which channel when how much credit arrives, 0 for
    the end of a pause between two buffers; timers: per task number; others: the calendar without
    all of these; has_event: whether a barrier or another event is on a wire.
    """

    def __init__(self, env: Environment) -> None:
        self.arrivals: dict[int, list[tuple[int, int, Slice, int]]] = {}
        self.credits: dict[int, list[tuple[int, int, int]]] = {}
        self.timers: dict[int, int] = {}
        self.others: list[Any] = []
        self.own: list[Any] = []
        self.has_event = False
        for entry in sorted(env.calendar, key=lambda found: found[:4]):
            time, item = entry[0], entry[4]
            if item.__class__ is not Timer:
                self.others.append(entry)
            elif item.sequence == entry[3]:
                self._sort(time, item, entry)

    def _sort(self, time: int, timer: Timer, entry: Any) -> None:
        function = timer.function
        owner = getattr(function, "__self__", None)
        if isinstance(owner, RemoteChannel):
            receiver, lane = owner.gate.task.number, owner.index
            if function == owner._arrive:
                slice_, backlog = timer.arguments
                self.has_event |= not isinstance(slice_, Slice)
                self.arrivals.setdefault(receiver, []).append((lane, time, slice_, backlog))
                self.own.append(entry)
                return
            if function == owner._add_credit:
                self.credits.setdefault(receiver, []).append((lane, time, timer.arguments[0]))
                self.own.append(entry)
                return
            if function == owner._pump_again:
                self.credits.setdefault(receiver, []).append((lane, time, 0))
                self.own.append(entry)
                return
        if isinstance(owner, Task) and timer is owner._timer:
            self.timers[owner.number] = time
            self.own.append(entry)
            return
        self.others.append(entry)
