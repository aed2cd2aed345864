"""The commands of tutorials and how-tos run as they are shown, and print the lines shown."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from ckptsim.sim.cli.main import main
from tests.pages import assert_shown, files_of, sessions_of, text_of

ROOT = Path(__file__).parents[2]
# These take a minute, start Spark, or read all that was measured.
LONG = ("how-to/cluster.md", "how-to/interval.md", "how-to/own-coordinator.md", "limits.md")
PAGES = ("first-bug.md", *(f"how-to/{path.name}" for path in (ROOT / "docs/how-to").glob("*.md")))


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.long if page in LONG else ())
        for page in sorted((*PAGES, "limits.md"))
    ],
)
def test_a_page_shows_what_its_commands_print(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Files of a page are written, its commands run in order, and each prints the lines shown."""
    text = text_of(page)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    for name, source in files_of(text).items():
        (tmp_path / name).write_text(source, encoding="utf-8")
    sessions = sessions_of(text)
    assert sessions
    for command, *shown in sessions:
        if not command.startswith("ckptsim "):
            subprocess.run(["sh", "-c", command], check=True)
            continue
        broken = any(line.startswith("VIOLATED") for line in shown)
        assert main(shlex.split(command)[1:]) == int(broken), command
        assert_shown(tuple(map(_narrow, shown)), _narrow(capsys.readouterr().out))


def _narrow(text: str) -> str:
    """Return a text without folds of notes, and with one blank where columns are apart."""
    return re.sub(r" +", " ", re.sub(r"(?m)^(note: .*)\n {2}(?=\S)", r"\1 ", text))
