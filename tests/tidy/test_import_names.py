"""Names of modules: the four folders' bare names are the user's, and a module has one name.

Everything is imported as `ckptsim....`, and under the same name in every file.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SUFFIXES = (".py", ".md", ".toml", ".html", "")
_FOLDERS = "models|scenarios|sim|analysis"
# `from sim.kernel import x`, `import sim`, `import os, sim`, also inside of a text.
_IMPORT = re.compile(
    rf"(?m)(?:^|[;\"'`])[ \t]*(?:from[ \t]+({_FOLDERS})(?:\.[\w.]+)?[ \t]+import\b"
    rf"|import[ \t]+(?:[\w.]+[ \t]*,[ \t]*)*({_FOLDERS})(?![\w./]))"
)
# `sim.world`, `sim.world:run_world`: counts where there is such a module.
_DOTTED = re.compile(rf"(?<![\w./-])({_FOLDERS})\.([A-Za-z_]\w*)")


def bare_names(text: str) -> list[str]:
    """Return every bare name of one of our modules in a text, with its line number."""
    found = [(match.start(), match[0].strip()) for match in _IMPORT.finditer(text)]
    for match in _DOTTED.finditer(text):
        place = ROOT / match[1] / match[2]
        if place.is_dir() or place.with_suffix(".py").is_file():
            found.append((match.start(), match[0]))
    return [f"{text.count(chr(10), 0, start) + 1}: {name}" for start, name in sorted(found)]


def _texts() -> Iterator[Path]:
    """Yield every text file of the project that is ours."""
    for folder in ("models", "scenarios", "sim", "analysis", "src", "tests", "docs", "."):
        inside = (ROOT / folder).glob("*") if folder == "." else (ROOT / folder).rglob("*")
        for path in sorted(inside):
            name = path.relative_to(ROOT).as_posix()
            made = "__pycache__" in name or name.startswith("tests/data/")
            # This file has examples of what it refuses.
            if path.is_file() and path.suffix in SUFFIXES and not made and path != Path(__file__):
                yield path


def test_no_file_has_a_bare_name():
    """No source, test, document or setting imports or names our modules without `ckptsim.`."""
    found = [
        f"{path.relative_to(ROOT)}:{place}"
        for path in _texts()
        for place in bare_names(path.read_text("utf-8", "replace"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "from sim.kernel import Environment",
        "import models",
        "import os, sim.world",
        "run('import sys; from scenarios import load')",
        "WORLD = 'sim.world:run_world'",
        "(`analysis.spark`)",
    ],
)
def test_a_bare_name_is_found(text: str) -> None:
    """Each way of writing a bare name is found: as an import, in a string, in a document."""
    found = bare_names(f"first line\n{text}\n")
    assert found
    assert all(place.startswith("2: ") for place in found)


@pytest.mark.parametrize(
    "text",
    [
        "from ckptsim.sim.kernel import Environment",
        "WORLD = 'ckptsim.sim.world:run_world'",
        "`sim/world.py` and `models/ordering`",
        "--core models.mine:make_core",
        "from .models import x",
        "see [the guide](scenarios.md)",
    ],
)
def test_other_names_are_left_alone(text: str) -> None:
    """Full names, paths and names of a user's own modules are no bare names of ours."""
    assert bare_names(text) == []


@pytest.mark.parametrize("folder", _FOLDERS.split("|"))
def test_the_names_under_ckptsim_lead_to_the_folders(folder: str) -> None:
    """In a checkout `ckptsim.sim` is a relative link to the folder `sim`, and so for all four."""
    link = ROOT / "src" / "ckptsim" / folder
    assert link.resolve() == ROOT / folder
    assert not link.readlink().is_absolute()


def _sources() -> dict[str, str]:
    """Return the text of every module by its name, packages by theirs."""
    found = {}
    for folder in (*_FOLDERS.split("|"), "tests", "src/ckptsim"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if folder == "src/ckptsim" and path.resolve() != path:
                continue  # reached through a link
            parts = path.relative_to(ROOT).with_suffix("").parts
            parts = parts[1:] if parts[0] == "src" else parts
            parts = parts if parts[0] in ("tests", "ckptsim") else ("ckptsim", *parts)
            name = ".".join(part for part in parts if part != "__init__")
            found[name] = path.read_text(encoding="utf-8")
    return found


def names_of_modules(sources: Mapping[str, str]) -> dict[str, dict[str, list[str]]]:
    """Return, of each module that is imported as a module, its names and where it has them."""
    trees = {name: ast.parse(text) for name, text in sources.items()}
    own: dict[str, set[str]] = {}  # what a package has besides modules: functions, classes
    for name, tree in trees.items():
        own[name] = {
            alias.asname or alias.name
            for node in tree.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
            if f"{node.module}.{alias.name}" not in sources
        }
        own[name] |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for importer, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    module = f"{node.module}.{alias.name}"
                    if module in sources and alias.name not in own.get(node.module or "", ()):
                        found[module][alias.asname or alias.name].append(importer)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name in sources and alias.asname:
                        found[alias.name][alias.asname].append(importer)
    return {module: dict(names) for module, names in found.items()}


def test_a_module_has_one_name_everywhere() -> None:
    """Anyone who imports a module calls it what all others call it."""
    found = {
        module: {name: places[:3] for name, places in names.items()}
        for module, names in names_of_modules(_sources()).items()
        if len(names) > 1
    }
    assert found == {}


def test_two_names_of_a_module_are_found() -> None:
    """Both ways of importing count. A function of the same name in the package does not."""
    sources = {
        "a": "from a.g import g",
        "a.b": "",
        "a.g": "def g(): ...",
        "a.c": "from a import b as one\nfrom a import g as call",
        "a.d": "def f():\n    from a import b\n    from a import g",
        "a.e": "import a.b as two",
    }
    assert names_of_modules(sources) == {"a.b": {"one": ["a.c"], "b": ["a.d"], "two": ["a.e"]}}
