"""What a command imports before it answers: no one waits for packages that it does not need."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

COUNTED = """
import json, sys
from ckptsim.sim.cli import main
code = main({words})
print(json.dumps(sorted(sys.modules)))
sys.exit(code)
"""


def _imported(*words: str) -> set[str]:
    text = COUNTED.format(words=list(words))
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("word", ["--version", "--help"])
def test_help_and_version_import_the_command_line_alone(word: str) -> None:
    """They import a dozen modules of the program, and none of its libraries."""
    found = _imported(word)
    ours = {name for name in found if name.startswith("ckptsim")}
    assert len(ours) <= 12, sorted(ours)
    assert not found & {"numpy", "simpy", "pandas", "pyspark", "tqdm", "numba"}


def test_a_run_of_a_small_job_compiles_nothing() -> None:
    """A small job on buffers runs without numba, pandas, Spark and figures."""
    found = _imported("run", "back_pressure_aligned")
    assert "simpy" in found
    assert not found & {"numba", "llvmlite", "pandas", "pyarrow", "pyspark", "matplotlib"}
