"""The threads of the store process: a crash ends them all, at once, and errors of theirs show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ckptsim.models.store import Placement, StoreClient, StoreVersions
from ckptsim.models.store.client import Parts
from ckptsim.models.store.ingestion import PartitionIngestion
from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import all_scenarios, by_name
from ckptsim.scenarios.store import FailWrite, RecordDurability, Reopen, StopAt
from ckptsim.sim.blame import CORE_RAISED, OUTCOME_RAISED
from ckptsim.sim.kernel import Environment
from ckptsim.sim.rows import CheckpointRow
from ckptsim.sim.store.content import SpanMedium
from ckptsim.sim.store.faults import ProcessDied
from ckptsim.sim.store.process import ProcessHost, Steps, Threads
from ckptsim.sim.world import run_world

MS = 1_000_000
CRASHING = [
    each.name
    for each in all_scenarios()
    if each.link == "checkpoint_store" and each.goals and "crashed" in " ".join(each.goals)
]


def test_a_thread_that_dies_takes_the_others_with_it() -> None:
    """At that instant they end where they wait, and what the dead thread was doing is unwound."""
    env, said, deaths = Environment(), [], []

    def dies() -> Steps:
        yield env.timeout(5)
        said.append(f"dies at {env.now}")
        yield from dies_within()
        said.append("went on")

    def dies_within() -> Steps:
        raise ProcessDied("a reason")
        yield

    def waits(delay: int) -> Steps:
        try:
            yield env.timeout(delay)
            said.append(f"went on after {delay}")
        finally:
            said.append(f"ended at {env.now}")

    def on_death(died: ProcessDied) -> None:
        deaths.append(died.reason)
        threads.end()

    threads = Threads(env, on_death)
    for steps in (waits(3), dies(), waits(5), waits(7)):
        threads.start(steps, env.entity("thread"))
    env.run()
    assert said == ["went on after 3", "ended at 3", "dies at 5", "ended at 5", "ended at 5"]
    assert deaths == ["a reason"]
    assert threads.running == []


@pytest.mark.parametrize("ties", ["structural", "random", "pct"])
@pytest.mark.parametrize("name", CRASHING)
def test_nothing_of_a_dead_process_acts(
    name: str, ties: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a crash to the next start no partition says a word, and no thread is left of it."""
    started: list[Threads] = []
    begin_start = ProcessHost._begin_start

    def note(host: ProcessHost) -> None:
        assert all(each.running == [] for each in started)
        begin_start(host)
        started.append(host.threads)

    monkeypatch.setattr(ProcessHost, "_begin_start", note)
    result = run_world(by_name(name), seed=2, ties=ties, keep_trace=True)
    assert all(each.running == [] for each in started)
    down_since: object = None
    for time, kind, entity, *_ in result.trace:
        if kind in ("crashed", "started"):
            down_since = time if kind == "crashed" else None
        elif str(entity).startswith("partition") and down_since is not None:
            assert (time, kind) == (down_since, "sync_aborted")
    assert len(started) > 2


def test_an_error_in_a_thread_ends_the_run() -> None:
    """What a core raises in the thread of a partition ends the run, and is put down to the core."""

    class Failing(PartitionIngestion):
        def written(self, event: Any) -> Any:
            raise ValueError(f"no sync at {event.position}")

    def versions(placement: Placement) -> StoreVersions:
        medium = SpanMedium(atomic=placement is Placement.COLOCATED)
        return StoreVersions(StoreClient(placement, medium, parts=Parts(ingestion=Failing)))

    result = run_world(by_name("errored_partition"), seed=1, cores={"store": versions})
    assert result.run.outcome == OUTCOME_RAISED
    (violation,) = result.violations
    assert violation.property == CORE_RAISED
    assert "raised ValueError: no sync at" in violation.says


def test_a_partition_that_was_opened_anew_is_left_alone() -> None:
    """Anyone who opens an errored partition first spares it from being opened once more."""
    scenario = by_name("errored_partition")
    failing = FailWrite(version=1, partition=0, record=600)
    assert scenario.model.process.reopen_ns == 500 * MS
    late = _opened(replace(scenario, faults=(failing,)))
    early = _opened(replace(scenario, faults=(failing, Reopen(version=1, partition=0, at_ns=MS))))
    assert len(late) == 2
    [frozen_ns] = [late[1] - 500 * MS]
    reopen = Reopen(version=1, partition=0, at_ns=frozen_ns + 100 * MS)
    opened = _opened(replace(scenario, faults=(failing, reopen)))
    assert opened == [0, frozen_ns + 100 * MS]
    assert len(early) == 3  # open worked anew before it fails is opened once more


def test_a_partition_need_not_move_while_another_is_errored_for_a_moment() -> None:
    """Anyone who is in the middle of a record when a partition fails has done nothing wrong."""
    scenario = by_name("errored_partition")
    process = replace(scenario.model.process, reopen_ns=MS)
    costs = replace(scenario.model.costs, autocommit_ns=2 * MS)
    late = replace(scenario.model.input, rate_per_s=30_000.0)  # so that records always wait
    sync = replace(scenario.model.sync, durability=RecordDurability.PER_RECORD)
    model = replace(scenario.model, process=process, costs=costs, input=late, sync=sync)
    assert run_world(replace(scenario, model=model), seed=1).violations == []


def test_a_stop_in_the_middle_of_a_sync_waits_for_it() -> None:
    """A graceful stop does not cut a durable step short. The last sync follows it at once."""
    scenario = replace(by_name("external_crashes"), faults=())
    sync = next(row for row in _syncs(scenario) if row.kind == "bytes")
    assert sync.completed_ns is not None
    halfway_ns = (sync.triggered_ns + sync.completed_ns) // 2
    stopped = replace(scenario, faults=(StopAt(at_ns=halfway_ns, down_ns=MS),))
    interrupted, last, *_ = [
        row
        for row in _syncs(stopped)
        if row.scope == sync.scope
        and row.completed_ns is not None
        and row.completed_ns > halfway_ns
    ]
    assert (interrupted.triggered_ns, interrupted.completed_ns) == (
        sync.triggered_ns,
        sync.completed_ns,
    )
    assert (last.kind, last.triggered_ns) == ("request", sync.completed_ns)


def _syncs(scenario: Scenario) -> list[CheckpointRow]:
    return run_world(scenario, seed=1).checkpoints


def _opened(scenario: Scenario) -> list[int]:
    """Return when the first partition was opened."""
    trace = run_world(scenario, seed=1, keep_trace=True).trace
    return [int(str(entry[0])) for entry in trace if entry[1] == "opened" and entry[3] == "s_v1/0"]


def test_a_dictionary_that_was_out_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that gives up after one try leaves the state of a version unknown for good."""
    fetch = ProcessHost._fetch_version_state

    def fetch_once(host: ProcessHost, topic: str) -> Steps:
        for wait in fetch(host, topic):
            yield wait
            return

    scenario = by_name("dictionary_outage")
    assert run_world(scenario, seed=0).violations == []
    monkeypatch.setattr(ProcessHost, "_fetch_version_state", fetch_once)
    (row,) = run_world(scenario, seed=0).violations
    assert row.property == "version_state_agrees"
    assert "is not asked for again" in row.says
