"""Mutants of how tasks and jobs end: each lacks one safeguard.

A mutant is a factory with the signature of what it replaces, named by `part`; a world or a vector
adapter puts it in that place and leaves everything else right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ckptsim.models.coordinator import EndOfDataListener, Recovery
from ckptsim.models.lifecycle import EndMode, TaskKind, TaskLifecycle, TaskParameters, TaskState
from ckptsim.models.lifecycle import effects as do
from ckptsim.models.lifecycle import events as on
from ckptsim.models.lifecycle.tables import Act
from ckptsim.scenarios.errors import UserError


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


class RecoversNothing(TaskLifecycle):
    """Does not commit again what its restored state has pre-committed."""

    def step(self, event: on.Event) -> list[do.Effect]:
        """Drop what recovery is to commit."""
        return [e for e in super().step(event) if not isinstance(e, do.RecoverAndCommit)]


class RecoversWhatWasOpen(TaskLifecycle):
    """Commits the transaction that its restored state has open, whose records come again."""

    def step(self, event: on.Event) -> list[do.Effect]:
        """Commit what recovery is to abort."""
        return [
            do.RecoverAndCommit(e.name) if isinstance(e, do.RecoverAndAbort) else e
            for e in super().step(event)
        ]


class LooksOnCompletionOnly(TaskLifecycle):
    """Looks only at completions whether it may close, not at what else it waits for."""

    def _handle(self, event: on.Event) -> None:
        self._looks = isinstance(event, on.CheckpointCompleted | on.CheckpointAborted)
        super()._handle(event)

    def _close_if_done(self) -> bool:
        return super()._close_if_done() if self._looks else self.state is TaskState.CLOSED


class StopTakesAnyCompletion(TaskLifecycle):
    """Ends a stop on the completion of a checkpoint other than its savepoint."""

    def _completed(self, checkpoint_id: int) -> None:
        super()._completed(checkpoint_id)
        self.checkpoint_done |= self.minimum_id is not None and checkpoint_id >= self.minimum_id


class ClosesWithoutFinalCheckpoint(TaskLifecycle):
    """Does not wait for a checkpoint after its end (before FLINK-23408)."""

    def _met(self, act: Act) -> bool:
        return act is Act.AWAIT_CHECKPOINT or super()._met(act)


class StopsAfterSavepoint(TaskLifecycle):
    """Takes a stop's savepoint first and ends its data when that is complete (FLINK-23541)."""

    def _stop(self, checkpoint_id: int, *, drain: bool) -> None:
        self.drains = drain
        self.savepoint_id = checkpoint_id
        self._perform(checkpoint_id, savepoint=True)

    def _completed(self, checkpoint_id: int) -> None:
        super()._completed(checkpoint_id)
        if checkpoint_id == self.savepoint_id and self.parameters.kind is TaskKind.SOURCE:
            self._end_source(EndMode.DRAIN if self.drains else EndMode.NO_DRAIN)


class AwaitsItsFirstCheckpoint(TaskLifecycle):
    """Insists on its first checkpoint, also when a stop has given that up (FLINK-24161)."""

    def _completed(self, checkpoint_id: int) -> None:
        super()._completed(checkpoint_id)
        self.checkpoint_done = self.latest_reported == self.minimum_id or (
            self.checkpoint_done and self.minimum_id is None
        )


class ClosedTaskIsSilent(TaskLifecycle):
    """Does not decline what it is asked for when it has closed (FLINK-23741)."""

    def step(self, event: on.Event) -> list[do.Effect]:
        """Answer nothing any more after closing."""
        closed = self.state is TaskState.CLOSED
        found = super().step(event)
        return [] if closed else found


class OpensAfterFinish(TaskLifecycle):
    """Opens transactions after finish(), which nobody closes (FLINK-23473)."""

    def __init__(self, parameters: TaskParameters) -> None:
        super().__init__(parameters)
        if self.transactions is not None:
            self.transactions.opens_after_finish = True


class RestoredSourceKeepsWatermark(TaskLifecycle):
    """Does not send the final watermark again when it was restored as finished (FLINK-23708)."""

    def _emit(self, effect: do.Effect) -> None:
        watermark = isinstance(effect, do.EmitMaxWatermark)
        if not (watermark and self.parameters.finished_on_restore):
            super()._emit(effect)


class EndOfDataOvertakesWatermark(TaskLifecycle):
    """Lets EndOfData overtake a final watermark whose timers are still firing (FLINK-39481)."""

    def step(self, event: on.Event) -> list[do.Effect]:
        """Put watermarks last."""
        found = super().step(event)
        late = (do.AdvanceToMaxWatermark, do.EmitMaxWatermark)
        if not any(isinstance(e, do.EmitEndOfData) for e in found):
            return found
        end = next(i for i, e in enumerate(found) if isinstance(e, do.EmitEndOfData)) + 1
        head = [e for e in found[:end] if not isinstance(e, late)]
        return head + [e for e in found[:end] if isinstance(e, late)] + found[end:]


class NeverCountsAgain(EndOfDataListener):
    """Keeps what tasks have reported before the job restarted (FLINK-32945)."""

    def reset(self) -> None:
        """Forget nothing."""


