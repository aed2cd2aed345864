"""The end of a task's life: EndOfData, its acknowledgement, the final checkpoint, closing.

A task that has sent EndOfData may not leave.  It waits, in any order, (1) for the completion of a
checkpoint after its EndOfData, because only then all its work is recoverable or committed. (2) for
the acknowledgement of its EndOfData by every task downstream. An unaligned barrier could jump over
records before an EndOfPartition. A finished task's channels must be empty when the next task is
triggered by remote call. (3) for EndOfPartition on every input.  Until then it continues to take
checkpoints. After (1)-(3) it closes its operators, aborts transactions and sends EndOfPartition.

What runs on which cue is the table in `tables`. This module carries out its cells.  Barriers are
none of its business: the barrier handler and the subtask's checkpoints decide about performing,
skipping or cancelling a checkpoint (`ckptsim.models.barriers`), and this core learns of performed
ones.

Promised: at most one EndOfData and one EndOfPartition. endInput and finish at most once per
operator, and neither in a stop without drain. CLOSED only when all waits are over. Transactions are
committed in ascending order, and only after a completion that covers them.  Not promised: that a
stop ends when the completion of its savepoint is lost.

Source: FLIP-147. Apache Flink 1.20.3, StreamTask, SourceStreamTask, RegularOperatorChain,
FinishedOperatorChain.
"""

from __future__ import annotations

from typing import assert_never

from ckptsim.models.core import ProtocolError
from ckptsim.models.lifecycle import effects as lifecycle_effects
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.models.lifecycle.inputs import Inputs
from ckptsim.models.lifecycle.parameters import TaskParameters, refuse_foreign
from ckptsim.models.lifecycle.rules import RULES
from ckptsim.models.lifecycle.states import EndMode, OperatorState, StopMode, TaskKind, TaskState
from ckptsim.models.lifecycle.tables import Act, Cue, rows, waits
from ckptsim.models.lifecycle.transactions import Transactions, recover


