"""The pages on situations: their files and commands do what they show."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ckptsim.sim.cli import main
from tests.pages import Session, assert_shown, files_of, sessions_of, text_of

PAGES = ("committer.md", "enumerator.md", "source-log.md")
SESSIONS = [(page, session) for page in PAGES for session in sessions_of(text_of(page))]


@pytest.fixture
def folder(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """Write the files of a page into a folder, and work there."""
    files = files_of(text_of(request.getfixturevalue("page")))
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in files:
        sys.modules.pop(name.removesuffix(".py"), None)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("page", "session"), SESSIONS, ids=lambda one: str(one[:1]))
def test_a_command_prints_what_the_page_shows(
    page: str, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    """A published bug is convicted by its harm, and the first lines name its cause."""
    del page
    command, *shown = session
    assert main(shlex.split(command)[1:]) == 1
    assert_shown(tuple(shown), capsys.readouterr().out)
