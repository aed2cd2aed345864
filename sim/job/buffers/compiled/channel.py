"""Channels and gates as control sees them: rows of the kernel's tables with names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator.debloater import BufferDebloater, DebloatParameters
from ckptsim.models.core import ProtocolError
from ckptsim.sim.job.buffers.compiled.columns import channel, gate, request
from ckptsim.sim.job.buffers.input import (
    RecoveredBuffers,
    buffers_in_use,
    declined_while_recovering,
)
from ckptsim.sim.job.buffers.kinds import Kind

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.compiled.output import CompiledSubpartition
    from ckptsim.sim.job.buffers.compiled.task import CompiledTask
    from ckptsim.sim.kernel import Entity


class CompiledRecovered(RecoveredBuffers):
    """In-flight data of one channel, in the queue of later data."""

    __slots__ = ("_channel",)

    def __init__(
        self, channel: CompiledChannel, *, consumed: Callable[[], None], freed: Callable[[], None]
    ) -> None:
        super().__init__(channel.index, consumed=consumed, freed=freed)
        self._channel = channel

    def add(self, size: int, records: int) -> None:
        """Put a buffer in that has been read from the state."""
        channel = self._channel
        driver = channel.gate.task.driver
        self.in_use += 1
        channel.subpartition.restored.add(size, records)
        driver.ask(request.ADD_RECOVERED, channel.row, size, records)
        if driver.follower is not None:
            driver.follower.recovered(channel.row, size, records)


class CompiledChannel:
    """The receiver's end of a channel. index: over all gates of the task.

    recovered: the preceding one while the task restores, or None.
    """

    __slots__ = ("gate", "index", "recovered", "row", "subpartition")

    def __init__(self, subpartition: CompiledSubpartition, gate: CompiledGate) -> None:
        self.row = 0
        self.subpartition = subpartition
        self.gate = gate
        self.index: int = len(gate.task.channels)
        self.recovered: CompiledRecovered | None = None
        subpartition.input_channel = self
        gate.channels.append(self)
        gate.task.channels.append(self)  # type: ignore[arg-type]

    def _get(self, column: int) -> int:
        return self.gate.task.driver.m.item(self.row + column)

    @property
    def entity(self) -> Entity:
        """Who acts, made when Python first schedules something for it: most channels never are."""
        task = self.gate.task
        return task.env.entity(self.subpartition.writer.component(self.gate), task.subtask)

    @property
    def queued(self) -> int:
        """How many buffers wait at the receiver."""
        return self._get(channel.IN_DATA)

    @property
    def starved(self) -> bool:
        """Whether data has ever waited for credit."""
        return self._get(channel.STARVED) != 0

    @property
    def announced(self) -> int:
        """The backlog that the sender told last."""
        return self._get(channel.ANNOUNCED)

    @property
    def partial_bytes(self) -> int:
        """Bytes of an incomplete record."""
        return self._get(channel.PARTIAL_BYTES)

    @property
    def records(self) -> int:
        """How many records the task has taken."""
        return self._get(channel.RECORDS)

    @property
    def floating(self) -> int:
        """How many floating buffers the channel has borrowed and not filled."""
        return self._get(channel.FLOATING_FREE)

    def release(self) -> None:
        """Give back what the channel has borrowed: its end of partition has been taken."""
        self.gate.task.driver.ask(request.RELEASE, self.row)

    def resume(self) -> None:
        """Let the sender continue after a blocking event."""
        driver = self.gate.task.driver
        if driver.follower is not None:
            driver.follower.told_to_resume(self.row)
        driver.ask(request.RESUME, self.row)

    def prioritize(self, sequence: int) -> None:
        """Move an announced barrier to the front.

        Raises ProtocolError when the barrier noted last does not stand there.
        """
        if self.gate.task.driver.ask(request.PRIORITIZE, self.row, sequence):
            raise ProtocolError("no_such_element", state="another one", event=sequence)

    def announce_size(self, size: int) -> None:
        """Tell the sender how large its next buffers are to be."""
        if self.recovered is None:  # else it has not been asked for its partition
            self.gate.task.driver.ask(request.RESIZE, self.row, size)

    def acknowledge_end_of_data(self) -> None:
        """Tell the sender that its end of data has been taken."""
        sender = self.subpartition.owner
        self.to_sender(
            sender.post, sender.control.end_of_data_acknowledged, self.subpartition.core.index
        )

    def to_sender(self, function: Callable[..., None], *arguments: Any) -> None:
        """Send the sender's task a message."""
        driver = self.gate.task.driver
        due = driver.ask(request.DUE_BACK, self.row)
        driver.env.call_at(due, Kind.CREDIT, self.entity, function, *arguments)


