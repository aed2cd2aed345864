"""What the report of a small sweep costs: the CPU time of the command, with all that it imports."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from tests.analysis.report.small import sweep_here
from tests.bench import Figure

ROUNDS = 5
PLAN = {
    "name": "eight",
    "scenario": "reference",
    "replications": 4,
    "grid": {"sync.sockets.count": [1, 2]},
}


def measure() -> list[Figure]:
    """Return the CPU seconds of `ckptsim report` on a sweep of eight runs."""
    with tempfile.TemporaryDirectory() as name:
        directory = sweep_here(PLAN, Path(name)).directory
        seconds = [_seconds(directory) for _ in range(ROUNDS)]
    return [
        Figure(
            name="report of 8 runs",
            value=median(seconds),
            unit="s of CPU",
            at_most=6.0,
            says=f"median of {ROUNDS}, {min(seconds):.2f} to {max(seconds):.2f}",
        )
    ]


def _seconds(directory: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [sys.executable, "-m", "ckptsim", "report", str(directory)]
    subprocess.run(words, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
