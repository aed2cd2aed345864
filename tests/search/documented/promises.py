"""Promises of commands in pages, and the rows of docs/coverage.md as such promises."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ckptsim.scenarios.catalogue import by_name

Check = Callable[[str], None]
# Command, exit code, check of its output, marks.
Promise = tuple[str, int, Check, list[pytest.MarkDecorator]]
LONG = pytest.mark.long
COVERAGE = Path(__file__).parents[3] / "docs" / "coverage.md"
# The rows that every test run looks at: one of so many. The others are long.
SAMPLE = 6


def has(*wanted: str) -> Check:
    """Return a check that a text has these words, in their order, however it is spaced."""

    def check(text: str) -> None:
        flat, place = " ".join(text.split()), 0
        for each in wanted:
            found = flat.find(each, place)
            assert found >= 0, f"{each} is not in {flat[-3000:]}"
            place = found + len(each)

    return check


def matches(pattern: str) -> Check:
    """Return a check that a line of a text matches."""

    def check(text: str) -> None:
        assert re.search(pattern, text, re.MULTILINE), text[-2000:]

    return check


def rows() -> list[list[str]]:
    """Return the cells of the rows of docs/coverage.md: point, section, command, what it shows."""
    lines = COVERAGE.read_text(encoding="utf-8").splitlines()
    cells = [line.strip("|").split("|") for line in lines if line.startswith("|")]
    return [row for row in cells if row[0] != "Point" and not row[0].startswith("-")]


def coverage() -> list[Promise]:
    """Return the rows of docs/coverage.md as promises.

    A cell with several commands is one promise. Only the last may end with 1.
    """
    return [
        (
            "\n".join(_quoted(command)),
            _code(command, shows),
            has(*_quoted(shows)),
            [LONG] if number % SAMPLE else [],
        )
        for number, (_, _, command, shows) in enumerate(rows())
    ]


def _quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def _code(command: str, shows: str) -> int:
    """Return 1 where a row shows a violation that its scenario does not list."""
    broken = re.findall(r"VIOLATED (\w+)", shows)
    if not broken:
        return int("FAILED" in shows)
    scenario = re.search(r"ckptsim (?:run|check|hunt) (\w+)", command)
    assert scenario is not None, command
    return int(not set(broken) <= set(by_name(scenario[1]).violates))
