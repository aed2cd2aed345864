"""Figures of ending jobs show what the tables say, and the report shows them."""

from itertools import combinations

from ckptsim.analysis.figures.finishing import time_to_finish
from ckptsim.analysis.figures.run.lives import LINE, lives
from ckptsim.analysis.figures.style import svg
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.planning import all_plans
from ckptsim.scenarios.planning.vary import with_parameters
from ckptsim.sim.world import run_world
from tests.job.records.ends.results_page import DOCUMENT, FIGURES, SWEEPS, document, intervals


def test_every_task_and_checkpoint_of_a_run_is_drawn() -> None:
    """The axis names every task. Six checkpoints have their numbers, six bars per state."""
    result = run_world(by_name("final_backlog_unaligned"), seed=0, keep_trace=True)
    figure = lives(result.trace)
    (ax,) = figure.axes
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["source[0]", "map1[0]", "map2[0]", "map3[0]", "sink[0]", "checkpoints"]
    assert [text.get_text() for text in ax.texts] == ["1", "2", "3", "4", "5", "6"]
    assert len(ax.patches) == 5 + 5 + 6
    pre_committed = [line for line in ax.lines if line.get_linewidth() == LINE]
    assert len(pre_committed) == 6
    assert "waiting for its end" in {t.get_text() for t in figure.legends[0].get_texts()}


def test_a_job_that_stands_still_is_not_drawn_for_ever() -> None:
    """The axis ends soon after the last thing that any task did."""
    result = run_world(by_name("stop_overtaken"), seed=0, keep_trace=True)
    assert {row.property for row in result.violations} == {"stop_ends"}
    (ax,) = lives(result.trace).axes
    assert ax.get_xlim()[1] < 100  # ms. It was watched for 1.5 s


def test_time_to_finish_has_a_line_per_protocol_and_mode() -> None:
    """Against depth there are five lines in two panels, and the naive ones lie highest at last."""
    table = intervals("finishing_depth")
    others = ["ending protocol", "checkpoint mode"]
    figure = time_to_finish(table, "operators in the chain", others)
    times, counts = figure.axes
    assert len(times.lines) == len(counts.lines) == 5
    last = [float(line.get_ydata()[-1]) for line in times.lines]
    assert last == [25.8, 26.2, 26.2, 106.0, 86.0]
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels[3] == "naive, aligned"
    assert svg(figure).startswith("<?xml")


def test_the_page_of_results_is_what_the_program_gives() -> None:
    """Tables are the ones of the runs, every plan on ends is listed, and every picture is there."""
    text = document()
    assert DOCUMENT.read_text(encoding="utf-8") == text
    ends = ("final_", "finishing_", "stop_")
    assert {plan.name for plan in all_plans() if plan.name.startswith(ends)} == set(SWEEPS)
    pictures = [part.split(")")[0] for part in text.split("](figures/")[1:]]
    assert len(pictures) == 3
    assert all((FIGURES / name).is_file() for name in pictures)


def test_numbers_of_checkpoints_do_not_stand_on_each_other() -> None:
    """Of checkpoints that follow each other at once only those have a number that have room."""
    many = {"pipeline.checkpointing.interval": "3 ms", "pipeline.streams[*].records": 800}
    crowded = with_parameters(by_name("pipeline"), {**many, "faults": []})
    figure = lives(run_world(crowded, seed=1, keep_trace=True).trace)
    figure.canvas.draw()
    (ax,) = figure.axes
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) > 5
    assert not [(a, b) for a, b in combinations(boxes, 2) if a.overlaps(b)]
