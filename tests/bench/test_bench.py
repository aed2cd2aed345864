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
from tests.bench import SECTIONS, Figure, interleaved, ratio
from tests.bench.kernel import hand_off_ours, hand_off_simpy


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


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_has_its_measure(name):
    """Every registered section can be measured."""
    assert callable(import_module(name).measure)


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