class AlwaysWanted(EndOfDataListener):
    """Asks for a final checkpoint although checkpoints are off (FLINK-32663)."""

    def __init__(self, tasks: int, *, enabled: bool) -> None:
        super().__init__(tasks, enabled=True)
        self.asked = enabled


def fails_over_after_stop(*, stop_completed: bool) -> Recovery:
    """Restart from an older checkpoint although a stop's savepoint is complete (FLINK-26783)."""
    del stop_completed
    return Recovery.RESTART


class Part(Enum):
    """What a mutant replaces."""

    TASK = "lifecycle of a task"
    LISTENER = "listener of the end of data"
    STOP = "decision on a failure around a stop"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A faulty core: what it replaces, and how it is made; its docstring says what is wrong.

    scenario, breaks: the library's scenario on which it is told from the right core, and by which
    property; None where the fault needs events that a whole job does not produce.
    """

    part: Part
    make: Callable[..., Any]
    scenario: str | None = None
    breaks: str | None = None

    @property
    def says(self) -> str:
        """Return what is wrong, in one sentence."""
        return " ".join((self.make.__doc__ or "").split())


MUTANTS: dict[str, Mutant] = {
    "closes_without_acknowledgement": Mutant(
        Part.TASK,
        ClosesWithoutAcknowledgement,
        "final_backlog_unaligned",
        "finished_task_leaves_no_records",
    ),
    "closes_without_final_checkpoint": Mutant(
        Part.TASK, ClosesWithoutFinalCheckpoint, "last_transaction", "exactly_once_output"
    ),
    "accepts_any_completion": Mutant(
        Part.TASK, AcceptsAnyCompletion, "early_notification", "exactly_once_output"
    ),
    "skipped_trigger_sets_minimum": Mutant(
        Part.TASK, SkippedTriggerSetsMinimum, "late_trigger", "closes_when_all_is_over"
    ),
    "ignores_restored_id": Mutant(
        Part.TASK, IgnoresRestoredId, "stray_notification", "old_notifications_change_nothing"
    ),
    "abort_repeats_nothing": Mutant(
        Part.TASK, AbortRepeatsNothing, "union_lost_notification", "job_ends"
    ),
    "finishes_on_no_drain": Mutant(
        Part.TASK, FinishesOnNoDrain, "stop_no_drain", "no_drain_ends_nothing"
    ),
    "acknowledges_at_alignment": Mutant(
        Part.TASK, AcknowledgesAtAlignment, "final_two_inputs", "job_ends"
    ),
    "end_of_partition_aborts_alignment": Mutant(Part.TASK, EndOfPartitionAbortsAlignment),
    "survives_aborted_savepoint": Mutant(Part.TASK, SurvivesAbortedSavepoint),
    "commits_only_its_own": Mutant(
        Part.TASK, CommitsOnlyItsOwn, "final_notification_lost", "exactly_once_output"
    ),
    "recovers_nothing": Mutant(
        Part.TASK, RecoversNothing, "transactions_recovered", "exactly_once_output"
    ),
    "recovers_what_was_open": Mutant(
        Part.TASK, RecoversWhatWasOpen, "transactions_recovered", "exactly_once_output"
    ),
    "looks_on_completion_only": Mutant(
        Part.TASK, LooksOnCompletionOnly, "final_chain", "end_of_partition_leaves_at_once"
    ),
    "stop_takes_any_completion": Mutant(Part.TASK, StopTakesAnyCompletion),
    "stops_after_savepoint": Mutant(
        Part.TASK, StopsAfterSavepoint, "stop_drain", "exactly_once_output"
    ),
    "awaits_its_first_checkpoint": Mutant(
        Part.TASK, AwaitsItsFirstCheckpoint, "stop_while_waiting", "job_ends"
    ),
    "closed_task_is_silent": Mutant(
        Part.TASK, ClosedTaskIsSilent, "plan_race", "checkpoint_ends_in_time"
    ),
    "opens_after_finish": Mutant(
        Part.TASK, OpensAfterFinish, "transactions_after_finish", "no_transaction_lingers"
    ),
    "restored_source_keeps_watermark": Mutant(
        Part.TASK, RestoredSourceKeepsWatermark, "restore_finished_branch", "end_marks_in_order"
    ),
    "end_of_data_overtakes_watermark": Mutant(
        Part.TASK, EndOfDataOvertakesWatermark, "timers_deferred", "end_marks_in_order"
    ),
    "never_counts_again": Mutant(
        Part.LISTENER, NeverCountsAgain, "final_checkpoint_fails", "final_checkpoint_is_asked_for"
    ),
    "always_wanted": Mutant(
        Part.LISTENER, AlwaysWanted, "checkpoints_off", "final_checkpoint_is_asked_for"
    ),
    "fails_over_after_stop": Mutant(
        Part.STOP, fails_over_after_stop, "commit_fails_after_stop", "exactly_once_output"
    ),
}


def find_mutant(name: str) -> Mutant:
    """Return a mutant by name.

    Raises UserError for a name that no mutant has.
    """
    if name not in MUTANTS:
        raise UserError(f"found mutant {name!r}, expected one of {', '.join(MUTANTS)}")
    return MUTANTS[name]
