"""Aligned columns for the terminal."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Sequence

_WIDEST = 120
_NARROWEST = 30
_INDENT = 6


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table whose last column is wrapped to the terminal's width.

    Without a head (an empty one) there is no first line.
    """
    table = [tuple(row) for row in ([head, *rows] if head else rows)]
    columns = max((len(row) for row in table), default=1)
    widths = [max(len(row[i]) for row in table) for i in range(columns - 1)]
    left = sum(widths) + 2 * len(widths)
    whole = min(_WIDEST, _columns())
    below = whole - left < _NARROWEST  # then the last column stands under the others
    if below:
        left = min(_INDENT, whole // 4)
    room = whole - left
    lines: list[str] = []
    for row in table:
        start = "".join(f"{cell:<{width}}  " for cell, width in zip(row, widths, strict=False))
        parts = textwrap.wrap(row[-1], room, break_on_hyphens=False, break_long_words=False) or [""]
        if below and len(row) > 1:
            lines.append(start.rstrip())
            start = " " * left
        lines.append((start + parts[0]).rstrip())
        lines.extend(" " * left + part for part in parts[1:])
    return lines


def _columns() -> int:
    """Return the terminal's width, or a fixed one where the output is no terminal."""
    return shutil.get_terminal_size((_WIDEST, 24)).columns if os.isatty(1) else _WIDEST
