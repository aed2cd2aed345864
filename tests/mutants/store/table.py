"""Mutants of the checkpoint store: each lacks one safeguard of placement or ingestion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ckptsim.models.store.client import Parts, StoreClient
from ckptsim.models.store.medium import Medium, ModelMedium
from ckptsim.models.store.settings import Placement
from ckptsim.models.store.versions import StoreVersions
from ckptsim.sim.mutants import shown
from ckptsim.sim.mutants.mutant import Mutant, by_name, sentence
from tests.mutants.store import clients
from tests.mutants.store.ingestion import (
    AdvancesAndCheckpointsErrored,
    AdvancesBeforeWrite,
    CheckpointsErrored,
    CounterResetByFailure,
    CounterRunsOn,
    EndOfPushNotKept,
    LateThreshold,
    MergesQuietly,
    NoControlSync,
    NoSyncOnStop,
    RewindsOnStop,
    SegmentSync,
    one_error_stops_all,
)
from tests.mutants.store.slots import (
    AliasingSlots,
    BlindCodec,
    DeletesSiblings,
    FlushesNoDeletes,
    ForgetfulMedium,
    MirrorsDeleted,
    OffByOneGroup,
    TornMedium,
    UnlimitedGroup,
    VersionlessSlots,
    ViewlessSlots,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Build:
    """Builds a store with one faulty part."""

    parts: Parts = Parts()  # noqa: RUF009  (frozen)
    medium: Callable[..., Medium] = ModelMedium
    client: type[StoreClient] = StoreClient
    versions: type[StoreVersions] = StoreVersions

    def __call__(self, placement: Placement) -> StoreVersions:
        """Build it for a placement."""
        medium = self.medium(atomic=placement is Placement.COLOCATED)
        return self.versions(self.client(placement, medium, parts=self.parts))


def _made(name: str, faulty: object, **parts: Any) -> Mutant:
    """Return a mutant that is as its faulty part says."""
    return Mutant(name, sentence(faulty), "store", _Build(**parts))


def _stops_all(placement: Placement) -> StoreVersions:
    """Freezes every partition when one of them fails."""
    return _Build(parts=Parts(ingestion=one_error_stops_all()))(placement)  # shared by no two


MUTANTS = by_name(
    _made("version_not_in_key", VersionlessSlots, parts=Parts(checkpoints=VersionlessSlots)),
    _made("view_not_in_key", ViewlessSlots, parts=Parts(checkpoints=ViewlessSlots)),
    shown.MUTANTS["checkpoint_first"],
    _made("colocated_not_atomic", TornMedium, medium=TornMedium),
    _made("aliases_blobs", AliasingSlots, parts=Parts(checkpoints=AliasingSlots)),
    _made("skips_tamper_check", BlindCodec, parts=Parts(plain_codec=BlindCodec)),
    _made("deletes_all_partitions", DeletesSiblings, parts=Parts(checkpoints=DeletesSiblings)),
    _made("drops_all_versions", clients.DropsAllVersions, versions=clients.DropsAllVersions),
    _made("group_offset_off_by_one", OffByOneGroup, parts=Parts(group_codec=OffByOneGroup)),
    _made("no_size_limit", UnlimitedGroup, parts=Parts(group_codec=UnlimitedGroup)),
    _made("ignores_null", clients.IgnoresFallback, client=clients.IgnoresFallback),
    _made("no_control_sync", NoControlSync, parts=Parts(ingestion=NoControlSync)),
    _made("syncs_on_segments", SegmentSync, parts=Parts(ingestion=SegmentSync)),
    _made("threshold_above", LateThreshold, parts=Parts(ingestion=LateThreshold)),
    _made("counter_not_reset", CounterRunsOn, parts=Parts(ingestion=CounterRunsOn)),
    _made(
        "checkpoints_errored_replica", CheckpointsErrored, parts=Parts(ingestion=CheckpointsErrored)
    ),
    _made("advances_before_write", AdvancesBeforeWrite, parts=Parts(ingestion=AdvancesBeforeWrite)),
    _made(
        "advances_and_checkpoints_errored",
        AdvancesAndCheckpointsErrored,
        parts=Parts(ingestion=AdvancesAndCheckpointsErrored),
    ),
    _made("redirect_leaks_deletes", clients.LeakingRedirect, client=clients.LeakingRedirect),
    shown.MUTANTS["never_wipes"],
    _made(
        "merges_version_state",
        clients.MergesVersions,
        parts=Parts(ingestion=MergesQuietly),
        versions=clients.MergesVersions,
    ),
    _made("keeps_no_dictionary", clients.NoDictionary, versions=clients.NoDictionary),
    _made(
        "counter_reset_by_failure",
        CounterResetByFailure,
        parts=Parts(ingestion=CounterResetByFailure),
    ),
    _made("end_of_push_not_kept", EndOfPushNotKept, parts=Parts(ingestion=EndOfPushNotKept)),
    _made("rewinds_on_stop", RewindsOnStop, parts=Parts(ingestion=RewindsOnStop)),
    _made("no_sync_on_stop", NoSyncOnStop, parts=Parts(ingestion=NoSyncOnStop)),
    Mutant("one_error_stops_all", sentence(_stops_all), "store", _stops_all),
    _made("forgets_last_checkpoint", ForgetfulMedium, medium=ForgetfulMedium),
    _made("flushes_no_deletes", FlushesNoDeletes, parts=Parts(content=FlushesNoDeletes)),
    _made("mirrors_deleted", MirrorsDeleted, parts=Parts(content=MirrorsDeleted)),
    _made("wipes_before_clearing", clients.WipesBeforeClearing, client=clients.WipesBeforeClearing),
    _made("reuses_replica", clients.ReusesReplica, client=clients.ReusesReplica),
    _made("hangs_on_recovery", clients.HangsOnRecovery, client=clients.HangsOnRecovery),
    _made("goes_on_beyond_the_log", clients.GoesOnBeyondTheLog, client=clients.GoesOnBeyondTheLog),
    _made("forgets_one_slot", clients.ForgetsOneSlot, client=clients.ForgetsOneSlot),
    _made(
        "takes_unreadable_for_none",
        clients.TakesUnreadableForNone,
        client=clients.TakesUnreadableForNone,
    ),
    _made("swaps_early", clients.SwapsEarly, versions=clients.SwapsEarly),
    _made("keeps_dropped_rows", clients.KeepsDroppedRows, versions=clients.KeepsDroppedRows),
)
