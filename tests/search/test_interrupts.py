"""Ctrl-C in check and hunt: the observations is reported, and the command that does the rest."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ckptsim.scenarios.files import to_toml
from ckptsim.sim.cli import main
from ckptsim.sim.search import check as check_package
from ckptsim.sim.search.trial import trial
from tests.search.toy import Lose, Producer

Capture = pytest.CaptureFixture[str]
# A shell lets what it starts in the background ignore interrupts, and tests may run there.
PROGRAM = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from ckptsim.sim.cli import main; sys.exit(main())"
)


def interrupted_at(monkeypatch: pytest.MonkeyPatch, module: str, run: int) -> None:
    """Let the module's n-th trial be interrupted."""
    runs = 0

    def interrupted(*arguments: Any, **named: Any) -> Any:
        nonlocal runs
        runs += 1
        if runs == run:
            raise KeyboardInterrupt
        return trial(*arguments, **named)

    monkeypatch.setattr(
        sys.modules[f"{check_package.__module__.rpartition('.')[0]}.{module}"], "trial", interrupted
    )


def test_an_interrupted_check_says_what_is_left(toy, tmp_path, monkeypatch, capsys) -> None:
    """The seeds that were checked are counted, and the rest begins with the first policy."""
    monkeypatch.chdir(tmp_path)
    Path("sound.toml").write_text(to_toml(toy()))
    interrupted_at(monkeypatch, "check", 6)
    words = ["check", "sound.toml", "--first", "10", "--seeds", "20", "--ties", "random,pct"]
    assert main(words) == 130
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        "ckptsim: interrupted; 5 of 20 seeds were checked, none broke a property unexpectedly; "
        "the same command with --first 14 --seeds 16 does the rest\n"
    )


def test_what_was_found_before_is_told(toy, tmp_path, monkeypatch, capsys) -> None:
    """With --keep-going the violations until the interrupt are printed with their stories."""
    monkeypatch.chdir(tmp_path)
    Path("lossy.toml").write_text(to_toml(toy(Lose())))
    interrupted_at(monkeypatch, "check", 3)
    assert main(["check", "lossy.toml", "--seeds", "9", "--keep-going"]) == 130
    said = capsys.readouterr()
    assert "VIOLATED nothing_lost" in said.out
    assert "2 of 9 seeds were checked, 2 of them broke a property" in said.err


def test_an_interrupted_check_of_all_goes_on_after_the_last(monkeypatch, tmp_path, capsys) -> None:
    """The outcomes until then are written as JUnit XML, and --after does the other scenarios."""
    link = ["check", "checkpoint_store", "--seeds", "1"]
    report = tmp_path / "check.xml"
    with monkeypatch.context() as patch:
        interrupted_at(patch, "check", 5)
        assert main([*link, "--junit", str(report)]) == 130
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert "the same command with --after " in said.err
    after = said.err.split("--after ")[1].split()[0]
    assert after == lines[-1].split()[0]
    assert report.read_text().count("<testcase") == len(lines)
    assert main([*link, "--after", after]) == 0
    rest = capsys.readouterr().out.splitlines()
    names = [line.split()[0] for line in [*lines, *rest[:-1]]]
    assert main(link) == 0
    assert names == [line.split()[0] for line in capsys.readouterr().out.splitlines()[:-1]]
    assert main([*link, "--after", "referense"]) == 2
    assert "expected a scenario of checkpoint_store" in capsys.readouterr().err


def test_an_interrupted_search_says_what_is_left(toy, tmp_path, monkeypatch, capsys) -> None:
    """The runs without a violation are counted, and the rest is named."""
    monkeypatch.chdir(tmp_path)
    Path("sound.toml").write_text(to_toml(toy()))
    interrupted_at(monkeypatch, "hunt", 6)
    assert main(["hunt", "sound.toml", "--seeds", "20"]) == 130
    assert capsys.readouterr().err == (
        "ckptsim: interrupted; no violation in 5 of 20 runs; "
        "the same command with --first 3 --seeds 17 does the rest\n"
    )


def test_interrupted_shrinking_keeps_the_smallest(toy, tmp_path, monkeypatch, capsys) -> None:
    """The smallest scenario so far is written, and the printed command shrinks it further."""
    monkeypatch.chdir(tmp_path)
    lossy = toy(Lose(occurrence=3), producers=(Producer(items=90),), room=17)
    Path("lossy.toml").write_text(to_toml(lossy))
    with monkeypatch.context() as patch:
        interrupted_at(patch, "shrink", 5)
        assert main(["hunt", "lossy.toml", "--out", "smallest"]) == 130
    said = capsys.readouterr().err
    assert "nothing_lost broke after 1 run(s); the smallest scenario so far is kept in" in said
    before = Path("smallest", "scenario.toml").read_text()
    assert main(["replay", "smallest", "--json"]) == 1
    command = said[said.index("ckptsim hunt") : said.index(" makes it smaller")]
    assert main(shlex.split(command)[1:]) == 1
    assert len(Path("smallest", "scenario.toml").read_text()) < len(before)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_signal_ends_a_check_quietly(jobs: str, tmp_path: Path) -> None:
    """A real Ctrl-C, which all processes get, leaves one line and code 130."""
    words = ["check", "reference", "--seeds", "100000", "--jobs", jobs]
    terminal, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    said = b""
    while b"run/s" not in said:  # its bar shows that it is in the middle of work
        said += os.read(terminal, 4096)
    os.killpg(process.pid, signal.SIGINT)
    said = b""
    while part := _read(terminal):
        said += part
    assert process.wait(60) == 130, said
    assert b"ckptsim: interrupted; " in said
    assert b"Traceback" not in said
    assert said.splitlines()[-1].endswith(b" does the rest")


def _read(terminal: int) -> bytes:
    """Return what a terminal shows next, or nothing once all who write to it have ended."""
    try:
        return os.read(terminal, 4096)
    except OSError:  # so Linux says it
        return b""
