"""The job manager's side of checkpoints without barriers: the recovery line and the logs."""

from __future__ import annotations

from dataclasses import replace
from itertools import count, takewhile
from typing import TYPE_CHECKING, assert_never

from ckptsim.models.coordinator.plan import FinishedState
from ckptsim.models.lifecycle import TaskState
from ckptsim.models.uncoordinated import (
    Checkpoint,
    CheckpointStored,
    DiscardCheckpoint,
    IndependentTask,
    JobFailed,
    LineChannel,
    LineEvent,
    RollBack,
    TruncateLog,
)
from ckptsim.scenarios.job import CheckpointProtocol, Job
from ckptsim.sim.job.control.checkpoint import JobCheckpoint
from ckptsim.sim.job.records.uncoordinated.message_log import MessageLog
from ckptsim.sim.job.records.uncoordinated.task import TaskCheckpoints, snapshot_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ckptsim.sim.job.records.attempt import Attempt
    from ckptsim.sim.job.records.state import Element, TaskSnapshot
    from ckptsim.sim.job.records.tasks import Task
    from ckptsim.sim.job.records.uncoordinated.task import TakenCheckpoint
    from ckptsim.sim.slots import ProtocolCores
    from ckptsim.sim.slots.protocols import RecoveryLines


def uncoordinated(job: Job, cores: ProtocolCores) -> UncoordinatedJob | None:
    """Return the replacement of a coordinator where tasks take checkpoints by themselves."""
    checkpointing = job.checkpointing
    if not checkpointing.enabled or checkpointing.coordinated:
        return None
    return UncoordinatedJob(job, cores)


