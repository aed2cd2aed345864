"""Figures of ending jobs show what the tables say, and the report shows them."""

from analysis.figures.lives import finishing, lives
from analysis.figures.style import svg
from scenarios.catalogue import by_name
from sim.world import run_world
from tests.jobs.finishing import PROTOCOLS, time_to_finish


def test_every_task_and_checkpoint_of_a_run_is_drawn() -> None:
    """The axis names every task; six checkpoints have their numbers, six bars per state."""
    result = run_world(by_name("final_backlog_unaligned"), seed=0, keep_trace=True)
    figure = lives(result.trace)
    (ax,) = figure.axes
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["source[0]", "map1[0]", "map2[0]", "map3[0]", "sink[0]", "checkpoints"]
    assert [text.get_text() for text in ax.texts] == ["1", "2", "3", "4", "5", "6"]
    assert len(ax.patches) == 5 + 5 + 6
    assert "waiting for its end" in {t.get_text() for t in figure.legends[0].get_texts()}


def test_a_job_that_stands_still_is_not_drawn_for_ever() -> None:
    """The axis ends soon after the last thing that any task did."""
    result = run_world(by_name("stop_overtaken"), seed=0, keep_trace=True)
    assert {row.property for row in result.violations} == {"stop_ends"}
    (ax,) = lives(result.trace).axes
    assert ax.get_xlim()[1] < 100  # ms; it was watched for 1.5 s


def test_naive_chains_finish_last_in_every_panel() -> None:
    """The figure has a line per protocol; naive ones take an interval per hop longer."""
    times = {
        name: time_to_finish(depth=4, backlog=3, **options) for name, options in PROTOCOLS.items()
    }
    assert times["aligned"] < times["unaligned"] < times["naive, unaligned"]
    assert times["naive, aligned"] >= times["naive, unaligned"]
    panel = {name: [(4.0, seconds)] for name, seconds in times.items()}
    figure = finishing({"depth": panel})
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(PROTOCOLS)
    assert svg(figure).startswith("<?xml")
