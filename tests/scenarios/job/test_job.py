"""One dialect of jobs: the defaults of its links, its planes, and what each of them refuses."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import pytest

from ckptsim.scenarios import LINKS, Scenario, ScenarioError, loads
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.describe import describe, reference
from ckptsim.scenarios.dialect import At, Whole, schema
from ckptsim.scenarios.files import document, write
from ckptsim.scenarios.job import FixedDelay, Job, NoRestart, Plane
from ckptsim.scenarios.job.faults import JOB_FAULTS
from ckptsim.scenarios.job.names import ALL_GOALS, ALL_PROPERTIES, GOALS, PROPERTIES
from ckptsim.scenarios.limits import PIPELINE, Limited, limits_of
from ckptsim.scenarios.planning import with_parameters
from ckptsim.sim.world import run_world
from tests.job.records.small import small

MS = 1_000_000
JOBS = ("barriers", "barrier_protocol", "final_checkpoint")


def scenario(link: str = "barrier_protocol", **job: Any) -> Scenario:
    """Return a source and a sink, with tables of a job in base units."""
    vertices = [
        {"name": "source", "kind": "source", "parallelism": 2, "records": 40, "rate_per_s": 1000},
        {
            "name": "sink",
            "kind": "sink",
            "parallelism": 2,
            "inputs": [{"upstream": "source"}],
            "service_ns": MS // 10,
        },
    ]
    return small({"vertices": vertices} | job, link=link)


def model(made: Scenario) -> Job:
    """Return the job of a scenario."""
    assert isinstance(made.model, Job)
    return made.model


def test_links_differ_in_their_defaults_only() -> None:
    """The same file says the same job on every link, except for what it leaves out."""
    here = {link: {one.path: one.plain for one in describe(scenario(link))} for link in JOBS}
    differing = {
        path
        for path in here["barriers"] | here["barrier_protocol"]
        if here["barriers"].get(path) != here["barrier_protocol"].get(path)
    } - {"link"}
    assert differing == {
        "job.plane",
        "job.vertices[1].inputs[0].partitioner",
        "job.checkpointing.aligned_timeout_ns",
        "job.checkpointing.interval_ns",
        "job.checkpointing.tolerable_failures",
        "job.restart.kind",
        "job.restart.delay_ns",
        "job.restart.attempts",
    }


@pytest.mark.parametrize("name", [name for name, link in LINKS.items() if link.defaults])
def test_defaults_of_links_are_sound(name: str) -> None:
    """Each is at a path that exists, is taken by its own kind, and differs from the table's."""
    found = {one.path: one for one in reference(LINKS[name])}
    entries = {entry.name: entry for entry in document.entries(LINKS[name])}
    key = LINKS[name].key
    written = document.defaults(LINKS[name])[key]
    at = At("defaults", "", [])
    table = {entry.name: entry for entry in entries[key].kind.entries()}  # type: ignore[attr-defined]
    for path in LINKS[name].defaults:
        assert f"{key}.{path}" in found
    for key_, value in written.items():  # type: ignore[attr-defined]
        table[key_].kind.read(value, at)
    assert at.problems == []


def test_a_default_of_the_link_is_not_written_and_is_read_again() -> None:
    """A written scenario leaves out what its link has by default, and only that."""
    for link in JOBS:
        made = scenario(link)
        text = write(document.human(made))
        assert "interval" not in text
        assert "partitioner" not in text
        assert loads(text, source="written") == made
    other = scenario(checkpointing={"interval_ns": 1_000 * MS}, restart={"kind": "fixed_delay"})
    assert 'interval = "1 s"' in write(document.human(other))
    assert model(other).restart.delay_ns == 10 * MS


@pytest.mark.parametrize("name", JOBS)
def test_a_job_runs_on_either_plane(name: str) -> None:
    """Its link decides where a job runs that does not say so. What differs are the worlds."""
    given: dict[str, Any] = {"restart": {"kind": "none"}, "checkpointing": {"interval_ns": 15 * MS}}
    runs = {plane: run_world(scenario(name, plane=plane.value, **given), seed=1) for plane in Plane}
    usual = scenario(name, **given)
    assert run_world(usual, seed=1).run.digest == runs[model(usual).plane].run.digest
    assert {run.run.outcome for run in runs.values()} == {"completed"}
    assert {run.run.records_produced for run in runs.values()} == {40}


