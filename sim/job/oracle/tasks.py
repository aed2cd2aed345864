"""What must hold of one task's checkpoints: what it has seen, when it acts, what it may not do."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ckptsim.models.barriers.channels.persister import PersisterStatus
from ckptsim.scenarios.dialect import duration_text
from ckptsim.sim.job.oracle.ends.lifecycle import LifecycleOracle
from ckptsim.sim.job.oracle.event_time import EventTimeOracle
from ckptsim.sim.job.oracle.needed_barriers import NeededBarriers
from ckptsim.sim.job.oracle.ordered import OrderedRecords
from ckptsim.sim.job.oracle.routing import RoutingOracle
from ckptsim.sim.job.oracle.urgent import Urgent
from ckptsim.sim.job.oracle.writing import WritingOracle

if TYPE_CHECKING:
    from ckptsim.models.barriers.barrier import Barrier
    from ckptsim.scenarios.job import Job
    from ckptsim.sim.job.oracle.channels import ChannelOracle
    from ckptsim.sim.job.oracle.messages.notifications import NotificationOracle
    from ckptsim.sim.job.oracle.urgent import Instant
    from ckptsim.sim.job.oracle.view import PlaneView, Violate
    from ckptsim.sim.job.port import ObservedTask


class TaskOracle(WritingOracle):
    """What one task of one attempt has done about checkpoints.

    inputs, outputs: its channels.  notifications: of its job.  is_over: it has failed, or its
    attempt is over.  order: of the records of its vertex, shared by all its tasks.
    """

    notifications: NotificationOracle

    def __init__(self, job: Job, plane: PlaneView, task: ObservedTask, violate: Violate) -> None:
        super().__init__()
        self.task = task
        self.plane = plane
        self.name = plane.name(task)
        self.inputs: list[ChannelOracle] = []
        self.outputs: list[ChannelOracle] = []
        self.violate = violate
        self.is_over = self._some_cancelled = False
        # Channel -> the checkpoint whose barrier was taken there last, with the sender stopped
        # behind it, until that is told to continue.
        self.blocked: dict[int, int] = {}
        self.order = OrderedRecords(violate)
        self.urgent = Urgent(self)
        self.lifecycle = LifecycleOracle(job, self)
        self.event_time = EventTimeOracle(job, self)
        self.routing = RoutingOracle(self)
        # The tracker of a single channel hands every barrier on as it comes; one that a trigger by
        # remote call has overtaken is dropped by the task (Flink: "out of order checkpoint").
        self._in_order = job.checkpointing.exactly_once
        self._after_finish = job.checkpointing.after_finish
        self._needed: NeededBarriers | None = None
        self._newest = -1  # of which an element was seen here
        self._opened: dict[int, tuple[int, int]] = {}  # instant and amount taken at the first sign
        self._held: dict[int, int] = {}  # channel -> checkpoint whose barrier was taken there
        self._triggered: dict[int, bool] = {}  # checkpoint -> as an unaligned one
        self._aborted: dict[int, None] = {}
        self._performed = -1
        self._begun = -1  # newest checkpoint for which the channel state was begun
        self._started: dict[int, int] = {}  # gate -> checkpoint whose input is being persisted
        self._left: set[int] = set()  # gates that a failed start has left persisting
        self._stopped: dict[int, int] = {}  # the same, since the last look
        self._ended = -1
        self._cancelled = -1
        self._passed_on = -1  # newest checkpoint whose barrier or cancellation was sent
        self._before = -1  # what that was when the task took its last trigger
        self.entering: int | None = None  # whose barrier it is about to send on
        self._cut: Barrier | None = None

    def instant(self) -> Instant:
        """Return the present instant, for `_late_ns`."""
        return self.now_ns, self.plane.busy_ns(self.task)

    @property
    def needed(self) -> NeededBarriers:
        """Return the channels that its checkpoints wait for; all channels are there by now."""
        if self._needed is None:
            self._needed = NeededBarriers(len(self.inputs), one_at_a_time=self._in_order)
        return self._needed

    # What the task sees -----------------------------------------------------------------------

    def barrier_taken(self, channel: int, barrier: Barrier, /) -> None:
        """Check that an overtaking barrier has waited for the record under way at most."""
        if self._some_cancelled:
            self._check_blocked()
        number = barrier.checkpoint
        self.seen(barrier)
        self.needed.came(channel, number)
        # An abort covers older ids as well: a marker for 5 ends a checkpoint 4 that waits.
        over = number < self._newest or number <= self._ended or self._is_over(number)
        if not over and (barrier.needs_alignment or barrier.is_unaligned):
            self._held[channel] = number
            self.inputs[channel].hold(on=True)
        self.urgent.taken(channel, number)

    def barrier_by_rpc(self, channel: int, checkpoint: int, /) -> None:
        """Note that a trigger by remote call stands for a channel's barrier."""
        self.needed.came(channel, checkpoint)

    def channel_ended(self, channel: int, /) -> None:
        """Note that the task takes the end of a channel."""
        self.needed.ended(channel)

    def seen(self, barrier: Barrier, /) -> None:
        """Note that a checkpoint is known here, by an announcement or a barrier."""
        number = barrier.checkpoint
        self.needed.opened(number)
        if number <= max(self._newest, self._ended) or self._is_over(number):
            return  # behind the cancellation of a newer one a barrier is obsolete
        self._newest = number
        self._opened[number] = self.now_ns, self._taken_amount()
        timed = barrier.is_timeoutable and barrier.timeout_ns is not None
        busy_ns = self.plane.busy_ns(self.task) if timed else 0
        self.urgent.aligns(number, (self._due_ns(barrier), busy_ns) if timed else None)

    def _due_ns(self, barrier: Barrier) -> int:
        """Return when a timeoutable barrier that is seen or sent now has timed out."""
        after_ns = barrier.timestamp_ns + (barrier.timeout_ns or 0)
        return max(self.now_ns, after_ns) + self.plane.timer_extra_ns

    def cancelled(self, checkpoint: int, /) -> None:
        """Note a cancellation marker, or a channel that cannot begin a checkpoint any more."""
        for channel, number in self._held.items():
            if number <= checkpoint:
                self.inputs[channel].is_cancelled = self._some_cancelled = True
        self._cancelled = max(self._cancelled, checkpoint)

    def data_taken(self, channel: ChannelOracle) -> None:
        """Check that the task may begin to read data of a channel now."""
        number = self._held.get(channel.index)
        if number is not None:
            says = f"reads behind barrier {number} of {channel.sender.name} before its snapshot"
            self.says("nothing_read_between_barrier_and_trigger", says, number)
        self.record_begun()

    def record_begun(self) -> None:
        """Check that nothing waits that goes before a record."""
        self.urgent.record_begun()

    def late_ns(self, since: Instant) -> int:
        """Return for how long the thread could have acted since an instant."""
        began_ns, busy_ns = since
        return self.now_ns - began_ns - (self.plane.busy_ns(self.task) - busy_ns)

    def ordered_record(
        self, unit: tuple[int, ...], record: int, /, *, restored: bool = False
    ) -> None:
        """Check that what belongs together is processed as it was sent."""
        tell = self.order.restored if restored else self.order.taken
        tell(self.task.place[0], unit, record)

    # Channel state ----------------------------------------------------------------------------

    def begun(self, barrier: Barrier, /) -> None:
        """Note that the channel state of a checkpoint is begun."""
        self._begun = max(self._begun, barrier.checkpoint)

    def gate_started(self, gate: int, barrier: Barrier, /) -> None:
        """Check that a gate starts to persist when it may.

        That is when the checkpoint was begun before, none is started already, and it has not been
        taken yet.
        """
        number = barrier.checkpoint
        if gate in self._started:
            self._out_of_turn(f"starts gate {gate} for {number} after {self._started[gate]}")
        if self._begun < number or number in self._triggered:
            when = "after its trigger" if number in self._triggered else "before it is begun"
            self._out_of_turn(f"starts gate {gate} for {number} {when}")
        self._started[gate] = number
        self._left.discard(gate)

    def gate_refused(self, gate: int, checkpoint: int, /) -> None:
        """Note that a gate could not start; those before it persist until something newer comes."""
        self._left |= {one for one in range(gate + 1) if self._started.pop(one, None)}
        self.cancelled(checkpoint)

    def gate_stopped(self, gate: int, /) -> None:
        """Note that a gate stops to persist; more than once is allowed after a failed start."""
        number = self._started.pop(gate, None)
        if number is not None:
            self._stopped[gate] = number

    def _check_stopped(self) -> None:
        """Check that every channel of a gate that was stopped has heard of it."""
        for index, persister in enumerate(self.plane.persisters(self.task)):
            number = self._stopped.get(self._gate_of(index))
            if number is None or persister is None or persister.last_seen > number:
                continue
            if persister.last_seen < number or persister.status is not PersisterStatus.COMPLETED:
                self._out_of_turn(f"stops for {number}, and channel {index} does not")
        self._stopped.clear()

    def _gate_of(self, channel: int) -> int:
        """Return the index of the gate of a channel."""
        if len(self.task.gates) == 1:
            return 0
        ends = accumulate(len(gate.channels) for gate in self.task.gates)
        return next(index for index, end in enumerate(ends) if channel < end)

    def _out_of_turn(self, says: str) -> None:
        self.says("input_starts_and_stops_in_turn", says)

    def input_persisted(self, channel: int, checkpoint: int, elements: Any, /) -> None:
        """Check elements of an input that become state: while its gate is to persist them."""
        if self._gate_of(channel) not in self._left.union(self._started):
            self._out_of_turn(f"persists channel {channel} for {checkpoint} outside of its turn")
        self.inputs[channel].input_persisted(checkpoint, elements)

    def output_persisted(self, output: int, checkpoint: int, elements: Any, /) -> None:
        """Check elements of a subpartition that become state."""
        self.outputs[output].persisted(checkpoint, elements)

    # What the task does -----------------------------------------------------------------------

    def told(self, checkpoint: int, /, *, completed: bool) -> None:
        """Check that the task hears of the end of a checkpoint for a cause."""
        self.notifications.heard(self, checkpoint, completed=completed)

    def triggered(self, barrier: Barrier, /) -> None:
        """Check that the task takes part in a checkpoint once, in rising order."""
        number = barrier.checkpoint
        if number in self._triggered:
            self.says("triggered_and_aborted_once", f"is triggered twice for {number}")
        if number in self._aborted:
            self.says("triggered_and_aborted_once", f"is triggered for {number} after an abort")
        if self._in_order and self._triggered and number < max(self._triggered):
            says = f"is triggered for {number} after {max(self._triggered)}"
            self.says("triggered_ids_increase", says)
        self._triggered[number] = barrier.is_unaligned
        self.urgent.triggered(number)
        self._release(number)
        if not barrier.is_unaligned:
            self.all_received(number)

    def cut(self, barrier: Barrier, start_delay_ns: int, /) -> None:
        """Check the start delay."""
        self._cut, self.entering = barrier, barrier.checkpoint
        if not 0 <= start_delay_ns <= max(0, self.now_ns - barrier.timestamp_ns):
            says = f"has a start delay of {duration_text(start_delay_ns)} in {barrier.checkpoint}"
            self.says("alignment_figures_are_sane", says, barrier.checkpoint)

    def entered(self, checkpoint: int, /) -> None:
        """Check that a task is about to take part, or to skip a trigger, that has not failed."""
        if self.is_over:
            says = f"comes to checkpoint {checkpoint} after it has failed"
            self.says("failed_tasks_do_nothing", says, checkpoint)
        self._before, self.entering = self._passed_on, None

    def answered(self, checkpoint: int, /) -> None:
        """Check that a trigger reaches the tasks below."""
        if self.outputs and checkpoint > self._before and self._passed_on < checkpoint:
            says = f"neither sends barrier {checkpoint} on nor says that it does not come"
            self.says("triggers_are_passed_on", says)

    def barrier_sent(self, barrier: Barrier, /) -> None:
        """Note the place of a barrier in the outputs, and its time-out where it may overtake."""
        self.cancellation_sent(barrier.checkpoint)
        timed = barrier.is_timeoutable and barrier.timeout_ns is not None
        for out, written in zip(self.outputs, self.plane.written(self.task), strict=True):
            due_ns = self._due_ns(barrier) if timed and not out.keeps_order else None
            out.barrier_queued(barrier.checkpoint, written, due_ns)
            if due_ns is not None:
                self.urgent.queued(due_ns)

    def cancellation_sent(self, checkpoint: int, /) -> None:
        """Note that the tasks below hear of a checkpoint."""
        self._passed_on = max(self._passed_on, checkpoint)

    def output_opened(self, output: int, checkpoint: int, /) -> None:
        """Note that the state of an output is not known yet."""
        self.outputs[output].opened(checkpoint)

    def output_settled(self, output: int, checkpoint: int, /) -> None:
        """Note that the state of an output is known, or never will be."""
        self.outputs[output].settled(checkpoint)
        self.look_at_writing()

    def performed(self, checkpoint: int, /) -> None:
        """Check that snapshots are taken once, in rising order; note what their state has read."""
        if self._cut is not None and checkpoint not in self._triggered:  # by remote call
            self.triggered(self._cut)
        if checkpoint == self._performed or checkpoint in self._aborted:
            says = f"takes part in {checkpoint} twice, or after giving it up"
            self.says("triggered_and_aborted_once", says, checkpoint)
        if checkpoint < self._performed:
            says = f"takes part in {checkpoint} after {self._performed}"
            self.says("triggered_ids_increase", says, checkpoint)
        self._performed = max(self._performed, checkpoint)
        for channel, unread in zip(self.inputs, self.plane.unread(self.task), strict=True):
            channel.read_cut[checkpoint] = channel.taken_amount - unread

    def aborted(self, checkpoint: int, /) -> None:
        """Check that the task gives a checkpoint up for a cause, once, and aligned before it."""
        if checkpoint in self._aborted:
            self.says("triggered_and_aborted_once", f"gives {checkpoint} up twice")
        if self._triggered.get(checkpoint) is False:
            self.says("triggered_and_aborted_once", f"gives aligned {checkpoint} up after it")
        if self._after_finish and checkpoint > self._cancelled and checkpoint >= self._newest:
            says = f"gives {checkpoint} up though nothing has happened"
            self.says("given_up_for_a_cause", says)
        self._aborted[checkpoint] = None
        self._release(checkpoint)
        self._ended = max(self._ended, checkpoint)
        self.needed.over(checkpoint)

    def all_received(self, checkpoint: int, /) -> None:
        """Check that all barriers of a checkpoint have come when the task says so."""
        self._ended = max(self._ended, checkpoint)
        wrong = self.needed.complete(checkpoint)
        if wrong is not None:
            self.says("needed_barriers_stay_fixed", wrong)
        self.look_at_writing()

    def measured(self, checkpoint: int, duration_ns: int, size: int, /) -> None:
        """Check the figures of an alignment against what has happened since its first sign."""
        now_ns, taken = self.now_ns, self._taken_amount()
        since_ns, before = self._opened.get(checkpoint, (now_ns, taken))
        longest_ns, most = now_ns - since_ns, taken - before
        if not 0 <= duration_ns <= longest_ns or not 0 <= size <= most:
            says = f"aligns {checkpoint} for {duration_text(duration_ns)}, {size} of {most}"
            self.says("alignment_figures_are_sane", says, checkpoint)

    def settled(self) -> None:
        """Check, after a step, that neither a sender nor a checkpoint waits for what is over."""
        if self._stopped:
            self._check_stopped()
        waiting = self.needed.kept_waiting()
        if waiting is not None:
            self.says("needed_barriers_stay_fixed", waiting[1])
        self._check_blocked(self._ended)

    def _check_blocked(self, over: int = -1) -> None:
        """Check that no sender waits for what is cancelled, or for a checkpoint up to `over`."""
        if not self.blocked or (min(self.blocked.values()) > over and not self._some_cancelled):
            return
        for index, by in sorted(self.blocked.items()):
            channel = self.inputs[index]
            if by <= over or channel.is_cancelled:
                del self.blocked[index]
                says = f"leaves {channel.sender.name} blocked behind barrier {by}, which is over"
                self.says("no_channel_stays_blocked", says)

    def failed(self) -> None:
        """Note that the task fails: nothing is expected of it."""
        self.needed.failed()

    def look(self) -> None:
        """Check that nothing has waited too long that goes before a record, and no writing."""
        self.look_at_writing()
        self.urgent.look()

    def _taken_amount(self) -> int:
        return sum(channel.taken_amount for channel in self.inputs)

    def _is_over(self, checkpoint: int) -> bool:
        return checkpoint in self._triggered or checkpoint in self._aborted

    def _release(self, checkpoint: int) -> None:
        for channel in [c for c, held in self._held.items() if held <= checkpoint]:
            del self._held[channel]
            self.inputs[channel].hold(on=False)
        self.urgent.over(checkpoint)

    def says(self, name: str, says: str, checkpoint: int | None = None) -> None:
        """Report a property that the task does not keep."""
        self.violate(name, f"{self.name} {says}", checkpoint)
