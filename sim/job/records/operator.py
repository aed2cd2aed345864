"""Operators and sinks of a job: processes that take records and events, one at a time.

It begins a record only while every output has room, so it never stops in the middle of one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from ckptsim.models.barriers import (
    Announcement,
    Barrier,
    CancellationMarker,
    EndOfData,
    EndOfPartition,
    NetworkEvent,
)
from ckptsim.sim.job.control.sink import open_sink
from ckptsim.sim.job.records.kinds import Kind
from ckptsim.sim.job.records.link import Link
from ckptsim.sim.job.records.snapshot import WATERMARK, Element, Record
from ckptsim.sim.job.records.task import Steps, Task


class Operator(Task):
    """A subtask with inputs."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._service_ns = self.spec.vertex.service_of(self.spec.subtask)
        handler = self.control.handler
        self._clock = None if handler is None else handler.core.clock
        self._turn = 0
        self._woken = Kind.STEP

    def run(self) -> Steps:
        """Process until all inputs have ended, then wait for everything that the end waits for.

        Barriers go on to come in meanwhile, and EndOfPartition of each input.
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
            elif not self.has_room or (link := self._ready()) is None:
                self._woken = yield self.news
            elif self._woken is not Kind.BEGIN and link.head_takes_time:
                # A record is begun last: a barrier that gets here in this instant goes first.
                self._woken = yield self.last_in_instant()
            else:
                self._turn = (link.spec.input + 1) % len(self.inputs)
                record = self._take(link)
                if record is not None:
                    yield from self.spend(self._service_ns, Kind.SERVICE)
                    self.finish_record(record)
                    self._woken = yield self.last_in_instant()

    def _with_priority(self) -> Link | None:
        """Return the first channel in which something has overtaken what was queued."""
        for link in self.inputs:
            if link.channel.has_priority:
                return link
        return None

    def _ready(self) -> Link | None:
        """Return the next channel in turn that has an element."""
        inputs, turn = self.inputs, self._turn
        for link in inputs[turn:] + inputs[:turn] if turn else inputs:
            if link.recovered or len(link.channel):
                return link
        return None

    def _take(self, link: Link) -> Record | None:
        """Take the next element of a channel; return a record that is to be processed.

        Recovered records come first, then the channel's own.
        """
        priority = link.channel.has_priority
        if link.recovered and not priority:
            data = link.recovered.pop(0)
            link.observer.taken(data)
            link.consumed, record = data
        else:
            element = link.channel.poll()
            if isinstance(element, NetworkEvent):
                self._handle(link, element, priority=priority)
                return None
            data = cast("Element", element)
            link.taken(data)
            record = data[1]
        if record == WATERMARK:
            self.control.max_watermark(link.spec.input)
            return None
        if self._clock is not None and self._clock.running:
            self._clock.add_bytes(1)  # every record counts as one
        return record

    def finish_record(self, record: Record) -> None:
        """Finish a record: its effect on the state, then what goes out."""
        self.attempt.progress()
        self.state.append(record)
        self.emit(record)

    def _handle(self, link: Link, event: NetworkEvent, *, priority: bool) -> None:
        channel, control = link.spec.input, self.control
        handler = control.handler
        if handler is None:
            raise AssertionError(f"{self.name} has no inputs, and gets {event!r}")
        link.observer.taken(event, priority=priority)
        match event:
            case Barrier():
                handler.barrier(channel, event)
            case Announcement(barrier, sequence):
                handler.announcement(channel, barrier, sequence)
            case CancellationMarker(checkpoint):
                handler.cancellation(channel, checkpoint)
            case EndOfData(drain):
                self.end_modes.add(drain)
                control.end_of_data(channel, event)
            case EndOfPartition():
                control.end_of_partition(channel)
            case _:
                raise AssertionError(f"no such element in a channel: {event!r}")


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
        """Write until all inputs have ended; wait until the last transaction is committed; close.

        Nobody is below that could acknowledge its end of data.
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
