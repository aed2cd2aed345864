"""A task's side of checkpoints: carries out what its barrier handler decides.

The handler sees what comes out of the channels and says which are blocked and resumed, which
barriers overtake, when in-flight records are persisted and when the task takes part in a
checkpoint.  What then follows is the subtask side's matter (`subtask_side.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

from ckptsim.models.barriers import Barrier, HandlerKind, SingleCheckpointHandler
from ckptsim.models.barriers import events as ev
from ckptsim.models.barriers import subtask_events as sub
from ckptsim.models.barriers import writer_events as wr
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.lifecycle import TaskState
from ckptsim.models.lifecycle import events as on
from ckptsim.scenarios.job import Mode
from ckptsim.sim.job.handler_failure import broken_by_failure
from ckptsim.sim.job.records.kinds import Kind
from ckptsim.sim.job.records.subtask_side import SubtaskSide
from ckptsim.sim.job.records.task_account import TaskAccount
from ckptsim.sim.kernel import Timer

if TYPE_CHECKING:
    from ckptsim.sim.job.records.link import Link
    from ckptsim.sim.job.records.task import Task

_HANDLERS = {
    Mode.ALIGNED: HandlerKind.ALIGNED,
    Mode.UNALIGNED: HandlerKind.ALTERNATING,
    Mode.ALIGNED_TIMEOUT: HandlerKind.ALTERNATING,
    Mode.AT_LEAST_ONCE: HandlerKind.TRACKER,
}


class TaskCheckpoints:
    """The checkpoints of one task."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.side = SubtaskSide(task)
        self.account = TaskAccount(task)
        self._timers: dict[int, Timer] = {}
        graph = task.attempt.graph
        gates = graph.gates[task.spec.index]
        self.gate_of = [number for number, size in enumerate(gates) for _ in range(size)]
        checkpointing = task.attempt.job.checkpointing
        self.handler = None
        if gates:
            self.handler = task.attempt.cores.handler(
                _HANDLERS[checkpointing.mode],
                sum(gates),
                gates=len(gates),
                after_finish=checkpointing.after_finish,
            )

    # --- what comes in ---

    def barrier(self, channel: int, barrier: Barrier, *, priority: bool) -> None:
        """Take a barrier from a channel; priority: it has overtaken what was queued."""
        self.account.barrier(self.task.inputs[channel], barrier, priority=priority)
        self._handle(ev.BarrierArrived(self._now, channel, barrier))

    def announcement(self, channel: int, barrier: Barrier, sequence: int) -> None:
        """Take an announcement from a channel."""
        self.account.seen(barrier)
        self._handle(ev.BarrierAnnounced(self._now, channel, barrier, sequence))

    def cancellation(self, channel: int, checkpoint: int) -> None:
        """Take a cancellation marker from a channel."""
        handler = self.handler
        if (
            isinstance(handler, SingleCheckpointHandler)
            and handler.latest == checkpoint
            and handler.pending
            and not handler.aligned
        ):
            self.task.attempt.goal("cancelled_by_announcement_only")
        self.account.cancelled(checkpoint)
        self._handle(ev.CancellationArrived(self._now, channel, checkpoint))

    def channel_ended(self, channel: int) -> None:
        """Take the end of a channel."""
        self.account.needed.ended(channel)
        self._handle(ev.ChannelEnded(self._now, channel))

    def count_processed(self) -> None:
        """Count a record that is handed to the task; every record counts as one byte."""
        if self.handler is not None:
            self.handler.step(ev.BytesProcessed(1))

    def trigger(self, barrier: Barrier, *, stop: bool, drain: bool) -> None:
        """Take the coordinator's trigger, as a source or below tasks that have all finished.

        Channels that have not ended yet are counted as aligned and are not blocked.
        """
        task = self.task
        enters: on.Event = on.CheckpointTriggered(barrier.checkpoint, stop)
        if task.is_source and stop:
            enters = on.StopWithSavepointTriggered(barrier.checkpoint, drain)
            if not drain and not task.ending.ended:
                task.attempt.life.cut_short(task)
        if not task.is_source:
            task.attempt.goal("triggered_by_remote_call_below_finished")
        open_channels = [link for link in task.inputs if not task.ending.channel_over(link)]
        if task.ending.state is TaskState.CLOSED:
            task.ending.step(enters)
        elif not open_channels:
            self.side.step(sub.CheckpointInitialized(barrier, all_received=True))
            self._take_part(barrier, enters)
            if self.side.parts_of(barrier.checkpoint).snapshot is not None:
                self.account.triggered(barrier)
        elif not task.gone:
            self.account.seen(barrier)
        for link in open_channels if not task.gone else ():
            self.account.seen(barrier)
            self.account.needed.came(link.spec.input, barrier.checkpoint)
            self._handle(ev.BarrierArrived(self._now, link.spec.input, barrier, by_rpc=True))

    def aborted(self, checkpoint: int) -> None:
        """Give a checkpoint up: the coordinator says so."""
        self.side.step(sub.AbortNotified(checkpoint))

    def closed(self) -> None:
        """Let the others of the task's group write without it."""
        task = self.task
        task.attempt.files[task.spec.index].writer.step(wr.SubtaskReleased(task.spec.subtask))

    # --- effects of the barrier handler ---

    def _handle(self, event: ev.HandlerEvent) -> None:
        if self.handler is not None:
            self._carry_out(self.handler.step(event))
            self.account.settled()

    def _carry_out(self, effects: Sequence[ev.HandlerEffect]) -> None:  # noqa: C901, PLR0912
        """Carry out handler effects in order; the match is one branch per effect."""
        task = self.task
        for effect in effects:
            match effect:
                case ev.BlockChannel():
                    pass  # the sender's queue has stopped behind the barrier
                case ev.ResumeChannels(channels):
                    for channel in channels:
                        if task.inputs[channel].account.told_to_resume():
                            task.inputs[channel].channel.resume()
                    task.drain_inbox()
                case ev.PrioritizeBarriers(places):
                    task.attempt.goal("timed_out_in_input")
                    for channel, sequence in places:
                        task.inputs[channel].channel.prioritize(sequence)
                case ev.InitializeInput(barrier):
                    self.account.begun(barrier)
                    self.side.step(sub.CheckpointInitialized(barrier))
                case ev.StartInput(gate, barrier):
                    self.account.started(gate, barrier)
                    reason = self._start_input(gate, barrier)
                    if reason is not None:
                        self.account.start_failed(gate + 1)
                        self.account.cancelled(barrier.checkpoint)
                        self._handle(ev.InputRefused(self._now, reason))
                        return
                case ev.StopInput(gate, checkpoint):
                    self.account.stopped(gate)
                    for link in self._links_of(gate):
                        link.channel.stop(checkpoint)
                case ev.TriggerCheckpoint(barrier, start_delay_ns):
                    self._triggered(barrier, start_delay_ns)
                case ev.AlignmentMeasured(checkpoint, duration_ns, processed):
                    self.account.measured(checkpoint, None, duration_ns)
                    parts = self.side.parts_of(checkpoint)
                    parts.alignment_ns, parts.processed = duration_ns, processed
                case ev.AbortCheckpoint(checkpoint, reason):
                    self.account.aborted(checkpoint)
                    self.side.step(sub.CheckpointAborted(checkpoint, reason))
                case ev.AllBarriersReceived(checkpoint):
                    self.account.all_received(checkpoint)
                    self.side.step(sub.InputReceived(checkpoint))
                case ev.SetTimer(timer, delay_ns, barrier):
                    self._timers[timer] = task.attempt.timer_in(
                        delay_ns, Kind.TIMER, task.entity, self._alignment_over, timer, barrier
                    )
                case ev.CancelTimer(timer):
                    running = self._timers.pop(timer, None)  # it may have just run out
                    if running is not None:
                        running.cancel()
                case ev.FailTask(story):
                    task.attempt.violate(broken_by_failure(self.handler), f"{task.name}: {story}")
                    self.account.needed.failed()
                    task.attempt.fail(task, story)
                    return
                case _:
                    assert_never(effect)

    def _start_input(self, gate: int, barrier: Barrier) -> FailureReason | None:
        for link in self._links_of(gate):
            reason = link.channel.start(barrier.checkpoint)
            if reason is not None:
                return reason
        self.task.drain_inbox()
        return None

    def _links_of(self, gate: int) -> list[Link]:
        return [link for link in self.task.inputs if self.gate_of[link.spec.input] == gate]

    def _triggered(self, barrier: Barrier, start_delay_ns: int) -> None:
        self.account.triggered(barrier)
        self.account.measured(barrier.checkpoint, start_delay_ns, None)
        self.side.parts_of(barrier.checkpoint).start_delay_ns = start_delay_ns
        stop = self.task.attempt.is_stop(barrier.checkpoint)
        self._take_part(barrier, on.BarriersAligned(barrier.checkpoint, stop))

    def _take_part(self, barrier: Barrier, enters: on.Event) -> None:
        before = self.account.passed_on
        self.side.trigger(barrier, enters)
        self.account.answered(barrier.checkpoint, before)

    def _alignment_over(self, timer: int, barrier: Barrier) -> None:
        """Post the end of an alignment timer to the task's mailbox."""

        def mail() -> None:
            if self._timers.pop(timer, None) is not None:
                self._handle(ev.TimerFired(self._now, barrier))

        if self.task.attempt.alive:
            self.task.post(mail)

    @property
    def _now(self) -> int:
        return self.task.env.now
