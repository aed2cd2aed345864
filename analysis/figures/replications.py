"""How each point differs from a baseline, paired by seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ckptsim.analysis.figures.style import GREY, VERMILION, new_figure, styled
from ckptsim.analysis.figures.swept import evenly
from ckptsim.analysis.figures.vector import tell
from ckptsim.analysis.words import count_label, in_lines, point_label, unit_of, with_interval
from ckptsim.scenarios.planning import METRICS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS_MAX = 16
LABEL_CHARACTERS = 40  # of a line beside a row
TITLE_CHARACTERS = 88


@styled
def paired_differences(
    differences: pd.DataFrame, axes: Sequence[str], metric: str, *, baseline: str
) -> Figure:
    """Draw how each point differs from the baseline, paired by seed, with 95 % intervals.

    differences: the summary `differences`. baseline: the name of that point.  An interval that
    excludes zero is drawn filled.
    """
    table = differences[differences["metric"] == metric]
    rows = evenly([row for _, row in table.iterrows()], ROWS_MAX)
    labels = [in_lines(point_label(row["parameters"], axes), LABEL_CHARACTERS) for row in rows]
    title = in_lines(f"{METRICS[metric].says}: difference to {baseline}", TITLE_CHARACTERS)
    lines = max(label.count("\n") + 1 for label in labels)
    figure = new_figure(1.1 + (0.18 + 0.14 * lines) * len(rows) + 0.16 * title.count("\n"))
    figure.suptitle(title[:1].upper() + title[1:], fontsize=9, x=0.01, ha="left")
    ax = figure.add_subplot()
    unit = unit_of(metric, [max(abs(row["low"]), abs(row["high"])) for row in rows])
    ax.axvline(0, color=GREY, linewidth=1)
    for place, row in enumerate(rows):
        clear = row["low"] > 0 or row["high"] < 0
        ax.errorbar(
            row["mean"] / unit.size,
            place,
            xerr=np.nan_to_num(np.array([[row["high"] - row["mean"]]])) / unit.size,
            color=VERMILION if clear else GREY,
            marker="o",
            markerfacecolor=VERMILION if clear else "white",
            capsize=3,
        )
        says = with_interval(metric, row["mean"], row["low"], row["high"])
        name = point_label(row["parameters"], axes)
        tell(ax, row["mean"] / unit.size, place, f"{name} minus {baseline}: {says}")
        ax.annotate(
            count_label(row["n"]),
            (1.0, place),
            (4, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
        )
    ax.set_yticks(range(len(rows)), labels, fontsize=8.5)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.locator_params(axis="x", nbins=5)
    ax.grid(visible=False, axis="y")
    ax.set_xlabel(f"difference to the baseline{f' [{unit.name}]' if unit.name else ''}")
    return figure
