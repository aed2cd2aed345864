"""Accepted scenarios run to an exit code of their own, however odd their values are."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from ckptsim.analysis.sweeps.plan import sweep_rows
from ckptsim.analysis.sweeps.sweep import WORLD
from ckptsim.analysis.sweeps.worker import run_chunk
from ckptsim.scenarios.files import read, to_toml
from ckptsim.scenarios.planning import load_plan
from ckptsim.sim.cli.main import EXIT_USER, main
from ckptsim.sim.limits import Limits
from tests.rough.limits import code_of
from tests.rough.mutants import Document, accepted

# The alarm may ring within a collection, where whatever it raises is only warned about.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
SETTINGS = settings(
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],  # a mutant that fails is reported whole: it can be run by itself
    suppress_health_check=list(
        HealthCheck
    ),  # drawing is cheap. Everything that is drawn may run long
)
# The limits of a run, by the options of the command. The one of the test is none that a run meets.
_SECONDS = 1.0
_LIMITED = ["--run-timeout", f"{_SECONDS:g} s", "--run-memory", "2 GiB"]
_SECONDS_UNTIL_CUT = 60.0
CODES: Counter[str] = Counter()
_EXPECTED = ("RunTimeoutError", "RunMemoryError", "SimulationStalled", "LivenessError")


def ends_by_itself(document: Document) -> None:
    """Run a document as a file within limits of time and memory. It ends with 0, 1 or 2."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "mutant.toml")
        path.write_text(to_toml(read(document, source="mutant")), encoding="utf-8")
        code, said = code_of(["run", str(path), *_LIMITED], seconds=_SECONDS_UNTIL_CUT)
    over = [why for why in ("took longer", "needed more") if f"the run {why} than" in said]
    CODES[", ".join([str(code), *over])] += 1
    assert code in {0, 1, 2}, f"{said[-2000:]}\n{json.dumps(document)}"
    # The alarm may ring within what Hypothesis does at a collection, and rings again.
    assert "Traceback" not in said or "gc_cumulative_time" in said, said


def sweeps_by_itself(document: Document, seeds: int = 2) -> None:
    """Sweep a document over its seeds. Whatever goes wrong with a run is its limits."""
    with tempfile.TemporaryDirectory() as name:
        scenario = Path(name, "mutant.toml")
        scenario.write_text(to_toml(read(document, source="mutant")), encoding="utf-8")
        plan = Path(name, "plan.toml")
        plan.write_text(f'name = "p"\nscenario = "{scenario}"\nreplications = {seeds}\n')
        rows = sweep_rows(load_plan(str(plan)))
        limits = Limits(seconds=_SECONDS, memory_bytes=2 << 30)
        result = run_chunk(WORLD, rows, each=lambda: None, limits=limits)
    runs = pa.ipc.open_stream(result.tables["runs"]).read_all().to_pylist()
    errors = [run["error"] for run in runs if run["outcome"] == "error"]
    assert [error for error in errors if not error.startswith(_EXPECTED)] == [], json.dumps(
        document
    )


@settings(SETTINGS, max_examples=120)
@given(document=accepted())
def test_accepted_scenarios_never_end_in_a_fault_of_ours(document: Document) -> None:
    """Values within their bounds end a run with 0, 1 or 2."""
    ends_by_itself(document)


@settings(SETTINGS, max_examples=30)
@given(document=accepted())
def test_accepted_scenarios_sweep(document: Document) -> None:
    """The same in a sweep: no run becomes an error of the program's own."""
    sweeps_by_itself(document)


@pytest.mark.long
@settings(SETTINGS, max_examples=5000)
@given(document=accepted())
def test_five_thousand_accepted_scenarios_run(document: Document) -> None:
    """Five thousand accepted mutants end with 0, 1 or 2 inside their limits."""
    ends_by_itself(document)


@pytest.mark.parametrize(
    ("core", "option", "value", "says"),
    [
        ("Slow", "--run-timeout", "0.3 s", "the run took longer than 0.3 s"),
        ("Large", "--run-memory", "100 MiB", "the run needed more than 104857600 bytes"),
    ],
)
def test_a_limit_of_a_run_is_no_fault_of_its_core(
    core: str, option: str, value: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that is stopped while its core works is over its limit, and the core not to blame."""
    chosen = f"ordering=tests.rough.greedy_core:{core}"
    assert main(["run", "reference", "--core", chosen, option, value]) == EXIT_USER
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("value", ["365 d", "1 ns"])
def test_times_at_their_bounds_end_well(value: str) -> None:
    """A closed form that no number can hold is left out instead of overflowing."""
    words = ["run", "rework_reference", "--set", f"store.process.apply_ns={value}"]
    code, said = code_of(words, seconds=60)
    assert code in {0, 1}
    assert "Traceback" not in said
