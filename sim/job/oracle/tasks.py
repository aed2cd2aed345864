"""What must hold of one task's checkpoints: what it has seen, when it acts, what it may not do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.scenarios.dialect import duration_text
from ckptsim.sim.job.events import Listener
from ckptsim.sim.job.oracle.channel_state import ChannelStateOracle
from ckptsim.sim.job.oracle.event_time import EventTimeOracle
from ckptsim.sim.job.oracle.lifecycle import LifecycleOracle
from ckptsim.sim.job.oracle.waits import NeededBarriers, Urgent, Writing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ckptsim.models.barriers.barrier import Barrier
    from ckptsim.scenarios.job import Job
    from ckptsim.sim.job.events import of_tasks
    from ckptsim.sim.job.oracle.channels import ChannelOracle
    from ckptsim.sim.job.oracle.view import PlaneView, Violate
    from ckptsim.sim.job.oracle.waits import Instant
    from ckptsim.sim.job.port import ObservedTask

_ONCE = "triggered_and_aborted_once"
_RISING = "checkpoint_ids_increase"


class TaskOracle(Listener):
    """What one task of one attempt has done about checkpoints.

    inputs, outputs: its channels.  is_over: it has failed, or its attempt is over.
    blocked: channel -> the checkpoint of the last barrier there, with the sender stopped after it,
    until that is asked to continue.  ended: the newest checkpoint with all barriers here, or none
    to come.  entering: the checkpoint of the barrier to forward.
    sent_cuts: by checkpoint, how much it had put into each output before its barrier. read_cuts:
    how much of each input its state has.
    """

    def __init__(
        self,
        job: Job,
        plane: PlaneView,
        task: ObservedTask,
        violate: Violate,
        peers: Mapping[int, TaskOracle],
    ) -> None:
        self.task = task
        self.plane = plane
        self.name = plane.name(task)
        self.inputs: list[ChannelOracle] = []
        self.outputs: list[ChannelOracle] = []
        self.violate = violate
        self.is_over = self._some_cancelled = False
        self.blocked: dict[int, int] = {}
        self._least_blocked = -1  # not above any of them
        self.urgent = Urgent(self)
        self.writing = Writing(self, peers)
        self.state = ChannelStateOracle(self)
        self.lifecycle = LifecycleOracle(job, self)
        self.event_time = EventTimeOracle(job, self)
        # The tracker of a single channel hands every barrier on as it comes. One that a trigger by
        # remote call has overtaken is dropped by the task (Flink: "out of order checkpoint").
        self._in_order = job.checkpointing.exactly_once
        self._after_finish = job.checkpointing.after_finish
        self._needed: NeededBarriers | None = None
        self._newest = -1  # with an element seen here
        self._opened: dict[int, tuple[int, int]] = {}  # instant and amount taken at the first sign
        self._held: dict[int, int] = {}  # channel -> checkpoint with a taken barrier
        self._triggered: dict[int, bool] = {}  # checkpoint -> as an unaligned one
        self._aborted: dict[int, None] = {}
        self._performed = -1
        self.ended = -1
        self._cancelled = -1
        self._passed_on = -1  # newest checkpoint with a sent barrier or cancellation
        self._before = -1  # what that was when the task took its last trigger
        self.entering: int | None = None
        self._due: Barrier | None = None
        self.sent_cuts: dict[int, Sequence[int]] = {}
        self.read_cuts: dict[int, Sequence[int]] = {}

    @property
    def now_ns(self) -> int:
        """The present instant."""
        return self.task.env.now

    def instant(self) -> Instant:
        """Return the present instant, for `late_ns`."""
        return self.task.env.now, self.plane.busy_ns(self.task)

    def late_ns(self, since: Instant) -> int:
        """Return for how long the thread could have acted since an instant."""
        began_ns, busy_ns = since
        return self.now_ns - began_ns - (self.plane.busy_ns(self.task) - busy_ns)

    @property
    def at_once_ns(self) -> int:
        """Within which time the thread does what it is to do at once."""
        return self.plane.at_once_ns(self.task)

    @property
    def needed(self) -> NeededBarriers:
        """The channels that its checkpoints wait for. All channels are there by now."""
        if self._needed is None:
            self._needed = NeededBarriers(len(self.inputs), one_at_a_time=self._in_order)
        return self._needed

    # What the task sees -----------------------------------------------------------------------

    def barrier_taken(self, event: of_tasks.BarrierTaken) -> None:
        """Check that an overtaking barrier has waited for the record under way at most."""
        channel, barrier = event.channel, event.barrier
        if self._some_cancelled:
            self._check_blocked()
        number = barrier.checkpoint
        if number > self._newest:
            self.see(barrier)
        self.needed.came(channel, number)
        # An abort covers older ids as well: a marker for 5 ends a checkpoint 4 that waits.
        over = number < self._newest or number <= self.ended or self._is_over(number)
        if not over and (barrier.needs_alignment or barrier.is_unaligned):
            self._held[channel] = number
            self.inputs[channel].hold(on=True)
        self.urgent.taken(channel, number)

    def barrier_replaced(self, event: of_tasks.BarrierReplaced) -> None:
        """Note that a trigger by remote call represents a channel's barrier."""
        self.needed.came(event.channel, event.checkpoint)

    def channel_ended(self, event: of_tasks.ChannelEnded) -> None:
        """Note the end of a channel."""
        self.needed.ended(event.channel)

    def barrier_seen(self, event: of_tasks.BarrierSeen) -> None:
        """Note an announcement."""
        self.see(event.barrier)

    def see(self, barrier: Barrier) -> None:
        """Note that a checkpoint is known here, by an announcement or a barrier."""
        number = barrier.checkpoint
        self.needed.opened(number)
        if number <= self._newest or number <= self.ended or self._is_over(number):
            return  # after the cancellation of a newer one a barrier is obsolete
        self._newest = number
        self._opened[number] = self.now_ns, self._taken_amount()
        timed = barrier.is_timeoutable and barrier.timeout_ns is not None
        busy_ns = self.plane.busy_ns(self.task) if timed else 0
        self.urgent.aligns(number, (self._due_ns(barrier), busy_ns) if timed else None)

    def _due_ns(self, barrier: Barrier) -> int:
        """Return when a timeoutable barrier that is seen or sent now has timed out."""
        after_ns = barrier.timestamp_ns + (barrier.timeout_ns or 0)
        return max(self.now_ns, after_ns) + self.plane.timer_extra_ns

    def cancellation_taken(self, event: of_tasks.CancellationTaken) -> None:
        """Note a cancellation marker."""
        self.cancel(event.checkpoint)

    def cancel(self, checkpoint: int) -> None:
        """Note that no barrier comes, or that a channel cannot begin a checkpoint any more."""
        for channel, number in self._held.items():
            if number <= checkpoint:
                self.inputs[channel].is_cancelled = self._some_cancelled = True
        self._cancelled = max(self._cancelled, checkpoint)

    def block(self, channel: int, checkpoint: int) -> None:
        """Note that a sender stops after its barrier, which was taken."""
        if not self.blocked or checkpoint < self._least_blocked:
            self._least_blocked = checkpoint
        self.blocked[channel] = checkpoint

    def data_taken(self, channel: ChannelOracle) -> None:
        """Check that the task may begin to read data of a channel now."""
        number = self._held.get(channel.index)
        if number is not None:
            says = f"reads behind barrier {number} of {channel.sender.name} before its snapshot"
            self.says("nothing_read_between_barrier_and_trigger", says, number)
        self.urgent.record_begun()

    def record_read(self, event: of_tasks.RecordRead) -> None:
        """Check that nothing waits that goes before the record of a source."""
        self.urgent.record_begun()

    # What the task does -----------------------------------------------------------------------

    def handler_triggered(self, event: of_tasks.HandlerTriggered) -> None:
        """Check that the task takes part in a checkpoint once, in rising order."""
        self._trigger(event.barrier)

    def _trigger(self, barrier: Barrier) -> None:
        number = barrier.checkpoint
        if number in self._triggered:
            self.says(_ONCE, f"is triggered twice for {number}")
        if number in self._aborted:
            self.says(_ONCE, f"is triggered for {number} after an abort")
        if self._in_order and self._triggered and number < max(self._triggered):
            self.says(_RISING, f"is triggered for {number} after {max(self._triggered)}")
        self._triggered[number] = barrier.is_unaligned
        self.urgent.triggered(number)
        self._release(number)
        if not barrier.is_unaligned:
            self._receive_all(number)

    def snapshot_due(self, event: of_tasks.SnapshotDue) -> None:
        """Check the start delay."""
        self._due, self.entering = event.barrier, event.barrier.checkpoint
        delay_ns = event.start_delay_ns
        if not 0 <= delay_ns <= max(0, self.now_ns - event.barrier.timestamp_ns):
            says = f"has a start delay of {duration_text(delay_ns)} in {self.entering}"
            self.says("reported_figures_are_true", says, self.entering)

    def trigger_entered(self, event: of_tasks.TriggerEntered) -> None:
        """Check that a task is about to take part, or to skip a trigger, that has not failed."""
        if self.is_over:
            says = f"comes to checkpoint {event.checkpoint} after it has failed"
            self.says("failed_tasks_do_nothing", says, event.checkpoint)
        self._before, self.entering = self._passed_on, None

    def trigger_answered(self, event: of_tasks.TriggerAnswered) -> None:
        """Check that a trigger reaches the tasks below."""
        if self.outputs and event.checkpoint > self._before and self._passed_on < event.checkpoint:
            says = f"neither sends barrier {event.checkpoint} on nor says that it does not come"
            self.says("triggers_are_passed_on", says)

    def barrier_sent(self, event: of_tasks.BarrierSent) -> None:
        """Note the place of a barrier in the outputs, and its time-out where it may overtake."""
        barrier = event.barrier
        self._passed_on = max(self._passed_on, barrier.checkpoint)
        self.sent_cuts[barrier.checkpoint] = self.plane.written(self.task)
        if barrier.is_timeoutable and barrier.timeout_ns is not None:
            due_ns = self._due_ns(barrier)
            for out in self.outputs:
                if not out.keeps_order:
                    out.opened(barrier.checkpoint, due_ns)
                    self.urgent.queued(due_ns)

    def cancellation_sent(self, event: of_tasks.CancellationSent) -> None:
        """Note that the tasks below hear of a checkpoint."""
        self._passed_on = max(self._passed_on, event.checkpoint)

    def snapshot_taken(self, event: of_tasks.SnapshotTaken) -> None:
        """Check that snapshots are taken once, in rising order. Note what their state has read."""
        checkpoint = event.checkpoint
        if self._due is not None and checkpoint not in self._triggered:  # by remote call
            self._trigger(self._due)
        if checkpoint == self._performed or checkpoint in self._aborted:
            says = f"takes part in {checkpoint} twice, or after giving it up"
            self.says(_ONCE, says, checkpoint)
        if checkpoint < self._performed:
            says = f"takes part in {checkpoint} after {self._performed}"
            self.says(_RISING, says, checkpoint)
        self._performed = max(self._performed, checkpoint)
        ends = zip(self.inputs, self.plane.unread(self.task), strict=True)
        self.read_cuts[checkpoint] = [channel.taken_amount - left for channel, left in ends]

    def handler_aborted(self, event: of_tasks.HandlerAborted) -> None:
        """Check that the task gives a checkpoint up for a cause, once, and aligned before it."""
        checkpoint = event.checkpoint
        if checkpoint in self._aborted:
            self.says(_ONCE, f"gives {checkpoint} up twice")
        if self._triggered.get(checkpoint) is False:
            self.says(_ONCE, f"gives aligned {checkpoint} up after it")
        if self._after_finish and checkpoint > self._cancelled and checkpoint >= self._newest:
            says = f"gives {checkpoint} up though nothing has happened"
            self.says("given_up_for_a_cause", says)
        self._aborted[checkpoint] = None
        self._release(checkpoint)
        self.ended = max(self.ended, checkpoint)
        self.needed.over(checkpoint)

    def barriers_received(self, event: of_tasks.BarriersReceived) -> None:
        """Check that all barriers of a checkpoint have come when the task says so."""
        self._receive_all(event.checkpoint)

    def _receive_all(self, checkpoint: int) -> None:
        self.ended = max(self.ended, checkpoint)
        wrong = self.needed.complete(checkpoint)
        if wrong is not None:
            self.says("needed_barriers_stay_fixed", wrong)
        self.writing.look()

    def alignment_measured(self, event: of_tasks.AlignmentMeasured) -> None:
        """Check the figures of an alignment against the event since its first sign."""
        now_ns, taken = self.now_ns, self._taken_amount()
        since_ns, before = self._opened.get(event.checkpoint, (now_ns, taken))
        longest_ns, most = now_ns - since_ns, taken - before
        if not 0 <= event.duration_ns <= longest_ns or not 0 <= event.size <= most:
            says = f"aligns {event.checkpoint} for {duration_text(event.duration_ns)}, "
            self.says("reported_figures_are_true", f"{says}{event.size} of {most}")

    def handler_settled(self, event: of_tasks.HandlerSettled) -> None:
        """Check, after a step, that neither a sender nor a checkpoint waits for the ended part."""
        self.state.look()
        waiting = self.needed.kept_waiting()
        if waiting is not None:
            self.says("needed_barriers_stay_fixed", waiting[1])
        if self.blocked and (self._some_cancelled or self._least_blocked <= self.ended):
            self._check_blocked(self.ended)

    def _check_blocked(self, over: int = -1) -> None:
        """Check that no sender waits for a cancelled one, or for a checkpoint up to `over`."""
        for index, by in sorted(self.blocked.items()):
            channel = self.inputs[index]
            if by <= over or channel.is_cancelled:
                del self.blocked[index]
                says = f"leaves {channel.sender.name} blocked behind barrier {by}, which is over"
                self.says("channels_block_and_resume", says)
        self._least_blocked = min(self.blocked.values(), default=-1)

    def handler_failed(self, event: of_tasks.HandlerFailed) -> None:
        """Expect nothing of a task that fails."""
        self.needed.failed()

    # What it writes ---------------------------------------------------------------------------

    def writing_begun(self, event: of_tasks.WritingBegun) -> None:
        """Expect that the part is written."""
        self.writing.begun(event.checkpoint)

    def state_file_begun(self, event: of_tasks.StateFileBegun) -> None:
        """Check that its checkpoint has not been aborted before."""
        self.writing.file_begun(event.checkpoint)

    def writing_ended(self, event: of_tasks.WritingEnded) -> None:
        """Check that it was not under way for too long."""
        self.writing.ended(event.checkpoint, whole=event.whole)

    def look(self) -> None:
        """Check that nothing has waited too long that goes before a record, and no writing."""
        self.writing.look()
        self.urgent.look()

    def _taken_amount(self) -> int:
        return self.plane.taken(self.task, self.inputs)

    def has_triggered(self, checkpoint: int) -> bool:
        """Return whether it has taken part in a checkpoint, by its barrier handler."""
        return checkpoint in self._triggered

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
