"""Operators and sinks of a job: processes that take records and events, one at a time.

It begins a record only while every output has room, so it never stops in the middle of one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from ckptsim.models import barriers
from ckptsim.models.recovery import ConnectionDescriptor
from ckptsim.scenarios.job import Partitioner
from ckptsim.sim.job.control.sinks.sink import open_sink
from ckptsim.sim.job.events import of_tasks
from ckptsim.sim.job.records.channel import Channel
from ckptsim.sim.job.records.keys import unit_of
from ckptsim.sim.job.records.kinds import Kind
from ckptsim.sim.job.records.restoring.recovered_gate import StateEnd
from ckptsim.sim.job.records.state import SOURCE_SPAN, WATERMARK, Element, Mark, Record, is_record
from ckptsim.sim.job.records.tasks.task import Steps, Task


class Operator(Task):
    """A subtask with inputs."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._service_ns = self.spec.vertex.service_of(self.spec.subtask)
        handler = self.control.handler
        self._clock = None if handler is None else handler.core.clock
        self._turn = 0
        self._is_ordered = self.attempt.job.channel_state.order_required
        self._woken = Kind.STEP
        self._is_last = not self.attempt.graph.outputs[self.number]

    def start(self) -> None:
        """Begin to work. Where all that comes is keyed, with the state of its own keys."""
        edges = dict.fromkeys(channel.spec.edge for channel in self.inputs)
        keyed = [self.attempt.graph.edges[number] for number in edges]
        owners: list[set[int]] = []
        if all(edge.partitioner is Partitioner.HASH for edge in keyed):
            owner_of = self.attempt.receiver_of
            owners = [{owner_of(edge, record) for edge in keyed} for record in self.state]
        units = [self._unit_of(record) for record in self.state]
        self.tell(of_tasks.RecordsRestored(self, tuple(self.state), owners, units))
        super().start()

    def run(self) -> Steps:
        """Process until all inputs have ended, then wait for everything that the end waits for.

        Barriers continue to come in meanwhile, and EndOfPartition of each input.
        """
        yield self.news
        yield from self.process_until(self.has_ended)
        yield from self.process_until(self.has_acknowledgements)
        yield from self.process_until(self.has_final_checkpoint)
        yield from self.process_until(self.has_closed)
        self.close_mailbox()

    def process_until(self, reached: Callable[[], bool]) -> Steps:
        """Take mails, priority events and elements, in this order, until a condition holds."""
        while self.is_running and not reached():
            if self.held_ns:
                yield from self.spend(self.held_ns, Kind.STEP)
                self._woken = Kind.STEP
            elif self.mails:
                self.handle_mail()
            elif (overtaking := self._with_priority()) is not None:
                self._take(overtaking)
            elif not self.has_room or (channel := self._ready()) is None:
                self._woken = yield self.news
            elif self._woken is not Kind.BEGIN and channel.head_takes_time:
                # A record is begun last: a barrier that gets here in this instant goes first.
                self._woken = yield self.last_in_instant()
            else:
                self._turn = (channel.spec.input + 1) % len(self.inputs)
                if self.checkpoints is not None:
                    self.checkpoints.before(channel)
                record = self._take(channel)
                if record is not None:
                    if self._is_last:
                        self.attempt.recovery.record_taken()
                    self._begin_record(channel, record)
                    yield from self.spend(self._service_ns, Kind.SERVICE)
                    self.finish_record(record)
                    self._woken = yield self.last_in_instant()

    @property
    def has_work(self) -> bool:
        """Return whether there is a mail, a priority event, or an element with room."""
        if self.mails or self._with_priority() is not None:
            return True
        return self.has_room and self._ready() is not None

    def _begin_record(self, channel: Channel, record: Record) -> None:
        """Tell of a record that is processed next.

        Where it belongs, and all that is its event time.
        """
        edge, time = channel.keyed_edge, self.event_time.timestamp_of(record)
        owner = None if edge is None else self.attempt.receiver_of(edge, record)
        split, place = record // SOURCE_SPAN, channel.spec.input
        begun = of_tasks.RecordTaken(self, place, record, owner, self._unit_of(record), split, time)
        self.tell(begun)

    def _unit_of(self, record: Record) -> tuple[int, ...] | None:
        """Return the ordered unit of a record."""
        if not self._is_ordered:
            return None
        return unit_of(self.attempt.graph, self.spec.vertex.name, record)

    def _with_priority(self) -> Channel | None:
        """Return the first channel in which something has overtaken the queue."""
        for channel in self.inputs:
            if channel.input_channel.has_priority:
                return channel
        return None

    def _ready(self) -> Channel | None:
        """Return the next channel in turn that has an element."""
        inputs, turn = self.inputs, self._turn
        for channel in inputs[turn:] + inputs[:turn] if turn else inputs:
            if channel.recovered or len(channel.input_channel):
                return channel
        return None

    def _take(self, channel: Channel) -> Record | None:
        """Take the next element of a channel. Return a record that is to be processed.

        Recovered records come first, then the channel's own.
        """
        priority = channel.input_channel.has_priority
        if channel.recovered and not priority:
            data = self._take_recovered(channel)
            if data is None:
                return None
        else:
            element = channel.input_channel.poll()
            if isinstance(element, barriers.NetworkEvent):
                self._handle(channel, element, priority=priority)
                return None
            data = cast("Element", element)
            channel.taken(data)
        item = data[1]
        if item == WATERMARK:
            channel.account.watermark_polled()
        if is_record(item) and self._clock is not None and self._clock.running:
            self._clock.add_bytes(1)  # every buffer counts as one
        gate = self.gates[channel.spec.gate].recovered
        if gate is not None and not gate.is_recovered:
            return gate.take(channel, item)
        if isinstance(item, Mark):
            self.event_time.take(channel.spec.input, item)
            return None
        if item == WATERMARK:
            self.event_time.end(channel.spec.input)
            return None
        return channel.joined(item)

    def _take_recovered(self, channel: Channel) -> Element | None:
        """Take what comes next of a checkpoint. Return it if it is data."""
        gate = self.gates[channel.spec.gate].recovered
        found = channel.recovered.pop(0)
        self.attempt.recovery.data_taken()
        if gate is not None:
            if isinstance(found, StateEnd):
                gate.end_input(channel)
                return None
            if not channel.recovered:
                gate.took_last(channel)
            if isinstance(found, ConnectionDescriptor):
                gate.select(channel, found)
                return None
        data = cast("Element", found)
        channel.recovered_taken(data)
        return data

    def finish_record(self, record: Record) -> None:
        """Finish a record: its effect on the state, then what goes out."""
        self.attempt.progress()
        self.state.append(record)
        self.emit(record)

    def _handle(self, channel: Channel, event: barriers.NetworkEvent, *, priority: bool) -> None:
        index, control = channel.spec.input, self.control
        handler = control.handler
        if handler is None:
            raise AssertionError(f"{self.name} has no inputs, and gets {event!r}")
        channel.account.taken(event, priority=priority)
        match event:
            case ConnectionDescriptor() | barriers.EndOfChannelState():
                self._handle_recovered(channel, event)
            case barriers.Barrier():
                handler.barrier(index, event)
            case barriers.Announcement(barrier, sequence):
                handler.announcement(index, barrier, sequence)
            case barriers.CancellationMarker(checkpoint):
                handler.cancellation(index, checkpoint)
            case barriers.EndOfData(drain):
                self.end_modes.add(drain)
                control.end_of_data(index, event)
            case barriers.EndOfPartition():
                control.end_of_partition(index)
            case _:
                raise AssertionError(f"no such element in a index: {event!r}")

    def _handle_recovered(
        self, channel: Channel, event: ConnectionDescriptor | barriers.EndOfChannelState
    ) -> None:
        gate = self.gates[channel.spec.gate].recovered
        if gate is None:
            raise AssertionError(f"{self.name} takes nothing over, and gets {event!r}")
        if isinstance(event, ConnectionDescriptor):
            gate.select(channel, event)
        else:
            gate.end_output(channel)


