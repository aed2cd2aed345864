"""Source tasks: records without input, as fast as the outputs allow or at a rate.

A source with a rate emits evenly.  What back-pressure made it miss is caught up as far as
`catch_up_ns` reaches and dropped beyond that.  A source that is fed from outside emits what its
reader has queued, no faster than its rate, and catches nothing up.
A replayable source drops nothing: its record n is due n intervals after the start of the job,
through all attempts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.buffers.kinds import State
from ckptsim.sim.job.buffers.tasks.task import Steps, Task

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.embedding import SourceReader
    from ckptsim.sim.job.graph import TaskSpec

_FOR_EVER_NS = 1 << 62

# By name, as in `task.py`: these are looked at for every buffer.
_BUSY, _PACED = State.BUSY, State.PACED
_IDLE, _ENDED = State.IDLE, State.ENDED


class Source(Task):
    """One subtask of a source.

    step_ns: how long one record takes; gap_ns: time between two records that are due, None for as
    fast as possible; first_ns: when the first one is due; limit: how many there are, or None.
    due_ns: when the first record is due that is not accounted for.  replayable: its clock does not
    stop, and nothing is dropped.
    exhausted_ns: since when there are no more records; is_cut_off: because a stop has ended them,
    so that whoever resumes from its savepoint reads on.
    """

    is_source = True

    def __init__(
        self,
        world: DataflowWorld,
        spec: TaskSpec,
        *,
        step_ns: int,
        gap_ns: int | None,
        first_ns: int,
        limit: int | None,
        replayable: bool = False,
    ) -> None:
        super().__init__(world, spec, step_ns=step_ns, two_input=False)
        self.gap_ns = gap_ns
        self.limit = limit
        self.exhausted_ns: int | None = None
        self.is_cut_off = False
        self.due_ns = first_ns
        self._told_to_stop = False
        self._catch_up_ns = _FOR_EVER_NS if replayable else world.constants.catch_up_ns
        self.replayable = replayable
        self._reader: SourceReader | None = None

    def feed(self, reader: SourceReader) -> None:
        """Take records from a reader from now on."""
        self._reader = reader
        self._catch_up_ns = 0

    def wake(self) -> None:
        """Look for work, because the reader has some or has come to its end."""
        if self.state is State.IDLE and self.exhausted_ns is None:
            self._wake()

    def _look(self) -> State:
        while self.state is not _ENDED:
            if self._paused_for is not None:
                return State.PAUSED
            if self.mail:
                function, arguments = self.mail.popleft()
                function(*arguments)
            elif self.exhausted_ns is not None:
                return _IDLE
            elif self._has_come_to_its_end:
                self.exhaust()
            elif not self._outputs_available():
                return State.BLOCKED
            elif self._told_to_stop:
                self.exhaust()
            elif self._reader is not None and not self._reader.queued_count:
                return _IDLE
            else:
                return _BUSY
        return _ENDED

    @property
    def _has_come_to_its_end(self) -> bool:
        if self.limit is not None and self.processed >= self.limit:
            return True
        return self._reader is not None and self._reader.exhausted

    @property
    def has_records(self) -> bool:
        """Whether there is something to emit now."""
        if self._reader is not None:
            return self._reader.queued_count > 0
        return self.exhausted_ns is None

    @property
    def is_exhausted(self) -> bool:
        """Whether there are no more records, for good."""
        return self.exhausted_ns is not None and not self.is_cut_off

    def stop(self) -> None:
        """Let the input end when the source asks it for a record the next time.

        A source that stands for want of output buffers asks nothing, so it ends later than told.
        """
        self._told_to_stop = True

    def change_rate(self, gap_ns: int) -> None:
        """Emit at another rate from now on; called on the task's thread, between two records."""
        self.gap_ns = gap_ns
        # The next record is due by the old rate, unless that was so slow that the new one is first.
        self.due_ns = min(self.due_ns, self.env.now + gap_ns)

    def exhaust(self) -> None:
        """End the input: no records follow."""
        if self.exhausted_ns is None:
            self.exhausted_ns = self.env.now
            self.control.exhausted()

    def cut_off(self) -> None:
        """Emit nothing more: the end of the data has been sent."""
        if self.exhausted_ns is None:
            self.exhausted_ns, self.is_cut_off = self.env.now, True

    def _serve(self) -> Steps:
        if self.gap_ns is not None and self._wait_for_due():
            yield from self._spend_until(self.due_ns, _PACED)
        else:
            yield from self._spend_until(self.env.now + self.step_ns, _BUSY)

    def _can_be_seen(self) -> bool:
        if self._reader is not None or self.processed + 1 == self.limit:
            return True
        # A source that has caught up begins to wait.
        paces = self.gap_ns is not None and self.due_ns + self.gap_ns > self._boundary_ns
        return (paces and self.state is _BUSY) or self._opens_next()

    def _wait_for_due(self) -> bool:
        """Return whether the next record is not due; drop what lies too far back."""
        self.due_ns = max(self.due_ns, self.env.now - self._catch_up_ns)
        return self.due_ns > self.env.now

    def _complete(self) -> None:
        if self.lateness is not None:
            self.lateness.emitted(self)
        self.processed += 1
        if self.gap_ns is not None:
            self.due_ns += self.gap_ns
        if self._reader is not None and self.records is not None:
            self.records.emitted([self._reader.take()])
        self._emit()

    def post(self, function: Callable[..., object], *arguments: Any) -> None:
        """Put something into the mailbox; a source that waits for its next record is at hand."""
        super().post(function, *arguments)
        if self.state is _PACED:
            self._is_serving = False
            self._timer.arm_at(self.env.now)
