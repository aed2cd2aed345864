"""The barrier handler of one task at work: what comes out of the inputs goes into the core.

This is the only interpreter of the handler's effects.

Source: Apache Flink 1.20.3, CheckpointedInputGate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from ckptsim.models.barriers import events as ev
from ckptsim.models.barriers import subtask_events as sub
from ckptsim.models.barriers.barrier import (
    Announcement,
    Barrier,
    CancellationMarker,
    EndOfData,
    EndOfPartition,
    NetworkEvent,
    OptionKind,
)
from ckptsim.models.barriers.handler import SingleCheckpointHandler
from ckptsim.models.core import ProtocolError
from ckptsim.sim.job.buffers.kinds import Kind
from ckptsim.sim.job.handler_failure import broken_by_failure

if TYPE_CHECKING:
    from ckptsim.models.barriers.interface import BarrierHandler
    from ckptsim.models.barriers.reason import FailureReason
    from ckptsim.sim.job.buffers.channels import Channel
    from ckptsim.sim.job.buffers.task import Task
    from ckptsim.sim.kernel import Timer

_KIND_NAMES = {kind: kind.name for kind in OptionKind}


class Alignment:
    """Drives the barrier handler of a task."""

    __slots__ = ("_task", "_timers", "clock", "handler")

    def __init__(self, task: Task, handler: BarrierHandler) -> None:
        self.handler = handler
        self.clock = handler.clock  # looked at for every buffer
        self._task = task
        self._timers: dict[int, Timer] = {}

    def take(self, channel: Channel, event: NetworkEvent) -> None:
        """Take an event that the task has polled from a channel."""
        now, index, account = self._task.env.now, channel.index, self._task.world.account
        match event:
            case Barrier():
                account.barrier_taken(self._task, channel, event)
                self._trace("barrier", event.checkpoint, index, _KIND_NAMES[event.kind])
                self.handle(ev.BarrierArrived(now, index, event))
            case Announcement():
                account.seen(self._task, event.barrier)
                self._trace("announced", event.barrier.checkpoint, index)
                self.handle(ev.BarrierAnnounced(now, index, event.barrier, event.sequence))
            case CancellationMarker():
                self._trace("cancelled", event.checkpoint, index)
                if self._is_announced_only(event.checkpoint):
                    self._task.env.goals.reach("cancelled_by_announcement_only")
                self.handle(ev.CancellationArrived(now, index, event.checkpoint))
            case EndOfData():
                self._task.ending.end_of_data(channel, event)
            case EndOfPartition():
                account.channel_ended(self._task, channel)
                self.handle(ev.ChannelEnded(now, index))
                self._task.ending.end_of_partition(channel)
            case _:
                raise ProtocolError("unknown_event", state=self._task.entity.name, event=event)

    def _is_announced_only(self, checkpoint: int) -> bool:
        """Tell whether a checkpoint is open here of which no barrier has been taken."""
        handler = self.handler
        return (
            isinstance(handler, SingleCheckpointHandler)
            and handler.latest == checkpoint
            and handler.pending
            and not handler.aligned
        )

    def take_rpc(self, barrier: Barrier) -> None:
        """Take a trigger by remote call: a barrier for every channel that has not ended."""
        account = self._task.world.account
        account.seen(self._task, barrier)
        ended = self._task.ending.ended_channels
        for channel in self._task.channels:
            if channel.index not in ended:
                now = self._task.env.now
                account.barrier_by_rpc(self._task, channel, barrier.checkpoint)
                self.handle(ev.BarrierArrived(now, channel.index, barrier, by_rpc=True))

    def handle(self, event: ev.HandlerEvent) -> None:
        """Give the handler an event and carry out what it answers."""
        effects = self.handler.step(event)
        for effect in effects:
            refused = self._carry_out(effect)
            if refused is not None:
                self.handle(ev.InputRefused(self._task.env.now, refused))
                return
        self._task.world.account.settled(self._task)

    def _carry_out(self, effect: ev.HandlerEffect) -> FailureReason | None:  # noqa: C901, PLR0912 - one branch per effect
        """Carry an effect out; returns why it was refused, or None."""
        task = self._task
        match effect:
            case ev.BlockChannel():
                pass  # the sender has stopped behind the barrier
            case ev.ResumeChannels(channels):
                for index in channels:
                    task.world.account.told_to_resume(task.channels[index].outlet)
                    task.channels[index].resume()
            case ev.PrioritizeBarriers(places):
                for index, sequence in places:
                    task.channels[index].prioritize(sequence)
            case ev.InitializeInput(barrier):
                task.snapshots.initialize(barrier)
            case ev.StartInput(gate, barrier):
                return task.gates[gate].start(barrier.checkpoint)
            case ev.StopInput(gate, checkpoint):
                task.gates[gate].stop(checkpoint)
            case ev.TriggerCheckpoint(barrier, start_delay_ns):
                task.snapshots.triggered(barrier, start_delay_ns)
            case ev.AlignmentMeasured(checkpoint, duration_ns, size):
                self._trace("aligned", checkpoint, duration_ns, size)
                task.snapshots.aligned(checkpoint, duration_ns, size)
            case ev.AbortCheckpoint(checkpoint, reason):
                task.world.account.aborted(task, checkpoint)
                task.snapshots.step(sub.CheckpointAborted(checkpoint, reason))
            case ev.AllBarriersReceived(checkpoint):
                task.world.account.all_received(task, checkpoint)
                task.snapshots.step(sub.InputReceived(checkpoint))
            case ev.SetTimer(timer, delay_ns, barrier):
                self._set_timer(timer, delay_ns, barrier)
            case ev.CancelTimer(timer):
                handle = self._timers.pop(timer, None)
                if handle is not None:
                    handle.cancel()
            case ev.FailTask(story):
                task.world.fail_task(task, broken_by_failure(self.handler), story)
            case _:
                assert_never(effect)
        return None

    def _trace(self, kind: str, *fields: int | str) -> None:
        self._task.env.trace.record(kind, self._task.entity, *fields)

    def _set_timer(self, timer: int, delay_ns: int, barrier: Barrier) -> None:
        env = self._task.env
        due = env.now + delay_ns + self._task.world.constants.timer_extra_ns
        self._timers[timer] = env.call_at(
            due, Kind.TIMER, self._task.entity, self._run_out, timer, barrier
        )

    def _run_out(self, timer: int, barrier: Barrier) -> None:
        if self._timers.pop(timer, None) is not None:
            self._task.post(self._time_out, barrier)

    def _time_out(self, barrier: Barrier) -> None:
        if barrier.checkpoint == self.handler.latest and self.handler.pending:
            self._task.env.goals.reach("timed_out_in_input")
        self.handle(ev.TimerFired(self._task.env.now, barrier))
