"""Colours on a terminal: violations in red, shares of a cause, heads of tables, notes.

Text is marked where it is written, so results know no colours and a pipe gets the plain text.
"""

from __future__ import annotations

import os
import re
from io import StringIO
from typing import TextIO

_STYLES = {"bad": "bold red", "good": "green", "head": "bold", "soft": "dim", "why": "bold cyan"}
_MARKS = (
    r"^(?P<bad>(?:VIOLATED|Violated:?) .*)$",
    r"^(?P<bad>violations +[1-9].*)$",
    r"^outcome +(?P<bad>(?!completed)\S.*)$",
    r"^\S+ +\S+ +[\d,]+ runs +(?:(?P<good>ok)|(?P<bad>FAILED))$",
    r"(?P<bad>\b[1-9][\d,]* failed)\b",
    r"^(?P<head>.+)\n(?= *─)",
    r"^(?P<soft>note: .*)$",
    r"(?P<why>\b\d+ % of it): ",
)
_ANY = re.compile("|".join(re.sub(r"\?P<\w+>", "?:", one) for one in _MARKS), re.MULTILINE)


def has_colours(stream: TextIO) -> bool:
    """Return whether a stream is a terminal with colours, which `NO_COLOR` turns off."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    return not (plain or stream.closed) and stream.isatty()


def coloured(text: str) -> str:
    """Return a text with the colours of a terminal where something in it has one."""
    if not _ANY.search(text):
        return text
    from rich.console import Console  # some 0.1 s, so only where something is marked
    from rich.text import Text
    from rich.theme import Theme

    marked = Text(text)
    for mark in _MARKS:
        marked.highlight_regex(re.compile(mark, re.MULTILINE))
    console = Console(
        file=StringIO(), force_terminal=True, color_system="standard", theme=Theme(_STYLES)
    )
    with console.capture() as found:
        console.print(marked, end="", soft_wrap=True)
    return found.get()
