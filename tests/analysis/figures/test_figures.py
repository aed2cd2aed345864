"""The figures: what they show is there, is labelled with units and n, and nothing overlaps."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox

from ckptsim.analysis.answers import Layout
from ckptsim.analysis.figures import barriers, validation
from ckptsim.analysis.figures.headline import headline, paired_differences
from ckptsim.analysis.figures.latency import latency_bands, latency_cdf, latency_parts
from ckptsim.analysis.figures.recovery import PARTS, SHARE, recovery_parts, recovery_timeline
from ckptsim.analysis.figures.run.barrier_story import barrier_story, lanes_of
from ckptsim.analysis.figures.style import LINES, svg
from ckptsim.analysis.figures.swept import evenly, scale_axis, with_axis
from ckptsim.analysis.figures.theory import against_theory, trade_off
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.job import Job
from ckptsim.sim.job.buffers import senders_of
from ckptsim.sim.world import run_world
from tests.analysis import frames


def recovery_means() -> pd.DataFrame:
    """Return the parts of recoveries at two loads, one of them too high to catch up."""
    parts = dict(zip(PARTS, (50e6, 1.05e9, 600e6, 12e6, 3e9), strict=True))
    rows = [
        ("s", json.dumps({"load": load}), metric, 2, value, value, value)
        for load, longer, share in (("half", 1, 1.0), ("nearly all", 9, 0.0))
        for metric, value in {**parts, "recovery_catch_up_ns": longer * 3e9, SHARE: share}.items()
    ]
    columns = ["scenario", "parameters", "metric", "n", "mean", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def one_recovery() -> Figure:
    """Draw the second recovery of the library's job that is back in its time."""
    result = run_world(by_name("recovery_in_its_time"), seed=1)
    return recovery_timeline(result.recoveries[1], result.checkpoints)


def barrier_diagram(name: str) -> Figure:
    """Draw the third checkpoint of a job of the library."""
    scenario = by_name(name)
    assert isinstance(scenario.model, Job)
    result = run_world(scenario, seed=1, keep_trace=True)
    return barrier_story(result.trace, senders_of(scenario.model), 3)


def one_upload(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["parameters"].str.contains("20 ms")]


NUMBERS = Layout(along="sockets", others=("records per batch",), is_ordered=True)
ALONE = Layout(along="sockets", others=(), is_ordered=True)
WORDS = Layout(along="place of the checkpoint", others=("records per batch",), is_ordered=False)
FIGURES: dict[str, Callable[[], Figure]] = {
    "cdf": lambda: latency_cdf(frames.distribution(), frames.AXES),
    "bands": lambda: latency_bands(one_upload(frames.latency()), frames.COUNT),
    "bands of many values": lambda: latency_bands(
        frames.swept_latency("bytes between two syncs", frames.SIZES, "place of the checkpoint"),
        "bytes between two syncs",
        ["place of the checkpoint"],
    ),
    "bands of long words": lambda: latency_bands(
        frames.swept_latency(
            "place of the checkpoint", frames.PLACEMENTS, "bytes between two syncs"
        ),
        "place of the checkpoint",
        ["bytes between two syncs"],
    ),
    "bands in panels": lambda: latency_bands(frames.latency(), frames.COUNT, [frames.UPLOAD]),
    "parts": lambda: latency_parts(frames.waits(), frames.AXES),
    "headline": lambda: headline(frames.series(), "median_latency_ns", NUMBERS),
    "headline of words": lambda: headline(frames.series(ordered=False), "persisted_bytes", WORDS),
    "headline of one": lambda: headline(frames.series(several=1), "records_reprocessed", ALONE),
    "differences": lambda: paired_differences(
        frames.intervals(), [frames.COUNT], "ended_ns", baseline="sockets 1"
    ),
    "theory": lambda: against_theory(
        frames.beside_theory(), frames.COUNT, [frames.UPLOAD], ["undone_per_crash", "sync_share"]
    ),
    "trade-off": lambda: trade_off(
        frames.beside_theory(), frames.COUNT, [frames.UPLOAD], "sync_share", ["undone_per_crash"]
    ),
    "losses": lambda: trade_off(
        frames.beside_theory(),
        frames.COUNT,
        [frames.UPLOAD],
        "sync_share",
        ["undone_per_crash", "lost_per_crash"],
    ),
    "recoveries": lambda: recovery_parts(recovery_means(), ["load"]),
    "one recovery": one_recovery,
    "durations": lambda: barriers.durations_over_time(
        frames.barrier_checkpoints(), frames.barrier_parts()
    ),
    "heat map": lambda: barriers.alignment_heat_map(frames.task_checkpoints()),
    "predicted": lambda: validation.predicted_and_measured(frames.pairs()),
    "sequences": lambda: validation.sequences(frames.sequences()),
    "barriers": lambda: barrier_diagram("alignment_timeout"),
    "aligned barriers": lambda: barrier_diagram("back_pressure_aligned"),
    "back-pressure": lambda: barriers.against_back_pressure(frames.back_pressure()),
    "in flight": lambda: barriers.in_flight_bytes(frames.barrier_checkpoints()),
}


