"""Requests for checkpoints that find the queue of the coordinator full."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import CheckpointCoordinator, CoordinatorParameters
from ckptsim.models.coordinator import events as coordinator_events
from ckptsim.models.core import ProtocolError
from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.world import run_world

TOO_MANY = FailureReason.TOO_MANY_CHECKPOINT_REQUESTS


def refused(max_queued: int, requests: int) -> list[int]:
    """Return which of some requests are refused while the first one is planned."""
    core = CheckpointCoordinator(CoordinatorParameters(max_queued=max_queued))
    found: list[int] = []
    for now_ns in range(requests):
        for effect in core.step(coordinator_events.CheckpointRequested(now_ns)):
            if isinstance(effect, coordinator_events.RefuseRequest):
                assert effect.reason is TOO_MANY
                found.append(effect.request.number)
    return found


def test_requests_beyond_the_limit_are_refused() -> None:
    """One is planned, as many as the limit wait, and all others are refused."""
    assert refused(1, 4) == [3, 4]
    assert refused(2, 4) == [4]
    assert refused(1000, 4) == []
    with pytest.raises(ProtocolError, match="must be allowed to wait"):
        CoordinatorParameters(max_queued=0)


def with_room_for(requests: int) -> Scenario:
    """Return the job of the library with another limit."""
    scenario: Any = by_name("full_queue")
    checkpointing = replace(scenario.model.checkpointing, max_queued=requests)
    return replace(scenario, model=replace(scenario.model, checkpointing=checkpointing))


def test_a_job_with_a_full_queue_lacks_a_savepoint() -> None:
    """With room for one request the second savepoint is refused, with room for two it is taken."""
    for requests, savepoints in ((1, 2), (2, 3), (1000, 3)):
        result = run_world(with_room_for(requests), seed=0)
        assert (result.run.outcome, result.violations) == ("completed", [])
        assert result.goals["savepoint_completed"] == savepoints
        assert bool(result.goals["request_dropped"]) is (requests < 3)
