"""Figures about jobs of a real engine: recorded checkpoints, comparisons, the cost of intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ckptsim.analysis.figures import style
from ckptsim.analysis.words import count_label, in_lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LABEL_CHARACTERS = 44  # of a line beside a row
_PARTS = (
    ("start delay", style.BLUE, ""),
    ("alignment", style.ORANGE, "//"),
    ("asynchronous", style.GREEN, ".."),
)


@style.styled
def recorded_durations(
    measured: Sequence[tuple[int, float]], simulated: Sequence[tuple[int, float]]
) -> Figure:
    """Draw durations by checkpoint. measured, simulated: number and seconds of each."""
    figure = style.new_figure(3.2)
    ax = figure.add_subplot()
    drawn = (("simulated", simulated, style.BLUE, "."), ("measured", measured, style.INK, "o"))
    for name, pairs, color, marker in drawn:
        if pairs:
            ax.plot(
                [number for number, _ in pairs],
                [seconds for _, seconds in pairs],
                marker,
                color=color,
                ms=4,
                label=f"{name} ({count_label(len(pairs))})",
            )
    ax.set_ylim(0, None)
    ax.set_xlabel("checkpoint")
    ax.set_ylabel("duration [s]")
    figure.legend(loc="outside lower left", ncols=2)
    return figure


@style.styled
def compared_durations(rows: Sequence[tuple[str, Mapping[str, float]]]) -> Figure:
    """Draw median and 95th percentile of each row, with its n.

    rows: a label, and statistics in ms with `n`, `median` and `p95`.
    """
    figure = style.new_figure(1.4 + 0.36 * len(rows))
    ax = figure.add_subplot()
    for place, (_, stats) in enumerate(rows):
        if not stats["n"]:
            continue
        low, high = stats["median"], stats["p95"]
        ax.plot([low, high], [place, place], color=style.SKY, lw=3, zorder=1)
        first = place == 0
        ax.plot([low], [place], "o", color=style.INK, label="median" if first else None)
        ax.plot([high], [place], "|", color=style.BLUE, ms=12, label="95 %" if first else None)
        says = count_label(int(stats["n"]))
        ax.annotate(says, (high, place), (6, 0), textcoords="offset points", va="center")
    labels = [in_lines(label, _LABEL_CHARACTERS) for label, _ in rows]
    ax.set_yticks(range(len(rows)), labels, fontsize=8)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.margins(x=0.12)
    ax.set_xlim(0, None)
    ax.grid(visible=False, axis="y")
    ax.set_xlabel("checkpoint duration [ms]")
    figure.legend(loc="outside lower left", ncols=2)
    return figure


@style.styled
def compared_parts(rows: Sequence[tuple[str, Mapping[str, float]]]) -> Figure:
    """Draw the parts of a checkpoint, in turn. rows: a label, and ms by the name of the part."""
    figure = style.new_figure(1.4 + 0.36 * len(rows))
    ax = figure.add_subplot()
    left = [0.0] * len(rows)
    for part, color, hatch in _PARTS:
        width = [parts.get(part, 0.0) for _, parts in rows]
        ax.barh(
            range(len(rows)), width, left=left, color=color, hatch=hatch, edgecolor="white",
            lw=0.5, label=part,
        )  # fmt: skip
        left = [before + more for before, more in zip(left, width, strict=True)]
    labels = [in_lines(label, _LABEL_CHARACTERS) for label, _ in rows]
    ax.set_yticks(range(len(rows)), labels, fontsize=8)
    ax.invert_yaxis()
    ax.grid(visible=False, axis="y")
    ax.set_xlabel("of the checkpoint of median duration [ms]")
    figure.legend(loc="outside lower left", ncols=3)
    return figure


@style.styled
def cost_of_intervals(
    lines: Sequence[tuple[str, Sequence[tuple[float, float]], float]],
    advised: tuple[float, float] | None,
) -> Figure:
    """Draw the cost of intervals. lines: a mode, its (seconds, share) pairs, and Young's interval.

    advised: the pair that is advised, None where there is none.
    """
    figure = style.new_figure(3.6)
    ax = figure.add_subplot()
    for (mode, pairs, young_s), color, dashes, marker in zip(
        lines, style.LINES, style.DASHES, style.MARKERS, strict=False
    ):
        points = sorted(pairs)
        ax.plot(
            [seconds for seconds, _ in points],
            [100 * cost for _, cost in points],
            color=color, ls=dashes, marker=marker, ms=4,
            label=f"{mode} ({count_label(len(points))} intervals)",
        )  # fmt: skip
        if young_s > 0:
            ax.axvline(young_s, color=color, lw=0.8, ls=":", label=f"{mode}, on paper (Young)")
    if advised is not None:
        ax.plot(
            [advised[0]], [100 * advised[1]], "*", color=style.VERMILION, ms=13, label="advised"
        )
    ax.set_xscale("log")
    ax.set_ylim(0, None)
    ax.set_xlabel("from one checkpoint to the next [s, log scale]")
    ax.set_ylabel("time that is lost [%]")
    figure.legend(loc="outside lower left", ncols=3)
    return figure
