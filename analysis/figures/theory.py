"""Figures beside what theory says of them: against a swept parameter, and against each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from ckptsim.analysis.figures.style import DASHES, GREY, LINES, MARKERS, new_figure, styled
from ckptsim.analysis.figures.swept import evenly, label_swept, scale_axis, with_axis
from ckptsim.analysis.figures.vector import tell
from ckptsim.analysis.words import point_label, unit_of
from ckptsim.scenarios.planning import METRICS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINES_MAX = len(LINES)
LEGEND_CHARACTERS = 70  # of a line


@styled
def against_theory(
    table: pd.DataFrame, axis: str, others: Sequence[str], figures: Sequence[str]
) -> Figure:
    """Draw figures of runs against a swept parameter, one line per value of the others.

    table: the columns of `intervals` and `expected`, empty without a closed form.
    """
    figure = new_figure(3.6, width=7.2 if len(figures) > 1 else 5.4)
    drawn = figure.subplots(1, len(figures), squeeze=False)[0]
    for ax, name in zip(drawn, figures, strict=True):
        rows = with_axis(_in_unit(table[table["metric"] == name]), axis)
        rows = rows.sort_values("x", kind="stable")
        for place, (label, line) in enumerate(_lines(rows, others)):
            _draw_line(ax, line, place, label)
        counts = label_swept(ax, rows, width=4.6 / len(figures))
        scale = scale_axis(ax, rows["mean"].to_numpy(), vertical=True)
        ax.set_xlabel(f"{axis}\n{counts}")
        ax.set_title(_title(table, name, scale), fontsize=9)
        for (_, row), (_, said) in zip(rows.iterrows(), _said(rows, others), strict=True):
            tell(ax, row["x"], row["mean"], said)
    _legend(figure, drawn[0])
    return figure


@styled
def trade_off(
    table: pd.DataFrame, axis: str, others: Sequence[str], across: str, ups: Sequence[str]
) -> Figure:
    """Draw figures of runs against another one, along a swept parameter, a panel per figure.

    table: the columns of `intervals` and `expected`.  There is one line per value of the other
    parameters. What theory says is a thin line under it with the same dashes.
    """
    figure = new_figure(1.2 + 3.2 * len(ups))
    panels = figure.subplots(len(ups), 1, squeeze=False)[:, 0]
    counts: list[int] = []
    for ax, up in zip(panels, ups, strict=True):
        wide = _wide(table, axis, (across, up))
        for place, (label, line) in enumerate(_lines(wide, others)):
            _draw_trade(ax, line, (across, up), place, label)
        scale_across = scale_axis(ax, wide[f"{across} mean"].to_numpy())
        scale_up = scale_axis(ax, wide[f"{up} mean"].to_numpy(dtype=float), vertical=True)
        if ax is panels[0]:
            _name_marks(ax, wide, across, up)
        ax.set_xlabel(_title(table, across, scale_across))
        ax.set_ylabel(_title(table, up, scale_up))
        names = _title(table, across), _title(table, up)
        for _, row in wide.iterrows():
            x, y = row[f"{across} mean"], row[f"{up} mean"]
            name = point_label(row["parameters"], [axis, *others])
            tell(ax, x, y, f"{name}: {names[0]} {x:.3g}, {names[1]} {y:.3g}")
        counts += wide["n"].tolist()
    low, high = min(counts), max(counts)
    _legend(figure, panels[0], title=f"n = {low}" if low == high else f"n = {low} to {high}")
    return figure


def _draw_trade(
    ax: Axes, line: pd.DataFrame, figures: tuple[str, str], place: int, label: str
) -> None:
    across, up = figures
    known = line.dropna(subset=[f"{across} expected", f"{up} expected"])
    ax.plot(
        known[f"{across} expected"],
        known[f"{up} expected"],
        color=GREY,
        ls=DASHES[place],
        lw=1,
        label="on paper" if place == 0 else None,
    )
    ax.errorbar(
        line[f"{across} mean"],
        line[f"{up} mean"],
        xerr=_errors(line, f"{across} "),
        yerr=_errors(line, f"{up} "),
        color=LINES[place],
        marker=MARKERS[place],
        ms=5,
        ls="",
        capsize=2,
        label=label,
    )


def _name_marks(ax: Axes, wide: pd.DataFrame, across: str, up: str) -> None:
    """Write its swept value right of each mark, where none is written near."""
    wide = wide.sort_values(f"{across} mean", ascending=False, kind="stable")
    places = wide[[f"{across} mean", f"{up} mean"]].to_numpy(dtype=float)
    named: list[npt.NDArray[np.float64]] = []
    for place, shown in zip(places, wide["shown"], strict=True):
        pixels = ax.transData.transform(place)
        if any(abs(x - pixels[0]) < 60 and abs(y - pixels[1]) < 18 for x, y in named):
            continue
        named.append(pixels)
        ax.annotate(str(shown), tuple(place), (6, 4), textcoords="offset points", fontsize=7)


def _wide(table: pd.DataFrame, axis: str, figures: Sequence[str]) -> pd.DataFrame:
    """Return one row per point that has all the figures, along the axis."""
    wide = pd.DataFrame()
    for name in figures:
        rows = _in_unit(table[table["metric"] == name]).set_index(["scenario", "parameters"])
        part = rows[["n", "mean", "low", "high", "expected"]].add_prefix(f"{name} ")
        wide = part if wide.empty else wide.join(part, how="inner")
    counts = [column for column in wide.columns if column.endswith(" n")]
    wide = wide.assign(n=wide[counts].min(axis=1))  # some runs have no crash
    return with_axis(wide.reset_index(), axis).sort_values("x", kind="stable")


def _lines(rows: pd.DataFrame, others: Sequence[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of each combination of the other parameters, with its label.

    They come in the order of the points of the sweep.
    """
    labels = [point_label(text, others) for text in rows["parameters"]]
    groups = list(rows.assign(line=labels).groupby("line", sort=False))
    for label, line in evenly(groups, LINES_MAX):
        yield str(label) or "simulated", line


