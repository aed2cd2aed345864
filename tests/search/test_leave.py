"""A folder of a find is data: repeating it starts nothing that its author has named."""

from __future__ import annotations

import json
import shlex
import sys

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.files import to_toml
from ckptsim.sim.cli import main
from ckptsim.sim.search.folder import DECISIONS, SCENARIO

MODULE = """
from pathlib import Path
from ckptsim.cores import ordering
Path({mark!r}).touch()
make = ordering.make_core
"""


@pytest.fixture
def find(tmp_path, monkeypatch):
    """Make a folder of someone else's find, with a module in it that leaves a mark."""
    folder = tmp_path / "find"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    (folder / SCENARIO).write_text(to_toml(by_name("reference")), encoding="utf-8")
    module = MODULE.format(mark=str(tmp_path / "started"))
    (folder / "theirs_of_find.py").write_text(module, encoding="utf-8")
    yield folder
    sys.modules.pop("theirs_of_find", None)


def name(folder, core: str) -> None:
    """Let the folder name a core."""
    decisions = {
        "property": "no_record_lost",
        "says": "a record is lost",
        "seed": 0,
        "ties": "structural",
        "digest": "0" * 32,
        "cores": {"ordering": core},
        "mutant": None,
    }
    (folder / DECISIONS).write_text(json.dumps(decisions), encoding="utf-8")


def test_a_command_is_started_with_leave_only(find, capsys) -> None:
    """Without the option nothing runs, and the message says what would."""
    mark = find.parent / "started"
    command = shlex.join([sys.executable, "-c", f"open({str(mark)!r}, 'w')"])
    name(find, f"process:{command}")
    assert main(["replay", str(find)]) == 2
    told = capsys.readouterr().err
    assert "repeating this find starts the command" in told
    assert "--allow-commands" in told
    assert not mark.exists()
    assert main(["replay", str(find), "--allow-commands"]) == 2  # it says no hello
    assert mark.exists()


def test_a_module_of_the_folder_is_imported_with_leave_only(find, capsys, monkeypatch) -> None:
    """The author of the find is the author of what lies in its folder, seen from inside, too."""
    monkeypatch.chdir(find)
    name(find, "theirs_of_find:make")
    assert main(["replay", "."]) == 2
    assert "imports theirs_of_find:make, which lies in the folder" in capsys.readouterr().err
    assert not (find.parent / "started").exists()
    assert main(["replay", ".", "--allow-commands"]) == 0
    assert (find.parent / "started").exists()


def test_a_module_of_the_users_is_imported_and_named(find, capsys) -> None:
    """What comes from elsewhere needs no leave. Where from is said."""
    name(find, "ckptsim.models.ordering:make_core")
    assert main(["replay", str(find)]) == 0
    assert "imports ckptsim.models.ordering:make_core, which the" in capsys.readouterr().err
