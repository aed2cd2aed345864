"""`run` for people: its recoveries, its units, its width."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ckptsim._api.runs.plots import recoveries_text
from ckptsim.sim.cli import main
from ckptsim.sim.rows import RecoveryRow

_JOB = """
name = "ten-minutes"
link = "barriers"
says = "a job of ten minutes"

[job]
duration = "10 min"

[[job.vertices]]
name = "source"
kind = "source"
rate = "1 /s"

[[job.vertices]]
name = "sink"
kind = "sink"
inputs = [{ upstream = "source", partitioner = "rebalance" }]
service = "1 ms"

[job.checkpointing]
interval = "1 min"
"""


def _row(number: int, cause: str, *, caught_up: bool = True) -> RecoveryRow:
    at_ns = number * 1_000_000_000
    return RecoveryRow(
        run_key="k",
        attempt=number + 2,
        cause=cause,
        failed_ns=at_ns,
        resumed_ns=at_ns + 500_000_000,
        restored_from=None if number == 0 else f"checkpoint {number}",
        records_reprocessed=1_000 * number,
        first_record_ns=at_ns + 1_180_000_000,
        caught_up_ns=at_ns + 2_000_000_000 if caught_up else None,
        peak_latency_ns=1,
        bytes_read=40_000,
    )


def test_a_recovery_is_told_with_its_costs(capsys: pytest.CaptureFixture[str]) -> None:
    """A run with a failure shows its cause, downtime, bytes, records done again and catch-up."""
    assert main(["run", "lost_in_silence", "--seed", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("failed at"))
    head, line = lines[place : place + 2]
    for name in (
        "failed at",
        "downtime",
        "bytes read",
        "done again",
        "backlog gone",
        "caught up",
        "cause",
    ):
        assert name in head
    assert re.search(
        r"^4 s +checkpoint 2 +5\.9\d* s +0 B +2,304 +\S+ s +13\.4\d* s later +the task", line
    )


def test_recoveries_have_a_line_each_or_one_per_cause() -> None:
    """A few recoveries have a line each, many stand together by their causes with the ranges."""
    few = recoveries_text([_row(0, "a crashes"), _row(1, "b crashes", caught_up=False)])
    assert [line.split("  ")[0] for line in few.splitlines()] == ["failed at", "0 s", "1 s"]
    assert "nothing" in few
    assert "not by the end" in few
    many = recoveries_text([_row(n, "a crashes" if n % 3 else "b crashes") for n in range(30)])
    _, first, second = many.splitlines()
    assert re.match(r"20 +1\.18 s +39\.1 KiB +1,000 to 29,000 +- +2 s later +a crashes", first)
    assert second.startswith("10")


def test_a_run_of_ten_minutes_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run of ten minutes ends at 10 min, and no line has a long fraction."""
    (tmp_path / "job.toml").write_text(_JOB, encoding="utf-8")
    assert main(["run", str(tmp_path / "job.toml")]) == 0
    told = capsys.readouterr().out
    assert "ended at       10 min, after" in told or "ended at     10 min, after" in told
    assert not re.search(r"\.\d{5,}", told)
    assert "recoveries     0" in told or "recoveries   0" in told


@pytest.mark.parametrize(
    ("scenario", "key", "because"),
    [
        ("final_pair", "job.vertices[1].state_bytes=1000", "records and state have no size"),
        ("final_pair", "job.network.segment_bytes=4096", "`channels` says what a channel"),
        ("final_pair", "job.duration_ns=7", "a run ends with its job"),
        ("final_pair", "job.vertices[1].inputs[0].record_bytes=9", "records and state have"),
        ("pipeline_aligned", "pipeline.network.segment_bytes=4096", "`channels` says"),
    ],
)
def test_keys_that_records_do_not_read_are_noted(
    scenario: str, key: str, because: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A job that keeps such a key on records runs, and a note names it with the reason."""
    assert main(["run", scenario, "--set", key]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f'note: plane "records" does not read {key.partition("=")[0]}: {because}' in told


def test_a_cost_that_buffers_cannot_have_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cost that means nothing on buffers ends with exit code 2, its place and the reason."""
    text = f'{_JOB}\n[job.costs]\nrestore = "5 min"\n'
    (tmp_path / "job.toml").write_text(text, encoding="utf-8")
    assert main(["run", str(tmp_path / "job.toml")]) == 2
    told = capsys.readouterr().err
    assert "job.costs.restore_ns: found 5 min, expected 0 s on plane" in told


def test_what_was_reached_fits_the_width(capsys: pytest.CaptureFixture[str]) -> None:
    """The list of what a run reached is wrapped, with its lines below each other."""
    assert main(["run", "pipeline_buffers", "--seed", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("reached"))
    assert lines[first + 1].startswith("             ")
    assert all(len(line) <= 120 for line in lines[: first + 4])
