"""Measured runs are read, predicted and compared."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.cli import main
from ckptsim.sim.job.buffers.constants import RIG
from ckptsim.sim.validate import predict, predict_all, sequence_of
from ckptsim.sim.validate.measured import correlation, middle, quantile, stats
from ckptsim.sim.validate.predict import Assumptions
from ckptsim.sim.validate.score import score
from tests.bench.validation import ABLATIONS, STEPS, fit, folds_lines, folds_of, read_runs

FILE = Path(__file__).parents[3] / "data" / "flink" / "calibration.jsonl"


def some_lines(*run_ids: str) -> list[str]:
    """Return the lines of some measured runs."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if json.loads(line)["run_id"] in run_ids]


def test_stats_follow_the_measured_definition() -> None:
    """The summary of measured durations comes out as it was measured, to the last digit."""
    run = json.loads(some_lines("t1_a_p1_rb#1")[0])
    job = run["jobs"][0]
    kept = [c for c in job["checkpoints"] if not c["warmup"]]
    ours = stats([float(c["end_to_end_duration_ms"]) for c in kept])
    theirs = job["summary"]["end_to_end_duration_ms"]
    assert {key: pytest.approx(value, abs=0.01) for key, value in theirs.items()} == ours


def test_quantiles_interpolate() -> None:
    """A quantile between two values lies between them in proportion."""
    assert quantile([1.0, 2.0, 4.0], 0.75) == 3.0
    assert stats([]) == {"n": 0}


def test_middle_is_the_median_key_by_key() -> None:
    """Merging seeds takes the median of every number and keeps whatever is no number."""
    found = [{"a": 1, "b": ["x", 2.0]}, {"a": 9, "b": ["x", 4.0]}, {"a": 3, "b": ["x", 3.0]}]
    assert middle(found) == {"a": 3, "b": ["x", 3.0]}


def test_predictions_of_some_cells(tmp_path: Path) -> None:
    """Aligned, unaligned, timed-out, throttled and bounded runs are predicted within the bounds."""
    path = tmp_path / "runs.jsonl"
    wanted = some_lines(
        "t1_a_p1_rb#3",
        "t1_u_p2_key#1",
        "t1_at300_p2_thr1#1",
        "t1_u_p2_thr1#2",
        "t3_a_p1_union#1",
        "t4_u_p1_i1000_bp#1",
        "t2_a_p1_d4#1",
    )
    path.write_text("\n".join(wanted), encoding="utf-8")
    found = score(predict_all(read_runs([path]), partial(predict, seeds=3)))
    assert len(found.cells) == 7
    assert found.duration_share == 1.0
    assert found.persisted_share == 1.0
    assert found.mean_error < 0.05
    assert sum(e.at_once[0] is e.at_once[1] for e in found.endings) >= 4


def test_json_has_the_keys_of_the_measured_summary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each run of the JSON output has the keys of the measured summary and of finish."""
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(some_lines("t4_a_p1_i1000_rho50#1")), encoding="utf-8")
    assert main(["validate", str(path), "--json", "--seeds", "1"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [run["run_id"] for run in runs] == ["t4_a_p1_i1000_rho50#1"]
    assert set(runs[0]["measured"]) <= set(runs[0]["predicted"])
    for name, vertex in runs[0]["measured"]["vertices"].items():
        assert set(vertex) <= set(runs[0]["predicted"]["vertices"][name])


def test_run_that_cannot_be_simulated_is_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run with an unknown partitioner is named with its reason, and is no error."""
    run = json.loads(some_lines("t1_a_p1_rb#1")[0])
    run["config"]["operators"][0]["inputs"][0]["partitioner"] = "by the moon"
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps(run), encoding="utf-8")
    assert main(["validate", str(path), "--seeds", "1"]) == 0
    assert "not simulated: t1_a_p1_rb#1" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text", ["{", "[1]", '{"run_id": "x"}', '{"config": {}, "run_id": "x"}', ""]
)
def test_input_out_of_schema_is_refused(text: str, tmp_path: Path) -> None:
    """A line that is no measured run gives exit code 2 and says where."""
    path = tmp_path / "runs.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"runs\.jsonl"):
        read_runs([path])
    assert main(["validate", str(path)]) == 2


