"""Short literals of found values for error texts, whatever the value is."""

from __future__ import annotations

import json
import math
import reprlib

_LONGEST = 60


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


def _integer(value: int) -> str:
    if value.bit_length() <= 160:
        return str(value)
    return f"an integer of {value.bit_length()} bits"


def _keys(table: dict[str, object]) -> str:
    names = [printable(str(key)[:20]) for key in list(table)[:4]]
    return ", ".join(names) + (", ..." if len(table) > 4 else "")
