"""One channel in the world: sender's queue, wire with credits, receiver's queue.

Which element is sent next, what blocks, what overtakes and what becomes state is decided by the
cores at both ends; this module moves what they release.  Order comes from the queues alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.barriers import (
    EndOfPartition,
    NetworkEvent,
    RemoteChannel,
    Subpartition,
)
from ckptsim.sim.job.graph import ChannelSpec
from ckptsim.sim.job.records.kinds import Kind
from ckptsim.sim.job.records.state import WATERMARK, Element, Record

if TYPE_CHECKING:
    from ckptsim.sim.job.oracle.observer import ChannelObserver
    from ckptsim.sim.job.records.attempt import Attempt
    from ckptsim.sim.job.records.tasks import Task


class Channel:
    """A channel of one attempt.

    emitted, consumed: numbers of the last records put in and taken.
    """

    def __init__(self, attempt: Attempt, spec: ChannelSpec) -> None:
        self.attempt: Attempt = attempt
        self.spec: ChannelSpec = spec
        self.entity = attempt.env.entity("channel", spec.index)
        self.sender: Task = attempt.tasks[spec.upstream]
        self.receiver: Task = attempt.tasks[spec.downstream]
        self.subpartition: Subpartition = attempt.cores.output_subpartition(
            spec.output, self.sender.outbox
        )
        self.input_channel: RemoteChannel = attempt.cores.input_channel(
            spec.input, self.receiver.outbox
        )
        channels = attempt.job.channels
        self.capacity: int = channels.sender_records
        self.credit: int = channels.receiver_records
        self.latency_ns: int = channels.latency_ns
        self.end_ns = channels.end_of_partition_ns
        self.emitted: int = 0
        self.consumed: int = 0
        self.delivered = 0
        self.recovered: list[Element] = []
        supports_unaligned = attempt.graph.edges[spec.edge].partitioner.supports_unaligned
        self.observer: ChannelObserver = attempt.world.observer.channel(
            self.sender, self.receiver, keeps_order=not supports_unaligned
        )

    @property
    def name(self) -> str:
        """Return `sender -> receiver`."""
        return f"{self.sender.name} -> {self.receiver.name}"

    @property
    def has_room(self) -> bool:
        """Say whether the sender may put one more record in."""
        return self.subpartition.data_count < self.capacity

    @property
    def head_takes_time(self) -> bool:
        """Say whether the next element at the receiver is a record, which takes service."""
        if self.recovered and not self.input_channel.has_priority:
            return self.recovered[0][1] != WATERMARK
        element = self.input_channel.peek()
        return isinstance(element, tuple) and element[1] != WATERMARK

    def preload(self, input_state: list[Record], output_state: list[Record]) -> None:
        """Fill a fresh channel with records in flight: what was at the receiver comes first."""
        for record in input_state:
            self.emitted += 1
            self.recovered.append((self.emitted, record))
        self.observer.preloaded(tuple(self.recovered))
        for record in output_state:
            self.put(record)

    def put(self, record: Record) -> None:
        """Append a record at the sender."""
        if self.subpartition.add_data((self.emitted + 1, record)):
            self.emitted += 1

    def pump(self) -> None:
        """Send whatever may be sent now."""
        subpartition = self.subpartition
        while len(subpartition) and not subpartition.blocked:
            if subpartition.data_first:
                if self.credit == 0:
                    self.attempt.goal("credit_starved")
                    return
                self.credit -= 1
            element = subpartition.poll()
            if element is None:
                return
            self.observer.sent(element)
            extra = self.end_ns if isinstance(element, EndOfPartition) else 0
            self.attempt.later(
                self.latency_ns + extra, Kind.DELIVER, self.entity, self._deliver, element
            )
            if not isinstance(element, NetworkEvent):
                self.sender.room_freed()
        self.sender.control.checkpoints.drain()

    def resume(self) -> None:
        """Tell the sender's queue that it may continue; takes the wire's latency."""
        self.observer.told_to_resume()
        self.attempt.later(self.latency_ns, Kind.RESUME, self.entity, self._resume)

    def prioritize(self, sequence: int) -> None:
        """Move an announced barrier to the front."""
        self.input_channel.prioritize(sequence)

    def acknowledge_end_of_data(self) -> None:
        """Tell the sender that its EndOfData has been polled."""
        self.attempt.acknowledge_end_of_data(self)

    def taken(self, element: Element) -> None:
        """Note that the receiver has taken a record, and give its credit back."""
        self.observer.taken(element)
        self.consumed = element[0]
        if self.latency_ns:
            self.attempt.later(self.latency_ns, Kind.CREDIT, self.entity, self._credit)
        else:
            self._credit()

    def _deliver(self, element: object) -> None:
        self.observer.arrived(element)
        self.input_channel.arrive(element)
        self.receiver.control.checkpoints.drain()
        self.receiver.wake()

    def _resume(self) -> None:
        self.observer.resumed()
        self.subpartition.resume()
        self.pump()

    def _credit(self) -> None:
        self.credit += 1
        self.pump()
