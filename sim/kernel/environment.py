"""The environment: a SimPy environment on integer nanoseconds with a policy for ties.

Plain SimPy code (processes, stores, resources, conditions, interrupts) runs on it unchanged, except
for the clock: times are `int` nanoseconds.  What it adds: the order of simultaneous events comes
from `(priority, tie policy, causal order inside one entity)`, callbacks and timers cost one heap
entry and no event. Random streams have names, and a trace has a digest.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from heapq import heapify, heappop, heappush
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import simpy
from simpy.core import BoundClass, StopSimulation
from simpy.events import NORMAL, URGENT

from ckptsim.sim.kernel.calendar import Push, Timer, calendar_push
from ckptsim.sim.kernel.channel import Channel
from ckptsim.sim.kernel.entity import (
    KIND_ORDINARY,
    Entity,
    KernelError,
    TooManyStepsError,
    refused_time,
)
from ckptsim.sim.kernel.events import Event, Process, ProcessGenerator, Signal, Timeout
from ckptsim.sim.kernel.streams import Stream, Streams
from ckptsim.sim.kernel.ties import STRUCTURAL, TiePolicy
from ckptsim.sim.kernel.trace import Goals, Trace

FOREVER = 1 << 200
"""An instant and a number of steps that no run reaches."""
SEQUENCES = 1 << 24
"""Distance between sequences: what stands in the calendar for a calendar of its own has room."""
_ROOT = "run"


def _nobody_looks_on(_name: str, core: Any, *_made_of: Any) -> Any:
    return core


class Environment(simpy.Environment):
    """One run: clock, calendar, ties, streams, trace, goals and the account of processes.

    seed: of the streams. ties: a policy, made with its own seed. keep_trace: keep the entries
    besides hashing them. goals: the situations declared up front.
    """

    def __init__(
        self,
        seed: int = 0,
        ties: TiePolicy = STRUCTURAL,
        *,
        keep_trace: bool = False,
        goals: Iterable[str] = (),
    ) -> None:
        super().__init__(0)
        self._now: int = 0
        self.ties = ties
        self.number: Callable[[], int] = count(
            SEQUENCES, SEQUENCES
        ).__next__  # of the next calendar entry
        self.push: Push = calendar_push(self._queue, ties, self.number)
        self.streams = Streams(seed)
        self.stream: Callable[..., Stream] = self.streams.stream
        self.trace = Trace(self, keep=keep_trace)
        self.goals = Goals(goals)
        self.last_ns = FOREVER  # the instant up to which the run continues at present.
        self.steps = 0  # calendar entries that were carried out.
        self.steps_max = FOREVER  # more of them end the run with an exception.
        self.entries_until: dict[str, int] = {}  # how many a violated property took.
        self._called_after = FOREVER
        self._call: Callable[[], object] = object
        self._counts_entries = False
        # Called when all of an instant is done, before time continues. They change nothing.
        self.between_instants: list[Callable[[], object]] = []
        # Who looks on at cores that hosts make themselves: (name, core, what it was made of) ->
        # what the host is to drive in its place, which behaves as the core does.
        self.witness: Callable[..., Any] = _nobody_looks_on
        self.driver, self.prefers_processes = "SimPy processes", False  # what moves the data
        self._entities: dict[tuple[str, int | None], Entity] = {}
        self._root = self._caller = self.entity(_ROOT)
        self._processes: dict[int, Process] = {}  # those that have not ended, by number
        self._process_count = 0
        self._channels: list[Channel[Any]] = []

    if TYPE_CHECKING:

        @property
        def now(self) -> int:
            """The simulated time in ns."""

        def process(
            self,
            generator: ProcessGenerator,
            *,
            entity: Entity | None = None,
            on: Signal | None = None,
        ) -> Process:
            """Start a process of an entity, or of an unnamed child of the active one."""

        def timeout(
            self, delay: int = 0, value: object = None, *, kind: int = KIND_ORDINARY
        ) -> Timeout:
            """Return an event after `delay` ns."""

        def event(self) -> Event:
            """Return an event that someone triggers later."""

    else:
        now = property(attrgetter("_now"))  # as SimPy's, without a Python call
        process = BoundClass(Process)
        timeout = BoundClass(Timeout)
        event = BoundClass(Event)

    # Entities ---------------------------------------------------------------------------------

    def entity(self, component: str, index: int | None = None) -> Entity:
        """Return the entity of that name. Its rank among ties is its name, not its age."""
        found = self._entities.get((component, index))
        if found is None:
            found = self._entities[(component, index)] = Entity(component, index)
        return found

    @property
    def active_entity(self) -> Entity:
        """The entity that acts at present: of the active process or callback, or the run's own."""
        process = self._active_proc
        if process is None:
            return self._caller
        entity: Entity = getattr(process, "entity", self._root)
        return entity

    def child_entity(self, generator: ProcessGenerator) -> Entity:
        """Return the entity of a process that was started without one."""
        parent = self.active_entity
        name = getattr(generator, "__name__", type(generator).__name__)
        index = parent.children.get(name, 0)
        parent.children[name] = index + 1
        return self.entity(name if parent is self._root else f"{parent.name}/{name}", index)

    # The calendar -----------------------------------------------------------------------------

    def schedule(self, event: Any, priority: int = NORMAL, delay: int = 0) -> None:
        """Schedule a SimPy event of whatever origin. SimPy calls this for every event."""
        if delay.__class__ is not int or delay < 0:
            raise refused_time("delay", delay, 0)
        entity = getattr(event, "entity", None)
        if entity is None:
            entity = self._owner(event)
        self.push(self._now + delay, priority, KIND_ORDINARY, entity, event)

    def call_at(
        self, time: int, kind: int, entity: Entity, function: Callable[..., object], *arguments: Any
    ) -> Timer:
        """Call `function(*arguments)` at `time` (ns). The result can be cancelled."""
        if time.__class__ is not int or time < self._now:
            raise refused_time("time", time, self._now)
        return Timer(self, kind, entity, function, arguments, due=time)

    def call_in(
        self,
        delay: int,
        kind: int,
        entity: Entity,
        function: Callable[..., object],
        *arguments: Any,
    ) -> Timer:
        """Call `function(*arguments)` after `delay` ns. The result can be cancelled."""
        if delay.__class__ is not int or delay < 0:
            raise refused_time("delay", delay, 0)
        return Timer(self, kind, entity, function, arguments, due=self._now + delay)

    def timer(
        self, kind: int, entity: Entity, function: Callable[..., object], *arguments: Any
    ) -> Timer:
        """Return a timer that is not armed yet: one per task, armed again for each step."""
        return Timer(self, kind, entity, function, arguments)

    def _owner(self, event: Any) -> Entity:
        """Find whom an event of a plain SimPy class concerns: who asked for it, or waits for it."""
        process = getattr(event, "proc", None) or getattr(event, "process", None)
        if process is None:
            waiting = (getattr(call, "__self__", None) for call in event.callbacks or ())
            process = next((who for who in waiting if isinstance(who, Process)), None)
        entity: Entity | None = getattr(process, "entity", None)
        return self.active_entity if entity is None else entity

    # Running ----------------------------------------------------------------------------------

    def run(self, until: Any = None) -> Any:
        """Run to the end, to an event, or until just before an instant, as SimPy does."""
        if until is None:
            return self._loop(FOREVER)
        if isinstance(until, simpy.Event):
            if until.callbacks is None:
                return until.value
            until.callbacks.append(StopSimulation.callback)
            try:
                self._loop(FOREVER)
            except StopSimulation as stop:
                return stop.args[0]
            raise KernelError(f"nothing is scheduled, but {until!r} has not happened")
        if until.__class__ is not int or until <= self._now:
            raise refused_time("until", until, self._now + 1)
        self._loop(until - 1)
        self._now = until
        return None

    def run_until(self, time: int) -> None:
        """Run everything up to and including `time` (ns), which is then the present."""
        if time.__class__ is not int or time < self._now:
            raise refused_time("time", time, self._now)
        self._loop(time)
        self._now = time

    def peek(self) -> int | float:
        """Return the time of the next entry, or infinity when there is none."""
        # Stale entries of timers are taken away here, because nothing will happen at their time.
        queue = self._queue
        while queue and queue[0][4].__class__ is Timer and queue[0][4].sequence != queue[0][3]:
            heappop(queue)
        if not queue:
            return float("inf")
        time: int = queue[0][0]
        return time

    def step(self) -> None:
        """Carry out the next entry. Raises simpy.core.EmptySchedule when there is none."""
        if self.peek() == float("inf"):
            raise simpy.core.EmptySchedule
        self._loop(FOREVER, limit=1)

    def count_entries(self) -> None:
        """Let entries of the trace be the events, which `steps_max` then bounds."""
        self._counts_entries = True
        self.trace.count_max, self.steps_max = min(self.trace.count_max, self.steps_max), FOREVER

    def call_after(self, steps: int, function: Callable[[], object]) -> None:
        """Call a function once when the run has had so many steps. The last one given counts."""
        self._called_after, self._call = steps, function

    @property
    def events(self) -> int:
        """How many events there were: steps, or entries of the trace."""
        return self.trace.count if self._counts_entries else self.steps

    @property
    def calendar(self) -> list[Any]:
        """The heap of (time, priority, tie key, sequence, item), with cancelled entries."""
        entries: list[Any] = self._queue
        return entries

    def rewrite(self, now: int, entries: Iterable[Any]) -> None:
        """Set the clock and the calendar: for drivers that work events out ahead of the clock.

        entries: of the calendar as it was, with their tie keys and sequences, and new ones of
        `push`.  Stale entries may stay or go. No entry that stays may lie before `now`.
        """
        self._now = now
        self._queue[:] = entries
        heapify(self._queue)

    def _allowed(self, asked: int, done: int = -1) -> int:
        """Do due work after so many steps. Return how many a loop may carry out at most."""
        if done >= self.steps_max:
            raise TooManyStepsError(done, self._now)
        while done >= self._called_after:  # a driver that works ahead adds many steps at once
            self._called_after = FOREVER
            self._call()
        return min(asked, min(self.steps_max, self._called_after) - self.steps)

    def _loop(self, last: int, limit: int = FOREVER) -> None:
        """Carry out at most `limit` entries up to the instant `last`, in calendar order."""
        # Holds before each entry: the clock is the one of the last entry carried out, and no entry
        # that counts lies before it.  An entry is popped first and put back when it is beyond the
        # end of this run: that happens once, where looking before popping would cost every time.
        queue = self._queue
        root = self._root
        looks = self.between_instants
        self.last_ns = last
        steps = 0
        asked, limit = limit, self._allowed(limit)
        callbacks: Any = []
        callback = item = None
        try:
            while queue:
                entry = heappop(queue)
                time, _, _, sequence, item = entry
                if time > last or steps == limit:
                    heappush(queue, entry)
                    if time > last or steps >= (limit := self._allowed(asked, self.steps + steps)):
                        break
                    continue  # everything that is scheduled by now may come before the entry
                if looks and time > self._now:
                    for look in looks:
                        look()
                if item.__class__ is Timer:
                    # Else the entry is stale: the timer was cancelled or armed anew.  It counts as
                    # no step and does not move the clock, so that a run does not show it.
                    if item.sequence == sequence:
                        item.sequence = 0  # before the call, which may arm the timer again
                        steps += 1
                        self._now = time
                        self._caller = item.entity
                        item.function(*item.arguments)
                    continue
                steps += 1
                self._now = time
                self._caller = root  # a callback that resumes a process acts as that process
                # From here on the event has happened: anyone who yields it continues at once.
                callbacks, item.callbacks = item.callbacks, None
                for callback in callbacks:
                    callback(item)
                # A failure that none of those who waited has taken ends the run, as in SimPy.
                if not item._ok and not hasattr(item, "_defused"):  # noqa: SLF001
                    raise _failure(item)
        except StopSimulation:
            # As in SimPy: the rest of the event's callbacks runs when the run continues. Before
            # anything else of this instant, which is what the priority below URGENT is for.
            if item is not None and callback in callbacks:
                item.callbacks = callbacks[callbacks.index(callback) + 1 :]
                self.push(self._now, URGENT - 1, KIND_ORDINARY, self._root, item)
            raise
        finally:
            self._caller = self._root
            self.steps += steps

    # The account ------------------------------------------------------------------------------

    def register(self, process: Process) -> int:
        """Keep account of a process until it ends. Return its number."""
        self._process_count += 1
        self._processes[self._process_count] = process
        return self._process_count

    def unregister(self, process: Process) -> None:
        """Forget a process that has ended. An error that no one waits for ends the run."""
        self._processes.pop(process.number, None)

    def register_channel(self, channel: Channel[Any]) -> None:
        """Have a channel's account checked at the end of the run."""
        self._channels.append(channel)

    def finish(self) -> None:
        """End the run: check the account of every channel and close what still waits.

        Raises ConservationError when a channel lost or invented an item, or the error of a process
        that failed at the last instant and was not waited for.
        """
        for channel in self._channels:
            channel.check()
        # The entry of a process that failed at the last instant may still be in the calendar: its
        # error has reached no one yet.  The order of the calendar decides which one is reported.
        for *_, item in sorted(self._queue, key=lambda entry: entry[:4]):
            if isinstance(item, Process) and not item.is_alive and not item.ok:
                raise _failure(item)
        # Closed here, in the order in which they were started, and not whenever the interpreter
        # finds them: `finally` blocks of a generator are part of the run.
        processes, self._processes = self._processes, {}
        for process in processes.values():
            process._generator.close()  # noqa: SLF001


def _failure(event: Any) -> BaseException:
    """Return the error of a failed event, as it was raised."""
    error: BaseException = event.value
    return error


def run_until(env: Environment, time: int) -> None:
    """Run everything up to and including `time` (ns), which is then the present."""
    env.run_until(time)


@contextmanager
def garbage_collector_paused() -> Iterator[None]:
    """Collect no cycles inside the block. Afterwards the collector is enabled if it was before.

    A world is large, lives as long as its run, and makes next to no cycles meanwhile. Looking
    through it again and again for garbage is a twelfth of the time.  It decides nothing in a run.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
