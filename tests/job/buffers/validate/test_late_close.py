"""The one measured end of a source that is not predicted: nothing of the protocol explains it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

_FILE = Path(__file__).parents[3] / "data" / "flink" / "calibration.jsonl"
_LATE = "t4_a_p2_beside_i5000#1", 1


@dataclass(frozen=True)
class SourceEnd:
    """How long after the acknowledged final checkpoint the subtasks of a source closed, in ms.

    between: triggers and acknowledged checkpoints of the job meanwhile.
    """

    job: tuple[str, int]
    closed_ms: tuple[int, ...]
    between: int


def _end(job: tuple[str, int], found: dict[str, Any], source: str) -> SourceEnd:
    finish, checkpoints = found["finish"], found["checkpoints"]
    ended_ms = max(finish["source_end_of_data_ms"][source])
    done = [one for one in checkpoints if one["status"] == "COMPLETED"]
    spans = [(one["trigger_ms"], one["trigger_ms"] + one["end_to_end_duration_ms"]) for one in done]
    _, acknowledged_ms = min(span for span in spans if span[0] >= ended_ms)
    closed = finish["vertex_finished_ms"][source]
    instants = [one["trigger_ms"] for one in checkpoints] + [end for _, end in spans]
    between = sum(acknowledged_ms < instant <= max(closed) for instant in instants)
    return SourceEnd(job, tuple(instant - acknowledged_ms for instant in closed), between)


@cache
def ends() -> list[SourceEnd]:
    """Return the measured ends of sources."""
    runs = [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]
    return [
        _end((run["run_id"], number), job, source)
        for run in runs
        for number, job in enumerate(run["jobs"])
        if "finish" in job
        for source in job["finish"]["source_end_of_data_ms"]
    ]


def test_nothing_of_the_protocol_happens_before_the_late_close() -> None:
    """All had acknowledged 1,354 ms before. No trigger, no acknowledgement and no end follows."""
    (late,) = (one for one in ends() if max(one.closed_ms) > 1_000)
    assert late.job == _LATE
    assert (min(late.closed_ms), max(late.closed_ms), late.between) == (1_351, 1_354, 0)


def test_the_same_job_closes_at_once_before_it() -> None:
    """A mechanism of the configuration would show in both jobs of the run."""
    first = [max(one.closed_ms) for one in ends() if one.job == (_LATE[0], 0)]
    assert max(first) == 71


def test_no_other_end_is_like_it() -> None:
    """The 31 others take 15 ms in the median and 272 ms at most."""
    others = [max(one.closed_ms) for one in ends() if one.job != _LATE or max(one.closed_ms) < 999]
    assert len(others) == 31
    assert (median(others), max(others)) == (15, 272)