@pytest.mark.parametrize(
    "limited",
    [one for one in limits_of(Job) if one.limit.place != PIPELINE and not one.limit.noted],
    ids=lambda one: one.path,
)
def test_a_plane_refuses_what_it_cannot_do(limited: Limited) -> None:
    """Each is refused at its place on this plane with the reason, and taken on the other one."""
    default: Any = limited.entry.default
    words = ("rate", "replayable", "startup", "splits", "acknowledges", "stopped", "after_cancel")
    of_source = any(word in limited.path for word in words)
    path = "job." + limited.path.replace("[]", "[0]" if of_source else "[1]")
    value: Any = [{"at_ns": 5, "factor": 2.0}] if limited.path.endswith("changes") else 0.5
    if isinstance(limited.entry.kind, Whole):
        value = 6
    if isinstance(default, int):
        value = not default if isinstance(default, bool) else default + 1
    if isinstance(default, StrEnum):
        value = next(one.value for one in type(default) if one is not default)
    elif limited.path.endswith("_ns"):
        value = 5 * MS
    given = _beside(limited.path)
    for plane in Plane:
        made = scenario("barriers", plane=plane.value)
        if plane != limited.limit.place:
            assert with_parameters(made, given | {path: value}) != made
            continue
        with pytest.raises(ScenarioError) as caught:
            with_parameters(made, given | {path: value})
        assert f"{path}: found " in str(caught.value)
        assert limited.limit.because in str(caught.value)


def _beside(path: str) -> dict[str, Any]:
    """Return what else has to be set for a value at a path to fit."""
    match path.rpartition(".")[2]:
        case "stopped_by" | "after_cancel_records":
            return {"job.vertices[0].kind": "legacy"}
        case "rate_changes" | "replayable":
            return {"job.vertices[0].rate_per_s": 100.0}
        case "rate_period_ns":
            changes = [{"at_ns": 5, "factor": 2.0}]
            return {"job.vertices[0].rate_per_s": 100.0, "job.vertices[0].rate_changes": changes}
        case "file_records":
            return {"job.vertices[1].global_committer": True}
        case "idle_timeout_ns":
            return {"job.event_time.watermark_interval_ns": MS}
        case "protocol":  # no notification would say when to commit
            return {"job.vertices[1].kind": "operator"}
    return {}


def test_restarts_are_taken_on_buffers() -> None:
    """A job on buffers may be restarted, which it is not unless told."""
    given = scenario("barriers", restart={"kind": "fixed_delay", "attempts": 2})
    assert model(given).restart == FixedDelay(delay_ns=1_000 * MS, attempts=2)
    assert model(scenario("barriers")).restart == NoRestart()


def _fault(kind: str) -> dict[str, Any]:
    required = {"vertex": "source", "checkpoint": 1, "delay_ns": MS, "at_ns": MS, "lasts_ns": MS}
    names = {entry.name for entry in schema(JOB_FAULTS[kind])}
    if kind == "delay_precommit":
        required["vertex"] = "sink"
    if kind in ("rescale", "resubmit"):
        required |= {"vertex": "sink", "parallelism": 2}
    return {"kind": kind} | {key: value for key, value in required.items() if key in names}


# What a fault needs that only records have: the vertex, with a key and its value.
_OF_RECORDS = {"delay_precommit": (1, "global_committer", True), "lose_split": (0, "splits", 6)}


@pytest.mark.parametrize("plane", Plane)
@pytest.mark.parametrize("kind", JOB_FAULTS)
def test_every_fault_is_taken_on_both_planes(kind: str, plane: Plane) -> None:
    """One union of faults. Each leads to a run without a violation.

    Where buffers lack the situation that a fault needs, they refuse it with its place.
    """
    if kind in _OF_RECORDS and plane is Plane.BUFFERS:
        number, key, _ = _OF_RECORDS[kind]
        with pytest.raises(ScenarioError, match=rf"job\.vertices\[{number}\]\.{key}: found "):
            _with_fault(kind, plane)
        return
    found = _with_fault(kind, plane)
    assert type(found.faults[0]) is JOB_FAULTS[kind]
    assert run_world(found, seed=1).violations == []


def _with_fault(kind: str, plane: Plane) -> Scenario:
    text = document.plain(scenario("barriers", plane=plane.value)) | {"faults": [_fault(kind)]}
    if kind in _OF_RECORDS:
        number, key, value = _OF_RECORDS[kind]
        text["job"]["vertices"][number][key] = value
    text["job"]["storage"] |= {"write_bytes_per_s": 10**9}  # what a slow storage slows on buffers
    return document.read(text, source="test")


@pytest.mark.parametrize(
    ("plane", "key", "value", "expected"),
    [
        (Plane.RECORDS, "service_factors", [1.0, 1.0], "without service_factors"),
        (Plane.BUFFERS, "subtask_state_bytes", [5, 5], "without subtask_state_bytes"),
        (Plane.BUFFERS, "selectivity", 2.0, "of selectivity 1"),
    ],
)
def test_what_is_said_per_subtask_is_not_rescaled(
    plane: Plane, key: str, value: object, expected: str
) -> None:
    """What holds for one parallelism is refused with the vertex that has it."""
    text = document.plain(scenario("barriers", plane=plane.value)) | {"faults": [_fault("rescale")]}
    sink = next(vertex for vertex in text["job"]["vertices"] if vertex["name"] == "sink")
    sink[key] = value
    with pytest.raises(ScenarioError, match=expected):
        document.read(text, source="test")


