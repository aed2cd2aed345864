"""The key of a run follows the sources that decide it, and no others."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from ckptsim.scenarios.catalogue import all_scenarios, by_name
from ckptsim.sim import fingerprint
from ckptsim.sim.fingerprint import WORLDS, deciding, version
from ckptsim.sim.identity import run_key

# A scenario of each world, run in a fresh interpreter, which then names what it has loaded of ours.
# The mutants of all worlds stay away, since each of them brings parts of the world that it is for.
PROGRAM = """
import json, sys, types
registry = types.ModuleType("ckptsim.sim.mutants.registry")
registry.MUTANTS, registry.mutants_of = {}, lambda *places: {}
sys.modules[registry.__name__] = registry
from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.world import run_world
run_world(by_name(sys.argv[1]), seed=0)
print(json.dumps(sorted(name for name in sys.modules if name.startswith("ckptsim."))))
"""
# Everything that is loaded besides: it finds the scenario by its name.
FINDING = {"ckptsim.scenarios.catalogue"}
PARTS = ("models", "scenarios", "sim", "analysis")


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """Let no fingerprint of a test be found by another one."""
    yield
    for function in (fingerprint.version, fingerprint._with_imports, fingerprint._text):
        function.cache_clear()


def _loaded(scenario: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, scenario],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    found: list[str] = json.loads(done.stdout)
    return {name for name in found if name.split(".")[1] in PARTS} - FINDING


@pytest.mark.parametrize("world", WORLDS)
def test_what_a_run_loads_decides_it(world: str) -> None:
    """Every module that a run imports counts, except for those that tell of it."""
    scenario = next(one.name for one in all_scenarios() if one.world == world)
    missing = _loaded(scenario) - set(deciding(world))
    assert {name for name in missing if not f"{name}.".startswith("ckptsim.sim.story.")} == set()


@pytest.mark.parametrize("world", WORLDS)
def test_what_only_tells_of_runs_does_not_decide_them(world: str) -> None:
    """Validation, conformance, command line, pictures, stories and orders are left out."""
    folders = ("validate", "conform", "cli", "export", "story", "order", "search")
    outside = tuple(f"ckptsim.sim.{folder}." for folder in folders) + ("ckptsim.analysis.",)
    assert [name for name in deciding(world) if f"{name}.".startswith(outside)] == []


def _changed(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let sources have one line more."""
    for function in (fingerprint.version, fingerprint._with_imports, fingerprint._text):
        function.cache_clear()
    read = fingerprint._text

    def text(name: str) -> bytes | None:
        return (read(name) or b"") + b"# new\n" if name in names else read(name)

    monkeypatch.setattr(fingerprint, "_text", text)
    monkeypatch.setattr(text, "cache_clear", read.cache_clear, raising=False)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        (
            "ckptsim.sim.job.records.tasks.task",
            {"barrier_protocol", "final_checkpoint", "composed"},
        ),
        ("ckptsim.sim.job.buffers.tasks.task", {"barriers", "composed"}),
        ("ckptsim.sim.sync.destination.destination", {"ordering", "composed"}),
        ("ckptsim.sim.kernel.environment", set(WORLDS)),
        ("ckptsim.scenarios.job.graph", set(WORLDS)),
        ("ckptsim.models.barriers.handler.single", set(WORLDS)),
        ("ckptsim.sim.mutants.shown", set(WORLDS)),
        ("ckptsim.sim.validate.predict", set()),
        ("ckptsim.sim.cli.verbs.runs", set()),
        ("ckptsim.sim.conform.runner", set()),
        ("ckptsim.analysis.sweeps.sweep", set()),
    ],
)
def test_version_follows_a_source_where_it_decides(
    name: str, changes: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One more line in a source changes the fingerprint of the worlds that import it, only."""
    before = {world: version(world) for world in WORLDS}
    _changed(monkeypatch, name)
    assert {world for world in WORLDS if version(world) != before[world]} == changes


def test_key_of_a_run_follows_its_world(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of the plane of records changes the keys of jobs on records and no others."""
    names = ("back_pressure_aligned", "keyed_crash", "reference")
    before = {name: run_key(by_name(name), seed=0, ties="structural") for name in names}
    _changed(monkeypatch, "ckptsim.sim.job.records.tasks.task", "ckptsim.sim.validate.predict")
    after = {name: run_key(by_name(name), seed=0, ties="structural") for name in names}
    assert [name for name in names if before[name] != after[name]] == ["keyed_crash"]
