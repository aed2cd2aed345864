"""Jobs from a history server, its archives, saved answers and spans."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.cli.main import main
from ckptsim.sim.infer.job import scenario_of
from ckptsim.sim.recording import read_recording
from tests.recording.folders import SHIPPED, copied
from tests.recording.servers import Recorded, serving

JOB = "3a53d7725aa4b01fff85d49bf8205a7e"
LIVE = ("/overview", "/taskmanagers", "/jobmanager/config")
Captured = pytest.CaptureFixture[str]


def answers() -> Iterator[tuple[str, Any]]:
    """Yield path and answer of all that a history server has of a job: no metrics."""
    folder = SHIPPED / "job15"
    for entry in json.loads((folder / "index.json").read_text())["answers"]:
        path, body = entry["path"], json.loads((folder / entry["file"]).read_text())
        if path == "/jobmanager/config":
            yield f"/jobs/{JOB}{path}", body
        elif "/metrics" not in path and not path.startswith(LIVE) and "backpressure" not in path:
            yield path, body


def archive(to: Path) -> Path:
    """Write the archive of a job as its job manager does, and return the file."""
    found = [{"path": path, "json": json.dumps(body)} for path, body in answers()]
    (to / JOB).write_text(json.dumps({"archive": found}))
    return to / JOB


def saved(to: Path) -> Path:
    """Save each answer at the place that its path names, and return the folder."""
    for path, body in answers():
        (file := to / "saved" / f"{path[1:]}.json").parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(body))
    return to / "saved"


@pytest.mark.parametrize("made", [archive, saved])
def test_an_archived_job_says_what_its_counters_say(made: Any, tmp_path: Path) -> None:
    """Without samples the counters of a whole life give rates and service times."""
    found = scenario_of(read_recording(made(tmp_path)))
    full = scenario_of(read_recording(SHIPPED / "job15"))
    assert [one.name for one in found.scenario.model.vertices] == [
        one.name for one in full.scenario.model.vertices
    ]
    assert found.scenario.model.checkpointing.interval_ns == 1_000_000_000
    for ours, theirs in zip(
        found.scenario.model.vertices, full.scenario.model.vertices, strict=True
    ):
        assert ours.service_ns == pytest.approx(theirs.service_ns, rel=0.15)
        assert ours.subtask_state_bytes == theirs.subtask_state_bytes


class History(Recorded):
    """A history server: ended jobs, and nothing of a cluster."""

    def body(self, path: str) -> bytes | None:
        """Return an answer."""
        if path == "/config":
            return b'{"flink-version": "1.20.3", "features": {"web-history": true}}'
        if path == "/jobs/overview":
            return json.dumps({"jobs": [{"jid": self.job, "state": "FINISHED"}]}).encode()
        if path.startswith(LIVE) or "metrics" in path:
            return None
        return super().body(path.removeprefix(f"/jobs/{self.job}") if "manager/" in path else path)


def test_a_history_server_is_asked_for_what_it_has(tmp_path: Path, capsys: Captured) -> None:
    """An ended job is recorded at once: no metrics and no task managers are asked for."""
    server = History(SHIPPED / "job15")
    with serving(server) as url:
        assert main(["capture", url, "--out", str(tmp_path / "one")]) == 0
    assert "written:" in capsys.readouterr().out
    asked = [path for _, path, _ in server.asked]
    assert not [path for path in asked if path.startswith(LIVE) or "/metrics" in path]
    assert read_recording(tmp_path / "one").options["taskmanager.memory.segment-size"]


@pytest.mark.parametrize("made", [archive, saved])
def test_capture_reads_and_redacts_what_was_saved(
    made: Any, tmp_path: Path, capsys: Captured
) -> None:
    """A place with answers becomes a recording, with hosts replaced."""
    out = tmp_path / "out"
    assert main(["capture", str(made(tmp_path)), "--out", str(out)]) == 0
    assert "redacted:" in capsys.readouterr().out
    assert read_recording(out).job_id == JOB


# Spans -------------------------------------------------------------------------------------------


def span(name: str, start_ms: int, end_ms: int, **attributes: object) -> dict[str, Any]:
    """Return a span as OTLP has it."""
    kinds = {str: "stringValue", int: "intValue", bool: "boolValue", float: "doubleValue"}
    return {
        "name": name,
        "startTimeUnixNano": str(start_ms * 1_000_000),
        "endTimeUnixNano": str(end_ms * 1_000_000),
        "attributes": [
            {"key": key, "value": {kinds[type(one)]: str(one) if type(one) is int else one}}
            for key, one in attributes.items()
        ],
    }


def export(*spans: dict[str, Any], job: str = JOB) -> dict[str, Any]:
    """Return an export of spans of a job."""
    scope = {"name": "org.apache.flink.runtime.checkpoint.CheckpointStatsTracker"}
    told = [{"key": "job_id", "value": {"stringValue": job}}]
    for one in spans:
        one["attributes"] += told
    return {"resourceSpans": [{"scopeSpans": [{"scope": scope, "spans": list(spans)}]}]}


def checkpoint(
    number: int, lasts_ms: int, status: str = "COMPLETED", **more: object
) -> dict[str, Any]:
    """Return the span of a checkpoint, one every five seconds."""
    start_ms = 1_700_000_000_000 + 5_000 * number
    sizes = {"checkpointedSize": 4_000_000, "fullSize": 40_000_000}
    end_ms = start_ms + lasts_ms
    told = {"checkpointId": number, "checkpointStatus": status, **sizes}
    return span("Checkpoint", start_ms, end_ms, **told, **more)


RESTORE = span(
    "JobInitialization", 1_700_000_000_000, 1_700_000_004_000,
    checkpointId=3, fullSize=40_000_000, MaxDownloadStateDurationMs=2_000,
    **{"MaxRestoredStateSizeBytes.REMOTE": 40_000_000},
)  # fmt: skip


def written(to: Path, *exports: dict[str, Any]) -> Path:
    """Write exports, one a line, and return the file."""
    (to / "spans.jsonl").write_text("\n".join(json.dumps(one) for one in exports))
    return to / "spans.jsonl"


def test_spans_alone_make_a_job(tmp_path: Path, capsys: Captured) -> None:
    """Interval, mode, state and the speed of a restore come from spans. Vertices are assumed."""
    more = {"maxAsyncCheckpointDurationMs": 90, "sumPersistedDataBytes": 2_000}
    done = [checkpoint(number, 200, **more) for number in range(3, 9)]
    place = written(tmp_path, export(*done), export(checkpoint(9, 900, "FAILED"), RESTORE))
    found = read_recording(place)
    assert [one.duration_ms for one in found.completed] == [200.0] * 6
    assert [one.status for one in found.checkpoints][-1] == "FAILED"
    (part,) = found.completed[0].parts["operator"]
    assert (part.async_ms, part.persisted_bytes) == (90, 2_000)
    job = scenario_of(found).scenario.model
    assert job.checkpointing.interval_ns == 5_000_000_000
    assert job.checkpointing.mode == "unaligned"
    assert job.storage.read_bytes_per_s == 20_000_000
    assert job.vertices[1].subtask_state_bytes == (3_998_000,)  # less the data in flight
    assert job.vertices[1].state_bytes == 39_998_000
    out = tmp_path / "job.toml"
    assert main(["import", str(place), "--out", str(out), "--no-replay"]) == 0
    assert "spans name no vertex" in " ".join(capsys.readouterr().out.split())
    assert out.read_text().startswith("#:schema ./ckptsim.schema.json\n")
    assert main(["run", str(out)]) == 0


def test_spans_add_checkpoints_to_a_recording(tmp_path: Path) -> None:
    """A recording keeps its own checkpoints, and gets those that its server had no more."""
    place = written(tmp_path, export(checkpoint(0, 150), RESTORE))
    folder = copied("job15", tmp_path)
    bare, more = read_recording(folder), read_recording(folder, spans=place)
    assert more.checkpoints[0].id == 0
    assert more.checkpoints[1:] == bare.checkpoints
    assert scenario_of(more).scenario.model.storage.read_bytes_per_s == 20_000_000


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{}", 'no list "archive"'),
        ("[1]", 'no list "archive"'),
        ('{"resourceSpans": []}', "no span Checkpoint or JobInitialization"),
        ('{"resourceSpans": [{"scopeSpans": 3}]}', "no span Checkpoint"),
        ("not json", "not JSON"),
    ],
)
def test_a_file_that_is_none_is_refused(text: str, says: str, tmp_path: Path) -> None:
    """A file without answers and without spans is refused with the expected form."""
    place = tmp_path / "odd.json"
    place.write_text(text)
    with pytest.raises(UserError, match=says):
        read_recording(place)


def test_spans_of_two_jobs_need_a_name(tmp_path: Path) -> None:
    """Spans of several jobs are refused until one is named."""
    other = "0" * 32
    exports = export(checkpoint(1, 100)), export(checkpoint(2, 300), job=other)
    place = written(tmp_path, *exports)
    with pytest.raises(UserError, match="2 jobs, expected `--job`"):
        read_recording(place)
    assert [one.id for one in read_recording(place, job=other).checkpoints] == [2]


def test_a_torn_line_is_noted(tmp_path: Path) -> None:
    """A line that is torn, and a span without its id, leave the others as they are."""
    place = written(tmp_path, export(checkpoint(1, 100)), export(span("Checkpoint", 0, 5)))
    place.write_text(place.read_text() + '\n{"resourceSpans": [')
    found = read_recording(place)
    assert [one.id for one in found.checkpoints] == [1]
    assert len([note for note in found.notes if "torn" in note.says or "without" in note.says]) == 2