class UncoordinatedJob:
    """The checkpoints of single tasks over all attempts of a job.

    Each attempt begins anew: the line that it is restored from is how its tasks begin, and
    in-flight data then are the first messages of its channels.
    taken: every checkpoint, in the order in which they were taken.
    """

    def __init__(self, job: Job, cores: ProtocolCores) -> None:
        self.taken: list[TakenCheckpoint] = []
        self._job = job
        self._cores = cores
        self._logged = job.checkpointing.message_logs
        self._attempt: Attempt | None = None
        self._line: RecoveryLines | None = None
        self._begin: dict[int, TaskSnapshot] = {}
        self._stored: dict[int, list[TakenCheckpoint]] = {}  # of this attempt, by task
        self._some_failed = False
        self._logs: list[MessageLog] = []
        self._logged_before = 0

    @property
    def logged(self) -> int:
        """Return how many messages have been written to logs."""
        return self._logged_before + sum(log.written for log in self._logs)

    # --- an attempt ---

    def new_log(self) -> MessageLog:
        """Return the log of the next channel of the attempt that is being deployed."""
        self._logs.append(MessageLog(keeps=self._logged))
        return self._logs[-1]

    def of_task(self, task: Task) -> TaskCheckpoints:
        """Return what takes the checkpoints of a task."""
        costs, checkpointing = self._job.costs, self._job.checkpointing
        induced = checkpointing.protocol is CheckpointProtocol.COMMUNICATION_INDUCED
        core = self._cores.induced() if induced else IndependentTask()
        message_ns = costs.log_message_ns if self._logged else 0
        message_ns += costs.carry_index_ns if core.carries_index else 0
        return TaskCheckpoints(
            task,
            core,
            before=sum(one.task == task.name for one in self.taken),
            interval_ns=checkpointing.interval_ns,
            message_ns=message_ns,
            taken=self.taken,
            stored=self._is_stored,
            failed=self._is_lost,
        )

    def begin(self, attempt: Attempt) -> None:
        """Take how the tasks of a new attempt begin. Each gets a phase of its own by chance."""
        self._attempt = attempt
        self._begin = {task.number: snapshot_of(task) for task in attempt.tasks}
        self._stored = {task.number: [] for task in attempt.tasks}
        self._some_failed = False
        self._line = self._cores.recovery_line(
            [LineChannel(spec.upstream, spec.downstream) for spec in attempt.graph.channels],
            [_checkpoint(0, self._begin[task.number]) for task in attempt.tasks],
            logged=self._logged,
        )
        interval_ns = self._job.checkpointing.interval_ns
        for task in attempt.tasks:
            if task.checkpoints is not None:
                task.checkpoints.start(1 + attempt.jitter("checkpoint phase", interval_ns - 1))

    def _is_stored(self, task: Task, taken: TakenCheckpoint) -> None:
        taken.status, taken.stored_ns = "completed", task.env.now
        task.env.trace.record("checkpoint_stored", task.entity, taken.number)
        self._stored[task.number].append(taken)
        found = _checkpoint(taken.asked.number, _held(taken))
        self._step(CheckpointStored(task.number, found))

    def _is_lost(self, task: Task, taken: TakenCheckpoint) -> None:
        taken.status = "failed"
        self._some_failed = True
        task.env.trace.record("snapshot_failed", task.entity, taken.number)

    def end(self, attempt: Attempt) -> None:
        """Check, at the end of a run, that tasks have taken what their protocols asked for.

        The last checkpoint of a task comes when its data have ended.
        """
        for task in attempt.tasks:
            if task.checkpoints is None or task.killed:
                continue
            core = task.checkpoints.core
            own = [
                one for one in self.taken if (one.attempt, one.task) == (attempt.number, task.name)
            ]
            index = max((one.asked.index for one in own), default=0)
            if core.carries_index and core.index != index:
                says = f"{task.name} has taken index {index}, its protocol is at {core.index}"
                attempt.violate("cores_agree_with_their_world", says)
            if not own and task.ending.core.state is TaskState.CLOSED:
                says = f"{task.name} has closed without the checkpoint that ends its data"
                attempt.violate("cores_agree_with_their_world", says)

    # --- the line ---

    def restored(self, initial: JobCheckpoint | None) -> JobCheckpoint | None:
        """Return what the next attempt is restored from. initial: what the job began from.

        Its number is how many checkpoints of tasks are stored: it has none of its own.
        """
        attempt = self._attempt
        if attempt is None:
            raise AssertionError("a job is restarted that never began")
        numbers = self._step(JobFailed())
        self._check_line(attempt, numbers)
        first = attempt.number == 1 and not any(numbers)
        found = initial if first else self._job_checkpoint(attempt, numbers)
        self._logged_before = self.logged
        self._logs = []
        return found

    def _check_line(self, attempt: Attempt, numbers: tuple[int, ...]) -> None:
        """Check that by indices no task goes back past the last one that all have reached.

        Source: Briatico, Ciuffoletti, Simoncini (1984).  A snapshot that could not be written is
        missing from its index, and without logs messages may be on their way, so nothing is
        promised then.  Nor has a task reached an index while a file before it is being written.
        """
        induced = self._job.checkpointing.protocol is CheckpointProtocol.COMMUNICATION_INDUCED
        if not induced or self._some_failed or not self._logged:
            return
        stored = {task: _without_gap(own) for task, own in self._stored.items()}
        common = min(max((one.asked.index for one in own), default=0) for own in stored.values())
        for task, own in stored.items():
            there = [one.asked.number for one in own if one.asked.index >= common]
            least = min(there) if common else 0
            if numbers[task] < least:
                says = f"{attempt.tasks[task].name} goes back to its checkpoint {numbers[task]}, "
                says += f"although all tasks have stored index {common}, which is its {least}"
                attempt.violate("common_index_is_a_line", says)

    def _job_checkpoint(self, attempt: Attempt, numbers: tuple[int, ...]) -> JobCheckpoint:
        """Put the checkpoints of the line together, with in-flight data across it."""
        chosen = [self._snapshot(task, number) for task, number in enumerate(numbers)]
        in_flight: list[dict[int, tuple[Element, ...]]] = [{} for _ in chosen]
        for spec, log in zip(attempt.graph.channels, self._logs, strict=True):
            sent = chosen[spec.upstream].emitted[spec.index]
            received = chosen[spec.downstream].consumed[spec.index]
            if self._logged and sent > received:
                in_flight[spec.downstream][spec.index] = log.between(received, sent)
        graph = attempt.graph
        return JobCheckpoint(
            checkpoint_id=sum(one.status == "completed" for one in self.taken),
            savepoint=False,
            tasks={
                number: replace(snapshot, input_state=in_flight[number])
                for number, snapshot in enumerate(chosen)
            },
            subtasks=graph.subtasks,
            vertices={vertex.name: FinishedState.RUNNING for vertex in graph.vertices},
            finished=frozenset(),
            positions={
                split: count for snapshot in chosen for split, count in snapshot.splits.items()
            },
            lost_state=frozenset(),
        )

    def _snapshot(self, task: int, number: int) -> TaskSnapshot:
        if number == 0:
            return self._begin[task]
        return _held(self._taken(task, number))

    def _taken(self, task: int, number: int) -> TakenCheckpoint:
        return next(one for one in self._stored[task] if one.asked.number == number)

    def _step(self, event: LineEvent) -> tuple[int, ...]:
        """Carry out what the line answers. Return the checkpoints that it goes back to, if any."""
        line, attempt = self._line, self._attempt
        if line is None or attempt is None:
            raise AssertionError("there is no attempt")
        found: tuple[int, ...] = ()
        for effect in line.step(event):
            match effect:
                case DiscardCheckpoint(task, number):
                    if isinstance(event, JobFailed):
                        self._goes_back(attempt, task, number)
                    elif number:
                        self._taken(task, number).snapshot = None  # it lies after the line
                case TruncateLog(channel, number):
                    self._truncate(attempt, channel, number)
                case RollBack(numbers):
                    found = numbers
                case _ as never:
                    assert_never(never)
        return found

    def _truncate(self, attempt: Attempt, channel: int, number: int) -> None:
        """Delete what lies before the line of a log, and check that it keeps all that is after.

        Source: Elnozahy, Alvisi, Wang, Johnson (2002), section 3.1 (garbage collection).
        """
        log, sent = self._logs[channel], attempt.channels[channel].emitted
        log.truncate(number)
        if self._logged and log.kept != sent - number:
            ends = attempt.graph.channels[channel]
            says = f"the log from {attempt.tasks[ends.upstream].name} to "
            says += f"{attempt.tasks[ends.downstream].name} keeps {log.kept} messages, and of "
            says += f"{sent} that were sent a restart may replay {sent - number}"
            attempt.violate("logs_keep_what_is_needed", says)

    def _goes_back(self, attempt: Attempt, task: int, number: int) -> None:
        taken = self._taken(task, number)
        taken.status, taken.snapshot = "discarded", None
        attempt.goal("rolled_back_behind_a_checkpoint")
        attempt.env.trace.record("rolled_back", attempt.tasks[task].entity, taken.number)


def _without_gap(stored: Sequence[TakenCheckpoint]) -> list[TakenCheckpoint]:
    """Return a task's checkpoints up to the first that is not stored."""
    known = {one.asked.number: one for one in stored}
    return [known[number] for number in takewhile(known.__contains__, count(1))]


def _held(taken: TakenCheckpoint) -> TaskSnapshot:
    if taken.snapshot is None:
        raise AssertionError(f"{taken.task} goes back to its discarded checkpoint {taken.number}")
    return taken.snapshot


def _checkpoint(number: int, snapshot: TaskSnapshot) -> Checkpoint:
    return Checkpoint(number=number, sent=snapshot.emitted, received=snapshot.consumed)
