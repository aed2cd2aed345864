"""The subtask side of a task's checkpoints in the world: carries out what its core decides.

The core (`models/barriers/subtask`) knows the order of a trigger and when everything is durable;
the lifecycle core decides which marks and transactions belong to it.  Here the barrier is put into
the queues, the state is taken, in-flight records are gathered and handed to the writer, timers run,
and the acknowledgement leaves with all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never, cast

from ckptsim.models.barriers import Barrier
from ckptsim.models.barriers import subtask_events as sub
from ckptsim.models.barriers import writer_events as wr
from ckptsim.models.barriers.network import (
    NetworkEffect,
    OutputStateFailed,
    OutputStateKnown,
    OutputStateOpened,
    PersistInput,
    PersistOutput,
    ResumeSender,
)
from ckptsim.models.lifecycle import effects as do
from ckptsim.models.lifecycle import events as on
from ckptsim.scenarios.job.faults import FailSnapshot, SlowFile
from ckptsim.sim.job.records.kinds import Kind
from ckptsim.sim.job.records.parts import REMEMBERED, Parts
from ckptsim.sim.job.records.snapshot import Element, TaskSnapshot
from ckptsim.sim.kernel import Timer

if TYPE_CHECKING:
    from ckptsim.sim.job.records.link import Link
    from ckptsim.sim.job.records.task import Task


class SubtaskSide:
    """What one task does of a checkpoint after its barriers have been seen."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.core = task.attempt.cores.subtask()
        self.parts: dict[int, Parts] = {}
        self._barrier: Barrier | None = None
        self._enters: on.Event | None = None  # how the lifecycle hears of the trigger under way
        self._output_timer: Timer | None = None
        self._writes: dict[int, Timer] = {}

    @property
    def pending_writes(self) -> int:
        """Return how many checkpoints were triggered here and are not durable yet."""
        return len(self.core.running)

    def parts_of(self, checkpoint: int) -> Parts:
        """Return what has been gathered for a checkpoint."""
        return self.parts.setdefault(checkpoint, Parts())

    def trigger(self, barrier: Barrier, enters: on.Event) -> None:
        """Take part in a checkpoint, unless the core knows better.

        enters: what the lifecycle is told when the barrier is to be sent.  It hears of a trigger
        that comes too late as well, behind one that it has carried out; it has to skip it.

        Source: Apache Flink 1.20.3, StreamTask.performCheckpoint looks at the id before its
        subtask coordinator drops it.
        """
        self._enters = enters
        self.step(sub.CheckpointTriggered(self._now, barrier))
        dropped, self._enters = self._enters, None
        ending = self.task.ending
        if dropped is not None and barrier.checkpoint <= ending.core.last_checkpoint:
            self.task.env.trace.record("skipped", self.task.entity, barrier.checkpoint)
            ending.step(dropped)

    def step(self, event: sub.SubtaskEvent) -> None:
        """Give the core an event and carry out what it decides."""
        before = self.pending_writes
        effects = self.core.step(event)
        if before and not self.core.running:  # noted first: an effect may be a step of its own
            self.task.ending.account.settled()
        self._carry_out(effects)
        if not self.core.running:
            self.task.ending.writes_settled()

    def _carry_out(self, effects: Sequence[sub.SubtaskEffect]) -> None:  # noqa: C901, PLR0912
        """Carry out effects in order; the match is one branch per effect."""
        task = self.task
        for effect in effects:
            match effect:
                case sub.StartWriter(checkpoint):
                    self._write(wr.WriteStarted(task.spec.subtask, checkpoint))
                case sub.CloseInputState(checkpoint):
                    self._write(wr.InputClosed(task.spec.subtask, checkpoint))
                case sub.CloseOutputState(checkpoint):
                    self._write(wr.OutputClosed(task.spec.subtask, checkpoint))
                case sub.AbortWriter(checkpoint, reason):
                    self._write(wr.WriteAborted(task.spec.subtask, checkpoint, reason))
                case sub.SavePartialRecords() | sub.PrepareOperators() | sub.SnapshotOperators():
                    pass  # no record is ever cut; operators are the lifecycle's matter
                case sub.BroadcastBarrier(barrier):
                    self._enter(barrier)
                case sub.BroadcastCancellation(checkpoint):
                    task.ending.cancel_marker(checkpoint)
                case sub.SetOutputTimer(checkpoint, delay_ns):
                    self._output_timer = task.attempt.timer_in(
                        delay_ns, Kind.TIMER, task.entity, self._output_over, checkpoint
                    )
                case sub.CancelOutputTimer():
                    if self._output_timer is not None:
                        self._output_timer.cancel()
                case sub.TimeOutOutputs(checkpoint):
                    self._time_out(checkpoint)
                case sub.AbortOutputs(checkpoint):
                    for link in task.links_out:
                        link.queue.abort(checkpoint)
                    task.drain_outbox()
                case sub.StartAsyncPart(checkpoint):
                    self._start_async(checkpoint)
                case sub.CancelAsyncPart(checkpoint):
                    running = self._writes.pop(checkpoint, None)
                    if running is not None:
                        running.cancel()
                case sub.AcknowledgeCheckpoint(checkpoint, _, unaligned):
                    self._acknowledge(checkpoint, unaligned=unaligned)
                case sub.DeclineCheckpoint(checkpoint, reason):
                    task.attempt.decline(task, checkpoint, reason)
                case _:
                    assert_never(effect)

    def _write(self, event: wr.WriterEvent) -> None:
        self.task.attempt.files[self.task.spec.index].writer.step(event)

    # --- the snapshot ---

    def _enter(self, barrier: Barrier) -> None:
        """Let the lifecycle send the barrier and take the snapshot; it may refuse to."""
        enters, self._enters = self._enters, None
        if enters is None:
            raise AssertionError(f"{self.task.name} is to send {barrier} out of turn")
        self._barrier = barrier
        self.task.ending.step(enters)
        if self.parts_of(barrier.checkpoint).snapshot is None:
            self.step(sub.AbortNotified(barrier.checkpoint))

    def send_barrier(self, checkpoint: int) -> None:
        """Send the barrier on every output; it overtakes where its kind and the edge allow it."""
        barrier = self._barrier
        if barrier is None or barrier.checkpoint != checkpoint:
            raise AssertionError(f"{self.task.name} has no barrier of checkpoint {checkpoint}")
        task = self.task
        task.drain_outbox()
        task.checkpoints.account.sent_on(checkpoint)
        for spec, links in task.outputs:
            over = task.attempt.cores.edge(barrier, supports_unaligned=spec.supports_unaligned)
            for link in links:
                if over.is_unaligned and link.queue.data_count:
                    task.attempt.goal("barrier_overtook_records")
                link.send_barrier(over)
        opened = sum(isinstance(effect, OutputStateOpened) for effect in task.outbox)
        task.drain_outbox()
        self.step(sub.BarrierSent(self._now, checkpoint, opened))
        for link in task.links_out:
            link.pump()

    def take_snapshot(self, flags: do.TakeSnapshot) -> None:
        """Take the task's state now; the rest of the checkpoint gathers around it."""
        task = self.task
        parts = self.parts_of(flags.checkpoint_id)
        parts.flags = flags
        parts.started_ns = self._now
        if not task.links_out:  # a sink has nobody to send a barrier to
            self.step(sub.BarrierSent(self._now, flags.checkpoint_id))
        parts.snapshot = TaskSnapshot(
            position=task.position,
            exhausted=task.exhausted,
            state=tuple(task.state),
            transactions=task.sink.state if task.sink is not None else None,
            input_state={},
            output_state={},
            consumed={link.spec.index: link.consumed for link in task.inputs},
            emitted={link.spec.index: link.emitted for link in task.links_out},
        )
        for link in task.inputs:
            if link.recovered:  # lies in front of everything in the channel
                self._keep_recovered(parts, link, flags.checkpoint_id)
        task.occupy(task.attempt.job.snapshot_sync_ns(task.spec.vertex))
        self.step(sub.SyncPartDone(flags.checkpoint_id))

    def _output_over(self, checkpoint: int) -> None:
        """Post the end of the output timer: barriers still queued overtake."""
        self.task.post(lambda: self.step(sub.OutputTimerFired(checkpoint)))

    def _time_out(self, checkpoint: int) -> None:
        task = self.task
        for link in task.links_out:
            if link.queue.time_out(checkpoint):
                task.attempt.goal("timed_out_in_output")
        task.drain_outbox()
        for link in task.links_out:
            link.pump()

    # --- in-flight records ---

    def carry_out_network(self, effects: Sequence[NetworkEffect]) -> None:
        """Carry out what channels and subpartitions ask for."""
        task = self.task
        for effect in effects:
            match effect:
                case PersistInput(channel, checkpoint, buffers):
                    link = task.inputs[channel]
                    elements = cast("tuple[Element, ...]", buffers)
                    link.account.input_persisted(checkpoint, elements)
                    kept = self.parts_of(checkpoint).input_state
                    self._keep(kept, link.spec.index, checkpoint, elements)
                case ResumeSender(channel):
                    task.inputs[channel].resume()
                case PersistOutput(output, checkpoint, buffers):
                    self._keep_output(output, checkpoint, cast("tuple[Element, ...]", buffers))
                case OutputStateOpened(output, checkpoint):
                    task.links_out[output].account.opened(checkpoint)
                case OutputStateKnown(output, checkpoint, buffers):
                    task.links_out[output].account.settled(checkpoint)
                    if buffers:
                        self._keep_output(output, checkpoint, cast("tuple[Element, ...]", buffers))
                    self.step(sub.OutputSettled(checkpoint))
                case OutputStateFailed(output, checkpoint):
                    task.links_out[output].account.settled(checkpoint)
                    self.step(sub.OutputSettled(checkpoint, failed=True))
                case _:
                    assert_never(effect)

    def _keep_output(self, output: int, checkpoint: int, elements: tuple[Element, ...]) -> None:
        link = self.task.links_out[output]
        link.account.persisted(checkpoint, elements)
        kept = self.parts_of(checkpoint).output_state
        self._keep(kept, link.spec.index, checkpoint, elements)

    def _keep(
        self,
        kept: dict[int, list[Element]],
        link: int,
        checkpoint: int,
        elements: tuple[Element, ...],
    ) -> None:
        kept.setdefault(link, []).extend(elements)
        self._write(wr.DataAdded(self.task.spec.subtask, checkpoint, len(elements)))

    def _keep_recovered(self, parts: Parts, link: Link, checkpoint: int) -> None:
        kept = parts.input_state.setdefault(link.spec.index, [])
        kept[:0] = link.recovered
        if self._barrier is not None and self._barrier.is_unaligned:
            added = wr.DataAdded(self.task.spec.subtask, checkpoint, len(link.recovered))
            self._write(added)

    # --- the asynchronous part ---

    def _start_async(self, checkpoint: int) -> None:
        attempt = self.task.attempt
        costs = attempt.job.costs
        delay_ns = attempt.job.snapshot_sync_ns(self.task.spec.vertex) + costs.snapshot_async_ns
        delay_ns += attempt.jitter("snapshot", costs.snapshot_jitter_ns)
        delay_ns += attempt.faults.delay_ns(SlowFile, self.task, checkpoint)
        self._writes[checkpoint] = attempt.timer_in(
            delay_ns, Kind.SNAPSHOT, self.task.entity, self._written, checkpoint
        )

    def _written(self, checkpoint: int) -> None:
        del self._writes[checkpoint]
        fails = self.task.attempt.faults.strikes(FailSnapshot, self.task, checkpoint)
        self.step(sub.AsyncPartFailed(checkpoint) if fails else sub.AsyncPartDone(checkpoint))

    def _acknowledge(self, checkpoint: int, *, unaligned: bool) -> None:
        task, parts = self.task, self.parts_of(checkpoint)
        parts.unaligned = unaligned
        task.attempt.acknowledge(task, checkpoint, self._whole(checkpoint, parts), parts)
        for number in [n for n in self.parts if n < checkpoint - REMEMBERED]:
            del self.parts[number]

    def _whole(self, checkpoint: int, parts: Parts) -> TaskSnapshot:
        """Return the snapshot with the in-flight records that are really there."""
        if parts.snapshot is None:
            raise AssertionError("a checkpoint is acknowledged that has no snapshot")
        if self.task.attempt.files[self.task.spec.index].is_lost(checkpoint):
            return parts.snapshot
        return replace(
            parts.snapshot,
            input_state={index: tuple(kept) for index, kept in parts.input_state.items()},
            output_state={index: tuple(kept) for index, kept in parts.output_state.items()},
        )

    @property
    def _now(self) -> int:
        return self.task.env.now
