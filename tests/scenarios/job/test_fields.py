"""Every field of a job on buffers changes some run, or it is refused with its place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from ckptsim.scenarios import ScenarioError
from ckptsim.scenarios.planning import with_parameters
from tests.scenarios.job.fields import (
    WITNESSES,
    changes,
    field_paths,
    group_of,
    scenario_named,
    settled,
)

FOUND: Mapping[str, Mapping[str, list[Any]]] = json.loads(WITNESSES.read_text("utf-8"))
GROUPS = {"job on buffers": "barriers"}
CASES = [(group, path) for group, own in sorted(FOUND.items()) for path in sorted(own)]
# Fields that no digest of these scenarios shows, each with the reason.
UNSEEN: Mapping[str, str] = {
    "job.plane": "it chooses the world",
    "job.engine": "all drivers give the same trace",
    "job.vertices[*].name": "entities of a trace have it, inputs and faults name it",
    "job.vertices[*].inputs[*].upstream": "another one is another graph",
    "job.vertices[*].keeps_position": "of a source that had finished before a restore alone",
    "job.vertices[*].broadcast_state": "of a vertex that is restored partly finished alone",
    "job.checkpointing.subtasks_per_file": "of files with in-flight data of several subtasks alone",
}
# Fields that are refused beside all else that a plane has, and a value of each.
REFUSED: Mapping[str, object] = {
    "job.checkpointing.protocol": "uncoordinated",
    "job.event_time.idle_timeout_ns": 1_000_000_000,
}
QUICK = 12  # of the witnesses every so many-th is tried in `make test`


@pytest.mark.parametrize(("group", "of_link"), GROUPS.items())
def test_every_field_does_something_or_is_refused(group: str, of_link: str) -> None:
    """Each field has a run that it changes, a refusal with its place, or a reason in a table."""
    fields = set(field_paths(of_link))
    known = {*FOUND[group], *settled(group), *UNSEEN, *REFUSED}
    assert fields - known == set()
    assert known - fields == set()
    assert not set(FOUND[group]) & {*settled(group), *UNSEEN, *REFUSED}


@pytest.mark.parametrize(("path", "value"), REFUSED.items())
def test_a_field_without_a_meaning_is_refused(path: str, value: object) -> None:
    """It is refused with its place."""
    with pytest.raises(ScenarioError, match=path.removesuffix("_ns")):
        with_parameters(scenario_named("log"), {path: value})


@pytest.mark.parametrize(("group", "path"), CASES[::QUICK])
def test_a_field_changes_a_run(group: str, path: str) -> None:
    """Set to the value of its witness, a field changes the digest of a run."""
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
