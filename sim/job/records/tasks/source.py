"""A source of a job: a process that emits records until there are no more."""

from __future__ import annotations

from typing import Any

from ckptsim.sim.job.embedding import SourceReader
from ckptsim.sim.job.records.kinds import Kind
from ckptsim.sim.job.records.state import SOURCE_SPAN
from ckptsim.sim.job.records.tasks.task import Steps, Task


class Source(Task):
    """A source subtask; it makes its records itself, or takes them from a reader."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        reader = self.attempt.world.embedding.reader
        self._reader: SourceReader | None = (
            None if reader is None else reader(self.subtask, self.wake)
        )
        self._pause_ns = self.spec.vertex.pause_of(self.spec.subtask)
        self._next_emission_ns = self.env.now + self._pause_ns
        self._emission = self.env.timer(Kind.EMIT, self.entity, self.wake)

    def run(self) -> Steps:
        """Emit until the data ends, then wait for everything that its end waits for, and close.

        A stop-with-savepoint ends the data as well: its trigger is a mail.
        """
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
            elif self.mails:
                self.handle_mail()
            elif not self.has_room:
                yield self.news
            elif self._is_exhausted:
                self.exhausted = True
                self.control.exhausted()
            elif self._reader is not None and not self._reader.queued_count:
                yield self.news
            elif self._next_emission_ns > self.env.now:
                self._emission.arm_at(self._next_emission_ns)
                yield self.news
            else:
                self._emit_next()

    @property
    def makes_records(self) -> bool:
        """Say whether the source makes its records itself."""
        return self._reader is None

    @property
    def _is_exhausted(self) -> bool:
        """Say whether a source has nothing more to read: by count, by time, or long ago."""
        if self._reader is not None:
            return self._reader.exhausted
        vertex = self.spec.vertex
        if self.exhausted or (vertex.ends_at_ns is not None and vertex.ends_at_ns <= self.env.now):
            return True
        own = vertex.records_of(self.spec.subtask)
        return own is not None and self.position >= own + self.attempt.graph.preloaded_records

    def _emit_next(self) -> None:
        """Emit a record; the state of a source with a reader is what it has taken in."""
        if self._reader is None:
            record = self.spec.split * SOURCE_SPAN + self.position
        else:
            record = self._reader.take()
            self.state.append(record)
        self.observer.record_begun()
        self.position += 1
        self._next_emission_ns = self.env.now + self._pause_ns
        self.attempt.progress()
        self.emit(record)
