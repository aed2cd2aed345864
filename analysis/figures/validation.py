"""Figures of predictions beside measurements: all cells, and runs by the checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ckptsim.analysis.figures import style
from ckptsim.analysis.words import count_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RELATIVE = 0.10
ABSOLUTE_MS = 20.0
_COLUMNS = 2


@style.styled
def predicted_and_measured(pairs: pd.DataFrame) -> Figure:
    """Draw predicted against measured durations, with what counts as right around equality.

    pairs: columns `family`, `mode`, `predicted` and `measured` in ms.  Colours are families, marks
    are modes.
    """
    figure = style.new_figure(4.4)
    ax = figure.add_subplot()
    values = pairs[["predicted", "measured"]].to_numpy()
    values = values[values > 0]
    low, high = (values.min() / 1.6, values.max() * 1.6) if len(values) else (1.0, 1000.0)
    line = np.geomspace(low, high, 200)
    bound = np.maximum(RELATIVE * line, ABSOLUTE_MS)
    ax.fill_between(
        line, np.maximum(line - bound, low), line + bound, color=style.GREY, alpha=0.18, lw=0,
        label=f"within {100 * RELATIVE:g} % or {ABSOLUTE_MS:g} ms",
    )  # fmt: skip
    ax.plot(line, line, color=style.GREY, lw=1)
    colors = dict(zip(sorted(set(pairs["family"])), style.LINES * len(pairs), strict=False))
    marks = dict(zip(sorted(set(pairs["mode"])), style.MARKERS * len(pairs), strict=False))
    for (family, mode), group in pairs.groupby(["family", "mode"], sort=True):
        ax.plot(
            group["measured"].clip(lower=low), group["predicted"].clip(lower=low),
            marker=marks[mode], color=colors[family], ls="none", ms=5.5, alpha=0.75, mew=0,
        )  # fmt: skip
    for family, color in colors.items():
        n = count_label(int((pairs["family"] == family).sum()))
        ax.plot([], [], "o", color=color, ms=5.5, mew=0, label=f"{family} ({n})")
    for mode, marker in marks.items():
        n = count_label(int((pairs["mode"] == mode).sum()))
        ax.plot([], [], marker, color=style.BLACK, ms=5.5, mfc="none", label=f"{mode} ({n})")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(low, high)
    ax.set_ylim(low, high)
    ax.set_aspect("equal")
    ax.set_xlabel("measured median duration [ms, log scale]")
    ax.set_ylabel("predicted median duration [ms, log scale]")
    figure.legend(loc="outside right upper")
    return figure


@style.styled
def sequences(table: pd.DataFrame) -> Figure:
    """Draw the durations of runs checkpoint by checkpoint, a panel for each run.

    table: columns `run_id`, `index` (1, 2, ...), `measured`, `predicted`, `least`, `most` (over
    seeds) and `told` (with the measured pauses known), all in ms.
    """
    runs = list(table.groupby("run_id", sort=False))
    columns = min(_COLUMNS, len(runs))
    rows = -(-len(runs) // columns)
    figure = style.new_figure(0.7 + 2.3 * rows)
    panels = figure.subplots(rows, columns, squeeze=False)
    for ax, (run_id, group) in zip(panels.flat, runs, strict=False):
        _sequence(ax, group)
        ax.set_title(f"{run_id} ({count_label(len(group))})", loc="left", fontsize=8)
    for ax in panels.flat[len(runs) :]:
        ax.remove()
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower left", ncols=4)
    return figure


def _sequence(ax: Axes, rows: pd.DataFrame) -> None:
    from matplotlib.ticker import MaxNLocator

    x = rows["index"].to_numpy()
    ax.fill_between(x, rows["least"], rows["most"], color=style.BLUE, alpha=0.18, lw=0)
    ax.plot(x, rows["measured"], "o-", color=style.BLACK, ms=3.5, lw=1.2, label="measured")
    ax.plot(
        x, rows["predicted"], "s--", color=style.BLUE, ms=3, lw=1, label="predicted (band: seeds)"
    )
    ax.plot(
        x, rows["told"], "^:", color=style.VERMILION, ms=3.5, lw=1.2, label="with measured pauses"
    )
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("checkpoint")
    ax.set_ylabel("duration [ms]")
