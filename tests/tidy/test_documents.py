"""What README, documents and help promise is there and can be typed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from ckptsim.sim.cli.main import VERBS, _parser, import_verb

ROOT = Path(__file__).parents[2]


def _relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _commands(text: str) -> list[str]:
    """Return the lines of a text that begin as a command does. What a command prints does not."""
    lines = [line.strip().removeprefix("$ ") for line in text.splitlines()]
    return [
        line for line in lines if re.match(r"(make|ckptsim|python -m ckptsim) [\w-]+(\s|$)", line)
    ]


def _documents() -> list[Path]:
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def _check_command(command: str) -> None:
    """Raise AssertionError unless the make target or the verb with its options exists."""
    words = shlex.split(re.split(r"\s#\s|\s{2,}|[|>;]|&&", command)[0])
    if words[0] == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
        assert all(word in targets for word in words[1:] if "=" not in word), command
        return
    arguments = words[3:] if words[0] == "python" else words[1:]
    if not arguments or arguments[0].isupper():
        return  # a synopsis
    assert arguments[0].startswith("-") or arguments[0] in VERBS, command
    try:
        _parser(arguments).parse_args(arguments)
    except SystemExit as stop:
        if stop.code != 0:
            pytest.fail(f"cannot be typed: {command}")


@pytest.mark.parametrize("path", _documents(), ids=_relative)
def test_documented_commands_exist(path):
    """Each command that a document shows in a block of its own is one that can be typed."""
    for command in _commands(path.read_text(encoding="utf-8")):
        _check_command(command)


@pytest.mark.parametrize("verb", VERBS)
def test_the_examples_of_a_verb_can_be_typed(verb):
    """Every verb shows examples in its help, and each of them parses."""
    examples = _commands(import_verb(verb).examples)
    assert any(command.split()[1] == verb for command in examples)
    for command in examples:
        _check_command(command)


@pytest.mark.parametrize("path", _documents(), ids=_relative)
def test_documents_link_to_what_is_there(path):
    """Each relative link of a document leads to a file or folder."""
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8")):
        if not target.startswith(("http:", "https:")):
            assert (path.parent / target).exists(), target


def test_the_guide_for_contributors_names_files_that_are_there():
    """Each file, folder and module that CONTRIBUTING.md names exists, so that its lists hold."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:models|scenarios|sim|analysis|tests|docs|src)/[\w./-]+)`", text)
    assert len(named) > 40
    assert [name for name in named if not (ROOT / name).exists()] == []
    modules = re.findall(r"`python -m ([\w.]+)`", text)
    assert len(modules) > 5
    for module in modules:
        assert (ROOT / module.replace(".", "/")).with_suffix(".py").exists(), module


def test_the_guide_for_contributors_knows_every_folder_of_tests():
    """CONTRIBUTING.md says of each folder of tests what it is for."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/__init__.py")}
    assert {name for name in folders - {"bench"} if f"`tests/{name}`" not in text} == set()


def _plain(text: str) -> str:
    """Return a text in lower case with the words of names apart."""
    return " ".join(re.sub(r"[_-]|(?<=[a-z])(?=[A-Z])", " ", text).lower().split())


def test_each_word_of_the_glossary_is_in_use():
    """The glossary has each word once, in order, and only words that source or documents use."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    parts = text.split("\n## ")[1:]
    words = [re.findall(r"^\* \*\*(.+?)\*\*: ", part, re.MULTILINE) for part in parts]
    everything = [word for part in words for word in part]
    assert len(everything) == len(set(everything)) > 40
    for part in words:
        assert part == sorted(part, key=str.lower)
    folders = [ROOT / name for name in ("models", "scenarios", "sim")]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    files += [path for path in _documents() if path.name != "glossary.md"]
    used = _plain(" ".join(path.read_text("utf-8") for path in files))
    named = [word for entry in everything for word in entry.split(", ")]
    assert [word for word in named if _plain(word) not in used] == []
