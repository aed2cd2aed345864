"""Operators that stand several times in a row: the names that inputs and faults have for them."""

from __future__ import annotations

from typing import Any, cast

import pytest

from ckptsim.scenarios import Scenario, ScenarioError
from ckptsim.scenarios.job import Job
from ckptsim.scenarios.planning import with_parameters
from ckptsim.sim.infer.change import changed
from ckptsim.sim.world import run_world
from tests.job.records.small import small

MS = 1_000_000


def row(link: str = "barriers", *, side: str = "stage2", crashed: str = "stage3") -> Scenario:
    """Return a row of three operators, one beside it, and a crash of one of them."""
    vertices: list[dict[str, Any]] = [
        {"name": "source", "kind": "source", "records": 200, "rate_per_s": 200},
        {"name": "stage", "repeat": 3, "inputs": [{"upstream": "source"}], "service_ns": MS},
        {"name": "side", "inputs": [{"upstream": side}], "service_ns": MS},
        {"name": "end", "inputs": [{"upstream": "stage"}], "service_ns": MS},
    ]
    restart = {"kind": "fixed_delay", "attempts": 3, "delay_ns": 100 * MS}
    crash = {"kind": "crash_task", "vertex": crashed, "at_ns": 400 * MS}
    made = small({"vertices": vertices, "restart": restart}, link=link)
    return with_parameters(made, {"faults": [crash]})


def test_an_input_names_one_of_a_row_or_the_last() -> None:
    """`stage2` is the second. `stage` is the last, as for who reads after the row."""
    job = cast("Job", row().model).spelled_out()
    assert [(v.name, v.inputs[0].upstream) for v in job.vertices[1:]] == [
        ("stage1", "source"),
        ("stage2", "stage1"),
        ("stage3", "stage2"),
        ("side", "stage2"),
        ("end", "stage3"),
    ]


@pytest.mark.parametrize("plane", ["barriers", "barrier_protocol"])
def test_a_fault_strikes_the_operator_that_it_names(plane: str) -> None:
    """The job fails once and completes, on either plane."""
    result = run_world(row(plane), seed=1)
    assert (result.run.outcome, result.run.attempts) == ("completed", 2)
    assert not result.violations


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ({"side": "stage4"}, 'found "stage4", expected one of "source", "stage1", "stage2"'),
        ({"crashed": "stage"}, 'found "stage", expected one of "source", "stage1", "stage2"'),
        ({"crashed": "nobody"}, '"stage3", "side", "end"'),
    ],
)
def test_a_name_that_is_not_known_lists_those_that_are(names: dict[str, str], says: str) -> None:
    """An input or a fault that names nothing is refused with all names."""
    with pytest.raises(ScenarioError) as caught:
        row(**names)
    assert says in str(caught.value)


def test_a_row_that_reads_from_itself_is_a_cycle() -> None:
    """The operators of a row are one vertex, so none of them is an input of the first."""
    with pytest.raises(ScenarioError, match="a graph without a cycle"):
        with_parameters(row(), {"job.vertices[stage].inputs[0].upstream": "stage3"})


def test_another_parallelism_keeps_the_inputs_of_a_row() -> None:
    """A change of all vertices reaches one that reads from the middle of a row."""
    job = cast("Job", changed(row(), {"parallelism.default": "2"}).model)
    assert {vertex.parallelism for vertex in job.vertices} == {2}
