"""The reference driver: each task is a SimPy process that serves one record at a time.

It is slow and plain on purpose.  Nothing is worked out ahead: a record is read, served for its time
and written, byte by byte into the open buffer, and only then does the thread look at its mailbox.
It shares channels, gates and cores with the callback driver, but neither stretches nor the
arithmetic of the writer, so equal traces of both drivers prove these right.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.buffers.kinds import Kind, State
from ckptsim.sim.job.buffers.output import RecordWriter, Segment, close_full, records_in
from ckptsim.sim.job.buffers.tasks.source import Source
from ckptsim.sim.job.buffers.tasks.task import Task

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.output import Subpartition

Steps = Generator[Any, Any, None]


class ReferenceRecordWriter(RecordWriter):
    """Writes one record after the other."""

    __slots__ = ("_ahead", "_bytes", "_sizes")

    def attach(self, subpartitions: list[Subpartition]) -> None:
        """Give the writer its subpartitions."""
        self.subpartitions = subpartitions
        self._width = width = 1 if self._broadcast else len(subpartitions)
        self._open = [None] * width
        self._bytes = [0] * width
        self._sizes = [self._segment_bytes] * width
        self._ahead: list[int] = []
        self.to_next = 1

    def advance(self, count: int) -> None:
        """Emit `count` records one by one; stops inside one that lacks a buffer."""
        for _ in range(count):
            self.emitted += 1
            if not self._ahead:
                self._ahead = self._route.block(64).tolist()[::-1]
            self._write(self._ahead.pop(), self._record_bytes)

    def retry(self) -> bool:
        """Continue with the record under way; True when all of it is written."""
        left, channel = self._pending.pop(), self._pending.pop()
        self.blocked = False
        self._write(channel, left)
        return not self.blocked

    def written(self, channel: int) -> tuple[int, int]:
        """Return bytes and records of a channel's open segment so far."""
        channel = 0 if self._broadcast else channel
        segment = self._open[channel]
        if segment is None:
            return 0, 0
        fill = self._bytes[channel]
        return fill, records_in(segment, fill, self._record_bytes)

    def close_all(self) -> None:
        """Close every open buffer."""
        for channel, segment in enumerate(self._open):
            if segment is not None:
                segment.bytes, segment.records = self.written(channel)
                segment.closed = True
                self._open[channel] = None

    def resize(self, channel: int, size: int) -> None:
        """Let the buffers of a channel that are still to be opened take at most `size` bytes."""
        place = 0 if self._broadcast else channel
        self._sizes[place] = max(1, min(size, self._segment_bytes))

    def _write(self, channel: int, left: int) -> None:
        while left:
            segment = self._open[channel]
            if segment is None or self._bytes[channel] == segment.size:
                if not self.pool.request(channel):
                    self._pending = [channel, left]
                    self.blocked = True
                    return
                segment = self._open_next(channel, segment)
            part = min(left, segment.size - self._bytes[channel])
            self._bytes[channel] += part
            left -= part

    def _open_next(self, channel: int, before: Segment | None) -> Segment:
        head = 0 if before is None else close_full(before, self._record_bytes)
        segment = Segment(channel, self._sizes[channel], head)
        self._open[channel] = segment
        self._bytes[channel] = 0
        if self._broadcast:
            segment.owners = len(self.subpartitions)
            for subpartition in self.subpartitions:
                subpartition.add_segment(segment)
        else:
            self.subpartitions[channel].add_segment(segment)
        return segment


class _Process:
    """The part that operators and sources have in common: a process and how it is woken."""

    def __init__(self) -> None:
        self._resume: Any = None

    def start_process(self, task: Task, steps: Callable[[], Steps]) -> None:
        """Start the process of a task; nobody is woken before."""
        self._task = task
        task.env.process(steps(), entity=task.entity)

    def sleep(self) -> Any:
        """Return what the process waits for until somebody calls `wake`."""
        self._resume = self._task.env.event()
        return self._resume

    def wake(self) -> None:
        """Let a sleeping process continue."""
        resume, self._resume = self._resume, None
        if resume is not None:
            resume.succeed()


