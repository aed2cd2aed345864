"""What a task of a job has to do in time: records that wait, barriers that are needed, writing.

A record is the unit of everything that must happen "at once": a barrier that came before, or an
instant that has passed, may delay no more than the record already under way.  So no data may be
begun while something waits that goes first, and the wait may not outlast a record. Time in which
the thread could do nothing (a snapshot is copied, an output has no buffer) does not count.

A checkpoint needs the channels that are open when the task first learns of it, no more and no fewer
later on: each of them has come when its barrier was taken or when it has ended since.  This never
asks the barrier handler, so it can be held against what the handler says.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ckptsim.scenarios.dialect import duration_text
from ckptsim.sim.job.oracle.channels import FOR_EVER_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ckptsim.sim.job.oracle.tasks import TaskOracle

Instant = tuple[int, int]
"""An instant in ns, and how long the thread had been busy by then with what is no record."""
_NEXT = "unaligned_barriers_are_taken_next"
_TIME_OUT = "time_out_ends_alignment"
_IN_TIME = "parts_are_written_in_time"
_MOST = 50  # as many checkpoints as an at-least-once tracker keeps in mind


def _hears_of_all(instant_ns: int) -> None:
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
        task = self._task
        at_once_ns = task.at_once_ns
        if task.now_ns - since[0] <= at_once_ns:
            return  # however busy it was
        late_ns = task.late_ns(since)
        if late_ns > at_once_ns:
            task.says(name, f"comes {duration_text(late_ns)} late to {checkpoint}", checkpoint)


class NeededBarriers:
    """The open checkpoints of one task.

    channels: how many the task reads. one_at_a_time: whether a newer checkpoint ends the older ones
    (it does not where barriers are only counted).
    """

    def __init__(self, channels: int, *, one_at_a_time: bool) -> None:
        self._open_channels = dict.fromkeys(range(channels))
        self._one_at_a_time = one_at_a_time
        self._missing: dict[int, dict[int, None]] = {}
        self._newest = -1

    def opened(self, checkpoint: int) -> None:
        """Note that the task learns of a checkpoint. Only of a newer one is it the first time."""
        if checkpoint <= self._newest:
            return
        self._newest = checkpoint
        if self._one_at_a_time:
            self._missing.clear()
        self._missing[checkpoint] = dict(self._open_channels)
        if len(self._missing) > _MOST:
            del self._missing[min(self._missing)]

    def came(self, channel: int, checkpoint: int) -> None:
        """Note a barrier that the task has taken, or been given for a channel."""
        if checkpoint > self._newest:
            self.opened(checkpoint)
        if (missing := self._missing.get(checkpoint)) is not None:
            missing.pop(channel, None)

    def ended(self, channel: int) -> None:
        """Note that a channel has ended: it counts as come everywhere, and is needed no more."""
        self._open_channels.pop(channel, None)
        for missing in self._missing.values():
            missing.pop(channel, None)

    def over(self, checkpoint: int) -> None:
        """Note that a checkpoint was aborted or is complete, and with it all older ones."""
        self._newest = max(self._newest, checkpoint)
        self._missing = {
            number: missing for number, missing in self._missing.items() if number > checkpoint
        }

    def failed(self) -> None:
        """Note that the task has failed: nothing is expected of it."""
        self._missing.clear()

    def complete(self, checkpoint: int) -> str | None:
        """Note that the task says all barriers have come. Returns the problems of that."""
        missing = sorted(self._missing.get(checkpoint, {}))
        self.over(checkpoint)
        if not missing:
            return None
        channels = f"channel{'s' * (len(missing) > 1)} {', '.join(map(str, missing))}"
        return f"counts all barriers of {checkpoint}, without {channels}"

    def kept_waiting(self) -> tuple[int, str] | None:
        """Return a checkpoint that waits though all channels have come, and the words for it."""
        for number, missing in self._missing.items():
            if not missing:
                del self._missing[number]
                return number, f"waits for {number}, of which all channels have come"
        return None


class Writing:
    """Which parts of one task are being written, and since when that is all they wait for.

    A part ends within `PlaneView.writing_ns` of the instant at which its snapshot has been taken,
    all its barriers have come, and the state of all its outputs is known. Where subtasks share a
    file of channel state, the same holds of the others by then. After that nothing more is written
    for it. A checkpoint that expires would hide that it never is.

    peers: all tasks of the attempt, by number.  open_outputs: of how many outputs the state is not
    known, by checkpoint.  given_up: the task with a part of a shared file that may never be whole.
    """

    def __init__(self, task: TaskOracle, peers: Mapping[int, TaskOracle]) -> None:
        self._task = task
        self._peers = peers
        self._since_ns: dict[int, int | None] = {}  # since when nothing else is missing
        self._missing: TaskOracle | None = None
        self.open_outputs: Counter[int] = Counter()
        self.given_up: dict[int, None] = {}

    @property
    def is_under_way(self) -> bool:
        """Return whether a part is being written."""
        return bool(self._since_ns)

    def begun(self, checkpoint: int) -> None:
        """Expect that a part is written."""
        self._since_ns[checkpoint] = None
        self.look()

    def file_begun(self, checkpoint: int) -> None:
        """Check that no file is begun of a checkpoint that was aborted before."""
        if checkpoint in self.given_up:
            says = f"begins to write a file for {checkpoint}, which it has aborted"
            self._task.says(_IN_TIME, says, checkpoint)

    def ended(self, checkpoint: int, *, whole: bool) -> None:
        """Check that a part was not under way for too long."""
        self.look()
        self._since_ns.pop(checkpoint, None)
        if not whole:
            self.given_up[checkpoint] = None

    def look(self) -> None:
        """Check that no part has been under way for too long, at an instant or between two."""
        if not self._since_ns:
            return
        task = self._task
        if task.is_over or task.lifecycle.closed_ns is not None:
            self._since_ns.clear()
            return
        longest_ns = task.plane.writing_ns
        for checkpoint, since_ns in list(self._since_ns.items()):
            if since_ns is None:
                if self._has_all(checkpoint):
                    self._since_ns[checkpoint] = task.now_ns
            elif any(one.is_over for one in self._peers.values()):
                self._since_ns[checkpoint] = None  # one that it may have waited for has failed
            elif longest_ns is not None and task.now_ns > since_ns + longest_ns:
                del self._since_ns[checkpoint]
                says = f"writes its part of {checkpoint} since {duration_text(since_ns)}, and "
                task.says(_IN_TIME, f"{says}waits for nothing else", checkpoint)

    def _has_all(self, checkpoint: int) -> bool:
        missing = self._missing
        if missing is not None and not missing.writing.is_through(checkpoint):
            return False  # the one that was missing when it was asked last
        waits = (one for one in self._peers.values() if not one.writing.is_through(checkpoint))
        self._missing = next(waits, None)
        return self._missing is None

    def is_through(self, checkpoint: int) -> bool:
        """Return whether a checkpoint wants nothing more of the task than to write."""
        task = self._task
        if task.is_over or checkpoint in self.given_up:
            return False
        if task.lifecycle.closed_ns is not None:
            return True
        has_come = not task.inputs or task.ended >= checkpoint
        return has_come and not self.open_outputs[checkpoint]
