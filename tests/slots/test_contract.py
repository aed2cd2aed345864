"""The contract of a coordinator: it is refused before the run, and a program keeps it as well."""

from __future__ import annotations

import shlex
import sys

import pytest

from ckptsim.models.coordinator import CheckpointCoordinator
from ckptsim.scenarios.files import loads
from ckptsim.sim.cli import main
from ckptsim.sim.slots import SLOTS
from ckptsim.sim.world import run_world

JOB = """
name = "new_job_manager"
link = "barrier_protocol"
says = "the job manager crashes twice, and newer checkpoints push out those of before"

[job]
vertices = [
    { name = "source", kind = "source", parallelism = 2, rate = "2000 /s", records = 150 },
    { name = "sink", kind = "sink", parallelism = 2, inputs = [{ upstream = "source" }] },
]
checkpointing = { mode = "unaligned", interval = "15 ms" }

[[faults]]
kind = "crash_job_manager"
at = "50 ms"

[[faults]]
kind = "crash_job_manager"
at = "95 ms"
"""
CORES = """
from ckptsim.cores import coordinator

class Around:
    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def step(self, event):
        return self.inner.step(event)

class Forgetful(Around):
    def __getattr__(self, name):
        if name == "next_checkpoint":
            raise AttributeError(name)
        return super().__getattr__(name)

def plain(parameters, *, first_checkpoint=1):
    return Around(coordinator.CheckpointCoordinator(parameters, first_checkpoint=first_checkpoint))

def forgetful(parameters, **named):
    return Forgetful(coordinator.CheckpointCoordinator(parameters, **named))
"""
SERVED = """
import mine_of_contract
from ckptsim.testing import serve
serve("coordinator", mine_of_contract.{name})
"""
LACKS = "must have `next_checkpoint`, used when the job manager restarts"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Write job and cores into a folder, and work there."""
    (tmp_path / "mine_of_contract.py").write_text(CORES, encoding="utf-8")
    (tmp_path / "job.toml").write_text(JOB, encoding="utf-8")
    for name in ("plain", "forgetful"):
        (tmp_path / f"{name}.py").write_text(SERVED.format(name=name), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("mine_of_contract", None)


def served(name: str) -> str:
    """Return the text that names a program of the folder."""
    return "process:" + shlex.join([sys.executable, f"{name}.py"])


@pytest.mark.parametrize("core", ["mine_of_contract:plain", served("plain"), None])
def test_a_new_job_manager_begins_where_the_old_one_was(folder, core) -> None:
    """Wrapped, as a program, and without `completed`, a coordinator keeps what it kept before."""
    scenario = loads(JOB, source="job.toml")
    ours = run_world(scenario, seed=3, ties="random")
    chosen = {"coordinator": core or CheckpointCoordinator}
    theirs = run_world(scenario, seed=3, ties="random", cores=chosen)
    assert ours.violations == theirs.violations == []
    assert ours.run.checkpoints_completed > 2
    assert theirs.run.digest == ours.run.digest


FORGETFUL = "mine_of_contract:forgetful"


@pytest.mark.parametrize(
    ("verb", "core"),
    [
        *((verb, FORGETFUL) for verb in ("run", "check", "hunt", "replay")),
        ("check", served("forgetful")),
    ],
)
def test_a_core_that_lacks_something_is_refused_before_the_run(folder, capsys, verb, core) -> None:
    """Exit code 2 with the name that is missing and what it is used for, fault or no fault."""
    assert main([verb, "alignment_timeout", "--core", f"coordinator={core}"]) == 2
    told = capsys.readouterr()
    assert LACKS in told.err
    assert told.out == ""


@pytest.mark.parametrize("slot", [slot for slot in SLOTS.values() if slot.protocol is not None])
def test_everything_that_hosts_ask_says_what_it_is_used_for(slot, capsys) -> None:
    """Each member has its use, and `explain slots` shows it."""
    assert main(["explain", "slots"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for name in slot.offers:
        assert f"{name} (used " in shown
