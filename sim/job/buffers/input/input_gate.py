"""Input gates: channels with data in turn, and the floating buffers that they share.

A gate hands out one buffer of a channel and puts the channel at the end of the line. A task with
several gates takes the gates in turn in the same way.

Source: Apache Flink 1.20.3, SingleInputGate, UnionInputGate, LocalBufferPool (listeners).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator.debloater import BufferDebloater, DebloatParameters
from ckptsim.sim.job.buffers.input.local_channel import LocalChannel
from ckptsim.sim.job.buffers.input.recovered_channel import RecoveredChannel
from ckptsim.sim.job.buffers.input.remote_channel import RemoteChannel
from ckptsim.sim.job.buffers.kinds import State
from ckptsim.sim.job.buffers.output import Element, Slice

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ckptsim.sim.job.buffers.compiled.channel import CompiledGate
    from ckptsim.sim.job.buffers.tasks import Task

Channel = RemoteChannel | LocalChannel


class InputGate:
    """The channels of one edge that end at one task.

    floating_free: floating buffers that no one has borrowed. lenders: channels that wait for one,
    the longest waiting first.  recovered: channels without restored data left.
    told_apart: they carry restored data of several old channels each.
    ready_ns: since when there has been something to read, if there is.
    taken_bytes: handed to the task since the debloater looked last.
    """

    __slots__ = (
        "channels",
        "debloater",
        "floating_free",
        "index",
        "lenders",
        "listed",
        "ready",
        "ready_ns",
        "recovered",
        "taken_bytes",
        "task",
        "told_apart",
    )

    def __init__(self, task: Task, *, floating: int, debloat: DebloatParameters | None) -> None:
        self.task = task
        self.index = len(task.gates)
        self.channels: list[Channel] = []
        self.ready: deque[Channel] = deque()
        self.ready_ns = 0
        self.listed = False
        self.floating_free = floating
        self.lenders: deque[RemoteChannel] = deque()
        self.debloater = None if debloat is None else BufferDebloater(debloat)
        self.recovered = 0
        self.taken_bytes = 0
        self.told_apart = False
        task.gates.append(self)

    def enqueue_event(self, channel: Channel) -> None:
        """Note that a channel may have an event. What overtakes data wakes the mailbox."""
        if channel.has_priority:
            self.task.priority_arrived(self, channel)
        if channel.has_more:
            self.enqueue(channel)

    def enqueue(self, channel: Channel) -> None:
        """Note that a channel has something to read."""
        if not channel.listed:
            channel.listed = True
            if not self.ready:
                self.ready_ns = self.task.env.now
            self.ready.append(channel)
            self.task.input_arrived(self)

    def poll(self) -> tuple[Channel, Element] | None:
        """Take the next element of the channel in turn, or None."""
        ready = self.ready
        while ready:
            channel = ready.popleft()
            element = channel.take()
            if channel.has_more:
                ready.append(channel)
            else:
                channel.listed = False
            if element is not None:
                return channel, element
        return None

    def channel_recovered(self) -> None:
        """Note that a channel's recovered data has been taken. After the one of all, resume all.

        So no channel gets past its old data before the others do.
        Source: Apache Flink 1.20.3, EndOfChannelStateEvent, UpstreamRecoveryTracker.
        """
        self.recovered += 1
        if self.recovered == len(self.channels):
            for channel in self.channels:
                channel.resume()

    def recover(
        self, consumed: Callable[[], None], freed: Callable[[], None]
    ) -> Sequence[RecoveredChannel]:
        """Let recovered channels stand in the place of the real ones. Return them, in order."""
        found = [RecoveredChannel(one, consumed=consumed, freed=freed) for one in self.channels]
        self.channels[:] = found  # type: ignore[assignment]
        for channel in found:
            self.task.channels[channel.index] = channel  # type: ignore[call-overload]
        return found

    def convert(self) -> None:
        """Let the real channels stand in their places again. Nothing of the others is queued."""
        for place, channel in enumerate(self.channels):
            real = channel.convert()  # type: ignore[union-attr]
            self.channels[place] = self.task.channels[real.index] = real

    def take_priority(self, channel: Channel) -> None:
        """Have the task take an element that overtakes data, unless it has done so already."""
        if not channel.has_priority:
            return
        element = channel.take()
        if channel.listed and not channel.has_more:
            channel.listed = False
            self.ready.remove(channel)
        if element is not None and not isinstance(element, Slice):
            self.task.events.take(channel, element)

    def return_floating(self) -> None:
        """Lend a floating buffer that came free to the next channel that waits, or keep it."""
        lenders = self.lenders
        while lenders:
            if lenders.popleft().offer_floating():
                return
        self.floating_free += 1

    def start(self, checkpoint: int) -> FailureReason | None:
        """Begin to persist. Returns why the checkpoint cannot start, or None."""
        declined = declined_while_recovering(self)
        if declined is not None:
            return declined
        for channel in self.channels:
            refused = channel.start(checkpoint)
            if refused is not None:
                return refused
        return None

    def stop(self, checkpoint: int) -> None:
        """Persist nothing more for this checkpoint."""
        for channel in self.channels:
            channel.stop(checkpoint)

    def debloat(self, active_ns: int) -> None:
        """Let the debloater look: announce a new buffer size if it is worth it.

        active_ns: how long the task was not idle since the last look.
        """
        if self.debloater is None:
            return
        throughput = self.taken_bytes * 1_000_000_000 // max(1, active_ns)
        self.taken_bytes = 0
        size = self.debloater.update(throughput, buffers_in_use(self))
        if size is None:
            return
        self.task.env.goals.reach("debloat_changed_size")
        for channel in self.channels:
            channel.announce_size(size)


def buffers_in_use(gate: InputGate | CompiledGate) -> int:
    """Return the buffers that the debloater counts: those queued, and what senders have announced.

    Inside a task manager those are the sender's own.
    Source: Apache Flink 1.20.3, LocalInputChannel and RemoteInputChannel.getBuffersInUseCount.
    """
    here = gate.task.spec.task_manager
    return sum(
        one.subpartition.core.data_count
        if one.subpartition.owner.spec.task_manager == here
        else one.queued + one.announced
        for one in gate.channels
    )


def declined_while_recovering(gate: InputGate | CompiledGate) -> FailureReason | None:
    """Return why a gate may not persist, or None: it holds restored data of several old channels.

    Once they have given it all, the gate forgets that it had any.

    Source: Apache Flink 1.20.3, RescalingStreamTaskNetworkInput.prepareSnapshot.
    """
    if not gate.told_apart:
        return None
    if all(one.records >= one.subpartition.restored.records for one in gate.channels):
        gate.told_apart = False
        return None
    gate.task.env.goals.reach("declined_during_recovery")
    return FailureReason.CHECKPOINT_DECLINED_TASK_NOT_READY


def debloat(task: Task) -> None:
    """Let the debloaters of all gates of a task look at what happened since they did so last."""
    task.enter(task.state)
    idle_ns = task.time_in[State.IDLE]
    period_ns = task.world.constants.debloat_period_ns
    for gate in task.gates:
        gate.debloat(max(1, period_ns - (idle_ns - task.idle_before_ns)))
    task.idle_before_ns = idle_ns
