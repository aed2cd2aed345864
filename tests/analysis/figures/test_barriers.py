"""Figures of barrier checkpoints."""

from __future__ import annotations

import matplotlib.pyplot as plt

import ckptsim as ck
from ckptsim.analysis.figures.barriers import durations_over_time
from tests.analysis import frames


def test_parts_do_not_exceed_the_duration() -> None:
    """The bars of a checkpoint are of the subtask that acknowledged last, and end at its dot."""
    figure = durations_over_time(frames.barrier_checkpoints(), frames.barrier_parts())
    [ax] = figure.axes
    [line] = [one for one in ax.lines if one.get_label() == "end to end"]
    tops: dict[float, float] = {}
    for bar in ax.patches:
        middle = round(bar.get_x() + bar.get_width() / 2, 6)
        tops[middle] = max(tops.get(middle, 0.0), bar.get_y() + bar.get_height())
    durations = dict(zip((round(x, 6) for x in line.get_xdata()), line.get_ydata(), strict=True))
    assert set(tops) == set(durations)
    assert all(0.9 * durations[x] < top <= durations[x] for x, top in tops.items())


def test_a_run_without_parts_has_its_durations() -> None:
    """The states of a sync have no parts of subtasks: the dots stand alone."""
    ax = ck.run("reference").plot.durations()
    assert ax.lines
    assert not ax.patches
    plt.close("all")
