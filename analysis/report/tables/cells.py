"""Tables of a report: columns, cells that are read and sorted, rows, parts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

import pandas as pd

from ckptsim.analysis.summaries import Summaries
from ckptsim.analysis.words import plain_number, point_label, time_in_words

Kind = Literal["text", "number", "command"]
Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """A column's heading and how its cells are set."""

    name: str
    kind: Kind = "number"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as it is read, and the number that it is sorted by, if it is one."""

    text: str
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of a row. A marked row is set off."""

    cells: tuple[Cell, ...]
    marked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TitledTable:
    """A table with a title and a sentence."""

    title: str
    says: str
    columns: tuple[Column, ...]
    rows: list[Row]


def titled(
    title: str, says: str, columns: str, rows: Iterable[Row | tuple[Cell, ...]]
) -> TitledTable:
    """Return a table. columns: headings apart by `|`, each perhaps with `:text` or `:command`."""
    heads = (head.partition(":") for head in columns.split("|"))
    return TitledTable(
        title=title,
        says=says,
        columns=tuple(Column(name, cast("Kind", kind or "number")) for name, _, kind in heads),
        rows=[row if isinstance(row, Row) else Row(row) for row in rows],
    )


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as mappings from column to value."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def key_of(row: Record) -> tuple[str, str]:
    """Return what distinguish points."""
    return row["scenario"], row["parameters"]


def label(findings: Summaries, row: Record) -> str:
    """Return a point in words."""
    return point_label(row["parameters"], findings.axes) or str(row["scenario"])


def word(text: object) -> Cell:
    """Return a cell that is sorted by its text."""
    return Cell(str(text))


def count(value: float, text: str | None = None) -> Cell:
    """Return a cell with a number, thousands apart."""
    return Cell(text or plain_number(value), float(value))


def time(value_ns: float | None) -> Cell:
    """Return a cell with a time in the unit in which it is read most easily."""
    known = value_ns is not None and not math.isnan(value_ns)
    return Cell(time_in_words(value_ns), float(value_ns or 0.0) if known else math.inf)
