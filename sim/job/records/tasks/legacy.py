"""A legacy source: a function of the user's that emits on a thread of its own.

The thread holds the checkpoint lock while it emits a record, also while that waits for room. Mails
wait for the lock, so a trigger waits for room.  A stop cancels the thread: the function learns of
it between two records, and may emit some more before it returns. Only then EndOfData and the
savepoint follow, so all that it emits is before both.  Where a stop suspends the mailbox alone, the
thread does not learn of it, and emits after EndOfData.

Source: Apache Flink 1.20.3, SourceStreamTask, SynchronizedStreamTaskActionExecutor. FLIP-147.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ckptsim.scenarios.job import StoppedBy
from ckptsim.sim.job.records.kinds import Kind
from ckptsim.sim.job.records.tasks.source import Source
from ckptsim.sim.job.records.tasks.task import Steps

if TYPE_CHECKING:
    from ckptsim.models.barriers.barrier import Barrier
    from ckptsim.models.lifecycle import StopMode


class LegacySource(Source):
    """A source subtask of the old interface."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._is_cancelled = self.spec.vertex.stopped_by is StoppedBy.CANCEL
        self._stop: tuple[Barrier, StopMode] | None = None  # what follows the end of the thread
        self._left = 0  # records that the function emits before it returns
        self._locked_ns = 0  # for how long it has waited for room with the lock
        self._locked_from_ns: int | None = None

    def take_trigger(self, barrier: Barrier, stop: StopMode | None) -> None:
        """Take a trigger. The one of a stop waits until the thread has ended."""
        if stop is None or not self._is_cancelled or self.has_ended():
            super().take_trigger(barrier, stop)
        else:
            self.post(self._cancel, barrier, stop)

    def _cancel(self, barrier: Barrier, stop: StopMode) -> None:
        self._stop, self._left = (barrier, stop), self.spec.vertex.after_cancel_records
        self._end_if_done()

    def _end_if_done(self) -> None:
        """Let the stop continue when the function has returned."""
        if self._stop is not None and (not self._left or self._is_exhausted or self.has_ended()):
            stop, self._stop = self._stop, None
            super().take_trigger(*stop)

    @property
    def _takes_mail(self) -> bool:
        """Return whether a mail can be handled: the thread does not hold the lock."""
        due_ns = None if self.has_room or self._is_exhausted else self._due_ns()
        return bool(self.mails) and (due_ns is None or due_ns > self.env.now)

    def _wait_for_room(self) -> Steps:
        """Wait for news. The thread takes the lock when its next record is due."""
        due_ns = None if self._is_exhausted else self._due_ns()
        self._locked_from_ns = None if due_ns is None else max(self.env.now, due_ns)
        yield from super()._wait_for_room()
        self._locked_ns, self._locked_from_ns = self._all_locked_ns, None

    @property
    def _all_locked_ns(self) -> int:
        since_ns = self._locked_from_ns
        return self._locked_ns + max(0, 0 if since_ns is None else self.env.now - since_ns)

    @property
    def busy_ns(self) -> int:
        """Return for how long the thread of the mailbox could not work until now."""
        return super().busy_ns + self._all_locked_ns

    def _emit_until_ended(self) -> Steps:
        yield from super()._emit_until_ended()
        self._end_if_done()

    def _emit_next(self) -> None:
        super()._emit_next()
        if self._stop is not None:
            self.attempt.goal("emitted_after_cancel")
            self._left -= 1
            self._end_if_done()

    def handle_mails_until(self, reached: Callable[[], bool]) -> Steps:
        """Handle mails until a condition holds. A thread that was not cancelled emits meanwhile."""
        if self._is_cancelled:
            yield from super().handle_mails_until(reached)
            return
        while self.attempt.alive and not reached():
            due_ns = self._due_ns() if self.has_room and not self._is_exhausted else None
            if self.held_ns:
                yield from self.spend(self.held_ns, Kind.STEP)
            elif self.mails:
                self.handle_mail()
            elif due_ns is not None and due_ns <= self.env.now:
                self._emit_next()
            else:
                if due_ns is not None:
                    self._emission.arm_at(due_ns)
                yield self.news
