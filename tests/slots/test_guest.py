"""A core that ends, splits or holds up the process is at fault, and one that prints is heard."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.cli import main
from ckptsim.sim.slots.guest import CORE_ANSWERS, CoreEnded, guest, note
from ckptsim.sim.world import run_world

VECTORS = Path(__file__).parents[1] / "data" / "vectors" / "ordering.jsonl"
CORES = """
import itertools, os, signal, sys
from os import fork as forked_before
from ckptsim.cores import ordering as o


def made(act, *, once=False):
    class Rough:
        def __init__(self, parameters):
            self.inner = o.make_core(parameters)

        def __getattr__(self, name):
            return getattr(self.inner, name)

        def step(self, event):
            if isinstance(event, o.FlushRequested):
                act()
            return self.inner.step(event)

    return Rough


def loop():
    while True:
        pass


def quiet():
    raise KeyboardInterrupt


def close():
    raise GeneratorExit


def fault():
    import ctypes
    ctypes.string_at(0)


def prints():
    print("a word of the core")
    os.write(1, b"a raw word of the core\\n")


exits = made(lambda: sys.exit(0))
leaves = made(lambda: os._exit(0))
aborts = made(os.abort)
kills = made(lambda: os.kill(os.getpid(), signal.SIGKILL))
interrupts = made(quiet)
closes = made(close)
forks = made(lambda: os.fork())
forks_unseen = made(forked_before)
hangs = made(loop)
hangs_in_c = made(lambda: sum(itertools.count()))
faults = made(fault)
talks = made(prints)


def factory_exits(parameters):
    sys.exit(0)
"""
WAYS = {
    "exits": "ended the process: sys.exit(0)",
    "leaves": "ended the process: os._exit(0)",
    "aborts": "ended the process: os.abort()",
    "kills": "ended the process: os.kill of itself",
    "interrupts": "raised KeyboardInterrupt",
    "closes": "raised GeneratorExit",
    "forks": "forked the process: os.fork()",
    "forks_unseen": "forked the process",
    "hangs": "has not come back from a call within 0.3 s of CPU",
}
IMPORTS = {
    "import sys; sys.exit(0)": "at its import, ended the process: sys.exit(0)",
    "import os; os._exit(0)": "at its import, ended the process: os._exit(0)",
    "raise RuntimeError('out of luck')": "importing it raised RuntimeError",
    "while True: pass": "at its import, has not come back from a call within 0.3 s of CPU",
}
BRIEF = ["--core-timeout", "0.3 s"]


@pytest.fixture
def mine(tmp_path, monkeypatch) -> str:
    """Write a module of cores into a folder of its own, and return its name."""
    name = f"rough_of_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(CORES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    sys.modules.pop(name, None)


@pytest.mark.parametrize(("way", "says"), WAYS.items(), ids=WAYS)
def test_a_core_that_does_not_answer_is_at_fault(capsys, mine, way, says) -> None:
    """Exit code 1, the property, the seed and the command that repeats it. No process is lost."""
    core = f"ordering={mine}:{way}"
    assert main(["run", "reference", "--seed", "3", "--core", core, *BRIEF]) == 1
    told = capsys.readouterr().out
    assert f"VIOLATED {CORE_ANSWERS}" in told
    assert f"core {core} {says}" in told
    assert f"ckptsim replay reference --seed 3 --core {core}" in told


@pytest.mark.parametrize(
    "words",
    [
        ["check", "reference", "--seeds", "2"],
        ["check", "ordering", "--explore", "--runs", "1", "--json"],
        ["hunt", "reference", "--seeds", "2"],
        ["replay", "reference"],
        ["conform", str(VECTORS)],
    ],
    ids=lambda words: words[0],
)
def test_every_verb_tells_of_it(capsys, mine, words) -> None:
    """None ends with 0, whatever exit code the core has thought of."""
    assert main([*words, "--core", f"ordering={mine}:exits"]) == 1
    told = capsys.readouterr().out
    assert CORE_ANSWERS in told
    assert "ended the process: sys.exit(0)" in told


@pytest.mark.parametrize(("text", "says"), IMPORTS.items(), ids=IMPORTS)
def test_a_module_that_ends_at_its_import_is_at_fault(
    capsys, tmp_path, monkeypatch, text, says
) -> None:
    """It is the core's fault before any run, with the command that repeats it."""
    name = f"imported_of_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for as_json in ([], ["--json"]):
        assert main(["check", "reference", *BRIEF, *as_json, "--core", f"{name}:make"]) == 1
        told = capsys.readouterr().out
        assert says in (json.loads(told)["violations"][0]["says"] if as_json else told)
        assert "ckptsim check reference" in told


