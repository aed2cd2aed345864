"""The page on slots: its files and commands do what it shows, and it leaves out no event."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from ckptsim.sim.cli import main
from ckptsim.sim.slots import SLOTS
from tests.pages import assert_shown, files_of, sessions_of, text_of
from tests.slots.slots_page import BLOCK, written

ROOT = Path(__file__).parents[2]
HOW_TOS = (
    *("committer.md", "enumerator.md", "source-log.md"),
    *(f"how-to/{name}.md" for name in ("source-positions", "two-owners", "two-positions")),
)
PAGE = text_of("slots.md")
FILES = {name.removesuffix(".py"): text for name, text in files_of(PAGE).items()}
PARTS = re.findall(r"^\| `(\w+)` \|.* \| `(\w+)` \| `(\w+)` \| `(\w+)` \|$", PAGE, re.MULTILINE)
SESSIONS = [
    *sessions_of(PAGE),
    *(
        (f"ckptsim check {scenario} --core {slot}=my_parts:{core}", f"VIOLATED {breaks} at ...")
        for slot, scenario, core, breaks in PARTS
    ),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Write the files of the page into a folder, and work there. They are not imported yet."""
    for name, text in FILES.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in FILES:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session[0])
def test_a_command_prints_what_the_page_shows(folder, capsys, session) -> None:
    """Each line shown is printed, in that order. An ellipsis represents its rest."""
    command, *shown = session
    words = [word.replace("tests/data", str(ROOT / "tests" / "data")) for word in _words(command)]
    assert main(words) == 1
    assert_shown(tuple(shown), capsys.readouterr().out)


def _words(command: str) -> list[str]:
    program, *words = shlex.split(command)
    assert program == "ckptsim"
    return words


def test_every_slot_has_an_example() -> None:
    """For each slot that there is, some command here or in a how-to puts a core into it."""
    elsewhere = [session for name in HOW_TOS for session in sessions_of(text_of(name))]
    used = {
        word.partition("=")[0]
        for command, *_ in (*SESSIONS, *elsewhere)
        for word in _words(command)
        if "=" in word and ":" in word
    }
    assert used == set(SLOTS)


def test_the_lists_are_those_of_the_code() -> None:
    """The page has each factory, event, effect and question as the Protocol of the slot has it."""
    assert written(PAGE) == PAGE
    assert {name for _, name, _ in BLOCK.findall(PAGE)} == {
        slot.name for slot in SLOTS.values() if slot.protocol is not None and slot.links
    }
