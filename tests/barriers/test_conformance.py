"""The cores agree with what the real classes of Apache Flink 1.20.3 did."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.conform.runner import run_file

VECTORS = Path(__file__).parents[1] / "data" / "vectors"


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
