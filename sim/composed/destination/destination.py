"""The destination of a pipeline: records go through the job, and are reported when stored.

A record that is delivered again, because the attempt before did not return a state that covers it,
may be part of the checkpoint that the job was restored from.  The readers know what that holds and
drop such a record. Its durability is reported all the same, under the id of this attempt: at once
when the store has it, else when what the checkpoint holds of it in flight has reached the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ckptsim.models.coordinator.plan import FinishedState
from ckptsim.models.ordering import Level, RecordsDurable
from ckptsim.scenarios.composed import READERS
from ckptsim.scenarios.sync import Point
from ckptsim.sim.composed.store import identity, row_name
from ckptsim.sim.sync.attempt import Attempt as SyncAttempt
from ckptsim.sim.sync.destination import Destination
from ckptsim.sim.sync.socket import RecordPacket
from ckptsim.sim.sync.vocabulary import KIND_COMPLETE, KIND_POLL

if TYPE_CHECKING:
    from simpy import Event

    from ckptsim.sim.composed.destination.job import PipelineJob, RecordQueue
    from ckptsim.sim.composed.world import PipelineWorld
    from ckptsim.sim.sync.destination import Intake, Storage


class SocketIntake:
    """What takes the records of one socket in: the queue of the reader that the socket has."""

    def __init__(self, destination: PipelineDestination, queue: RecordQueue) -> None:
        self._destination = destination
        self._queue = queue

    def add(self, packet: RecordPacket, wire_id: str) -> None:
        """Take a packet in."""
        self._destination.take_in(packet, wire_id, self._queue)

    def close_all(self) -> None:
        """Do nothing: readers end together, when the last socket has ended."""

    def room(self) -> Event | None:
        """Return the wait for room in the reader's queue."""
        return self._queue.room()


