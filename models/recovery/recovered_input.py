"""One input gate while it takes in-flight data over from a checkpoint.

Old data comes in two stretches: what had been at receivers is read from the checkpoint into this
gate's channels. What had been at senders is read into the new senders' queues and comes through the
channels, once these are asked for.

    READING    --every channel has ended its state--> REPLAYING   partitions are requested
    REPLAYING  --the last end-of-state marker-------> RECOVERED   all senders go on

Where the receiver recovers what both ends had, REPLAYING is left out.

So on each channel the old input data comes before the old output data, and that before anything
new: a record with its head at the receiver and its tail at the sender is joined again.  The marker
blocks its sender, so no channel gets past its recovered data before the others.

While the parallelism has changed, a channel can carry data of several old ones.  Each has a virtual
channel: a deserializer, a watermark and a status of its own, chosen by the descriptor before the
data.  A watermark continues as the least of all virtual channels, once each has one. The channel is
idle when all are.  A record of an old subtask that several new ones take over is kept only where
today's partitioner sends it.

Blocked meanwhile: a checkpoint may not begin to persist the input while there are virtual channels,
for the parts that they hold could not be told apart again.  Not promised: that the order among data
of different old channels is kept.

Source: Apache Flink 1.20.3, SingleInputGate.convertRecoveredInputChannels, UpstreamRecoveryTracker,
DemultiplexingRecordDeserializer, RescalingStreamTaskNetworkInput.prepareSnapshot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeAlias, assert_never

from ckptsim.models.core import ProtocolError
from ckptsim.models.recovery.in_flight import ConnectionDescriptor
from ckptsim.models.recovery.mapping import GateAssignment
from ckptsim.models.recovery.records import Broken, RecordDeserializer, RecordPart


class GatePhase(IntEnum):
    """How far a gate has come."""

    READING = 0
    REPLAYING = 1
    RECOVERED = 2


@dataclass(frozen=True, slots=True)
class DescriptorTaken:
    """The data that follow on a channel are the ones of an old channel."""

    channel: int
    descriptor: ConnectionDescriptor


@dataclass(frozen=True, slots=True)
class PartTaken:
    """A part of a record was taken from a channel."""

    channel: int
    part: RecordPart


@dataclass(frozen=True, slots=True)
class WatermarkTaken:
    """A watermark was taken from a channel."""

    channel: int
    timestamp: int


@dataclass(frozen=True, slots=True)
class StatusTaken:
    """A watermark status was taken from a channel."""

    channel: int
    idle: bool


@dataclass(frozen=True, slots=True)
class QueueEmpty:
    """A channel has nothing to be taken now, and may have more of its state later."""

    channel: int


@dataclass(frozen=True, slots=True)
class StateRead:
    """The I/O thread has read a channel's state, and is about to hand the last piece over."""

    channel: int


@dataclass(frozen=True, slots=True)
class InputStateEnded:
    """A channel's state from the checkpoint has been taken to its end."""

    channel: int


@dataclass(frozen=True, slots=True)
class OutputStateEnded:
    """The marker after a sender's recovered data was taken."""

    channel: int


RecoveredInputEvent: TypeAlias = (
    DescriptorTaken
    | PartTaken
    | WatermarkTaken
    | StatusTaken
    | QueueEmpty
    | StateRead
    | InputStateEnded
    | OutputStateEnded
)


@dataclass(frozen=True, slots=True)
class ProcessRecord:
    """Process a record that is whole."""

    record: int


@dataclass(frozen=True, slots=True)
class FilterRecord:
    """Leave a record out: another subtask keeps it."""

    record: int


@dataclass(frozen=True, slots=True)
class ReportBroken:
    """Bytes of two records have met in one deserializer of a channel."""

    channel: int
    broken: Broken


@dataclass(frozen=True, slots=True)
class ForwardWatermark:
    """Pass a watermark of a channel on."""

    channel: int
    timestamp: int


@dataclass(frozen=True, slots=True)
class ForwardStatus:
    """Pass a status of a channel on."""

    channel: int
    idle: bool


@dataclass(frozen=True, slots=True)
class ConvertChannels:
    """Replace the recovered channels by real ones, and request their partitions."""


@dataclass(frozen=True, slots=True)
class ResumeSenders:
    """Let the senders of all channels go on after their markers."""

    channels: tuple[int, ...]


RecoveredInputEffect: TypeAlias = (
    ProcessRecord
    | FilterRecord
    | ReportBroken
    | ForwardWatermark
    | ForwardStatus
    | ConvertChannels
    | ResumeSenders
)


@dataclass(slots=True)
class VirtualChannel:
    """What a channel keeps of one old channel.

    watermark: the latest, None before the first.  filtered: its records go to several subtasks.
    """

    filtered: bool = False
    idle: bool = False
    watermark: int | None = None
    deserializer: RecordDeserializer = field(default_factory=RecordDeserializer)


