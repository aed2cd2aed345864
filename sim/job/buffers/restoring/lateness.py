"""How late records are: from the instant at which a source's clock made them due.

Sources with a rate make record n due at n / rate, whether the job is up or not.  Per channel the
due instants of its records are kept in their order, which data never changes. A task that processes
records takes them from the front of a channel and puts them after the ones of its outputs. At a
task without outputs they meet the end of the record's service.  A checkpoint is two places in that
sequence, how far the sender had come and how far the receiver, and what lies between was in
flight: with that a restart begins.

Nothing here has an effect on the simulation.  Records without a due instant (of a source without a
rate) are not late.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from ckptsim.sim.job.buffers.input import Channel
    from ckptsim.sim.job.buffers.restoring.rescale import VirtualChannelData
    from ckptsim.sim.job.buffers.state import BufferSnapshot, Span
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint

Instants = NDArray[np.int64]
"""Due instants in ns, shape (records,); UNKNOWN where there is none."""

UNKNOWN = -1
CELL_NS = 20_000_000
"""Whether a job has caught up is looked at on this grid."""
CALM_NS = 1_000_000_000
"""For how long it has to be as before the failure."""
_MOST_TASKS = 1 << 20
_ROOM = 1024

Key = tuple[int, int]
"""A channel: number of the receiving task, place among its channels."""


def _nothing() -> None:
    """Take in what tasks have told at once: nothing is left."""


class DueInstants:
    """The due instants of one channel in one attempt, and how many its receiver has taken."""

    __slots__ = ("_due", "_first", "pushed", "taken")

    def __init__(self, first: Instants) -> None:
        self._due = first
        self._first = 0  # records before the array, which are forgotten
        self.pushed = len(first)
        self.taken = 0

    def push(self, due: Instants) -> None:
        """Put the records after the others."""
        begin = self.pushed - self._first
        end = begin + len(due)
        if end > len(self._due):
            grown = np.empty(max(end, 2 * len(self._due), _ROOM), dtype=np.int64)
            grown[:begin] = self._due[:begin]
            self._due = grown
        self._due[begin:end] = due
        self.pushed += len(due)

    def take(self, count: int) -> Instants:
        """Take records from the front.

        Of those that no sender has told of, no one knows when they were due: tasks of the design
        before FLIP-147 leave a backlog in their channels that no checkpoint knows of.
        """
        first = min(self.taken, self.pushed)
        self.taken += count
        found = self._due[first - self._first : min(self.taken, self.pushed) - self._first]
        if len(found) == count:
            return found
        return np.concatenate([found, np.full(count - len(found), UNKNOWN, dtype=np.int64)])

    def between(self, taken: int, pushed: int) -> Instants:
        """Return the records in flight between two places."""
        return self._due[taken - self._first : pushed - self._first].copy()

    def pass_over(self, due_ns: int) -> None:
        """Let the records in flight be due so much later."""
        in_flight = self._due[self.taken - self._first : self.pushed - self._first]
        in_flight[in_flight != UNKNOWN] += due_ns

    def forget(self, kept: int) -> None:
        """Forget the taken records before a place."""
        kept = max(self._first, min(kept, self.taken))
        self._due = self._due[kept - self._first : self.pushed - self._first].copy()
        self._first = kept


def _taken(parts: Sequence[VirtualChannelData], held: Mapping[Key, Instants]) -> list[Instants]:
    """Return the due instants that a channel takes: all that was at receivers, then at senders."""
    received: list[Instants] = []
    sent: list[Instants] = []
    for part in parts:
        due = held[part.old]
        kept = np.ones(len(due), dtype=np.bool_) if part.taken.kept is None else part.taken.kept
        if len(kept) != len(due):  # it was no cut, as the oracle says. Nothing is known of these
            due = np.full(len(kept), UNKNOWN, dtype=np.int64)
        received.append(due[: part.received][kept[: part.received]])
        sent.append(due[part.received :][kept[part.received :]])
    return received + sent


class Lateness:
    """The due instants of all records in flight, and how late they were at the end.

    ends, late, tasks: per stretch of a task without outputs, when its records were done, how late
    each was, in ns, and the number of the task.  began_ns: per attempt, when such a task took the
    first record. None for never.
    settle: takes in what a log of the attempt still has, before anybody wants to know.
    """

    def __init__(self) -> None:
        self.ends: list[Instants] = []
        self.late: list[Instants] = []
        self.tasks: list[Instants] = []
        self.began_ns: list[int | None] = [None]
        self.settle: Callable[[], None] = _nothing
        self._channels: dict[Key, DueInstants] = {}
        self._thin = 0  # how many parts of `ends`, `late` and `tasks` are thinned out
        self._left_alone: frozenset[int] = frozenset()
        self._marks: dict[int, dict[Key, list[int]]] = {}
        self._held: dict[int, dict[Key, Instants]] = {}  # of the checkpoint that was restored

    # What tasks tell --------------------------------------------------------------------------

    def emitted(self, source: Task, due_ns: int | None) -> None:
        """Note the next record of a source, before it is written. due_ns: None without a clock."""
        due = UNKNOWN if due_ns is None else due_ns
        self.emitted_at(source, np.array([due], dtype=np.int64))

    def emitted_at(self, source: Task, due: Instants) -> None:
        """Note the next records of a source by their due instants."""
        self._write(source, due)

    def processed(self, task: Task, channel: Channel) -> None:
        """Note that the next record of a channel is done now."""
        due = self._of(task.number, channel.index).take(1)
        if task.writers:
            self._write(task, due)
            return
        self.began(task.number, task.env.now - task.step_ns)
        self._done(task.number, np.array([task.env.now], dtype=np.int64), due)

    def processed_in(
        self,
        task: Task,
        places: Instants,
        counts: Instants,
        *,
        ends_ns: Instants,
        steps_ns: Instants,
    ) -> None:
        """Note stretches of a task in their order, all of shape (stretches,).

        places: of their channels among the ones of the task. ends_ns: when the last record was
        done.
        """
        channels = np.repeat(places, counts)
        due = np.empty(len(channels), dtype=np.int64)
        for index in np.unique(places).tolist():
            mine = channels == index
            due[mine] = self._of(task.number, index).take(int(np.count_nonzero(mine)))
        if task.writers:
            self._write(task, due)
            return
        behind = np.repeat(np.cumsum(counts), counts) - np.arange(1, len(due) + 1)
        done_ns = np.repeat(ends_ns, counts) - np.repeat(steps_ns, counts) * behind
        self._done(task.number, done_ns, due)

    def began(self, number: int, at_ns: int) -> None:
        """Note when a task without outputs has taken a record: the first one counts.

        Of tasks that a failure has left alone none does.
        """
        if number in self._left_alone:
            return
        began_ns = self.began_ns[-1]
        self.began_ns[-1] = at_ns if began_ns is None else min(began_ns, at_ns)

    def _done(self, number: int, ends: Instants, due: Instants) -> None:
        known = due != UNKNOWN
        self.ends.append(ends[known])
        self.late.append(ends[known] - due[known])
        self.tasks.append(np.full(len(self.ends[-1]), number, dtype=np.int64))

    def _write(self, task: Task, due: Instants) -> None:
        for writer in task.writers:
            out = np.repeat(due, writer.outputs_of(len(due)))
            channels = writer.upcoming(len(out))
            for subpartition in writer.subpartitions:
                mine = out if writer.broadcast else out[channels == subpartition.channel]
                if len(mine):
                    self._of(
                        subpartition.input_channel.gate.task.number,
                        subpartition.input_channel.index,
                    ).push(mine)

    def _of(self, number: int, index: int) -> DueInstants:
        found = self._channels.get((number, index))
        if found is None:
            found = self._channels[number, index] = DueInstants(np.empty(0, dtype=np.int64))
        return found

    def found(self, tasks: Sequence[Task]) -> None:
        """Note what lies in the outputs of tasks that have just been made: no one knows its due."""
        for task in tasks:
            for subpartition in task.subpartitions:
                key = subpartition.input_channel.gate.task.number, subpartition.input_channel.index
                self._push_unknown(key, subpartition.waiting())

    def knows(self, checkpoint: int) -> bool:
        """Return whether tasks have said how far they had come at a checkpoint."""
        return checkpoint in self._marks or checkpoint in self._held

    def started_from(self, tasks: Sequence[Task], restored: JobCheckpoint) -> None:
        """Begin with what another job has left in flight. No one knows when it was due."""
        self.settle()
        self._channels = {}
        self.began_ns.append(None)
        for task in tasks:
            snapshot: BufferSnapshot | None = restored.tasks.get(task.number)
            if snapshot is None:
                continue
            for place, spans in snapshot.input_spans.items():
                self._push_unknown((task.number, place), spans)
        for task in tasks:
            snapshot = restored.tasks.get(task.number)
            for place, subpartition in enumerate(task.subpartitions):
                held = [] if snapshot is None else snapshot.output_spans.get(place, [])
                self._push_unknown(
                    (subpartition.input_channel.gate.task.number, subpartition.input_channel.index),
                    held,
                )

    def _push_unknown(self, key: Key, spans: Iterable[Span]) -> None:
        count = sum(records for _, records in spans)
        if count:
            self._of(*key).push(np.full(count, UNKNOWN, dtype=np.int64))

    def in_flight(self, receivers: Collection[int]) -> dict[Key, Instants]:
        """Return when the records were due that are on their way to some tasks."""
        self.settle()
        return {
            key: one.between(one.taken, one.pushed)
            for key, one in self._channels.items()
            if key[0] in receivers
        }

    # Stretches that are not simulated ---------------------------------------------------------

    def forget(self, now_ns: int, completed: Collection[int], pending: Collection[int]) -> None:
        """Keep only records in flight of checkpoints, in jobs that run for long.

        Of the processed records it keeps the latest one of each task in each cell.
        """
        self.settle()
        known = {one: self._in_flight(one) for one in completed if self.knows(one)}
        self._held.update(known)
        self._marks = {one: self._marks[one] for one in pending if one in self._marks}
        self._held = {one: held for one, held in self._held.items() if one in completed}
        for key, one in self._channels.items():
            places = [marks[key][0] for marks in self._marks.values() if key in marks]
            one.forget(min(places, default=one.taken))
        if len(self.ends) > self._thin:
            self._thin_out(now_ns - CALM_NS)

    def pass_over(self, now_ns: int, lasts_ns: int, due_ns: int, *, is_late: bool) -> None:
        """Let records in flight be due so much later: a stretch has passed until now.

        Records that are late stay so meanwhile, by straight lines.
        """
        self.settle()
        for one in self._channels.values():
            one.pass_over(due_ns)
        if is_late:
            self._fill_in(now_ns, lasts_ns, lasts_ns - due_ns)

    def _thin_out(self, until_ns: int) -> None:
        """Keep of each task the latest record of each cell before an instant."""
        parts = [np.concatenate(one[self._thin :]) for one in (self.ends, self.late, self.tasks)]
        old = parts[0] < until_ns
        ends, late, tasks = (one[old] for one in parts)
        cells = ends // CELL_NS * _MOST_TASKS + tasks
        order = np.lexsort((-late, cells))
        first = np.ones(len(order), dtype=np.bool_)
        first[1:] = np.diff(cells[order]) != 0
        stays = order[first]
        for one, part in zip((self.ends, self.late, self.tasks), parts, strict=True):
            one[self._thin :] = [part[old][stays], part[~old]]
        self._thin += 1

    def _fill_in(self, now_ns: int, lasts_ns: int, later_ns: int) -> None:
        """Note records of every task in a stretch that has passed. later_ns: from end to end."""
        parts = (self.ends[self._thin :], self.late[self._thin :], self.tasks[self._thin :])
        ends, late, tasks = map(np.concatenate, parts)
        steps = np.arange(CALM_NS // 2, lasts_ns, CALM_NS // 2, dtype=np.int64)
        for number in np.unique(tasks[ends >= now_ns - lasts_ns - CALM_NS]).tolist():
            before = late[(tasks == number) & (ends >= now_ns - lasts_ns - CALM_NS)]
            self.ends.append(now_ns - lasts_ns + steps)
            self.late.append(
                before.max() + later_ns * (steps // 1_000_000) // (lasts_ns // 1_000_000)
            )
            self.tasks.append(np.full(len(steps), number, dtype=np.int64))

    # Checkpoints ------------------------------------------------------------------------------

    def snapshot(self, task: Task, checkpoint: int) -> None:
        """Note how far a task has come in its channels, when it takes its snapshot."""
        self.settle()
        marks = self._marks.setdefault(checkpoint, {})
        for channel in task.channels:
            key = (task.number, channel.index)
            marks.setdefault(key, [0, 0])[0] = self._of(*key).taken
        for subpartition in task.subpartitions:
            key = (subpartition.input_channel.gate.task.number, subpartition.input_channel.index)
            marks.setdefault(key, [0, 0])[1] = self._of(*key).pushed

    def restored(
        self,
        checkpoint: int | None,
        parts: Mapping[Key, Sequence[VirtualChannelData]] | None = None,
        kept: Mapping[Key, Instants] | None = None,
    ) -> None:
        """Begin an attempt with the in-flight data in a checkpoint, None for nothing.

        parts: what each channel takes, where they are others than the ones of the checkpoint.
        kept: in-flight data between tasks that run on.
        """
        self.settle()
        held: dict[Key, Instants] = {}
        if checkpoint is not None:
            held = self._in_flight(checkpoint)
        if parts is not None:
            now = {key: np.concatenate(_taken(taken, held)) for key, taken in parts.items()}
        else:
            now = held
        now = {**now, **(kept or {})}
        self._left_alone = frozenset(number for number, _ in kept or ())
        self._channels = {key: DueInstants(due.copy()) for key, due in now.items()}
        self._marks = {}  # older checkpoints cannot be restored once a newer one was
        self._held = {} if checkpoint is None else {checkpoint: held}  # it may be once more
        self.began_ns.append(None)

    def _in_flight(self, checkpoint: int) -> dict[Key, Instants]:
        """Return the due instants of what a checkpoint holds in flight, by its channels."""
        if checkpoint in self._held:
            return self._held[checkpoint]
        return {
            key: self._of(*key).between(taken, pushed)
            for key, (taken, pushed) in self._marks[checkpoint].items()
        }
