"""The cores agree with what the real classes of Apache Flink 1.20.3 did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.sim.conform.runner import run_file

DATA = Path(__file__).parents[1] / "data"
VECTORS = DATA / "vectors"
RECORDED = DATA / "recorded"


@pytest.mark.parametrize(
    ("suite", "count"),
    [("barriers", 191), ("channel_state", 57), ("coordinator", 37), ("rescale", 290)],
)
def test_every_vector_passes(suite: str, count: int) -> None:
    """Each recorded step gives the recorded calls and the recorded state."""
    outcomes = list(run_file(VECTORS / f"{suite}.jsonl"))
    failed = [(o.name, o.mismatch) for o in outcomes if o.mismatch is not None]
    assert not failed
    assert len(outcomes) == count


@pytest.mark.parametrize(
    ("suite", "count"),
    [("barriers", 140), ("channel_state", 56), ("coordinator", 89), ("rescale", 126)],
)
def test_every_recording_passes(suite: str, count: int) -> None:
    """Random scripts, also impossible ones, end as they did on the real classes."""
    outcomes = list(run_file(RECORDED / f"{suite}.jsonl"))
    assert [(o.name, o.mismatch) for o in outcomes if o.mismatch is not None] == []
    assert len(outcomes) == count


def test_the_reasons_are_those_of_flink() -> None:
    """Every failure reason is recorded once, so that none is missing and none is made up."""
    lines = (RECORDED / "coordinator.jsonl").read_text().splitlines()
    reasons = [json.loads(line).get("reason") for line in lines]
    assert sorted(r for r in reasons if r) == sorted(reason.value for reason in FailureReason)