class Sink(Operator):
    """An operator that writes what it processes into transactions of an external system.

    A snapshot pre-commits the open transaction, the completion of its checkpoint commits it.  A
    sink that was restored as finished writes nothing and has no transactions.
    """

    def __init__(self, *arguments: Any, finished_on_restore: bool, **named: Any) -> None:
        super().__init__(*arguments, finished_on_restore=finished_on_restore, **named)
        if finished_on_restore:
            return
        world = self.attempt.world
        committer = world.embedding.committer
        self.sink = world.embedding.sink(
            world.control.sinks,
            self.place,
            committer=None if committer is None else committer(self.subtask),
            settled=self.control.commits_settled,
        )
        open_sink(self.control, self.sink, self.attempt.sink_states(self.spec))

    def run(self) -> Steps:
        """Write until all inputs have ended. Wait until the last transaction is committed. close.

        No one is below that could acknowledge its end of data.
        """
        yield self.news
        yield from self.process_until(self.has_ended)
        yield from self.process_until(self.has_final_checkpoint)
        yield from self.process_until(self.has_closed)
        self.close_mailbox()

    def finish_record(self, record: Record) -> None:
        """Finish a record: write it into the open transaction as well."""
        if self.sink is not None:
            self.sink.write(record)
        super().finish_record(record)