class TaskLifecycle:
    """The lifecycle core of one task: `step(event)` returns the effects in order."""

    def __init__(self, parameters: TaskParameters) -> None:
        self.parameters = parameters
        self.rules = RULES[parameters.variant]
        self.state = TaskState.RUNNING
        self.operator = OperatorState.RUNNING
        self.mode = EndMode.FINAL_CHECKPOINT
        self.ended = False
        self.operators_finished = False
        self.minimum_id: int | None = None
        self.savepoint_id: int | None = None
        self.checkpoint_done = False
        self.latest_reported = -1 if parameters.restored_from is None else parameters.restored_from
        self.inputs = Inputs(parameters.gate_channels)
        self.transactions = _transactions(parameters)
        self._acknowledged: set[int] = set()
        self._effects: list[lifecycle_effects.Effect] = []

    def step(self, event: lifecycle_events.Event) -> list[lifecycle_effects.Effect]:
        """Take one event and return its effects in the order in which they are carried out.

        Raises ProtocolError for an event that cannot concern this task (`unknown_channel`,
        `not_a_source`, `not_a_sink`). Nothing has changed then.
        """
        refuse_foreign(event, self.parameters, self.state)
        self._effects = []
        if self.state is TaskState.FAILED:
            return []
        if self.state is TaskState.CLOSED:
            return _after_closing(event)
        self._handle(event)
        return self._effects

    def waits_for(self) -> tuple[Act, ...]:
        """Return the conditions of closing that are not met yet, in the order of the table."""
        return tuple(act for act in waits(self.parameters.kind, self.mode) if not self._met(act))

    # --- one method per group of events ---

    def _handle(self, event: lifecycle_events.Event) -> None:  # noqa: C901, PLR0912 - one branch per event
        match event:
            case lifecycle_events.Started():
                if self.parameters.finished_on_restore:
                    self._end_source(EndMode.FINAL_CHECKPOINT)
            case lifecycle_events.StateRestored(states):
                self._effects.extend(recover(states))
            case lifecycle_events.InputExhausted():
                if not self.ended:
                    self._end_source(EndMode.FINAL_CHECKPOINT)
            case lifecycle_events.StopWithSavepointTriggered(checkpoint_id, drain):
                self._stop(checkpoint_id, drain=drain)
            case lifecycle_events.CheckpointTriggered(checkpoint_id):
                self._triggered(checkpoint_id)
            case lifecycle_events.CheckpointPerformed(checkpoint_id, savepoint):
                self._perform(checkpoint_id, savepoint=savepoint)
            case lifecycle_events.MaxWatermarkReceived(channel):
                if self.inputs.watermark(channel):
                    self._run(Cue.MAX_WATERMARK_ALIGNED)
            case lifecycle_events.EndOfDataReceived(channel, stop_mode):
                self._end_of_data(channel, stop_mode)
            case lifecycle_events.EndOfPartitionReceived(channel):
                self.inputs.end_of_partition(channel)
            case lifecycle_events.EndOfDataAcknowledged(channel):
                self._acknowledged.add(channel)
            case lifecycle_events.CheckpointCompleted(checkpoint_id):
                self._completed(checkpoint_id)
            case lifecycle_events.CheckpointAborted(checkpoint_id, latest_completed):
                self._aborted(checkpoint_id, latest_completed)
            case _:
                assert_never(event)
        self._close_if_done()

    def _end_source(self, mode: EndMode) -> None:
        self.mode = mode
        self._run(Cue.END_OF_INPUT)

    def _stop(self, checkpoint_id: int, *, drain: bool) -> None:
        """Stop with savepoint. A source that has ended keeps its stop mode and adds a savepoint."""
        if not self.ended:
            self._end_source(EndMode.DRAIN if drain else EndMode.NO_DRAIN)
        self.savepoint_id = checkpoint_id

    def _end_of_data(self, channel: int, stop_mode: StopMode) -> None:
        """Acknowledge at once, then see whether a gate or the whole input has ended."""
        if not self.inputs.end_of_data(channel, stop_mode):
            return
        self._effects.append(lifecycle_effects.AcknowledgeEndOfData(channel))
        gate = self.inputs.drained_gate(channel)
        if len(self.parameters.gate_channels) > 1 and gate is not None and self._runs_operators:
            self._effects.append(lifecycle_effects.EndInput(0, gate))
        common = self.inputs.common_stop_mode()
        if common is not None:
            self._end_non_source(common)

    def _end_non_source(self, stop_mode: StopMode) -> None:
        if self.ended:
            return
        drained = stop_mode is StopMode.DRAIN
        self.mode = EndMode.FINAL_CHECKPOINT if drained else EndMode.NO_DRAIN
        self._run(Cue.END_OF_DATA_ALIGNED)

    def _completed(self, checkpoint_id: int) -> None:
        """Commit what the checkpoint covers and see whether it is the final one."""
        if checkpoint_id <= self.latest_reported:
            return
        self.latest_reported = checkpoint_id
        if self.transactions is not None:
            committed = self.transactions.commit(checkpoint_id)
            if committed:
                self._effects.append(lifecycle_effects.CommitTransactions(checkpoint_id, committed))
        if self.savepoint_id is not None and self.rules.stop_awaits_its_savepoint:
            self.checkpoint_done |= checkpoint_id == self.savepoint_id
        elif self.minimum_id is not None:
            self.checkpoint_done |= checkpoint_id >= self.minimum_id

    def _aborted(self, checkpoint_id: int, latest_completed: int | None) -> None:
        """Catch up a completion that the abort repeats. Fail if it was the stop's savepoint."""
        if latest_completed is not None and self.rules.abort_repeats_completion:
            self._completed(latest_completed)
            if self._close_if_done():
                return
        if checkpoint_id == self.savepoint_id:
            self._effects.append(lifecycle_effects.FailTask("stop_with_savepoint_failed"))
            self._enter(TaskState.FAILED, None)

    # --- checkpoints ---

    def _triggered(self, checkpoint_id: int) -> None:
        """Do nothing yet: a trigger may come too late, after a newer checkpoint."""

    def _perform(self, checkpoint_id: int, *, savepoint: bool) -> None:
        """Take part in a checkpoint after its barrier: pre-commit, then snapshot.

        Only a checkpoint that is performed can become the minimum id. One that is skipped as old or
        answered by a cancellation marker must not, or a completion from before EndOfData would
        close the task.  (Released Flink sets it in StreamTask.performCheckpoint, before the look at
        the id, and has that hazard.)
        """
        if savepoint:
            self.savepoint_id = checkpoint_id
        if self.ended and self.minimum_id is None:
            self.minimum_id = checkpoint_id
        if self.transactions is not None and self.transactions.precommit(
            checkpoint_id, finished=self.operators_finished
        ):
            self._effects.append(lifecycle_effects.PrecommitTransaction(checkpoint_id))
        self._effects.append(
            lifecycle_effects.TakeSnapshot(
                checkpoint_id, self.ended, self.parameters.finished_on_restore
            )
        )

    # --- the table ---

    def _run(self, cue: Cue) -> None:
        """Carry out the cells of a cue for the present end mode, and take on each row's status."""
        for row in rows(self.parameters.kind, cue):
            act = row.cell(self.mode)
            if act is None:
                continue
            if row.task is not self.state:
                # Operators do not finish in a stop without drain: their FINISHED is only a label.
                label = self.mode is EndMode.NO_DRAIN and row.operator is OperatorState.FINISHED
                self._enter(row.task, None if label else row.operator)
            self._carry_out(act)

    def _carry_out(self, act: Act) -> None:
        match act:
            case Act.FINISH_TASK:
                self._effects.append(lifecycle_effects.FinishTask())
            case Act.ADVANCE:
                if self._runs_operators:
                    self._effects.append(lifecycle_effects.AdvanceToMaxWatermark())
            case Act.EMIT_MAX_WATERMARK:
                self._emit(lifecycle_effects.EmitMaxWatermark())
            case Act.FINISH_OPERATORS:
                self._finish_operators()
            case Act.EMIT_END_OF_DATA_FINISHED | Act.EMIT_END_OF_DATA_UNFINISHED:
                drained = act is Act.EMIT_END_OF_DATA_FINISHED
                self.ended = True
                self._emit(
                    lifecycle_effects.EmitEndOfData(
                        StopMode.DRAIN if drained else StopMode.NO_DRAIN
                    )
                )
            case Act.CLOSE_OPERATORS:
                self._close_operators()
            case Act.EMIT_END_OF_PARTITION:
                self._emit(lifecycle_effects.EmitEndOfPartition())
            case _:
                raise ProtocolError("cell_is_no_action", state=self.state.name, event=act)

    def _finish_operators(self) -> None:
        """Head to tail: endInput, then finish. With several gates the head heard of each before."""
        self.operators_finished = True
        if not self._runs_operators:
            return
        for operator in range(self.parameters.chain):
            if operator > 0 or len(self.parameters.gate_channels) <= 1:
                self._effects.append(lifecycle_effects.EndInput(operator))
            self._effects.append(lifecycle_effects.FinishOperator(operator))

    def _close_operators(self) -> None:
        """Tail to head. Closing a sink ends its transactions."""
        if self._runs_operators:
            self._effects.extend(
                lifecycle_effects.CloseOperator(operator)
                for operator in reversed(range(self.parameters.chain))
            )

    def _close_if_done(self) -> bool:
        """Close when every wait of the table is over. Return whether the task has closed."""
        if self.state is not TaskState.WAITING_FOR_FINAL_CP or self.waits_for():
            return self.state is TaskState.CLOSED
        aborted, left = self._end_transactions()
        for row in rows(self.parameters.kind, Cue.CONDITIONS_MET):
            if row.task is not self.state:
                self._enter(row.task, row.operator)
            act = row.cell(self.mode)
            if act is Act.EMIT_END_OF_PARTITION and aborted is not None:
                self._effects.append(aborted)
            if act is not None:
                self._carry_out(act)
        if left is not None:
            self._effects.append(left)
        return True

    def _end_transactions(
        self,
    ) -> tuple[
        lifecycle_effects.AbortTransactions | None, lifecycle_effects.LeaveTransactions | None
    ]:
        if self.transactions is None:
            return None, None
        aborted, left = self.transactions.close(
            aborts_precommitted=self.rules.close_aborts_precommitted
        )
        return (
            lifecycle_effects.AbortTransactions(aborted) if aborted else None,
            lifecycle_effects.LeaveTransactions(left) if left else None,
        )

    def _met(self, act: Act) -> bool:
        """Return whether a wait is over.

        Without final checkpoints only a stop's savepoint counts.
        """
        final = self.parameters.checkpointing and self.parameters.checkpoints_after_finish
        if act is Act.AWAIT_END_OF_PARTITION:
            return self.inputs.all_ended
        if act is Act.AWAIT_ACKNOWLEDGEMENT:
            if not final or not self.parameters.await_acknowledgements:
                return True
            return len(self._acknowledged) == self.parameters.output_channels
        return self.checkpoint_done or (not final and self.savepoint_id is None)

    # --- helpers ---

    @property
    def _runs_operators(self) -> bool:
        return not self.parameters.finished_on_restore

    def _enter(self, state: TaskState, operator: OperatorState | None) -> None:
        self.state = state
        if operator is not None:
            self.operator = operator
        self._effects.append(lifecycle_effects.StateChanged(state, operator))

    def _emit(self, effect: lifecycle_effects.Effect) -> None:
        if self.parameters.output_channels:
            self._effects.append(effect)


