"""Every field of a model changes some run, or it is refused with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from ckptsim.scenarios import ScenarioError
from ckptsim.scenarios.planning import with_parameters
from tests.scenarios.job.fields import (
    GROUPS,
    WITNESSES,
    changes,
    field_paths,
    group_of,
    scenario_named,
    settled,
)

FOUND: Mapping[str, Mapping[str, list[Any]]] = json.loads(WITNESSES.read_text("utf-8"))
CASES = [(group, path) for group, own in sorted(FOUND.items()) for path in sorted(own)]
_UPSTREAM = {"job.vertices[*].inputs[*].upstream": "another one is another graph"}
# Fields that no digest or goal of these scenarios shows, each with the reason; the groups here are
# those of which all fields are looked at.
UNSEEN: Mapping[str, Mapping[str, str]] = {
    "job on buffers": {
        **_UPSTREAM,
        "job.plane": "it chooses the world",
        "job.vertices[*].name": "entities of a trace have it, inputs and faults name it",
        "job.engine": "all drivers give the same trace",
        "job.vertices[*].keeps_position": "of a source that had finished before a restore alone",
        "job.vertices[*].broadcast_state": "of a vertex that is restored partly finished alone",
        "job.checkpointing.subtasks_per_file": "of files with in-flight data of several subtasks",
    },
    "job on records": _UPSTREAM,
    "ordering": {
        "sync.source.keys_on_stdio": "the destination does not look at keys on STDIO",
    },
    "checkpoint_store": {},
}
# Fields that are refused beside all else that a plane has, and a value of each.
REFUSED: Mapping[str, Mapping[str, object]] = {
    "job on buffers": {
        "job.checkpointing.protocol": "uncoordinated",
        "job.event_time.idle_timeout_ns": 1_000_000_000,
    },
    "job on records": {"job.vertices[*].rate_period_ns": 1_000_000_000},
}
_REFUSALS = [(group, path, value) for group, own in REFUSED.items() for path, value in own.items()]
_OF_GROUP = {"job on buffers": "log", "job on records": "hunted log"}
QUICK = 30  # of the witnesses every so many-th is tried in `make test`


@pytest.mark.parametrize("group", UNSEEN)
def test_every_field_does_something_or_is_refused(group: str) -> None:
    """Each field has a run that it changes, a refusal with its place, or a reason in a table."""
    fields = set(field_paths(GROUPS[group]))
    others = {*settled(group), *UNSEEN[group], *REFUSED.get(group, {})}
    assert fields == {*FOUND[group], *others}
    assert not set(FOUND[group]) & others


@pytest.mark.parametrize(("group", "path", "value"), _REFUSALS)
def test_a_field_without_a_meaning_is_refused(group: str, path: str, value: object) -> None:
    """It is refused with its place."""
    place = path.replace("[*]", "[0]").removesuffix("_ns")
    with pytest.raises(ScenarioError, match=re.escape(place)):
        with_parameters(scenario_named(_OF_GROUP[group]), {path: value})


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
