"""A channel inside one task manager: the reader takes the sender's segments.

There is neither credit nor a copy. A segment is the sender's again when it has been read.

Source: Apache Flink 1.20.3, LocalInputChannel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ckptsim.models.barriers.channels import LocalInputChannel
from ckptsim.sim.job.buffers.kinds import Kind
from ckptsim.sim.job.buffers.output import Element, Subpartition

if TYPE_CHECKING:
    from collections.abc import Callable

    from ckptsim.models.barriers.reason import FailureReason
    from ckptsim.sim.job.buffers.input.input_gate import InputGate
    from ckptsim.sim.job.buffers.output import Slice
    from ckptsim.sim.kernel import Entity, Environment


class LocalChannel:
    """A channel inside one task manager: the reader takes the sender's segments."""

    __slots__ = (
        "announced",
        "core",
        "entity",
        "env",
        "gate",
        "index",
        "listed",
        "partial_bytes",
        "records",
        "subpartition",
    )

    queued = floating = 0
    starved = False

    def __init__(
        self, env: Environment, entity: Entity, subpartition: Subpartition, gate: InputGate
    ) -> None:
        task = gate.task
        self.env = env
        self.entity = entity
        self.index: int = len(task.channels)
        self.gate: InputGate = gate
        self.subpartition: Subpartition = subpartition
        self.core = LocalInputChannel(self.index, task.outbox)
        self.listed = False
        self.partial_bytes: int = 0
        self.records: int = 0
        self.announced = 0
        subpartition.input_channel = self
        task.channels.append(self)

    def pump(self) -> None:
        """Tell the gate that there is something to read."""
        if self.subpartition.available():
            self.gate.enqueue_event(self)

    def announce_backlog(self) -> None:
        """Do nothing: there is no credit inside a task manager."""

    def take(self) -> Element | None:
        """Take the next element of the sender's queue."""
        element = self.subpartition.take()
        if element is not None:
            self.core.pulled(element)
            if self.gate.task.outbox:
                self.gate.task.control.checkpoints.drain()
        return element

    @property
    def has_more(self) -> bool:
        """Whether `take` would find something."""
        return self.subpartition.available()

    @property
    def has_priority(self) -> bool:
        """Whether something that overtakes data is queued."""
        return self.subpartition.core.has_priority

    def recycle(self, slice_: Slice) -> None:
        """Give the sender its segment back, if all of it has been read."""
        if slice_.segment is not None:
            self.subpartition.release(slice_.segment)

    def recovered(self, slice_: Slice) -> None:
        """Note data that a restore has read into the recovered channel before this one."""

    def handed_over(self, slice_: Slice) -> None:
        """Note that the task has taken recovered data."""

    def release(self) -> None:
        """Do nothing: the channel has borrowed no buffers."""

    def start(self, checkpoint: int) -> FailureReason | None:
        """Persist elements that are pulled before the barrier."""
        return self.core.start(checkpoint)

    def stop(self, checkpoint: int) -> None:
        """Persist no more for this checkpoint."""
        self.core.stop(checkpoint)

    def prioritize(self, sequence: int) -> None:
        """Refuse: barriers are not announced inside a task manager."""
        raise ValueError(f"found an announcement of element {sequence} in a local channel")

    def resume(self) -> None:
        """Let the sender continue after a blocking event."""
        self.env.call_at(self.env.now, Kind.CREDIT, self.entity, self._resumed)

    def _resumed(self) -> None:
        self.subpartition.core.resume()
        self.pump()

    def announce_size(self, size: int) -> None:
        """Tell the sender how large its next buffers are to be."""
        self.to_sender(self.subpartition.owner.resize, self.subpartition, size)

    def acknowledge_end_of_data(self) -> None:
        """Tell the sender that its end of data has been taken."""
        sender = self.subpartition.owner
        self.to_sender(
            sender.post, sender.control.end_of_data_acknowledged, self.subpartition.core.index
        )

    def to_sender(self, function: Callable[..., None], *arguments: Any) -> None:
        """Send the sender's task a message."""
        self.env.call_at(self.env.now, Kind.CREDIT, self.entity, function, *arguments)
