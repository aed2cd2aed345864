"""Measured recoveries are read, predicted from what may be known, and compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ckptsim.scenarios.errors import ScenarioError
from ckptsim.sim.cli import main
from ckptsim.sim.validate import read_measurements, recoveries
from ckptsim.sim.validate.predict import Prediction
from ckptsim.sim.validate.recoveries.measured import Figures

FILE = Path(__file__).parents[3] / "data" / "flink" / "recovery.jsonl"
ENTRIES = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def entry(run_id: str) -> dict[str, Any]:
    """Return a copy of one measured run."""
    found = next(one for one in ENTRIES if one["run_id"] == run_id)
    copy: dict[str, Any] = json.loads(json.dumps(found))
    return copy


def read(path: Path, *entries: object) -> tuple[recoveries.RecoveryRun, ...]:
    """Write lines to a file and read it."""
    path.write_text("\n".join(json.dumps(one) for one in entries), encoding="utf-8")
    return read_measurements([path]).recoveries


def predict(path: Path, *entries: object) -> list[recoveries.RecoveryPrediction]:
    """Predict some runs with one seed."""
    return [recoveries.predict_recovery(run, seeds=1) for run in read(path, *entries)]


def test_the_file_is_read_whole() -> None:
    """Every line is a run with its recoveries in order."""
    runs = read_measurements([FILE]).recoveries
    assert [run.run_id for run in runs] == [one["run_id"] for one in ENTRIES]
    assert sum(len(run.recoveries) for run in runs) == 32
    assert read_measurements([FILE]).runs == ()


BROKEN = [
    ("recoveries", [], "recoveries: found [], expected at least one"),
    ("recoveries", 7, "recoveries: found 7, expected a list"),
    ("recoveries.0.at_ms", None, "recoveries[0].at_ms: found null, expected a number"),
    ("recoveries.0.until_ms", 5, "recoveries[0]: found from 11002 to 5"),
    ("recoveries.0.restored_checkpoint.id", 0, "restored_checkpoint.id: found 0"),
    ("recoveries.0.downtime_ms", "x", 'recoveries[0].downtime_ms: found "x"'),
    ("config.failure.kind", "bored", 'config.failure.kind: found "bored", expected one of'),
    ("config.restart.delay_ms", -1, "config.restart.delay_ms: found -1"),
    ("config.sources.0.rate_per_s_total", 0, "rate_per_s_total: found 0"),
    ("config.failure.kind", "cancel_and_resubmit", "config.rescale_to: found null"),
]


@pytest.mark.parametrize(("place", "value", "says"), BROKEN)
def test_what_is_not_in_the_schema_is_refused(
    place: str, value: object, says: str, tmp_path: Path
) -> None:
    """Where it is, the value found and what may stand there. Exit code 2."""
    wrong = entry("ra_rho30_i3000#1")
    *steps, last = place.split(".")
    inside: Any = wrong
    for step in steps:
        inside = inside[int(step)] if step.isdigit() else inside[step]
    inside[last] = value
    with pytest.raises(ScenarioError) as caught:
        read(tmp_path / "runs.jsonl", wrong)
    assert says in str(caught.value)
    assert main(["validate", str(tmp_path / "runs.jsonl")]) == 2


GIVEN = {"at_ms", "until_ms", "restored_checkpoint", "kind"}


def test_a_prediction_knows_nothing_of_what_was_measured(tmp_path: Path) -> None:
    """Whatever else is in a run may change or be missing: the prediction is the same."""
    whole = entry("rm_rho50_3#2")
    bare = {key: whole[key] for key in ("run_id", "config")}
    bare["recoveries"] = [
        {key: value for key, value in one.items() if key in GIVEN} for one in whole["recoveries"]
    ]
    (known,), (unknown,) = (predict(tmp_path / "a.jsonl", one) for one in (whole, bare))
    assert known.found == unknown.found
    assert len(known.found or ()) == 3


def test_what_is_given_matters(tmp_path: Path) -> None:
    """The phase of the trigger decides how much is done again."""
    early, late = entry("ra_rho50_i3000#1"), entry("ra_rho50_i3000#1")
    late["recoveries"][0]["restored_checkpoint"]["trigger_ms"] -= 1_000
    (one,), (other,) = (predict(tmp_path / "a.jsonl", run) for run in (early, late))
    again = [(prediction.found or ())[0].reprocessed_records or 0 for prediction in (one, other)]
    assert again[1] - again[0] == pytest.approx(1_000, abs=30)


def test_a_resubmission_begins_after_its_downtime(tmp_path: Path) -> None:
    """The job continues with the other parallelism when a client has let it, as was given."""
    (found,) = predict(tmp_path / "a.jsonl", entry("rr_a_2to4_rho85#1"))
    (figures,) = found.found or ()
    assert figures.downtime_ms == pytest.approx(1_062, abs=2)
    assert figures.catch_up_duration_ms == pytest.approx(3_339, rel=0.1)
    assert figures.reprocessed_records == pytest.approx(2_926, rel=0.1)
    other = entry("rr_a_2to4_rho85#1")
    other["config"]["rescale_to"] = 3
    (slower,) = predict(tmp_path / "a.jsonl", other)
    assert ((slower.found or ())[0].catch_up_duration_ms or 0) > 1_000 + (
        figures.catch_up_duration_ms or 0
    )


def test_a_comparison_counts_what_is_right(tmp_path: Path) -> None:
    """Bounds, means and what came on one side only, worked out by hand."""
    (run,) = read(tmp_path / "a.jsonl", entry("rm_rho50_3#1"))
    ours = (
        Figures(
            downtime_ms=1_129 + 200,
            reprocessed_records=2_067 - 301,
            peak_latency_ms=3_208 * 1.02,
            catch_up_duration_ms=4_426 + 442,
        ),
        Figures(
            downtime_ms=1_180 + 201,
            reprocessed_records=1_273,
            peak_latency_ms=2_511,
            catch_up_duration_ms=None,
        ),
        Figures(
            downtime_ms=1_078,
            reprocessed_records=1_950,
            peak_latency_ms=3_094 * 0.96,
            catch_up_duration_ms=4_100 - 411,
        ),
    )
    found = recoveries.score_recoveries([Prediction(run=run, found=ours)])
    assert (found.downtime.right, found.downtime.count) == (2, 3)
    assert (found.reprocessed.right, found.reprocessed.count) == (2, 3)
    assert (found.catch_up.right, found.catch_up.count) == (1, 3)
    assert found.catch_up_error == pytest.approx((442 / 4_426 + 411 / 4_100) / 2)
    assert found.peak_error == pytest.approx((0.02 + 0.0 + 0.04) / 3)
    assert any("never / came" in line for line in recoveries.recovery_lines(found))


def test_the_command_line_takes_both_kinds_of_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each run has `recoveries` in the order of its failures, null where nothing came."""
    path = tmp_path / "runs.jsonl"
    read(path, entry("ra_rho50_d0#1"), entry("ru_u_bp#1"))
    assert main(["validate", str(path), "--seeds", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["run_id"] for one in found["runs"]] == ["ra_rho50_d0#1", "ru_u_bp#1"]
    for one in found["runs"]:
        for side in ("predicted", "measured"):
            (recovery,) = one[side]["recoveries"]
            assert set(recovery) == {
                "downtime_ms",
                "reprocessed_records",
                "peak_latency_ms",
                "catch_up_duration_ms",
            }
    unpaced = found["runs"][1]["predicted"]["recoveries"][0]
    assert unpaced["peak_latency_ms"] is unpaced["catch_up_duration_ms"] is None
    assert found["recovery_score"]["recoveries"] == 2
    assert main(["validate", str(path), "--sequence", "ru_u_bp#1"]) == 2
    assert "--sequence: found a file of recoveries" in capsys.readouterr().err


def test_bars_of_measured_recoveries() -> None:
    """Downtimes, records done again and catching up are right. Errors stay where they are."""
    found = recoveries.score_recoveries(
        [recoveries.predict_recovery(run, seeds=3) for run in read_measurements([FILE]).recoveries]
    )
    assert found.downtime.share >= 0.95
    assert found.reprocessed.share >= 0.95
    assert found.catch_up.share >= 0.90
    assert len(found.lines) == 32
    assert found.catch_up_error < 0.05
    assert found.peak_error < 0.03
