"""Mutants of how tasks and jobs end: each lacks one safeguard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ckptsim.models.coordinator import EndOfDataListener, Recovery
from ckptsim.models.lifecycle import EndMode, TaskKind, TaskLifecycle, TaskParameters, TaskState
from ckptsim.models.lifecycle import effects as lifecycle_effects
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.models.lifecycle.tables import Act
from ckptsim.sim.mutants import shown
from ckptsim.sim.mutants.mutant import Mutant, by_name, sentence


class ClosesWithoutAcknowledgement(TaskLifecycle):
    """Closes before the tasks after it have polled its EndOfData."""

    def _met(self, act: Act) -> bool:
        return act is Act.AWAIT_ACKNOWLEDGEMENT or super()._met(act)


class AcceptsAnyCompletion(TaskLifecycle):
    """Takes the completion of any checkpoint for the final one, also of one from before finish."""

    def _completed(self, checkpoint_id: int) -> None:
        super()._completed(checkpoint_id)
        self.checkpoint_done |= self.ended


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

    def step(self, event: lifecycle_events.Event) -> list[lifecycle_effects.Effect]:
        """Hold acknowledgements back until the task itself has ended."""
        found = super().step(event)
        if self.state is TaskState.RUNNING:
            return [e for e in found if not isinstance(e, lifecycle_effects.AcknowledgeEndOfData)]
        return found


class SurvivesAbortedSavepoint(TaskLifecycle):
    """Continues waiting when the savepoint of its stop was aborted."""

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

    def step(self, event: lifecycle_events.Event) -> list[lifecycle_effects.Effect]:
        """Drop what recovery is to commit."""
        return [
            e for e in super().step(event) if not isinstance(e, lifecycle_effects.RecoverAndCommit)
        ]


class RecoversWhatWasOpen(TaskLifecycle):
    """Commits the open transaction of its restored state, with records that come again."""

    def step(self, event: lifecycle_events.Event) -> list[lifecycle_effects.Effect]:
        """Commit what recovery is to abort."""
        return [
            lifecycle_effects.RecoverAndCommit(e.name)
            if isinstance(e, lifecycle_effects.RecoverAndAbort)
            else e
            for e in super().step(event)
        ]


class LooksOnCompletionOnly(TaskLifecycle):
    """Looks only at completions whether it may close, not at what else it waits for."""

    def _handle(self, event: lifecycle_events.Event) -> None:
        self._looks = isinstance(
            event, lifecycle_events.CheckpointCompleted | lifecycle_events.CheckpointAborted
        )
        super()._handle(event)

    def _close_if_done(self) -> bool:
        return super()._close_if_done() if self._looks else self.state is TaskState.CLOSED


class StopTakesAnyCompletion(TaskLifecycle):
    """Ends a stop on the completion of a checkpoint other than its savepoint."""

    def _completed(self, checkpoint_id: int) -> None:
        super()._completed(checkpoint_id)
        self.checkpoint_done |= self.minimum_id is not None and checkpoint_id >= self.minimum_id


class StopsAfterSavepoint(TaskLifecycle):
    """Takes a stop's savepoint first and ends its data when that is complete (FLINK-23541)."""

    def _stop(self, checkpoint_id: int, *, drain: bool) -> None:
        self.drains = drain
        self.savepoint_id = checkpoint_id

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

    def step(self, event: lifecycle_events.Event) -> list[lifecycle_effects.Effect]:
        """Answer nothing any more after closing."""
        closed = self.state is TaskState.CLOSED
        found = super().step(event)
        return [] if closed else found


class OpensAfterFinish(TaskLifecycle):
    """Opens transactions after finish(), which no one closes (FLINK-23473)."""

    def __init__(self, parameters: TaskParameters) -> None:
        super().__init__(parameters)
        if self.transactions is not None:
            self.transactions.opens_after_finish = True


class RestoredSourceKeepsWatermark(TaskLifecycle):
    """Does not send the final watermark again when it was restored as finished (FLINK-23708)."""

    def _emit(self, effect: lifecycle_effects.Effect) -> None:
        watermark = isinstance(effect, lifecycle_effects.EmitMaxWatermark)
        if not (watermark and self.parameters.finished_on_restore):
            super()._emit(effect)


class EndOfDataOvertakesWatermark(TaskLifecycle):
    """Lets EndOfData overtake a final watermark with timers that are still firing (FLINK-39481)."""

    def step(self, event: lifecycle_events.Event) -> list[lifecycle_effects.Effect]:
        """Put watermarks last."""
        found = super().step(event)
        late = (lifecycle_effects.AdvanceToMaxWatermark, lifecycle_effects.EmitMaxWatermark)
        if not any(isinstance(e, lifecycle_effects.EmitEndOfData) for e in found):
            return found
        end = (
            next(i for i, e in enumerate(found) if isinstance(e, lifecycle_effects.EmitEndOfData))
            + 1
        )
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


