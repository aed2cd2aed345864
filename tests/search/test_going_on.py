"""Explorations that are interrupted go on, and end as if nothing had happened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ckptsim.sim.cli import main
from ckptsim.sim.search.explore import Explorer

Capture = pytest.CaptureFixture[str]


def _interrupted_at(patch: pytest.MonkeyPatch, run: int) -> None:
    """Let the run of that number be interrupted."""
    right = Explorer.run

    def interrupted(self: Explorer, number: int, *arguments: Any, **named: Any) -> Any:
        if number == run:
            raise KeyboardInterrupt
        return right(self, number, *arguments, **named)

    patch.setattr(Explorer, "run", interrupted)


def _explored(words: list[str], capsys: Capture, code: int = 0) -> dict[str, Any]:
    assert main([*words, "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found.pop("seconds") > 0
    return found


def test_an_interrupted_exploration_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Interrupted in two rounds, it shows and keeps what it does in one go."""
    monkeypatch.chdir(tmp_path)
    words = ["check", "ordering", "--explore", "--runs", "70", "--first", "3", "--corpus"]
    whole = _explored([*words, "whole"], capsys)
    for run in (5, 66):
        with monkeypatch.context() as patch:
            _interrupted_at(patch, run)
            assert main([*words, "parts"]) == 130
        said = capsys.readouterr().err
        assert f"{run} scenarios were run, 0 broke a property; the same command does" in said
    parts = _explored([*words, "parts"], capsys)
    assert parts.pop("continued_at") == 66
    assert whole.pop("continued_at") == 0
    assert parts == whole
    corpora = [Path(folder, "ordering.jsonl").read_text() for folder in ("whole", "parts")]
    assert corpora[0] == corpora[1]
    assert not Path("parts", "ordering.progress.json").exists(), "what is over begins anew"


def test_what_broke_before_the_interrupt_is_still_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Runs that broke a property are shrunk and told as those after it."""
    monkeypatch.chdir(tmp_path)
    words = ["check", "checkpoint_store", "--explore", "--runs", "12", "--keep-going"]
    words += ["--mutant", "checkpoint_first", "--corpus", "kept"]
    with monkeypatch.context() as patch:
        patch.setattr("ckptsim.sim.cli.verbs.explore.with_harm", _raise_interrupt)
        assert main(words) == 130
    capsys.readouterr()
    progress = Path("kept", "checkpoint_store.progress.json")
    kept = json.loads(progress.read_text())["report"]
    assert kept["runs"] == 12
    assert len(kept["violating"]) > 1
    exploring = "ckptsim.sim.cli.verbs.explore"
    monkeypatch.setattr(f"{exploring}._shrunk", lambda *_: None)
    monkeypatch.setattr(f"{exploring}.document_of", lambda one: one)
    monkeypatch.setattr(f"{exploring}.text_of", lambda one, _: str(one.continued_at))
    assert main(words) == 1
    assert capsys.readouterr().out == "12\n"
    assert not progress.exists()


def _raise_interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_another_exploration_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """What another seed has left, or a core that may have changed since, is not gone on with."""
    monkeypatch.chdir(tmp_path)
    words = ["check", "ordering", "--explore", "--runs", "8", "--corpus", "kept"]
    ours = ["--core", "ckptsim.models.ordering:OrderingCore"]
    for first, second in (([], ["--first", "1"]), (ours, ours)):
        with monkeypatch.context() as patch:
            _interrupted_at(patch, 4)
            assert main([*words, *first]) == 130
        capsys.readouterr()
        assert _explored([*words, *second], capsys)["continued_at"] == 0
    Path("kept", "ordering.progress.json").write_text("{}")
    assert main(words) == 2
    assert "expected what an interrupted exploration has left" in capsys.readouterr().err
