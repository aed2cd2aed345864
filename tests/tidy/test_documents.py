"""What README, documents and help promise can be typed."""

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
    """Return the lines of a text that begin as a command does; what a command prints does not."""
    lines = [line.strip().removeprefix("$ ") for line in text.splitlines()]
    return [
        line for line in lines if re.match(r"(make|ckptsim|python -m ckptsim) [\w-]+(\s|$)", line)
    ]


def _documents() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


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
    examples = _commands(import_verb(verb).EXAMPLES)
    assert any(command.split()[1] == verb for command in examples)
    for command in examples:
        _check_command(command)
