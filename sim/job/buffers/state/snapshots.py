"""What a task's part in a checkpoint is made of: its state, and buffers in flight.

The thread needs a core's time before it sends the barrier on (`barrier_cost_ns`), and does nothing
else for the synchronous part after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ckptsim.models.barriers.barrier import Barrier
from ckptsim.scenarios.job import SavepointFormat
from ckptsim.scenarios.job.faults import CrashAtCheckpoint, FailSnapshot, SlowFile
from ckptsim.sim.job.buffers.output import Slice
from ckptsim.sim.job.buffers.state.identities import Cut
from ckptsim.sim.job.buffers.state.output_log import OutputLog
from ckptsim.sim.job.buffers.state.recovery import BUFFER_HEADER_BYTES, BufferSnapshot, Span
from ckptsim.sim.job.buffers.tasks import Source
from ckptsim.sim.job.control.checkpoint import PartFigures
from ckptsim.sim.job.events import of_job, of_tasks

if TYPE_CHECKING:
    from ckptsim.models.barriers.barrier import Barrier
    from ckptsim.models.barriers.channels import Buffers
    from ckptsim.models.barriers.reason import FailureReason
    from ckptsim.models.lifecycle.effects import TakeSnapshot
    from ckptsim.sim.job.buffers.state.keyed_state import KeyedState, StateFiles
    from ckptsim.sim.job.buffers.state.storage import Moves
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.port import FileStored


@dataclass(slots=True, kw_only=True)
class SubtaskSnapshot(PartFigures):
    """One task's part in one checkpoint.

    overtaken: buffers in flight that have become state.  input_spans, output_spans: buffers in
    flight, by channel and subpartition.  snapshot: what a restart begins from, None before it is
    taken.  files, uploaded: of its keyed state, all that are live and those that are new.
    before: bytes of the state that were uploaded before the checkpoint.
    cut: where it cuts the records of the channels, where records have identities.
    """

    barrier: Barrier
    input_bytes: int = 0
    output_bytes: int = 0
    overtaken: int = 0
    files: StateFiles | None = None
    uploaded: tuple[int, ...] = ()
    before: int = 0
    input_spans: dict[int, list[Span]] = field(default_factory=dict)
    output_spans: dict[int, list[Span]] = field(default_factory=dict)
    snapshot: BufferSnapshot | None = None
    cut: Cut | None = None

    @property
    def state_bytes(self) -> int:
        """How many bytes of state are uploaded for the part."""
        return sum(self.uploaded) + self.before

    @property
    def full_bytes(self) -> int:
        """How many bytes the state has, also in files of older checkpoints."""
        return 0 if self.files is None else sum(self.files.sizes)

    @property
    def persisted_bytes(self) -> int:
        """How many bytes of in-flight data the part holds."""
        return self.input_bytes + self.output_bytes


# How many buffers are many, for the goal of that name.
_MANY = 10


class Snapshots:
    """The parts of one task in the checkpoints of a run.

    state: its keyed state. sync_ns: how long copying it keeps the thread.  log: of its outputs,
    where all is logged: then checkpoints know the data in flight, and do not write it.
    """

    def __init__(self, task: Task, *, state: KeyedState, sync_ns: int) -> None:
        self.parts: dict[int, SubtaskSnapshot] = {}
        self._task = task
        self._world = task.world
        self._env = task.env
        self.state = state
        self._sync_ns = sync_ns
        self._uploads: dict[int, Moves] = {}
        self.log: OutputLog | None = None
        self._is_logged = task.world.model.channel_state.is_logged
        if self._is_logged and task.writers:
            self.log = OutputLog(task)
            for writer in task.writers:
                writer.log = self.log
        self._logged_before = 0

    def part_of(self, barrier: Barrier) -> SubtaskSnapshot:
        """Return the task's part in a checkpoint. It is new at the first call."""
        part = self.parts.get(barrier.checkpoint)
        if part is None:
            part = self.parts[barrier.checkpoint] = SubtaskSnapshot(barrier=barrier)
        return part

    def aligned(self, checkpoint: int, duration_ns: int, size: int) -> None:
        """Take the figures of an alignment."""
        self._env.trace.record("aligned", self._task.entity, checkpoint, duration_ns, size)
        part = self.parts.get(checkpoint)
        if part is not None:
            part.alignment_ns = duration_ns
            part.processed_bytes = size

    # Buffers in flight ------------------------------------------------------------------------

    def keep_partial_records(self, checkpoint: int) -> Iterable[int]:
        """Keep the rest of the data read in part: it lies before everything queued."""
        task, sizes = self._task, []
        for channel in task.channels:
            unread = task.unread_bytes(channel)
            if unread:
                # It comes before the queue, which may have been persisted already.
                spans = self.parts[checkpoint].input_spans.setdefault(channel.index, [])
                spans.insert(0, (unread, task.unread_records(channel)))
                sizes.append(self._keep_input(channel.index, checkpoint, unread))
        return () if self._is_logged else sizes

    def keep_recovered(self, _barrier: Barrier) -> Iterable[int]:
        """Keep nothing apart: what a restart has put back lies in the queues like other data."""
        return ()

    def keep_input(self, channel: int, checkpoint: int, buffers: Buffers) -> Iterable[int]:
        """Keep buffers of an input channel."""
        part = self.parts[checkpoint]
        found = [(buffer.bytes, buffer.records) for buffer in buffers if isinstance(buffer, Slice)]
        part.overtaken += len(found)
        part.input_spans.setdefault(channel, []).extend(found)
        sizes = [self._keep_input(channel, checkpoint, size) for size, _ in found]
        return () if self._is_logged else sizes

    def _keep_input(self, channel: int, checkpoint: int, size: int) -> int:
        size += BUFFER_HEADER_BYTES
        self.parts[checkpoint].input_bytes += size * (not self._is_logged)
        return size

    def keep_output(self, output: int, checkpoint: int, buffers: Buffers) -> Iterable[int]:
        """Keep the unsent part of buffers of a subpartition."""
        part, sender = self.parts[checkpoint], self._task.subpartitions[output]
        part.unaligned = True
        sizes = []
        spans = part.output_spans.setdefault(output, [])
        for unsent, records in sender.unsent(buffers):
            spans.append((unsent, records))
            size = unsent + BUFFER_HEADER_BYTES
            part.output_bytes += size * (not self._is_logged)
            part.overtaken += 1
            sizes.append(size)
        return () if self._is_logged else sizes

    def barrier_sent(self, checkpoint: int) -> None:
        """Note how many buffers the barrier has overtaken."""
        task = self._task
        if not task.subpartitions:
            return
        overtaken = self.parts[checkpoint].overtaken
        self._env.trace.record("sent_barrier", task.entity, checkpoint, overtaken)
        if overtaken:
            self._env.goals.reach("overtook_buffers")
        if overtaken >= _MANY:
            self._env.goals.reach("overtook_ten_buffers")

    # The state --------------------------------------------------------------------------------

    def capture(self, flags: TakeSnapshot, captured: Callable[[int], None]) -> None:
        """Copy the state. The thread does nothing else meanwhile."""
        checkpoint = flags.checkpoint_id
        task, part = self._task, self.parts[checkpoint]
        part.operators_finished = flags.operators_finished
        part.snapshot_ns = self._env.now
        if task.lateness is not None:
            task.lateness.snapshot(task, checkpoint)
        request = self._world.coordinator.records[checkpoint].request
        canonical = self._world.model.state.savepoint_format is SavepointFormat.CANONICAL
        if request.savepoint and canonical and self.state.is_on_disk:
            captured_state = self.state.capture_whole()
        else:
            captured_state = self.state.capture(task.processed, self._env.now)
        part.files, part.uploaded = captured_state.files, captured_state.uploaded
        part.before = captured_state.before
        part.snapshot = BufferSnapshot(
            processed=task.processed,
            splits=task.held_splits if isinstance(task, Source) else {},
            exhausted=isinstance(task, Source) and task.is_exhausted,
            input_spans=part.input_spans,
            output_spans=part.output_spans,
            files=part.files,
            transactions=None if task.sink is None else task.sink.state,
            records=() if task.records is None else tuple(task.records.state),
            log={} if self.log is None else self.log.objects(),
        )
        if task.records is not None:
            part.cut = task.records.cut()
        self._env.trace.record(
            "snapshot", task.entity, checkpoint, task.processed, part.start_delay_ns, part.unaligned
        )
        if self._world.faults.strikes_once(CrashAtCheckpoint, task, checkpoint):
            self._world.control.fail(f"{task.name}/{task.subtask} crashes")
        if captured_state.flush_ns:
            thread = self._world.flushers[task.spec.task_manager]
            work_ns = captured_state.flush_ns + self._sync_ns
            task.pause(work_ns, self._copied, part, captured, cores=thread)
        elif self._sync_ns:
            task.stand_still(self._sync_ns, self._copied, part, captured)
        else:
            self._copied(part, captured)

    def _copied(self, part: SubtaskSnapshot, captured: Callable[[int], None]) -> None:
        if part.snapshot_ns is not None:
            part.sync_ns = self._env.now - part.snapshot_ns
        captured(part.barrier.checkpoint)

    def store(self, checkpoint: int, stored: FileStored) -> None:
        """Write the state. Small state travels in the acknowledgement."""
        storage, faults = self._world.storage, self._world.faults
        if self.log is not None:
            self.parts[checkpoint].output_bytes = self.log.size - self._logged_before
            self._logged_before = self.log.size
            stored = self.log.before(stored)
        uploaded = self.parts[checkpoint].uploaded
        sizes = [size for size in uploaded if not storage.is_inline(size)]
        fails = faults.strikes(FailSnapshot, self._task, checkpoint)
        if not sizes:
            self._uploaded(checkpoint, stored, failed=fails)
            return
        for size in sizes:
            self._world.coordinator.note_file(checkpoint, size)

        def begin() -> None:
            self._world.events.emit(of_tasks.StateFileBegun(self._task, checkpoint))
            self._uploads[checkpoint] = storage.save(
                sizes,
                storage.sst if self.state.is_on_disk else storage.state,
                self._uploaded,
                checkpoint,
                stored,
                host=self._task.spec.task_manager,
                threads=self._world.model.storage.transfer_threads,
                late_ns=faults.delay_ns(SlowFile, self._task, checkpoint),
                fails=fails,
                checkpoint=checkpoint,
            )

        # One thread finishes the snapshots of a chain, operator by operator.  The last one's has
        # the outputs' channel state in it, which it waits for before it writes the first one's.
        # Their order is the one of a hash map. The last one comes first here (an assumption: it did
        # in all five jobs that were looked at, and does in 10 of 16 pairs of random hashes).
        # Source: Apache Flink 1.20.3, AsyncCheckpointRunnable and OperatorSnapshotFinalizer.
        # measured: state of 1.5 MB after a file of 0.58 MB at 2 MB/s took 1.06 s, not 0.76 s.
        barrier, task = self.parts[checkpoint].barrier, self._task
        if task.spec.vertex.chain > 1 and (barrier.is_unaligned or barrier.is_timeoutable):
            task.file.when_written(task.number, checkpoint, begin)
        else:
            begin()

    def wait_no_longer(self, checkpoint: int) -> None:
        """End nothing: no write waits for other tasks."""

    def drop_all(self) -> None:
        """Stop writing whatever is being written."""
        for checkpoint in list(self._uploads):
            self.drop(checkpoint)
        if self.log is not None:
            self.log.halt()
        self._task.file.forget_all(self._task.number)

    def drop(self, checkpoint: int) -> None:
        """Stop writing the state."""
        self._task.file.forget(self._task.number, checkpoint)
        if self.log is not None:
            self.log.drop(checkpoint)
        upload = self._uploads.pop(checkpoint, None)
        if upload is not None:
            upload.cancel()
            self.state.again(self.parts[checkpoint].uploaded)

    def _uploaded(self, checkpoint: int, stored: FileStored, *, failed: bool) -> None:
        self._uploads.pop(checkpoint, None)
        if failed:
            self._env.goals.reach("state_failed")
        stored(checkpoint, failed=failed)

    # Reports to the coordinator --------------------------------------------------------------

    def acknowledge(self, checkpoint: int, size: int, *, unaligned: bool) -> None:
        """Send the acknowledgement."""
        task, part = self._task, self.parts[checkpoint]
        self._world.events.emit(of_job.PartReported(task, checkpoint, size, unaligned))
        part.unaligned, part.acknowledged_ns = unaligned, self._env.now
        if part.snapshot is not None and part.cut is not None and task.records is not None:
            # Only now everything is there that arrived before the barriers.
            part.snapshot = replace(
                part.snapshot,
                input_records=task.records.held_at_inputs(part.cut, part.input_spans),
                output_records=task.records.held_at_outputs(part.cut, part.output_spans),
            )
        self._world.coordinator.acknowledge(task, checkpoint, part)

    def decline(self, checkpoint: int, reason: FailureReason) -> None:
        """Tell the coordinator that the task takes no part."""
        self._world.coordinator.decline(self._task, checkpoint, reason)
