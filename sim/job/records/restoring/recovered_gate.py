"""An input gate of a task that takes in-flight records over at another parallelism.

The I/O thread reads the input state into the channels, one piece after the other. The task takes it
as it comes.  What the gate's core decides is carried out here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

from ckptsim.models.lifecycle import FINAL_WATERMARK
from ckptsim.models.recovery import (
    ConnectionDescriptor,
    RecordPart,
    RecoveredInput,
    recovered_input,
)
from ckptsim.models.recovery.recovered_input import GatePhase
from ckptsim.sim.job.events import of_time
from ckptsim.sim.job.records.kinds import Kind
from ckptsim.sim.job.records.state import WATERMARK, Item, Mark, Record

if TYPE_CHECKING:
    from ckptsim.sim.job.records.channel import Channel
    from ckptsim.sim.job.records.tasks import Task


class StateEnd:
    """Follows the last piece of a channel's input state."""


STATE_END = StateEnd()


class RecoveredGate:
    """Drives the core of one gate. channels: its channels."""

    def __init__(self, task: Task, channels: Sequence[Channel], core: RecoveredInput) -> None:
        self.core = core
        self._task = task
        self._channels = channels
        self._place = {channel.spec.index: place for place, channel in enumerate(channels)}
        for place, channel in enumerate(channels):
            channel.deserializer = core.deserializer(place)  # a checkpoint may find it half-way

    @property
    def is_reading(self) -> bool:
        """Return whether input state is still being taken: the task does not run yet."""
        return self.core.phase is GatePhase.READING

    @property
    def is_recovered(self) -> bool:
        """Return whether nothing of the checkpoint is left to be taken."""
        return self.core.phase is GatePhase.RECOVERED

    def start(self, read_ns: int, at_ns: int) -> int:
        """Read the input state from an instant on. Return when the last piece is there.

        read_ns: for each piece.
        """
        attempt = self._task.attempt
        for channel in self._channels:
            channel.restored.append(STATE_END)
            if not read_ns:
                channel.recovered.extend(channel.restored)
                continue
            for place, piece in enumerate(channel.restored):
                at_ns += read_ns
                delay_ns = at_ns - attempt.env.now
                # The end of the state follows: two steps of the other thread.
                if place == len(channel.restored) - 2:
                    reader = attempt.env.entity("state reader", channel.spec.index)
                    attempt.later(delay_ns, Kind.DELIVER, reader, self._was_read, channel)
                attempt.later(delay_ns, Kind.DELIVER, channel.entity, self._read, channel, piece)
        return at_ns

    def _was_read(self, channel: Channel) -> None:
        if self.is_reading:
            self._step(recovered_input.StateRead(self._place[channel.spec.index]))

    def _read(self, channel: Channel, piece: object) -> None:
        if self.is_reading:  # later the recovered channel is gone, with all that comes into it
            channel.recovered.append(piece)
            self._task.wake()

    def take(self, channel: Channel, item: Item) -> Record | None:
        """Take data of a channel. Return the record that is to be processed, if one is."""
        place = self._place[channel.spec.index]
        if item == WATERMARK:
            self.take_watermark(place, FINAL_WATERMARK)
            return None
        if isinstance(item, Mark):
            place_here = channel.spec.input
            recovered = of_time.WatermarkRecovered(self._task, place_here, item.watermark)
            self._task.tell(recovered)
            item.tell(self, place)
            self._task.event_time.pass_on()
            return None
        part = item if isinstance(item, RecordPart) else RecordPart(item, 0, 1)
        return self._step(recovered_input.PartTaken(place, part))

    def take_watermark(self, place: int, timestamp: int) -> None:
        """Take a watermark of an old channel. The core says what the whole channel's is by it."""
        self._step(recovered_input.WatermarkTaken(place, timestamp))

    def take_status(self, place: int, *, idle: bool) -> None:
        """Take a status of an old channel, likewise."""
        self._step(recovered_input.StatusTaken(place, idle=idle))

    def took_last(self, channel: Channel) -> None:
        """Note that nothing more of a channel's input state is there at present."""
        if self.is_reading:
            self._step(recovered_input.QueueEmpty(self._place[channel.spec.index]))

    def select(self, channel: Channel, descriptor: ConnectionDescriptor) -> None:
        """Take the descriptor before an old channel's data."""
        self._step(recovered_input.DescriptorTaken(self._place[channel.spec.index], descriptor))

    def end_input(self, channel: Channel) -> None:
        """Take the end of a channel's input state."""
        self._step(recovered_input.InputStateEnded(self._place[channel.spec.index]))

    def end_output(self, channel: Channel) -> None:
        """Take the marker after a sender's recovered data."""
        self._step(recovered_input.OutputStateEnded(self._place[channel.spec.index]))

    def _step(self, event: recovered_input.RecoveredInputEvent) -> Record | None:
        found: Record | None = None
        for effect in self.core.step(event):
            match effect:
                case recovered_input.ProcessRecord(record):
                    found = record
                case recovered_input.FilterRecord():
                    self._task.attempt.goal("record_filtered")
                case recovered_input.ReportBroken(channel, broken):
                    says = f"{self._task.name} joins {broken.got} to {broken.had}"
                    name = self._channels[channel].name
                    self._task.attempt.violate("records_come_out_whole", f"{name}: {says}")
                case recovered_input.ForwardWatermark(channel, timestamp):
                    number = self._channels[channel].spec.input
                    self._task.event_time.take_watermark(number, timestamp)
                case recovered_input.ForwardStatus(channel, idle):
                    number = self._channels[channel].spec.input
                    self._task.event_time.take_status(number, idle=idle)
                case recovered_input.ConvertChannels():
                    if self.is_recovered:  # all was on this side: no sender waits after a marker
                        self._check_whole()
                    for one in self._channels:
                        one.connect()
                case recovered_input.ResumeSenders(channels):
                    self._recovered(channels)
                case _ as never:
                    assert_never(never)
        return found

    def _recovered(self, channels: tuple[int, ...]) -> None:
        """Go on with plain channels: all that the checkpoint held has been taken."""
        self._check_whole()
        for channel in channels:
            self._channels[channel].resume()

    def _check_whole(self) -> None:
        if self.core.partial:
            says = f"{self._task.name} never gets the rest of {self.core.partial[0]}"
            self._task.attempt.violate("records_come_out_whole", says)
