"""One task of a job: a thread with a mailbox that takes records and events one at a time.

The thread looks at its mails first (messages of the coordinator, timers, acknowledgements), then at
priority events, then at the next element of its inputs in turn.  It begins a record only while
every output has room, so it never stops in the middle of one.  What has to happen at a barrier or
an end mark is decided by cores; `TaskControl` carries out their effects.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from ckptsim.models.barriers import (
    Announcement,
    Barrier,
    CancellationMarker,
    EndOfData,
    EndOfPartition,
    NetworkEvent,
)
from ckptsim.models.barriers.network import NetworkEffect
from ckptsim.models.lifecycle import StopMode
from ckptsim.models.lifecycle import events as on
from ckptsim.scenarios.job import VertexKind
from ckptsim.sim.job.control.task import TaskControl
from ckptsim.sim.job.records.cores import make_cores
from ckptsim.sim.job.records.ending import Ending
from ckptsim.sim.job.records.graph import OutputSpec, TaskSpec
from ckptsim.sim.job.records.inlet import Inlet
from ckptsim.sim.job.records.kinds import Kind
from ckptsim.sim.job.records.link import Link
from ckptsim.sim.job.records.notifications import handle_aborted, handle_complete
from ckptsim.sim.job.records.outputs import InputGate, Outputs
from ckptsim.sim.job.records.sink import SinkWriter
from ckptsim.sim.job.records.snapshot import SOURCE_SPAN, WATERMARK, Element, Record, TaskSnapshot
from ckptsim.sim.job.records.snapshots import Snapshots
from ckptsim.sim.job.records.task_account import TaskAccount
from ckptsim.sim.kernel import Entity, Environment, Timer, Wait

if TYPE_CHECKING:
    from ckptsim.sim.job.records.attempt import Attempt


class Task:
    """A running subtask of one attempt.

    state: records whose effect its state has, in order.  position: records that a source has
    emitted.  links_out: the outgoing channels in the order of the edges.  outbox: what the cores of
    its channels and subpartitions ask for.
    """

    def __init__(
        self,
        attempt: Attempt,
        spec: TaskSpec,
        *,
        restored: TaskSnapshot | None,
        finished_on_restore: bool,
    ) -> None:
        self.attempt = attempt
        self.spec = spec
        self.number = spec.index
        self.place = spec.place
        self.is_source = spec.vertex.kind is VertexKind.SOURCE
        self.env: Environment = attempt.env
        self.entity: Entity = attempt.env.entity(f"task {spec.vertex.name}", spec.subtask)
        self.outbox: list[NetworkEffect] = []
        self.inputs: list[Link] = []
        self.gates: list[InputGate] = []
        self.outputs: Outputs = Outputs(self, [])
        self.mails: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self.state: list[Record] = [] if finished_on_restore else attempt.state_of(spec)
        self.position: int = restored.position if restored else 0
        # A source has read all there is, now or before a restore.
        self.exhausted: bool = restored.exhausted if restored else False
        self.gone: bool = False  # closed or failed: takes no input any more
        self.busy = False
        self.stalled_until_ns = 0
        self.ready_ns = 0  # when what it restores is there
        self.leaves_ns = 0  # when it is not known here any more, once it has closed
        self.sink: SinkWriter | None = None
        if spec.vertex.kind is VertexKind.SINK and not finished_on_restore:
            self.sink = attempt.make_sink(spec)
        self.inlet: Inlet | None = attempt.make_inlet(self) if self.is_source else None
        self.snapshots: Snapshots = Snapshots(self)
        self.ending: Ending = Ending(self, finished_on_restore=finished_on_restore)
        self.account: TaskAccount = TaskAccount(self)
        self.control: TaskControl = TaskControl(
            self,
            make_cores(attempt, spec, finished_on_restore=finished_on_restore),
            writer=attempt.files[spec.index].writer,
            observer=self.account,
            clock=self.env,
            reach=attempt.goal,
        )
        handler = self.control.handler
        self._clock = None if handler is None else handler.core.clock
        if self.sink is not None:
            self.control.lifecycle.step(on.StateRestored(attempt.sink_states(spec)))
            self.sink.begin()
        self._turn = 0
        self._record: Record | None = None
        self._step = self.env.timer(Kind.STEP, self.entity, self._look)
        self._begins = self.env.timer(Kind.BEGIN, self.entity, self._go_on)
        self._service = self.env.timer(Kind.SERVICE, self.entity, self._served)
        self._emission = self.env.timer(Kind.EMIT, self.entity, self._due)
        self._next_emission_ns = self.env.now + spec.vertex.pause_ns

    @property
    def name(self) -> str:
        """Return `vertex/subtask`."""
        return self.spec.name

    def trigger_checkpoint(self, barrier: Barrier, stop: StopMode | None) -> None:
        """Take the coordinator's trigger."""
        self.attempt.trigger(self, barrier, stop)

    def notify_complete(self, checkpoint: int) -> None:
        """Take the notification that a checkpoint is complete."""
        if self.attempt.alive:
            self.post(partial(handle_complete, self, checkpoint))

    def notify_aborted(self, checkpoint: int, latest_completed: int | None) -> None:
        """Take the notification that a checkpoint was given up."""
        if self.attempt.alive:
            self.post(partial(handle_aborted, self, checkpoint, latest_completed))

    def connect(self, inputs: list[Link], outputs: list[tuple[OutputSpec, list[Link]]]) -> None:
        """Take the channels: incoming ones over all gates, outgoing ones per edge."""
        self.inputs = inputs
        self.outputs = Outputs(self, outputs)
        first = 0
        for size in self.attempt.graph.gates[self.spec.index]:
            self.gates.append(InputGate(inputs[first : first + size]))
            first += size

    @property
    def links_out(self) -> list[Link]:
        """Return the outgoing channels in the order of the edges."""
        return self.outputs.links

    @property
    def subtask(self) -> int:
        """Return the index within the vertex."""
        return self.spec.subtask

    def start(self) -> None:
        """Begin to work; a source that ends by time looks at its end then, if not before."""
        if self.is_source:  # one that was restored as finished passes its end marks on
            self.control.lifecycle.step(on.Started())
        ends_ns = self.spec.vertex.ends_at_ns
        if ends_ns is not None and ends_ns > self.env.now:
            self.attempt.later(ends_ns - self.env.now, Kind.EMIT, self.entity, self.wake)
        self.wake()

    def post(self, function: Callable[..., object], /, *arguments: Any) -> None:
        """Put something into the mailbox."""
        self.mails.append((function, arguments))
        self.wake()

    def set_timer(
        self, delay_ns: int, function: Callable[..., object], /, *arguments: Any
    ) -> Timer:
        """Call a function after a delay, unless the attempt has failed by then."""
        return self.attempt.timer_in(delay_ns, Kind.TIMER, self.entity, function, *arguments)

    def spend_on_barrier(self, function: Callable[..., object], /, *arguments: Any) -> None:
        """Call the function at once: sending a barrier on takes no time here."""
        function(*arguments)

    def wake(self) -> None:
        """Have the thread look for work at this instant, if it is idle."""
        if not self.busy and not self._step.armed:
            self._step.arm_in(0)

    def room_freed(self) -> None:
        """Note that an output has room again."""
        self.wake()

    def occupy(self, duration_ns: int) -> None:
        """Hold the thread for a while, as the synchronous part of a snapshot does."""
        if duration_ns:
            self.stalled_until_ns = max(self.stalled_until_ns, self.env.now + duration_ns)

    def waits(self) -> list[Wait]:
        """Return what the task waits for, for the story of a run that stands still."""
        found = self.ending.waits()
        for link in self.links_out:
            if not link.has_room:
                found.append(Wait(self.name, "room in a channel", link.receiver.name))
        for link in self.inputs:
            if link.queue.blocked:
                found.append(Wait(link.sender.name, "its channel to be resumed", self.name))
        return found

    # --- the thread ---

    def _look(self) -> None:
        """Do what takes no time; a record that could be begun is begun last in this instant."""
        self._work(begins=False)

    def _go_on(self) -> None:
        """Do what takes no time, then begin a record."""
        self._work(begins=True)

    def _work(self, *, begins: bool) -> None:
        """Work until a record is being served or nothing can be done."""
        while self.attempt.alive and not self.busy:
            if self.stalled_until_ns > self.env.now:
                self._step.arm_at(self.stalled_until_ns)
                return
            if self.mails:
                function, arguments = self.mails.popleft()
                function(*arguments)
            elif self.gone or not self._next(begins=begins):
                return

    def _next(self, *, begins: bool) -> bool:
        """Take one step on input or as a source; say whether something was done."""
        for link in self.inputs:
            if link.channel.has_priority:
                self._take(link)
                return True
        for link in self.links_out:
            if not link.has_room:
                return False
        if self.is_source:
            return self._emit_when_due()
        found = self._ready()
        if found is None:
            return False
        if not begins and found.head_takes_time:
            if not self._begins.armed:
                self._begins.arm_in(0)
            return False
        self._turn = (found.spec.input + 1) % len(self.inputs)
        self._take(found)
        return True

    def _ready(self) -> Link | None:
        """Return the next channel in turn that has an element."""
        inputs, turn = self.inputs, self._turn
        for link in inputs[turn:] + inputs[:turn] if turn else inputs:
            if link.recovered or len(link.channel):
                return link
        return None

    def _take(self, link: Link) -> None:
        """Take the next element of a channel: recovered records first, then the channel's own."""
        if link.recovered and not link.channel.has_priority:
            number, record = link.recovered.pop(0)
            link.account.record_taken(number, link.consumed)
            link.consumed = number
            self._begin(link, record)
            return
        priority = link.channel.has_priority
        element = link.channel.poll()
        if isinstance(element, NetworkEvent):
            self._event(link, element, priority=priority)
            return
        number, record = cast("Element", element)
        link.taken(number)
        self._begin(link, record)

    def _begin(self, link: Link, record: Record) -> None:
        if record == WATERMARK:
            self.control.max_watermark(link.spec.input)
            return
        vertex = self.spec.vertex
        self.account.record(link)
        if self._clock is not None and self._clock.running:
            self._clock.add_bytes(1)
        self.busy = True
        self._record = record
        self._service.arm_in(vertex.service_of(self.spec.subtask))

    def _served(self) -> None:
        """Finish a record: its effect on the state, then what goes out."""
        record, self._record = self._record, None
        if not self.attempt.alive or record is None:
            return
        self.busy = False
        self.attempt.progress()
        self.state.append(record)
        if self.control.lifecycle.operators_finished:
            says = f"{self.name} processes record {record} after finish()"
            self.attempt.violate("end_marks_in_order", says)
        if self.sink is not None:
            self.sink.write(record)
        self.emit(record)
        self._begins.arm_in(0)

    def _event(self, link: Link, event: NetworkEvent, *, priority: bool) -> None:
        channel, control = link.spec.input, self.control
        handler = control.handler
        if handler is None:
            raise AssertionError(f"{self.name} has no inputs, and gets {event!r}")
        match event:
            case Barrier():
                link.account.barrier_taken(event, priority=priority)
                handler.barrier(channel, event)
            case Announcement(barrier, sequence):
                handler.announcement(channel, barrier, sequence)
            case CancellationMarker(checkpoint):
                handler.cancellation(channel, checkpoint)
            case EndOfData(drain):
                self.attempt.life.polled(link, drain=drain)
                control.end_of_data(channel, event)
            case EndOfPartition():
                self.attempt.life.channel_ended(link)
                self.ending.account.input_over(link)
                control.end_of_partition(channel)
            case _:
                raise AssertionError(f"no such element in a channel: {event!r}")

    # --- sending ---

    def emit(self, record: Record) -> None:
        """Send a record over every edge; the final watermark goes to every channel."""
        if record != WATERMARK:
            self.attempt.life.record(self)
        for link in self.outputs.channels_of(record):
            link.put(record)
            link.pump()

    # --- sources ---

    @property
    def _is_exhausted(self) -> bool:
        """Say whether a source has nothing more to read: by count, by time, or long ago."""
        vertex = self.spec.vertex
        if self.exhausted or (vertex.ends_at_ns is not None and vertex.ends_at_ns <= self.env.now):
            return True
        own = vertex.records_of(self.spec.subtask)
        if own is None:
            return False
        return self.position >= own + self.attempt.graph.preloaded_records

    def _emit_when_due(self) -> bool:
        if self.ending.ended:
            return False
        if self.inlet is not None:
            return self._emit_from(self.inlet)
        if self._is_exhausted:
            self.exhausted = True
            self.control.exhausted()
            return True
        if not self._is_due():
            return False
        self._emit_next(self.spec.index * SOURCE_SPAN + self.position)
        return True

    def _emit_from(self, inlet: Inlet) -> bool:
        """Take a record from outside; the state of such a source is what it has taken in."""
        if inlet.exhausted:
            self.control.exhausted()
            return True
        if not inlet.queued_count or not self._is_due():
            return False  # the inlet wakes the task
        record = inlet.take()
        self.state.append(record)
        self._emit_next(record)
        return True

    def _is_due(self) -> bool:
        """Say whether the next record may be emitted now; if not, come back when it may."""
        if self._next_emission_ns <= self.env.now:
            return True
        if not self._emission.armed:
            self._emission.arm_at(self._next_emission_ns)
        return False

    def _emit_next(self, record: Record) -> None:
        self.account.record(None)
        self.position += 1
        self._next_emission_ns = self.env.now + self.spec.vertex.pause_ns
        self.attempt.progress()
        self.emit(record)

    def _due(self) -> None:
        if self.attempt.alive:
            self.wake()