class ReferenceTask(Task):
    """An operator subtask, record by record."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._process = _Process()
        self._process.start_process(self, self._steps)

    def _steps(self) -> Steps:
        while not self.has_ended:
            if self._paused_for is not None:
                yield from self._sit_out()
            elif self._left and self._slice is not None:
                if self.mail or not self._outputs_available():
                    if not self._between_records():
                        yield from self._wait(State.BLOCKED)
                    continue
                yield from self._serve()
            elif self.mail:
                self._between_records()
            elif not self._outputs_available():
                yield from self._wait(State.BLOCKED)
            elif not self._next() and not self.has_ended:
                yield from self._wait(State.IDLE)

    def _sit_out(self) -> Steps:
        self.enter(State.PAUSED)
        yield self._process.sleep()
        self._call_paused()

    def _pause_over(self) -> None:
        self._process.wake()

    def _between_records(self) -> bool:
        """Do one piece of mail; False when there is none and the thread has to wait."""
        if not self.mail:
            return False
        function, arguments = self.mail.popleft()
        function(*arguments)
        return True

    def _outputs_available(self) -> bool:
        return all(writer.pool.available for writer in self.writers)

    def _serve(self) -> Steps:
        if self._left == 1 and self._channel is not None and self._slice is not None:
            self._channel.recycle(self._slice)
        self.enter(State.BUSY)
        yield self.env.timeout(self.step_ns, kind=Kind.TASK)
        self._left -= 1
        self.processed += 1
        if not self._left:
            self._slice = None
        yield from write_record(self)
        self._set_input_aside()

    def _wait(self, state: State) -> Steps:
        self.enter(state)
        yield self._process.sleep()
        self.enter(State.WAKING)
        yield self.env.timeout(self.wake_ns, kind=Kind.TASK)

    def _end_stretch(self, behind: int = 0) -> None:
        """Do nothing: the process looks at its mailbox after the record."""

    def _wake(self) -> None:
        self._process.wake()

    def sync(self) -> None:
        """Do nothing: what is done is accounted for."""

    def _replan(self) -> None:
        """Do nothing: nothing is planned."""

    def _retry(self) -> None:
        self._process.wake()


def write_record(task: ReferenceTask | ReferenceSource) -> Steps:
    """Write one record to all outputs of a task, waiting inside it for what it lacks."""
    for writer in task.writers:
        writer.advance(1)
    while any(writer.blocked for writer in task.writers):
        task.enter(State.STUCK)
        yield task._process.sleep()  # noqa: SLF001 - the two classes are one driver
        yield task.env.timeout(0, kind=Kind.TASK)
        for writer in task.writers:
            if writer.blocked:
                writer.retry()


class ReferenceSource(Source):
    """A source subtask, record by record."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._process = _Process()

    def run(self) -> None:
        """Start the process."""
        self._process.start_process(self, self._steps)

    def _steps(self) -> Steps:
        while not self.has_ended:
            if self._paused_for is not None:
                self.enter(State.PAUSED)
                yield self._process.sleep()
                self._call_paused()
            elif self.mail:
                function, arguments = self.mail.popleft()
                function(*arguments)
            elif self.exhausted_ns is not None:
                yield from self._wait(State.IDLE)
            elif self.limit is not None and self.processed >= self.limit:
                self.exhaust()
            elif not all(writer.pool.available for writer in self.writers):
                yield from self._wait(State.BLOCKED)
            elif self._told_to_stop:
                self.exhaust()
            else:
                yield from self._emit_one()

    def _emit_one(self) -> Steps:
        gap, now = self.gap_ns, self.env.now
        if gap is not None:
            self.due_ns = max(self.due_ns, now - self.world.constants.catch_up_ns)
            if self.due_ns > now:
                self.enter(State.PACED)
                due = self.env.timeout(self.due_ns - now, kind=Kind.TASK)
                yield due | self._process.sleep()
                if self.mail or self.env.now < self.due_ns:
                    return
                yield from self._written()
                return
        self.enter(State.BUSY)
        yield self.env.timeout(self.step_ns, kind=Kind.TASK)
        yield from self._written()

    def _written(self) -> Steps:
        self.processed += 1
        if self.gap_ns is not None:
            self.due_ns += self.gap_ns
        yield from write_record(self)

    def _wait(self, state: State) -> Steps:
        self.enter(state)
        yield self._process.sleep()
        self.enter(State.WAKING)
        yield self.env.timeout(self.wake_ns, kind=Kind.TASK)

    def post(self, function: Callable[..., object], *arguments: Any) -> None:
        """Put something into the mailbox."""
        self.mail.append((function, arguments))
        if self.state in (State.IDLE, State.BLOCKED):
            self._process.wake()
        elif self.state is State.PACED:  # at hand, but behind whatever else happens now
            self.env.call_at(self.env.now, Kind.TASK, self.entity, self._look)

    def _look(self) -> None:
        if self.state is State.PACED:
            self._process.wake()

    def _wake(self) -> None:
        self._process.wake()

    def sync(self) -> None:
        """Do nothing: what is done is accounted for."""

    def _replan(self) -> None:
        """Do nothing: nothing is planned."""

    def _retry(self) -> None:
        self._process.wake()

    def _pause_over(self) -> None:
        self._process.wake()
