"""Short literals of found values for error texts, whatever the value is."""

from __future__ import annotations

import json
import math
import re
import reprlib

_LONGEST = 60
# Of a whole number in a file.  Source: Python, "Integer string conversion length limitation".
DIGITS_MAX = 4300
_LONG_NUMBER = re.compile(rf"(\d_?){{{DIGITS_MAX},}}\d")


def snake_case(name: str) -> str:
    """Return the name of a class as a word: `CrashAt` is `crash_at`."""
    return re.sub(r"\B([A-Z])", r"_\1", name).lower()


def shown(value: object) -> str:
    """Return the value as a short literal in TOML's spelling, at most some 60 characters long."""
    match value:
        case bool():
            text = "true" if value else "false"
        case int():
            text = _integer(value)
        case float():
            text = repr(value) if math.isfinite(value) else str(value)
        case str():
            text = printable(json.dumps(value[: _LONGEST + 1], ensure_ascii=False))
        case list():
            text = f"an array of {len(value)}" if value else "[]"
        case dict():
            text = f"a table with {_keys(value)}" if value else "an empty table"
        case _:
            text = str(value) if hasattr(value, "isoformat") else reprlib.repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def printable(text: str) -> str:
    """Return the text with escapes for all that a terminal would not show, or would obey."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def too_long(error: ValueError, text: str) -> str | None:
    """Return which number a text cannot be read for, None where that is not the reason."""
    if not str(error).startswith("Exceeds the limit"):
        return None
    found = _LONG_NUMBER.search(text)
    line = 1 if found is None else text.count("\n", 0, found.start()) + 1
    digits = f"more than {DIGITS_MAX}" if found is None else len(found[0].replace("_", ""))
    return f"a number of {digits} digits in line {line}"


def _integer(value: int) -> str:
    if value.bit_length() <= 160:
        return str(value)
    return f"an integer of {value.bit_length()} bits"


def _keys(table: dict[str, object]) -> str:
    names = [printable(str(key)[:20]) for key in list(table)[:4]]
    return ", ".join(names) + (", ..." if len(table) > 4 else "")
