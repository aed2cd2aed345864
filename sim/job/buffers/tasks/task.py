"""One task: a mailbox thread that serves records, and stops when an output has no buffer.

It is a SimPy process, slow and plain on purpose: the reference for the compiled driver.  Between
two records the thread looks at its mailbox first, then at its outputs, then at its inputs.  Nothing
is worked out ahead: a record is served for its time, then written byte by byte, and only then does
the thread look at its mailbox.

A boundary that no one can see is no tie: no buffer is opened or freed at it, and no mail is there.
It comes after all else that happens at its instant, and whatever does happen then finds it still to
come.  So another driver may leave it out, whatever the policy of ties.

A receiver's buffer is free when its last record has been read, not when it has been processed.

Source: Apache Flink 1.20.3, MailboxProcessor, StreamTask.processInput, AbstractStreamTaskNetwork-
Input.emitNext.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.buffers.input import Channel, InputChoice, InputTurns
from ckptsim.sim.job.buffers.kinds import Kind, State
from ckptsim.sim.job.buffers.output import Outputs, Slice
from ckptsim.sim.job.buffers.tasks.ending import TaskEnding
from ckptsim.sim.job.buffers.tasks.pausing import Pausing
from ckptsim.sim.job.events import of_job
from ckptsim.sim.kernel import Signal

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
    from ckptsim.sim.kernel import Process, Timer

Steps = Generator[Any, Any, None]

# Members of an enumeration cost a look-up in its metaclass, so the loop has them by name.
_BUSY, _IDLE, _STUCK, _ENDED = State.BUSY, State.IDLE, State.STUCK, State.ENDED


class Task(Pausing):
    """One subtask of an operator.

    step_ns: service of a record.  two_input: its inputs take turns record by record.  upstream: the
    tasks that write to it.  lateness: gets every record, or None.  time_in: ns per state.
    processed: records so far.  restored_records: how many of them a restored state has.
    passed_over: how many were not simulated.  passed_out: how many of these came at each output.
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
        self.ending = TaskEnding(self)
        self.control: TaskControl
        self.file: ChannelStateFile
        self.sink: SinkWriter | None = None
        self.records: TaskRecords | None = None  # where records have identities
        self.mail: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self.state = State.IDLE
        self.processed = 0
        self.restored_records = self.passed_over = self.passed_out = 0
        self.finished_ns: int | None = None
        self.time_in = [0] * len(State)
        self.since_ns = world.env.now
        self.lateness = None if world.timed is None else world.timed.lateness
        self._frees_when_read = world.mechanisms.freed_when_read
        self.wake_ns = world.constants.wake_ns
        self._timer = world.env.timer(int(Kind.TASK), self.entity, self.run)
        # The buffer being read, its channel, and how many of its records are unread.
        self._slice: Slice | None = None
        self._channel: Channel | None = None
        self._left = 0
        self._choice = InputChoice(self.gates) if two_input else None
        self.turns = InputTurns()
        self.idle_before_ns = 0
        self._paused_for: tuple[Callable[..., object], tuple[Any, ...]] | None = None
        self._process: Process | None = None
        self._turn = Signal(world.env)
        self._is_serving = False  # whether a record is under way
        self._boundary_ns = 0  # where it ends
        self._is_unseen = False  # whether its boundary is after all else of that instant

    # The loop ---------------------------------------------------------------------------------

    def run(self) -> None:
        """Let the thread continue at a record boundary. It begins when it does so first."""
        if self._process is None:
            self._process = self.env.process(self._steps(), entity=self.entity, on=self._turn)
        self._turn.happen()
        if not self._process.is_alive and not self._process.ok:
            raise self._process.value  # now, and not when the end of the process is next

    def _steps(self) -> Steps:
        while True:
            found = self._look()
            if found is _BUSY:
                yield from self._serve()
            elif found is _ENDED:
                return
            else:
                self.enter(found)
                yield self._turn

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
        """Take the next element. False when there is none."""
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
        end = channel.subpartition
        channel.partial_bytes = end.writer.sizes.rest(
            end.lane, channel.records - end.restored.records, records, channel.partial_bytes + size
        )
        channel.records += records
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
        """Give the other input its turn after a record."""
        if self._choice is not None and self._slice is not None and self._channel is not None:
            self._choice.set_aside((self._slice, self._channel, self._left, self.step_ns))
            self._slice = None

    # Records ----------------------------------------------------------------------------------

    def _serve(self) -> Steps:
        """Serve the next record, and write it."""
        if self._left == 1 and self._frees_when_read:
            self._channel.recycle(self._slice)  # type: ignore[union-attr,arg-type]
        yield from self._spend_until(self.env.now + self.step_ns, _BUSY)

    def _spend_until(self, boundary_ns: int, state: State) -> Steps:
        """Be in a state until a record ends, then write it, unless mail has come before it began.

        The thread may come to stand inside the record: then it waits until all of it is written.
        """
        self._is_serving, self._boundary_ns = True, boundary_ns
        if self.state is not state:
            self.enter(state)
        self._is_unseen = not self._can_be_seen()
        arm = self._timer.arm_behind if self._is_unseen else self._timer.arm_at
        arm(boundary_ns)
        yield self._turn
        is_served, self._is_serving, self._is_unseen = self._is_serving, False, False
        if is_served:
            self._complete()
        self._set_input_aside()
        if self.state is _STUCK:
            yield self._turn

    def _can_be_seen(self) -> bool:
        """Return whether something but the next record follows from the one under way."""
        # With the last record of a buffer its memory comes free: when that begins, or when it ends.
        if self._left <= 1 + self._frees_when_read:
            return True
        return (self._choice is not None and self._choice.alternates) or self._opens_next()

    def _opens_next(self) -> bool:
        return any(writer.opens_next for writer in self.writers)

    def _show(self) -> None:
        """Put the boundary of the record under way among the ties of its instant."""
        if self._is_unseen:
            self._is_unseen = False
            self._timer.arm_at(self._boundary_ns)

    def halt(self) -> None:
        """End the thread where it waits."""
        self.enter(State.ENDED)
        if self._process is not None and self._process is not self.env.active_process:
            self._process.stop()

    def die(self) -> None:
        """Do nothing more, whatever was to follow: the task has failed."""
        self._timer.cancel()
        self._paused_for = None

    def _complete(self) -> None:
        """Account for the record under way, and write what it gives."""
        if self.lateness is not None and self._channel is not None:
            self.lateness.processed(self, self._channel)
        self._left -= 1
        self.processed += 1
        if self.records is not None and self._channel is not None:
            self.records.processed(self._channel.index, 1)
        if not self._left:
            if not self._frees_when_read:
                self._channel.recycle(self._slice)  # type: ignore[union-attr,arg-type]
            self._slice = None
        self._emit()

    def _emit(self) -> None:
        for writer in self.writers:
            writer.advance()
            if writer.blocked:
                self.enter(_STUCK)

    @property
    def has_ended(self) -> bool:
        """Whether the thread has ended."""
        return self.state is _ENDED

    # What the coordinator calls ---------------------------------------------------------------

    def trigger_checkpoint(self, barrier: Barrier, stop: StopMode | None) -> None:
        """Take a trigger by remote call. A source that starts up answers when it has."""
        self.world.events.emit(of_job.TriggerArrived(self, barrier.checkpoint))
        at_ns = self.starts_until_ns
        if self.env.now < at_ns:
            trigger = self.control.trigger
            self.env.call_at(at_ns, Kind.MAIL, self.entity, self.post, trigger, barrier, stop)
        else:
            self.control.trigger(barrier, stop)

    def notify_complete(self, checkpoint: int) -> None:
        """Take the notification that a checkpoint is complete."""
        self.control.notify_complete(checkpoint)

    def notify_aborted(self, checkpoint: int, latest_completed: int | None) -> None:
        """Take the notification that a checkpoint was aborted."""
        self.control.notify_aborted(checkpoint, latest_completed)

    is_source = False
    starts_until_ns = 0  # until when a source takes no part in checkpoints
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
        """Put something into the mailbox. It is done at the next record boundary."""
        self.mail.append((function, arguments))
        if self.state is _BUSY:
            self._show()  # so the boundary finds it
        elif self.state in (State.IDLE, State.BLOCKED):
            self._wake()

    def _wake(self) -> None:
        self.enter(State.WAKING)
        self._timer.arm_in(self.wake_ns)

    def sync(self) -> None:
        """Do nothing: the work done is accounted for."""

    def input_arrived(self, gate: InputGate) -> None:
        """Note that a gate has something to read."""
        if not gate.listed:
            gate.listed = True
            self.turns.ready.append(gate)
        if self.state is _IDLE:
            self._wake()

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
        for writer in self.writers:
            if not writer.blocked:
                for subpartition in writer.subpartitions:
                    subpartition.flush()
        if not self.world.mechanisms.slices:
            self._look_again()  # buffers were closed in the middle of a record

    def resize(self, subpartition: Subpartition, size: int) -> None:
        """Let the next buffers of a subpartition be smaller or larger."""
        subpartition.writer.resize(subpartition.channel, size)
        self._look_again()

    def _look_again(self) -> None:
        """Let the boundary be seen if the record opens a buffer now that others were closed."""
        if self._is_serving and self._can_be_seen():
            self._show()

    def priority_arrived(self, gate: InputGate, channel: Channel) -> None:
        """Have an element that overtakes data taken before the next record."""
        self.post(gate.take_priority, channel)

    def unread_bytes(self, channel: Channel) -> int:
        """Count the unread part of the buffer under way, and of a record begun in a channel."""
        end, unread = channel.subpartition, self.unread_records(channel)
        written = channel.records - end.restored.records
        return channel.partial_bytes + end.writer.sizes.unread(end.lane, written, unread)

    def unread_of_all(self) -> list[int]:
        """Return the same of each channel."""
        return [self.unread_bytes(channel) for channel in self.channels]

    def unread_records(self, channel: Channel) -> int:
        """Count the unread part of the buffer under way of a channel, in whole records."""
        unread = self._choice.unread_records(channel) if self._choice else 0
        # By place: a recovered gate is converted while its last record is still being processed.
        if self._slice is not None and self._channel.index == channel.index:  # type: ignore[union-attr]
            unread += self._left
        return unread
