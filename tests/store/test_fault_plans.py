"""Random fault plans on sound designs: no property fails, whatever strikes when."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.store import (
    CommitOutage,
    CrashAt,
    CrashBetween,
    CrashInReset,
    CrashRate,
    Deploy,
    DictionaryOutage,
    FailRecovery,
    FailWrite,
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
)
from ckptsim.sim.world import run_world

MS = 1_000_000
_AT = st.integers(0, 2000).map(lambda ms: ms * MS)
_WHILE = st.integers(1, 800).map(lambda ms: ms * MS)
_VERSION, _PARTITION = st.integers(1, 2), st.integers(0, 1)

_FAULTS: st.SearchStrategy[StoreFault] = st.one_of(
    st.builds(CrashAt, at_ns=_AT, down_ns=_WHILE),
    st.builds(CrashBetween, sync=st.integers(1, 30)),
    st.builds(CrashRate, mean_ns=st.sampled_from([50 * MS, 700 * MS]), until_ns=_AT),
    st.builds(StopAt, at_ns=_AT, down_ns=_WHILE),
    st.builds(FailWrite, version=_VERSION, partition=_PARTITION, record=st.integers(0, 400)),
    st.builds(CommitOutage, at_ns=_AT, duration_ns=_WHILE),
    st.builds(DictionaryOutage, at_ns=_AT, duration_ns=_WHILE),
    st.builds(Reopen, version=_VERSION, partition=_PARTITION, at_ns=_AT),
    st.builds(Rebootstrap, version=_VERSION, partition=_PARTITION, at_ns=_AT),
    st.builds(Tamper, version=_VERSION, partition=_PARTITION, at_ns=_AT),
    st.builds(FailRecovery, start=st.integers(1, 3)),
    st.builds(CrashInReset, reset=st.integers(1, 2)),
    st.builds(Deploy, at_ns=_AT, down_ns=_WHILE, newer=st.booleans()),
)
_INPUTS = st.builds(
    StoreInput,
    partitions=st.just(2),
    versions=st.integers(1, 2),
    version_gap_ns=_AT,
    view=st.booleans(),
    push_records=st.sampled_from([30, 200]),
    stream_records=st.sampled_from([1, 250]),
    rate_per_s=st.sampled_from([200.0, 1000.0, 30_000.0]),
    keys=st.sampled_from([1, 7, 1000]),
    deletes_every=st.sampled_from([0, 2, 7]),
    switch_every=st.sampled_from([0, 1, 50]),
    compressed=st.booleans(),
    seek_position=st.sampled_from([0, 0, 20]),
)
_SYNCS = st.builds(
    StoreSync,
    sync_bytes=st.sampled_from([0, 500, 3000]),
    sync_interval_ns=st.sampled_from([0, 20 * MS]),
    durability=st.sampled_from(RecordDurability),
    deferred_write=st.booleans(),
    identity=st.booleans(),
    built_in=st.booleans(),
)
_MODELS = st.builds(
    StoreModel, placement=st.sampled_from(StorePlacement), input=_INPUTS, sync=_SYNCS
)
_PLANS = st.lists(_FAULTS, max_size=5).map(tuple)
_TIES = st.sampled_from(["structural", "random", "pct"])
_SETTINGS = settings(
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@settings(_SETTINGS, max_examples=60)
@given(model=_MODELS, faults=_PLANS, ties=_TIES)
def test_sound_designs_survive_random_plans(
    model: StoreModel, faults: tuple[StoreFault, ...], ties: str
) -> None:
    """Data first or in one transaction, no fault plan breaks a promise or stops the input."""
    _survives(model, faults, ties)


@pytest.mark.long
@settings(_SETTINGS, max_examples=1500)
@given(model=_MODELS, faults=_PLANS, ties=_TIES)
def test_sound_designs_survive_many_random_plans(
    model: StoreModel, faults: tuple[StoreFault, ...], ties: str
) -> None:
    """The same on many plans."""
    _survives(model, faults, ties)


@pytest.mark.parametrize("record", [18, 19, 20])
def test_the_first_record_behind_a_seek_may_fail(record: int) -> None:
    """A start that seeks past the start of push is not taken for one that reads too far."""
    model = StoreModel(
        placement=StorePlacement.EXTERNAL,
        input=StoreInput(
            partitions=2, push_records=30, stream_records=1, rate_per_s=200.0, seek_position=20
        ),
    )
    _survives(model, (FailWrite(version=1, partition=0, record=record),), "structural")


def _survives(model: StoreModel, faults: tuple[StoreFault, ...], ties: str) -> None:
    # A release that names another store finds no checkpoint for its rows: no design stands that.
    faults = tuple(
        replace(each, built_in=model.sync.built_in) if isinstance(each, Deploy) else each
        for each in faults
    )
    scenario = Scenario(
        name="random", link="checkpoint_store", says="random", model=model, faults=faults
    )
    result = run_world(scenario, seed=1, ties=ties)
    assert [f"{row.property}: {row.says}" for row in result.violations] == []
    assert result.run.outcome == "completed"
