"""What must hold of a task's end: marks, calls, acknowledgements, final checkpoint, closing.

Nothing here asks a lifecycle core what it believes: every step towards the end is checked against
the calls, snapshots and completions.

What a task waits for (FLIP-147, `models/lifecycle/tables.py`) comes to it one by one: the end of
its data, EndOfPartition on every input, the acknowledgement of its EndOfData on every output, the
completion of its final checkpoint, and the end of its writes.  At the instant of the last one it
closes, and EndOfPartition leaves on every output: a task that looks too late, or an EndOfPartition
after a backlog, shows as a delay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.lifecycle import TaskState
from ckptsim.scenarios.dialect import duration_text, listed
from ckptsim.scenarios.job import Job, Protocol
from ckptsim.sim.job.events import Listener

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ckptsim.sim.job.events import of_tasks, of_time
    from ckptsim.sim.job.oracle.tasks import TaskOracle
    from ckptsim.sim.job.oracle.waits import Instant

RESTORED = "restored_watermarks_stay_true"
_ORDER = ("watermark", "end of data", "end of partition")
_MARKS = "end_marks_in_order"
_CLOSES = "closes_when_all_is_over"
_READ = "sources_read_to_their_end"
# For how long a source may read on after the instant that ends it. An assumption: far more than any
# record, or restore, of a job takes that is that small.
_OVERTIME_NS = 1_000_000_000


class LifecycleOracle(Listener):
    """What one task of one attempt has done about its end.

    reported: its end of data has come to the coordinator.  closed_ns: when it closed.
    cut_off: a source that was stopped before it had ended. cut_short: without drain.
    restored_id, completed: the checkpoint that the attempt began from and the ones of the job that
    are complete, as the oracle of the job knows them.  was_rescaled: in any attempt so far.
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

    def end_marked(self, event: of_tasks.EndMarked) -> None:
        """Check that each end mark comes once, in order."""
        mark, marks = event.mark, self._marks
        if marks and _ORDER.index(mark) <= _ORDER.index(marks[-1]):
            self._says(_MARKS, f"sends {mark} after {marks[-1]}")
        if event.drain and self._task.outputs and "watermark" not in marks:
            self._says(_MARKS, "sends the end of drained data before the final watermark")
        marks.append(mark)
        if mark == "end of partition" and self._final and not self._naive:
            self._leave()

    def _leave(self) -> None:
        """Check that the channels of a task that leaves are empty (acknowledgement rule)."""
        task = self._task
        for out, written in zip(task.outputs, task.plane.written(task.task), strict=True):
            out.ends()
            left = written - out.taken_amount
            if left:
                says = f"leaves with {left} records not processed behind it"
                self._says("finished_task_leaves_no_records", says)

    def record_sent(self, event: of_tasks.RecordSent) -> None:
        """Check that no record follows an end mark, unless a restore has misled the task."""
        marks = self._marks
        if marks and not (marks[-1] == "watermark" and self._any(lambda end: end.misled)):
            self._says(_MARKS, f"sends a record after {self._marks[-1]}")

    def final_watermark_taken(self, event: of_time.FinalWatermarkTaken) -> None:
        """Note an input without further records, as the checkpoint says."""
        end = self._task.inputs[event.channel]
        if end.taken_amount <= end.restored_amount:
            self._final_inputs[event.channel] = None

    def record_taken(self, event: of_tasks.RecordTaken) -> None:
        """Check that no record follows the final watermark that the checkpoint had of its channel.

        It is of the subtasks in the sender's place, and comes after their data.  After it the
        sender's own records can come once the job was rescaled, since the sender may have another
        share: a hazard with its own name, if each of them had sent one.
        Source: Apache Flink 1.20.3, `RescalingStreamTaskNetworkInput.finishRecovery`.
        """
        if event.channel not in self._final_inputs:
            return
        del self._final_inputs[event.channel]
        end = self._task.inputs[event.channel]
        is_of_all = end.final_watermarks >= end.old_channels
        is_own = end.taken_amount > end.restored_amount
        # Of an attempt that was rescaled the checkpoint has the sender's own records after it.
        self.misled = is_of_all and (self.was_rescaled_before or (self.was_rescaled and is_own))
        says = f"processes a record of {end.sender.name} behind the final watermark "
        name = RESTORED if self.misled else _MARKS
        self._says(name, f"{says}that the checkpoint had of their channel")

    def operator_called(self, event: of_tasks.OperatorCalled) -> None:
        """Check that an operator is called at most once for each thing, and not after the wrong."""
        what, operator, calls = event.what, event.operator, self._calls
        gates = max(1, len(self._task.task.gates))
        allowed = gates if what == "end_input" and operator == 0 else 1
        if calls.count((what, operator)) >= allowed:
            self._says(_MARKS, f"calls {what} too often")
        if what == "end_input" and ("finish", operator) in calls:
            self._says(_MARKS, "calls endInput after finish")
        if what == "finish" and ("advance", operator) not in calls and not self._naive:
            self._says(_MARKS, "finishes before its event time has come to its end")
        calls.append((what, operator))
        if self.is_cut() and (what == "finish" or (what == "advance" and not self.is_told())):
            says = f"calls {what}, but its input was cut by a stop without drain"
            self._says(_MARKS, says)

    def is_cut(self) -> bool:
        """Return whether some of the input was cut. endInput may be true of the other gates."""
        return self._any(lambda end: end.cut_short)

    def is_told(self) -> bool:
        """Return whether all inputs that were cut had ended event time, in flight, before that."""
        ends = [(i, end.sender.lifecycle) for i, end in enumerate(self._task.inputs)]
        known = self._final_inputs
        return bool(ends) and all(i in known or not o.is_cut() or o.is_told() for i, o in ends)

    def _any(self, holds: Callable[[LifecycleOracle], bool]) -> bool:
        """Return whether something holds of the task, or of one that it has data of."""
        return any(holds(task.lifecycle) for task in with_upstream(self._task))

    def source_stopped(self, event: of_tasks.SourceStopped) -> None:
        """Note that a source is stopped, perhaps before it has ended by itself."""
        self.cut_off = self.cut_off or not event.ended
        self.cut_short = self.cut_short or not (event.drain or event.ended)

    def data_end_acknowledged(self, event: of_tasks.DataEndAcknowledged) -> None:
        """Check that EndOfData is acknowledged after it was taken, and once."""
        end = self._task.inputs[event.channel]
        if end.drained is None or end.acknowledged:
            how = "twice" if end.acknowledged else "before it is polled"
            self._says(_MARKS, f"acknowledges EndOfData of {end.sender.name} {how}")
        end.acknowledged = True

    def acknowledgement_arrived(self, event: of_tasks.AcknowledgementArrived) -> None:
        """Note that the task learns that its EndOfData was taken."""
        channel = self._task.outputs[event.output]
        channel.heard = channel.heard or self._task.instant()

    # The final checkpoint ---------------------------------------------------------------------

    def snapshot_taken(self, event: of_tasks.SnapshotTaken) -> None:
        """Note that the task takes part in a checkpoint, and whether that could be its last."""
        if event.stop:
            self._savepoint = event.checkpoint
        if self._ended is not None:
            self._performed.append(event.checkpoint)

    def completion_taken(self, event: of_tasks.CompletionTaken) -> None:
        """Check that the state before the restore changes nothing."""
        checkpoint, restored = event.checkpoint, self.restored_id
        self._hear(checkpoint)
        if restored is not None and event.acted and checkpoint <= restored:
            says = f"acts on the completion of {checkpoint}, though it was restored from {restored}"
            self._says("old_notifications_change_nothing", says)

    def abort_taken(self, event: of_tasks.AbortTaken) -> None:
        """Note which completion an abort repeats. The FLIP's rules know none by an abort."""
        if event.latest is not None and self._is_flink:
            self._hear(event.latest)

    def _hear(self, checkpoint: int) -> None:
        """Note that the task learns of a completion. One after a newer one says nothing."""
        if checkpoint <= max(self._heard, self.restored_id or 0):
            return
        self._heard = checkpoint
        if self._savepoint is not None and self._is_flink:  # a stop waits for its own savepoint
            final = checkpoint == self._savepoint
        else:
            final = bool(self._performed) and checkpoint >= self._performed[0]
        if final and self._complete is None:
            self._complete = self._task.instant()

    def abort_begun(self, event: of_tasks.AbortBegun) -> None:
        """Note which checkpoint the task has to give up before it closes."""
        self._to_give_up = event.checkpoint

    def abort_done(self, event: of_tasks.AbortDone) -> None:
        """Note that it has."""
        self._to_give_up = None

    def writes_settled(self, event: of_tasks.WritesSettled) -> None:
        """Note that nothing is being written asynchronously any more."""
        self._settled = self._task.instant()

    # Closing ----------------------------------------------------------------------------------

    def task_state_changed(self, event: of_tasks.TaskStateChanged) -> None:
        """Note the end of the data. Check the closing of the task."""
        if event.state is TaskState.WAITING_FOR_FINAL_CP:
            self._ended = self._task.instant()
            self._check_read()
        elif event.state is TaskState.CLOSED:
            self.closed_ns = self._task.now_ns
            missing = list(self._open_waits())
            if missing:
                self._says(_CLOSES, f"closes and does not wait for {', '.join(missing)}")
            late_ns = self._late_ns()
            if late_ns:
                says = f"closes {duration_text(late_ns)} after all that it waits for was over"
                self._says(_CLOSES, says)

    def _check_read(self) -> None:
        """Check that a source has read all it has when it ends its data, unless it is stopped."""
        task = self._task
        left = [] if self.cut_off else task.plane.splits_left(task.task)
        if left:
            self._says(_READ, f"ends its data with records left in splits {listed(left)}")
        reads_on = self._is_endless and not (self.cut_off or self.ended_before)
        if reads_on and task.plane.has_no_splits(task.task):
            self._says(_READ, "ends its data without a split of a source that has no end")

    def _open_waits(self) -> Iterable[str]:
        task = self._task
        if self._final and not any(number in self.completed for number in self._performed):
            yield "the completion of a checkpoint that it took part in after its end"
        if self._final and not self._naive:
            unpolled = [out.receiver.name for out in task.outputs if out.drained is None]
            yield from (f"{name} to take its EndOfData" for name in unpolled)
        for channel in task.inputs:
            if channel.over is None:
                yield f"EndOfPartition of {channel.sender.name}"
        if self._ended is None:
            yield "the end of its data"
        if task.writing.is_under_way or task.task.ending.has_writes:
            yield "its snapshots and commits"
        if task.entering is not None:
            yield f"barrier {task.entering}, which it is about to send on"
        if self._to_give_up is not None:
            yield f"giving up checkpoint {self._to_give_up}, as it has been asked to"

    def run_ended(self, *, held_ns: int) -> None:
        """Check that the task does not stay after its waits. held_ns: back pressure by faults."""
        if self._ends_ns is not None and self._ended is None and self.closed_ns is None:
            late_ns = self._task.now_ns - max(self._ends_ns, self._began_ns)
            if late_ns > _OVERTIME_NS + held_ns:
                says = f"reads on {duration_text(late_ns)} after the instant that ends it"
                self._says(_READ, says)
        late_ns = 0 if self.closed_ns is not None else self._late_ns()
        if late_ns and not self._task.task.ending.has_writes:
            says = f"has not closed {duration_text(late_ns)} after all that it waits for was over"
            self._says(_CLOSES, says)

    def _late_ns(self) -> int:
        """Return how long ago the last wait was over, without time the thread was held."""
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

    def _says(self, name: str, says: str) -> None:
        self._task.says(name, says)


def with_upstream(task: TaskOracle) -> list[TaskOracle]:
    """Return a task and all that it has data of."""
    found = [task]
    for one in found:
        found += [channel.sender for channel in one.inputs if channel.sender not in found]
    return found
