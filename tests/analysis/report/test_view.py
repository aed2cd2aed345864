"""What a reader may ask of a report: other metrics, another axis, some points, another sweep."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ckptsim.analysis.report import PAGE
from ckptsim.sim.cli import main
from tests.analysis.report.small import SOCKETS, sweep_here

GRID = {
    **SOCKETS,
    "name": "grid",
    "replications": 5,
    "ties": ["structural"],
    "grid": {"sync.sockets.count": [1, 2], "sync.destination.batch_records": [10, 50, 250]},
}


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep over two parameters, one without a name of its own."""
    return sweep_here(GRID, tmp_path_factory.mktemp("view")).directory


def answers(directory: Path) -> list[str]:
    """Return the sentences that the page of a directory opens with."""
    text = (directory / PAGE).read_text(encoding="utf-8")
    found = re.findall(r'<ul class="answer">(.*?)</ul>', text, re.DOTALL)
    return [re.sub(r"<.*?>", "", item) for part in found for item in part.split("</li>") if item]


def test_other_metrics_answer(swept: Path) -> None:
    """The sentences are of the metrics asked for, in their order."""
    words = ["report", str(swept), "--metric", "records_produced", "--metric", "p95_latency_ns"]
    assert main(words) == 0
    told = answers(swept)
    assert told[0].startswith("Records read from the source")
    assert any(text.startswith("95th percentile of a run") for text in told)


def test_figures_are_laid_along_what_is_asked(swept: Path) -> None:
    """By default along the parameter with most numbers, with --by along another."""
    assert main(["report", str(swept)]) == 0
    assert any("long destination batch records" in text for text in answers(swept))
    for by in ("sockets", "sync.sockets.count"):
        assert main(["report", str(swept), "--by", by]) == 0
        assert any("long sockets" in text for text in answers(swept)), by


def test_points_are_chosen(swept: Path) -> None:
    """Only runs of the points with the value are counted and shown."""
    assert main(["report", str(swept), "--points", "sync.sockets.count=2"]) == 0
    text = (swept / PAGE).read_text(encoding="utf-8")
    assert "<b>3</b> points" in text
    assert "sockets 1" not in re.sub(r'<script type="text/csv">.*?</script>', "", text)


def test_a_sweep_is_compared_with_another(swept: Path, tmp_path: Path) -> None:
    """Equal runs show no difference. Other ones show where they differ most and how many times."""
    same = sweep_here(GRID, tmp_path / "same").directory
    assert main(["report", str(swept), "--compare", str(same)]) == 0
    told = answers(swept)
    assert told[0] == "Duration of the run: it does not differ beyond noise at any of 6 points."
    slower = {**GRID, "overrides": {"sync.destination.upload_ns": "40 ms"}}
    other = sweep_here(slower, tmp_path / "slower").directory
    assert main(["report", str(swept), "--compare", str(other)]) == 0
    told = answers(swept)
    expected = (
        r"Duration of the run: it differs beyond noise at [1-6] of 6 points, most at .*, "
        r"0\.\d+ times\."
    )
    assert re.fullmatch(expected, told[0])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--metric", "p95_latency"], 'did you mean "p95_latency_ns"?'),
        (["--by", "socket"], 'did you mean "sockets"?'),
        (["--points", "sockets"], "expected PARAMETER=VALUE"),
        (["--points", "sockets=7"], "expected values that are swept: sockets: 1, 2"),
        (["--compare", "nowhere"], "found no sweep.json"),
    ],
)
def test_what_is_not_there_is_told(
    swept: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong metric, parameter, value or directory ends with 2 and says what there is."""
    assert main(["report", str(swept), *words]) == 2
    assert said in capsys.readouterr().err


def test_durations_that_are_all_zero_are_said_and_not_drawn(tmp_path: Path) -> None:
    """Where nothing costs time, the page has no picture of checkpoint durations but says why."""
    failing = {
        "name": "failing",
        "scenario": "final_pair",
        "replications": 2,
        "grid": {"job.vertices[0].records": [10, 20]},
    }
    directory = sweep_here(failing, tmp_path).directory
    assert main(["report", str(directory)]) == 0
    page = (directory / PAGE).read_text()
    assert "No checkpoint that completed took any time" in page
    assert "Distribution of checkpoint durations" not in page
