"""A source of a job: a process that emits records until there are no more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ckptsim.models import acknowledger
from ckptsim.sim.job.embedding import SourceReader
from ckptsim.sim.job.records.kinds import Kind
from ckptsim.sim.job.records.state import SOURCE_SPAN, Record
from ckptsim.sim.job.records.tasks.event_time import SourceMarks
from ckptsim.sim.job.records.tasks.log import SourceLog
from ckptsim.sim.job.records.tasks.task import Steps, Task
from ckptsim.sim.job.splits import Split, held, left


class Source(Task):
    """A source subtask. It makes its records itself, or takes them from a reader."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        reader = self.attempt.world.embedding.reader
        self._reader: SourceReader | None = (
            None if reader is None else reader(self.subtask, self.wake)
        )
        self._enumerator = self.attempt.world.enumerators.get(self.spec.vertex.name)
        self._asked = self._no_more = False
        self._splits = self.attempt.splits.of(self.spec.vertex.name, self.spec.subtask)
        is_cut = self.spec.vertex.acknowledges
        self._log = SourceLog(self) if is_cut else None
        for split in self._splits:
            self._open(split)
        self._marks = SourceMarks(self)
        self._emission = self.env.timer(Kind.EMIT, self.entity, self.wake)

    def run(self) -> Steps:
        """Emit until the data ends, then wait for everything that its end waits for, and close.

        A stop-with-savepoint ends the data as well: its trigger is a mail.
        """
        self._marks.start()
        yield self.news
        yield from self._emit_until_ended()
        yield from self.handle_mails_until(self.has_acknowledgements)
        yield from self.handle_mails_until(self.has_final_checkpoint)
        yield from self.handle_mails_until(self.has_closed)
        self.close_mailbox()

    def _emit_until_ended(self) -> Steps:
        while self.is_running and not self.has_ended():
            if self.held_ns:
                yield from self.spend(self.held_ns, Kind.STEP)
            elif self._takes_mail:
                self.handle_mail()
            elif not self.has_room:
                yield from self._wait_for_room()
            elif self._lacks_split:
                self._ask()
            elif self._is_exhausted:
                self.exhausted = True
                self.control.exhausted()
            elif (due_ns := self._due_ns()) is None:
                yield self.news
            elif due_ns > self.env.now:
                self._emission.arm_at(due_ns)
                yield self.news
            else:
                self._emit_next()

    def _wait_for_room(self) -> Steps:
        """Wait for news, as of room."""
        yield self.news

    @property
    def has_work(self) -> bool:
        """Return whether there is a mail or a due record."""
        if self._takes_mail:
            return True
        if self.has_ended() or not self.has_room:
            return False
        if self._lacks_split:
            return True
        due_ns = self._due_ns()
        if self._is_exhausted or due_ns is None:
            return self._is_exhausted
        return due_ns <= self.env.now or not self._emission.armed

    @property
    def _takes_mail(self) -> bool:
        """Return whether there is a mail that can be handled."""
        return bool(self.mails)

    @property
    def splits(self) -> dict[int, int]:
        """Return how many records it has emitted of each of its splits, by number."""
        return {one.number: one.position for one in self._splits}

    @property
    def held_splits(self) -> dict[int, int]:
        """Return those that are in its state."""
        return self.splits if self._reader is not None else held(self._splits, self.splits)

    @property
    def has_no_splits(self) -> bool:
        """Return whether there is nothing that it may read, now that no one feeds it."""
        return self._reader is None and not self._splits

    @property
    def splits_left(self) -> list[int]:
        """Return the splits that it has to read on, unless a reader or an instant ends them."""
        if self._reader is not None:
            return []
        ends_ns = self.spec.vertex.ends_at_ns
        return left(self._splits, self.splits, ends_ns=ends_ns, now_ns=self.env.now)

    @property
    def makes_records(self) -> bool:
        """Return whether the source makes its records itself."""
        return self._reader is None

    @property
    def _is_exhausted(self) -> bool:
        """Return whether a source has nothing more to read: by count, by time, or long ago."""
        if self._reader is not None:
            return self._reader.exhausted
        vertex = self.spec.vertex
        if self.exhausted or (vertex.ends_at_ns is not None and vertex.ends_at_ns <= self.env.now):
            return True
        is_over = self._enumerator is None or self._no_more
        return is_over and vertex.records is not None and all(one.is_read for one in self._splits)

    def _due_ns(self) -> int | None:
        """Return when something is to be done next: a record is due, or the source ends.

        None while that is not known: its reader has nothing, or it has no split and no end.
        """
        if self._reader is not None and not self._reader.queued_count:
            return None
        due_ns = [one.due_ns for one in self.unread]
        return min(due_ns, default=self.spec.vertex.ends_at_ns)

    @property
    def unread(self) -> list[Split]:
        """Return the splits that have records left. Of one with a reader, that knows by itself."""
        return [one for one in self._splits if self._reader is not None or not one.is_read]

    @property
    def read_splits(self) -> Sequence[Split]:
        """Return the splits that it has, or has read."""
        return self._splits

    @property
    def _lacks_split(self) -> bool:
        """Return whether it has to ask its enumerator for a split."""
        if self._enumerator is None or self._asked or self._no_more or self.exhausted:
            return False
        return not self.unread

    def _ask(self) -> None:
        self._asked = True
        if self._enumerator is not None:
            self._enumerator.request(self)

    def take_split(self, split: Split) -> None:
        """Take a split from the enumerator."""
        self._asked = False
        self._open(split)
        self._splits.append(split)
        self.attempt.progress()
        self.wake()

    def end_splits(self) -> None:
        """Read to the end what it has: no split follows."""
        self._no_more = True
        self.wake()

    def snapshot_taken(self, checkpoint: int) -> None:
        """Say to enumerator and acknowledger that a snapshot is taken."""
        if self._enumerator is not None:
            self._enumerator.snapshot_taken(self, checkpoint)
        if self._log is not None:
            self._log.snapshot_taken(checkpoint)

    def checkpoint_ended(self, checkpoint: int, *, completed: bool) -> None:
        """Take a notification, by which the log may be acknowledged."""
        if self._log is not None:
            kinds = acknowledger.CheckpointCompleted, acknowledger.CheckpointAborted
            self._log.notified(kinds[not completed](checkpoint))

    def _open(self, split: Split) -> None:
        origin = self.attempt.graph.begun_as(self.spec.vertex.name)
        split.gap_ns = origin.pause_of(split.index)
        split.due_ns = self.env.now + split.gap_ns
        if self._log is not None:
            self._log.open(split)

    def _emit_next(self) -> None:
        """Emit the record that is due first. What a source with a reader takes in is its state."""
        split = min(self.unread, key=lambda one: (one.due_ns, one.number))
        record = next_record(split)
        if self._reader is not None:
            record = self._reader.take()
            self.state.append(record)
        split.due_ns = self.env.now + (split.gap_ns or 0)
        self.attempt.progress()
        self._marks.read(split, record)
        self.emit(record)


def next_record(split: Split) -> Record:
    """Return the identity of the next record of a split, which is read."""
    split.position += 1
    return split.number * SOURCE_SPAN + split.position - 1
