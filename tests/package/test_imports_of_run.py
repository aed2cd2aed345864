"""What running one scenario imports: nothing that only searches or judges cores of others."""

from __future__ import annotations

import subprocess
import sys


def test_a_run_imports_no_generators_and_no_judges_of_cores() -> None:
    """`ckptsim run` of our own cores loads neither what draws scenarios nor what judges cores."""
    text = "import sys, ckptsim.sim.cli.verbs.runs; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    unwanted = ("ckptsim.scenarios.generators", "ckptsim.sim.rules", "ckptsim.sim.mutants")
    assert [name for name in done.stdout.split() if name.startswith(unwanted)] == []
