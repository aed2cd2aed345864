"""The checkpoints that one task takes by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ckptsim.models import uncoordinated
from ckptsim.scenarios.job.faults import FailSnapshot, SlowFile
from ckptsim.sim.job.records.kinds import Kind
from ckptsim.sim.job.records.state import TaskSnapshot

if TYPE_CHECKING:
    from ckptsim.sim.job.records.channel import Channel
    from ckptsim.sim.job.records.tasks import Task


@dataclass(slots=True, kw_only=True)
class TakenCheckpoint:
    """One checkpoint of one task, from its beginning on.

    number: of the task's over all attempts. asked: what its protocol asked for.  snapshot: None
    when no one goes back to it any more.  records: in its state.  status: "pending", "completed",
    "failed" or, where a restart went back past it, "discarded".
    """

    task: str
    number: int
    attempt: int
    asked: uncoordinated.TakeCheckpoint
    snapshot: TaskSnapshot | None
    records: int
    taken_ns: int
    sync_ns: int
    stored_ns: int | None = None
    status: str = "pending"


# Learns of a durable checkpoint, or of a failed one.
Written = Callable[["Task", TakenCheckpoint], None]


def snapshot_of(task: Task) -> TaskSnapshot:
    """Return a task's state now, with what it has sent and received. Nothing is in flight in it.

    A partly taken record counts as not received: its parts are taken again.
    """
    return TaskSnapshot(
        splits=task.splits,
        exhausted=task.exhausted,
        state=tuple(task.state),
        transactions=None,
        input_state={},
        output_state={},
        consumed={
            channel.spec.index: channel.consumed - len(channel.partial) for channel in task.inputs
        },
        emitted={channel.spec.index: channel.emitted for channel in task.output_channels},
    )


class TaskCheckpoints:
    """Hosts the protocol of one task: its intervals, its snapshots, what its messages cost.

    before: how many the task took in earlier attempts.  message_ns: what one message costs the
    sender's thread, for the log and for the index.  taken: all of the job's.
    """

    def __init__(
        self,
        task: Task,
        core: uncoordinated.TaskProtocol,
        *,
        before: int,
        interval_ns: int,
        message_ns: int,
        taken: list[TakenCheckpoint],
        stored: Written,
        failed: Written,
    ) -> None:
        self.core = core
        self._taken = taken
        self._task = task
        self._before = before
        self._interval_ns = interval_ns
        self._message_ns = message_ns
        self._stored = stored
        self._failed = failed

    def start(self, first_ns: int) -> None:
        """Begin with an interval of this length. All later ones are whole."""
        self._task.set_timer(first_ns, self._interval_over)

    def _interval_over(self) -> None:
        task = self._task
        if not task.gone:
            task.post(self._step, uncoordinated.IntervalOver())
            task.set_timer(self._interval_ns, self._interval_over)

    def before(self, channel: Channel) -> None:
        """Do the work before the next message of a channel is taken."""
        log = channel.log
        if log is not None and self.core.carries_index and channel.head_is_data:
            self._step(uncoordinated.MessageNext(log.index_of(channel.consumed + 1)))

    def message_sent(self) -> None:
        """Take the time that a message costs besides."""
        self._task.occupy(self._message_ns)

    def data_ended(self) -> None:
        """Take the last checkpoint: the task has sent all that it ever will."""
        self._step(uncoordinated.DataEnded())

    def _step(self, event: uncoordinated.TaskEvent) -> None:
        for effect in self.core.step(event):
            self._take(effect)

    def _take(self, asked: uncoordinated.TakeCheckpoint) -> None:
        task, attempt = self._task, self._task.attempt
        number, costs = self._before + asked.number, attempt.job.costs
        sync_ns = attempt.job.snapshot_sync_ns(task.spec.vertex)
        snapshot = snapshot_of(task)
        taken = TakenCheckpoint(
            task=task.name,
            number=number,
            attempt=attempt.number,
            asked=asked,
            snapshot=snapshot,
            records=len(snapshot.state),
            taken_ns=attempt.env.now,
            sync_ns=sync_ns,
        )
        self._taken.append(taken)
        self._check(snapshot, asked.index)
        attempt.env.trace.record("took", task.entity, number, asked.index, asked.forced)
        if asked.forced:
            attempt.goal("checkpoint_forced")
        task.occupy(sync_ns)
        delay_ns = sync_ns + costs.snapshot_async_ns
        delay_ns += attempt.jitter("snapshot", costs.snapshot_jitter_ns)
        delay_ns += attempt.faults.delay_ns(SlowFile, task, number)
        attempt.later(delay_ns, Kind.SNAPSHOT, task.entity, self._written, taken)

    def _check(self, snapshot: TaskSnapshot, index: int) -> None:
        """Check what a snapshot counts as received.

        It ends with a whole record everywhere, and holds no message that was sent after its
        sender's checkpoint of the same index, or together they would be no line.
        Source: Briatico, Ciuffoletti, Simoncini (1984).
        """
        for channel in self._task.inputs:
            received = snapshot.consumed[channel.spec.index]
            if channel.log is not None and received and self.core.carries_index:
                carried = channel.log.index_of(received)
                if carried >= index:
                    says = f"{self._task.name} counts message {received} of {channel.name} as "
                    says += f"received in its checkpoint of index {index}, which carries {carried}"
                    self._task.attempt.violate("common_index_is_a_line", says)
            if channel.log is not None and received in channel.log.unfinished:
                says = f"{self._task.name} counts message {received} of {channel.name} as received "
                says += "in its checkpoint, of whose record it has not taken the end"
                self._task.attempt.violate("records_come_out_whole", says)

    def _written(self, taken: TakenCheckpoint) -> None:
        """Tell the job manager. A file that could not be written is no checkpoint."""
        task, attempt = self._task, self._task.attempt
        fails = attempt.faults.strikes(FailSnapshot, task, taken.number) or attempt.file_breaks()
        tell = self._failed if fails else self._stored
        attempt.later(attempt.job.costs.rpc_ns, Kind.MESSAGE, task.entity, tell, task, taken)
