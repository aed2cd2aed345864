"""One task's part in each checkpoint: barrier, channel state, upload, acknowledgement.

A snapshot is taken between two records: first the barrier goes to all outputs, then the state is
copied, and the rest happens while records are processed.  A part is acknowledged when the state is
written, all barriers have come (unaligned), every output knows what it has to add (timeoutable),
and channel state is written.

Source: Apache Flink 1.20.3, SubtaskCheckpointCoordinatorImpl.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, assert_never

from models.barriers.barrier import Barrier, CancellationMarker, OptionKind
from models.barriers.network import (
    Buffers,
    OutputStateFailed,
    OutputStateKnown,
    OutputStateOpened,
    PersistInput,
    PersistOutput,
    ResumeSender,
)
from sim.dataflow.kinds import Kind
from sim.dataflow.segment import Slice

if TYPE_CHECKING:
    from models.barriers.network import NetworkEffect
    from models.barriers.reason import FailureReason
    from sim.dataflow.task import Task
    from sim.kernel import Timer

BUFFER_HEADER_BYTES = 4
"""Length in front of each buffer in a channel-state file.

Source: Apache Flink 1.20.3, ChannelStateSerializerImpl; measured sizes have it.
"""

# Kinds of checkpoints for which every task opens a writer of channel state, used or not.
_WITH_WRITER = (OptionKind.TIMEOUTABLE, OptionKind.UNALIGNED)


@dataclass(slots=True)
class Part:
    """What one task does for one checkpoint; times in ns since the start of the run."""

    barrier: Barrier
    triggered_ns: int | None = None
    start_delay_ns: int = 0
    alignment_ns: int = 0
    processed_bytes: int = 0
    input_bytes: int = 0
    output_bytes: int = 0
    overtaken: int = 0
    sync_ns: int = 0
    state_bytes: int = 0
    input_open: bool = False
    outputs_open: int = 0
    uploads_open: int = 0
    given: bool = False
    unaligned: bool = False
    aborted: bool = False
    acknowledged_ns: int | None = None

    @property
    def persisted_bytes(self) -> int:
        """How many bytes of in-flight data the part holds."""
        return self.input_bytes + self.output_bytes


class Snapshots:
    """Takes the checkpoints of one task."""

    def __init__(self, task: Task, *, state_bytes: int) -> None:
        self.parts: dict[int, Part] = {}
        self._task = task
        self._world = task.world
        self._env = task.env
        self._state_bytes = state_bytes
        self._output_timer: Timer | None = None
        self._output_checkpoint = -1

    # The network's effects --------------------------------------------------------------------

    def take_outbox(self) -> None:
        """Carry out what channels and outlets have asked for."""
        outbox = self._task.outbox
        while outbox:
            self._carry_out(outbox.pop(0))

    def _carry_out(self, effect: NetworkEffect) -> None:
        match effect:
            case PersistInput(_, checkpoint, buffers):
                self._persist_input(checkpoint, buffers)
            case PersistOutput(index, checkpoint, buffers):
                self._persist_output(index, checkpoint, buffers)
            case OutputStateOpened(_, checkpoint):
                self.parts[checkpoint].outputs_open += 1
            case OutputStateKnown(index, checkpoint, buffers):
                if buffers:
                    self._persist_output(index, checkpoint, buffers)
                    self._env.goals.reach("timed_out_in_output")
                self._output_known(checkpoint)
            case OutputStateFailed(_, checkpoint):
                self._output_known(checkpoint)
            case ResumeSender(index):
                self._task.channels[index].resume()
            case _:
                assert_never(effect)

    def _persist_input(self, checkpoint: int, buffers: Buffers) -> None:
        part = self.parts.get(checkpoint)
        if part is None:
            return
        for buffer in buffers:
            if isinstance(buffer, Slice):
                part.input_bytes += buffer.bytes + BUFFER_HEADER_BYTES
                part.overtaken += 1

    def _persist_output(self, outlet: int, checkpoint: int, buffers: Buffers) -> None:
        part = self.parts[checkpoint]
        for size in self._task.outlets[outlet].unsent(buffers):
            part.output_bytes += size + BUFFER_HEADER_BYTES
            part.overtaken += 1
        part.unaligned = True

    def _output_known(self, checkpoint: int) -> None:
        part = self.parts[checkpoint]
        part.outputs_open -= 1
        if not part.outputs_open:
            entity = self._task.entity
            self._env.call_at(self._env.now, Kind.STORAGE, entity, self._progress, part)

    # The handler's effects --------------------------------------------------------------------

    def initialize(self, barrier: Barrier) -> None:
        """Open the channel state of a checkpoint: what has been read in part comes first."""
        part = self._part(barrier)
        if not barrier.is_unaligned:
            return
        part.input_open = True
        part.unaligned = True
        for channel in self._task.channels:
            unread = self._task.unread_bytes(channel)
            if unread:
                part.input_bytes += unread + BUFFER_HEADER_BYTES

    def triggered(self, barrier: Barrier, start_delay_ns: int) -> None:
        """Take the snapshot now."""
        barrier = barrier.unforced()
        part = self._part(barrier)
        part.start_delay_ns = start_delay_ns
        self._task.pause(self._world.constants.barrier_cost_ns, self._task.ending.perform, barrier)

    def aligned(self, checkpoint: int, duration_ns: int, size: int) -> None:
        """Take the figures of the alignment."""
        part = self.parts.get(checkpoint)
        if part is not None:
            part.alignment_ns = duration_ns
            part.processed_bytes = size

    def input_whole(self, checkpoint: int) -> None:
        """All barriers have come: nothing more is written for the inputs."""
        part = self.parts.get(checkpoint)
        if part is not None and part.input_open:
            part.input_open = False
            self._progress(part)

    def give_up(self, checkpoint: int, reason: FailureReason) -> None:
        """Give a checkpoint up: tell the coordinator, then the tasks below."""
        self.abort(checkpoint)
        self._world.coordination.decline(self._task, checkpoint, reason)
        self.send_cancellation(checkpoint)

    def abort(self, checkpoint: int) -> None:
        """Stop all work for a checkpoint."""
        part = self.parts.get(checkpoint)
        if part is not None:
            part.aborted = True
            part.input_open = False
        if self._output_timer is not None and self._output_checkpoint == checkpoint:
            self._output_timer.cancel()
        for outlet in self._task.outlets:
            outlet.core.abort(checkpoint)
        self.take_outbox()

    # The task's own steps ---------------------------------------------------------------------

    def send_cancellation(self, checkpoint: int) -> None:
        """Tell the tasks below that a barrier will not come."""
        self._close_buffers()
        for outlet in self._task.outlets:
            outlet.add_event(CancellationMarker(checkpoint))

    def send_barrier(self, barrier: Barrier) -> None:
        """Put the barrier into all outputs."""
        part = self._part(barrier)
        for writer in self._task.writers:
            sent = barrier.over_edge(supports_unaligned=writer.supports_unaligned)
            writer.close_all()
            for outlet in writer.outlets:
                outlet.add_event(sent)
                self.take_outbox()
        self._env.trace.record(
            "sent_barrier", self._task.entity, barrier.checkpoint, part.overtaken
        )
        if part.overtaken:
            self._env.goals.reach("overtook_buffers")
        if part.outputs_open:
            self._set_output_timer(barrier)

    def _close_buffers(self) -> None:
        for writer in self._task.writers:
            writer.close_all()

    def _set_output_timer(self, barrier: Barrier) -> None:
        if self._output_timer is not None:
            self._output_timer.cancel()
        due = barrier.timestamp_ns + (barrier.timeout_ns or 0)
        due = max(due, self._env.now) + self._world.constants.timer_extra_ns
        self._output_checkpoint = barrier.checkpoint
        self._output_timer = self._env.call_at(
            due,
            Kind.TIMER,
            self._task.entity,
            self._task.post,
            self._output_timed_out,
            barrier.checkpoint,
        )

    def _output_timed_out(self, checkpoint: int) -> None:
        for outlet in self._task.outlets:
            outlet.time_out(checkpoint)
            self.take_outbox()

    def take(self, checkpoint: int) -> None:
        """Copy the state and write it while records go on."""
        part = self.parts[checkpoint]
        now = self._env.now
        part.triggered_ns = now
        part.state_bytes = self._state_bytes
        self._env.trace.record(
            "snapshot",
            self._task.entity,
            checkpoint,
            self._task.processed,
            part.start_delay_ns,
            part.unaligned,
        )
        if self._state_bytes > self._world.model.storage.inline_threshold_bytes:
            part.uploads_open += 1
            self._world.coordination.note_file(checkpoint, self._state_bytes)
            self._world.storage.save(
                self._state_bytes, self._world.storage.state, self._uploaded, part
            )
        self._progress(part)

    def _part(self, barrier: Barrier) -> Part:
        part = self.parts.get(barrier.checkpoint)
        if part is None:
            part = self.parts[barrier.checkpoint] = Part(barrier)
        return part

    def _uploaded(self, part: Part) -> None:
        part.uploads_open -= 1
        self._progress(part)

    def _progress(self, part: Part) -> None:
        """Go on when nothing is open any more: write channel state, then acknowledge."""
        if part.triggered_ns is None or part.acknowledged_ns is not None or part.aborted:
            return
        if part.input_open or part.outputs_open:
            return
        if not part.given and part.barrier.kind in _WITH_WRITER:
            part.given = True
            part.uploads_open += 1
            self._world.channel_files.give(
                self._task,
                part.barrier.checkpoint,
                part.persisted_bytes,
                partial(self._uploaded, part),
            )
            return
        if not part.uploads_open:
            part.acknowledged_ns = self._env.now
            self._world.coordination.acknowledge(self._task, part)
