"""The third driver: the flow of data waits while nobody looks at it, and is then caught up in bulk.

Coordinator, messages, processor cores, storage and samples do not depend on the flow of data, and
most of what they do does not touch it.  While the flow is plain (no barrier anywhere, no task stuck
or blocked) this driver takes the entries of data out of the calendar and lets only the others
happen.  The first one that touches data ends the stretch: the flow is worked out up to its instant
and put into the objects of the callback driver, which continues from there.  If some output ran dry
before, the clock is set back to that instant; what the others have done since did not depend on it.

What is too rare or too entangled to be worth it is left to the callback driver: see `Plain`.
"""

from __future__ import annotations

from heapq import heappop
from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.buffers.cores import Cores
from ckptsim.sim.job.buffers.kinds import Kind, State
from ckptsim.sim.job.buffers.messages import BufferMessages
from ckptsim.sim.job.buffers.sampling import Sampling
from ckptsim.sim.job.buffers.state import Storage
from ckptsim.sim.job.buffers.stretch.emission import may_emit
from ckptsim.sim.job.buffers.stretch.inlet import NEVER
from ckptsim.sim.job.buffers.stretch.messages import Messages
from ckptsim.sim.job.buffers.stretch.plain import is_at_work, is_covered, is_plain
from ckptsim.sim.job.buffers.stretch.stretch import Layout, Stretch, Touches
from ckptsim.sim.job.buffers.tasks import Source, Task
from ckptsim.sim.job.control.coordinator import CoordinatorHost
from ckptsim.sim.kernel import Timer

if TYPE_CHECKING:
    import simpy

    from ckptsim.sim.job.buffers.world import DataflowWorld

# Entries that the callback driver carries out between two attempts, and how many it must be
# spared, per lane, for a stretch to be worth its overhead.  Speed only.
_STEPS = 2_000
_SPARED_PER_LANE = 5.0

_UNTOUCHING = frozenset(
    {
        CoordinatorHost.timer_fired,
        CoordinatorHost._acknowledged,
        CoordinatorHost._declined,
        CoordinatorHost._data_ended,
        CoordinatorHost.store,
        BufferMessages.discarded,
        BufferMessages.later,
        Cores.run,
        Cores.take_up,
        Storage._created,
        Storage._limited,
    }
)


