"""Percentiles of checkpoint durations along one swept parameter, all on one pair of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from ckptsim.analysis.figures.style import DASHES, LINES, MARKERS, new_figure, styled
from ckptsim.analysis.figures.swept import evenly, label_swept, scale_axis, with_axis
from ckptsim.analysis.figures.vector import tell
from ckptsim.analysis.words import count_label, point_label, time_in_words, time_unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MIDDLE, HIGH = 0.5, 0.95


@styled
def percentile_lines(quantiles: pd.DataFrame, axis: str, others: Sequence[str] = ()) -> Figure:
    """Draw the median and the 95th percentile of durations, a pair of lines per combination.

    quantiles: as `latency` of the summaries, of points that differ in `axis` and `others` only. The
    legend has the n of each pair. A line stops where too few completed to know.
    """
    table = with_axis(quantiles[quantiles["probability"].isin((MIDDLE, HIGH))], axis)
    table = table.assign(line=[point_label(text, others) for text in table["parameters"]])
    unit = time_unit(table["latency_ns"])
    figure = new_figure(3.6)
    ax = figure.add_subplot()
    lines = evenly(list(table.groupby("line", sort=False)), len(LINES))
    for (key, line), color, dashes, marker in zip(lines, LINES, DASHES, MARKERS, strict=False):
        name = str(key)
        counts = sorted(set(line["n"]))
        n = count_label(counts[0]) if len(counts) == 1 else f"n = {counts[0]:,} to {counts[-1]:,}"
        for probability, part in line.groupby("probability"):
            rows = part.sort_values("x")
            middle = probability == MIDDLE
            label = "median" if middle else "95 %"
            y = rows["latency_ns"] / unit.size
            ax.plot(
                rows["x"], y, color=color, ls=dashes, marker=marker, ms=5 if middle else 3,
                lw=1.6 if middle else 0.8, mfc=color if middle else "white",
                label=f"{name}: {label} ({n})" if name else f"{label} ({n})",
            )  # fmt: skip
            for _, row in rows[rows["latency_ns"].notna()].iterrows():
                says = f"{row['shown']}: {label} {time_in_words(row['latency_ns'])}, n = {row['n']}"
                tell(ax, row["x"], row["latency_ns"] / unit.size, says)
    scale = scale_axis(ax, table["latency_ns"].to_numpy(dtype=float) / unit.size, vertical=True)
    places = table.drop_duplicates("x")
    counts_text = label_swept(ax, places.assign(n=places["n"].iloc[0]), width=5.0)
    logarithmic = ", log scale" if "log scale" in counts_text else ""
    ax.set_xlabel(f"{axis}{logarithmic}")
    ax.set_ylabel(f"checkpoint duration [{unit.name}{scale}]")
    figure.legend(loc="outside lower left", ncols=2)
    return figure
