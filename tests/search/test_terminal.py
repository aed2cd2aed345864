"""A terminal has colours and ruled tables, and a pipe has the plain text."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

from ckptsim.sim.cli.printing import coloured

RED, OFF = "\x1b[1;31m", "\x1b[0m"
ESCAPE = re.compile(r"\x1b\[[\d;]*m")
WORDS = (sys.executable, "-m", "ckptsim", "run", "reference", "--mutant", "no_ordering")


def on_terminal(*words: str, **variables: str) -> str:
    """Return what a command writes to a terminal of 120 columns."""
    main, own = pty.openpty()
    size = {"COLUMNS": "120", "TERM": "xterm"}
    process = subprocess.Popen(words, stdout=own, env={**os.environ, **size, **variables})
    os.close(own)
    found = b""
    while True:
        try:
            piece = os.read(main, 65_536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        found += piece
    os.close(main)
    process.wait()
    return found.decode().replace("\r\n", "\n")


def test_a_terminal_shows_violations_in_red() -> None:
    """Violations and a bad outcome are red, the table has a rule, and all else is as in a pipe."""
    shown = on_terminal(*WORDS)
    assert re.search(rf"{re.escape(RED)}violations +5{re.escape(OFF)}", shown)
    assert f"{RED}VIOLATED no_premature_acknowledgement" in shown
    assert "\n──" in shown
    piped = subprocess.run(WORDS, capture_output=True, text=True, check=False).stdout
    assert "\x1b" not in piped
    assert "──" not in piped
    missing = set(piped.splitlines()) - set(ESCAPE.sub("", shown).splitlines())
    assert len(missing) == 2  # the head and the row of the table of recoveries


def test_no_color_is_plain() -> None:
    """`NO_COLOR` and a dumb terminal get no escape sequence."""
    assert "\x1b" not in on_terminal(*WORDS, NO_COLOR="1")
    assert "\x1b" not in on_terminal(*WORDS, TERM="dumb")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("outcome      completed", "outcome      completed"),
        ("outcome      stalled", f"outcome      {RED}stalled{OFF}"),
        ("violations   0", "violations   0"),
        ("3 passed, 0 failed", "3 passed, 0 failed"),
        ("3 passed, 12 failed", f"3 passed, {RED}12 failed{OFF}"),
        ("[note] {a} :smile: \\[b]", "[note] {a} :smile: \\[b]"),
    ],
)
def test_only_what_is_marked_has_a_colour(text: str, shown: str) -> None:
    """A text keeps all of its characters, and has colours only where it says so."""
    assert coloured(text) == shown
    assert ESCAPE.sub("", coloured(f"VIOLATED {text}")) == f"VIOLATED {text}"
