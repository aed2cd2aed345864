"""Random fault plans on sound designs: no property fails, whatever strikes when."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ckptsim.models.store import PartitionState, encode_state
from ckptsim.scenarios import Scenario
from ckptsim.scenarios.generators import Choices, checkpoint_store
from ckptsim.scenarios.store import (
    CommitOutage,
    CrashAt,
    CrashBetween,
    CrashBetweenEffects,
    CrashInReset,
    Damage,
    FailRecovery,
    FailWrite,
    StopAt,
    StoreFault,
    StoreInput,
    StoreModel,
    StorePlacement,
    StoreSync,
    SwitchSource,
    Tamper,
    TornWrite,
)
from ckptsim.sim.kernel import Streams
from ckptsim.sim.store.world import StoreWorld
from ckptsim.sim.world import run_world

_TIES = st.sampled_from(["structural", "random", "pct"])
_SETTINGS = settings(
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

_SMALL = StoreModel(
    input=StoreInput(partitions=1, push_records=30, stream_records=30, rate_per_s=1000.0),
    sync=StoreSync(sync_bytes=2000, sync_interval_ns=5_000_000),
)


@st.composite
def _scenarios(draw: st.DrawFn) -> Scenario:
    """A store of sound design with a fault plan, as the product draws them."""
    return checkpoint_store(Choices(more=lambda low, high: draw(st.integers(low, high))))


@settings(_SETTINGS, max_examples=60)
@given(scenario=_scenarios(), ties=_TIES)
def test_sound_designs_survive_random_plans(scenario: Scenario, ties: str) -> None:
    """Data first or in one transaction, no fault plan breaks a promise or stops the input."""
    _survives(scenario, ties)


@pytest.mark.long
@settings(_SETTINGS, max_examples=1500)
@given(scenario=_scenarios(), ties=_TIES)
def test_sound_designs_survive_many_random_plans(scenario: Scenario, ties: str) -> None:
    """The same on many plans."""
    _survives(scenario, ties)


def test_mirrors_are_drawn_where_a_store_can_have_one() -> None:
    """Beside every store that is not co-located with its data."""
    drawn = [
        checkpoint_store(Choices(more=Streams(1).stream("store", n).integer)).model
        for n in range(60)
    ]
    placements = {one.placement for one in drawn if one.sync.mirror}  # type: ignore[union-attr]
    assert placements == set(StorePlacement) - {StorePlacement.COLOCATED}


@pytest.mark.parametrize("record", [18, 19, 20])
def test_the_first_record_behind_a_seek_may_fail(record: int) -> None:
    """A start that seeks past the start of push is not taken for one that reads too far."""
    model = StoreModel(
        placement=StorePlacement.EXTERNAL,
        input=StoreInput(
            partitions=2, push_records=30, stream_records=1, rate_per_s=200.0, seek_position=20
        ),
    )
    fault = FailWrite(version=1, partition=0, record=record)
    _survives(_planned(model, fault), "structural")


def test_a_start_behind_the_wanted_position_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A seek that leaves out the record that the user wants first loses that record."""
    scenario = _planned(StoreModel(input=StoreInput(push_records=10, keys=1000, seek_position=5)))
    _survives(scenario, "structural", seed=0)

    def encode(state: PartitionState) -> bytes:
        return encode_state(replace(state, position=state.position + 1))

    monkeypatch.setattr("ckptsim.sim.store.world.store.encode_state", encode)
    found = {row.property for row in run_world(scenario, seed=0).violations}
    assert "no_checkpoint_ahead_of_data" in found