class CompiledGate:
    """The channels of one edge that end at one task."""

    __slots__ = (
        "channels",
        "debloater",
        "floating",
        "index",
        "recovered",
        "row",
        "task",
        "told_apart",
    )

    def __init__(
        self, task: CompiledTask, *, floating: int, debloat: DebloatParameters | None
    ) -> None:
        self.task = task
        self.row = 0
        self.index = len(task.gates)
        self.channels: list[CompiledChannel] = []
        self.floating = floating
        self.recovered = 0
        self.told_apart = False
        self.debloater = None if debloat is None else BufferDebloater(debloat)
        task.gates.append(self)  # type: ignore[arg-type]

    @property
    def floating_free(self) -> int:
        """How many floating buffers no one has borrowed."""
        return self.task.driver.m.item(self.row + gate.FLOATING_FREE)

    def channel_recovered(self) -> None:
        """Note that a channel's recovered data has been taken. After the one of all, resume all."""
        self.recovered += 1
        if self.recovered == len(self.channels):
            for one in self.channels:
                one.resume()

    def recover(
        self, consumed: Callable[[], None], freed: Callable[[], None]
    ) -> Sequence[CompiledRecovered]:
        """Let recovered channels stand before the real ones. Return them, in order."""
        found = []
        for one in self.channels:
            one.recovered = CompiledRecovered(one, consumed=consumed, freed=freed)
            self.task.driver.m[one.row + channel.INSIDE] = 0
            found.append(one.recovered)
        return found

    def convert(self) -> None:
        """Let the channels be read as real ones again. Nothing of the others is queued."""
        m = self.task.driver.m
        for one in self.channels:
            one.recovered = None
            m[one.row + channel.INSIDE] = m[one.row + channel.LOCAL]

    def take_priority(self, channel: CompiledChannel) -> None:
        """Have the task take an element that overtakes data, unless it has done so already."""
        driver = self.task.driver
        e = driver.ask(request.TAKE_PRIORITY, channel.row)
        if e >= 0:
            self.task.events.take(channel, driver.event_of(e))  # type: ignore[arg-type]

    def start(self, checkpoint: int) -> FailureReason | None:
        """Begin to persist. Returns why the checkpoint cannot start, or None."""
        declined = declined_while_recovering(self)
        if declined is not None:
            return declined
        refused = self.task.driver.ask(request.START_GATE, self.row, checkpoint)
        return FailureReason.CHECKPOINT_SUBSUMED if refused else None

    def stop(self, checkpoint: int) -> None:
        """Persist nothing more for this checkpoint."""
        self.task.driver.ask(request.STOP_GATE, self.row, checkpoint)

    def debloat(self, active_ns: int) -> None:
        """Let the debloater look: announce a new buffer size if it is worth it.

        active_ns: how long the task was not idle since the last look.
        """
        if self.debloater is None:
            return
        driver = self.task.driver
        taken = driver.m.item(self.row + gate.TAKEN_BYTES)
        throughput = taken * 1_000_000_000 // max(1, active_ns)
        driver.m[self.row + gate.TAKEN_BYTES] = 0
        size = self.debloater.update(throughput, buffers_in_use(self))
        if size is None:
            return
        driver.env.goals.reach("debloat_changed_size")
        for one in self.channels:
            one.announce_size(size)
