"""Which record is where: identities beside data that moves as sizes and counts.

On buffers a record is a share of the bytes of a buffer.  An embedded job is asked for the records
in its state, transactions and checkpoints. They are followed here, beside the data and without an
effect on it.  Three things make that possible:

* a channel keeps the order of its records, so the n-th emitted one is the n-th processed one,
  however buffers were cut on the way.
* which channel a record takes is a sequence that can be drawn once more from the start (`Route`).
* a checkpoint cuts a channel at two places: what the receiver had processed, and what the sender
  had emitted, when they took their snapshots.  State at the receiver follows the first place, and
  state at the sender lies before the second. The persisted buffers have the number of records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.output import Route
    from ckptsim.sim.job.buffers.state.recovery import Spans
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint

Records = list[int]
Held = dict[int, Sequence[int]]
"""Records in flight by the place of a channel among those of a task, oldest first."""

# How many channel numbers are drawn at a time: speed only, no effect on results.
_BLOCK = 256


class ChannelRecords:
    """The records of one channel in the order of sending. `taken` of them are processed."""

    __slots__ = ("records", "taken")

    def __init__(self, restored: Records) -> None:
        self.records = restored
        self.taken = 0

    def take(self, count: int) -> Records:
        """Take the next records."""
        first, self.taken = self.taken, self.taken + count
        return self.records[first : self.taken]


class OutputRecords:
    """What one output of a task distributes, by a route of its own that draws the same channels."""

    __slots__ = ("_ahead", "_broadcast", "_route", "channels")

    def __init__(self, route: Route, channels: list[ChannelRecords], *, broadcast: bool) -> None:
        self.channels = channels
        self._route = route
        self._broadcast = broadcast
        self._ahead: list[int] = []

    def put(self, records: Records) -> None:
        """Emit records, each into its channel or into all."""
        if self._broadcast:
            for channel in self.channels:
                channel.records += records
            return
        while len(self._ahead) < len(records):
            self._ahead += self._route.block(_BLOCK).tolist()
        for record, place in zip(records, self._ahead, strict=False):
            self.channels[place].records.append(record)
        del self._ahead[: len(records)]


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a snapshot of a task cuts its channels: processed by input, emitted by subpartition."""

    taken: tuple[int, ...]
    emitted: tuple[int, ...]


class TaskRecords:
    """The records of one task.

    state: the records in its state, in the order of processing. Of a source fed from outside those
    that it has emitted.
    """

    __slots__ = ("_inputs", "_outputs", "_task", "state")

    def __init__(
        self, task: Task, state: Records, inputs: list[ChannelRecords], outputs: list[OutputRecords]
    ) -> None:
        self.state = state
        self._task = task
        self._inputs = inputs
        self._outputs = outputs

    @property
    def sent(self) -> list[Records]:
        """What went into each subpartition, oldest first: the restored data, then what followed."""
        return [channel.records for output in self._outputs for channel in output.channels]

    def processed(self, channel: int, count: int) -> None:
        """Follow records of an input channel through the task."""
        self.emitted(self._inputs[channel].take(count))

    def emitted(self, records: Records) -> None:
        """Follow records into state, transactions and channels."""
        self.state += records
        if self._task.sink is not None:
            for record in records:
                self._task.sink.write(record)
        for output in self._outputs:
            output.put(records)
        self._task.world.progressed()

    def cut(self) -> Cut:
        """Return where a snapshot cuts the channels that is taken now."""
        return Cut(
            tuple(channel.taken for channel in self._inputs),
            tuple(len(records) for records in self.sent),
        )

    def held_at_inputs(self, cut: Cut, spans: Spans) -> Held:
        """Return which records the buffers have that became state at the inputs."""
        found: Held = {}
        for place in spans:
            first = cut.taken[place]
            found[place] = self._inputs[place].records[first : first + _count(spans, place)]
        return found

    def held_at_outputs(self, cut: Cut, spans: Spans) -> Held:
        """Return which records the buffers have that became state at the outputs."""
        found: Held = {}
        sent = self.sent
        for place in spans:
            end = cut.emitted[place]
            found[place] = sent[place][max(0, end - _count(spans, place)) : end]
        return found


def _count(spans: Spans, place: int) -> int:
    return sum(records for _, records in spans[place])


class Identities:
    """The records of a job, attempt after attempt."""

    def __init__(self) -> None:
        self._routes: dict[int, list[tuple[Route, bool]]] = {}
        self._final: dict[int, tuple[int, ...]] = {}  # the state of tasks that have FINISHED

    def route(self, task: Task, route: Route, *, broadcast: bool) -> None:
        """Take a copy of how a task's next output distributes records. Nothing is drawn so far."""
        self._routes.setdefault(task.number, []).append((route.again(), broadcast))

    def finished(self, task: Task) -> None:
        """Keep the state of a task that has FINISHED: no checkpoint holds it any more."""
        if task.records is not None:
            self._final[task.number] = tuple(task.records.state)

    def deploy(self, tasks: list[Task], restored: JobCheckpoint | None) -> None:
        """Give the tasks of an attempt their records, with what a checkpoint holds of them."""
        routes, self._routes = self._routes, {}
        channels = {
            (task.number, place): ChannelRecords(self._in_flight(task, place, restored))
            for task in tasks
            for place in range(len(task.subpartitions))
        }
        for task in tasks:
            inputs = [
                channels[channel.subpartition.owner.number, channel.subpartition.core.index]
                for channel in task.channels
            ]
            outputs, first = [], 0
            for writer, (route, broadcast) in zip(
                task.writers, routes.get(task.number, []), strict=True
            ):
                places = range(first, first + len(writer.subpartitions))
                own = [channels[task.number, place] for place in places]
                outputs.append(OutputRecords(route, own, broadcast=broadcast))
                first += len(own)
            task.records = TaskRecords(task, self._state(task, restored), inputs, outputs)

    def _state(self, task: Task, restored: JobCheckpoint | None) -> Records:
        if restored is None:
            return []
        snapshot = restored.tasks.get(task.number)
        if snapshot is not None:
            return list(snapshot.records)
        # It had finished when the checkpoint was taken. What it had done is in no part of that.
        return list(self._final.get(task.number, ()))

    def _in_flight(self, task: Task, place: int, restored: JobCheckpoint | None) -> Records:
        """Return restored data of a channel, first of its receiver, then of its sender."""
        if restored is None:
            return []
        channel = task.subpartitions[place].input_channel
        receiver = restored.tasks.get(channel.gate.task.number)
        sender = restored.tasks.get(task.number)
        return [
            *(() if receiver is None else receiver.input_records.get(channel.index, ())),
            *(() if sender is None else sender.output_records.get(place, ())),
        ]
