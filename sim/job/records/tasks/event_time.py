"""Event time in a job on records: what sources tell of it, and what tasks with inputs make of it.

Marks travel as data, so they are in flight in unaligned checkpoints and come back with them. What a
task has made of them is no state, and begins anew with every attempt.  A sender shows changes
alone: after a restart it counts as active until it says otherwise, whatever its receivers were told
before the checkpoint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.lifecycle import FINAL_WATERMARK, NO_WATERMARK
from ckptsim.sim.job.events import of_tasks, of_time
from ckptsim.sim.job.records.keys import timestamp_of
from ckptsim.sim.job.records.kinds import Kind
from ckptsim.sim.job.records.state import Mark, Record

if TYPE_CHECKING:
    from ckptsim.sim.job.records.tasks.source import Source
    from ckptsim.sim.job.records.tasks.task import Task
    from ckptsim.sim.job.splits import Split


class _Told:
    """What a task has told of its event time in this attempt."""

    def __init__(self) -> None:
        self.watermark = NO_WATERMARK
        self.idle = False

    def tell(self, watermark: int, *, idle: bool) -> Mark | None:
        """Return the change, None if nothing has."""
        later = watermark if watermark > self.watermark else None
        other = idle if idle is not self.idle else None
        if later is None and other is None:
            return None
        self.watermark, self.idle = max(watermark, self.watermark), idle
        return Mark(later, other)


class EventTime:
    """The event time of a task, by its input channels over all gates.

    A task takes an element only while its outputs have room for one, which is all that it sends on.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._is_on = task.attempt.job.event_time.watermark_interval_ns is not None
        attempt = task.attempt
        self._valve = attempt.cores.watermarks(sum(attempt.graph.gate_channels[task.number]))
        self._told, self._tell = _Told(), task.tell
        self._over_ns: int | None = None  # since when event time is at its end

    def take(self, channel: int, mark: Mark) -> None:
        """Take what a sender shows, and pass on what changes by it."""
        self._tell(of_time.WatermarkTaken(self._task, channel, mark.watermark, mark.idle))
        mark.tell(self, channel)
        self.pass_on()
        self._settled()

    def end(self, channel: int) -> None:
        """Take the final watermark of a channel, by which an idle one is active again."""
        self._tell(of_time.WatermarkTaken(self._task, channel, FINAL_WATERMARK, idle=False))
        self.take_status(channel, idle=False)
        self.take_watermark(channel, FINAL_WATERMARK)
        self._settled()

    def _settled(self) -> None:
        if self._is_on:
            self._tell(of_time.WatermarksSettled(self._task))

    def take_watermark(self, channel: int, timestamp: int) -> None:
        """Take a watermark. The final one moves event time before it counts for the task's end."""
        self._valve.take_watermark(channel, timestamp)
        if timestamp == FINAL_WATERMARK:
            self.pass_on()
            self._task.control.max_watermark(channel)

    def take_status(self, channel: int, *, idle: bool) -> None:
        """Take a status."""
        self._valve.take_status(channel, idle=idle)

    def pass_on(self) -> None:
        """Send the change. The end of event time is reported by the final watermark."""
        if not self._is_on:
            return
        if self._valve.watermark == FINAL_WATERMARK:
            if self._over_ns is None and self._valve.has_passed_idle:
                self._over_ns = self._task.env.now
            return
        mark = self._told.tell(self._valve.watermark, idle=self._valve.idle)
        if mark is None:
            return
        if self._valve.has_passed_idle:
            self._task.attempt.goal("watermark_passed_an_idle_input")
        self._task.emit(mark)

    def timestamp_of(self, record: Record) -> int | None:
        """Return the event time of a record, in ns, None where the job has none."""
        if not self._is_on:
            return None
        # Channels of a gate that takes in-flight data over stand for several each.
        if self._over_ns is not None and not any(gate.recovered for gate in self._task.gates):
            self._task.env.trace.record("event_time_over", self._task.entity, self._over_ns)
        return timestamp_of(self._task.attempt.graph, record)


class SourceMarks:
    """What a source shows of event time, at every tick.

    A split has come as far as its latest record, which is the least that the next one is after. A
    source as far as the least of its splits that are not idle, once each of these had a record.  It
    is idle when all of them are, or when it has had none for as long.
    Source: Apache Flink 1.20.3, BoundedOutOfOrdernessWatermarks with nothing out of order,
    WatermarksWithIdleness, WatermarkOutputMultiplexer.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._table = source.attempt.job.event_time
        self._told = _Told()
        self._latest: dict[int, int] = {}  # timestamps by split
        self._read_ns: dict[int, int] = {}
        self._began_ns = source.env.now

    def start(self) -> None:
        """Begin to tick."""
        source = self._source
        self._began_ns = source.env.now
        was_rescaled = len(set(source.attempt.world.parallelisms[source.spec.vertex.name])) > 1
        moved = list(source.splits) if was_rescaled else []
        source.tell(of_time.SplitsOpened(source, moved))
        self._tick()

    def read(self, split: Split, record: Record) -> None:
        """Note a record that is emitted now."""
        source, timestamp = self._source, None
        if self._table.watermark_interval_ns is not None:
            timestamp = self._latest[split.number] = timestamp_of(source.attempt.graph, record)
            self._read_ns[split.number] = source.env.now
        source.tell(of_tasks.RecordRead(source, split.number, timestamp))

    def _tick(self) -> None:
        source, interval_ns = self._source, self._table.watermark_interval_ns
        if interval_ns is None or source.has_ended() or not source.makes_records:
            return
        source.post(self._tell)
        source.attempt.later(interval_ns, Kind.EMIT, source.entity, self._tick)

    def _tell(self) -> None:
        """Send the change, if there is room. Else the next tick does."""
        source = self._source
        if source.has_ended() or not source.has_room:
            return
        unread = [one.number for one in source.unread]
        if not unread and source.spec.vertex.records is not None:
            return  # its end comes next
        active = [split for split in unread if not self._is_idle(split)]
        known = [self._latest[split] for split in active if split in self._latest]
        watermark = min(known) - 1 if known and len(known) == len(active) else NO_WATERMARK
        mark = self._told.tell(watermark, idle=not active and (bool(unread) or self._is_idle(None)))
        if mark is not None:
            source.emit(mark)
        source.tell(of_time.SplitsTold(source, unread))

    def _is_idle(self, split: int | None) -> bool:
        """Return whether nothing has come of a split for so long. None: since the beginning."""
        timeout_ns = self._table.idle_timeout_ns
        if timeout_ns is None:
            return False
        since_ns = self._began_ns if split is None else self._read_ns.get(split, self._began_ns)
        return self._source.env.now - since_ns >= timeout_ns
