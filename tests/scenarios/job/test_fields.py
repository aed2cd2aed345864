"""Every field of a model changes some run, or it is refused with its place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from ckptsim.scenarios import ScenarioError
from ckptsim.scenarios.composed import Pipeline
from ckptsim.scenarios.files import cost_parameters
from ckptsim.scenarios.limits import BUFFERS, PIPELINE, RECORDS, limits_of
from ckptsim.scenarios.planning import with_parameters
from tests.scenarios.job.fields import (
    GROUPS,
    WITNESSES,
    changes,
    field_paths,
    group_of,
    scenario_named,
    settled,
    values,
)

FOUND: Mapping[str, Mapping[str, list[Any]]] = json.loads(WITNESSES.read_text("utf-8"))
CASES = [(group, path) for group, own in sorted(FOUND.items()) for path in sorted(own)]
_UPSTREAM = {"job.vertices[*].inputs[*].upstream": "another one is another graph"}
# Fields that no digest or goal of these scenarios shows, each with the reason. The groups here are
# the ones with all fields in view.
UNSEEN: Mapping[str, Mapping[str, str]] = {
    "job on buffers": {
        **_UPSTREAM,
        "job.engine": "all drivers give the same trace",
    },
    "job on records": _UPSTREAM,
    "ordering": {
        "sync.source.keys_on_stdio": "the destination does not look at keys on STDIO",
    },
    "checkpoint_store": {},
    "composed on records": {},
    "composed on buffers": {},
}
QUICK = 30  # of the witnesses every so many-th is tried in `make test`


@pytest.mark.parametrize("group", UNSEEN)
def test_every_field_does_something_or_is_refused(group: str) -> None:
    """Each field has a run that it changes, a refusal with its place, or a reason in a table."""
    fields = set(field_paths(GROUPS[group]))
    others = {*settled(group), *UNSEEN[group]}
    assert fields == {*FOUND[group], *others}
    assert not set(FOUND[group]) & others


@pytest.mark.parametrize("plane", [RECORDS, BUFFERS])
def test_a_pipeline_refuses_what_means_nothing_in_it(plane: str) -> None:
    """Every other value is refused with its place, the value found, and the only one with why."""
    found = [one for one in limits_of(Pipeline) if one.limit.place == PIPELINE]
    for one in found:
        path = f"pipeline.{one.path.replace('[]', '[0]')}"
        value = values(one.entry.kind, one.entry.kind.plain(one.entry.default))[0]
        with pytest.raises(ScenarioError) as caught:
            with_parameters(scenario_named(f"external pipeline on {plane}"), {path: value})
        said = [str(each) for each in caught.value.problems if f"{path}: found " in str(each)]
        expected = f"expected {one.only} in a pipeline: {one.limit.because}"
        assert [each for each in said if each.endswith(expected)], said
    assert len(found) > 10


def test_costs_that_were_measured_are_taken_where_they_mean_something() -> None:
    """A file of measured costs has those for all stores.

    A pipeline takes the ones that it reads.
    """
    measured = {"autocommit_ns": 5, "transaction_ns": 7}
    assert cost_parameters(measured, "composed") == {"pipeline.store.costs.transaction_ns": 7}
    assert len(cost_parameters(measured, "checkpoint_store")) == 2


@pytest.mark.parametrize(("group", "path"), CASES[::QUICK])
def test_a_field_changes_a_run(group: str, path: str) -> None:
    """Set to the value of its witness, a field changes the digest of a run or its goals."""
    name, place, value = FOUND[group][path]
    scenario = scenario_named(name)
    assert group_of(scenario) == group
    assert changes(scenario, place, value)


@pytest.mark.long
@pytest.mark.parametrize(
    ("group", "path"), [case for number, case in enumerate(CASES) if number % QUICK]
)
def test_each_field_changes_a_run(group: str, path: str) -> None:
    """So does every other one."""
    name, place, value = FOUND[group][path]
    assert changes(scenario_named(name), place, value)