@pytest.mark.parametrize("under", ABLATIONS.values(), ids=ABLATIONS)
def test_every_ablation_runs(under: Assumptions, tmp_path: Path) -> None:
    """A model with one mechanism left out still predicts something for every run."""
    path = tmp_path / "runs.jsonl"
    wanted = some_lines("t1_u_p2_local#1", "t1_a_p2_rho50_bt5#1", "t2_at300_p2_end#2")
    path.write_text("\n".join(wanted), encoding="utf-8")
    found = predict_all(read_runs([path]), partial(predict, seeds=1, under=under))
    assert [p.reason for p in found] == [None] * 3
    assert all(p.found and p.found.jobs[0]["end_to_end_duration_ms"]["n"] for p in found)


def test_pauses_explain_how_a_chain_scatters(tmp_path: Path) -> None:
    """Told how late each barrier reached the source, the model foresees each single duration.

    In a chain with the bottleneck at its end, checkpoints that follow each other at once scatter by
    300 ms. Without the pauses no model can tell why.
    """
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(some_lines("t2_a_p1_d4#1")), encoding="utf-8")
    found = sequence_of(read_runs([path])[0], seeds=1)
    free, told = found.correlations
    assert len(found.measured) == 14
    assert told > 0.8
    assert told > free + 0.3


def test_a_flat_sequence_correlates_with_nothing() -> None:
    """Where one side does not vary there is no correlation to speak of."""
    assert correlation([1.0, 1.0], [1.0, 2.0]) == 0.0
    assert correlation([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]) == pytest.approx(1.0)


def test_folds_find_constants_that_were_moved() -> None:
    """If all cells follow one constant, it is found, and the cells held out are predicted."""
    names = [f"cell {number:02}" for number in range(20)]
    measured = np.linspace(200.0, 2_000.0, 20)
    slopes = np.zeros((20, len(STEPS)))
    slopes[:, 2] = 0.04 * measured
    found = fit(names, measured, 0.92 * measured, slopes, folds=4)
    assert found.used.mean == pytest.approx(0.08)
    assert found.held_out.mean < 0.005
    value, fitted = found.changes["rpc_ns"]
    assert min(fitted) > value + 1.8 * STEPS["rpc_ns"]
    assert found.changes["file_cost_ns"] == (RIG.file_cost_ns, (RIG.file_cost_ns,) * 4)
    assert len(folds_lines(found)) == 7 + len(STEPS)


def test_figures_and_tables_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--out` leaves both figures, the report and the predictions. An unknown run is refused."""
    path, out = tmp_path / "runs.jsonl", tmp_path / "out"
    path.write_text("\n".join(some_lines("t1_u_p1_local#1")), encoding="utf-8")
    command = ["validate", str(path), "--seeds", "1", "--out", str(out)]
    assert main([*command, "--sequence", "t1_u_p1_local#1"]) == 0
    names = {"predicted_and_measured.png", "sequences.png", "report.txt", "predictions.json"}
    assert {file.name for file in out.iterdir()} == names
    assert all(file.stat().st_size > 300 for file in out.iterdir())
    assert main([*command, "--sequence", "t1_u_p1_loca#1"]) == 2
    assert "expected a run such as 't1_u_p1_local#1'" in capsys.readouterr().err


@pytest.mark.long
def test_calibration_bars() -> None:
    """97 % of all cells are right, the mean error is below 3 %, and all bytes are right."""
    found = score(predict_all(read_runs([FILE]), partial(predict, seeds=5)))
    assert found.duration_share >= 0.97
    assert found.mean_error < 0.03
    assert found.persisted_share == 1.0
    assert sum(e.at_once[0] is e.at_once[1] for e in found.endings) >= 22


def test_more_folds_than_cells_are_refused(tmp_path: Path) -> None:
    """A fold without a cell would be judged by nothing, so it is refused before anything runs."""
    path = tmp_path / "one.jsonl"
    path.write_text(some_lines("t1_a_p1_rb#1")[0], encoding="utf-8")
    with pytest.raises(
        ValueError, match="found 2 folds, expected from 2 to the number of cells, 1"
    ):
        folds_of(read_runs([path]), folds=2, seeds=1)
