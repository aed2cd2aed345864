"""The timeline of one run: what every part did, and which checkpoints were pending when.

Drawn from a kept trace and the run's checkpoint rows alone. What an entry means, which entries
begin and end a span, is declared by the vocabulary beside the trace.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ckptsim.analysis.figures.latency import PARTS
from ckptsim.analysis.figures.style import GREY, GRID, INK, SKY, VERMILION, new_figure, styled
from ckptsim.analysis.figures.vector import tell
from ckptsim.analysis.words import Unit, time_in_words, time_unit
from ckptsim.sim.rows import CheckpointRow
from ckptsim.sim.story import Vocabulary, span_keys

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LANES_MAX = 12  # of one kind. More would be too thin to see
TEXT_CHARACTERS = 60  # of a line of a mark
LINE_POINTS = 9.6  # of a line of a mark
TOLD_MAX = 40  # bars of a row. Of more none could be pointed at
ROW_HEIGHT = 0.17  # inches
_LATE = 20  # spans of a window, after which its axis counts from near its begin
Entry = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """Something that lasts: one span, or one checkpoint from its trigger to its end."""

    begin_ns: int
    end_ns: int
    text: str
    parts: tuple[tuple[str, int], ...] = ()  # (what it waited for, ns), in turn
    completed: bool = True
    is_checkpoint: bool = False
    is_focus: bool = False


@dataclass(frozen=True, slots=True)
class Lane:
    """One labelled lane: bars in as many rows as overlap needs, or ticks in one row."""

    label: str
    rows: tuple[tuple[Bar, ...], ...] = ()
    ticks: tuple[int, ...] = ()
    left_out: int = 0


@styled
def timeline(
    trace: Sequence[Entry],
    vocabulary: Vocabulary,
    checkpoints: Sequence[CheckpointRow],
    *,
    window_ns: tuple[int, int] | None = None,
    focus: CheckpointRow | None = None,
) -> Figure:
    """Draw one run, or the part of it in a window of simulated time.

    focus: a checkpoint that is outlined, and drawn however many others there are.

    One lane of ticks per part that acts at instants, one lane per kind of span, one lane per scope
    for its checkpoints, coloured by what each waited for. Faults and attempts are vertical lines.
    """
    begin, end = window_ns or (0, max([int(entry[0]) for entry in trace], default=1))
    lanes = [
        *ticks_of(trace, vocabulary, begin, end),
        *spans_of(trace, vocabulary, begin, end),
        *checkpoints_of(checkpoints, cuts_of(trace, vocabulary), (begin, end), focus),
    ]
    lanes = [lane for lane in lanes if lane.rows or lane.ticks]
    heights = [max(1, len(lane.rows)) for lane in lanes]
    figure = new_figure(1.7 + ROW_HEIGHT * (sum(heights) + 0.6 * len(lanes)))
    ax = figure.add_subplot()
    unit, origin_ns = scale_of(begin, end)
    middles = []
    top = 0.0
    for lane, height in zip(lanes, heights, strict=True):
        _draw_lane(ax, lane, top, unit)
        middles.append(top + height / 2)
        top += height + 0.6
        ax.axhline(top - 0.3, color=GRID, linewidth=0.5)
    _draw_marks(ax, trace, vocabulary, unit=unit, window=(begin, end))
    ax.set_yticks(middles, [lane.label for lane in lanes])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(max(top, 1.0) - 0.3, -0.3)
    ax.set_xlim(begin / unit.size, end / unit.size)
    ax.grid(visible=False, axis="y")
    since = f" since {origin_ns / 1e9:,.9g} s" if origin_ns else ""
    ax.set_xlabel(f"simulated time [{unit.name}]{since}")
    ax.xaxis.set_major_formatter(lambda at, _: f"{round(at - origin_ns / unit.size, 6):,.6g}")
    bars = [bar for lane in lanes for row in lane.rows for bar in row]
    figure.legend(handles=_legend(bars), loc="outside lower left", ncols=3)
    return figure


def scale_of(begin_ns: int, end_ns: int) -> tuple[Unit, int]:
    """Return the unit of a window's axis and the round instant in ns that it counts from.

    A short window late in a run counts from near its begin: its digits would all be alike.
    """
    span = end_ns - begin_ns
    if _LATE * span >= end_ns:
        return time_unit([end_ns]), 0
    unit = time_unit([span])
    step = 1000 * int(unit.size)
    return unit, begin_ns // step * step


def ticks_of(trace: Sequence[Entry], vocabulary: Vocabulary, begin: int, end: int) -> list[Lane]:
    """Return a lane of instants for every part, in the order of their names."""
    found: dict[str, list[int]] = {}
    for entry in trace:
        telling = vocabulary.get(str(entry[1]))
        is_plain = telling is not None and not (telling.begins or telling.ends or telling.always)
        if is_plain and begin <= entry[0] <= end:
            found.setdefault(str(entry[2]), []).append(int(entry[0]))
    return [Lane(name, ticks=tuple(found[name])) for name in sorted(found)][:LANES_MAX]


def marks_of(trace: Sequence[Entry], vocabulary: Vocabulary) -> list[int]:
    """Return the instants at which something concerned everything, such as a crash, ascending."""
    return sorted({int(entry[0]) for entry in trace if _is_mark(entry, vocabulary)})


def cuts_of(trace: Sequence[Entry], vocabulary: Vocabulary) -> list[int]:
    """Return the instants at which something concerned everything, ascending, and the last one.

    Spans without an end are drawn up to there.
    """
    last = max([int(entry[0]) for entry in trace], default=0)
    return [*marks_of(trace, vocabulary), last]


def _is_mark(entry: Entry, vocabulary: Vocabulary) -> bool:
    telling = vocabulary.get(str(entry[1]))
    return telling is not None and telling.always


def _cut(since_ns: int, cuts: Sequence[int]) -> int:
    return next((cut for cut in cuts if cut > since_ns), max(since_ns, cuts[-1]))


def spans_of(trace: Sequence[Entry], vocabulary: Vocabulary, begin: int, end: int) -> list[Lane]:
    """Return a lane for every kind of span."""
    cuts = cuts_of(trace, vocabulary)
    begun: dict[tuple[str, ...], int] = {}
    found: dict[str, list[Bar]] = {}
    for entry in trace:
        telling = vocabulary.get(str(entry[1]))
        if telling is None:
            continue
        named = telling.named(entry)
        for key in span_keys(telling.ends, named, entry[2]):
            if key in begun:
                bar = Bar(begun.pop(key), int(entry[0]), "/".join(key[1:]))
                found.setdefault(key[0], []).append(bar)
        for key in span_keys(telling.begins, named, entry[2]):
            begun[key] = int(entry[0])
    for key, since in begun.items():
        bar = Bar(since, _cut(since, cuts), "/".join(key[1:]), completed=False)
        found.setdefault(key[0], []).append(bar)
    return [_lane(name, found[name], begin, end) for name in sorted(found)]


def checkpoints_of(
    rows: Sequence[CheckpointRow],
    cuts: Sequence[int],
    window: tuple[int, int],
    focus: CheckpointRow | None = None,
) -> list[Lane]:
    """Return a lane for every scope with its checkpoints from trigger to completion."""
    scopes: dict[str, list[Bar]] = {}
    for row in rows:
        completed = row.completed_ns is not None
        until = _cut(row.triggered_ns, cuts) if row.completed_ns is None else row.completed_ns
        parts = tuple(
            (part, getattr(row, part) or 0) for part in PARTS if getattr(row, part) is not None
        )
        bar = Bar(
            row.triggered_ns,
            until,
            str(row.checkpoint_id),
            parts,
            completed,
            is_checkpoint=True,
            is_focus=row is focus,
        )
        scopes.setdefault(row.scope, []).append(bar)
    return [
        _lane("checkpoints" if scope == "*" else f"checkpoints\nof {scope}", bars, *window)
        for scope, bars in scopes.items()
    ]


def _lane(label: str, bars: Iterable[Bar], begin: int, end: int) -> Lane:
    """Put bars into rows so that none overlap, the earliest first. That in focus is never out."""
    rows: list[list[Bar]] = []
    left_out = 0
    for bar in sorted(bars, key=lambda bar: (bar.begin_ns, bar.end_ns)):
        if bar.end_ns < begin or bar.begin_ns > end:
            continue
        row = next((row for row in rows if row[-1].end_ns <= bar.begin_ns), None)
        if row is not None:
            row.append(bar)
        elif len(rows) < LANES_MAX or bar.is_focus:
            rows.append([bar])
        else:
            left_out += 1
    shown = f"{label}\n({left_out} more)" if left_out else label
    return Lane(shown, rows=tuple(tuple(row) for row in rows), left_out=left_out)


def _draw_lane(ax: Axes, lane: Lane, top: float, unit: Unit) -> None:
    if lane.ticks:
        at = [time / unit.size for time in lane.ticks]
        ax.vlines(at, top + 0.1, top + 0.9, color=INK, linewidth=0.8)
    kind = lane.label.replace("\n", " ")
    for number, row in enumerate(lane.rows):
        for bar in row:
            _draw_bar(ax, bar, top + number, unit)
        for bar in row if len(row) <= TOLD_MAX else ():
            middle = (bar.begin_ns + bar.end_ns) / 2 / unit.size
            lasted = time_in_words(bar.end_ns - bar.begin_ns)
            tell(ax, middle, top + number + 0.5, f"{kind} {bar.text}: {lasted}")


def _draw_bar(ax: Axes, bar: Bar, top: float, unit: Unit) -> None:
    begin, end = bar.begin_ns / unit.size, bar.end_ns / unit.size
    box: dict[str, Any]
    if not bar.completed:
        box = {"facecolor": "white", "edgecolor": GREY, "hatch": "////", "linewidth": 0.6}
    else:
        box = {"facecolor": SKY, "edgecolor": "white", "linewidth": 0.4}
    ax.barh(top + 0.5, end - begin, 0.8, left=begin, **box)
    left = begin
    for part, length in bar.parts if bar.completed else ():
        _, color, _ = PARTS[part]
        ax.barh(top + 0.5, length / unit.size, 0.8, left=left, color=color, linewidth=0)
        left += length / unit.size
    if bar.is_checkpoint and bar.completed:
        ax.plot(end, top + 0.5, marker="D", color=INK, markersize=3, linestyle="none")
    if bar.is_focus:
        ax.barh(
            top + 0.5, end - begin, 0.94, left=begin, facecolor="none", edgecolor=INK, lw=1.6,
            zorder=4,
        )  # fmt: skip


def _draw_marks(
    ax: Axes,
    trace: Sequence[Entry],
    vocabulary: Vocabulary,
    *,
    unit: Unit,
    window: tuple[int, int],
) -> None:
    """Draw what concerns everything, such as crashes, as lines across all lanes."""
    texts: dict[int, list[str]] = {}
    for entry in trace:
        if _is_mark(entry, vocabulary) and window[0] <= entry[0] <= window[1]:
            said = vocabulary[str(entry[1])].sentence(entry).removesuffix(": -")
            texts.setdefault(int(entry[0]), []).append(said)
    drawn = [(time, lines) for time, lines in texts.items() if time != window[0]]
    for time, _ in drawn:
        ax.axvline(time / unit.size, color=VERMILION, linewidth=1.2, linestyle="--")
    # Each text has lines of its own above the axes, the last mark's lowest: none can meet another.
    marks = _merged(drawn, window)
    below = 0
    for time, lines in reversed(marks):
        at_right = time > (window[0] + window[1]) / 2
        ax.annotate(
            "\n".join(lines),
            (time / unit.size, 1.0),
            (-3 if at_right else 3, 3 + LINE_POINTS * below),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="right" if at_right else "left",
            fontsize=7.5,
            color=VERMILION,
        )
        below += len(lines)


def _merged(
    marks: Sequence[tuple[int, list[str]]], window: tuple[int, int]
) -> list[tuple[int, list[str]]]:
    """Return the texts of marks in lines. The ones of marks at almost the same place together."""
    merged: list[tuple[int, list[str]]] = []
    near = (window[1] - window[0]) // 100
    for time, texts in marks:
        lines = [part for text in texts for part in textwrap.wrap(text, TEXT_CHARACTERS)]
        if merged and time - merged[-1][0] <= near:
            merged[-1][1].extend(lines)
        else:
            merged.append((time, lines))
    return merged


def _legend(bars: Sequence[Bar]) -> list[Any]:
    """Return the entries for everything that is drawn."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    waits = [Patch(facecolor=color, label=f"waits {label}") for label, color, _ in PARTS.values()]
    hatched = Patch(facecolor="white", edgecolor=GREY, hatch="////", label="not finished")
    return [
        *(waits if any(bar.parts for bar in bars) else ()),
        Line2D([], [], marker="D", color=INK, linestyle="none", ms=4, label="completed"),
        *([] if all(bar.completed for bar in bars) else [hatched]),
        Patch(facecolor=SKY, label="under way"),
    ]
