"""Whichever module of ours is imported first, the import succeeds."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.tidy.first_import import FirstImport, Step, steps_of

ROOT = Path(__file__).parents[2]
FOLDERS = ("models", "scenarios", "sim", "analysis")


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("ckptsim", *(part for part in parts if part != "__init__")))


SOURCES = {
    _name(path): path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))
}


@cache
def _steps(name: str) -> list[Step] | None:
    path = SOURCES.get(name)
    return None if path is None else steps_of(path.read_text(encoding="utf-8"))


def problems(first: str) -> list[str]:
    """Return what goes wrong when a module is imported first."""
    found = FirstImport(_steps)
    found.load(first)
    return found.problems


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_module_can_be_imported_first(folder: str) -> None:
    """No module has to be imported after another one."""
    found = {
        name: told[0]
        for name in SOURCES
        if name.startswith(f"ckptsim.{folder}") and (told := problems(name))
    }
    assert found == {}


CIRCLE = {
    "house/__init__.py": "",
    "house/world.py": "from house.view import View\nclass World: ...\n",
    "house/view.py": "from house.world import World\nclass View: ...\n",
    "house/late.py": "from house import world\nclass Late:\n    kind = world.World\n",
    "house/typed.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
    "    from house.later import Later\nclass Typed: ...\n",
    "house/later.py": "from house.typed import Typed\nclass Later(Typed): ...\n",
    "door/__init__.py": "from door.inner import Inner\n",
    "door/inner.py": "from door import other\nclass Inner(other.Other): ...\n",
    "door/other.py": "from door import Inner\nclass Other: ...\n",
}


@pytest.mark.parametrize("first", [name[:-3].replace("/", ".") for name in CIRCLE])
def test_the_reading_agrees_with_the_interpreter(tmp_path: Path, first: str) -> None:
    """All that is read from sources with and without circles is what a real import of them does."""
    for name, source in CIRCLE.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)
    first = first.removesuffix(".__init__")

    def steps(name: str) -> list[Step] | None:
        place = name.replace(".", "/")
        source = CIRCLE.get(f"{place}.py", CIRCLE.get(f"{place}/__init__.py"))
        return None if source is None else steps_of(source)

    read = FirstImport(steps)
    read.load(first)
    command = [sys.executable, "-c", f"import {first}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert bool(read.problems) == bool(done.returncode), done.stderr.decode()