class PipelineDestination:
    """The job as the place where the records of one attempt become durable."""

    def __init__(self, attempt: PipelineAttempt) -> None:
        self._pipeline = attempt.world
        self._whole: PipelineAttempt = attempt
        self._env = attempt.env
        self._entity = attempt.env.entity("destination")
        self._properties = attempt.world.properties
        self._descriptors = attempt.world.truth.descriptors
        self._reports_under_way = 0
        self._owners: dict[int, tuple[RecordPacket, str]] = {}
        self._stored: list[int] = []  # dropped, and in the store already
        self._last_report = 0
        self.job: PipelineJob = self._pipeline.deploy_job(attempt)
        self.seen: dict[int, None] | None = self._taken_in()
        self.under_way: dict[int, None] = self._restored_under_way()

    def join(self, destination: Destination) -> tuple[Storage, Sequence[Intake]]:
        """Become what the destination of the sync stores by. Readers get sockets in turn."""
        self._destination = destination
        queues, sockets = self.job.queues, self._whole.sockets
        return self, [SocketIntake(self, queues[s.index % len(queues)]) for s in sockets]

    @property
    def idle(self) -> bool:
        """Whether the job has ended and everything that it stored is reported."""
        return self.job.ended and not self._reports_under_way

    @property
    def standing(self) -> int:
        """Return 0: what the store holds back, its own world answers for."""
        return 0

    # What the restored checkpoint says ----------------------------------------------------------

    def _taken_in(self) -> dict[int, None] | None:
        """Return what the readers had taken in before the cut. None represents everything."""
        restored = self.job.restored
        if restored is None:
            return {}
        if restored.vertices[READERS] is FinishedState.FULL:
            self._pipeline.env.goals.reach("restored_after_end_of_data")
            return None
        return {
            record: None
            for number in self.job.numbers_of(READERS)
            if number in restored.tasks
            for record in restored.tasks[number].records
        }

    def _restored_under_way(self) -> dict[int, None]:
        """Return what the checkpoint holds of records that the store does not cover."""
        found: dict[int, None] = {}
        restored = self.job.restored
        for state in restored.states if restored is not None else ():
            for held in (state.input_records, state.output_records):
                for records in held.values():
                    found |= dict.fromkeys(records)
        if found:
            self._pipeline.env.goals.reach("in_flight_records_restored")
        return found | dict.fromkeys(self.job.under_way())

    # Input ------------------------------------------------------------------------------------

    def take_in(self, packet: RecordPacket, wire_id: str, queue: RecordQueue) -> None:
        """Hand the records of a packet to a reader, but those that the job has already."""
        feed = packet.partition.feed.index
        goals = self._pipeline.env.goals
        for position in range(packet.low, packet.high):
            record = identity(feed, position)
            self._owners[record] = (packet, wire_id)
            if not self.has(record):
                queue.put(record)
            elif self.is_under_way(record):
                goals.reach("redelivered_record_still_under_way")
            else:
                goals.reach("redelivered_record_dropped")
                self._stored.append(record)

    def has(self, record: int) -> bool:
        """Return whether the restored checkpoint has a record."""
        return self.seen is None or record in self.seen

    def is_under_way(self, record: int) -> bool:
        """Return whether what the checkpoint holds of a record has not reached the store yet."""
        return record in self.under_way

    def packet_read(self) -> None:
        """Report what a packet had of records that were dropped and are in the store."""
        stored, self._stored = self._stored, []
        if stored:
            self._report_records(stored)
            self._destination.request_flush()

    def socket_ended(self, *, last: bool, complete: bool) -> None:
        """End the input of the job with the last socket."""
        if not complete:
            self._whole.fail("the input ended before every stream was complete")
        if last:
            self.job.end_input()

    # Durability -------------------------------------------------------------------------------

    def commit_begun(self, records: tuple[int, ...], number: int) -> None:
        """Take note that a commit begins: nothing of it is durable, so nothing is reported."""

    def commit_finished(self, records: tuple[int, ...], number: int) -> None:
        """Report a commit to the core, perhaps after a while."""
        store = self._pipeline.store
        delay_ns = store.faults.report_delay_ns(number)
        longest_ns = store.table.report_ns
        if longest_ns:
            delay_ns += self._pipeline.env.stream("report").integer(0, longest_ns)
        self._reports_under_way += 1
        entity = self._entity
        self._whole.call_in(delay_ns, KIND_COMPLETE, entity, self._report_commit, records, number)

    def job_ended(self) -> None:
        """Ask for the verdict: everything is stored."""
        self._whole.call_in(0, KIND_POLL, self._entity, self._destination.finish_when_idle)

    def _report_commit(self, records: tuple[int, ...], number: int) -> None:
        self._reports_under_way -= 1
        self._whole.sign()
        if number < self._last_report:
            self._pipeline.env.goals.reach("commits_reported_out_of_order")
        self._last_report = max(self._last_report, number)
        self._report_records(records)
        self._whole.point(Point.AFTER_PERSIST)
        self._destination.request_flush()
        self._destination.finish_when_idle()

    def _report_records(self, records: Iterable[int]) -> None:
        """Report records under the ids of this attempt, each once."""
        counts: dict[tuple[int, str], list[int]] = {}
        chunks: dict[int, list[int]] = {}
        packets: list[RecordPacket] = []
        for record in records:
            self.under_way.pop(record, None)
            owner = self._owners.pop(record, None)
            if owner is None:
                continue  # restored, and not delivered again so far
            packet, wire_id = owner
            if not self._pipeline.ledger.is_durable(record):
                name = row_name(record)
                says = f"record {name} of id {wire_id} is reported, which is not in the store"
                self._pipeline.note("reported_records_are_durable", says)
            entry = counts.setdefault((packet.stream, wire_id), [0, 0])
            entry[0] += 1
            entry[1] += packet.size_bytes // packet.count
            own = chunks.setdefault(packet.low << 20 | packet.partition.feed.index, [])
            if not own:
                packets.append(packet)
            own.append(record)
        for packet in packets:
            self._enter(packet, len(chunks[packet.low << 20 | packet.partition.feed.index]))
        for (stream, wire_id), (count, size) in counts.items():
            self._env.trace.record("reported", self._entity, stream, wire_id, count)
            self._destination.deliver(
                RecordsDurable(
                    stream=self._descriptors[stream],
                    id=wire_id,
                    count=count,
                    size_bytes=size,
                    level=Level.COMPLETE,
                )
            )

    def _enter(self, packet: RecordPacket, count: int) -> None:
        """Enter into the ground truth that records of a packet were reported."""
        size = packet.size_bytes // packet.count * count
        part = RecordPacket(packet.partition, packet.stream, low=0, high=count, size_bytes=size)
        part.interval = packet.interval
        self._properties.records.on_report(self._whole, part, 0, Level.COMPLETE)
        packet.partition.durable += count
        packet.partition.last_durable_ns = self._env.now


class PipelineAttempt(SyncAttempt):
    """An attempt. Whatever fails in it, source, job or send, ends all of it.

    storage: the job within the destination, from its latest completed checkpoint.
    """

    world: PipelineWorld
    storage: PipelineDestination

    def make_destination(self) -> Destination:
        """Make the destination, and in it the job."""
        self.world.ledger.attempt_begins(self)
        self.storage = self.world.cores.destination(self)
        return Destination(self, self.storage.join)

    def begin(self) -> None:
        """Start source and destination, then the job."""
        super().begin()
        self.storage.job.control.begin()
