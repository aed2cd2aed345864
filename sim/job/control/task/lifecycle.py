"""The end of one task's life: end of data, its acknowledgement, the final checkpoint, closing.

The core decides. It is notified of every checkpoint that is performed, because only one after the
end of the data lets the task go.

Invariant: a task closes when nothing is being written for it any more.  From the moment at which
the core says CLOSED it declines whatever it is asked for, also while the rest of its effects waits
for writes.

Source: Apache Flink 1.20.3, StreamTask.afterInvoke (the mailbox is drained and takes no trigger
before the pending checkpoints are awaited). FLIP-147.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, assert_never

from ckptsim.models.barriers.barrier import EndOfData
from ckptsim.models.lifecycle import StopMode, TaskState
from ckptsim.models.lifecycle import effects as lifecycle_effects
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.sim.job.events import of_tasks

if TYPE_CHECKING:
    from ckptsim.sim.job.events import Events
    from ckptsim.sim.job.task_port import TaskPort
    from ckptsim.sim.slots.protocols import Lifecycle

Captured = Callable[[int], None]

_Transacts = (
    lifecycle_effects.PrecommitTransaction
    | lifecycle_effects.CommitTransactions
    | lifecycle_effects.AbortTransactions
    | lifecycle_effects.LeaveTransactions
    | lifecycle_effects.RecoverAndCommit
    | lifecycle_effects.RecoverAndAbort
)


def _closes(effect: lifecycle_effects.Effect) -> bool:
    return isinstance(effect, lifecycle_effects.StateChanged) and effect.state is TaskState.CLOSED


def _not_performing(checkpoint: int) -> None:
    raise AssertionError(f"a snapshot of checkpoint {checkpoint} is taken out of turn")


class LifecycleHost:
    """Drives the lifecycle core of one task.

    chain: how many operators run.  operators_finished: whether the last of them has been told
    to finish.
    """

    __slots__ = ("_captured", "_emit", "_held", "_task", "chain", "core", "operators_finished")

    def __init__(self, core: Lifecycle, task: TaskPort, *, chain: int, events: Events) -> None:
        self.core = core
        self.chain = chain
        self.operators_finished = False
        self._task = task
        self._emit = events.emit
        self._held: list[lifecycle_effects.Effect] = []
        self._captured: Captured = _not_performing

    @property
    def is_over(self) -> bool:
        """Whether the task has closed or failed."""
        return self.core.state in (TaskState.CLOSED, TaskState.FAILED)

    def perform(self, checkpoint: int, captured: Captured) -> None:
        """Take part in a checkpoint after its sent barrier. `captured` learns of the copy."""
        self._captured = captured
        self.step(
            lifecycle_events.CheckpointPerformed(checkpoint, self._task.ending.is_stop(checkpoint))
        )
        self._captured = _not_performing

    def complete(self, checkpoint: int) -> None:
        """Take the notification that a checkpoint is complete."""
        reported = self.core.latest_reported
        effects = self._decide(lifecycle_events.CheckpointCompleted(checkpoint))
        acted = bool(effects) or self.core.latest_reported != reported
        self._emit(of_tasks.CompletionTaken(self._task, checkpoint, acted))
        if checkpoint < reported and self.core.state is not TaskState.CLOSED:
            self._task.ending.note("ignored", checkpoint, reported)
        self._carry_out(effects)

    def abort(
        self, checkpoint: int, latest_completed: int | None, give_up: Callable[[int], None]
    ) -> None:
        """Take the notification that a checkpoint was aborted. `give_up` is reported in its turn.

        The completion that the notification repeats comes first, then the stop with this savepoint
        fails. Only then the checkpoint is aborted, and all that is before closing.  A task that
        closes has shut its mailbox: what it writes is written to its end, if that needs no other
        task.

        Source: Apache Flink 1.20.3, StreamTask.notifyCheckpointAbortAsync, Task.notifyCheckpoint.
        """
        self._emit(of_tasks.AbortTaken(self._task, checkpoint, latest_completed))
        if self.is_over:
            self._task.snapshots.wait_no_longer(checkpoint)
            return
        self._emit(of_tasks.AbortBegun(self._task, checkpoint))
        effects = self._decide(lifecycle_events.CheckpointAborted(checkpoint, latest_completed))
        closing = next((at for at, effect in enumerate(effects) if _closes(effect)), len(effects))
        self._carry_out(effects[:closing])
        if self.core.state is not TaskState.FAILED:
            give_up(checkpoint)
        self._carry_out(effects[closing:])

    def step(self, event: lifecycle_events.Event) -> None:
        """Give the core an event and carry out what it decides."""
        self._carry_out(self._decide(event))

    def release(self) -> None:
        """Continue with closing, if nothing that it waited for is under way any more."""
        if self._held and not self._task.ending.has_writes:
            held, self._held = self._held, []
            self._carry_out(held)

    def _decide(self, event: lifecycle_events.Event) -> list[lifecycle_effects.Effect]:
        """Give the core an event. Operators hear of a completion before anything follows of it."""
        reported = self.core.latest_reported
        effects = self.core.step(event)
        if self.core.latest_reported != reported:
            self._task.ending.tell("notify", self.core.latest_reported)
        return effects

    def _carry_out(self, effects: Sequence[lifecycle_effects.Effect]) -> None:
        """Carry out effects in order. Closing waits for snapshots and commits under way."""
        for place, effect in enumerate(effects):
            if _closes(effect) and self._task.ending.has_writes:
                self._held = list(effects[place:])
                return
            self._one(effect)

    def _one(self, effect: lifecycle_effects.Effect) -> None:  # noqa: C901, PLR0912 - one branch per effect
        task, emit = self._task, self._emit
        ending, outputs = task.ending, task.outputs
        if isinstance(effect, _Transacts):
            self._transact(effect)
            return
        match effect:
            case lifecycle_effects.StateChanged(state, operator):
                emit(of_tasks.TaskStateChanged(task, state))
                ending.state_changed(state, operator)
            case lifecycle_effects.FinishTask():
                ending.finish_source()
            case lifecycle_effects.AdvanceToMaxWatermark():
                for operator in range(self.chain):
                    self._call("advance", operator)
            case lifecycle_effects.CloseOperator(operator):
                self._call("close", operator)
            case lifecycle_effects.EndInput(operator, gate):
                self._call("end_input", operator)
                if gate is not None:
                    ending.gate_ended(gate)
            case lifecycle_effects.EmitMaxWatermark():
                emit(of_tasks.EndMarked(task, "watermark"))
                ending.emit_max_watermark()
            case lifecycle_effects.FinishOperator(operator):
                self.operators_finished = operator == self.chain - 1
                self._call("finish", operator)
            case lifecycle_effects.EmitEndOfData(stop_mode):
                drain = stop_mode is StopMode.DRAIN
                emit(of_tasks.EndMarked(task, "end of data", drain))
                outputs.broadcast(EndOfData(drain=drain))
            case lifecycle_effects.TakeSnapshot(checkpoint):
                emit(of_tasks.SnapshotTaken(task, checkpoint, ending.is_stop(checkpoint)))
                ending.tell("snapshot", checkpoint)
                if task.sink is not None:
                    task.sink.snapshot(checkpoint)
                task.snapshots.capture(effect, self._captured)
            case lifecycle_effects.DeclineCheckpoint(checkpoint):
                ending.decline_closing(checkpoint)
            case lifecycle_effects.AcknowledgeEndOfData(channel):
                emit(of_tasks.DataEndAcknowledged(task, channel))
                task.inputs[channel].acknowledge_end_of_data()
            case lifecycle_effects.EmitEndOfPartition():
                emit(of_tasks.EndMarked(task, "end of partition"))
                outputs.finish()
            case lifecycle_effects.FailTask(reason):
                ending.fail(reason)
            case _:
                assert_never(effect)

    def _call(self, what: str, operator: int) -> None:
        self._emit(of_tasks.OperatorCalled(self._task, what, operator))
        self._task.ending.call(what, operator)

    def _transact(self, effect: _Transacts) -> None:
        """Do something to the transactions of the sink. A task without one has none."""
        sink, note = self._task.sink, self._task.ending.note
        if sink is None:
            return
        match effect:
            case lifecycle_effects.PrecommitTransaction(checkpoint):
                kept = self.core.transactions
                successor = kept is not None and kept.open
                note("precommitted", checkpoint, successor)
                sink.precommit(checkpoint, open_successor=successor)
            case lifecycle_effects.CommitTransactions(_, checkpoints):
                for number in checkpoints:
                    note("committed", number)
                sink.commit(checkpoints)
            case lifecycle_effects.AbortTransactions(transactions):
                for which in transactions:
                    note("dropped", str(which))
                sink.abort(transactions)
            case lifecycle_effects.LeaveTransactions(checkpoints):
                for number in checkpoints:
                    note("left", number)
                sink.leave(checkpoints)
            case lifecycle_effects.RecoverAndCommit(name):
                note("recommitted", name)
                sink.recover_and_commit(name)
            case lifecycle_effects.RecoverAndAbort(name):
                note("reaborted", name)
                sink.recover_and_abort(name)
            case _:
                assert_never(effect)
