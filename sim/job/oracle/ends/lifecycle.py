"""What must hold of a task's end: marks, calls, acknowledgements, final checkpoint, closing.

Nothing here asks a lifecycle core what it believes: every step towards the end is checked against
what was called, taken, performed and completed.

What a task waits for (FLIP-147; `models/lifecycle/tables.py`) comes to it one by one: the end of
its data, EndOfPartition on every input, the acknowledgement of its EndOfData on every output, the
completion of its final checkpoint, and the end of what it writes asynchronously.  At the instant of
the last one it closes, and EndOfPartition leaves on every output: a task that looks too late, or an
EndOfPartition behind a backlog, shows as a delay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.lifecycle import TaskState
from ckptsim.scenarios.dialect import duration_text, listed
from ckptsim.scenarios.job import Job, Protocol
from ckptsim.sim.job.oracle.channels import AT_ONCE
from ckptsim.sim.job.oracle.ends.observer import LifecycleObserver
from ckptsim.sim.job.oracle.event_time import RESTORED

if TYPE_CHECKING:
    from collections.abc import Callable

    from ckptsim.sim.job.oracle.tasks import TaskOracle
    from ckptsim.sim.job.oracle.urgent import Instant

_ORDER = ("watermark", "end of data", "end of partition")
_MARKS = "end_marks_in_order"
# For how long a source may read on behind the instant that ends it; an assumption: far more than
# any record, or restore, of a job takes that is that small.
_OVERTIME_NS = 1_000_000_000


class LifecycleOracle(LifecycleObserver):
    """What one task of one attempt has done about its end.

    reported: its end of data has come to the coordinator.  closed_ns: when it closed.
    cut_off: a source that was stopped before it had ended; cut_short: without drain.
    restored_id, completed: the checkpoint that the attempt began from and those of the job that are
    complete, as the oracle of the job knows them.  was_rescaled: in any attempt so far;
    was_rescaled_before: in one before this.  ended_before: subtasks of its vertex had finished, or
    ended their data, in the checkpoint that the attempt began from.
    misled: a watermark that its checkpoint held has ended event time before the data were over.
    """

    def __init__(self, job: Job, task: TaskOracle) -> None:
        self._task = task
        self._naive = job.ending.protocol is Protocol.NAIVE
        self._final = job.checkpointing.coordinated and job.checkpointing.after_finish
        self._is_flink = job.ending.protocol is Protocol.FLINK
        self._wants_acknowledgements = job.ending.acknowledgements
        self.reported = self.cut_off = self.cut_short = self.ended_before = False
        self.closed_ns: int | None = None
        self.restored_id: int | None = None
        self.was_rescaled = self.was_rescaled_before = self.misled = False
        self.completed: dict[int, None] = {}
        self._marks: list[str] = []
        self._final_inputs: dict[int, None] = {}
        self._calls: list[tuple[str, int]] = []
        self._performed: list[int] = []  # since the end of its data
        self._savepoint: int | None = None
        self._heard = -1
        self._ended: Instant | None = None
        self._complete: Instant | None = None  # when it heard of its final checkpoint
        self._settled: Instant = (0, 0)
        self._to_give_up: int | None = None  # a checkpoint, before it closes
        (vertex,) = (one for one in job.vertices if one.name == task.task.place[0])
        self._ends_ns = vertex.ends_at_ns  # of a source
        self._is_endless = vertex.is_source and vertex.records is None and self._ends_ns is None
        self._began_ns = task.now_ns

    # What the task sends and calls ------------------------------------------------------------

    def marked(self, mark: str, /, *, drain: bool = False) -> None:
        """Check that each end mark comes once, in order."""
        task, marks = self._task, self._marks
        if marks and _ORDER.index(mark) <= _ORDER.index(marks[-1]):
            self._violate(_MARKS, f"{task.name} sends {mark} after {marks[-1]}")
        if drain and task.outputs and "watermark" not in marks:
            says = f"{task.name} sends the end of drained data before the final watermark"
            self._violate(_MARKS, says)
        marks.append(mark)
        if mark == "end of partition":
            self._leaves()

    def _leaves(self) -> None:
        """Check that, under the acknowledgement rule, the channels of a task that goes are empty.

        EndOfPartition leaves now, or when a queue that is blocked continues.
        """
        task = self._task
        if not self._final or self._naive:
            return
        for out, written in zip(task.outputs, task.plane.written(task.task), strict=True):
            out.ends()
            left = written - out.taken_amount
            if left:
                says = f"{task.name} leaves with {left} records not processed behind it"
                self._violate("finished_task_leaves_no_records", says)

    def record_sent(self) -> None:
        """Check that no record follows an end mark; where a restore misled a task it was told."""
        marks = self._marks
        if marks and not (marks[-1] == "watermark" and self._any(lambda end: end.misled)):
            self._violate(_MARKS, f"{self._task.name} sends a record after {self._marks[-1]}")

    def watermark_taken(self, channel: int, /) -> None:
        """Note an input of which no record may come any more, as the checkpoint says.

        What a sender puts behind a watermark of its own is seen in `record_sent`.
        """
        end = self._task.inputs[channel]
        if end.taken_amount <= end.restored_amount:
            self._final_inputs[channel] = None

    def record_taken(self, channel: int, /) -> None:
        """Check that no record follows the final watermark that the checkpoint had of its channel.

        It is of the subtasks whose place the sender has now, and what they had sent lies in front
        of it.  Behind it the sender's own records can come once the job was rescaled, since the
        sender may have another share: a hazard with its own name, if each of them had sent one.
        Source: Apache Flink 1.20.3, `RescalingStreamTaskNetworkInput.finishRecovery`.
        """
        if channel not in self._final_inputs:
            return
        del self._final_inputs[channel]
        task, end = self._task, self._task.inputs[channel]
        is_of_all = end.final_watermarks >= end.old_channels
        is_own = end.taken_amount > end.restored_amount
        # Of an attempt that was rescaled the checkpoint has the sender's own records behind it.
        self.misled = is_of_all and (self.was_rescaled_before or (self.was_rescaled and is_own))
        says = f"{task.name} processes a record of {end.sender.name} behind the final watermark "
        name = RESTORED if self.misled else _MARKS
        self._violate(name, f"{says}that the checkpoint had of their channel")

    def called(self, what: str, operator: int, /) -> None:
        """Check that an operator is called at most once for each thing, and not after the wrong."""
        name, calls = self._task.name, self._calls
        gates = max(1, len(self._task.task.gates))
        allowed = gates if what == "end_input" and operator == 0 else 1
        if calls.count((what, operator)) >= allowed:
            self._violate(_MARKS, f"{name}: {what} is called too often")
        if what == "end_input" and ("finish", operator) in calls:
            self._violate(_MARKS, f"{name}: endInput is called after finish")
        if what == "finish" and ("advance", operator) not in calls and not self._naive:
            self._violate(_MARKS, f"{name} finishes before its event time has come to its end")
        calls.append((what, operator))
        if self.is_cut() and (what == "finish" or (what == "advance" and not self.is_told())):
            says = f"{name}: {what} is called, but its input was cut by a stop without drain"
            self._violate("no_drain_ends_nothing", says)

    def is_cut(self) -> bool:
        """Say whether some of the input was cut; endInput may be true of the other gates."""
        return self._any(lambda end: end.cut_short)

    def is_told(self) -> bool:
        """Say whether each input that was cut had ended event time in flight at the checkpoint."""
        ends = [(i, end.sender.lifecycle) for i, end in enumerate(self._task.inputs)]
        known = self._final_inputs
        return bool(ends) and all(i in known or not o.is_cut() or o.is_told() for i, o in ends)

    def _any(self, holds: Callable[[LifecycleOracle], bool]) -> bool:
        """Say whether something holds of the task, or of one that it has data of."""
        return any(holds(task.lifecycle) for task in with_upstream(self._task))

    def stop_asked(self, *, drain: bool, ended: bool) -> None:
        """Note that a source is stopped, perhaps before it has ended by itself."""
        self.cut_off = self.cut_off or not ended
        self.cut_short = self.cut_short or not (drain or ended)

    def end_of_data_acknowledged(self, channel: int, /) -> None:
        """Check that EndOfData is acknowledged after it was taken, and once."""
        end = self._task.inputs[channel]
        if end.drained is None or end.acknowledged:
            how = "twice" if end.acknowledged else "before it is polled"
            says = f"{self._task.name} acknowledges EndOfData of {end.sender.name} {how}"
            self._violate("acknowledged_once_when_polled", says)
        end.acknowledged = True

    def acknowledgement_heard(self, output: int, /) -> None:
        """Note that the task hears that its EndOfData was taken."""
        channel = self._task.outputs[output]
        channel.heard = channel.heard or self._task.instant()

    # The final checkpoint ---------------------------------------------------------------------

    def performed(self, checkpoint: int, /, *, stop: bool) -> None:
        """Note that the task takes part in a checkpoint, and whether that could be its last."""
        if stop:
            self._savepoint = checkpoint
        if self._ended is not None:
            self._performed.append(checkpoint)

    def completion_heard(self, checkpoint: int | None, /, *, by_abort: bool = False) -> None:
        """Note that the task hears of a completion; one behind a newer one says nothing.

        The FLIP's rules know none by an abort.
        """
        heard = max(self._heard, self.restored_id or 0)
        if checkpoint is None or checkpoint <= heard or (by_abort and not self._is_flink):
            return
        self._heard = checkpoint
        if self._savepoint is not None and self._is_flink:  # a stop waits for its own savepoint
            final = checkpoint == self._savepoint
        else:
            final = bool(self._performed) and checkpoint >= self._performed[0]
        if final and self._complete is None:
            self._complete = self._task.instant()

    def abort_taken(self, checkpoint: int, latest_completed: int | None, /) -> None:
        """Note that the task's thread takes the notification that a checkpoint was given up."""
        self._task.notifications.taken(self._task, checkpoint, completed=False)
        if latest_completed is not None:
            self._task.notifications.repeats(self._task, checkpoint, latest_completed)

    def giving_up(self, checkpoint: int | None, /) -> None:
        """Note which checkpoint the task has to give up before it closes; None: it has."""
        self._to_give_up = checkpoint

    def completion_taken(self, checkpoint: int, /, *, acted: bool) -> None:
        """Check that what was before the restore changes nothing."""
        self._task.notifications.taken(self._task, checkpoint, completed=True)
        restored = self.restored_id
        if restored is not None and acted and checkpoint <= restored:
            says = f"{self._task.name} acts on the completion of {checkpoint}, though it was "
            says += f"restored from {restored}"
            self._violate("old_notifications_change_nothing", says)

    def writes_settled(self) -> None:
        """Note that nothing is being written asynchronously any more."""
        self._settled = self._task.instant()

    # Closing ----------------------------------------------------------------------------------

    def state_changed(self, state: TaskState, /) -> None:
        """Note the end of the data; check the closing of the task."""
        if state is TaskState.WAITING_FOR_FINAL_CP:
            self._ended = self._task.instant()
            self._check_read()
        elif state is TaskState.CLOSED:
            self.closed_ns = self._task.now_ns
            self._check_nothing_open()
            late_ns = self._late_ns()
            if late_ns:
                says = f"{self._task.name} closes {duration_text(late_ns)} after all that it waits "
                says += "for was over"
                self._violate(AT_ONCE, says)

    def _check_read(self) -> None:
        """Check that a source has read all it has when it ends its data, but for a stop."""
        left = [] if self.cut_off else self._task.plane.splits_left(self._task.task)
        if left:
            says = f"{self._task.name} ends its data with records left in splits {listed(left)}"
            self._violate("sources_read_to_their_end", says)
        goes_on = self._is_endless and not (self.cut_off or self.ended_before)
        if goes_on and self._task.plane.has_no_splits(self._task.task):
            says = f"{self._task.name} ends its data without a split of a source that has no end"
            self._violate("sources_read_to_their_end", says)

    def _check_nothing_open(self) -> None:
        """Check, when a task closes, that nothing that it has to wait for is open."""
        task, missing = self._task, []
        if self._final and not any(number in self.completed for number in self._performed):
            missing.append("the completion of a checkpoint that it took part in after its end")
        if self._final and not self._naive:
            unpolled = [out.receiver.name for out in task.outputs if out.drained is None]
            missing += [f"{name} to take its EndOfData" for name in unpolled]
        open_inputs = [channel.sender.name for channel in task.inputs if channel.over is None]
        missing += [f"EndOfPartition of {name}" for name in open_inputs]
        if self._ended is None:
            missing.append("the end of its data")
        if task.is_writing or task.task.ending.has_writes:
            missing.append("its snapshots and commits")
        if task.entering is not None:
            missing.append(f"barrier {task.entering}, which it is about to send on")
        if self._to_give_up is not None:
            missing.append(f"giving up checkpoint {self._to_give_up}, as it was told to")
        if missing:
            says = f"{task.name} closes and does not wait for {', '.join(missing)}"
            self._violate("closes_when_all_is_over", says)

    def run_ended(self, *, held_ns: int) -> None:
        """Check, at the end of a run, that the task does not stay although its waits are over.

        Nor does a source read on that an instant was to end.  held_ns: for how long faults may
        hold it up, by back pressure.
        """
        if self._ends_ns is not None and self._ended is None and self.closed_ns is None:
            late_ns = self._task.now_ns - max(self._ends_ns, self._began_ns)
            if late_ns > _OVERTIME_NS + held_ns:
                says = f"{self._task.name} reads on {duration_text(late_ns)} after the instant "
                says += "that ends it"
                self._violate("sources_read_to_their_end", says)
        late_ns = 0 if self.closed_ns is not None else self._late_ns()
        if late_ns and not self._task.task.ending.has_writes:
            says = f"{self._task.name} has not closed {duration_text(late_ns)} after all that it "
            self._violate(AT_ONCE, f"{says}waits for was over")

    def _late_ns(self) -> int:
        """Return how long ago the last wait was over, 0 while one is not or where there are none.

        Time in which the thread can do nothing does not count.
        """
        if not self._final or self._naive or self._ended is None or self._complete is None:
            return 0
        waits = [channel.over for channel in self._task.inputs]
        if self._wants_acknowledgements:
            waits += [channel.heard for channel in self._task.outputs]
        over = [wait for wait in waits if wait is not None]
        if len(over) < len(waits):
            return 0
        last = max(self._ended, self._complete, self._settled, *over)
        return max(0, self._task.late_ns(last))

    def _violate(self, name: str, says: str) -> None:
        self._task.violate(name, says)


def with_upstream(task: TaskOracle) -> list[TaskOracle]:
    """Return a task and all that it has data of."""
    found = [task]
    for one in found:
        found += [channel.sender for channel in one.inputs if channel.sender not in found]
    return found
