"""Who learns what the kernel logs: of buffers an oracle, of records who follows their due instants.

A line shows of a buffer, or of a stretch: records of one channel, one after the other.  Stretches
are kept until someone wants to know. Then the ones of a task are worked out together, senders
before receivers.  A record is processed after it has been sent, so its due instant is there by
then. Where records have identities each line is heard at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from ckptsim.sim.job.buffers.compiled.columns import channel, clock, task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
    from ckptsim.sim.job.buffers.compiled.tables import Tables
    from ckptsim.sim.job.buffers.compiled.task import CompiledTask
    from ckptsim.sim.job.buffers.restoring import Lateness
    from ckptsim.sim.kernel import Environment

# So many lines are worked out at once: a bound for memory, without effect on results.
_MOST = 100_000


class Follower(Protocol):
    """Listens to buffers, as far as the kernel logs."""

    def tell(self, what: int, number: int, item: int, size: int, records: int) -> None:
        """Hear a line of the log, see `columns/clock.py`."""

    def recovered(self, number: int, size: int, records: int) -> None:
        """Hear of a buffer that a restore has put before a channel."""

    def told_to_resume(self, number: int) -> None:
        """Hear that the sender of a channel is asked to continue."""


def tell_of(flat: list[int], follower: Follower, env: Environment) -> list[list[int]]:
    """Let a follower hear what buffers did, at the instants at which they did it.

    flat: the lines, one after the other.  Returns the other lines.
    """
    now, others, first = env._now, [], clock.FIRST_FOLLOWED  # noqa: SLF001
    tell, word = follower.tell, iter(flat)
    # Each barrier has some lines. Taken off one iterator they need no list of their own.
    for what, number, item, size, records, at_ns in zip(*[word] * clock.LOG_WIDTH, strict=True):
        if what < first:
            others.append([what, number, item, size, records, at_ns])
        else:
            env._now = at_ns  # noqa: SLF001
            tell(what, number, item, size, records)
    env._now = now  # noqa: SLF001
    return others


class StretchFollower(Protocol):
    """Listens to tasks."""

    def tell(self, rows: Memory) -> None:
        """Take lines of the log, shape (lines, columns), in their order. See `columns/clock.py`."""


class RecordLog:
    """Moves records that have identities, at the instants at which they are emitted or processed.

    Anyone who waits for room before a source continues then.
    """

    def __init__(self, tables: Tables) -> None:
        self._task_of = tables.task_of
        self._channel_of = tables.channel_of

    def tell(self, rows: Memory) -> None:
        """Take the lines of the log after each entry."""
        for what, number, count, *_ in rows.tolist():
            if what == clock.EMITTED:
                source = self._task_of[number]
                source.env._caller = source.entity  # noqa: SLF001 - as if its timer had called
                source.take(count)  # type: ignore[attr-defined]
            else:
                read = self._channel_of[number]
                if read.gate.task.records is not None:
                    read.gate.task.records.processed(read.index, count)


class StretchLog:
    """The stretches of one attempt that no one has asked for yet."""

    def __init__(self, tables: Tables, lateness: Lateness) -> None:
        lateness.settle()  # what the attempt before has left
        lateness.settle = self.settle
        self._lateness = lateness
        self._rows: list[Memory] = []
        self._count = 0
        self._tasks = _senders_first(tables.tasks)
        self._first_task = tables.tasks[0].row if tables.tasks else 0
        self._first_channel = tables.channels[0].row if tables.channels else 0
        # Of each channel its receiver, the place among that one's channels, and if that is the end.
        ends = tables.channels
        self._receivers = np.array([one.gate.task.number for one in ends], dtype=np.int64)
        self._places = np.array([one.index for one in ends], dtype=np.int64)
        self._last = np.array([not one.gate.task.writers for one in ends], dtype=np.bool_)

    def tell(self, rows: Memory) -> None:
        """Keep lines of the log."""
        self._rows.append(rows)
        self._count += len(rows)
        if self._count > _MOST:
            self.settle()

    def settle(self) -> None:
        """Process the log."""
        if not self._count:
            return
        rows = np.concatenate(self._rows)
        self._rows.clear()
        self._count = 0
        is_emitted = rows[:, 0] == clock.EMITTED
        emitted, processed = rows[is_emitted], rows[~is_emitted]
        channels = (processed[:, 1] - self._first_channel) // channel.WIDTH
        last = self._last[channels]
        self._note_begin(self._receivers[channels][last], processed[last])
        by_source = _by(len(self._tasks), (emitted[:, 1] - self._first_task) // task.WIDTH)
        by_task = _by(len(self._tasks), self._receivers[channels])
        processed[:, 1] = self._places[channels]
        for one in self._tasks:
            if one.is_source:
                self._lateness.emitted_at(one, _due(emitted[by_source[one.number]]))
            else:
                _, places, counts, ends, steps, _ = processed[by_task[one.number]].T
                self._lateness.processed_in(one, places, counts, ends_ns=ends, steps_ns=steps)

    def _note_begin(self, numbers: Memory, rows: Memory) -> None:
        """Note when tasks without outputs took their first records."""
        _, _, counts, ends, steps, _ = rows.T
        for number in np.unique(numbers).tolist():
            begun = (ends - counts * steps)[numbers == number]
            self._lateness.began(number, int(begun.min()))


def _senders_first(tasks: Sequence[CompiledTask]) -> list[CompiledTask]:
    found: dict[int, CompiledTask] = {}

    def add(one: CompiledTask) -> None:
        if one.number not in found:
            for sender in one.upstream:
                add(sender)  # type: ignore[arg-type]
            found[one.number] = one

    for one in tasks:
        add(one)
    return list(found.values())


def _by(count: int, owners: Memory) -> list[Memory]:
    """Return the places of each owner's rows, in their order."""
    order = np.argsort(owners, kind="stable")
    return np.split(order, np.searchsorted(owners[order], np.arange(1, count)))


def _due(rows: Memory) -> Memory:
    """Return when the records that a source has emitted were due, UNKNOWN where it has no clock."""
    _, _, counts, first, gaps, _ = rows.T
    before = np.repeat(np.cumsum(counts) - counts, counts)
    due = np.repeat(first, counts)
    due += np.repeat(gaps, counts) * (np.arange(len(before)) - before)
    due[np.repeat(gaps, counts) < 0] = clock.NONE
    return due
