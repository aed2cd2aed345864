"""Modules of the user's own that `--core` names: the problem is notified of the right file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.slots.resolve import load_factory


def refusal(name: str) -> str:
    """Return why a core is refused."""
    with pytest.raises(UserError) as caught:
        load_factory("ordering", f"{name}:make_core")
    return str(caught.value)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty working directory, and forget afterwards all that was imported from it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("models", "models.mine", "mine_of_test"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_module_that_is_not_there_is_named() -> None:
    """Where the module or its package is missing, just that is said."""
    told = refusal("no_such_package.mine")
    assert told == (
        "--core ordering=no_such_package.mine:make_core: found no module 'no_such_package' in the "
        "working directory or among installed packages"
    )


def test_what_a_module_lacks_is_not_taken_for_the_module(folder: Path) -> None:
    """A module that is there but imports one that is not: both are named, and the line."""
    path = folder / "mine_of_test.py"
    path.write_text('"""Mine."""\n\nimport no_such_library\n')
    told = refusal("mine_of_test")
    assert "module 'mine_of_test' is there, but importing it raised ModuleNotFoundError" in told
    assert f"at {path}, line 3: No module named 'no_such_library'" in told


def test_the_user_s_models_are_not_ours(folder: Path) -> None:
    """A module in the user's folder `models` is found, and its errors are the ones of its file."""
    (folder / "models").mkdir()
    (folder / "models" / "__init__.py").touch()
    path = folder / "models" / "mine.py"
    path.write_text("from . import ordering\n")
    told = refusal("models.mine")
    assert "module 'models.mine' is there, but importing it raised ImportError" in told
    assert f"at {path}, line 1" in told


def test_a_module_that_does_not_parse_is_named_with_the_line(folder: Path) -> None:
    """A syntax error is reported with its file and line, and without a line of ours."""
    (folder / "mine_of_test.py").write_text("def make_core(:\n")
    told = refusal("mine_of_test")
    assert "importing it raised SyntaxError: " in told
    assert "(mine_of_test.py, line 1)" in told
    assert "load.py" not in told


def test_a_missing_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that imports an optional package gets the command that installs it."""
    monkeypatch.setitem(sys.modules, "duckdb", None)
    (folder / "mine_of_test.py").write_text("import duckdb\n")
    assert "pip install 'ckptsim[store]'" in refusal("mine_of_test")
