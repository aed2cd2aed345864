"""Every property of a store can fail, what removes a safeguard shows, and runs can be told."""

from __future__ import annotations

from typing import Any

import pytest

from ckptsim.models.store import Area, Settings, Slot, StoreClient
from ckptsim.models.store.settings import SyncRules
from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import all_scenarios, by_name
from ckptsim.scenarios.files import read
from ckptsim.scenarios.planning import with_parameters
from ckptsim.scenarios.store import PROPERTIES
from ckptsim.sim.rows import RunResult
from ckptsim.sim.store.content.record_run import Run
from ckptsim.sim.store.content.spans import FeedChanges
from ckptsim.sim.store.process import ProcessHost
from ckptsim.sim.store.truth import Claim, PartitionTruth
from ckptsim.sim.world import load_world, run_world
from tests.mutants.store import MUTANTS
from tests.store.killed import KILLED_BY, SHOWN_BY_VECTORS

SCENARIOS = [each for each in all_scenarios() if each.link == "checkpoint_store"]
TIES = ("structural", "random", "pct")


def _runs(scenario: Scenario, seeds: int, mutant: str | None = None) -> list[RunResult]:
    return [
        run_world(scenario, seed=seed, ties=TIES[seed % len(TIES)], mutant=mutant)
        for seed in range(seeds)
    ]


@pytest.mark.parametrize("name", KILLED_BY)
def test_mutant_breaks_its_scenario(name: str) -> None:
    """A store without one safeguard breaks the property that it guards, and only then."""
    place, *wanted = KILLED_BY[name]
    scenario = by_name(place)
    failed = {row.property for run in _runs(scenario, 6, mutant=name) for row in run.violations}
    assert set(wanted) <= failed
    assert not set(wanted) & set(scenario.violates)


def test_every_property_can_fail() -> None:
    """No property is vacuous: a scenario or a mutant breaks it."""
    broken = {name for scenario in SCENARIOS for name in scenario.violates}
    broken |= {name for _, *wanted in KILLED_BY.values() for name in wanted}
    assert broken == set(PROPERTIES)


def test_every_mutant_is_shown_somewhere() -> None:
    """Each mutant breaks a scenario, or a vector where the world has no use for its safeguard."""
    assert set(KILLED_BY) | SHOWN_BY_VECTORS == set(MUTANTS)
    assert not set(KILLED_BY) & SHOWN_BY_VECTORS


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.name)
def test_runs_read_as_stories(scenario: Scenario) -> None:
    """Every trace entry has its sentence."""
    vocabulary = load_world("checkpoint_store").VOCABULARY
    for entry in run_world(scenario, seed=3, ties="random", keep_trace=True).trace:
        assert vocabulary[str(entry[1])].sentence(entry)


def test_a_release_changes_no_other_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that names another store and forgets when to sync is found when a partition opens."""
    scenario = by_name("store_switched_and_back")
    right = StoreClient.configure

    def configure(client: StoreClient, settings: Settings) -> None:
        right(client, Settings(slot=settings.slot) if client.settings is not None else settings)

    monkeypatch.setattr(StoreClient, "configure", configure)
    assert "syncs_have_a_cause" in {row.property for row in run_world(scenario, seed=0).violations}


def test_a_dropped_version_leaves_no_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    """One with dropped rows and a kept mirror is found."""
    changed = {"store.placement": "external", "store.sync.mirror": True}
    scenario = with_parameters(by_name("s14_versions_and_views_apart"), changed)
    assert run_world(scenario, seed=0).violations == []
    right = StoreClient.commit_in_order

    def commit(client: StoreClient, slots: Any, rows: Any) -> None:
        right(client, slots, tuple(row for row in rows if row.area is not Area.MIRROR))

    monkeypatch.setattr(StoreClient, "commit_in_order", commit)
    found = {row.property for row in run_world(scenario, seed=0).violations}
    assert "dropped_versions_leave_nothing" in found


def test_rows_that_are_applied_again_stay_durable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Content that a shorter span cuts off is missed at the flush that has lost it."""
    deploy = {"kind": "deploy", "at_ns": 43_000_000, "built_in": True}
    scenario = _store({"input": {"push_records": 1, "stream_records": 1}}, deploy)
    assert run_world(scenario, seed=0).violations == []

    def append(changes: FeedChanges, first: int, end: int) -> None:
        while changes.spans and first <= changes.spans[-1][1]:
            first = min(first, changes.spans.pop()[0])
        changes.spans.append((first, end))
        changes._made = None

    monkeypatch.setattr(FeedChanges, "append", append)
    (row,) = run_world(scenario, seed=0).violations
    assert row.property == "durable_rows_are_the_content"