def fails_over_after_stop(*, stop_completed: bool) -> Recovery:
    """Restart from an older checkpoint although a stop's savepoint is complete (FLINK-26783)."""
    del stop_completed
    return Recovery.RESTART


def _mutant(name: str, slot: str, factory: Callable[..., Any]) -> Mutant:
    return Mutant(name, sentence(factory), slot, factory)


MUTANTS = by_name(
    _mutant("closes_without_acknowledgement", "lifecycle", ClosesWithoutAcknowledgement),
    shown.MUTANTS["closes_without_final_checkpoint"],
    _mutant("accepts_any_completion", "lifecycle", AcceptsAnyCompletion),
    shown.MUTANTS["skipped_trigger_sets_minimum"],
    _mutant("ignores_restored_id", "lifecycle", IgnoresRestoredId),
    _mutant("abort_repeats_nothing", "lifecycle", AbortRepeatsNothing),
    _mutant("finishes_on_no_drain", "lifecycle", FinishesOnNoDrain),
    _mutant("acknowledges_at_alignment", "lifecycle", AcknowledgesAtAlignment),
    _mutant("survives_aborted_savepoint", "lifecycle", SurvivesAbortedSavepoint),
    _mutant("commits_only_its_own", "lifecycle", CommitsOnlyItsOwn),
    _mutant("recovers_nothing", "lifecycle", RecoversNothing),
    _mutant("recovers_what_was_open", "lifecycle", RecoversWhatWasOpen),
    _mutant("looks_on_completion_only", "lifecycle", LooksOnCompletionOnly),
    _mutant("stop_takes_any_completion", "lifecycle", StopTakesAnyCompletion),
    _mutant("stops_after_savepoint", "lifecycle", StopsAfterSavepoint),
    _mutant("awaits_its_first_checkpoint", "lifecycle", AwaitsItsFirstCheckpoint),
    _mutant("closed_task_is_silent", "lifecycle", ClosedTaskIsSilent),
    _mutant("opens_after_finish", "lifecycle", OpensAfterFinish),
    _mutant("restored_source_keeps_watermark", "lifecycle", RestoredSourceKeepsWatermark),
    _mutant("end_of_data_overtakes_watermark", "lifecycle", EndOfDataOvertakesWatermark),
    _mutant("never_counts_again", "end_of_data", NeverCountsAgain),
    _mutant("always_wanted", "end_of_data", AlwaysWanted),
    _mutant("fails_over_after_stop", "failover", fails_over_after_stop),
)

# The library's scenario on which a mutant is distinguished from the right core, and by which
# property. The others' faults need events that a whole job does not produce.
SHOWN_BY: dict[str, tuple[str, str]] = {
    "closes_without_acknowledgement": (
        "final_backlog_unaligned",
        "finished_task_leaves_no_records",
    ),
    "closes_without_final_checkpoint": ("last_transaction", "exactly_once_output"),
    "accepts_any_completion": ("early_notification", "exactly_once_output"),
    "skipped_trigger_sets_minimum": ("late_trigger", "closes_when_all_is_over"),
    "ignores_restored_id": ("stray_notification", "old_notifications_change_nothing"),
    "abort_repeats_nothing": ("union_lost_notification", "job_ends"),
    "finishes_on_no_drain": ("stop_no_drain", "end_marks_in_order"),
    "acknowledges_at_alignment": ("final_two_inputs", "job_ends"),
    "commits_only_its_own": ("final_notification_lost", "exactly_once_output"),
    "recovers_nothing": ("transactions_recovered", "exactly_once_output"),
    "recovers_what_was_open": ("transactions_recovered", "exactly_once_output"),
    "looks_on_completion_only": ("final_chain", "closes_when_all_is_over"),
    "stops_after_savepoint": ("stop_drain", "exactly_once_output"),
    "awaits_its_first_checkpoint": ("stop_while_waiting", "job_ends"),
    "closed_task_is_silent": ("plan_race", "checkpoint_ends_in_time"),
    "opens_after_finish": ("transactions_after_finish", "no_transaction_lingers"),
    "restored_source_keeps_watermark": ("restore_finished_branch", "end_marks_in_order"),
    "end_of_data_overtakes_watermark": ("timers_deferred", "end_marks_in_order"),
    "never_counts_again": ("final_checkpoint_fails", "final_checkpoint_is_asked_for"),
    "always_wanted": ("checkpoints_off", "final_checkpoint_is_asked_for"),
    "fails_over_after_stop": ("commit_fails_after_stop", "exactly_once_output"),
}
