"""The command line and the Python API of `view`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ckptsim as ck
from ckptsim.sim.cli.main import main
from tests.pages import assert_shown, sessions_of, text_of


def test_the_page_shows_what_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command of the page about views does what the page says, and writes its file."""
    monkeypatch.chdir(tmp_path)
    for command, *shown in sessions_of(text_of("view.md")):
        words = command.split()[1:]
        assert main(words) == (1 if words[0] == "hunt" else 0)
        if shown:
            assert_shown(tuple(shown), capsys.readouterr().out)
        assert Path(words[-1]).exists()


def test_the_page_s_python_writes_both_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Python of the page writes a page of two runs and counts the events of the first."""
    monkeypatch.chdir(tmp_path)
    [block] = re.findall(r"```python\n(.*?)```", text_of("view.md"), re.DOTALL)
    exec(block, {})
    assert re.fullmatch(r"\d+ events\n", capsys.readouterr().out)
    assert "beside" in Path("both.html").read_text(encoding="utf-8")


def test_other_verbs_write_the_page_of_their_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`run` writes its run, `hunt` its find with the story, `whatif` both runs."""
    run, find, both = tmp_path / "run.html", tmp_path / "find", tmp_path / "both.html"
    assert main(["run", "reference", "--view", str(run)]) == 0
    assert main(["hunt", "reference", "--mutant", "no_ordering", "--out", str(find)]) == 1
    assert (
        main(["whatif", "orders", "--set", "unaligned=true", "--seeds", "1", "--view", str(both)])
        == 0
    )
    assert "reference" in run.read_text(encoding="utf-8")
    assert "last good point" in (find / "view.html").read_text(encoding="utf-8")
    assert "as it is, predicted" in both.read_text(encoding="utf-8")


def test_a_run_that_was_made_is_viewed_as_it_was() -> None:
    """The view of a result has its seed, also where its trace was not kept."""
    result = ck.run("reference", seed=4)
    found = ck.view(result)
    assert result.run.digest[:12] in str(found.documents[0]["facts"])
    assert len(repr(found).splitlines()) <= 12
    assert found._repr_html_().startswith("<iframe srcdoc=")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["reference", "--checkpoint", "99"], "found no checkpoint 99, expected one from"),
        (["orders", "--set", "mode=unaligned"], "--set: found with a recording"),
        (["reference", "--out", "."], "--out: found '.', a folder, expected a file"),
        (["no_such_thing"], "expected a name that `ckptsim list` shows"),
    ],
)
def test_bad_input_is_refused(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Missing and impossible inputs are the user's error."""
    assert main(["view", *words]) == 2
    assert says in capsys.readouterr().err