def test_shares_are_not_rescaled_with_what_a_forward_edge_joins() -> None:
    """A vertex that goes with the rescaled one has as many shares as it had subtasks."""
    text = document.plain(scenario()) | {
        "faults": [{"kind": "rescale", "vertex": "source", "parallelism": 3, "at_ns": MS}]
    }
    source, sink = text["job"]["vertices"]  # type: ignore[index]
    keyed = source | {"name": "keyed"}
    source["parallelism"] = keyed["parallelism"] = sink["parallelism"] = 2
    forward, by_key = dict(sink["inputs"][0]), dict(sink["inputs"][0])
    forward |= {"partitioner": "forward"}
    by_key |= {"upstream": "keyed", "partitioner": "hash", "shares": [0.5, 0.5]}
    sink["inputs"] = [forward, by_key]
    text["job"]["vertices"] = [source, keyed, sink]  # type: ignore[index]
    with pytest.raises(ScenarioError, match=r'goes with "sink", .* not dealt out by shares'):
        document.read(text, source="test")


def test_names_are_those_of_the_plane() -> None:
    """A goal or a property of the other plane is refused with its place."""
    text = document.plain(scenario())
    for key, all_names, known in (
        ("goals", ALL_GOALS, GOALS[Plane.RECORDS]),
        ("violates", ALL_PROPERTIES, PROPERTIES[Plane.RECORDS]),
    ):
        assert set(known) < set(all_names)
        other = next(name for name in all_names if name not in known)
        with pytest.raises(ScenarioError, match=rf'{key}\[1\]: found "{other}".*plane "records"'):
            document.read(text | {key: [known[0], other]}, source="test")


def test_shuffle_on_records_reaches_every_subtask() -> None:
    """Records of a shuffled input take subtasks at random, the same ones under the same seed."""
    vertices = document.plain(scenario())["job"]["vertices"]  # type: ignore[index]
    vertices[1]["inputs"][0]["partitioner"] = "shuffle"
    made = scenario(vertices=vertices)
    runs = [run_world(made, seed=seed) for seed in (1, 1, 2)]
    assert [run.violations for run in runs] == [[], [], []]
    shares = [tuple(row.records for row in run.tasks if row.task == "sink") for run in runs]
    assert shares[0] == shares[1] != shares[2]
    assert all(sum(share) == 40 and min(share) > 10 for share in shares)


def _crashes(*instants_ms: int) -> list[dict[str, Any]]:
    return [{"kind": "crash_task", "vertex": "sink", "at_ns": at * MS} for at in instants_ms]


@pytest.mark.parametrize(
    ("restart", "outcome", "attempts"),
    [
        ({"kind": "none"}, "failed", 1),
        ({"kind": "fixed_delay", "attempts": 1}, "failed", 2),
        ({"kind": "fixed_delay", "attempts": 2}, "completed", 3),
        ({"kind": "fixed_delay"}, "completed", 3),
    ],
)
def test_restart_strategy_decides_what_follows_a_failure(
    restart: dict[str, Any], outcome: str, attempts: int
) -> None:
    """A job that crashes twice fails for good when it may not be restarted as often."""
    text = document.plain(scenario(restart=restart)) | {"faults": _crashes(30, 60)}
    result = run_world(document.read(text, source="test"), seed=0)
    assert (result.run.outcome, result.run.attempts) == (outcome, attempts)
    assert (result.goals["restarts_used_up"] > 0) == (outcome == "failed")
    assert result.violations == []


def test_a_vertex_has_a_snapshot_cost_of_its_own() -> None:
    """What copying the state costs is the one of the job, but where a vertex says otherwise."""
    vertices = document.plain(scenario())["job"]["vertices"]  # type: ignore[index]
    vertices[1]["snapshot_sync_ns"] = 3 * MS
    result = run_world(scenario(vertices=vertices, costs={"snapshot_sync_ns": 2 * MS}), seed=0)
    done = [row for row in result.task_checkpoints if row.status == "acknowledged"]
    assert {row.sync_ns for row in done if row.task == "source"} == {2 * MS}
    assert {row.sync_ns for row in done if row.task == "sink"} == {3 * MS}


def test_library_says_what_jobs_are_in_one_way() -> None:
    """No scenario of the library names a plane other than its link's own."""
    for link, plane in zip(JOBS, (Plane.BUFFERS, Plane.RECORDS, Plane.RECORDS), strict=True):
        assert model(scenario(link)).plane is plane
    assert model(by_name("keyed_crash")).plane is Plane.RECORDS