def test_a_factory_that_ends_is_at_fault(capsys, mine) -> None:
    """It is tried before anything runs, and ends nothing."""
    assert main(["check", "reference", "--core", f"{mine}:factory_exits"]) == 1
    assert f"core ordering={mine}:factory_exits ended the process" in capsys.readouterr().out


def test_an_interrupt_of_the_users_is_none_of_the_core(mine, monkeypatch) -> None:
    """What a signal has brought ends the run as ever."""
    import signal  # noqa: PLC0415 - a real one, sent while the core is at work

    module = __import__(mine)
    interrupting = module.made(lambda: signal.getsignal(signal.SIGINT)(signal.SIGINT, None))
    with pytest.raises(KeyboardInterrupt):
        run_world(by_name("reference"), seed=0, cores={"ordering": interrupting})


def test_what_a_core_prints_goes_to_standard_error(capsys, mine) -> None:
    """JSON stays JSON."""
    assert main(["check", "reference", "--seeds", "1", "--json", "--core", f"{mine}:talks"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["passed"]
    assert "a word of the core" in told.err


def ckptsim(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the program as people do."""
    command = [sys.executable, "-m", "ckptsim", *words]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="needs signals that can be waited for")
def test_a_core_that_takes_the_process_away_is_noticed(mine, tmp_path) -> None:
    """A fault of the processor, a loop that catches everything: seen from outside."""
    core = f"ordering={mine}:faults"
    ended = ckptsim(tmp_path, "run", "reference", "--seed", "3", "--core", core, *BRIEF)
    assert ended.returncode == 1, ended.stderr
    assert f"VIOLATED {CORE_ANSWERS}: core {core} took the process away" in ended.stdout
    assert "replay: ckptsim replay reference --seed 3" in ended.stdout
    ended = ckptsim(tmp_path, "run", "reference", "--json", "--core", f"{mine}:talks")
    assert (ended.returncode, json.loads(ended.stdout)["violations"]) == (0, [])
    assert "a raw word of the core" in ended.stderr


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="needs signals that can be waited for")
def test_a_call_into_c_that_does_not_come_back_is_ended(mine, tmp_path) -> None:
    """No look at the core happens meanwhile, so the system ends the process in its place."""
    core = f"ordering={mine}:hangs_in_c"
    ended = ckptsim(tmp_path, "run", "reference", "--seed", "3", "--core", core, *BRIEF)
    assert ended.returncode == 1, ended.stderr
    says = f"core {core} has not come back from a call within 0.3 s of CPU"
    assert f"VIOLATED {CORE_ANSWERS}: {says}\nseed 3" in ended.stdout
    assert f"{mine}.py" in ended.stderr  # where it was


@pytest.mark.parametrize("words", [["-m", "ckptsim_run"], ["-m", "pytest", "-q", "ckptsim_run.py"]])
def test_python_says_which_core_has_taken_it_away(mine, tmp_path, words) -> None:
    """Nothing can be caught then, so another process names the core, the seed and the command."""
    (tmp_path / "ckptsim_run.py").write_text(
        f"import {mine}, ckptsim as ck\n"
        f"def test_it(): ck.check('reference', seeds=2, cores={{'ordering': {mine}.faults}})\n"
        "if __name__ == '__main__': test_it()\n",
        encoding="utf-8",
    )
    ended = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == -signal.SIGSEGV
    assert f"the process has ended within core ordering={mine}:" in ended.stderr
    assert "replay: ckptsim replay reference --seed 0" in ended.stderr


def test_guards_stand_for_one_visit_only() -> None:
    """What ends or splits a process is guarded while a guest is in, and is Python's own again."""

    def found() -> list[object]:
        ends = [vars(os)[name] for name in ("_exit", "abort", "execv", "fork", "kill", "killpg")]
        return [*ends, signal.raise_signal]

    before = found()
    with guest(note("a core")):
        with guest(note("a part of it")):
            pass
        assert not any(one is own for one, own in zip(found(), before, strict=True))
    assert found() == before
    with pytest.raises(CoreEnded, match=r"ended the process: os\._exit"), guest(note("a core")):
        os._exit(0)
    assert found() == before
