"""The benchmarks run, and the bars that do not depend on the machine are met."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import simpy

from ckptsim.analysis.spark.package import program_root
from ckptsim.scenarios.job import Mode
from ckptsim.sim.job.buffers import DataflowWorld
from tests.bench import ON_DEMAND, SECTIONS, Figure, interleaved, ratio
from tests.bench.chains import chain
from tests.bench.kernel import hand_off_ours, hand_off_simpy
from tests.bench.scale import exponent, world_of


def test_a_traced_hand_off_costs_at_most_half_more_than_a_store():
    """The kernel's channel, traced and accounted for, stays within 1.5 times SimPy's store."""
    seconds = interleaved(
        {"bare": lambda: hand_off_simpy(simpy.Environment()), "ours": hand_off_ours}, rounds=3
    )
    assert ratio(seconds["ours"], seconds["bare"]) <= 1.5


def test_a_figure_knows_whether_its_bar_is_met():
    """Bars are inclusive on either side, and the line says which way it went."""
    assert Figure(name="a", value=1.5, at_most=1.5).met
    assert not Figure(name="a", value=1.6, at_most=1.5).met
    assert "MISSED" in str(Figure(name="a", value=119, at_least=120))
    assert "met" in str(Figure(name="a", value=120, at_least=120))
    assert Figure(name="a", value=0).met


def test_ratios_are_taken_round_by_round():
    """The median of the ratios is not the ratio of the medians."""
    assert ratio([1, 4, 9], [1, 1, 3]) == 3


@pytest.mark.parametrize("name", [*SECTIONS, *ON_DEMAND])
def test_a_section_has_its_measure(name):
    """Every registered section can be measured."""
    assert callable(import_module(name).measure)


def test_an_exponent_is_that_of_a_power():
    """Of costs that grow with the square of p the exponent is 2."""
    points = [{"parallelism": p, "per_second_s": 0.001 * p**2} for p in (64, 128, 256)]
    assert exponent(points, "per_second_s") == pytest.approx(2.0)


def test_a_thinned_job_has_the_channels_of_the_exact_one_at_each_task():
    """Fewer subtasks with as many channels each, and so many times fewer channels in all."""
    exact, fourth = (thinned_world(p, by) for p, by in ((8, 1), (2, 4)))
    assert {len(task.channels) for task in exact.tasks if task.gates} == {8}
    assert {len(task.channels) for task in fourth.tasks if task.gates} == {8}
    assert len(exact.graph.channels) == 4 * len(fourth.graph.channels)


def thinned_world(parallelism: int, by: int) -> DataflowWorld:
    """Return the world of a short chain, with so many channels between two subtasks."""
    return world_of(chain(parallelism, 2, loaded=True, mode=Mode.UNALIGNED), by)


@pytest.mark.long
def test_every_bar_is_met():
    """The figures that have a bar meet it on this machine."""
    # A process of its own: Spark has one session per process, which other tests may have open.
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench"],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": str(program_root())},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.endswith("\nevery bar is met\n"), done.stdout
