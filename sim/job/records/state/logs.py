"""The logs of a task's outputs where spilling is continuous, and their offsets.

All that is put into a channel is logged at once, by a writer of the task that writes one buffer at
a time. A checkpoint holds the place of its barrier, and is whole when the writer has come there.
Where receivers tell their offsets at the snapshot, it is whole when all of them have: a message
that is lost is not sent again, and keeps the checkpoint from ever being whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ckptsim.models.recovery.persistence import ChannelLog, LogSlice, first_needed
from ckptsim.scenarios.job import BufferSizes, ReplayFrom
from ckptsim.sim.job.events import of_tasks
from ckptsim.sim.job.records.kinds import Kind

if TYPE_CHECKING:
    from ckptsim.sim.job.records.channel import Channel
    from ckptsim.sim.job.records.state.snapshot import Item
    from ckptsim.sim.job.records.tasks import Task

# Bytes of a full buffer. Only ratios to it matter.  Assumption: divides well.
BUFFER_BYTES = 32
_LEAST_BYTES = 4
_SHRINKS_AFTER = 8  # buffers of a channel, each time to a half


class OutputLogs:
    """Logs what one task puts into its channels. Channels by their indices.

    buffers_logged: how many in all.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._table = task.attempt.job.channel_state
        self._logs: dict[int, ChannelLog[Item]] = {}
        self._written_ns = 0  # until when the writer has work
        self._sent: dict[int, dict[int, int]] = {}  # checkpoint -> channel -> had left by then
        self._sent_before: dict[int, int] = {}  # the same of the checkpoint completed last
        self._told: dict[int, dict[int, int]] = {}  # checkpoint -> channel -> read by its receiver
        self._waiting: dict[int, Callable[[], None]] = {}

    @property
    def is_told_at_snapshot(self) -> bool:
        """Return whether receivers tell how far their state has read while they snapshot."""
        return self._table.is_logged and self._table.replay_from is ReplayFrom.TOLD_AT_SNAPSHOT

    def append(self, channel: Channel, item: Item) -> None:
        """Log a buffer that is put into a channel."""
        task = self._task
        task.attempt.world.spilled.sent += 1
        if not self._table.is_logged:
            return
        log = self._logs.setdefault(channel.spec.index, ChannelLog())
        log.append(item, self._size(log))
        task.attempt.world.spilled.written += 1
        self._written_ns = max(self._written_ns, task.env.now) + self._table.write_record_ns

    def _size(self, log: ChannelLog[Item]) -> int:
        """Return the bytes of the next buffer."""
        match self._task.attempt.job.channels.buffer_sizes:
            case BufferSizes.CONSTANT:
                return BUFFER_BYTES
            case BufferSizes.FLUSHED:
                stream = self._task.env.stream("flushed buffers")
                is_full = not stream.chance(0.5)
                return BUFFER_BYTES if is_full else stream.integer(_LEAST_BYTES, BUFFER_BYTES)
            case BufferSizes.DEBLOATED:
                return max(_LEAST_BYTES, BUFFER_BYTES >> log.count // _SHRINKS_AFTER)

    # A checkpoint -----------------------------------------------------------------------------

    def captured(self, checkpoint: int) -> dict[int, LogSlice[Item]]:
        """Return the part of the logs in a checkpoint right after its barrier."""
        if not self._table.is_logged:
            return {}
        channels = self._task.output_channels
        self._sent[checkpoint] = {
            one.spec.index: one.emitted - one.subpartition.data_count for one in channels
        }
        if self.is_told_at_snapshot:
            for one in channels:
                opened = of_tasks.OutputOpened(self._task, one.spec.output, checkpoint)
                self._task.tell(opened)
            for index in self._told.get(checkpoint, {}):
                self._settled(index, checkpoint)
        return {
            one.spec.index: self._logs[one.spec.index].up_to(one.emitted)
            for one in channels
            if one.spec.index in self._logs
        }

    def written_in_ns(self) -> int:
        """Return after which time all that is logged by now is written."""
        return max(0, self._written_ns - self._task.env.now)

    def when_told(self, checkpoint: int, call: Callable[[], None]) -> None:
        """Call back when all receivers have told how far they have read, or at once."""
        if self._is_told(checkpoint):
            call()
        else:
            self._waiting[checkpoint] = call

    def wait_no_longer(self, checkpoint: int) -> None:
        """Call back for what waits for receivers, up to a checkpoint that was aborted."""
        for number in [one for one in self._waiting if one <= checkpoint]:
            call = self._waiting[number]
            self.drop(number)
            call()

    def drop(self, checkpoint: int) -> None:
        """Wait for no one any more: the checkpoint was aborted."""
        self._waiting.pop(checkpoint, None)
        if self.is_told_at_snapshot:
            for one in self._task.output_channels:
                self._tell_settled(one.spec.output, checkpoint)

    def told(self, channel: int, checkpoint: int, read: int) -> None:
        """Take a receiver's message that its state has read so many buffers of a channel."""
        self._told.setdefault(checkpoint, {})[channel] = read
        if checkpoint in self._sent:
            self._settled(channel, checkpoint)
        if self._is_told(checkpoint) and checkpoint in self._waiting:
            self._waiting.pop(checkpoint)()

    def offsets(self, checkpoint: int) -> dict[int, int]:
        """Return what receivers have told, by channel."""
        return self._told.get(checkpoint, {})

    def _settled(self, channel: int, checkpoint: int) -> None:
        self._tell_settled(self._task.attempt.channels[channel].spec.output, checkpoint)

    def _tell_settled(self, output: int, checkpoint: int) -> None:
        self._task.tell(of_tasks.OutputSettled(self._task, output, checkpoint))

    def _is_told(self, checkpoint: int) -> bool:
        if not self.is_told_at_snapshot:
            return True
        told = self._told.get(checkpoint, {})
        return all(
            one.spec.index in told or one.receiver.gone for one in self._task.output_channels
        )

    def completed(self, checkpoint: int) -> None:
        """Cut the logs: of what a complete checkpoint cannot need nothing is kept."""
        sent = self._sent.get(checkpoint)
        if sent is None:
            return
        told = self._told.get(checkpoint, {})
        channels = self._task.attempt.job.channels
        credit = channels.receiver_records + channels.record_buffers - 1
        for index, log in self._logs.items():
            before = self._sent_before.get(index, 0)
            first = first_needed(sent_before=before, credit=credit, read=told.get(index))
            log.truncate(first)
            self._task.attempt.channels[index].account.log_cut(first, checkpoint)
        self._sent_before = sent
        for one in [number for number in self._sent if number <= checkpoint]:
            del self._sent[one]
        for one in [number for number in self._told if number <= checkpoint]:
            del self._told[one]


def tell_senders(task: Task, checkpoint: int) -> None:
    """Let the senders of a task know how far its snapshot has read, where that is their way."""
    attempt = task.attempt
    ratio = attempt.job.channel_state.offset_loss_ratio
    for channel in task.inputs:
        logs = channel.sender.snapshots.logs
        if not logs.is_told_at_snapshot:
            continue
        if ratio and attempt.env.stream("lost offsets").chance(ratio):
            attempt.goal("offset_lost")
            continue
        arguments = channel.spec.index, checkpoint, channel.read
        latency_ns = attempt.job.channels.latency_ns
        attempt.later(latency_ns, Kind.MESSAGE, channel.entity, logs.told, *arguments)