@pytest.fixture(params=FIGURES)
def drawn(request: pytest.FixtureRequest) -> Figure:
    figure = FIGURES[request.param]()
    FigureCanvasAgg(figure).draw()
    return figure


def texts_of(figure: Figure) -> list[Text]:
    """Return the texts that are drawn. Labels of ticks beyond the ends of an axis are not."""
    beyond: list[Text] = []
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            inside = {id(tick) for tick in axis._update_ticks()}
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            outside = [tick for tick in ticks if id(tick) not in inside]
            beyond += [text for tick in outside for text in (tick.label1, tick.label2)]
    hidden = {id(text) for text in beyond}
    return [
        text
        for text in figure.findobj(Text)
        if isinstance(text, Text)
        and id(text) not in hidden
        and text.get_visible()
        and text.get_text().strip()
    ]


def upright(text: Text) -> Bbox:
    """Return the box of a tilted text as it is when the whole figure is turned back."""
    angle = np.deg2rad(text.get_rotation())
    anchor = text.get_transform().transform(text.get_unitless_position())
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    tilted = text.get_rotation()
    text.set_rotation(0)
    box = text.get_window_extent()
    text.set_rotation(tilted)
    return box.translated(*(turn @ anchor - anchor))


def test_no_two_texts_overlap(drawn: Figure) -> None:
    """All labels can be read: no two boxes of text meet, and none is cut off."""
    boxes = [(text, text.get_window_extent()) for text in texts_of(drawn)]
    seen = [(text, box) for text, box in boxes if box.width > 0 and drawn.bbox.overlaps(box)]
    for (first, box), (second, other) in combinations(seen, 2):
        if first.get_rotation() % 90 and first.get_rotation() == second.get_rotation():
            box, other = upright(first), upright(second)  # noqa: PLW2901
        assert not box.padded(-1).overlaps(other.padded(-1)), (first.get_text(), second.get_text())
    for drawn_text, box in seen:
        text = drawn_text.get_text()
        assert box.x0 >= -1, text
        assert box.x1 <= drawn.bbox.x1 + 1, text
        assert box.y1 <= drawn.bbox.y1 + 1, text


def test_axes_have_labels_and_counts_are_shown(drawn: Figure) -> None:
    """Quantities have a unit, and it can be seen how many values stand after the figure."""
    axes = [ax for ax in drawn.axes if ax.get_label() != "<colorbar>"]
    assert all(ax.get_xlabel() for ax in axes)
    words = "\n".join(text.get_text() for text in texts_of(drawn))
    is_timeline = "simulated time [" in words
    unit = r"\[(ns|µs|ms|s|min|B|KiB|MiB|GiB|%)(, log scale( above 0)?)?\]|^number$"
    assert re.search(unit, words, re.MULTILINE)
    assert re.search(r"\bn\b", words) or is_timeline


@pytest.mark.parametrize("name", ["cdf", "heat map"])
def test_the_same_figure_has_the_same_bytes(name: str) -> None:
    """A figure is a function of its data: no clock, no random names."""
    assert svg(FIGURES[name]()) == svg(FIGURES[name]())


def test_a_censored_curve_ends_below_one() -> None:
    """The share that never completed is missing at the top, and an arrow continues from there."""
    (ax,) = latency_cdf(frames.distribution(), frames.AXES).axes
    tops = [line.get_ydata()[-1] for line in ax.get_lines() if len(line.get_xdata()) > 2]
    censored = [top for top in tops if top < 1.0]
    arrows = [note for note in ax.findobj(Annotation) if note.arrow_patch is not None]
    assert censored
    assert sorted(arrow.xy[1] for arrow in arrows) == sorted(censored)


def test_lines_differ_in_more_than_colour() -> None:
    """Who sees no colours can still distinguish the curves."""
    (ax,) = latency_cdf(frames.distribution(), frames.AXES).axes
    curves = [line for line in ax.get_lines() if len(line.get_xdata()) > 2]
    styles = [str(line.get_linestyle()) + str(line._dash_pattern) for line in curves]
    assert len(set(styles)) == len(styles) == 6


