"""Mutants of the ingestion core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ckptsim.models.store.errors import Refusal
from ckptsim.models.store.ingestion import PartitionIngestion
from ckptsim.models.store.ingestion import events as ingestion_events
from ckptsim.models.store.log import ControlRecord
from ckptsim.models.store.settings import SyncRules
from ckptsim.models.store.state import PartitionState, VersionCopy, decode_state, encode_state


class NoControlSync(PartitionIngestion):
    """Does not sync on control entries."""

    def begin(self, cause: ingestion_events.Cause) -> list[ingestion_events.Effect]:
        """Begin a sync for any cause but a control entry."""
        return [] if cause is ingestion_events.Cause.CONTROL else super().begin(cause)


class SegmentSync(PartitionIngestion):
    """Syncs on segment markers too."""

    def control(self, event: ingestion_events.ControlRead) -> list[ingestion_events.Effect]:
        """Begin a sync after every control entry."""
        effects = super().control(event)
        if effects or self.state is not ingestion_events.IngestionState.OPEN:
            return effects
        return self.begin(ingestion_events.Cause.CONTROL)


class LateThreshold(PartitionIngestion):
    """Syncs when the counter is above the threshold, not when it reaches it."""

    def begin(self, cause: ingestion_events.Cause) -> list[ingestion_events.Effect]:
        """Wait for one more byte."""
        if cause is ingestion_events.Cause.BYTES and self.bytes_since_sync == self.rules.sync_bytes:
            return []
        return super().begin(cause)


class CounterRunsOn(PartitionIngestion):
    """Never counts the bytes anew."""

    def reset_counter(self) -> None:
        """Leave the counter as it is."""


class CheckpointsErrored(PartitionIngestion):
    """Writes the checkpoint of an errored partition when a sync is wanted."""

    _was_errored = False

    def step(self, event: ingestion_events.Event) -> list[ingestion_events.Effect]:
        """Let the errored state pass a request."""
        if self.state is ingestion_events.IngestionState.ERRORED and isinstance(
            event, ingestion_events.SyncRequested
        ):
            self._was_errored = True
            return self.begin(ingestion_events.Cause.REQUEST)
        return super().step(event)

    def step_durable(self, event: ingestion_events.StepDurable) -> list[ingestion_events.Effect]:
        """Return to the errored state after the sync."""
        effects = super().step_durable(event)
        if self._was_errored and self.state is ingestion_events.IngestionState.OPEN:
            self.state = ingestion_events.IngestionState.ERRORED
        return effects


class AdvancesBeforeWrite(PartitionIngestion):
    """Moves the position before it knows that the record was written."""

    def write_failed(self, event: ingestion_events.WriteFailed) -> list[ingestion_events.Effect]:
        """Freeze after the record that is not there."""
        self.checkpoint = replace(self.checkpoint, position=event.position)
        return super().write_failed(event)


class AdvancesAndCheckpointsErrored(AdvancesBeforeWrite, CheckpointsErrored):
    """Lacks both safeguards, as before linkedin/venice pull request 2889."""


class MergesQuietly(PartitionIngestion):
    """Applies a start of push that disagrees with a sibling's."""

    def conflict(
        self, record: ControlRecord, applied: PartitionState, siblings: tuple[VersionCopy, ...]
    ) -> str | None:
        """See no conflict."""
        del record, applied, siblings
        return None


class CounterResetByFailure(PartitionIngestion):
    """Counts the bytes anew after a sync that failed."""

    def step_refused(self, event: ingestion_events.StepRefused) -> list[ingestion_events.Effect]:
        """Reset the counter as if the sync were complete."""
        effects = super().step_refused(event)
        self.reset_counter()
        return effects


class EndOfPushNotKept(PartitionIngestion):
    """Keeps the end of push in memory and not in the checkpoint (linkedin/venice, 2828)."""

    def begin(self, cause: ingestion_events.Cause) -> list[ingestion_events.Effect]:
        """Leave the flag out of the stored data."""
        return [_changed(effect, end_of_push=False) for effect in super().begin(cause)]

    def step_durable(self, event: ingestion_events.StepDurable) -> list[ingestion_events.Effect]:
        """Leave the flag out of the stored data."""
        return [_changed(effect, end_of_push=False) for effect in super().step_durable(event)]


class RewindsOnStop(PartitionIngestion):
    """Stores, when it is stopped, the position that it had started from."""

    def __init__(self, rules: SyncRules, restored: PartitionState) -> None:
        super().__init__(rules, restored)
        self._started_at = restored.position

    def step_durable(self, event: ingestion_events.StepDurable) -> list[ingestion_events.Effect]:
        """Put the old position into the last checkpoint."""
        effects = super().step_durable(event)
        if self.cause is not ingestion_events.Cause.REQUEST:
            return effects
        return [_changed(effect, position=self._started_at) for effect in effects]


class NoSyncOnStop(PartitionIngestion):
    """Closes without a last sync."""

    def begin(self, cause: ingestion_events.Cause) -> list[ingestion_events.Effect]:
        """Begin a sync for any cause but a request."""
        return [] if cause is ingestion_events.Cause.REQUEST else super().begin(cause)


def one_error_stops_all() -> Callable[[SyncRules, PartitionState], PartitionIngestion]:
    """Return a factory of cores that all freeze when one of them does."""
    errored: list[PartitionIngestion] = []

    class StoppedByOthers(PartitionIngestion):
        """Freezes with whichever partition fails first."""

        def freeze(self, refusal: Refusal, reason: str) -> list[ingestion_events.Effect]:
            """Tell the others."""
            errored.append(self)
            return super().freeze(refusal, reason)

        def written(self, event: ingestion_events.DataWritten) -> list[ingestion_events.Effect]:
            """Freeze before a record when another partition is errored."""
            if errored:
                self.state = ingestion_events.IngestionState.ERRORED
                return [
                    ingestion_events.FreezePartition(
                        Refusal.WRITE_FAILED, "another partition is errored"
                    )
                ]
            return super().written(event)

    return StoppedByOthers


def _changed(effect: ingestion_events.Effect, **changes: int) -> ingestion_events.Effect:
    if not isinstance(effect, ingestion_events.MakeDurable) or effect.checkpoint is None:
        return effect
    state = decode_state(effect.checkpoint)
    if state is None:
        return effect
    return ingestion_events.MakeDurable(effect.part, encode_state(replace(state, **changes)))  # type: ignore[arg-type]
