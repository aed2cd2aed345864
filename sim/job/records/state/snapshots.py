"""What a task's part in a checkpoint is made of: its state, and records in flight."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from ckptsim.models.barriers import Barrier
from ckptsim.models.barriers.channels import Buffers
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.lifecycle.effects import TakeSnapshot
from ckptsim.models.recovery.persistence import LogPosition
from ckptsim.scenarios.job import Persistence
from ckptsim.scenarios.job.faults import FailSnapshot, SlowFile
from ckptsim.sim.job.events import of_job
from ckptsim.sim.job.records.kinds import Kind
from ckptsim.sim.job.records.state.logs import OutputLogs, tell_senders
from ckptsim.sim.job.records.state.snapshot import REMEMBERED, Element, Parts, TaskSnapshot
from ckptsim.sim.kernel import Timer

if TYPE_CHECKING:
    from ckptsim.sim.job.port import FileStored
    from ckptsim.sim.job.records.tasks import Task


class Snapshots:
    """The parts of one task in the checkpoints under way. A record counts as one byte.

    logs: of its outputs, where spilling is continuous.  Nothing in flight is in the part then.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.parts: dict[int, Parts] = {}
        self.logs: OutputLogs = OutputLogs(task)
        self._spilled = task.attempt.world.spilled
        self._is_logged = task.attempt.job.channel_state.is_logged
        self._writes: dict[int, Timer] = {}

    def part_of(self, barrier: Barrier) -> Parts:
        """Return the gathered parts for a checkpoint."""
        return self.parts.setdefault(barrier.checkpoint, Parts())

    def aligned(self, checkpoint: int, duration_ns: int, size: int) -> None:
        """Take the figures of an alignment."""
        parts = self.parts.get(checkpoint)
        if parts is not None:
            parts.alignment_ns, parts.processed_bytes = duration_ns, size

    # --- records in flight ---

    def keep_partial_records(self, checkpoint: int) -> Iterable[int]:
        """Keep the data read of records that are not whole: it lies before everything."""
        sizes = []
        for channel in () if self._is_logged else self.task.inputs:
            unread = channel.partial
            if unread:
                kept = self.parts[checkpoint].input_state.setdefault(channel.spec.index, [])
                kept[:0] = unread
                sizes.append(len(unread))
        self._spilled.written += sum(sizes)
        return sizes

    def keep_recovered(self, barrier: Barrier) -> Iterable[int]:
        """Keep restored records that were not taken yet: they lie before everything."""
        sizes = []
        for channel in () if self._is_logged else self.task.inputs:
            if channel.recovered:
                kept = self.parts[barrier.checkpoint].input_state.setdefault(channel.spec.index, [])
                unread = channel.partial  # an unaligned checkpoint has kept it already
                behind = len(unread) if barrier.is_unaligned else 0
                kept[behind:behind] = [*([] if behind else unread), *channel.recovered]
                sizes.append(len(channel.recovered))
        self._spilled.written += sum(sizes)
        return sizes if barrier.is_unaligned else ()

    def keep_input(self, channel: int, checkpoint: int, buffers: Buffers) -> Iterable[int]:
        """Keep records of an input channel."""
        if self._is_logged:
            return ()
        source, elements = self.task.inputs[channel], cast("tuple[Element, ...]", buffers)
        kept = self.parts.setdefault(checkpoint, Parts()).input_state
        kept.setdefault(source.spec.index, []).extend(elements)
        self._spilled.written += len(elements)
        return (len(elements),)

    def keep_output(self, output: int, checkpoint: int, buffers: Buffers) -> Iterable[int]:
        """Keep records of a subpartition."""
        if self._is_logged:
            return ()
        channel, elements = self.task.output_channels[output], cast("tuple[Element, ...]", buffers)
        kept = self.parts.setdefault(checkpoint, Parts()).output_state
        kept.setdefault(channel.spec.index, []).extend(elements)
        self._spilled.written += len(elements)
        return (len(elements),)

    def barrier_sent(self, checkpoint: int) -> None:
        """Note nothing: what a barrier has overtaken is counted by channel."""

    # --- the state ---

    def capture(self, flags: TakeSnapshot, captured: Callable[[int], None]) -> None:
        """Take the task's state now. The rest of the checkpoint gathers around it."""
        task = self.task
        parts = self.parts[flags.checkpoint_id]
        parts.operators_finished = flags.operators_finished
        parts.snapshot_ns = task.env.now
        parts.sync_ns = task.attempt.job.snapshot_sync_ns(task.spec.vertex)
        parts.snapshot = TaskSnapshot(
            splits=task.held_splits,
            exhausted=task.exhausted,
            state=tuple(task.state),
            transactions=task.sink.state if task.sink is not None else None,
            input_state={},
            output_state={},
            consumed={channel.spec.index: channel.consumed for channel in task.inputs},
            emitted={channel.spec.index: channel.emitted for channel in task.output_channels},
            read={channel.spec.index: channel.read for channel in task.inputs},
            logs=self.logs.captured(flags.checkpoint_id),
            identity=task.identity,
            position_in_log=self._position(flags.checkpoint_id),
        )
        tell_senders(task, flags.checkpoint_id)
        task.occupy(parts.sync_ns)
        captured(flags.checkpoint_id)

    def _position(self, checkpoint: int) -> LogPosition | None:
        """Return where in a log service in-flight data is kept, if one keeps it."""
        if self.task.attempt.job.channel_state.persistence is not Persistence.LOG_SERVICE:
            return None
        return LogPosition(self.task.attempt.world.log_service, checkpoint)

    def store(self, checkpoint: int, stored: FileStored) -> None:
        """Write the state. It takes the rest of the time of a snapshot."""
        attempt = self.task.attempt
        costs = attempt.job.costs
        delay_ns = attempt.job.snapshot_sync_ns(self.task.spec.vertex)
        delay_ns += attempt.faults.slowed_ns(attempt.env.now, costs.snapshot_async_ns)
        delay_ns += attempt.jitter("snapshot", costs.snapshot_jitter_ns)
        delay_ns += attempt.faults.delay_ns(SlowFile, self.task, checkpoint)
        delay_ns = max(delay_ns, self.logs.written_in_ns())
        self._writes[checkpoint] = attempt.timer_in(
            delay_ns, Kind.SNAPSHOT, self.task.entity, self._written, checkpoint, stored
        )

    def drop(self, checkpoint: int) -> None:
        """Stop writing the state."""
        self.logs.drop(checkpoint)
        running = self._writes.pop(checkpoint, None)
        if running is not None:
            running.cancel()

    def wait_no_longer(self, checkpoint: int) -> None:
        """End the writes of aborted checkpoints that wait for other tasks."""
        self.logs.wait_no_longer(checkpoint)

    def drop_all(self) -> None:
        """Stop writing whatever is being written."""
        for checkpoint in list(self._writes):
            self.drop(checkpoint)

    def _written(self, checkpoint: int, stored: FileStored) -> None:
        del self._writes[checkpoint]
        attempt = self.task.attempt
        fails = attempt.faults.strikes(FailSnapshot, self.task, checkpoint) or attempt.file_breaks()
        self.logs.when_told(checkpoint, partial(stored, checkpoint, failed=fails))

    def completed(self, checkpoint: int) -> None:
        """Note that a checkpoint is complete. A savepoint, as its barrier says, subsumes none."""
        world = self.task.attempt.world
        record = world.coordinator.records.get(checkpoint)
        if record is None or not record.request.savepoint:
            world.log_service.completed(checkpoint)
        world.events.emit(of_job.LogServiceCut(world.log_service.cut))
        self.logs.completed(checkpoint)

    # --- what the coordinator learns ---

    def acknowledge(self, checkpoint: int, size: int, *, unaligned: bool) -> None:
        """Send the whole part to the coordinator."""
        task, parts = self.task, self.parts[checkpoint]
        if task.killed:
            return
        task.tell(of_job.PartReported(task, checkpoint, size, unaligned))
        parts.unaligned, parts.acknowledged_ns = unaligned, task.env.now
        task.attempt.acknowledge(task, checkpoint, self._whole(checkpoint, parts), parts)
        for number in [n for n in self.parts if n < checkpoint - REMEMBERED]:
            del self.parts[number]

    def decline(self, checkpoint: int, reason: FailureReason) -> None:
        """Tell the coordinator that the task takes no part."""
        if not self.task.killed:
            self.task.attempt.decline(self.task, checkpoint, reason)

    def _whole(self, checkpoint: int, parts: Parts) -> TaskSnapshot:
        """Return the snapshot with the in-flight records that are really there."""
        if parts.snapshot is None:
            raise AssertionError("a checkpoint is acknowledged that has no snapshot")
        if self.task.attempt.files[self.task.spec.index].is_lost(checkpoint):
            return parts.snapshot
        kept = len(parts.input_state) + len(parts.output_state) + len(parts.snapshot.logs)
        self._spilled.handles += min(1, kept) if parts.snapshot.position_in_log else kept
        told = self.logs.offsets(checkpoint)
        return replace(
            parts.snapshot,
            logs={
                index: replace(kept, read=told.get(index))
                for index, kept in parts.snapshot.logs.items()
            },
            input_state={index: tuple(kept) for index, kept in parts.input_state.items()},
            output_state={index: tuple(kept) for index, kept in parts.output_state.items()},
        )
