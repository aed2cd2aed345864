"""Output: the one place that keeps text of others from the terminal's controls.

A scenario, a server or a core can put escape sequences into a name, and a locale can lack half of
our characters.  Both become escapes as JSON has them, so JSON stays what it means.  Lines that end
are ours: who prints a text of others on one line takes `printable` for it.

Text is marked where it is written, so results know no colours and a pipe gets the plain text.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    from ckptsim._api.result import Result


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


# Controls other than tab and the end of a line, what turns the direction of text, and halves of
# characters, which names of files may have.
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


class _Printed:
    def __init__(self, stream: TextIO) -> None:
        self.terminal = stream
        self._colours = has_colours(stream)

    def write(self, text: str) -> int:
        text = _OBEYED.sub(_escaped, text)
        encoding = getattr(self.terminal, "encoding", None) or "utf-8"
        try:
            text.encode(encoding)
        except UnicodeEncodeError:
            text = "".join(c if c.isascii() else _known(c, encoding) for c in text)
        self.terminal.write(coloured(text) if self._colours else text)
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.terminal, name)


def _known(character: str, encoding: str) -> str:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        units = character.encode("utf-16-be")
        return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
    return character


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


@contextmanager
def printing() -> Iterator[None]:
    """Escape all that is printed within the block. A stream that is closed stays closed."""
    before = sys.stdout, sys.stderr
    for name, stream in zip(("stdout", "stderr"), before, strict=True):
        if stream is not None and not isinstance(stream, _Printed):
            setattr(sys, name, cast("TextIO", _Printed(stream)))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def terminal() -> TextIO | None:
    """Return the terminal where progress is shown, as it is. None where there is none."""
    stream = getattr(sys.stderr, "terminal", sys.stderr)
    return stream if stream is not None and stream.isatty() else None


def flushed() -> None:
    """Flush standard output. Raises OSError once, and not again at the interpreter's end."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        abandon_stdout()
        raise


def abandon_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush does not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def show(result: Result, *, as_json: bool) -> int:
    """Print a result as text or as JSON, and return its exit code: 0 or 1."""
    print(document_text(result.to_dict()) if as_json else result.text)
    return int(result.failed)


def document_text(document: object) -> str:
    """Return JSON data as it is printed."""
    import json

    return json.dumps(document, indent=1)
