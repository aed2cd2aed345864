"""A task's side of checkpoints: carries out what its barrier handler and its channels decide.

A checkpoint of a task has three parts that come together at different times: the state (at the
snapshot), the input part (when all barriers have come) and the output part (when every timeoutable
barrier has been sent or has timed out).  The acknowledgement leaves when all three are there and
the asynchronous write is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from models.barriers import Barrier, HandlerKind, SingleCheckpointHandler, make_handler
from models.barriers import events as ev
from models.barriers.network import (
    NetworkEffect,
    OutputStateFailed,
    OutputStateKnown,
    OutputStateOpened,
    PersistInput,
    PersistOutput,
    ResumeSender,
)
from models.barriers.reason import FailureReason
from models.lifecycle import effects as do
from models.lifecycle import events as on
from scenarios.jobs import Mode
from sim.jobs.kinds import Kind
from sim.jobs.parts import REMEMBERED, Parts
from sim.jobs.snapshot import TaskSnapshot
from sim.kernel import Timer

if TYPE_CHECKING:
    from sim.jobs.link import Link
    from sim.jobs.task import Task

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
        self.parts: dict[int, Parts] = {}
        self.pending_writes = 0
        self._timers: dict[int, Timer] = {}
        self._output_timer: Timer | None = None
        self._barrier: Barrier | None = None
        graph = task.attempt.graph
        gates = graph.gates[task.spec.index]
        self.gate_of = [number for number, size in enumerate(gates) for _ in range(size)]
        checkpointing = task.attempt.job.checkpointing
        self.handler = None
        if gates:
            self.handler = make_handler(
                _HANDLERS[checkpointing.mode],
                sum(gates),
                gates=len(gates),
                after_finish=checkpointing.after_finish,
            )

    # --- what comes in ---

    def barrier(self, channel: int, barrier: Barrier) -> None:
        """Take a barrier from a channel."""
        self._handle(ev.BarrierArrived(self._now, channel, barrier))

    def announcement(self, channel: int, barrier: Barrier, sequence: int) -> None:
        """Take an announcement from a channel."""
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
        self._handle(ev.CancellationArrived(self._now, channel, checkpoint))

    def channel_ended(self, channel: int) -> None:
        """Take the end of a channel."""
        self._handle(ev.ChannelEnded(self._now, channel))

    def count_processed(self) -> None:
        """Count a record that is handed to the task; every record counts as one byte."""
        if self.handler is not None:
            self.handler.step(ev.BytesProcessed(1))

    def trigger(self, barrier: Barrier, *, stop: bool, drain: bool) -> None:
        """Take the coordinator's trigger, as a source or below tasks that have all finished.

        Channels that have not ended yet are counted as aligned and are not blocked.
        """
        self._barrier = barrier
        task = self.task
        if task.is_source:
            if stop:
                if not drain and not task.ending.ended:
                    task.attempt.life.cut_short(task)
                task.ending.step(on.StopWithSavepointTriggered(barrier.checkpoint, drain))
            else:
                task.ending.step(on.CheckpointTriggered(barrier.checkpoint))
            return
        task.attempt.goal("triggered_by_remote_call_below_finished")
        open_channels = [link for link in task.inputs if not task.ending.channel_over(link)]
        if not open_channels or task.gone:
            task.ending.step(on.CheckpointTriggered(barrier.checkpoint, stop))
            return
        for link in open_channels:
            self._handle(ev.BarrierArrived(self._now, link.spec.input, barrier, by_rpc=True))

    def aborted(self, checkpoint: int) -> None:
        """Give a checkpoint up: the coordinator says so."""
        parts = self.parts.get(checkpoint)
        if parts is not None:
            parts.failed = True
        for link in self.task.links_out:
            link.queue.abort(checkpoint)
        self.task.drain_outbox()
        self._settle_writes()

    # --- effects of the barrier handler ---

    def _handle(self, event: ev.HandlerEvent) -> None:
        if self.handler is not None:
            self._carry_out(self.handler.step(event))

    def _carry_out(self, effects: Sequence[ev.HandlerEffect]) -> None:  # noqa: C901, PLR0912
        """Carry out handler effects in order; the match is one branch per effect."""
        task = self.task
        for effect in effects:
            match effect:
                case ev.BlockChannel():
                    pass  # the sender's queue has stopped behind the barrier
                case ev.ResumeChannels(channels):
                    for channel in channels:
                        task.inputs[channel].channel.resume()
                    task.drain_inbox()
                case ev.PrioritizeBarriers(places):
                    task.attempt.goal("timed_out_in_input")
                    for channel, sequence in places:
                        task.inputs[channel].channel.prioritize(sequence)
                case ev.InitializeInput():
                    pass  # no record is ever cut: a record is what a channel carries
                case ev.StartInput(gate, barrier):
                    reason = self._start_input(gate, barrier)
                    if reason is not None:
                        self._handle(ev.InputRefused(self._now, reason))
                        return
                case ev.StopInput(gate, checkpoint):
                    for link in self._links_of(gate):
                        link.channel.stop(checkpoint)
                case ev.TriggerCheckpoint(barrier, start_delay_ns):
                    self._triggered(barrier, start_delay_ns)
                case ev.AlignmentMeasured(checkpoint, duration_ns, processed):
                    parts = self._parts(checkpoint)
                    parts.alignment_ns, parts.processed = duration_ns, processed
                case ev.AbortCheckpoint(checkpoint, reason):
                    self._abort(checkpoint, reason)
                case ev.AllBarriersReceived(checkpoint):
                    self._parts(checkpoint).input_whole = True
                    self._write_if_whole(checkpoint)
                case ev.SetTimer(timer, delay_ns, barrier):
                    self._timers[timer] = task.attempt.timer_in(
                        delay_ns, Kind.TIMER, task.entity, self._alignment_over, timer, barrier
                    )
                case ev.CancelTimer(timer):
                    running = self._timers.pop(timer, None)  # it may have just run out
                    if running is not None:
                        running.cancel()
                case ev.FailTask(story):
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
        self._barrier = barrier
        parts = self._parts(barrier.checkpoint)
        parts.start_delay_ns = start_delay_ns
        stop = self.task.attempt.is_stop(barrier.checkpoint)
        self.task.ending.step(on.BarriersAligned(barrier.checkpoint, stop))

    def _abort(self, checkpoint: int, reason: FailureReason) -> None:
        """Decline to the coordinator, then tell the tasks below."""
        parts = self.parts.get(checkpoint)
        if parts is not None:
            parts.failed = True
        self.task.attempt.decline(self.task, checkpoint, reason)
        self.task.ending.cancel_marker(checkpoint)
        self._settle_writes()

    def _alignment_over(self, timer: int, barrier: Barrier) -> None:
        """Post the end of an alignment timer to the task's mailbox."""

        def mail() -> None:
            if self._timers.pop(timer, None) is not None:
                self._handle(ev.TimerFired(self._now, barrier))

        if self.task.attempt.alive:
            self.task.post(mail)

    # --- the snapshot ---

    def send_barrier(self, checkpoint: int) -> None:
        """Send the barrier on every output; it overtakes where its kind and the edge allow it."""
        barrier = self._barrier
        if barrier is None or barrier.checkpoint != checkpoint:
            raise AssertionError(f"{self.task.name} has no barrier of checkpoint {checkpoint}")
        barrier = barrier.unforced()
        parts = self._parts(checkpoint)
        parts.unaligned = barrier.is_unaligned
        task = self.task
        for spec, links in task.outputs:
            over = barrier.over_edge(supports_unaligned=spec.supports_unaligned)
            for link in links:
                if over.is_unaligned and link.queue.data_count:
                    task.attempt.goal("barrier_overtook_records")
                link.queue.add_barrier(over)
        task.drain_outbox()
        if barrier.is_timeoutable and barrier.timeout_ns is not None and parts.open_outputs:
            delay_ns = max(0, barrier.timestamp_ns + barrier.timeout_ns - self._now)
            if self._output_timer is not None:
                self._output_timer.cancel()
            self._output_timer = task.attempt.timer_in(
                delay_ns, Kind.TIMER, task.entity, self._output_over, checkpoint
            )
        for link in task.links_out:
            link.pump()

    def take_snapshot(self, flags: do.TakeSnapshot) -> None:
        """Take the task's state now; the rest of the checkpoint gathers around it."""
        task = self.task
        parts = self._parts(flags.checkpoint_id)
        parts.taken = True
        parts.flags = flags
        parts.started_ns = self._now
        parts.snapshot = TaskSnapshot(
            position=task.position,
            state=tuple(task.state),
            pending=task.sink.pending if task.sink is not None else (),
            input_state={},
            output_state={},
            consumed={link.spec.index: link.consumed for link in task.inputs},
            emitted={link.spec.index: link.emitted for link in task.links_out},
        )
        late = task.attempt.job.checkpointing.mode in (Mode.UNALIGNED, Mode.ALIGNED_TIMEOUT)
        if not late or self.handler is None or task.ending.all_inputs_over:
            parts.input_whole = True
        self._recovered_input(parts)
        self.pending_writes += 1
        task.occupy(task.attempt.job.costs.snapshot_sync_ns)
        self._write_if_whole(flags.checkpoint_id)

    def _recovered_input(self, parts: Parts) -> None:
        """Add what is left of recovered input: it lies in front of everything in the channel."""
        for link in self.task.inputs:
            if link.recovered:
                mine = parts.input_state.setdefault(link.spec.index, [])
                mine[:0] = link.recovered

    def _output_over(self, checkpoint: int) -> None:
        """Post the end of the output alignment timer: barriers still queued overtake."""

        def mail() -> None:
            for link in self.task.links_out:
                if link.queue.time_out(checkpoint):
                    self.task.attempt.goal("timed_out_in_output")
                    self._parts(checkpoint).unaligned = True
            self.task.drain_outbox()
            for link in self.task.links_out:
                link.pump()

        if self.task.attempt.alive:
            self.task.post(mail)

    def carry_out_network(self, effects: Sequence[NetworkEffect]) -> None:
        """Carry out what channels and subpartitions ask for."""
        task = self.task
        for effect in effects:
            match effect:
                case PersistInput(channel, checkpoint, buffers):
                    index = task.inputs[channel].spec.index
                    kept = self._parts(checkpoint).input_state.setdefault(index, [])
                    kept.extend(buffers)  # type: ignore[arg-type]
                case ResumeSender(channel):
                    task.inputs[channel].resume()
                case PersistOutput(output, checkpoint, buffers):
                    index = task.links_out[output].spec.index
                    kept = self._parts(checkpoint).output_state.setdefault(index, [])
                    kept.extend(buffers)  # type: ignore[arg-type]
                case OutputStateOpened(output, checkpoint):
                    self._parts(checkpoint).open_outputs.add(output)
                case OutputStateKnown(output, checkpoint, buffers):
                    parts = self._parts(checkpoint)
                    parts.open_outputs.discard(output)
                    if buffers:
                        index = task.links_out[output].spec.index
                        kept = parts.output_state.setdefault(index, [])
                        kept.extend(buffers)  # type: ignore[arg-type]
                    self._write_if_whole(checkpoint)
                case OutputStateFailed(output, checkpoint):
                    parts = self._parts(checkpoint)
                    parts.open_outputs.discard(output)
                    parts.failed = True
                    self._settle_writes()
                case _:
                    assert_never(effect)

    # --- the asynchronous part ---

    def _write_if_whole(self, checkpoint: int) -> None:
        """Begin the asynchronous write when state, input part and output part are there."""
        parts = self._parts(checkpoint)
        whole = parts.taken and parts.input_whole and not parts.open_outputs
        if not whole or parts.writing or parts.failed:
            return
        parts.writing = True
        attempt = self.task.attempt
        costs = attempt.job.costs
        delay_ns = costs.snapshot_sync_ns + costs.snapshot_async_ns
        delay_ns += attempt.jitter("snapshot", costs.snapshot_jitter_ns)
        delay_ns += attempt.faults.acknowledgement_delay(self.task.spec, checkpoint)
        attempt.later(delay_ns, Kind.SNAPSHOT, self.task.entity, self._written, checkpoint)

    def _written(self, checkpoint: int) -> None:
        parts = self._parts(checkpoint)
        snapshot, flags = parts.snapshot, parts.flags
        if snapshot is None or flags is None:
            raise AssertionError(f"{self.task.name}: checkpoint {checkpoint} has no snapshot")
        attempt = self.task.attempt
        if not parts.failed:
            if attempt.faults.snapshot_fails(self.task.spec, checkpoint):
                parts.failed = True
                attempt.decline(self.task, checkpoint, FailureReason.CHECKPOINT_ASYNC_EXCEPTION)
            else:
                parts.acknowledged = True
                attempt.acknowledge(self.task, checkpoint, self._with_channels(parts), parts)
        self._settle_writes()

    @staticmethod
    def _with_channels(parts: Parts) -> TaskSnapshot:
        """Return the snapshot with the input and output parts that have been gathered."""
        if parts.snapshot is None:
            raise AssertionError("a checkpoint is written that has no snapshot")
        return replace(
            parts.snapshot,
            input_state={index: tuple(kept) for index, kept in parts.input_state.items()},
            output_state={index: tuple(kept) for index, kept in parts.output_state.items()},
        )

    def _settle_writes(self) -> None:
        """Count the writes that are under way; a task that closes waits for them."""
        over = [n for n, parts in self.parts.items() if parts.taken and self._is_over(parts)]
        for number in over:
            self.parts[number].taken = False
            self.pending_writes -= 1
        for number in [n for n in self.parts if n < max(self.parts) - REMEMBERED]:
            del self.parts[number]
        if over and self.pending_writes == 0:
            self.task.ending.writes_settled()

    @staticmethod
    def _is_over(parts: Parts) -> bool:
        return parts.failed or parts.acknowledged

    def _parts(self, checkpoint: int) -> Parts:
        return self.parts.setdefault(checkpoint, Parts())

    @property
    def _now(self) -> int:
        return self.task.env.now
