"""Mutants of the checkpoint store: each lacks one safeguard of placement or ingestion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ckptsim.models.store.checkpoints import Checkpoints
from ckptsim.models.store.client import IngestionFactory, Parts, StoreClient
from ckptsim.models.store.codec import Codec
from ckptsim.models.store.ingestion import PartitionIngestion
from ckptsim.models.store.medium import Medium, ModelMedium
from ckptsim.models.store.settings import Placement
from ckptsim.models.store.versions import StoreVersions
from ckptsim.sim.mutants.store_clients import (
    DropsAllVersions,
    ForgetsOneSlot,
    GoesOnBeyondTheLog,
    HangsOnRecovery,
    IgnoresFallback,
    LeakingRedirect,
    MergesVersions,
    NeverWipes,
    NoDictionary,
    ReusesReplica,
    SwapsEarly,
    TakesUnreadableForNone,
    WipesBeforeClearing,
)
from ckptsim.sim.mutants.store_ingestion import (
    AdvancesAndCheckpointsErrored,
    AdvancesBeforeWrite,
    CheckpointFirst,
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
from ckptsim.sim.mutants.store_slots import (
    AliasingSlots,
    BlindCodec,
    DeletesSiblings,
    FlushesNoDeletes,
    ForgetfulMedium,
    OffByOneGroup,
    TornMedium,
    UnlimitedGroup,
    VersionlessSlots,
    ViewlessSlots,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreMutant:
    """A mutant: what it is built from, and in one sentence what is wrong with it."""

    says: str
    parts: Parts = Parts()  # noqa: RUF009  (frozen)
    medium: Callable[..., Medium] = ModelMedium
    client: type[StoreClient] = StoreClient
    versions: type[StoreVersions] = StoreVersions
    shared: Callable[[], IngestionFactory] | None = None

    def factory(self, placement: Placement) -> StoreVersions:
        """Build the mutant for a placement."""
        medium = self.medium(atomic=placement is Placement.COLOCATED)
        parts = self.parts
        if self.shared is not None:  # made anew for each client, so that runs share nothing
            parts = replace(parts, ingestion=self.shared())
        return self.versions(self.client(placement, medium, parts=parts))


def _ingestion(kind: type[PartitionIngestion]) -> StoreMutant:
    return StoreMutant(says=_sentence(kind), parts=Parts(ingestion=kind))


def _slots(kind: type[Checkpoints]) -> StoreMutant:
    return StoreMutant(says=_sentence(kind), parts=Parts(checkpoints=kind))


def _group(kind: Callable[[], Codec]) -> StoreMutant:
    return StoreMutant(says=_sentence(kind), parts=Parts(group_codec=kind))


def _sentence(kind: object) -> str:
    return (kind.__doc__ or "").partition("\n")[0]


MUTANTS: dict[str, StoreMutant] = {
    "version_not_in_key": _slots(VersionlessSlots),
    "view_not_in_key": _slots(ViewlessSlots),
    "checkpoint_first": _ingestion(CheckpointFirst),
    "colocated_not_atomic": StoreMutant(says=_sentence(TornMedium), medium=TornMedium),
    "aliases_blobs": _slots(AliasingSlots),
    "skips_tamper_check": StoreMutant(
        says=_sentence(BlindCodec), parts=Parts(plain_codec=BlindCodec)
    ),
    "deletes_all_partitions": _slots(DeletesSiblings),
    "drops_all_versions": StoreMutant(says=_sentence(DropsAllVersions), versions=DropsAllVersions),
    "group_offset_off_by_one": _group(OffByOneGroup),
    "no_size_limit": _group(UnlimitedGroup),
    "ignores_null": StoreMutant(says=_sentence(IgnoresFallback), client=IgnoresFallback),
    "no_control_sync": _ingestion(NoControlSync),
    "syncs_on_segments": _ingestion(SegmentSync),
    "threshold_above": _ingestion(LateThreshold),
    "counter_not_reset": _ingestion(CounterRunsOn),
    "checkpoints_errored_replica": _ingestion(CheckpointsErrored),
    "advances_before_write": _ingestion(AdvancesBeforeWrite),
    "advances_and_checkpoints_errored": _ingestion(AdvancesAndCheckpointsErrored),
    "redirect_leaks_deletes": StoreMutant(says=_sentence(LeakingRedirect), client=LeakingRedirect),
    "never_wipes": StoreMutant(says=_sentence(NeverWipes), client=NeverWipes),
    "merges_version_state": StoreMutant(
        says=_sentence(MergesVersions),
        parts=Parts(ingestion=MergesQuietly),
        versions=MergesVersions,
    ),
    "keeps_no_dictionary": StoreMutant(says=_sentence(NoDictionary), versions=NoDictionary),
    "counter_reset_by_failure": _ingestion(CounterResetByFailure),
    "end_of_push_not_kept": _ingestion(EndOfPushNotKept),
    "rewinds_on_stop": _ingestion(RewindsOnStop),
    "no_sync_on_stop": _ingestion(NoSyncOnStop),
    "one_error_stops_all": StoreMutant(
        says="Freezes every partition when one of them fails.", shared=one_error_stops_all
    ),
    "forgets_last_checkpoint": StoreMutant(says=_sentence(ForgetfulMedium), medium=ForgetfulMedium),
    "flushes_no_deletes": StoreMutant(
        says=_sentence(FlushesNoDeletes), parts=Parts(content=FlushesNoDeletes)
    ),
    "wipes_before_clearing": StoreMutant(
        says=_sentence(WipesBeforeClearing), client=WipesBeforeClearing
    ),
    "reuses_replica": StoreMutant(says=_sentence(ReusesReplica), client=ReusesReplica),
    "hangs_on_recovery": StoreMutant(says=_sentence(HangsOnRecovery), client=HangsOnRecovery),
    "goes_on_beyond_the_log": StoreMutant(
        says=_sentence(GoesOnBeyondTheLog), client=GoesOnBeyondTheLog
    ),
    "forgets_one_slot": StoreMutant(says=_sentence(ForgetsOneSlot), client=ForgetsOneSlot),
    "takes_unreadable_for_none": StoreMutant(
        says=_sentence(TakesUnreadableForNone), client=TakesUnreadableForNone
    ),
    "swaps_early": StoreMutant(says=_sentence(SwapsEarly), versions=SwapsEarly),
}