def test_a_version_that_a_newer_one_overtakes_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the third version is pushed while the second is held up, neither old one is kept."""
    given = StoreInput(versions=3, version_gap_ns=20_000_000, push_records=30, stream_records=9)
    held = FailWrite(version=2, partition=0, record=3)
    scenario = _planned(StoreModel(input=given), held)
    _survives(scenario, "structural", seed=0)
    drop = StoreWorld._drop

    def drop_held(world: StoreWorld, version: int) -> None:
        if version > 1:
            drop(world, version)

    monkeypatch.setattr(StoreWorld, "_drop", drop_held)
    found = {row.property for row in run_world(scenario, seed=0).violations}
    assert found == {"dropped_versions_leave_nothing"}


def test_rows_behind_a_seek_are_no_prefix_once_the_position_is_forgotten() -> None:
    """Two resets that crash leave rows of the first start under a start from scratch."""
    model = StoreModel(
        input=StoreInput(push_records=10, stream_records=1, seek_position=5),
        sync=StoreSync(deferred_write=True),
    )
    faults = (CrashInReset(), CrashBetween(sync=2), CrashInReset(reset=2))
    _survives(_planned(model, *faults), "structural", seed=0)


def test_what_an_outage_repeats_is_excused_until_a_start_has_opened_it() -> None:
    """A recovery that fails after a commit outage leaves its rework to the start after it."""
    ms = 1_000_000
    model = StoreModel(placement=StorePlacement.CONSUMER_GROUP_BLOB, input=StoreInput(partitions=1))
    outage = CommitOutage(at_ns=300 * ms, duration_ns=600 * ms)
    scenario = _planned(model, outage, StopAt(at_ns=800 * ms), FailRecovery(start=2))
    assert run_world(scenario, seed=0, ties="structural").goals["recovery_failed"] == 1
    _survives(scenario, "structural", seed=0)


@pytest.mark.parametrize("kept_bytes", [0, 1, 40, 1 << 20])
def test_half_of_a_checkpoint_is_not_taken_for_whole(kept_bytes: int) -> None:
    """A prefix of any length is found damaged at the start. Other placements leave none."""
    for placement in StorePlacement:
        scenario = _planned(
            replace(_SMALL, placement=placement), TornWrite(sync=3, kept_bytes=kept_bytes)
        )
        goals = run_world(scenario, seed=0, ties="structural").goals
        torn = int(placement is StorePlacement.EXTERNAL)
        assert (goals["crashed_within_write"], goals["corrupt_checkpoint"]) == (torn, torn)
        _survives(scenario, "structural", seed=0)


@pytest.mark.parametrize("placement", StorePlacement)
@pytest.mark.parametrize("damage", Damage)
def test_damage_of_every_kind_is_noticed_at_the_start(
    damage: Damage, placement: StorePlacement
) -> None:
    """A frame that is not right is corrupt, and fields that are none cannot be read."""
    ms = 1_000_000
    tamper = Tamper(at_ns=40 * ms, damage=damage)
    scenario = _planned(replace(_SMALL, placement=placement), tamper, CrashAt(at_ns=40 * ms + 1))
    goals = run_world(scenario, seed=0, ties="structural").goals
    group = placement is StorePlacement.CONSUMER_GROUP_BLOB
    readable = damage is Damage.NO_POSITION and group  # a group has the position in its offset
    fields = damage in (Damage.NO_FIELDS, Damage.NO_TABLE, Damage.OTHER_FIELDS, Damage.NO_POSITION)
    expected = (int(not fields), int(fields and not readable))
    assert (goals["corrupt_checkpoint"], goals["unreadable_checkpoint"]) == expected
    _survives(scenario, "structural", seed=0)


@pytest.mark.parametrize("placement", StorePlacement)
def test_a_crash_between_any_two_effects_is_survived(placement: StorePlacement) -> None:
    """Whatever of an answer was carried out by then. Each strikes once."""
    model = replace(_SMALL, placement=placement)
    for effect in range(1, 14):
        scenario = _planned(model, CrashBetweenEffects(effect=effect))
        result = run_world(scenario, seed=0, ties="structural")
        assert result.goals["crashed_between_effects"] == 1, effect
        _survives(scenario, "structural", seed=0)


def _planned(model: StoreModel, *faults: StoreFault) -> Scenario:
    return Scenario(
        name="planned", link="checkpoint_store", says="planned", model=model, faults=faults
    )


def _survives(scenario: Scenario, ties: str, *, seed: int = 1) -> None:
    result = run_world(scenario, seed=seed, ties=ties)
    assert [f"{row.property}: {row.says}" for row in result.violations] == []
    assert result.run.outcome == "completed"


def test_a_switch_needs_another_log() -> None:
    """A partition without a remote log cannot be switched to one, and the message says so."""
    (problem,) = SwitchSource().problems_in(StoreModel())
    assert "store.input.remote_ahead" in str(problem)
    ahead = StoreModel(input=StoreInput(remote_ahead=7))
    assert SwitchSource().problems_in(ahead) == []


@pytest.mark.parametrize("ahead", [-20, -1, 7])
def test_a_switch_before_the_first_record_reads_from_the_start(ahead: int) -> None:
    """Where nothing is applied there is no position to translate, however the logs are numbered."""
    model = replace(_SMALL, input=replace(_SMALL.input, remote_ahead=ahead))
    _survives(_planned(model, SwitchSource()), "structural", seed=0)
