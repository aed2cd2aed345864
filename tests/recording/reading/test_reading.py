"""Recordings are read as typed data. The missing part or torn is noted, never made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.infer.job import scenario_of
from ckptsim.sim.recording import read_recording
from tests.recording.folders import NAMES, SHIPPED, changed, copied, without


@pytest.mark.parametrize("name", NAMES)
def test_shipped_recordings_are_whole(name: str) -> None:
    """Every subtask has samples and a task manager, every vertex its operators, and no note."""
    found = read_recording(SHIPPED / name)
    assert found.notes == ()
    assert found.version == "1.20.3"
    assert found.job_type == "STREAMING"
    for vertex in found.vertices:
        assert vertex.operators
        assert len(vertex.subtasks) == vertex.parallelism
        for subtask in vertex.subtasks:
            assert len(subtask.samples) == 5
            assert subtask.task_manager in {one.id for one in found.task_managers}
    assert all(one.cores == 2 for one in found.task_managers)


def test_a_job_is_read_as_the_server_shows_it() -> None:
    """Names, inputs, chained operators and the parts of checkpoints are the ones of the answers."""
    found = read_recording(SHIPPED / "job15")
    assert [vertex.name for vertex in found.vertices] == [
        "Source: orders",
        "Source: clicks",
        "join",
        "enrich -> discard: Writer",
    ]
    assert found.vertices[3].operators == ("enrich", "discard: Writer")
    by_id = {vertex.id: vertex.name for vertex in found.vertices}
    assert [(by_id[i.upstream], i.ship) for i in found.vertices[2].inputs] == [
        ("Source: orders", "HASH"),
        ("Source: clicks", "HASH"),
    ]
    last = found.completed[-1]
    assert (last.id, last.duration_ms, last.processed_bytes) == (17, 1254, 1786880)
    parts = last.parts[found.vertices[2].id]
    assert [(part.start_delay_ms, part.alignment_ms) for part in parts] == [
        (108, 612),
        (114, 43),
        (122, 56),
    ]


def test_counters_grow_over_samples() -> None:
    """Growth is last less first. It is unknown where a restart began to count again."""
    found = read_recording(SHIPPED / "job00").vertices[1].subtasks[0]
    assert found.growth("numRecordsIn") == 8126
    assert found.last("numRecordsIn") == found.samples[0].values["numRecordsIn"] + 8126
    assert found.growth("numRecordsOutPerMinute") is None


def test_no_number_is_no_value(tmp_path: Path) -> None:
    """Metrics that are "NaN" or text are left out, and so is a counter that fell."""

    def spoilt(metrics: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [m | {"value": "NaN"} if m["id"].endswith("numRecordsIn") else m for m in metrics]

    folder = changed(copied("job00", tmp_path), "mailboxLatencyMs_mean", spoilt)
    subtask = read_recording(folder).vertices[1].subtasks[0]
    assert subtask.growth("numRecordsIn") is None
    assert subtask.growth("numBytesIn") is not None


@pytest.mark.parametrize(
    ("part", "noted"),
    [
        ("/plan", "topology"),
        ("/checkpoints/config", "options"),
        ("/jobmanager/config", "options of network"),
        ("/checkpoints/details", "parts of the subtasks"),
    ],
)
def test_a_missing_answer_is_noted(tmp_path: Path, part: str, noted: str) -> None:
    """What a recording lacks is said, and the rest is read."""
    found = read_recording(without(copied("job08", tmp_path), part))
    assert any(noted in str(note) for note in found.notes)
    assert len(found.vertices) == 3


def test_vertices_come_from_the_plan_where_the_job_is_missing(tmp_path: Path) -> None:
    """Without the answer about the job its plan says which vertices there are, sources first."""
    folder = copied("job04", tmp_path)
    index = json.loads((folder / "index.json").read_text())
    job = next(e["path"] for e in index["answers"] if e["path"].endswith("/plan"))
    index["answers"] = [e for e in index["answers"] if e["path"] != job.removesuffix("/plan")]
    (folder / "index.json").write_text(json.dumps(index))
    found = read_recording(folder)
    assert [vertex.parallelism for vertex in found.vertices] == [1, 1, 1, 1]
    assert found.vertices[0].operators == ("Source: src",)


def test_lifetime_counters_stand_in_for_samples(tmp_path: Path) -> None:
    """A recording without samples of metrics has the counters that each vertex answers."""
    found = read_recording(without(copied("job00", tmp_path), "metrics?get"))
    subtask = found.vertices[1].subtasks[0]
    assert [sample.values["numRecordsIn"] for sample in subtask.samples] == [0, 8524]


def test_whole_addresses_are_paths(tmp_path: Path) -> None:
    """An index with addresses, as someone with curl would write it, reads the same."""
    folder = copied("job00", tmp_path)
    before = read_recording(folder)
    index = json.loads((folder / "index.json").read_text())
    for entry in index["answers"]:
        entry["path"] = "http://jobs.example:8081/v1" + entry["path"]
    (folder / "index.json").write_text(json.dumps(index))
    assert read_recording(folder) == before


# What answers of other versions lack.  Source: Apache Flink, FLINK-33147 (`endpoint` from 1.19 on)
# and FLINK-36355 (no `host` from 2.0 on).  Assumption: the oldest may lack the others, too.
OF_1_17 = {"endpoint", "job-type", "slotSharingGroupId", "status-duration"}
OF_2_2 = {"host"}


def _less(body: Any, keys: set[str]) -> Any:
    """Return an answer without keys, wherever they are."""
    if isinstance(body, list):
        return [_less(one, keys) for one in body]
    if not isinstance(body, dict):
        return body
    return {key: _less(value, keys) for key, value in body.items() if key not in keys}


@pytest.mark.parametrize(("version", "lacks"), [("1.17.2", OF_1_17), ("2.2.0", OF_2_2)])
@pytest.mark.parametrize("name", ["job03", "job15"])
def test_other_versions_are_read_and_imported_alike(
    name: str, version: str, lacks: set[str], tmp_path: Path
) -> None:
    """What the server of another version does not say, or says besides, changes nothing."""
    folder = copied(name, tmp_path)
    for file in folder.glob("0*.json"):
        text = file.read_text().replace("1.20.3", version)
        if version < "2":
            # The actor system had another name, and options of checkpoints the older ones.
            text = text.replace("pekko://", "akka://").replace("unaligned.enabled", "unaligned")
        body = _less(json.loads(text), lacks)
        if version > "2" and isinstance(body, dict) and "vertices" in body:
            body |= {"pending-operators": 0, "stream-graph": {"nodes": []}}
        file.write_text(json.dumps(body))
    found, before = read_recording(folder), read_recording(SHIPPED / name)
    assert found.version == version
    assert found.notes == ()
    ours, theirs = scenario_of(found), scenario_of(before)
    assert ours.scenario.model == theirs.scenario.model
    assert ours.findings == theirs.findings


def _no_index(folder: Path) -> None:
    (folder / "index.json").unlink()


def _torn_index(folder: Path) -> None:
    text = (folder / "index.json").read_text()
    (folder / "index.json").write_text(text[: len(text) // 2])


def _no_list(folder: Path) -> None:
    (folder / "index.json").write_text('{"answers": {"a": 1}}')


def _no_files(folder: Path) -> None:
    for file in folder.glob("0*.json"):
        file.unlink()


def _leads_outside(folder: Path) -> None:
    entries = [{"file": "../../etc/passwd", "path": "/jobs/a/plan", "at_ms": 1}]
    (folder / "index.json").write_text(json.dumps({"answers": entries}))


def _no_job(folder: Path) -> None:
    without(folder, "/jobs/")


def _two_jobs(folder: Path) -> None:
    index = json.loads((folder / "index.json").read_text())
    index["answers"].append(index["answers"][6] | {"path": "/jobs/other"})
    (folder / "index.json").write_text(json.dumps(index))


def _batch(folder: Path) -> None:
    changed(folder, "/plan", lambda plan: {"plan": plan["plan"] | {"type": "BATCH"}})
    index = json.loads((folder / "index.json").read_text())
    job = next(e["path"] for e in index["answers"] if e["path"].endswith("/plan"))
    changed(folder, job.removesuffix("/plan"), lambda answer: answer | {"job-type": "BATCH"})


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (_no_index, "index.json"),
        (_torn_index, "torn"),
        (_no_list, 'no list "answers"'),
        (_no_files, "no answer that can be read"),
        (_leads_outside, "not in the folder"),
        (_no_job, "no answer about a job"),
        (_two_jobs, "--job"),
        (_batch, "batch job"),
    ],
)
def test_what_is_no_recording_is_refused(tmp_path: Path, damage: Any, says: str) -> None:
    """One sentence says the value found and the value expected."""
    folder = copied("job00", tmp_path)
    damage(folder)
    with pytest.raises(UserError, match=says):
        read_recording(folder)


def test_a_job_is_chosen_by_its_id(tmp_path: Path) -> None:
    """Of several jobs the named one is read. A name that is not there is refused."""
    folder = copied("job00", tmp_path)
    _two_jobs(folder)
    job = read_recording(SHIPPED / "job00").job_id
    assert len(read_recording(folder, job=job).vertices) == 2
    with pytest.raises(UserError, match="--job"):
        read_recording(folder, job="nobody")
