"""One channel in the world: sender's queue, wire with credits, receiver's queue.

Which element is sent next, what blocks, what overtakes and what becomes state is decided by the
cores at both ends. This module moves what they release.  Order comes from the queues alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ckptsim.models import barriers
from ckptsim.models.recovery import ConnectionDescriptor, RecordDeserializer, RecordPart, parts_of
from ckptsim.models.recovery.persistence import LentCredit
from ckptsim.models.recovery.records import Broken
from ckptsim.scenarios.job import Partitioner, ReplayFrom
from ckptsim.sim.job.graph import ChannelSpec
from ckptsim.sim.job.oracle.records import SILENT
from ckptsim.sim.job.records.kinds import Kind
from ckptsim.sim.job.records.state import Element, Item, Mark, Record, is_record
from ckptsim.sim.kernel import Entity

if TYPE_CHECKING:
    from ckptsim.sim.job.oracle.records import RecordChannel
    from ckptsim.sim.job.records.attempt import Attempt
    from ckptsim.sim.job.records.tasks import Task
    from ckptsim.sim.job.records.uncoordinated import MessageLog

_BACKOFF_NS = 100_000_000  # before a request for a partition is made again


class Channel:
    """A channel of one attempt.

    emitted, consumed: numbers of the last buffers put in and taken. A buffer holds one record, or a
    part of one.  recovered: what a checkpoint held of it and is there to be taken first, with
    descriptors and the end of it at another parallelism. restored: all of that, before it is read.
    connected: its partition has been requested.  account: what the oracle has seen of it.
    """

    def __init__(self, attempt: Attempt, spec: ChannelSpec) -> None:
        self.attempt: Attempt = attempt
        self.spec: ChannelSpec = spec
        self.entity: Entity = attempt.env.entity("channel", spec.index)
        self.sender: Task = attempt.tasks[spec.upstream]
        self.receiver: Task = attempt.tasks[spec.downstream]
        self.subpartition: barriers.Subpartition = attempt.cores.output_subpartition(
            spec.output, self.sender.outbox
        )
        self.input_channel: barriers.RemoteInputChannel = attempt.cores.input_channel(
            spec.input, self.receiver.outbox
        )
        channels = attempt.job.channels
        self.credit: LentCredit = LentCredit(
            sender=channels.sender_records, receiver=channels.receiver_records
        )
        self._receiver_records = channels.receiver_records
        self.latency_ns: int = channels.latency_ns
        self.end_ns = channels.end_of_partition_ns
        self.emitted: int = 0
        self.consumed: int = 0
        self.recovered: list[Any] = []
        self.restored: list[Any] = []
        self.connected = True
        edge = attempt.graph.edges[spec.edge]
        by_record = edge.partitioner in (Partitioner.HASH, Partitioner.CUSTOM)
        self.keyed_edge = edge if by_record else None
        self.deserializer: RecordDeserializer = RecordDeserializer()
        self.log: MessageLog | None = attempt.world.new_log()
        self._parts: int = channels.record_buffers
        supports_unaligned = attempt.graph.supports_unaligned(attempt.graph.edges[spec.edge])
        oracle, account = attempt.world.oracle, SILENT
        if oracle is not None:
            ends = self.sender, self.receiver
            account = oracle.channel(*ends, keeps_order=not supports_unaligned)
        self.account: RecordChannel = account

    @property
    def name(self) -> str:
        """Return `sender -> receiver`."""
        return f"{self.sender.name} -> {self.receiver.name}"

    @property
    def partial(self) -> list[Element]:
        """Return the buffers that were taken of a record that is not whole yet, as taken."""
        parts = self.deserializer.partial
        first = self.consumed - len(parts) + 1
        return [(first + place, part) for place, part in enumerate(parts)]

    @property
    def read(self) -> int:
        """Return how many buffers of it the receiver's state has, by the ones of whole records."""
        return self.consumed - len(self.deserializer.partial)

    @property
    def has_room(self) -> bool:
        """Return whether the sender may put one more record in."""
        return self.credit.has_room(self.subpartition.data_count)

    @property
    def head_is_data(self) -> bool:
        """Return whether the next element at the receiver is data, and no event."""
        if self.recovered and not self.input_channel.has_priority:
            return isinstance(self.recovered[0], tuple)
        return isinstance(self.input_channel.peek(), tuple)

    @property
    def head_takes_time(self) -> bool:
        """Return whether the next element at the receiver is a record, which takes service."""
        if self.recovered and not self.input_channel.has_priority:
            return _is_record(self.recovered[0])
        element = self.input_channel.peek()
        return _is_record(element)

    def preload(self, input_state: Iterable[Item], output_state: Iterable[Item]) -> None:
        """Fill a fresh channel with records in flight: all that was at the receiver comes first."""
        for item in input_state:
            self.emitted += 1
            self.recovered.append((self.emitted, item))
            self._log(item)
        self.account.preloaded(tuple(self.recovered))
        self._lend()
        for item in output_state:
            self._add(item)

    def _lend(self) -> None:
        """Take the memory of what the receiver begins with out of the sender's pool."""
        if not self.attempt.job.channel_state.on_one_side:
            return
        held = sum(isinstance(one, tuple) for one in (*self.restored, *self.recovered))
        if held:
            self.credit.recover(held)
            self.account.memory_lent(self._memory)
            self.attempt.goal("memory_lent")

    @property
    def _memory(self) -> int:
        """Return how many buffers both ends hold at most: their pools, and the rest of a record.

        One more is the final watermark, which is put in whether there is room or not.
        """
        channels = self.attempt.job.channels
        pools = channels.sender_records + channels.receiver_records
        return pools + channels.record_buffers

    def recover(
        self,
        input_state: Iterable[Item | ConnectionDescriptor],
        output_state: Sequence[Item | barriers.NetworkEvent],
    ) -> None:
        """Fill a fresh channel with what old ones held. Its partition is requested later."""
        self.connected = False
        for item in input_state:
            if isinstance(item, ConnectionDescriptor):
                self.restored.append(item)
                continue
            self.emitted += 1
            self.restored.append((self.emitted, item))
        self.account.preloaded([one for one in self.restored if isinstance(one, tuple)])
        self._lend()
        for one in output_state:
            if isinstance(one, barriers.NetworkEvent):
                self.subpartition.add_event(one)
            else:
                self._add(one)

    @property
    def waits_for_offset(self) -> bool:
        """Return whether the sender replays nothing before the receiver has told it from where."""
        table = self.attempt.job.channel_state
        told = table.is_logged and table.replay_from is ReplayFrom.TOLD_AT_RECOVERY
        return told and self.attempt.restored is not None

    def connect(self) -> None:
        """Request the partition, with the offset where the sender waits for it.

        A request that is lost is made again after a while.
        Source: Apache Flink 1.20.3, taskmanager.network.request-backoff.initial, 100 ms.
        """
        if not self.waits_for_offset:
            self._connected()
            return
        self.connected = False
        delay_ns, attempt = self.latency_ns, self.attempt
        ratio = attempt.job.channel_state.offset_loss_ratio
        while ratio and attempt.env.stream("lost offsets").chance(ratio):
            attempt.goal("offset_lost")
            delay_ns += _BACKOFF_NS
        attempt.later(delay_ns, Kind.MESSAGE, self.entity, self._connected)

    def _connected(self) -> None:
        self.connected = True
        self.pump()

    def put(self, record: Record | Mark) -> None:
        """Append a record at the sender, in as many buffers as it takes."""
        if self._parts == 1 or not is_record(record):
            self._add(record)
            return
        for part in parts_of(record, self._parts):
            self._add(part)

    def _add(self, item: Item) -> None:
        if self.subpartition.add_data((self.emitted + 1, item)):
            self.emitted += 1
            self.sender.snapshots.logs.append(self, item)
            self._log(item)

    def _log(self, item: Item) -> None:
        """Log a message before it is sent, where tasks take checkpoints by themselves."""
        checkpoints = self.sender.checkpoints
        if self.log is not None and checkpoints is not None:
            self.log.append(item, checkpoints.core.index)

    def joined(self, item: Record | RecordPart) -> Record | None:
        """Return the record that is whole with the taken element, if one is."""
        if not isinstance(item, RecordPart):
            return item
        found = self.deserializer.add(item)
        if isinstance(found, Broken):
            says = f"{self.name}: {self.receiver.name} joins {found.got} to {found.had}"
            self.attempt.violate("records_come_out_whole", says)
            return None
        return found

    def pump(self) -> None:
        """Send whatever may be sent now."""
        subpartition = self.subpartition
        if self.sender.killed:
            return
        while self.connected and len(subpartition) and not subpartition.blocked:
            if subpartition.data_first:
                if not self.credit.may_send:
                    self.attempt.goal("credit_starved")
                    return
                self.credit.send()
            element = subpartition.poll()
            if element is None:
                return
            self.account.sent(element)
            extra = self.end_ns if isinstance(element, barriers.EndOfPartition) else 0
            self.attempt.later(
                self.latency_ns + extra, Kind.DELIVER, self.entity, self._deliver, element
            )
            if not isinstance(element, barriers.NetworkEvent):
                self.sender.room_freed()
        self.sender.control.checkpoints.drain()

    def resume(self) -> None:
        """Tell the sender's queue that it may continue. Takes the wire's latency."""
        self.account.told_to_resume()
        self.attempt.later(self.latency_ns, Kind.RESUME, self.entity, self._resume)

    def prioritize(self, sequence: int) -> None:
        """Move an announced barrier to the front."""
        self.input_channel.prioritize(sequence)

    def acknowledge_end_of_data(self) -> None:
        """Tell the sender that its EndOfData has been polled."""
        self.attempt.acknowledge_end_of_data(self)

    def taken(self, element: Element) -> None:
        """Note that the receiver has taken a record, and give its credit back."""
        self.account.taken(element)
        self.consumed = element[0]
        self._give_back()

    def recovered_taken(self, element: Element) -> None:
        """Note that the receiver has taken what it began with.

        Everything that was lent goes back.
        """
        self.account.taken(element)
        self.consumed = element[0]
        if self.credit.lent:
            self.credit.lent -= 1
            self._give_back()

    def _give_back(self) -> None:
        if self.latency_ns:
            self.attempt.later(self.latency_ns, Kind.CREDIT, self.entity, self._credit)
        else:
            self._credit()

    def _deliver(self, element: object) -> None:
        self.account.arrived(element)
        self.input_channel.arrive(element)
        self.receiver.control.checkpoints.drain()
        self.receiver.wake()

    def _resume(self) -> None:
        self.account.resumed()
        self.subpartition.resume()
        self.pump()

    def _credit(self) -> None:
        had_room = self.credit.credit >= 0
        self.credit.give_back()
        self.account.credited(self.credit.credit, self._receiver_records)
        if not had_room:
            self.sender.room_freed()
        self.pump()


def _is_record(element: object) -> bool:
    """Return whether an element is data that takes service: no event and no watermark."""
    return isinstance(element, tuple) and is_record(element[1])
