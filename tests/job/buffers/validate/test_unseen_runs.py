"""Runs that were never measured, and lines that are no runs: predicted, or refused."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from ckptsim.scenarios.errors import ScenarioError
from ckptsim.sim.cli import main
from ckptsim.sim.validate import Comparison, predict, predict_all
from ckptsim.sim.validate.comparison import report_lines
from ckptsim.sim.validate.score import score
from tests.bench.validation import read_runs
from tests.job.buffers.validate.measured_like import lines

FILE = Path(__file__).parents[3] / "data" / "flink" / "calibration.jsonl"
_QUIET = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture)
SUMMARY_KEYS = {
    "end_to_end_duration_ms",
    "persisted_bytes",
    "processed_bytes",
    "checkpointed_bytes",
    "trigger_gap_ms",
    "vertices",
}


def numbers(value: Any) -> Iterator[float]:
    """Yield every number inside a JSON value."""
    if isinstance(value, dict):
        for inside in value.values():
            yield from numbers(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from numbers(inside)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def check(line: dict[str, Any], path: Path) -> None:
    """Predict a line and look at what comes out."""
    path.write_text(json.dumps(line), encoding="utf-8")
    predictions = predict_all(read_runs([path]), partial(predict, seeds=1))
    found = score(predictions)
    assert predictions[0].reason is None
    assert report_lines(found, runs=True)
    (entry,) = Comparison(predictions=predictions).document()["runs"]
    assert entry["run_id"] == line["run_id"]
    predicted = entry["predicted"]
    assert set(predicted) >= SUMMARY_KEYS
    tasks = [*line["config"]["sources"], *line["config"]["operators"]]
    assert set(predicted["vertices"]) == {task["name"] for task in tasks}
    assert all(math.isfinite(number) and number >= 0 for number in numbers(predicted))
    durations = predicted["end_to_end_duration_ms"]
    if durations["n"]:
        times = [v["max_end_to_end_ms"] for v in predicted["vertices"].values()]
        slowest = max(found["max"] for found in times if found["n"])
        assert durations["max"] <= slowest + 1.0
        assert 1.0 <= durations["min"] <= durations["median"] <= durations["max"] < 240_000


@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=_QUIET)
@given(line=lines())
def test_made_up_runs_are_predicted(line: dict[str, Any], tmp_path: Path) -> None:
    """Any plausible run has a prediction with every key, and every number in it makes sense."""
    check(line, tmp_path / "runs.jsonl")


@pytest.mark.long
@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=_QUIET)
@given(line=lines())
def test_many_made_up_runs_are_predicted(line: dict[str, Any], tmp_path: Path) -> None:
    """The same for many more of them."""
    check(line, tmp_path / "runs.jsonl")


def test_measured_summaries_can_be_rebuilt(tmp_path: Path) -> None:
    """A summary that is missing is worked out from the checkpoints, and is the measured one."""
    whole, bare = tmp_path / "whole.jsonl", tmp_path / "bare.jsonl"
    runs = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    whole.write_text("\n".join(json.dumps(run) for run in runs), encoding="utf-8")
    for run in runs:
        for job in run["jobs"]:
            del job["summary"]
    bare.write_text("\n".join(json.dumps(run) for run in runs), encoding="utf-8")
    for with_it, without in zip(read_runs([whole]), read_runs([bare]), strict=True):
        for measured, rebuilt in zip(with_it.jobs, without.jobs, strict=True):
            assert measured.summary is not None
            assert rebuilt.summary is not None
            assert set(measured.summary) == set(rebuilt.summary)
            ours, theirs = list(numbers(rebuilt.summary)), list(numbers(measured.summary))
            assert ours == pytest.approx(theirs, abs=0.51)


def test_a_configuration_alone_is_enough(tmp_path: Path) -> None:
    """Without anything measured every job of the run is predicted, after the usual warm-up."""
    run = json.loads(
        next(
            line
            for line in FILE.read_text(encoding="utf-8").splitlines()
            if json.loads(line)["run_id"] == "t4_a_p1_i1000_rho50#1"
        )
    )
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps({"run_id": "bare", "config": run["config"]}), encoding="utf-8")
    runs = read_runs([path])
    assert [job.warmup for job in runs[0].jobs] == [1] * 5
    found = predict(runs[0], seeds=1).found
    assert found is not None
    assert len(found.jobs) == 5
    assert all(set(job) > SUMMARY_KEYS for job in found.jobs)
    assert all(3_000 < job["job_finished_ms"] < 4_200 for job in found.jobs)


def broken(path: str, value: object) -> str:
    """Return a measured line with one field changed, or left out where the value is `...`."""
    run = json.loads(FILE.read_text(encoding="utf-8").splitlines()[0])
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    inside = run
    for part in way:
        inside = inside[part]
    if value is ...:
        del inside[last]
    else:
        inside[last] = value
    return json.dumps(run)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("run_id", ..., "run_id: found no such key, expected a text"),
        ("config.sources", [], "config.sources: found [], expected at least one"),
        ("config.sources.0.parallelism", 0, "parallelism: found 0, expected a whole number of at"),
        ("config.sources.0.parallelism", 1.5, "parallelism: found 1.5, expected a whole number"),
        ("config.sources.0.rate_limit_per_s_total", -1, "found -1, expected a number above 0"),
        ("config.operators.0.service_time_us", "1 ms", 'service_time_us: found "1 ms", expected'),
        ("config.operators.0.inputs.0.from", ..., "inputs[0].from: found no such key"),
        ("config.checkpoint", 7, "config.checkpoint: found 7, expected an object"),
        ("config.checkpoint.interval_ms", None, "interval_ms: found null, expected a number"),
        ("config.buffer_debloat_enabled", 1, "found 1, expected true or false"),
        ("jobs.0.checkpoints.3.trigger_ms", "soon", 'checkpoints[3].trigger_ms: found "soon"'),
        ("jobs.0.summary.persisted_bytes", "many", 'persisted_bytes: found "many"'),
    ],
)
def test_a_malformed_line_is_refused_with_its_field(
    path: str, value: object, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A field that is missing, of the wrong type or out of range is named with its line."""
    file = tmp_path / "runs.jsonl"
    good = FILE.read_text(encoding="utf-8").splitlines()[0]
    file.write_text(f"{good}\n{broken(path, value)}\n", encoding="utf-8")
    assert main(["validate", str(file)]) == 2
    error = capsys.readouterr().err
    assert f"{file}:2: " in error
    assert says in error


def test_every_malformed_line_is_named_at_once(tmp_path: Path) -> None:
    """One pass over the file finds all that is wrong in it."""
    file = tmp_path / "runs.jsonl"
    file.write_text('{"run_id": 3}\nnonsense\n[1]\n', encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        read_runs([file])
    places = [problem.path.rsplit("runs.jsonl:")[1] for problem in caught.value.problems]
    assert places == ["1: run_id", "1: config", "2", "3: the line"]
