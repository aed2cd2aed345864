"""The figure of pending states: how many wait to be returned, on which socket, and how long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.ticker import MaxNLocator

from ckptsim.analysis.figures import style
from ckptsim.analysis.words import time_unit

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

LINES_MAX = 8  # of more, the legend would cover the lines


@style.styled
def pending_over_time(pending: pd.DataFrame) -> Figure:
    """Draw the pending states of one run over time, a step line per scope and socket.

    pending: rows of the table of that name, by time.  The groups with the most states at once are
    drawn, at most `LINES_MAX` of them.  Points are ages of the oldest state of a group.
    """
    figure = style.new_figure(3.2)
    ax = figure.add_subplot()
    across = time_unit(pending["at_ns"])
    groups = pending.groupby(["scope", "socket"], sort=True)
    most = groups["states"].max().sort_values(ascending=False, kind="stable")
    drawn = sorted(most.index[:LINES_MAX])
    for number, (scope, socket) in enumerate(drawn):
        rows = groups.get_group((scope, socket))
        x = rows["at_ns"] / across.size
        dash, color = divmod(number, len(style.LINES))
        look = {"color": style.LINES[color], "ls": style.DASHES[dash], "lw": 1.2}
        ax.step(x, rows["states"], where="post", label=f"{scope}, socket {socket}", **look)
    ax.set_ylim(0, None)
    ax.set_xlabel(f"simulated time [{across.name}]")
    ax.set_ylabel("pending states")
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ages = pending["oldest_age_ns"]
    up = time_unit(ages)
    other = ax.twinx()
    other.grid(visible=False)  # it would cross the lines
    x = pending["at_ns"] / across.size
    other.plot(x, ages / up.size, ".", color=style.GREY, ms=4, label="age of the oldest")
    other.set_ylim(0, None)
    other.set_ylabel(f"age of the oldest [{up.name}]")
    left_out = len(most) - len(drawn)
    if left_out:
        ax.set_title(f"{left_out} more groups with fewer states", loc="right", fontsize=8)
    figure.legend(loc="outside lower left", ncols=3)
    return figure
