"""What the end of a task's life looks like here: its thread ends, and the coordinator learns of it.

Calls of operators take no time in this plane, and the final watermark has no buffer: it goes with
the end of the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.barriers import channel_state as writer_events
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.lifecycle import EndMode, OperatorState, TaskState
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.sim.job.buffers.kinds import State

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.tasks.task import Task

_CLOSING = FailureReason.CHECKPOINT_DECLINED_TASK_CLOSING


class TaskEnding:
    """The end of one task.

    data_ended_ns: when the task had processed its last record and sent its own end of data.
    """

    def __init__(self, task: Task) -> None:
        self.data_ended_ns: int | None = None
        self._task = task

    def start(self) -> None:
        """Let a source that was restored as finished pass its end marks on."""
        if self._task.is_source:
            self._task.control.lifecycle.step(lifecycle_events.Started())

    @property
    def has_writes(self) -> bool:
        """Whether files of snapshots are being written, or transactions committed."""
        sink = self._task.sink
        running = self._task.control.checkpoints.core.running
        return bool(running) or (sink is not None and sink.busy)

    def state_changed(self, state: TaskState, _operator: OperatorState | None) -> None:
        """Take on a state."""
        task = self._task
        task.env.trace.record("task_state", task.entity, state.name)
        if state is TaskState.WAITING_FOR_FINAL_CP:
            self.data_ended_ns = task.env.now
            if task.is_source:
                task.world.input_ended_ns = task.env.now
            task.cut_off()
            task.env.goals.reach("end_of_data")
            if task.control.lifecycle.core.mode is not EndMode.NO_DRAIN:
                task.world.coordinator.end_of_data(task)
        elif state is TaskState.CLOSED:
            task.world.closed_ns[task.number] = task.env.now
            task.file.writer.step(writer_events.SubtaskReleased(task.number))
            task.enter(State.ENDED)
            task.world.coordinator.task_closed(task)
            while task.mail:  # triggers, which are declined
                function, arguments = task.mail.popleft()
                function(*arguments)

    def finish_source(self) -> None:
        """Put into the trace that the source is asked to stop. It asks for no more records."""
        self.note("told", "cancel", 0, 0)

    def call(self, what: str, operator: int) -> None:
        """Put a call of an operator into the trace. It takes no time."""
        self.note("called", what, operator)

    def gate_ended(self, gate: int) -> None:
        """Put what the head of the chain learns into the trace."""
        self.note("gate_ended", gate + 1)

    def tell(self, what: str, checkpoint: int) -> None:
        """Put into the trace that every operator of a chain takes its snapshot.

        From tail to head.  Source: Apache Flink 1.20.3, RegularOperatorChain.  Notifications are
        left out: nothing on this plane depends on when a thread comes to them, which is between two
        buffers.
        """
        if what != "snapshot":
            return
        for operator in reversed(range(self._task.control.lifecycle.chain)):
            self.note("told", what, operator, checkpoint)

    def emit_max_watermark(self) -> None:
        """Do nothing: the final watermark goes with the end of the data."""

    def note(self, kind: str, *fields: int | str) -> None:
        """Put a step of a transaction into the trace."""
        self._task.env.trace.record(kind, self._task.entity, *fields)

    def decline_closing(self, checkpoint: int) -> None:
        """Decline what a closed task is asked for."""
        self._task.world.coordinator.decline(self._task, checkpoint, _CLOSING)

    def fail(self, reason: str) -> None:
        """Fail the task, and with it the job."""
        task = self._task
        task.enter(State.ENDED)
        task.world.control.fail(f"{task.spec.name}: {reason}")

    def is_stop(self, checkpoint: int) -> bool:
        """Return whether a checkpoint is the savepoint of a stop."""
        return checkpoint == self._task.world.coordinator.stop_id

    def break_down(self, violated: str, story: str) -> None:
        """Fail the task because its input broke a rule."""
        task = self._task
        task.world.violate(violated, f"{task.entity.name} fails: {story}")
        self.fail(story)
