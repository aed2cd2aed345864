"""Random checkpoint stores of sound design, with fault plans that break none of their promises."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import pairwise

from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.spec import Scenario
from ckptsim.scenarios.store import (
    CommitOutage,
    Compact,
    CrashAt,
    CrashBetween,
    CrashBetweenEffects,
    CrashInReset,
    CrashRate,
    Damage,
    Deploy,
    DictionaryOutage,
    FailRecovery,
    FailWrite,
    Lost,
    Rebootstrap,
    RecordDurability,
    Reopen,
    StopAt,
    StoreFault,
    StoreInput,
    StoreModel,
    StorePlacement,
    StoreSync,
    Tamper,
    TornWrite,
    TruncateLog,
)

_US = 1_000
_MS = 1_000_000
_FAULTS_MAX = 5
_ENDS = CrashAt | StopAt | Deploy  # of the process, which begins again
_WEEK_NS = 7 * 24 * 3600 * 1_000_000_000


def checkpoint_store(choices: Choices) -> Scenario:
    """Return a random store with a fault plan."""
    placement = choices.of(tuple(StorePlacement))
    model = StoreModel(placement=placement, input=_input(choices), sync=_sync(choices, placement))
    if model.sync.mirror and not model.input.deletes_every and choices.flag():
        # What no sync flushes is put back from the mirror, but for deletes.
        model = replace(model, sync=replace(model.sync, hooked=False))
    present = choices.features(tuple(STORE_FAULT_DRAWS))
    if model.input.deletes_every and "compact" in present:
        present.remove("compact")  # a delete that is gone from the log is not repeated
    faults: tuple[StoreFault, ...] = ()
    if present:
        drawn = choices.alike(present)
        faults = choices.several(
            lambda: STORE_FAULT_DRAWS[next(drawn)](choices, model), most=_FAULTS_MAX
        )
    failed = next((one for one in faults if isinstance(one, FailWrite)), None)
    if failed is None and choices.integer(0, 7) == 7:
        failed = _fails_write(choices, model)
        faults = (*faults, failed, _opens_anew(choices, model, failed))
    elif failed is not None and choices.flag():
        faults = (*faults, _opens_anew(choices, model, failed))
    stopped = next((one for one in faults if isinstance(one, StopAt | Deploy)), None)
    if stopped is not None and choices.integer(0, 2) == 2:
        faults = (*faults, _opens_while_stopping(choices, model, stopped))
    deploys = [one for one in faults if isinstance(one, Deploy)]
    switched = next((one for one in deploys if one.built_in is not model.sync.built_in), None)
    if switched is not None and choices.flag():
        faults = (*faults, _names_it_again(choices, model, switched))
    if model.input.versions > 1:
        model, faults = _versions_meet(choices, model, faults)
    if _is_remote(model) and choices.integer(0, 3) == 3:
        faults = (*faults, _refused_at_the_end(choices, model))
    if model.input.compressed and choices.flag():
        faults = (*faults, _out_at_a_beginning(choices, model, faults))
    resets = (Rebootstrap, Tamper)
    if any(isinstance(one, CrashInReset) for one in faults) and not any(
        isinstance(one, resets) for one in faults
    ):
        faults = (*faults, STORE_FAULT_DRAWS["rebootstrap"](choices, model))
    model = _ingesting(choices, _produced(choices, model))
    return Scenario(
        name="generated",
        link="checkpoint_store",
        says="a store and fault plan that was generated",
        violates=store_hazards_of(model, faults),
        model=model,
        faults=faults,
    )


def _produced(choices: Choices, model: StoreModel) -> StoreModel:
    """Return the store with records of some producers, or of none that says who it is."""
    producers = choices.of((0, 2, 1, 3))
    if not producers:
        return model
    segment = choices.of((20, 1, 7, 100))
    return replace(model, input=replace(model.input, producers=producers, segment_records=segment))


def _ingesting(choices: Choices, model: StoreModel) -> StoreModel:
    """Return the store, which takes records while a sync is written, or none."""
    if model.sync.durability is RecordDurability.PER_RECORD:
        return model
    return replace(model, sync=replace(model.sync, ingest_while_syncing=choices.flag()))


def store_hazards_of(model: StoreModel, faults: Iterable[object]) -> tuple[str, ...]:
    """Return what a right core cannot prevent (docs/hazards.md).

    A checkpoint is newer than what was applied: it lies in the store that a release leaves and a
    later one names again.  A log that is compacted has no deletes for a reader that is still before
    them, and one without its tail says nothing of rows that are ahead of their checkpoint.
    """
    faults = tuple(faults)
    deletes_go = model.input.deletes_every > 0 and any(isinstance(one, Compact) for one in faults)
    tail_goes = _is_remote(model) and any(isinstance(one, TruncateLog) for one in faults)
    deploys = sorted(
        (fault for fault in faults if isinstance(fault, Deploy)), key=lambda fault: fault.at_ns
    )
    named = [model.sync.built_in, *(fault.built_in for fault in deploys)]
    switches = sum(old is not new for old, new in pairwise(named))
    if deletes_go and model.placement is StorePlacement.COLOCATED:
        return ("content_converges", "rows_and_checkpoint_agree")
    return ("content_converges",) if switches > 1 or deletes_go or tail_goes else ()


def _input(choices: Choices) -> StoreInput:
    push_records = choices.of((30, 200))
    stream_records = choices.of((1, 250))
    if not choices.flag():
        return StoreInput(
            partitions=2,
            push_records=push_records,
            stream_records=stream_records,
            rate_per_s=choices.of((200.0, 1000.0, 30_000.0)),
            keys=choices.of((7, 1, 1000)),
        )
    return StoreInput(
        partitions=2,
        versions=choices.integer(1, 3),
        version_gap_ns=_at(choices),
        view=choices.flag(),
        push_records=push_records,
        stream_records=stream_records,
        rate_per_s=choices.of((200.0, 1000.0, 30_000.0)),
        keys=choices.of((7, 1, 1000)),
        deletes_every=choices.of((0, 2, 7)),
        switch_every=choices.of((0, 1, 50)),
        compressed=choices.flag(),
        seek_position=choices.of((0, 0, 20, push_records)),
    )


def _sync(choices: Choices, placement: StorePlacement) -> StoreSync:
    return StoreSync(
        sync_bytes=choices.of((3000, 500, 0)),
        sync_interval_ns=choices.of((0, 20 * _MS)),
        durability=choices.of(tuple(RecordDurability)),
        deferred_write=choices.flag(),
        identity=choices.flag(),
        built_in=choices.flag(),
        mirror=choices.flag() and placement is not StorePlacement.COLOCATED,
        offset_expiry_ns=choices.of((_WEEK_NS, _WEEK_NS, 1_200 * _MS)),
    )


def _fails_write(choices: Choices, model: StoreModel) -> FailWrite:
    last = model.input.push_records + model.input.stream_records
    place = {"version": _version(choices, model), "partition": _partition(choices)}
    return FailWrite(**place, record=choices.integer(0, last))


def _opens_anew(choices: Choices, model: StoreModel, failed: FailWrite) -> Reopen:
    """Return that somebody opens an errored partition anew, soon behind the write that failed."""
    later = max(0, failed.record - model.input.push_records)  # those before are there at once
    written_ns = round(1e9 * later / model.input.rate_per_s)
    at_ns = written_ns + choices.of((20, 100, 300, 600)) * _MS
    return Reopen(version=failed.version, partition=failed.partition, at_ns=at_ns)


def _names_it_again(choices: Choices, model: StoreModel, switched: Deploy) -> Deploy:
    """Return a release that names the store again which one before it has left."""
    again_ns = _again_ns(model, switched) + choices.integer(1, 300) * _MS
    return replace(switched, at_ns=again_ns, built_in=model.sync.built_in)


def _opens_while_stopping(
    choices: Choices, model: StoreModel, stopped: StopAt | Deploy
) -> Rebootstrap:
    """Return that somebody has a partition begin anew while a stop waits for the last syncs."""
    at_ns = stopped.at_ns + choices.integer(1, 30) * _MS
    version, partition = _version(choices, model), _partition(choices)
    return Rebootstrap(version=version, partition=partition, at_ns=at_ns)


def _versions_meet(
    choices: Choices, model: StoreModel, faults: tuple[StoreFault, ...]
) -> tuple[StoreModel, tuple[StoreFault, ...]]:
    """Return the store with versions that begin while the process, or one before, is held up."""
    stopped = next((one for one in faults if isinstance(one, StopAt | Deploy)), None)
    if stopped is not None and choices.flag():
        model = _begins_while_stopping(choices, model, stopped)
    elif model.sync.mirror and choices.flag():
        model, crashed = _begins_while_recovering(choices, model)
        faults = (*faults, crashed)
    elif model.input.versions > 2 and choices.flag():
        model, held = _overtaken(choices, model)
        faults = (*faults, held)
    return model, faults


def _begins_while_stopping(
    choices: Choices, model: StoreModel, stopped: StopAt | Deploy
) -> StoreModel:
    """Return the store with a second version that begins while a stop waits for the last syncs."""
    gap_ns = stopped.at_ns + choices.integer(1, 20) * _MS
    return replace(model, input=replace(model.input, version_gap_ns=gap_ns))


def _begins_while_recovering(choices: Choices, model: StoreModel) -> tuple[StoreModel, CrashAt]:
    """Return the store with a second version that begins while a start puts its mirrors back."""
    crashed = CrashAt(at_ns=choices.integer(100, 900) * _MS, down_ns=_while(choices))
    # To put a row back takes some 10 us, so that those of a push take up to 2 ms.
    gap_ns = _again_ns(model, crashed) + choices.of((50, 10, 200)) * _US
    return replace(model, input=replace(model.input, version_gap_ns=gap_ns)), crashed


def _overtaken(choices: Choices, model: StoreModel) -> tuple[StoreModel, FailWrite]:
    """Return the store with a second version that is held up while the third one is pushed."""
    gap_ns = choices.of((20, 100, 300)) * _MS
    record = choices.integer(0, model.input.push_records)
    held = FailWrite(version=2, partition=_partition(choices), record=record)
    return replace(model, input=replace(model.input, version_gap_ns=gap_ns)), held


def _is_remote(model: StoreModel) -> bool:
    return model.placement is not StorePlacement.COLOCATED


def _refused_at_the_end(choices: Choices, model: StoreModel) -> CommitOutage:
    """Return that commits are refused while the last records are applied: one of them is synced."""
    read_ns = round(1e9 * model.input.stream_records / model.input.rate_per_s)
    at_ns = max(0, read_ns + choices.integer(-40, 20) * _MS)
    duration_ns = choices.of((60, 200, 20)) * _MS
    return CommitOutage(at_ns=at_ns, duration_ns=duration_ns, partition=choices.of((None, 0, 1)))


def _out_at_a_beginning(
    choices: Choices, model: StoreModel, faults: Iterable[StoreFault]
) -> DictionaryOutage:
    """Return that no dictionary can be had when a version, or the process, begins."""
    given = model.input
    begins = [0] if given.versions == 1 else [0, given.version_gap_ns]
    begins += [_again_ns(model, one) for one in faults if isinstance(one, _ENDS)]
    at_ns = max(0, choices.of(begins) - choices.integer(0, 5) * _MS)
    return DictionaryOutage(at_ns=at_ns, duration_ns=choices.integer(10, 300) * _MS)


def _again_ns(model: StoreModel, ended: CrashAt | StopAt | Deploy) -> int:
    """Return when the process is there again, in ns; a stop may take longer."""
    return ended.at_ns + ended.down_ns + model.process.restart_ns


def _at(choices: Choices) -> int:
    """Return an instant in ns, of whole milliseconds in the first two seconds."""
    return choices.integer(0, 2000) * _MS


def _while(choices: Choices) -> int:
    return choices.integer(1, 800) * _MS


def _version(choices: Choices, model: StoreModel) -> int:
    return choices.integer(1, model.input.versions)


def _partition(choices: Choices) -> int:
    return choices.integer(0, 1)


def losses(model: StoreModel) -> tuple[Lost, ...]:
    """Return what may be lost of a store: data only if that is noticed, or a checkpoint goes, too.

    A mirror puts rows back that are older than what is ingested again.
    """
    if model.placement is StorePlacement.COLOCATED:
        return Lost.DATA, Lost.CHECKPOINT, Lost.LOCAL
    if model.sync.mirror:
        return ()
    noticed = (Lost.DATA, Lost.LOCAL) if model.sync.identity else ()
    return Lost.CHECKPOINT, *noticed


def may_switch(model: StoreModel) -> bool:
    """Return whether a release may name another store, which has no checkpoint for the rows."""
    return not model.sync.mirror and _is_remote(model)


STORE_FAULT_DRAWS: Mapping[str, Callable[[Choices, StoreModel], StoreFault]] = {
    "crash_at": lambda c, model: CrashAt(
        at_ns=_at(c), down_ns=_while(c), loses=c.of((Lost.NOTHING, *losses(model)))
    ),
    "crash_between": lambda c, _: CrashBetween(sync=c.integer(1, 30)),
    "crash_between_effects": lambda c, _: CrashBetweenEffects(effect=c.integer(1, 60)),
    "torn_write": lambda c, _: TornWrite(sync=c.integer(1, 30), kept_bytes=c.of((0, 1, 40, 9999))),
    "crash_rate": lambda c, _: CrashRate(mean_ns=c.of((50, 700)) * _MS, until_ns=_at(c)),
    "stop_at": lambda c, _: StopAt(at_ns=_at(c), down_ns=_while(c)),
    "fail_write": _fails_write,
    "commit_outage": lambda c, _: CommitOutage(
        at_ns=_at(c), duration_ns=_while(c), partition=c.of((None, 0, 1))
    ),
    "dictionary_outage": lambda c, _: DictionaryOutage(at_ns=_at(c), duration_ns=_while(c)),
    "reopen": lambda c, model: Reopen(
        version=_version(c, model), partition=_partition(c), at_ns=_at(c)
    ),
    "rebootstrap": lambda c, model: Rebootstrap(
        version=_version(c, model), partition=_partition(c), at_ns=_at(c)
    ),
    "tamper": lambda c, model: Tamper(
        version=_version(c, model),
        partition=_partition(c),
        at_ns=_at(c),
        damage=c.of(tuple(Damage)),
    ),
    "fail_recovery": lambda c, _: FailRecovery(start=c.integer(1, 3)),
    "crash_in_reset": lambda c, _: CrashInReset(reset=c.integer(1, 2)),
    "deploy": lambda c, model: Deploy(
        at_ns=_at(c),
        down_ns=_while(c),
        newer=c.flag(),
        built_in=c.flag() if may_switch(model) else model.sync.built_in,
    ),
    "compact": lambda c, _: Compact(at_ns=_at(c)),
}
