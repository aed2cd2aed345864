"""The barrier handler of one task at work: what comes out of the inputs goes into the core.

A sender stops by itself after a barrier that has to be aligned, so blocking asks nothing of this
side. Only the way back, resuming, is a message.

Invariants that hold here:

* Effects are carried out in the order given, and not after a refused StartInput: the core learns of
  the refusal before anything else.
* A timer that has run out has posted a mail, and cancelling it does not take that back. The core
  knows a stale one by its checkpoint.

Source: Apache Flink 1.20.3, CheckpointedInputGate, SingleCheckpointBarrierHandler,
BarrierAlignmentUtil (timers).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, assert_never

from ckptsim.models.barriers import BarrierHandler, HandlerKind
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.subtask import events as subtask_events
from ckptsim.sim.job.events import of_tasks

if TYPE_CHECKING:
    from ckptsim.models.barriers.barrier import Barrier
    from ckptsim.sim.job.control.task.checkpoints import CheckpointsHost
    from ckptsim.sim.job.events import Events
    from ckptsim.sim.job.task_port import Clock, Reach, TaskPort, Timer


class HandlerHost:
    """Drives the barrier handler of one task.

    barrier_taken_ns: when a barrier came out of a channel last. -1 before the first.
    """

    __slots__ = (
        "_checkpoints",
        "_clock",
        "_ended",
        "_events",
        "_kind",
        "_newest_taken",
        "_reach",
        "_task",
        "_timers",
        "_triggered",
        "barrier_taken_ns",
        "blocked",
        "core",
        "taken",
    )

    def __init__(
        self,
        core: BarrierHandler,
        task: TaskPort,
        checkpoints: CheckpointsHost,
        *,
        kind: HandlerKind,
        events: Events,
        clock: Clock,
        reach: Reach,
    ) -> None:
        self.core = core
        # Everything that has gone in and come out, so that nothing of it has to be asked of the
        # core: channels with senders that have stopped after a barrier, and those that have brought
        # the newest.
        self.blocked: dict[int, None] = {}
        self.taken: dict[int, None] = {}
        self._triggered = -1
        self._ended = 0
        self._task = task
        self._checkpoints = checkpoints
        self._events = events
        self._clock = clock
        self._reach = reach
        self._kind = kind
        self._newest_taken = -1  # the newest checkpoint with a barrier here
        self._timers: dict[int, Timer] = {}
        self.barrier_taken_ns = -1

    # What the task takes from its channels ----------------------------------------------------

    def barrier(self, channel: int, barrier: Barrier) -> None:
        """Take a barrier."""
        self.barrier_taken_ns = self._clock.now
        self._take(channel, barrier.checkpoint)
        self._events.emit(of_tasks.BarrierTaken(self._task, channel, barrier))
        self.step(handler_events.BarrierArrived(self._clock.now, channel, barrier))

    def announcement(self, channel: int, barrier: Barrier, sequence: int) -> None:
        """Take the announcement of a barrier that is in its channel at `sequence`."""
        self._events.emit(of_tasks.BarrierSeen(self._task, barrier))
        self.step(handler_events.BarrierAnnounced(self._clock.now, channel, barrier, sequence))

    def cancellation(self, channel: int, checkpoint: int) -> None:
        """Take a cancellation marker."""
        if self._is_announced_only(checkpoint):
            self._reach("cancelled_by_announcement_only")
        self._events.emit(of_tasks.CancellationTaken(self._task, checkpoint))
        self.step(handler_events.CancellationArrived(self._clock.now, channel, checkpoint))

    def channel_ended(self, channel: int) -> None:
        """Take the end of a channel."""
        self._ended += 1
        self._events.emit(of_tasks.ChannelEnded(self._task, channel))
        self.step(handler_events.ChannelEnded(self._clock.now, channel))

    def trigger_by_rpc(self, barrier: Barrier, channels: Iterable[int]) -> None:
        """Take a trigger by remote call: it represents the barriers of channels still open.

        Source: Apache Flink 1.20.3, StreamTask.triggerUnfinishedChannelsCheckpoint.
        """
        self._events.emit(of_tasks.BarrierSeen(self._task, barrier))
        for channel in channels:
            self._take(channel, barrier.checkpoint)
            replaced = of_tasks.BarrierReplaced(self._task, channel, barrier.checkpoint)
            self._events.emit(replaced)
            self.step(handler_events.BarrierArrived(self._clock.now, channel, barrier, by_rpc=True))

    @property
    def keeps_blocked(self) -> bool:
        """Whether channels stay blocked though the checkpoint has been triggered: it timed out."""
        core = self.core
        return bool(self.blocked) and core.pending and self._triggered == core.latest

    def _take(self, channel: int, checkpoint: int) -> None:
        if checkpoint > self._newest_taken:
            self._newest_taken = checkpoint
            self.taken.clear()
        if checkpoint == self._newest_taken:
            self.taken[channel] = None

    def _is_announced_only(self, checkpoint: int) -> bool:
        """Return whether a checkpoint is open here without a taken barrier."""
        core = self.core
        announced = self._newest_taken < checkpoint == core.latest
        return announced and self._kind is not HandlerKind.TRACKER and core.pending

    # What the handler decides -----------------------------------------------------------------

    def step(self, event: handler_events.HandlerEvent) -> None:  # noqa: C901, PLR0912 - one branch per effect
        """Give the handler an event and carry out what it answers."""
        task, checkpoints, emit = self._task, self._checkpoints, self._events.emit
        for effect in self.core.step(event):
            match effect:
                case handler_events.BlockChannel(channel):
                    self.blocked[channel] = None  # its sender has stopped after the barrier
                case handler_events.ResumeChannels(channels):
                    for channel in channels:
                        self.blocked.pop(channel, None)
                        task.inputs[channel].resume()
                    checkpoints.drain()
                case handler_events.PrioritizeBarriers(places):
                    self._reach("timed_out_in_input")
                    for channel, sequence in places:
                        task.inputs[channel].prioritize(sequence)
                case handler_events.InitializeInput(barrier):
                    checkpoints.initialize(barrier)
                case handler_events.StartInput(gate, barrier):
                    number = barrier.checkpoint
                    emit(of_tasks.GateStarting(task, gate, number))
                    reason = task.gates[gate].start(number)
                    checkpoints.drain()
                    emit(of_tasks.GateStarted(task, gate, number, refused=reason is not None))
                    if reason is not None:
                        self.step(handler_events.InputRefused(self._clock.now, reason))
                        return
                case handler_events.StopInput(gate, checkpoint):
                    emit(of_tasks.GateStopped(task, gate))
                    task.gates[gate].stop(checkpoint)
                case handler_events.TriggerCheckpoint(barrier, start_delay_ns):
                    self._triggered = barrier.checkpoint
                    emit(of_tasks.HandlerTriggered(task, barrier))
                    checkpoints.trigger(barrier, start_delay_ns)
                case handler_events.AlignmentMeasured(checkpoint, duration_ns, size):
                    checkpoints.measured(checkpoint, duration_ns, size)
                case handler_events.AbortCheckpoint(checkpoint, reason):
                    emit(of_tasks.HandlerAborted(task, checkpoint))
                    checkpoints.step(subtask_events.CheckpointAborted(checkpoint, reason))
                case handler_events.AllBarriersReceived(checkpoint):
                    emit(of_tasks.BarriersReceived(task, checkpoint))
                    checkpoints.step(subtask_events.InputReceived(checkpoint))
                case handler_events.SetTimer(timer, delay_ns, barrier):
                    self._timers[timer] = task.set_timer(delay_ns, self._run_out, timer, barrier)
                case handler_events.CancelTimer(timer):
                    running = self._timers.pop(timer, None)  # it may have just run out
                    if running is not None:
                        running.cancel()
                case handler_events.FailTask(story):
                    emit(of_tasks.HandlerFailed(task))
                    task.ending.break_down(self._broken_by_failure(), story)
                    return
                case _:
                    assert_never(effect)
        emit(of_tasks.HandlerSettled(task))

    def _run_out(self, timer: int, barrier: Barrier) -> None:
        if self._timers.pop(timer, None) is not None:
            self._task.post(self._time_out, barrier)

    def _time_out(self, barrier: Barrier) -> None:
        self.step(handler_events.TimerFired(self._clock.now, barrier))

    def _broken_by_failure(self) -> str:
        """Name the property that does not hold when the handler fails its task.

        With one channel left, a newer checkpoint takes the tracker's clock from an older one that
        still waits: a defect of released Flink, which has a property of its own.
        Source: Apache Flink 1.20.3, CheckpointBarrierTracker.
        """
        left = len(self._task.inputs) - self._ended
        single = self._kind is HandlerKind.TRACKER and left <= 1
        return "single_channel_keeps_the_clock" if single else "given_up_for_a_cause"