class Stretches:
    """Runs a world; `steps` and `spared` say how eagerly.

    count: stretches so far; covered_ns: simulated time in them; undone: attempts that were too
    short to be worth it.
    """

    def __init__(
        self, world: DataflowWorld, *, steps: int = _STEPS, spared: float = _SPARED_PER_LANE
    ) -> None:
        self.count = 0
        self.covered_ns = 0
        self.undone = 0
        self._world = world
        self._env = world.env
        self._steps = steps
        self._spared = spared
        self._layout = Layout(world) if is_covered(world) else None
        self._touches = Touches()
        self._stopping: dict[int, Timer] = {}
        self._ended_ns = 0
        self._rate = 0.0

    def redeployed(self) -> None:
        """Take in the tasks of a new attempt."""
        self._layout = Layout(self._world) if is_covered(self._world) else None
        self._touches = Touches()
        self._stopping = {}

    def run(self, until: simpy.Event) -> None:
        """Run until an event."""
        env = self._env
        if self._layout is None:
            env.run(until=until)
            return
        wait = self._steps
        while True:
            before, then = env.steps, env.now
            if env.run_steps(wait, until):
                return
            if env.now > then:
                self._rate = (env.steps - before) / (env.now - then)
            undone = self.undone
            if self._layout is not None and self._world.control.running:
                self._attempt(self._layout, until)
            wait = 2 * wait if self.undone > undone else self._steps

    # One attempt ------------------------------------------------------------------------------

    def _attempt(self, layout: Layout, until: simpy.Event) -> None:
        env = self._env
        begin = env.now
        if not is_at_work(layout):
            return
        self._touches = Touches()
        messages = Messages(env)
        worth = max(1, int(self._spared * layout.lanes / self._rate) if self._rate else 0)
        if messages.has_event or self._horizon(messages) - begin < worth or not is_plain(layout):
            return
        env.rewrite(begin, messages.others)
        end = self._ended_ns = self._run_others(until)
        stretch = Stretch(layout, messages, self._touches)
        stretch.begin = begin
        worked_out = stretch.work_out(end) if end - begin >= worth else begin
        while begin < worked_out < stretch.end:
            worked_out = stretch.work_out(worked_out)
        gained = worked_out > begin
        if gained:
            env.rewrite(worked_out, env.calendar)
            stretch.commit()
            self.count += 1
            self.covered_ns += worked_out - begin
        else:
            env.rewrite(begin, [*env.calendar, *messages.own])
            self.undone += 1
        self._repeat_from(worked_out)

    def _horizon(self, messages: Messages) -> int:
        """Return when the first entry comes that is known to touch data."""
        bound = self._last_record()
        for entry in messages.others:
            if not self._is_soft(entry[4]):
                return min(bound, int(entry[0]))
        return bound

    def _last_record(self) -> int:
        """Return when the first bounded source runs out of records."""
        bound = NEVER
        for task in self._world.tasks:
            if isinstance(task, Source) and task.limit is not None and task.state is State.PACED:
                left = task.limit - task.processed
                bound = min(bound, task.due_ns + (left - 1) * (task.gap_ns or 0))
        return bound

    def _run_others(self, until: simpy.Event) -> int:
        """Let happen what does not touch data; return the instant of what does."""
        env = self._env
        bound = self._last_record()
        while env.calendar:
            time, _, _, sequence, item = env.calendar[0]
            if item.__class__ is Timer and item.sequence != sequence:
                heappop(env.calendar)
                continue
            if time >= bound:
                return bound
            if not self._take(time, item, until):
                return int(time)
        return bound

    # Entries that may happen meanwhile --------------------------------------------------------

    def _is_soft(self, item: Any) -> bool:
        """Tell whether an entry can happen without the flow of data, as things are."""
        if item.__class__ is not Timer:
            return False
        function = getattr(item.function, "__func__", None)
        if function in _UNTOUCHING or function is Stretches._stop:
            return True
        if function is Sampling._sample:
            return True
        owner = getattr(item.function, "__self__", None)
        if function is Task.notify_complete and isinstance(owner, Task):
            return self._only_wakes(owner)
        if function is Task.trigger_checkpoint and isinstance(owner, Source):
            return self._only_wakes(owner) and owner.state is State.PACED
        if function is Task._pause_over and isinstance(owner, Task):
            return not owner.writers and owner.state is State.PAUSED and bool(owner.gates)
        return False

    def _only_wakes(self, task: Task) -> bool:
        paused = task.number in (*self._touches.stops, *self._stopping) or (
            task.state is State.PAUSED and task.number not in self._touches.resumes
        )
        return not paused and not task.ending.closed and task.ending.data_ended_ns is None

    def _take(self, time: int, item: Any, until: simpy.Event) -> bool:
        """Carry one entry out; False when it has to wait for the flow of data."""
        if not self._is_soft(item):
            return False
        env = self._env
        function = getattr(item.function, "__func__", None)
        owner = item.function.__self__
        if function is Task.trigger_checkpoint or function is Task.notify_complete:
            if isinstance(owner, Source) and _emits_at(owner, time):
                return False
            if function is Task.trigger_checkpoint and not self._cannot_block(owner, time):
                return False
            self._pop(time, item)
            self._deliver(owner, item)
        elif function is Task._pause_over:
            self._pop(time, item)
            owner._call_paused()
            if not owner.is_pausing:
                self._touches.resumes[owner.number] = time
        elif function is Sampling._sample:
            self._pop(time, item)
            self._touches.samples.append(time)
            owner.later()
        else:
            env.run_steps(1, until)
        return True

    def _cannot_block(self, task: Source, time: int) -> bool:
        """Tell whether a source has buffers enough until then, even if none comes back.

        When a source takes part in a checkpoint must not depend on the flow of data.
        """
        count = max(0, -(-(time - task.due_ns) // (task.gap_ns or 1)))
        return all(may_emit(writer, count) for writer in task.writers)

    def _pop(self, time: int, item: Timer) -> None:
        heappop(self._env.calendar)
        item.sequence = 0
        self._env.rewrite(time, self._env.calendar)

    def _deliver(self, task: Task, item: Timer) -> None:
        """Do a mail that touches nothing outside the task, at once."""
        now = self._env.now
        state = task.state
        task.state = State.PAUSED  # in which mail is put into the box and nothing else happens
        item.function(*item.arguments)
        task.state = state
        mails = list(task.mail)
        task.mail.clear()
        for function, arguments in mails:
            if isinstance(task, Source):
                stop = (self._stop, task, function, arguments)
                self._stopping[task.number] = self._env.call_at(now, Kind.TASK, task.entity, *stop)
            else:
                function(*arguments)
                self._touches.wakes.append((now, task))

    def _stop(self, task: Task, function: Any, arguments: tuple[Any, ...]) -> None:
        """Do a source's mail; it may pause the source."""
        del self._stopping[task.number]
        function(*arguments)
        if task.is_pausing:
            self._touches.stops[task.number] = self._env.now
        else:
            self._touches.wakes.append((self._env.now, task))

    # What has to be done again ----------------------------------------------------------------

    def _repeat_from(self, time: int) -> None:
        """Enter into the calendar what touched tasks after the end of the stretch."""
        env, touches, tasks = self._env, self._touches, self._world.tasks
        for number, timer in self._stopping.items():  # at the very instant of what ends the stretch
            timer.cancel()
            _, *mail = timer.arguments
            task, function, arguments = tasks[number], mail[0], mail[1]
            env.call_at(self._ended_ns, Kind.STORAGE, task.entity, task.post, function, *arguments)
        self._stopping = {}
        for when, task in touches.wakes:
            if when >= time:
                env.call_at(when, Kind.STORAGE, task.entity, task.post, _nothing)
        for number, when in touches.stops.items():
            if when >= time:
                task = tasks[number]
                env.call_at(when, Kind.STORAGE, task.entity, task.post, *task.put_off_pause())
        for number, when in touches.resumes.items():
            if when >= time:
                env.call_at(when, Kind.STORAGE, tasks[number].entity, tasks[number].run)
        sampling = self._world.sampling
        for when in touches.samples:
            if when >= time:
                env.call_at(when, Kind.MEASURE, env.entity("sampling"), sampling.take)


def _emits_at(task: Source, time: int) -> bool:
    """Tell whether a record is due at this very instant."""
    return time >= task.due_ns and (time - task.due_ns) % (task.gap_ns or 1) == 0


def _nothing() -> None:
    """Be a mail that only wakes."""
