"""Indices that a restart gives out anew, while all state carries the identity of its subtask."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from ckptsim.scenarios.errors import ScenarioError
from ckptsim.scenarios.spec import Scenario
from ckptsim.sim.job.control.checkpoint import JobCheckpoint
from ckptsim.sim.job.graph import Graph
from ckptsim.sim.job.records.restoring.successions import successions
from ckptsim.sim.kernel import Environment
from ckptsim.sim.search.trial import Subject
from tests.job.records.small import MS, small


def _carried(partitioner: str, crash_ms: int = 15, **checkpointing: Any) -> Scenario:
    """Return a job that fails while records are in flight to an operator after back-pressure."""
    source = {"name": "source", "kind": "source", "parallelism": 3}
    reads = [{"upstream": "source", "partitioner": partitioner}]
    operator = {"name": "operator", "parallelism": 3, "inputs": reads, "service_ns": 3 * MS}
    job = {
        "vertices": [source | {"records": 60, "rate_per_s": 3_000.0}, operator],
        "channel_state": {"subtask_indices": "carried", "ordered_edges": "reassigned"},
        "checkpointing": {"mode": "unaligned", "interval_ns": 5 * MS} | checkpointing,
        "restart": {"kind": "fixed_delay", "delay_ns": 0},
    }
    return small(job, {"kind": "crash_task", "vertex": "source", "at_ns": crash_ms * MS})


@pytest.mark.parametrize("crash_ms", [7, 15, 23])
@pytest.mark.parametrize("partitioner", ["hash", "rebalance", "rescale", "forward"])
def test_nothing_in_flight_is_lost_on_any_edge(partitioner: str, crash_ms: int) -> None:
    """Pointwise edges join a sender to some places only, so subtasks keep their places there."""
    subject = Subject(scenario=_carried(partitioner, crash_ms))
    for seed in range(3):
        assert subject.run(seed, "structural").violations == []


def test_subtasks_that_had_finished_are_whom_nobody_else_is() -> None:
    """Their state does not say so. Every identity is there once, whatever the order is."""
    job = cast("Any", _carried("hash").model)
    told = [SimpleNamespace(identity=2), None, SimpleNamespace(identity=1)]
    restored = SimpleNamespace(
        subtasks={"source": range(3), "operator": range(3, 6)},
        snapshots_of=lambda vertex: told if vertex == "operator" else [None] * 3,
    )
    for seed in range(6):
        found = successions(Graph(job), cast("JobCheckpoint", restored), Environment(seed))
        after = found["operator"]
        identities = dict(zip(after.takes, after.identities, strict=True))
        assert identities == {0: 2, 1: 0, 2: 1}


def test_identities_need_a_checkpoint_of_the_whole_job() -> None:
    """Without barriers subtasks keep their places. A scenario that says otherwise is refused."""
    with pytest.raises(ScenarioError, match=r"channel_state\.subtask_indices.*expected \"kept\""):
        _carried("hash", protocol="uncoordinated")