def _draw_line(ax: Axes, line: pd.DataFrame, place: int, label: str) -> None:
    known = line.dropna(subset=["expected"])
    first = "on paper" if place == 0 else None
    ax.plot(known["x"], known["expected"], color=GREY, ls=DASHES[place], lw=1, label=first)
    ax.errorbar(
        line["x"],
        line["mean"],
        _errors(line, ""),
        label=label,
        color=LINES[place],
        marker=MARKERS[place],
        ms=5,
        ls="",
        capsize=2,
    )


def _errors(line: pd.DataFrame, prefix: str) -> npt.NDArray[np.float64]:
    """Return the lengths of the intervals below and above the means, shaped (2, points)."""
    mean, low, high = (
        line[f"{prefix}{column}"].to_numpy(dtype=float) for column in ("mean", "low", "high")
    )
    errors: npt.NDArray[np.float64] = np.nan_to_num(np.vstack([mean - low, high - mean]))
    # A logarithmic axis has no room below zero for the lower end of a wide interval.
    errors[0] = np.minimum(errors[0], 0.9 * mean)
    return errors


def _title(table: pd.DataFrame, name: str, scale: str = "") -> str:
    """Return what a figure is, with its unit and its scale."""
    unit = unit_of(name, table.loc[table["metric"] == name, "mean"])
    inside = f"{unit.name}{scale}".removeprefix(", ")
    return METRICS[name].says + (f" [{inside}]" if inside else "")


def _said(rows: pd.DataFrame, others: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield for each row its point and what it says."""
    for _, row in rows.iterrows():
        name = ", ".join(filter(None, [point_label(row["parameters"], others), row["shown"]]))
        paper = "" if pd.isna(row["expected"]) else f", on paper {row['expected']:.3g}"
        yield name, f"{name}: {row['mean']:.3g} ({row['low']:.3g} to {row['high']:.3g}){paper}"


def _in_unit(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of one figure in the unit of its title."""
    size = 1.0 if rows.empty else unit_of(rows["metric"].iloc[0], rows["mean"]).size
    return rows.assign(**{name: rows[name] / size for name in ("mean", "low", "high", "expected")})


def _legend(figure: Figure, ax: Axes, *, title: str | None = None) -> None:
    handles, names = ax.get_legend_handles_labels()
    columns = max(1, min(2, LEGEND_CHARACTERS // max(map(len, names), default=1)))
    figure.legend(
        handles, names, loc="outside lower left", ncols=columns, title=title, alignment="left"
    )