def _transactions(parameters: TaskParameters) -> Transactions | None:
    if not parameters.holds_transactions:
        return None
    return Transactions(opens_after_finish=bool(parameters.sink_opens_after_finish))


def _after_closing(event: lifecycle_events.Event) -> list[lifecycle_effects.Effect]:
    """Decline what a closed task is asked for. Notifications come too late to matter."""
    if isinstance(
        event, lifecycle_events.CheckpointTriggered | lifecycle_events.StopWithSavepointTriggered
    ):
        return [lifecycle_effects.DeclineCheckpoint(event.checkpoint_id)]
    return []


class NaiveLifecycle(TaskLifecycle):
    """The end of a task before FLIP-147: each task for itself, one checkpoint after another.

    A task that has no more input finishes, waits for a checkpoint of its own and only then sends
    EndOfPartition, which is what finishes the next task.  There is no EndOfData and no
    acknowledgement: a chain of D + 1 tasks needs D + 1 checkpoints.  It exists for comparison.

    Source: FLIP-147, motivation. Apache Flink, final checkpoint blog of 2022-07-11.
    """

    def _handle(self, event: lifecycle_events.Event) -> None:
        if isinstance(event, lifecycle_events.EndOfPartitionReceived):
            self.inputs.end_of_partition(event.channel)
            if self.inputs.all_ended and self.parameters.kind is TaskKind.NON_SOURCE:
                self._run(Cue.MAX_WATERMARK_ALIGNED)
                self._end_non_source(StopMode.DRAIN)
            self._close_if_done()
            return
        if not isinstance(
            event, lifecycle_events.MaxWatermarkReceived | lifecycle_events.EndOfDataReceived
        ):
            super()._handle(event)

    def _emit(self, effect: lifecycle_effects.Effect) -> None:
        if not isinstance(
            effect, lifecycle_effects.EmitEndOfData | lifecycle_effects.EmitMaxWatermark
        ):
            super()._emit(effect)

    def _met(self, act: Act) -> bool:
        return act is Act.AWAIT_ACKNOWLEDGEMENT or super()._met(act)
