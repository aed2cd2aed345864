"""Library scenarios of union state: refused checkpoints, and what they do not count as."""

from typing import Any

import pytest

import ckptsim as ck
from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.world import run_world


def test_no_checkpoint_completes_beside_an_endless_sibling() -> None:
    """Union state must end in one checkpoint, so an ended subtask keeps all others from it."""
    result = run_world(by_name("union_endless_sibling"), seed=0)
    completed = [row for row in result.checkpoints if row.status == "completed"]
    # One checkpoint before the first subtask ends at 10 ms would be at 15 ms: there is none.
    assert [row.kind for row in completed][:1] == ["savepoint"]
    refused = [row for row in result.checkpoints if row.status == "aborted"]
    assert len(refused) >= 10
    assert {row.reason for row in refused} <= {
        "union_state_partly_finished_operators",
        "CHECKPOINT_COORDINATOR_SUSPEND",
        "CHECKPOINT_DECLINED_TASK_CLOSING",
    }


def test_refused_checkpoints_of_union_state_do_not_count_as_failures() -> None:
    """A job that tolerates no failed checkpoint survives them: they are tasks that close."""
    result = run_world(by_name("union_partly_finished"), seed=0)
    assert result.run.outcome == "completed"
    assert result.run.attempts == 1
    refused = [row.reason for row in result.checkpoints if row.status == "aborted"]
    assert refused.count("union_state_partly_finished_operators") >= 3


@pytest.mark.parametrize("mode", ["aligned", "unaligned"])
def test_an_aborted_part_that_waits_for_offsets_keeps_no_task_from_closing(mode: str) -> None:
    """A task closes after an abort, though a receiver that took no snapshot owes it an offset."""
    changes: dict[str, Any] = {"job.channel_state.spilling": "continuous"}
    job = ck.load("early_abort").with_(**changes, mode=mode)
    assert not ck.check(job, seeds=10).failed
