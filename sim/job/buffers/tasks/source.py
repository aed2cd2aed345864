"""Source tasks: records without input, as fast as the outputs allow or at a rate.

A source with a rate emits evenly, of each of its splits by a clock of its own. Without a rate its
splits take turns.  What back-pressure made it miss is caught up as far as `catch_up_ns` reaches and
dropped beyond that.  A source that is fed from outside emits what its reader has queued, no faster
than its rate, and catches nothing up. A replayable source drops nothing, and its clocks run through
all attempts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.buffers.due import turned
from ckptsim.sim.job.buffers.kinds import State
from ckptsim.sim.job.buffers.tasks.task import Steps, Task
from ckptsim.sim.job.splits import held, left

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.embedding import SourceReader
    from ckptsim.sim.job.graph import TaskSpec
    from ckptsim.sim.job.splits import Split

_FOR_EVER_NS = 1 << 62

# By name, as in `task.py`: these are looked at for every buffer.
_BUSY, _PACED = State.BUSY, State.PACED
_IDLE, _ENDED = State.IDLE, State.ENDED


class Source(Task):
    """One subtask of a source.

    step_ns: how long one record takes. splits: what it reads, each with the time between two that
    are due, None for as fast as possible, and when the first one is due that is not accounted for.
    limit: how many records there are, or None.  replayable: its clocks do not stop, and nothing is
    dropped.
    exhausted_ns: since when there are no more records. is_cut_off: because a stop has ended them,
    so that anyone who resumes from its savepoint reads on.
    """

    is_source = True

    def __init__(
        self,
        world: DataflowWorld,
        spec: TaskSpec,
        *,
        step_ns: int,
        splits: Sequence[Split],
        limit: int | None,
        replayable: bool = False,
    ) -> None:
        super().__init__(world, spec, step_ns=step_ns, two_input=False)
        self._splits = splits
        self._split = None if is_idle(splits) else splits[0]
        self.limit = limit
        self.exhausted_ns: int | None = None
        self.is_cut_off = False
        self._told_to_stop = False
        self._catch_up_ns = _FOR_EVER_NS if replayable else world.constants.catch_up_ns
        self.replayable = replayable
        self._reader: SourceReader | None = None

    @property
    def splits(self) -> dict[int, int]:
        """Return how many records it has emitted of each of its splits, by number."""
        if len(self._splits) == 1:  # all that it has emitted is of that one
            return {self._splits[0].number: self.processed}
        return {one.number: one.position for one in self._splits}

    @property
    def held_splits(self) -> dict[int, int]:
        """Return those that are in its state."""
        return self.splits if self._reader is not None else held(self._splits, self.splits)

    @property
    def is_fed(self) -> bool:
        """Whether a reader has its records, and not a clock."""
        return self._reader is not None

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
    def is_clocked(self) -> bool:
        """Whether its records fall due whether it is up or not."""
        return self.replayable and any(one.gap_ns is not None for one in self._splits)

    @property
    def is_behind(self) -> bool:
        """Whether a record is due that it has not emitted, and could not have just now."""
        now_ns, step_ns = self.env.now, 2 * self.step_ns
        clocks = self._clocks() if self.has_records else ()
        return any(gap is not None and due + gap + step_ns <= now_ns for gap, due in clocks)

    def _clocks(self) -> list[tuple[int | None, int]]:
        """Return the gap between two records of each split, and when its next one is due."""
        return [(one.gap_ns, one.due_ns) for one in self._splits if not one.is_read]

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
            elif not self.has_records:
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
        return self.exhausted_ns is None and self._split is not None

    @property
    def is_exhausted(self) -> bool:
        """Whether there are no more records, for good."""
        return self.exhausted_ns is not None and not self.is_cut_off

    def stop(self) -> None:
        """Let the input end when the source asks it for a record the next time.

        A source that represents want of output buffers asks nothing, so it ends later than told.
        """
        self._told_to_stop = True

    def change_rates(self, gaps_ns: Mapping[int, int]) -> None:
        """Emit at other rates from now on. Called on the task's thread, between two records.

        gaps_ns: by the number of the split.
        """
        for one in self._splits:
            gaps = one.gap_ns or 1, gaps_ns[one.number]
            one.due_ns = turned(one.due_ns, gaps, self.env.now, replayable=self.replayable)
            one.gap_ns = gaps_ns[one.number]

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
        split = self._next_split()
        if split.gap_ns is not None:
            split.due_ns = max(split.due_ns, self.env.now - self._catch_up_ns)
        if split.gap_ns is not None and split.due_ns > self.env.now:
            yield from self._spend_until(split.due_ns, _PACED)
        else:
            yield from self._spend_until(self.env.now + self.step_ns, _BUSY)

    def _next_split(self) -> Split:
        """Turn to the split with the earliest next record, if there are several."""
        if len(self._splits) > 1:
            unread = (one for one in self._splits if not one.is_read)
            self._split = min(unread, key=lambda one: (one.due_ns, one.number))
        assert self._split is not None, "a source without a split serves no record"
        return self._split

    def _can_be_seen(self) -> bool:
        # After each record another split may be next.
        if self._reader is not None or len(self._splits) > 1 or self.processed + 1 == self.limit:
            return True
        # A source that has caught up begins to wait.
        (split,) = self._splits
        paces = split.gap_ns is not None and split.due_ns + split.gap_ns > self._boundary_ns
        return (paces and self.state is _BUSY) or self._opens_next()

    def _complete(self) -> None:
        split = self._split
        assert split is not None
        if self.lateness is not None:
            self.lateness.emitted(self, None if split.gap_ns is None else split.due_ns)
        self.processed += 1
        split.position += 1
        split.due_ns += 1 if split.gap_ns is None else split.gap_ns  # or turns are counted
        if self._reader is not None and self.records is not None:
            self.records.emitted([self._reader.take()])
        self._emit()

    def post(self, function: Callable[..., object], *arguments: Any) -> None:
        """Put something into the mailbox. A source that waits for its next record is at hand."""
        super().post(function, *arguments)
        if self.state is _PACED:
            self._is_serving = False
            self._timer.arm_at(self.env.now)


def is_idle(splits: Sequence[Split]) -> bool:
    """Return whether there is nothing to read in any of several splits, or there is no split."""
    return len(splits) != 1 and all(one.is_read for one in splits)