class RecoveredInput:
    """Takes in-flight data over on one gate.

    accepts: whether today's partitioner sends a record to this subtask.
    phase: how far the gate has come.
    """

    def __init__(
        self, assignment: GateAssignment, channels: int, *, accepts: Callable[[int], bool]
    ) -> None:
        self.phase = GatePhase.READING
        self._accepts = accepts
        self._virtual = [self._channels_of(assignment, channel) for channel in range(channels)]
        self._selected: list[VirtualChannel | None] = [None] * channels
        self._unmapped = assignment.identity
        self._on_one_side = assignment.on_one_side
        if self._unmapped:
            self._selected = [VirtualChannel() for _ in range(channels)]
        self._open = set(range(channels))

    @property
    def may_persist(self) -> bool:
        """Return whether a checkpoint may begin to persist the input of this gate."""
        return self._unmapped or self.phase is GatePhase.RECOVERED

    @property
    def partial(self) -> tuple[RecordPart, ...]:
        """Return the parts in virtual channels of records that are not whole."""
        found = [one for virtual in self._virtual for one in virtual.values()]
        return tuple(part for one in found for part in one.deserializer.partial)

    def deserializer(self, channel: int) -> RecordDeserializer:
        """Return the deserializer of a channel that has no virtual ones, as real channels have it.

        What it holds is the beginning of a record that the sender sends on. What a virtual channel
        has left when the gate has recovered can be finished by no one.
        """
        selected = self._selected[channel]
        return selected.deserializer if self._unmapped and selected else RecordDeserializer()

    def step(self, event: RecoveredInputEvent) -> list[RecoveredInputEffect]:
        """Take one event and return its effects.

        Raises ProtocolError for an end that came before, an old channel that is not taken over, and
        data without a descriptor.
        """
        match event:
            case DescriptorTaken(channel, descriptor):
                self._select(channel, descriptor)
                return []
            case PartTaken(channel, part):
                return self._take(channel, part)
            case WatermarkTaken(channel, timestamp):
                return self._watermark(channel, timestamp)
            case StatusTaken(channel, idle):
                return self._status(channel, idle=idle)
            case QueueEmpty() | StateRead():
                # Both together do not say that all was taken: the task may look between the two
                # steps of the other thread.  The state ends by its end alone.
                return []
            case InputStateEnded(channel):
                return self._ended(channel, GatePhase.READING, event)
            case OutputStateEnded(channel):
                return self._ended(channel, GatePhase.REPLAYING, event)
            case _ as never:
                assert_never(never)

    def _channels_of(
        self, assignment: GateAssignment, channel: int
    ) -> dict[ConnectionDescriptor, VirtualChannel]:
        if assignment.identity:
            return {}
        return {
            ConnectionDescriptor(subtask, old): VirtualChannel(subtask in assignment.ambiguous)
            for subtask, old in assignment.virtual_channels(channel)
        }

    def _select(self, channel: int, descriptor: ConnectionDescriptor) -> None:
        selected = self._virtual[channel].get(descriptor)
        if selected is None:
            raise ProtocolError("unknown_old_channel", state=f"channel {channel}", event=descriptor)
        self._selected[channel] = selected

    def _current(self, channel: int) -> VirtualChannel:
        selected = self._selected[channel]
        if selected is None:
            raise ProtocolError("no_descriptor", state=f"channel {channel}: data of nobody")
        return selected

    def _take(self, channel: int, part: RecordPart) -> list[RecoveredInputEffect]:
        virtual = self._current(channel)
        found = virtual.deserializer.add(part)
        if found is None:
            return []
        if isinstance(found, Broken):
            return [ReportBroken(channel, found)]
        if virtual.filtered and not self._accepts(found):
            return [FilterRecord(found)]
        return [ProcessRecord(found)]

    def _watermark(self, channel: int, timestamp: int) -> list[RecoveredInputEffect]:
        self._current(channel).watermark = timestamp
        if self._unmapped:
            return [ForwardWatermark(channel, timestamp)]
        known = [one.watermark for one in self._virtual[channel].values()]
        found = [mark for mark in known if mark is not None]
        # One that has none yet may still have records older than all of these.
        return [ForwardWatermark(channel, min(found))] if len(found) == len(known) else []

    def _status(self, channel: int, *, idle: bool) -> list[RecoveredInputEffect]:
        self._current(channel).idle = idle
        idle = idle and all(one.idle for one in self._virtual[channel].values())
        return [ForwardStatus(channel, idle)]

    def _ended(
        self, channel: int, phase: GatePhase, event: RecoveredInputEvent
    ) -> list[RecoveredInputEffect]:
        if self.phase is not phase or channel not in self._open:
            raise ProtocolError("missing_row", state=self.phase.name, event=event)
        self._open.remove(channel)
        if self._open:
            return []
        self.phase = GatePhase(phase + 1)
        everything = range(len(self._selected))
        self._open.update(everything)
        if phase is GatePhase.READING:
            if self._on_one_side:  # nothing is at the senders, so no marker comes and none waits
                self.phase = GatePhase.RECOVERED
            return [ConvertChannels()]
        return [ResumeSenders(tuple(everything))]
