"""The page on slots: its files and commands do what it shows, and it leaves out no event."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from ckptsim.models.barriers.channel_state import events as writer_events
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.coordinator import events as coordinator_events
from ckptsim.models.lifecycle import effects as lifecycle_effects
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.models.ordering import effects as ordering_effects
from ckptsim.models.ordering import events as ordering_events
from ckptsim.sim.cli import main
from ckptsim.sim.slots import SLOTS
from tests.pages import assert_shown, files_of, sessions_of, text_of

ROOT = Path(__file__).parents[2]
PAGE = text_of("slots.md")
FILES = {name.removesuffix(".py"): text for name, text in files_of(PAGE).items()}
SESSIONS = sessions_of(PAGE)
DOORS: dict[str, tuple[Any, ...]] = {
    "ordering": (ordering_events.Event, ordering_effects.Effect),
    "handler": (handler_events.HandlerEvent, handler_events.HandlerEffect),
    "coordinator": (coordinator_events.CoordinatorEvent, coordinator_events.CoordinatorEffect),
    "lifecycle": (lifecycle_events.Event, lifecycle_effects.Effect),
    "channel_state": (writer_events.WriterEvent, writer_events.WriterEffect),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Write the files of the page into a folder, and work there; they are not imported yet."""
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
    """Each line shown is printed, in that order; an ellipsis stands for its rest."""
    command, *shown = session
    words = [word.replace("tests/data", str(ROOT / "tests" / "data")) for word in _words(command)]
    assert main(words) == 1
    assert_shown(tuple(shown), capsys.readouterr().out)


def _words(command: str) -> list[str]:
    program, *words = shlex.split(command)
    assert program == "ckptsim"
    return words


def test_every_slot_has_an_example() -> None:
    """For each slot that there is, some command puts a core of the page into it."""
    used = {
        word.partition("=")[0]
        for command, *_ in SESSIONS
        for word in _words(command)
        if word.partition("=")[2].startswith("my_")
    }
    assert used == set(SLOTS)


@pytest.mark.parametrize("slot", DOORS)
def test_a_door_lists_every_event_and_effect(slot) -> None:
    """The section of a slot names all that goes in and out, and asks what its slot offers."""
    section = PAGE.split(f"\n## {slot}\n")[1].split("\n## ")[0]
    listed = set(re.findall(r"`(\w+)", section))
    events, effects = (
        {kind.__name__ for kind in (get_args(union) or (union,))} for union in DOORS[slot]
    )
    lines = {
        word: set(re.findall(r"`(\w+)`", section.split(f"\n* {word}: ")[1].split("\n* ")[0]))
        for word in ("In", "Out")
    }
    assert lines["In"] & events == events
    assert lines["Out"] & effects == effects
    assert set(SLOTS[slot].offers) - {"step"} <= listed
