"""One task of a job: what sources, operators and sinks have in common.

Each is a SimPy process, the task's thread, with a mailbox: messages of the coordinator, timers and
acknowledgements.  Its loop (`run`) waits for news and for time that is spent, and for nothing else.
Anyone who has news calls `wake`.  Everything that has to happen at a barrier or an end mark is
decided by cores. `TaskControl` carries out their effects.

Invariant: a waiting process has looked at everything before. So no call of `wake` is needed for
everything that was there already, and calls while it works or spends time may be forgotten.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, Any

from ckptsim.models.barriers import Barrier
from ckptsim.models.barriers.channels import NetworkEffect
from ckptsim.models.lifecycle import StopMode
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.models.lifecycle.tables import Act
from ckptsim.sim.job.control.sinks.sink import SinkWriter
from ckptsim.sim.job.control.task import TaskControl
from ckptsim.sim.job.control.task.cores import make_cores
from ckptsim.sim.job.control.watchdog import RESUMED, waits_of
from ckptsim.sim.job.events import Event, of_job, of_tasks, of_time
from ckptsim.sim.job.graph import OutputSpec, TaskSpec
from ckptsim.sim.job.records.channel import Channel
from ckptsim.sim.job.records.kinds import Kind
from ckptsim.sim.job.records.state import Mark, Record, Snapshots, TaskSnapshot
from ckptsim.sim.job.records.tasks.ending import TaskEnding, handle_aborted, handle_complete
from ckptsim.sim.job.records.tasks.event_time import EventTime
from ckptsim.sim.job.records.tasks.outputs import InputGate, Outputs
from ckptsim.sim.kernel import Entity, Environment, Process, Signal, Timer, Wait

if TYPE_CHECKING:
    from ckptsim.sim.job.records.attempt import Attempt
    from ckptsim.sim.job.records.uncoordinated import TaskCheckpoints

Steps = Generator[Any, Any, None]


class Task:
    """A running subtask of one attempt.

    state: records in its state, in order.  output_channels: the outgoing channels in the order of
    the edges.  outbox: what the cores of its channels and subpartitions ask for.
    checkpoints: those that it takes by itself, where no coordinator triggers them.
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
        self.is_source = spec.vertex.is_source
        self.env: Environment = attempt.env
        self.entity: Entity = attempt.env.entity(f"task {spec.vertex.name}", spec.subtask)
        self.outbox: list[NetworkEffect] = []
        self.inputs: list[Channel] = []
        self.gates: list[InputGate] = []
        self.outputs: Outputs = Outputs(self, [])
        self.mails: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self.state: list[Record] = [] if finished_on_restore else attempt.state_of(spec)
        # A source has read all there is, now or before a restore.
        self.exhausted: bool = restored.exhausted if restored else False
        self.gone: bool = False  # closed or failed: takes no input any more
        self.killed: bool = False  # failed: neither its threads nor its network do anything more
        self.busy = self.mailbox_closed = False
        self.stalled_until_ns = 0
        self.ready_ns: int = 0  # when what it restores is there
        # How long it takes to begin its reads of channel state. When it is not known any more.
        self.reads_ns = self.leaves_ns = 0
        self.sink: SinkWriter | None = None
        self.snapshots: Snapshots = Snapshots(self, restored)
        self.ending: TaskEnding = TaskEnding(self, finished_on_restore=finished_on_restore)
        attempt.world.events.emit(of_job.TaskDeployed(self))
        self.end_modes: set[bool] = set()  # how inputs have ended: drained, or cut
        self._held_ns = 0  # for how long the thread was held in all
        self.control: TaskControl = TaskControl(
            self,
            make_cores(
                attempt.cores,
                attempt.job,
                spec.vertex,
                gate_channels=attempt.graph.gate_channels[spec.index],
                outputs=attempt.graph.output_count(spec.index),
                restored_from=attempt.restored_id,
                finished_on_restore=finished_on_restore,
                witness=self.env.witness,
            ),
            writer=attempt.files[spec.index].writer,
            events=attempt.world.events,
            clock=self.env,
            reach=attempt.goal,
        )
        self.checkpoints: TaskCheckpoints | None = attempt.world.checkpoints_of(self)
        self.event_time: EventTime = EventTime(self)
        self.process: Process | None = None
        # A mail, an element, room in an output, a record that is due. Or the end of the instant.
        self.news: Signal = Signal(self.env)
        self._step = self.env.timer(Kind.STEP, self.entity, self.news.happen, Kind.STEP)
        self._last = self.env.timer(Kind.BEGIN, self.entity, self.news.happen, Kind.BEGIN)

    def tell(self, event: Event) -> None:
        """Emit an event."""
        self.attempt.world.events.emit(event)

    def snapshot_taken(self, checkpoint: int) -> None:
        """Take note of a snapshot, which a source says to its enumerator."""

    def checkpoint_ended(self, checkpoint: int, *, completed: bool) -> None:
        """Take note of a notification, which the log of a source may be cut by."""

    @property
    def splits(self) -> dict[int, int]:
        """Return how many records a source has emitted of each of its splits, by number."""
        return {}

    @property
    def held_splits(self) -> dict[int, int]:
        """Return those that are in its state."""
        return {}

    @property
    def identity(self) -> int:
        """Return as which subtask it owns key groups: its index, unless state carries another."""
        return self.attempt.successions[self.spec.vertex.name].identities[self.subtask]

    @property
    def name(self) -> str:
        """Return `vertex/subtask`."""
        return self.spec.name

    def trigger_checkpoint(self, barrier: Barrier, stop: StopMode | None) -> None:
        """Take the coordinator's trigger."""
        self.attempt.trigger(self, barrier, stop)

    def take_trigger(self, barrier: Barrier, stop: StopMode | None) -> None:
        """Take a trigger that has come to a task that runs."""
        self.control.trigger(barrier, stop)

    def notify_complete(self, checkpoint: int) -> None:
        """Take the notification that a checkpoint is complete."""
        if self.attempt.alive and not self.killed:
            self.tell(of_tasks.NotificationArrived(self, checkpoint, completed=True))
            self.post(partial(handle_complete, self, checkpoint))

    def notify_aborted(self, checkpoint: int, latest_completed: int | None) -> None:
        """Take the notification that a checkpoint was aborted."""
        if self.attempt.alive and not self.killed:
            self.tell(of_tasks.NotificationArrived(self, checkpoint, completed=False))
            self.post(partial(handle_aborted, self, checkpoint, latest_completed))

    def connect(
        self, inputs: list[Channel], outputs: list[tuple[OutputSpec, list[Channel]]]
    ) -> None:
        """Take the channels: incoming ones over all gates, outgoing ones per edge."""
        self.inputs = inputs
        self.outputs = Outputs(self, outputs)
        first = 0
        for size in self.attempt.graph.gate_channels[self.spec.index]:
            self.gates.append(InputGate(inputs[first : first + size]))
            first += size

    @property
    def output_channels(self) -> list[Channel]:
        """Return the outgoing channels in the order of the edges."""
        return self.outputs.channels

    @property
    def makes_records(self) -> bool:
        """Return whether a source makes its records itself."""
        return True

    @property
    def subtask(self) -> int:
        """Return the index within the vertex."""
        return self.spec.subtask

    def start(self) -> None:
        """Begin to work. A source that ends by time looks at its end then, if not before."""
        if self.is_source:  # one that was restored as finished passes its end marks on
            self.control.lifecycle.step(lifecycle_events.Started())
        ends_ns = self.spec.vertex.ends_at_ns
        if ends_ns is not None and ends_ns > self.env.now:
            self.attempt.later(ends_ns - self.env.now, Kind.EMIT, self.entity, self.wake)
        self.process = self.env.process(self.run(), entity=self.entity)
        self.wake()

    def post(self, function: Callable[..., object], /, *arguments: Any) -> None:
        """Put something into the mailbox. One that is closed takes nothing."""
        if not self.mailbox_closed:
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

    @property
    def sleeps(self) -> bool:
        """Return whether the thread of a task that runs waits to be woken."""
        return self.process is not None and self.is_running and not self.busy

    @property
    def has_work(self) -> bool:
        """Return whether there is something that the thread could do now."""
        return bool(self.mails)

    def room_freed(self) -> None:
        """Note that an output has room again."""
        self.wake()

    def occupy(self, duration_ns: int) -> None:
        """Hold the thread for a while, as the synchronous part of a snapshot does."""
        if duration_ns:
            before_ns = max(self.stalled_until_ns, self.env.now)
            self.stalled_until_ns = max(before_ns, self.env.now + duration_ns)
            self._held_ns += self.stalled_until_ns - before_ns

    @property
    def busy_ns(self) -> int:
        """Return for how long the thread was held until now."""
        return self._held_ns - self.held_ns

    def waits(self) -> list[Wait]:
        """Return what the task waits for, for the story of a run that is stalled."""
        found = waits_of(
            self.name,
            self.control,
            senders=[channel.sender.name for channel in self.inputs],
            receivers=[channel.receiver.name for channel in self.output_channels],
        )
        for channel in self.output_channels:
            if not channel.has_room:
                found.append(Wait(self.name, "room in a channel", channel.receiver.name))
        for channel in self.inputs:
            if channel.subpartition.blocked:
                found.append(Wait(channel.sender.name, RESUMED, self.name))
        return found

    # --- the process ---

    def run(self) -> Steps:
        """Work until the task has closed."""
        raise NotImplementedError

    def stop(self) -> None:
        """End the process where it waits. The active one ends as soon as it looks."""
        if self.process is not None and self.process is not self.env.active_process:
            self.process.stop()

    def kill(self) -> None:
        """Do nothing more, whatever was to follow: the machine is lost."""
        self.tell(of_job.TaskKilled(self))
        self.gone = self.killed = self.mailbox_closed = True
        self.mails.clear()
        self.snapshots.drop_all()
        self.stop()

    def handle_mails_until(self, reached: Callable[[], bool]) -> Steps:
        """Handle mails until a condition holds."""
        while self.attempt.alive and not reached():
            if self.held_ns:
                yield from self.spend(self.held_ns, Kind.STEP)
            elif self.mails:
                self.handle_mail()
            else:
                yield self.news

    def close_mailbox(self) -> None:
        """Handle the content of the mailbox, and take nothing more."""
        while self.attempt.alive and self.mails:
            self.handle_mail()
        self.mailbox_closed = True

    def handle_mail(self) -> None:
        """Handle the next mail."""
        function, arguments = self.mails.popleft()
        function(*arguments)

    def spend(self, duration_ns: int, kind: Kind) -> Steps:
        """Let time pass in which the thread looks at nothing."""
        self.busy = True
        yield self.env.timeout(duration_ns, kind=kind)
        self.busy = False

    def last_in_instant(self) -> Signal:
        """Return the wait for news that gives Kind.BEGIN when all else of this instant is done."""
        if not self._last.armed:
            self._last.arm_in(0)
        return self.news

    @property
    def is_running(self) -> bool:
        """Return whether the task may still do something."""
        return self.attempt.alive and not self.gone

    @property
    def held_ns(self) -> int:
        """Return for how long the thread is held, as by the synchronous part of a snapshot."""
        return max(0, self.stalled_until_ns - self.env.now)

    @property
    def has_room(self) -> bool:
        """Return whether every output takes one more record."""
        return all(channel.has_room for channel in self.output_channels)

    # --- what its end waits for ---

    def has_ended(self) -> bool:
        """Return whether the task has ended its data: EndOfData has been sent."""
        return self.ending.ended

    def has_acknowledgements(self) -> bool:
        """Return whether every task below has acknowledged EndOfData, where that is waited for."""
        return not self.ending.awaits(Act.AWAIT_ACKNOWLEDGEMENT)

    def has_final_checkpoint(self) -> bool:
        """Return whether the final checkpoint is complete, where that is waited for."""
        return not self.ending.awaits(Act.AWAIT_CHECKPOINT)

    def has_closed(self) -> bool:
        """Return whether the task has closed."""
        return self.gone

    # --- sending ---

    def emit(self, record: Record | Mark) -> None:
        """Send a record over every edge. Watermarks go to every channel."""
        if isinstance(record, Mark):
            self.tell(of_time.WatermarkSent(self, record.watermark, record.idle))
        for channel in self.outputs.channels_of(record):
            channel.put(record)
            channel.pump()
            if self.checkpoints is not None:
                self.checkpoints.message_sent()
