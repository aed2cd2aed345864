"""One stretch: the flow of data of the whole job from one instant to another, in bulk.

Tasks are worked out in the order of the job graph: sources from their rate, operators from what
their senders open.  Nothing in the world is changed until `commit`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.kinds import State
from ckptsim.sim.job.buffers.stretch.emission import Emission, Feed
from ckptsim.sim.job.buffers.stretch.inlet import CREDIT, NEVER, Inlet, Mode
from ckptsim.sim.job.buffers.stretch.motion import move
from ckptsim.sim.job.buffers.stretch.report import report
from ckptsim.sim.job.buffers.stretch.settle import (
    Service,
    settle_lanes,
    settle_messages,
    settle_thread,
)
from ckptsim.sim.job.buffers.tasks import Source

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.output import RecordWriter, Segment
    from ckptsim.sim.job.buffers.stretch.messages import Messages
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld


@dataclass(slots=True)
class Touches:
    """What happened to tasks during a stretch without being felt by others, in order of time.

    wakes: mails that have been done, and at most wake the thread; stops: when sources paused;
    resumes: when pauses of operators ended; samples: when the queues were counted.
    """

    wakes: list[tuple[int, Task]] = field(default_factory=list)
    stops: dict[int, int] = field(default_factory=dict)
    resumes: dict[int, int] = field(default_factory=dict)
    samples: list[int] = field(default_factory=list)


class Layout:
    """The fixed part: inlets in the order of the job graph, and all writers."""

    def __init__(self, world: DataflowWorld) -> None:
        self.world = world
        self.writers: list[RecordWriter] = [w for task in world.tasks for w in task.writers]
        self.inlets: dict[int, Inlet] = {}
        self.order = _by_depth(world.tasks)
        self.lanes = 0
        first = 0
        self.writers_of: dict[int, range] = {}
        for task in world.tasks:
            self.writers_of[task.number] = range(first, first + len(task.writers))
            first += len(task.writers)
        for task in self.order:
            if task.gates:
                self.inlets[task.number] = Inlet(task, self.writers)
                self.lanes += len(task.channels)


class Stretch:
    """The job from `begin` to `end`; `full_ns` is when an output pool would run dry, or NEVER."""

    def __init__(self, layout: Layout, messages: Messages, touches: Touches) -> None:
        self._layout = layout
        self._messages = messages
        self._touches = touches
        self.begin = self.end = layout.world.env.now

    def work_out(self, end: int) -> int:
        """Work everything out; return `end`, or before it when an output had no free buffer."""
        layout = self._layout
        self.end = end
        self._emissions: list[Emission | None] = [None] * len(layout.writers)
        self._feeds: dict[tuple[int, ...], Feed] = {}
        self._services: dict[int, Service] = {}
        self._counts: dict[int, int] = {}
        full_ns = NEVER
        for task in layout.order:
            if isinstance(task, Source):
                count = self._source_count(task)
                for index in layout.writers_of[task.number]:
                    emission = Emission(layout.writers[index], count)
                    emission.times = task.due_ns + emission.ordinals * (task.gap_ns or 0)
                    self._emissions[index] = emission
                self._counts[task.number] = count
                continue
            inlet = layout.inlets[task.number]
            self._serve(inlet)
            full_ns = min(full_ns, inlet.full_ns)
        return min(end, full_ns, self._pools_dry())

    def _source_count(self, task: Source) -> int:
        if task.state is not State.PACED:
            return 0
        end = min(self.end, self._touches.stops.get(task.number, NEVER))
        gap = task.gap_ns or 1
        return max(0, -(-(end - task.due_ns) // gap))

    def _serve(self, inlet: Inlet) -> None:
        task, layout, touches = inlet.task, self._layout, self._touches
        inlet.load(self.begin, self._messages, self._feed_of(inlet.feeders))
        for time, woken in touches.wakes:
            if woken is task and time < self.end:
                inlet.wake(time)
        for time in touches.samples:
            if time < self.end:
                inlet.sample(time)
        resumed = touches.resumes.get(task.number, NEVER)
        if resumed < self.end:
            inlet.resume(resumed)
        move(inlet, self.end)
        service = self._services[task.number] = Service(inlet)
        for index in layout.writers_of[task.number]:
            emission = Emission(layout.writers[index], service.done)
            emission.times = service.ends_at(emission.ordinals)
            self._emissions[index] = emission

    def _feed_of(self, writers: tuple[int, ...]) -> Feed:
        found = self._feeds.get(writers)
        if found is None:
            emissions = [
                e for e in (self._emissions[writer] for writer in writers) if e is not None
            ]
            found = self._feeds[writers] = Feed(emissions)
        return found

    def _pools_dry(self) -> int:
        """Return when the first pool has no free buffer left."""
        writers = self._layout.writers
        changes: list[list[tuple[int, int, int]]] = [[] for _ in writers]
        for inlet in self._layout.inlets.values():
            for time, kind, lane, change in inlet.holdings:
                changes[inlet.writers[lane]].append((time, 0 if kind == CREDIT else 1, change))
        first = NEVER
        for writer, found in zip(writers, changes, strict=True):
            free = writer.pool.free
            for time, _, change in sorted(found):
                free -= change
                if not free:
                    first = min(first, time)
                    break
        return first

    # Into the world ---------------------------------------------------------------------------

    def commit(self) -> None:
        """Put the world where the stretch ends; its clock and calendar have been set before."""
        layout = self._layout
        emissions = [e for e in self._emissions if e is not None]
        opened: list[list[Segment]] = [[] for _ in layout.writers]
        held = [[0] * len(w.pool.held) for w in layout.writers]
        for inlet in layout.inlets.values():
            for writer, segment in settle_lanes(inlet):
                opened[writer].append(segment)
            ends = zip(inlet.writers, inlet.places, inlet.opened, inlet.sent, strict=True)
            for writer, place, end, sent in ends:
                held[writer][place] = end - sent
        for emission, segments, holds in zip(emissions, opened, held, strict=True):
            if emission.count:
                emission.writer.leap(emission.count, segments, emission.room)
            pool = emission.writer.pool
            pool.held = holds
            pool.free = pool.size - sum(holds)
        for task in layout.order:
            if isinstance(task, Source):
                self._settle_source(task)
            else:
                settle_thread(layout.inlets[task.number], self._services[task.number])
                settle_messages(layout.inlets[task.number])
        self._add_samples()
        observer = layout.world.observer
        if observer.follows_data:
            for inlet in layout.inlets.values():
                report(inlet, observer)
            observer.look()

    def _settle_source(self, task: Source) -> None:
        stop = self._touches.stops.get(task.number, NEVER)
        if task.state is State.PACED:
            task.leap(self._counts[task.number], stop if stop < self.end else None)

    def _add_samples(self) -> None:
        sampling = self._layout.world.sampling
        sampling.count += sum(time < self.end for time in self._touches.samples)
        for inlet in self._layout.inlets.values():
            sampling.inputs[inlet.task.number] += inlet.seen_inside
            for sender, behind in zip(inlet.senders, inlet.seen_behind, strict=True):
                sampling.outputs[sender] += behind


def _by_depth(tasks: list[Task]) -> list[Task]:
    """Return the tasks, each behind those that write to it."""
    depth: dict[int, int] = {}

    def deep(task: Task) -> int:
        if task.number not in depth:
            depth[task.number] = 1 + max((deep(up) for up in task.upstream), default=-1)
        return depth[task.number]

    return sorted(tasks, key=lambda task: (deep(task), task.number))


__all__ = ["Layout", "Mode", "Stretch", "Touches"]
