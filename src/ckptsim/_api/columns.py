"""Text for the terminal: aligned columns, names and values, paragraphs, violations."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from ckptsim.scenarios.dialect import duration_text
from ckptsim.sim.extras import extras_explained

if TYPE_CHECKING:
    import pandas as pd

    from ckptsim.sim.rows import ViolationRow
    from ckptsim.sim.search import Subject


_LISTS = ("reached", "not reached")
_WIDEST = 120
_NARROWEST = 30
_INDENT = 6
_NUMBER = re.compile(r"-?$|-?[\d,.]+ ?(%|[a-zA-Z]{1,3})?$")


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table no wider than the terminal, with its last column wrapped.

    Where that is not enough the first one is, too, or the last one is below the others. Without a
    head (an empty one) there is no first line.  On a terminal a table with a head has a rule below
    it, and numbers on the right.
    """
    if head and os.isatty(1):
        return _ruled(head, rows)
    table = [tuple(row) for row in ([head, *rows] if head else rows)]
    columns = max((len(row) for row in table), default=1)
    widths = [max(len(row[i]) for row in table) for i in range(columns - 1)]
    least = min(_NARROWEST, max((len(row[-1]) for row in table), default=0))
    whole = min(_WIDEST, _columns())
    over = sum(widths) + 2 * len(widths) + least - whole
    below = over > 0 and columns > 1
    longest = max((len(word) for row in table for word in row[0].split()), default=0)
    if below and widths[0] - over >= longest:
        widths[0] -= over
        below = False
    left = min(_INDENT, whole // 4) if below else sum(widths) + 2 * len(widths)
    lines: list[str] = []
    for row in table:
        *cells, last = row
        first = _wrapped(cells[0], widths[0]) if cells else []
        parts = _wrapped(last, whole - left)
        if below and cells:
            lines.append("".join(_padded(cells, widths)).rstrip())
            lines.extend(" " * left + part for part in parts if part)
            continue
        for number, (label, part) in enumerate(zip_longest(first, parts, fillvalue="")):
            others = cells[1:] if not number else [""] * len(cells[1:])
            start = "".join(_padded([label, *others] if cells else [], widths))
            lines.append((start + part).rstrip())
    return lines


def _ruled(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    found = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, name in enumerate(head):
        cells = [row[place] for row in rows if place < len(row) and row[place]]
        right = place > 0 and all(_NUMBER.match(cell) for cell in cells)
        found.add_column(Text(name), justify="right" if right else "left", overflow="fold")
    for row in rows:
        found.add_row(*map(Text, row))
    console = Console(file=StringIO(), width=_columns(), color_system=None)
    with console.capture() as shown:
        console.print(found)
    return [line.rstrip() for line in shown.get().splitlines()]


def set_in(text: str, left: int) -> str:
    """Return a text for a column that begins after `left` others, no wider than the terminal."""
    whole = min(_WIDEST, _columns())
    return f"\n{'':<{left}}".join(_wrapped(text, max(_NARROWEST, whole - left)))


def paragraph(text: str) -> list[str]:
    """Return the lines of a text, no wider than the terminal, all but the first one set in."""
    return _wrapped(text, min(_WIDEST, _columns()), indent="  ")


def notes_lines(notes: Sequence[str]) -> list[str]:
    """Return the lines of notes below an answer, after an empty one where there are any."""
    lines = [""] if notes else []
    for note in notes:
        lines += paragraph(f"note: {note}")
    return lines


def size_text(value: float | None) -> str:
    """Return a size in bytes in a unit for people, `-` where none is known."""
    if value is None:
        return "-"
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= size:
            return f"{value / size:,.1f} {unit}"
    return f"{value:,.0f} B"


def _padded(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [f"{cell:<{width}}  " for cell, width in zip(cells, widths, strict=False)]


def _wrapped(text: str, width: int, *, indent: str = "") -> list[str]:
    """Return the lines of a text. indent: of all but the first one."""
    if len(text) <= width:
        return [text]
    return textwrap.wrap(
        text, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )


def _columns() -> int:
    return shutil.get_terminal_size((_WIDEST, 24)).columns if os.isatty(1) else _WIDEST


def table(pairs: Sequence[tuple[str, Any]]) -> str:
    """Return names and values as aligned lines. Long lists of situations are broken into lines."""
    width = max((len(name) for name, _ in pairs), default=0)
    texts = [set_in(str(value), width + 2) if name in _LISTS else value for name, value in pairs]
    return "\n".join(
        f"{name:<{width}}  {text}" for (name, _), text in zip(pairs, texts, strict=True)
    )


def ran_with(cores: Mapping[str, str], mutant: str | None) -> list[tuple[str, str]]:
    """Return the lines that say which cores were not ours. None where all were."""
    lines = [("core", f"{slot}={name}") for slot, name in sorted(cores.items())]
    return lines if mutant is None else [*lines, ("mutant", mutant)]


def setting_of(subject: Subject) -> list[tuple[str, str]]:
    """Return the lines about settings that differ from the defaults."""
    lines = ran_with(subject.names, subject.mutant)
    judging = subject.judging
    lines += [("not judged", ", ".join(judging.ignore))] if judging.ignore else []
    own = ", ".join(judging.property_names)
    return [*lines, ("judged too", own)] if own else lines


def violation_text(row: ViolationRow, *, replay: bool = True) -> str:
    """Return a violation as people read it: property, instant, story and the command."""
    concerned = "" if row.index is None else f" ({row.scope or 'checkpoint'}/{row.index})"
    times = f", {row.count} times" if row.count > 1 else ""
    lines = [f"  {line}" for line in row.story.splitlines()]
    at = duration_text(row.at_ns)
    return "\n".join(
        [
            f"VIOLATED {row.property} at {at}{concerned}{times}: {row.says}",
            *lines,
            *([f"replay: {row.replay}"] if replay and row.replay else []),
        ]
    )


def violation_texts(rows: Iterable[ViolationRow]) -> list[str]:
    """Return violations as people read them: per property one story, and no story twice."""
    told: dict[str, None] = {}
    texts: list[str] = []
    replay = None
    for row in rows:
        seen = {row.property, row.story} & told.keys()
        shown = dataclasses.replace(row, story="") if seen else row
        told.update(dict.fromkeys([row.property, row.story]))
        texts.append(violation_text(shown, replay=row.replay != replay))
        replay = row.replay
    return texts


_NS = "_ns"


def tidy(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with a timedelta64 in place of every column in nanoseconds.

    `duration_ns` becomes `duration`, or `duration_time` where that name is taken.  Where nothing is
    known there is NaT.
    """
    found = {}
    for column in frame.columns:
        name = str(column)
        bare = name.removesuffix(_NS)
        times = bare != name
        if times and bare in frame.columns:
            bare = f"{bare}_time"
        found[bare] = timedeltas(frame[column]) if times else frame[column]
    return type(frame)(found, index=frame.index)


def timedeltas(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return nanoseconds, with gaps or without, as timedelta64. Only means are rounded."""
    import numpy as np
    import pandas as pd

    rounded = values.round() if values.dtype.kind == "f" else values
    whole: Any = rounded.astype("Int64").array
    gaps = np.iinfo(np.int64).min  # numpy's NaT
    exact = whole.to_numpy("int64", na_value=gaps).view("m8[ns]")
    return pd.Series(exact, index=values.index, name=values.name)


def frame_of_rows(table: str, rows: Sequence[object]) -> pd.DataFrame:
    """Return rows as a tidy frame, in order. Raises UserError without the extra `sweeps`."""
    with extras_explained():
        from ckptsim.analysis.tables.frames import frame_of
        from ckptsim.analysis.tables.schema import arrow_table

        return tidy(frame_of(table, arrow_table(table, rows)))


def frame_of(rows: Sequence[Any], columns: Sequence[str] = ()) -> pd.DataFrame:
    """Return tuples or dictionaries as a frame. columns: of tuples, or of a frame without rows."""
    with extras_explained():
        import pandas as pd

        named = bool(rows) and isinstance(rows[0], dict)
        return pd.DataFrame(list(rows), columns=None if named else list(columns))


def ns_of(value: float | None, unit_ns: int) -> int | None:
    """Return a time in ns, None where it is not known."""
    return None if value is None else round(value * unit_ns)
