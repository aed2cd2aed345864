"""What a task has to do before it begins another record: barriers that overtake, time-outs.

A record is the unit of everything that must happen "at once": a barrier that came before, or an
instant that has passed, may delay no more than the record already under way.  So no data may be
begun while something waits that goes first, and the wait may not outlast a record; time in which
the thread could do nothing (a snapshot is copied, an output has no buffer) does not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.scenarios.dialect import duration_text
from ckptsim.sim.job.oracle.channels import FOR_EVER_NS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ckptsim.sim.job.oracle.tasks import TaskOracle

Instant = tuple[int, int]
"""An instant in ns, and how long the thread had been busy by then with what is no record."""
_NEXT = "unaligned_barriers_are_taken_next"
_TIME_OUT = "time_out_ends_alignment"


def _hears_of_all(instant_ns: int) -> None:
    """Do nothing: where all data is heard of there is nothing to ask for."""
    del instant_ns


class Urgent:
    """What waits at one task.

    hear_after: is called with the instant after which each record that begins has to be reported,
    below 0 for all, where the data plane reports no others.
    """

    def __init__(self, task: TaskOracle) -> None:
        self._task = task
        self.hear_after: Callable[[int], None] = _hears_of_all
        self._overtaking: dict[tuple[int, int], Instant] = {}  # (channel, checkpoint) -> arrival
        self._due: tuple[int, Instant] | None = None  # checkpoint, its time-out
        self._outs_due_ns = FOR_EVER_NS  # no barrier in an output has to overtake before

    def _ask(self) -> None:
        due_ns = FOR_EVER_NS if self._due is None else self._due[1][0]
        self.hear_after(-1 if self._overtaking else min(due_ns, self._outs_due_ns))

    def arrived(self, channel: int, checkpoint: int, at: Instant) -> None:
        """Note an unaligned barrier that has come to the front of a channel, and when."""
        self._overtaking.setdefault((channel, checkpoint), at)
        if len(self._overtaking) == 1:
            self._ask()

    def taken(self, channel: int, checkpoint: int) -> None:
        """Check that a barrier, if it overtakes, has waited for the record under way at most."""
        arrived = self._overtaking.pop((channel, checkpoint), None)
        if arrived is not None:
            if not self._overtaking:
                self._ask()
            self._check_at_once(_NEXT, checkpoint, arrived)

    def aligns(self, checkpoint: int, due: Instant | None) -> None:
        """Note a checkpoint that is aligned from now on, and when it times out, if it does."""
        self._due = None if due is None else (checkpoint, due)
        self._ask()

    def queued(self, due_ns: int) -> None:
        """Note a barrier in an output that has to overtake if it is there at an instant."""
        if due_ns < self._outs_due_ns:
            self._outs_due_ns = due_ns
            self._ask()

    def triggered(self, checkpoint: int) -> None:
        """Check that a time-out that has passed has ended the alignment at once."""
        if self._due is not None and self._due[0] == checkpoint:
            self._check_at_once(_TIME_OUT, checkpoint, self._due[1])

    def over(self, checkpoint: int) -> None:
        """Note that nothing of a checkpoint is aligned any more, nor of older ones."""
        if self._due is not None and self._due[0] <= checkpoint:
            self._due = None
            self._ask()

    def record_begun(self) -> None:
        """Check that nothing waits that goes before a record."""
        task, now_ns = self._task, self._task.now_ns
        for index, number in self._overtaking:
            name = task.inputs[index].sender.name
            task.says(_NEXT, f"begins a record while a barrier of {name} overtakes", number)
        if self._due is not None and self._due[1][0] < now_ns:
            number, (due_ns, _) = self._due
            says = f"still aligns {number}, {duration_text(now_ns - due_ns)} after its time-out"
            task.says(_TIME_OUT, says, number)
        if self._outs_due_ns >= now_ns:
            return
        for out in task.outputs:
            late = out.overdue(now_ns)
            if late is not None:
                says = f"keeps barrier {late} queued for {out.receiver.name} after its time-out"
                task.says(_TIME_OUT, says, late)
        self._outs_due_ns = min(out.due_ns for out in task.outputs)
        self._ask()

    def look(self) -> None:
        """Check that nothing has waited too long that goes before a record."""
        for (_, number), arrived in list(self._overtaking.items()):
            self._check_at_once(_NEXT, number, arrived)
        if self._due is not None and self._due[1][0] < self._task.now_ns:
            self._check_at_once(_TIME_OUT, *self._due)

    def _check_at_once(self, name: str, checkpoint: int, since: Instant) -> None:
        """Check that what the task does now it does within a record."""
        task = self._task
        if task.now_ns - since[0] <= task.at_once_ns:
            return  # however busy it was
        late_ns = task.late_ns(since)
        if late_ns > task.at_once_ns:
            task.says(name, f"comes {duration_text(late_ns)} late to {checkpoint}", checkpoint)
