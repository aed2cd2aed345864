"""What a core commits or completes of nothing is harm that is named, no exception of its host."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ckptsim.models.coordinator import CheckpointCoordinator
from ckptsim.models.coordinator import events as coordinator_events
from ckptsim.models.lifecycle import TaskLifecycle
from ckptsim.models.lifecycle import effects as lifecycle_effects
from ckptsim.sim.cli import main
from ckptsim.sim.job.buffers.restoring.lateness import _taken


class CompletesWhatFailed(CheckpointCoordinator):
    """Takes a checkpoint for complete that the store has failed to keep."""

    def _stored(self, event: coordinator_events.Stored) -> None:
        super()._stored(replace(event, failed=False))


class CommitsAgain(TaskLifecycle):
    """Commits its newest transaction once more with the next completion."""

    last: tuple[int, ...] = ()

    def step(self, event):
        found = []
        for effect in super().step(event):
            if isinstance(effect, lifecycle_effects.CommitTransactions):
                numbers = effect.transactions
                found.append(replace(effect, transactions=(*self.last, *numbers)))
                self.last = numbers[-1:]
            else:
                found.append(effect)
        return found


@pytest.mark.parametrize(
    ("core", "says"),
    [
        ("coordinator={}:CompletesWhatFailed", "completes, and the store has failed to keep it"),
        ("lifecycle={}:CommitsAgain", "has pre-committed, and holds nothing of it"),
    ],
)
def test_the_run_goes_on_and_tells_the_harm(capsys, core: str, says: str) -> None:
    """Neither a completion without a checkpoint nor a commit without a transaction raises."""
    words = ["check", "job_manager_crash", "--seeds", "1", "--core", core.format(__name__)]
    assert main([*words, "--set", "job.costs.checkpoint_failure_ratio=0.5"]) == 1
    told = capsys.readouterr().out
    assert says in told
    assert "the_core_raises_protocol_errors_only" not in told


def test_what_no_cut_holds_has_no_due_instants() -> None:
    """Where a part is longer than the in-flight data by all counts, its instants are unknown."""
    part = SimpleNamespace(
        old=(0, 0), received=2, taken=SimpleNamespace(kept=np.array([True, False, True]))
    )
    found = _taken([part], {(0, 0): np.arange(5, dtype=np.int64)})
    assert [len(one) for one in found] == [1, 1]
