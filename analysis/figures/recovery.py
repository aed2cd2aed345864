"""Recoveries: where their time went, and one of them from the failure until it was caught up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ckptsim.analysis import words
from ckptsim.analysis.figures import style
from ckptsim.analysis.figures.swept import evenly
from ckptsim.analysis.figures.vector import tell

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ckptsim.sim.rows import CheckpointRow, RecoveryRow

BARS_MAX = 24
SHARE = "caught_up_share"
LABEL_CHARACTERS = 40
PARTS: Mapping[str, tuple[str, str, str]] = {
    "recovery_detected_ns": ("failure unknown", style.GREY, ""),
    "recovery_restart_ns": ("cancelled and delayed", style.ORANGE, "//"),
    "recovery_read_ns": ("deployed, state read", style.BLUE, ""),
    "recovery_first_record_ns": ("until the first record", style.PURPLE, "xx"),
    "recovery_catch_up_ns": ("catching up", style.SKY, "\\\\"),
}
"""Metric of each part of a recovery, in turn: what a figure calls it, colour, hatch."""

# Where each part ends, as a column of the table of recoveries. The first begins with the failure.
ENDS = ("detected_ns", "resumed_ns", "state_read_ns", "first_record_ns", "caught_up_ns")
_ROOM = 0.08  # of the window, before the failure


@style.styled
def recovery_parts(intervals: pd.DataFrame, axes: Sequence[str]) -> Figure:
    """Draw where the time of recoveries went, one bar per point.

    intervals: the summary `intervals`, with the metrics of PARTS and SHARE. A bar is the mean of a
    recovery, its parts follow each other in time.
    """
    known = intervals[intervals["metric"].isin([*PARTS, SHARE])]
    seeds = known.groupby(["scenario", "parameters"])["n"].max()
    wide = known.pivot_table(
        index=["scenario", "parameters"], columns="metric", values="mean", sort=False
    ).reset_index()
    rows = evenly([row for _, row in wide.iterrows()], BARS_MAX)
    figure = style.new_figure(1.5 + 0.34 * len(rows))
    ax = figure.add_subplot()
    means = {part: np.array([row.get(part, 0.0) for row in rows]) for part in PARTS}
    unit = words.time_unit(np.nansum(list(means.values()), axis=0))
    labels = [
        words.in_lines(
            words.point_label(row["parameters"], axes) or str(row["scenario"]), LABEL_CHARACTERS
        )
        for row in rows
    ]
    left = np.zeros(len(rows))
    for part, values in means.items():
        name, color, hatch = PARTS[part]
        width = np.nan_to_num(values) / unit.size
        ax.barh(
            range(len(rows)), width, left=left, color=color, hatch=hatch, edgecolor="white",
            lw=0.5, label=name,
        )  # fmt: skip
        for place, label in enumerate(labels):
            says = f"{label}: {words.time_in_words(float(values[place]))} {name}".replace("\n", " ")
            tell(ax, float(left[place] + width[place] / 2), place, says)
        left = left + width
    for place, row in enumerate(rows):
        says = _counted(seeds[row["scenario"], row["parameters"]], row.get(SHARE, 1.0))
        at = float(left[place]), place
        ax.annotate(says, at, (4, 0), textcoords="offset points", va="center", fontsize=8)
    ax.set_yticks(range(len(rows)), labels)
    ax.invert_yaxis()
    ax.grid(visible=False, axis="y")
    ax.margins(x=0.25, y=0.02)
    ax.set_xlim(0, None)
    ax.set_xlabel(f"mean time since the failure [{unit.name}]")
    handles, names = ax.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower left", ncols=3)
    return figure


def _counted(runs: int, share: float) -> str:
    """Say how many runs belong to a bar, and that some of their recoveries had no end."""
    if share >= 1.0:
        return words.count_label(runs)
    says = f"{share:.0%} caught up" if share > 0 else "not caught up"
    return f"{words.count_label(runs)}, {says}"


@style.styled
def recovery_timeline(recovery: RecoveryRow, checkpoints: Sequence[CheckpointRow]) -> Figure:
    """Draw one recovery: what the job did, the in-flight data handed over, the checkpoints.

    The window begins before the failure, with the checkpoint that was restored where it is near,
    and ends when the job has caught up, or with the last data.
    """
    known = [at for at in (*_ends(recovery), recovery.handed_over_ns) if at is not None]
    end = max([*known, recovery.failed_ns + 1])
    length = end - recovery.failed_ns
    room = round(_ROOM * length)
    begin, restored = recovery.failed_ns - room, _restored_ns(recovery, checkpoints)
    if recovery.failed_ns - length // 2 < restored < begin:
        begin = restored - room
    window = max(0, begin), end + room
    unit = words.time_unit([window[1] - recovery.failed_ns])
    figure = style.new_figure(2.6)
    ax = figure.add_subplot()
    _draw_phases(ax, recovery, unit)
    _draw_handing_over(ax, recovery, unit)
    _draw_checkpoints(ax, recovery, checkpoints, (window, unit))
    ax.axvline(0, color=style.VERMILION, lw=1.2, ls="--")
    ax.set_yticks(range(3), ["the job", "in-flight data", "checkpoints"])
    ax.set_ylim(2.6, -0.6)
    ax.grid(visible=False, axis="y")
    ax.set_xlim(*((at - recovery.failed_ns) / unit.size for at in window))
    ax.set_xlabel(f"simulated time [{unit.name}] since the failure")
    handles, names = ax.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower left", ncols=3)
    return figure


def _ends(recovery: RecoveryRow) -> list[int | None]:
    return [getattr(recovery, name) for name in ENDS]


def _restored_ns(recovery: RecoveryRow, checkpoints: Sequence[CheckpointRow]) -> int:
    """Return when the checkpoint was triggered that was restored. 0 where there was none."""
    return next(
        (
            one.triggered_ns
            for one in checkpoints
            if recovery.restored_from == f"checkpoint {one.checkpoint_id}"
        ),
        0,
    )


def _draw_phases(ax: Axes, recovery: RecoveryRow, unit: words.Unit) -> None:
    """Draw what the job did, part after part. A part that never ended is left open."""
    begin = recovery.failed_ns
    for (label, color, hatch), at in zip(PARTS.values(), _ends(recovery), strict=True):
        if at is None:
            return
        left, width = (begin - recovery.failed_ns) / unit.size, (at - begin) / unit.size
        ax.barh(
            0, width, 0.6, left=left, color=color, hatch=hatch, edgecolor="white", lw=0.5,
            label=label,
        )  # fmt: skip
        tell(ax, left + width / 2, 0, f"{label}: {words.time_in_words(at - begin)}")
        begin = at


def _draw_handing_over(ax: Axes, recovery: RecoveryRow, unit: words.Unit) -> None:
    """Draw how long recovered data was processed before anything new came."""
    begin, end = recovery.state_read_ns, recovery.handed_over_ns
    if begin is None or end is None or end <= begin:
        return
    left, width = (begin - recovery.failed_ns) / unit.size, (end - begin) / unit.size
    ax.barh(1, width, 0.6, left=left, color=style.GREEN, lw=0, label="handed over")
    tell(ax, left + width / 2, 1, f"in-flight data handed over: {words.time_in_words(end - begin)}")


def _draw_checkpoints(
    ax: Axes,
    recovery: RecoveryRow,
    checkpoints: Sequence[CheckpointRow],
    window: tuple[tuple[int, int], words.Unit],
) -> None:
    """Draw checkpoints from their trigger to their end, hollow where they were aborted."""
    (begin, end), unit = window
    for one in checkpoints:
        ended = one.triggered_ns + (one.duration_ns or 0)
        if one.inner or ended < begin or one.triggered_ns > end:
            continue
        done = one.status == "completed"
        left = (max(one.triggered_ns, begin) - recovery.failed_ns) / unit.size
        width = max((min(ended, end) - max(one.triggered_ns, begin)) / unit.size, 0)
        restored = recovery.restored_from == f"checkpoint {one.checkpoint_id}"
        color = style.BLUE if restored else style.INK
        ax.barh(
            2, width, 0.6, left=left, color=color if done else "none", edgecolor=color, lw=0.8,
            label="restored checkpoint" if restored else None,
        )  # fmt: skip
        says = f"checkpoint {one.checkpoint_id}: {one.status}" + ", restored" * restored
        tell(ax, left + width / 2, 2, says)
