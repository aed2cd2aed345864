"""How long jobs take to finish after the end of their input, and with how many checkpoints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ckptsim.analysis.figures.style import DASHES, LINES, MARKERS, WIDTH, new_figure, styled
from ckptsim.analysis.figures.swept import evenly, label_swept, with_axis
from ckptsim.analysis.words import axis_title, point_label, unit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST_OF_TWO = 45  # characters of a label that fits beside another
FINISHING = ("finishing_ns", "finishing_checkpoints")


@styled
def time_to_finish(intervals: pd.DataFrame, axis: str, others: Sequence[str]) -> Figure:
    """Draw the time to finish, and the checkpoints that it took, against one swept parameter.

    intervals: the summary `intervals`, of points that differ in `axis` and `others` only. There is
    one line per combination of the others, with 95 % intervals where there are replications.
    """
    table = with_axis(intervals[intervals["metric"].isin(FINISHING)], axis)
    labels = [point_label(text, others) if others else "" for text in table["parameters"]]
    names = evenly(list(dict.fromkeys(labels)), len(LINES))
    columns = 1 if max(map(len, names)) > LONGEST_OF_TWO else 2
    figure = new_figure(2.8 + 0.17 * math.ceil(len(names) / columns))
    panels = figure.subplots(1, len(FINISHING))
    for ax, metric in zip(panels, FINISHING, strict=True):
        rows = table.assign(line=labels)[table["metric"] == metric]
        _draw(ax, rows, names, metric)
        counts = label_swept(ax, rows.drop_duplicates("x"), width=0.4 * WIDTH)
        ax.set_xlabel(f"{axis}  {counts}")
        ax.set_ylim(0, None)
    if others:
        handles, found = panels[0].get_legend_handles_labels()
        figure.legend(handles, found, loc="outside lower left", ncols=columns)
    return figure


def _draw(ax: Axes, rows: pd.DataFrame, names: Sequence[str], metric: str) -> None:
    unit = unit_of(metric, rows["mean"] / 5)
    for place, name in enumerate(names):
        line = rows[rows["line"] == name].sort_values("x")
        mean = line["mean"] / unit.size
        errors = np.vstack([mean - line["low"] / unit.size, line["high"] / unit.size - mean])
        ax.errorbar(
            line["x"],
            mean,
            np.nan_to_num(errors),
            color=LINES[place],
            linestyle=DASHES[place],
            marker=MARKERS[place],
            markersize=4,
            linewidth=1.4,
            label=name,
        )
    ax.set_title(axis_title(metric, unit), fontsize=9)