def test_a_sync_by_bytes_is_not_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that begins records after it was due is found, also where no crash repeats them."""
    scenario = by_name("external_crashes")
    right = SyncRules.records_until_due

    def a_record_late(self: SyncRules, since_bytes: int, record_bytes: int) -> int | None:
        records = right(self, since_bytes, record_bytes)
        return None if records is None else records + 1

    monkeypatch.setattr(SyncRules, "records_until_due", a_record_late)
    found = {row.property: row.says for row in run_world(scenario, seed=0).violations}
    assert "and is due after" in found["syncs_have_a_cause"]


def test_each_start_asks_for_the_state_of_its_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start that leaves the state of a version that it has found to no one is found."""
    scenario = by_name("s01_crash_between_data_first")
    assert run_world(scenario, seed=0).violations == []
    fetch = ProcessHost.fetch_version_state

    def fetch_once(self: ProcessHost, topic: str) -> None:
        if self.starts == 1:
            fetch(self, topic)

    monkeypatch.setattr(ProcessHost, "fetch_version_state", fetch_once)
    (row,) = run_world(scenario, seed=0).violations
    assert row.property == "version_state_agrees"
    assert "start 2 asks for no state" in row.says


def test_nothing_is_applied_before_the_log_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stop that takes the record for applied for which the thread waits is found."""
    store = {"input": {"push_records": 5, "stream_records": 20, "rate_per_s": 10}}
    scenario = _store(store, {"kind": "stop_at", "at_ns": 60_000_000})
    assert run_world(scenario, seed=0).violations == []
    right = Run.done_by
    monkeypatch.setattr(Run, "done_by", lambda self, now_ns: max(1, right(self, now_ns)))
    found = {row.property: row.says for row in run_world(scenario, seed=0).violations}
    assert "is applied before" in found["durable_rows_are_the_content"]


def test_a_release_that_names_a_store_again_uses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that continues with the store of the release before is found."""
    scenario = by_name("store_switched_and_back")
    right = StoreClient.configure

    def configure(self: StoreClient, settings: Settings) -> None:
        if settings.slot is not Slot.CUSTOM or self.settings is None:
            right(self, settings)

    monkeypatch.setattr(StoreClient, "configure", configure)
    names = {row.property for row in run_world(scenario, seed=0).violations}
    assert "fallback_uses_one_store" in names


def test_each_store_has_the_identity_of_its_own_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """That data were lost is noticed by the store that was in use then, when it is named again."""
    store = {
        "placement": "external",
        "input": {"push_records": 500, "stream_records": 1500, "rate_per_s": 1000.0},
        "sync": {"sync_bytes": 20_000, "identity": True},
    }
    scenario = _store(
        store,
        {"kind": "crash_at", "at_ns": 1_000_000_000, "loses": "data"},
        {"kind": "deploy", "at_ns": 1_200_000_000, "built_in": True},
        {"kind": "deploy", "at_ns": 2_030_000_000},
    )
    result = run_world(scenario, seed=0)
    assert result.violations == []
    assert result.goals["identity_restart"] == 2

    def claims_in_both(self: PartitionTruth, slot: Slot) -> None:
        del slot
        claim = Claim(identity=self.data_identity, generation=self.generation)
        self.claims = dict.fromkeys(Slot, claim)

    monkeypatch.setattr(PartitionTruth, "claims_these", claims_in_both)
    names = {row.property for row in run_world(scenario, seed=0).violations}
    assert "no_checkpoint_ahead_of_data" in names


def test_a_long_flush_is_no_standstill() -> None:
    """A partition that flushes while another one is errored is not blocked by that one."""
    store = {
        "placement": "consumer_group_blob",
        "input": {"push_records": 1000, "stream_records": 0, "record_bytes": 500},
        "costs": {"flush_bytes_per_s": 1},
    }
    result = run_world(_store(store, {"kind": "fail_write", "record": 50}), seed=0)
    assert result.violations == []
    assert result.goals["partition_reopened"]


def _store(store: dict[str, Any], *faults: dict[str, Any]) -> Scenario:
    document = {"name": "test", "link": "checkpoint_store", "says": "a test", "store": store}
    return read(document | {"faults": list(faults)}, source="test")
