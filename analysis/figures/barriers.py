"""Figures of barrier checkpoints: their parts over time, alignment per subtask, modes compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ckptsim.analysis.figures import style
from ckptsim.analysis.figures.swept import scale_axis
from ckptsim.analysis.figures.vector import tell
from ckptsim.analysis.words import (
    Unit,
    count_label,
    in_unit,
    plain_number,
    size_unit,
    time_in_words,
    time_unit,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Part of a barrier checkpoint -> what it is, colour, pattern.
PARTS = {
    "start_delay_ns": ("until the first barrier", style.BLUE, ""),
    "alignment_ns": ("alignment", style.ORANGE, "//"),
    "sync_ns": ("synchronous part", style.GREEN, ".."),
    "async_ns": ("asynchronous part", style.PURPLE, "xx"),
}


@style.styled
def durations_over_time(checkpoints: pd.DataFrame, parts: pd.DataFrame) -> Figure:
    """Draw the duration of each checkpoint of one run over its trigger time, and its parts.

    checkpoints, parts: rows of the tables of checkpoints and of subtasks' parts in them, if any.
    The parts drawn are the ones of the subtask that acknowledged last, so that together they do not
    exceed the duration.  What did not complete is a cross at the bottom.
    """
    figure = style.new_figure(3.6)
    ax = figure.add_subplot()
    done = checkpoints[checkpoints["status"] == "completed"].sort_values("triggered_ns")
    lost = checkpoints[checkpoints["status"] != "completed"]
    across = time_unit(checkpoints["triggered_ns"])
    up = time_unit(done["duration_ns"])
    x = done["triggered_ns"].to_numpy() / across.size
    width = 0.7 * np.diff(x).min(initial=max(x.max(initial=1.0), 1.0))
    bottom = np.zeros(len(done))
    last = _last_parts(parts, done["checkpoint_id"])
    for part, (label, color, hatch) in PARTS.items() if len(last) else ():
        height = last[part].astype("float64").fillna(0.0).to_numpy() / up.size
        if not height.any():  # said by its absence from the legend
            continue
        ax.bar(
            x, height, width, bottom, color=color, hatch=hatch, edgecolor="white", lw=0.3,
            label=label,
        )  # fmt: skip
        bottom = bottom + height
    ax.plot(x, done["duration_ns"] / up.size, "o-", color=style.INK, ms=3, lw=1, label="end to end")
    for at, duration, number in zip(x, done["duration_ns"], done["checkpoint_id"], strict=True):
        tell(ax, at, duration / up.size, f"checkpoint {number}: {time_in_words(duration)}")
    if len(lost):
        at = lost["triggered_ns"] / across.size
        zero = np.zeros(len(lost))
        ax.plot(at, zero, "x", color=style.VERMILION, ms=6, label="not completed", clip_on=False)
    ax.use_sticky_edges = False
    ax.set_ylim(0, None)
    ax.set_xlabel(f"simulated time of the trigger [{across.name}]")
    ax.set_ylabel(f"checkpoint duration [{up.name}]")
    ax.set_title(f"{count_label(len(checkpoints), len(lost))}", loc="right", fontsize=8)
    figure.legend(loc="outside lower left", ncols=3)
    return figure


def _last_parts(parts: pd.DataFrame, checkpoints: pd.Series) -> pd.DataFrame:
    """Return for each checkpoint the part of the subtask that acknowledged it last."""
    if parts.empty:
        return parts
    known = parts.dropna(subset="acknowledged_ns").sort_values("acknowledged_ns", kind="stable")
    return known.groupby("checkpoint_id").last().reindex(checkpoints)


@style.styled
def alignment_heat_map(task_checkpoints: pd.DataFrame) -> Figure:
    """Draw how long each subtask aligned for each checkpoint of one run.

    task_checkpoints: rows of the table of that name.  A subtask that took no part is left white.
    """
    wide = task_checkpoints.pivot_table(
        index=["task", "subtask"], columns="checkpoint_id", values="alignment_ns", aggfunc="max"
    )
    names = [f"{task}[{subtask}]" for task, subtask in wide.index]
    unit = time_unit([float(np.nanmax(wide.to_numpy(), initial=0.0))])
    figure = style.new_figure(min(9.0, 1.3 + 0.16 * max(6, len(wide))))
    ax = figure.add_subplot()
    image = ax.imshow(
        wide.to_numpy() / unit.size, aspect="auto", cmap="cividis", interpolation="nearest"
    )
    step = max(1, len(wide) // 40)
    ax.set_yticks(range(0, len(wide), step), names[::step], fontsize=7)
    across = max(1, wide.shape[1] // 20)
    numbers = [str(name) for name in wide.columns[::across]]
    ax.set_xticks(range(0, wide.shape[1], across), numbers, fontsize=8)
    ax.grid(visible=False)
    ax.set_xlabel("checkpoint")
    ax.set_ylabel("subtask")
    figure.colorbar(image, ax=ax, label=f"alignment [{unit.name}]")
    ax.set_title(count_label(len(task_checkpoints)), loc="right", fontsize=8)
    return figure


@style.styled
def against_back_pressure(table: pd.DataFrame) -> Figure:
    """Draw times and sizes of checkpoints against back-pressure: a panel each, a line per mode.

    table: columns `quantity` (what a panel shows, in their order), `measure` (`ns` or `bytes`),
    `mode`, `backpressured_ratio`, `n`, `middle`, `low`, `high` (a band around the middle, such as
    the quartiles).
    """
    quantities = list(dict.fromkeys(table["quantity"]))
    figure = style.new_figure(3.6, width=2.4 * max(3, len(quantities)))
    panels = figure.subplots(1, len(quantities), squeeze=False)[0]
    for ax, quantity in zip(panels, quantities, strict=True):
        rows = table[table["quantity"] == quantity]
        pick = size_unit if rows["measure"].iloc[0] == "bytes" else time_unit
        unit = pick(rows["high"].fillna(rows["middle"]))
        _draw_modes(ax, rows, unit)
        scale = scale_axis(ax, rows["middle"].to_numpy() / unit.size, vertical=True)
        ax.set_xlim(_shown_shares(100 * table["backpressured_ratio"]))
        ax.set_xlabel("time back-pressured [%]")
        ax.set_ylabel(f"{quantity} [{unit.name}{scale}]")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower left", ncols=3)
    return figure


def _shown_shares(shares: pd.Series) -> tuple[float, float]:
    """Return the ends of an axis of percentages: all of it, or the part in which the points lie."""
    low, high = float(shares.min()), float(shares.max())
    room = max(1.0, 0.08 * (high - low))
    return (-3.0, 103.0) if high - low > 50 else (max(-3.0, low - room), min(103.0, high + room))


def _draw_modes(ax: Axes, table: pd.DataFrame, unit: Unit) -> None:
    modes = list(table.groupby("mode", sort=False))
    for (mode, group), color, dashes, marker in zip(
        modes, style.LINES, style.DASHES, style.MARKERS, strict=False
    ):
        rows = group.sort_values(["backpressured_ratio", "middle"])
        x = 100 * rows["backpressured_ratio"]
        low, high = rows["low"] / unit.size, rows["high"] / unit.size
        ax.fill_between(x, low, high, color=color, alpha=0.18, lw=0)
        for share, middle in zip(x, rows["middle"] / unit.size, strict=True):
            says = f"{mode}: {plain_number(middle)} {unit.name} at {share:.0f} % back-pressured"
            tell(ax, share, middle, says)
        ax.plot(
            x, rows["middle"] / unit.size, color=color, ls=dashes, marker=marker, ms=4,
            label=f"{mode} ({count_label(int(rows['n'].sum()))})",
        )  # fmt: skip


@style.styled
def in_flight_bytes(checkpoints: pd.DataFrame) -> Figure:
    """Draw the in-flight bytes that each checkpoint processed and persisted, over its trigger.

    checkpoints: rows of the table of checkpoints of one run.
    """
    figure = style.new_figure(3.2)
    ax = figure.add_subplot()
    rows = checkpoints.sort_values("triggered_ns")
    across = time_unit(rows["triggered_ns"])
    up = size_unit(rows[["processed_bytes", "persisted_bytes"]].max())
    for name, color, dashes, label in (
        ("processed_bytes", style.BLUE, "-", "processed during the alignment"),
        ("persisted_bytes", style.VERMILION, "--", "persisted with the checkpoint"),
    ):
        known = rows[rows[name].notna()]
        if not known[name].any():
            continue
        for _, row in known.iterrows():
            at, size = row["triggered_ns"] / across.size, row[name]
            says = f"checkpoint {row['checkpoint_id']}: {in_unit(size, size_unit([size]))} {label}"
            tell(ax, at, size / up.size, says)
        ax.plot(
            known["triggered_ns"] / across.size, known[name] / up.size, color=color, ls=dashes,
            marker="o", ms=3, label=f"{label} ({count_label(len(known))})",
        )  # fmt: skip
    ax.set_ylim(0, None)
    ax.set_xlabel(f"simulated time of the trigger [{across.name}]")
    ax.set_ylabel(f"in-flight data [{up.name}]")
    figure.legend(loc="outside lower left", ncols=2)
    return figure
