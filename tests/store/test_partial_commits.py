"""Commits of one partition fail while the ones of the others succeed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from ckptsim.models.store import ModelMedium, Placement, StoreClient, StoreVersions
from ckptsim.models.store.client import Parts
from ckptsim.models.store.ingestion import PartitionIngestion
from ckptsim.models.store.ingestion import events as ingestion_events
from ckptsim.models.store.settings import SyncRules
from ckptsim.models.store.state import PartitionState
from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.composed import RefuseCommits
from ckptsim.scenarios.store import CommitOutage, CrashAt
from ckptsim.sim.world import run_world

MS = 1_000_000


def takes_a_part_for_the_whole() -> Callable[[SyncRules, PartitionState], PartitionIngestion]:
    """Return a factory of cores that finish a sync that is refused once another one's succeeds."""
    synced: list[PartitionIngestion] = []

    class PartForWhole(PartitionIngestion):
        """Looks at the result of the request, although one partition has failed."""

        def begin(self, cause: ingestion_events.Cause) -> list[ingestion_events.Effect]:
            """Remember how many have synced."""
            self._before = len(synced)
            return super().begin(cause)

        def step_durable(
            self, event: ingestion_events.StepDurable
        ) -> list[ingestion_events.Effect]:
            """Note that a partition has synced."""
            synced.append(self)
            return super().step_durable(event)

        def step_refused(
            self, event: ingestion_events.StepRefused
        ) -> list[ingestion_events.Effect]:
            """Take the success of another partition for the one of this one."""
            if all(one is self for one in synced[self._before :]):
                return super().step_refused(event)
            self._steps = self._steps[:1]
            return super().step_durable(ingestion_events.StepDurable())

    return PartForWhole


def faulty(placement: Placement) -> StoreVersions:
    """Return a store with partitions that look at each other's results."""
    medium = ModelMedium(atomic=placement is Placement.COLOCATED)
    parts = Parts(ingestion=takes_a_part_for_the_whole())
    return StoreVersions(StoreClient(placement, medium, parts=parts))


def store_of(partition: int | None) -> Scenario:
    """Return a store of two partitions with failing commits and a crash."""
    outage = CommitOutage(at_ns=200 * MS, duration_ns=400 * MS, partition=partition)
    return replace(by_name("group_outage"), faults=(outage, CrashAt(at_ns=500 * MS)), goals=())


def pipeline_of(subtask: int | None) -> Scenario:
    """Return a pipeline with a store that refuses commits, of one subtask of the sink or of all."""
    refused = RefuseCommits(commit=1, commits=8, subtask=subtask)
    return replace(by_name("pipeline"), faults=(refused,), goals=())


@pytest.mark.parametrize("of", [store_of, pipeline_of])
def test_a_partial_failure_delays_that_part_only(of: Callable[[int | None], Scenario]) -> None:
    """Our core survives commits that fail for one partition, another one, or all."""
    for part in (None, 0, 1):
        result = run_world(of(part), seed=0)
        assert result.run.outcome == "completed"
        assert result.violations == []
        reached = result.goals.get("commit_failed", 0) + result.goals.get("commit_refused", 0)
        assert reached > 0


@pytest.mark.parametrize("of", [store_of, pipeline_of])
def test_a_part_that_is_taken_for_the_whole_shows(of: Callable[[int | None], Scenario]) -> None:
    """A core that takes one partition's success for all loses the other's commit."""
    result = run_world(of(0), seed=0, cores={"store": faulty})
    assert result.violations


def test_an_outage_has_its_partition() -> None:
    """While the commits of one partition fail, the ones of the other one succeed."""
    both = {"s_v1/0", "s_v1/1"}
    for part, scopes in ((None, both), (0, {"s_v1/0"}), (1, {"s_v1/1"})):
        rows = run_world(store_of(part), seed=0).checkpoints
        assert {row.scope for row in rows if row.status == "failed"} == scopes
        assert {row.scope for row in rows if row.status == "completed"} == both