def test_colours_are_told_apart_without_red_or_green() -> None:
    """For the three kinds of colour blindness any two colours of lines stay apart.

    Source: Machado, Oliveira, Fernandes, IEEE TVCG 15 (2009), matrices of full severity.
    """
    matrices = {
        "protanopia": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
        "deuteranopia": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
        "tritanopia": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
    }
    colors = [[int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)] for text in LINES]
    for name, matrix in matrices.items():
        seen = [[sum(m * c for m, c in zip(row, color, strict=True)) for row in matrix]
                for color in colors]  # fmt: skip
        for first, second in combinations(seen, 2):
            distance = sum((a - b) ** 2 for a, b in zip(first, second, strict=True)) ** 0.5
            assert distance > 0.12, name


def test_words_are_placed_by_order_and_not_joined() -> None:
    """Words stand in the order of appearance. No line joins them, there is nothing between them."""
    table = pd.DataFrame({"parameters": ['{"a": "x"}', '{"a": "y"}', '{"a": "x"}', '{"b": 1}']})
    assert with_axis(table, "a")["x"].tolist() == [0, 1, 0]
    (words,) = headline(frames.series(ordered=False), "ended_ns", WORDS).axes
    (numbers,) = headline(frames.series(), "ended_ns", NUMBERS).axes

    def joined(ax: Axes) -> bool:
        lines = [line for line in ax.get_lines() if len(line.get_xdata()) > 2]
        return any(line.get_linestyle() != "None" and line.get_marker() in "os^" for line in lines)

    assert joined(numbers)
    assert not joined(words)


def test_a_logarithmic_axis_says_so() -> None:
    """Where an axis is logarithmic its title says it, and nowhere else."""
    for draw in FIGURES.values():
        for ax in draw().axes:
            for scale, title in (
                (ax.get_xscale(), ax.get_xlabel()),
                (ax.get_yscale(), ax.get_ylabel() or ax.get_title()),
            ):
                if ax.get_shared_y_axes().joined(ax, ax.figure.axes[0]) and not title:
                    continue  # the axis of a panel further left says it
                assert (scale in ("log", "symlog")) == ("log scale" in title) or not title


@pytest.mark.parametrize("least", [0.0, 20.0, 900.0])
def test_an_axis_has_room_for_intervals_and_thousands_apart(least: float) -> None:
    """Whatever the scale, the top of the widest interval is inside and 4000 is 4,000."""
    figure = Figure()
    ax = figure.add_subplot()
    means = np.array([least, 1000.0, 1500.0])
    ax.errorbar([1, 2, 3], means, [[0, 0, 0], [0, 0, 7000]])
    scale_axis(ax, means, vertical=True)
    FigureCanvasAgg(figure).draw()
    assert ax.get_ylim()[1] >= 8500
    labels = [label.get_text() for label in ax.get_yticklabels()]
    thousands = [text for text in labels if len(text) > 3]
    assert thousands
    assert all("," in text for text in thousands)


def test_of_many_points_the_ends_are_kept() -> None:
    """Leaving points out keeps the first and the last, evenly spaced."""
    assert evenly(range(10), 4) == [0, 3, 6, 9]
    assert evenly([1, 2], 4) == [1, 2]


def test_a_channel_stands_still_from_its_barrier_to_the_last_one() -> None:
    """Each lane knows its channels' barriers, when they were sent, and when all had come."""
    trace = [
        (0, "triggered", "coordinator", 3, "ALIGNED"),
        (5, "sent_barrier", "source[0]", 3, 0),
        (6, "sent_barrier", "source[1]", 3, 0),
        (7, "barrier", "slow[0]", 2, 0, "ALIGNED"),
        (20, "barrier", "slow[0]", 3, 1, "ALIGNED"),
        (30, "barrier", "slow[0]", 3, 0, "ALIGNED"),
        (30, "aligned", "slow[0]", 3, 10, 0),
        (31, "acknowledged", "slow[0]", 3, 77, 0),
    ]
    senders = {"source[0]": (), "source[1]": (), "slow[0]": ("source[0]", "source[1]")}
    lane = lanes_of(trace, senders, 3)["slow[0]"]
    assert lane.barriers == {1: (20, "ALIGNED"), 0: (30, "ALIGNED")}
    assert lane.aligned_ns == 30
    assert lane.acknowledged == (31, 77)
    (ax,) = barrier_story(trace, senders, 3).axes
    (bar,) = [patch for patch in ax.patches if patch.get_width() > 0]
    assert (bar.get_x(), bar.get_width()) == (20.0, 10.0)
