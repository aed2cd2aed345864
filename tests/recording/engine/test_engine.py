"""A job on a real engine is recorded, imported and predicted, and really changed beside it."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median

import pytest

from ckptsim.sim.cli.main import main
from tests.recording.engine.engine import checkpoints, compiled, jars, running

Captured = pytest.CaptureFixture[str]
UNALIGNED = "execution.checkpointing.unaligned.enabled"
# One record in so many microseconds. Checkpoints after two of warm-up.
US, COUNT = 1500, 10
# The bars of `fair`: the machine that runs this runs other tests beside it.
SHARE, LEAST_MS, LEAST_BYTES = 0.25, 50.0, 262_144


@pytest.mark.long
def test_a_real_job_is_predicted(tmp_path: Path, capsys: Captured) -> None:
    """What a change of mode does to a real job is all that was predicted from its recording."""
    lib = jars()
    classes = compiled(lib, tmp_path / "classes")
    recorded = tmp_path / "recorded"
    with running(lib, classes, tmp_path / "as-it-is", {}, us=US) as url:
        assert len(checkpoints(url, count=3, within_s=60)) >= 3
        assert main(["capture", url, "--out", str(recorded), "--seconds", "12"]) == 0
    out = tmp_path / "job.toml"
    capsys.readouterr()
    assert main(["import", str(recorded), "--out", str(out), "--json"]) == 0
    imported = json.loads(capsys.readouterr().out)
    assert imported["flink_version"] == "1.20.3"
    assert imported["replay"]["verdict"] in ("good", "fair"), imported["replay"]["because"]
    with running(lib, classes, tmp_path / "changed", {UNALIGNED: "true"}, us=US) as url:
        done = checkpoints(url, count=COUNT + 2, within_s=90)[2:]
    assert len(done) >= COUNT
    assert main(["whatif", str(recorded), "--set", f"{UNALIGNED}=true", "--json"]) == 0
    predicted = json.loads(capsys.readouterr().out)["variant"]["predicted"]
    duration_ms = median(one["end_to_end_duration"] for one in done)
    in_flight = median(one["persisted_data"] for one in done)
    assert predicted["end_to_end_duration_ms"]["median"] == pytest.approx(
        duration_ms, rel=SHARE, abs=LEAST_MS
    )
    assert predicted["persisted_bytes"]["median"] == pytest.approx(
        in_flight, rel=SHARE, abs=LEAST_BYTES
    )
    assert in_flight > LEAST_BYTES
