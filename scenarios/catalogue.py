"""The library: scenarios and sweep plans that come with the program, found by name.

A scenario's name is the name of its file without `.toml`. Folders of the library only order it.
Wherever a name is taken, the path of a file of the user's will do as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType

from ckptsim.scenarios.dialect import printable, shown, suggestion
from ckptsim.scenarios.errors import Problem, ScenarioError
from ckptsim.scenarios.files import loads, read_text
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.spec import Link, Scenario

LIBRARY = "library"
PLANS = "plans"
RECORDINGS = "recordings"


def by_name(name: str, *, links: Mapping[str, Link] = LINKS) -> Scenario:
    """Return the scenario of that name from the library, or the one in the file at that path.

    Raises ScenarioError when there is none, or when the file is wrong.
    """
    if links is LINKS and name in shelf(LIBRARY):
        return _of_library(name)
    source, text = text_of(name, LIBRARY)
    return loads(text, source=source, links=links)


@cache
def _of_library(name: str) -> Scenario:
    return loads(shelf(LIBRARY)[name].read_text(encoding="utf-8"), source=f"{LIBRARY}/{name}.toml")


def all_names() -> tuple[str, ...]:
    """Return the names of all scenarios of the library, sorted."""
    return tuple(sorted(shelf(LIBRARY)))


def all_scenarios() -> list[Scenario]:
    """Return all scenarios of the library, by name."""
    return [by_name(name) for name in all_names()]


def text_of(name: str, *folders: str, others: Iterable[str] = ()) -> tuple[str, str]:
    """Return source and text of a file by its name in folders of the library, or by its path.

    `others` are words that would do as well where this name was typed, for the suggestion.
    Raises ScenarioError when there is no such file.
    """
    known: dict[str, Traversable] = {}
    for folder in folders:
        files_here = shelf(folder)
        if name in files_here:
            return f"{folder}/{name}.toml", files_here[name].read_text(encoding="utf-8")
        known |= files_here
    if is_file(name):
        return printable(name), read_text(Path(name))
    expected = "a name that `ckptsim list` shows, or the path of a file ending in .toml"
    hint = _elsewhere(name, folders) or suggestion(name, [*known, *others])
    raise ScenarioError([Problem("name", shown(name), expected + hint)])


def is_file(name: str) -> bool:
    """Return whether a word is meant as the path of a file, rather than as a name."""
    return "/" in name or "\\" in name or name.endswith(".toml")


def _elsewhere(name: str, folders: Sequence[str]) -> str:
    """Say what a name is that is not of the kind that was asked for, and which verb takes it."""
    if LIBRARY in folders and name in shelf(PLANS):
        return f"; this is a sweep plan: ckptsim sweep {name}"
    if PLANS in folders and name in shelf(LIBRARY):
        return f"; this is a scenario: ckptsim run {name}, or say with --vary what to sweep"
    if name in [one.name for one in files("ckptsim.scenarios").joinpath(RECORDINGS).iterdir()]:
        return f"; this is a recording: ckptsim import {name} --out {name}.toml"
    return ""


@cache
def shelf(folder: str) -> Mapping[str, Traversable]:
    """Return the files of a folder of the library and of the folders in it, by name.

    They come with the program and do not change, so a process looks once.
    """
    found: dict[str, Traversable] = {}
    waiting = [files("ckptsim.scenarios").joinpath(folder)]
    while waiting:
        here = waiting.pop(0)
        for item in sorted(here.iterdir(), key=lambda item: item.name) if here.is_dir() else ():
            if item.is_dir():
                waiting.append(item)
            elif item.name.endswith(".toml"):
                found[item.name.removesuffix(".toml")] = item
    return MappingProxyType(found)
