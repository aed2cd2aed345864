"""Faulty twins of the lifecycle core: each breaks one rule of a task's end of life."""

from __future__ import annotations

from collections.abc import Callable

from models.lifecycle import TaskLifecycle, TaskParameters, TaskState
from models.lifecycle import effects as do
from models.lifecycle import events as on
from models.lifecycle.tables import Act


class ClosesWithoutAcknowledgement(TaskLifecycle):
    """Closes before the tasks behind it have polled its EndOfData."""

    def _met(self, act: Act) -> bool:
        return act is Act.AWAIT_ACKNOWLEDGEMENT or super()._met(act)


class AcceptsAnyCompletion(TaskLifecycle):
    """Takes the completion of any checkpoint for the final one, also of one from before finish."""

    def _completed(self, checkpoint_id: int) -> None:
        super()._completed(checkpoint_id)
        self.checkpoint_done |= self.ended


class SkippedTriggerSetsMinimum(TaskLifecycle):
    """Lets a late trigger that it skips set the minimum id."""

    def _perform(self, checkpoint_id: int, *, savepoint: bool) -> None:
        if self.ended and self.minimum_id is None:
            self.minimum_id = checkpoint_id
        super()._perform(checkpoint_id, savepoint=savepoint)


class IgnoresRestoredId(TaskLifecycle):
    """Takes a completion of the previous attempt for a new one (FLINK-24096)."""

    def __init__(self, parameters: TaskParameters) -> None:
        super().__init__(parameters)
        self.latest_reported = -1


class AbortRepeatsNothing(TaskLifecycle):
    """Does not look at the latest completed id that an abort message repeats (FLINK-21080)."""

    def _aborted(self, checkpoint_id: int, latest_completed: int | None) -> None:
        super()._aborted(checkpoint_id, None)


class FinishesOnNoDrain(TaskLifecycle):
    """Calls endInput and finish in a stop without drain (FLINK-21132)."""

    def _carry_out(self, act: Act) -> None:
        if act is Act.EMIT_END_OF_DATA_UNFINISHED:
            self._finish_operators()
        super()._carry_out(act)


class AcknowledgesAtAlignment(TaskLifecycle):
    """Acknowledges EndOfData only when every channel has delivered it."""

    def step(self, event: on.Event) -> list[do.Effect]:
        """Hold acknowledgements back until the task itself has ended."""
        found = super().step(event)
        if self.state is TaskState.RUNNING:
            return [e for e in found if not isinstance(e, do.AcknowledgeEndOfData)]
        return found


class EndOfPartitionAbortsAlignment(TaskLifecycle):
    """Does not count the end of a channel as its barrier (FLINK-21086)."""

    def _handle(self, event: on.Event) -> None:
        if isinstance(event, on.EndOfPartitionReceived):
            self.inputs.close_alignment()
        super()._handle(event)


class SurvivesAbortedSavepoint(TaskLifecycle):
    """Goes on waiting when the savepoint of its stop was aborted."""

    def _aborted(self, checkpoint_id: int, latest_completed: int | None) -> None:
        if checkpoint_id != self.savepoint_id:
            super()._aborted(checkpoint_id, latest_completed)


class CommitsOnlyItsOwn(TaskLifecycle):
    """Commits what the completed checkpoint itself pre-committed, and not what it covers."""

    def _completed(self, checkpoint_id: int) -> None:
        kept = self.transactions
        older = [] if kept is None else [i for i in kept.pending if i < checkpoint_id]
        if kept is not None and older:
            kept.commit(max(older))
        super()._completed(checkpoint_id)


class StopTakesAnyCompletion(TaskLifecycle):
    """Ends a stop on the completion of a checkpoint other than its savepoint."""

    def _completed(self, checkpoint_id: int) -> None:
        super()._completed(checkpoint_id)
        self.checkpoint_done |= self.minimum_id is not None and checkpoint_id >= self.minimum_id


TWINS: dict[str, Callable[[TaskParameters], TaskLifecycle]] = {
    "closes_without_acknowledgement": ClosesWithoutAcknowledgement,
    "accepts_any_completion": AcceptsAnyCompletion,
    "skipped_trigger_sets_minimum": SkippedTriggerSetsMinimum,
    "ignores_restored_id": IgnoresRestoredId,
    "abort_repeats_nothing": AbortRepeatsNothing,
    "finishes_on_no_drain": FinishesOnNoDrain,
    "acknowledges_at_alignment": AcknowledgesAtAlignment,
    "end_of_partition_aborts_alignment": EndOfPartitionAbortsAlignment,
    "survives_aborted_savepoint": SurvivesAbortedSavepoint,
    "commits_only_its_own": CommitsOnlyItsOwn,
    "stop_takes_any_completion": StopTakesAnyCompletion,
}
