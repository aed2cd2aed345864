"""One task: a mailbox thread that serves records, and stops when an output has no buffer.

Between two records the thread looks at its mailbox first, then at its outputs, then at its inputs.
It serves as many records as it can in one stretch: up to the last record of the buffer, or up to
the record that opens an output buffer.  Whatever comes in between shortens the stretch to the next
record boundary, which is arithmetic; so a stretch is one calendar entry however long it is.

A receiver's buffer is free when its last record has been read, not when it has been processed, so
the last record of a buffer is a stretch of its own.

Source: Apache Flink 1.20.3, MailboxProcessor, StreamTask.processInput, AbstractStreamTaskNetwork-
Input.emitNext.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.buffers.input import Channel, InputChoice, InputTurns
from ckptsim.sim.job.buffers.kinds import Kind, State
from ckptsim.sim.job.buffers.output import Outputs, Slice
from ckptsim.sim.job.buffers.tasks.ending import Ending
from ckptsim.sim.job.buffers.tasks.pausing import Pausing

if TYPE_CHECKING:
    from ckptsim.models.barriers.barrier import Barrier
    from ckptsim.models.barriers.channels import NetworkEffect
    from ckptsim.models.lifecycle import StopMode
    from ckptsim.sim.job.buffers.input import InputEvents, InputGate
    from ckptsim.sim.job.buffers.output import RecordWriter, Subpartition
    from ckptsim.sim.job.buffers.state import ChannelStateFile, Snapshots, TaskRecords
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.control.sinks.sink import SinkWriter
    from ckptsim.sim.job.control.task import TaskControl
    from ckptsim.sim.job.graph import TaskSpec
    from ckptsim.sim.kernel import Timer

# Members of an enumeration cost a look-up in its metaclass, so the loop has them by name.
_BUSY, _IDLE, _STUCK, _ENDED = State.BUSY, State.IDLE, State.STUCK, State.ENDED


class Task(Pausing):
    """One subtask of an operator.

    step_ns: service of a record; two_input: its inputs take turns record by record; upstream: tasks
    that write to it; lateness: hears of every record, or None; time_in: ns per state; processed:
    records so far; restored_records: those of them that a restored state has.
    """

    def __init__(
        self, world: DataflowWorld, spec: TaskSpec, *, step_ns: int, two_input: bool
    ) -> None:
        self.world = world
        self.env = world.env
        self.spec = spec
        self.name = spec.vertex.name
        self.subtask = spec.subtask
        self.place = spec.place
        self.number = spec.index
        self.entity = world.env.entity(self.name, self.subtask)
        self.step_ns = max(1, step_ns)
        self.two_input = two_input
        self.upstream: list[Task] = []
        self.gates: list[InputGate] = []
        self.channels: list[Channel] = []
        self.inputs = self.channels  # as control calls them
        self.writers: list[RecordWriter] = []
        self.subpartitions: list[Subpartition] = []
        self.outbox: list[NetworkEffect] = []
        self.events: InputEvents
        self.outputs = Outputs(self)
        self.snapshots: Snapshots
        self.ending = Ending(self)
        self.control: TaskControl
        self.file: ChannelStateFile
        self.sink: SinkWriter | None = None
        self.records: TaskRecords | None = None  # where records have identities
        self.mail: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self.state = State.IDLE
        self.processed = 0
        self.restored_records = 0
        self.finished_ns: int | None = None
        self.time_in = [0] * len(State)
        self.since_ns = world.env.now
        self.lateness = None if world.timed is None else world.timed.lateness
        self._frees_when_read = world.mechanisms.freed_when_read
        self.wake_ns = world.constants.wake_ns
        self._timer = world.env.timer(int(Kind.TASK), self.entity, self._fire)
        # The buffer being read, its channel, and how many of its records are unread.
        self._slice: Slice | None = None
        self._channel: Channel | None = None
        self._left = 0
        self._choice = InputChoice(self.gates) if two_input else None
        self.turns = InputTurns()
        self.idle_before_ns = 0
        self._paused_for: tuple[Callable[..., object], tuple[Any, ...]] | None = None
        # The stretch under way: when it began and how many records it has.
        self._start_ns = 0
        self._count = 0

    # The loop ---------------------------------------------------------------------------------

    def run(self) -> None:
        """Continue at a record boundary until a stretch begins or there is nothing to do."""
        found = self._look()
        if found is _BUSY:
            self._begin_stretch()
        elif found is not _ENDED:
            self.enter(found)

    def _look(self) -> State:
        """Do what comes before the next record.

        Returns BUSY when that may be served, else the state in which the thread waits.
        """
        while self.state is not _ENDED:
            if self._paused_for is not None:
                return State.PAUSED
            if self.mail:
                function, arguments = self.mail.popleft()
                function(*arguments)
                continue
            if not self._outputs_available():
                return State.BLOCKED
            if self._slice is None and not self._next():
                return _IDLE
            if self._slice is not None:
                return _BUSY
        return _ENDED

    def _outputs_available(self) -> bool:
        for writer in self.writers:  # noqa: SIM110 - `all` costs a generator for every buffer
            if not writer.pool.available:
                return False
        return True

    def _next(self) -> bool:
        """Take the next element; False when there is none."""
        choice = self._choice
        found = choice.poll(self.env.now) if choice else self.turns.poll()
        if found is None:
            return False
        if len(found) == 4:
            self._slice, self._channel, self._left, self.step_ns = found
            return True
        channel, element = found
        if not isinstance(element, Slice):
            self.events.take(channel, element)
            return True
        size, records = element.bytes, element.records
        clock = self.events.clock
        if clock.running:
            clock.add_bytes(size)
        self._channel = channel
        channel.gate.taken_bytes += size
        channel.records += records
        channel.partial_bytes += size - records * channel.subpartition.writer.record_bytes
        if records:
            self._slice = element
            self._left = records
            self._draw_service()
        else:
            channel.recycle(element)
            if choice:
                choice.go_on()
        return True

    def _draw_service(self) -> None: ...  # all records take the same time
    def _set_input_aside(self) -> None:
        """Give the other input its turn behind a record."""
        if self._choice is not None and self._slice is not None and self._channel is not None:
            self._choice.set_aside((self._slice, self._channel, self._left, self.step_ns))
            self._slice = None

    # Stretches --------------------------------------------------------------------------------

    def _begin_stretch(self) -> None:
        count = self._left - 1 if self._frees_when_read else self._left
        if not count:
            count = 1
            self._channel.recycle(self._slice)  # type: ignore[union-attr,arg-type]
        elif self._choice and self._choice.alternates:
            count = 1
        for writer in self.writers:
            count = min(count, writer.to_next)
        self._count = count
        self._start_ns = now = self.env.now
        if self.state is not _BUSY:
            self.enter(_BUSY)
        self._timer.arm_at(now + count * self.step_ns)

    def _fire(self) -> None:
        if self.state is _BUSY:
            # From here on `sync` has nothing to add, also when it is asked for from within.
            count, self._count = self._count, 0
            self._complete(count)
            if self._choice:
                self._choice.chosen_until(self._start_ns + (count - 1) * self.step_ns)
                self._set_input_aside()
            if self.state is _STUCK:
                return
        self.run()

    def halt(self) -> None:
        """End the thread at the record boundary to which the stretch under way has come."""
        self.sync()
        self.enter(State.ENDED)

    def die(self) -> None:
        """Do nothing more, whatever was to follow: the task has failed."""
        self._timer.cancel()
        self._paused_for = None

    def _complete(self, count: int) -> None:
        if self.lateness is not None and self._channel is not None:
            # Within `sync` the stretch continues, and has been moved to the end of these records.
            end_ns = self._start_ns if self._count else self.env.now
            self.lateness.processed(self, self._channel, count, end_ns)
        self._left -= count
        self.processed += count
        if self.records is not None and self._channel is not None:
            self.records.processed(self._channel.index, count)
        if not self._left:
            if not self._frees_when_read:
                self._channel.recycle(self._slice)  # type: ignore[union-attr,arg-type]
            self._slice = None
        if self.writers:
            self._emit(count)

    def _emit(self, count: int) -> None:
        for writer in self.writers:
            writer.advance(count)
            if writer.blocked:
                self.enter(_STUCK)

    @property
    def has_ended(self) -> bool:
        """Whether the thread has ended."""
        return self.state is _ENDED

    def enter(self, state: State) -> None:
        """Change what the thread does, and account for the time since the last change."""
        now = self.env.now
        self.time_in[self.state] += now - self.since_ns
        self.since_ns = now
        self.state = state

    # What the coordinator calls ---------------------------------------------------------------

    def trigger_checkpoint(self, barrier: Barrier, stop: StopMode | None) -> None:
        """Take a trigger by remote call."""
        self.control.trigger(barrier, stop)

    def notify_complete(self, checkpoint: int) -> None:
        """Take the notification that a checkpoint is complete."""
        self.control.notify_complete(checkpoint)

    def notify_aborted(self, checkpoint: int, latest_completed: int | None) -> None:
        """Take the notification that a checkpoint was given up."""
        self.control.notify_aborted(checkpoint, latest_completed)

    is_source = False
    longest_step_ns: Any = property(attrgetter("step_ns"))  # the most that a record takes

    def cut_off(self) -> None:
        """Do nothing: an operator has processed all that came before the end of its data."""

    def set_timer(
        self, delay_ns: int, function: Callable[..., object], /, *arguments: Any
    ) -> Timer:
        """Call a function when a timer of that length has run out, which takes a little longer."""
        delay_ns += self.world.constants.timer_extra_ns
        return self.env.call_in(delay_ns, Kind.TIMER, self.entity, function, *arguments)

    def spend_on_barrier(self, function: Callable[..., object], /, *arguments: Any) -> None:
        """Call the function when a core has done what a barrier costs before it is sent on."""
        self.pause(self.world.constants.barrier_cost_ns, function, *arguments)

    def post(self, function: Callable[..., object], *arguments: Any) -> None:
        """Put something into the mailbox; it is done at the next record boundary."""
        self.mail.append((function, arguments))
        if self.state is State.BUSY:
            self._end_stretch()
        elif self.state in (State.IDLE, State.BLOCKED):
            self._wake()

    def _end_stretch(self, behind: int = 0) -> None:
        """End the stretch with the record under way, or so many behind that."""
        if self.state is _BUSY and self._count > 1:
            done = max(1, -(-(self.env.now - self._start_ns) // self.step_ns)) + behind
            if done < self._count:
                self._count = done
                self._timer.arm_at(self._start_ns + done * self.step_ns)

    def _wake(self) -> None:
        self.enter(State.WAKING)
        self._timer.arm_in(self.wake_ns)

    def sync(self) -> None:
        """Account for the records of the stretch that are done by now."""
        if self.state is _BUSY:
            # A boundary at this very instant is still to come, see `Kind.TASK`.
            done = min((self.env.now - self._start_ns - 1) // self.step_ns, self._count - 1)
            if done > 0:
                self._start_ns += done * self.step_ns
                self._count -= done
                self._complete(done)

    def input_arrived(self, gate: InputGate) -> None:
        """Note that a gate has something to read."""
        if not gate.listed:
            gate.listed = True
            self.turns.ready.append(gate)
        if self.state is _IDLE:
            self._wake()
        elif self._choice is not None and self._choice.reading != gate.index:
            self._end_stretch(behind=1)  # the next choice sees it afterwards

    def output_available(self) -> None:
        """Note that a pool has a segment again."""
        if self.state is State.BLOCKED:
            if self._outputs_available():
                self._wake()
        elif self.state is State.STUCK:
            # Inside a record the thread waits for the pool itself, so it continues at once.
            self.env.call_at(self.env.now, Kind.TASK, self.entity, self._retry)

    def _retry(self) -> None:
        if self.state is not State.STUCK:
            return
        written = [writer.retry() for writer in self.writers if writer.blocked]
        if all(written):
            self.run()

    def flush(self) -> None:
        """Send what the open buffers hold (the output flusher)."""
        self.sync()
        for writer in self.writers:
            if not writer.blocked:
                for subpartition in writer.subpartitions:
                    subpartition.flush()
        if not self.world.mechanisms.slices:
            self._replan()  # buffers were closed in the middle of a stretch

    def resize(self, subpartition: Subpartition, size: int) -> None:
        """Let the next buffers of a subpartition be smaller or larger."""
        self.sync()
        subpartition.writer.resize(subpartition.channel, size)
        self._replan()

    def _replan(self) -> None:
        """Continue with a stretch whose end may have moved."""
        if self.state is not State.BUSY:
            return
        limit = min((writer.to_next for writer in self.writers), default=self._count)
        if limit < self._count:
            self._count = limit
            self._timer.arm_at(self._start_ns + limit * self.step_ns)

    def priority_arrived(self, gate: InputGate, channel: Channel) -> None:
        """Have an element that overtakes data taken before the next record."""
        self.post(gate.take_priority, channel)

    def unread_bytes(self, channel: Channel) -> int:
        """Count what is unread of the buffer under way, and of a record begun in a channel."""
        record_bytes = channel.subpartition.writer.record_bytes
        return channel.partial_bytes + self.unread_records(channel) * record_bytes

    def unread_records(self, channel: Channel) -> int:
        """Count what is unread of the buffer under way of a channel, in whole records."""
        unread = self._choice.unread_records(channel) if self._choice else 0
        # By place: a recovered gate is converted while its last record is still being processed.
        if self._slice is not None and self._channel.index == channel.index:  # type: ignore[union-attr]
            unread += self._left
        return unread
