"""Read a recording: the answers of one job, put together as typed data.

Raises UserError only where nothing can be said of a job: no job, several and none named, a batch
job, no graph.  Everything else that is missing becomes a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ckptsim.scenarios.dialect import printable
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.recording.answers import Answer, Answers, objects, read_answers, text, whole
from ckptsim.sim.recording.recording import Note, Recording, TaskManagerAnswer
from ckptsim.sim.recording.spans import has_spans, read_spans, recording_of, with_spans
from ckptsim.sim.recording.vertices import read_checkpoints, read_vertices

_JOB = re.compile(r"/jobs/([^/?]+)")
_NO_JOBS = ("overview", "metrics")


def read_recording(place: Path, *, job: str | None = None, spans: Path | None = None) -> Recording:
    """Read the recording of a job. `job` is its id, needed where several were recorded.

    spans: a file with spans of its checkpoints and restores. The place may be such a file itself.
    Raises UserError where nothing can be said of a job.
    """
    if place.is_file() and has_spans(place):
        return recording_of(read_spans(place, job=job))
    found = _read(place, job)
    return found if spans is None else with_spans(found, read_spans(spans, job=found.job_id))


def _read(folder: Path, job: str | None) -> Recording:
    answers = read_answers(folder)
    job_id = job_of(answers, job)
    notes = list(answers.notes)
    prefix = f"/jobs/{job_id}"
    own = {
        answer.path.removeprefix(prefix): answer
        for answer in answers.all
        if answer.path == prefix or answer.path.startswith((prefix + "/", prefix + "?"))
    }
    ordered = [a for a in answers.all if a.path.startswith(prefix)]
    about = _object(own.get(""), notes, f"{prefix}: the job")
    plan = _object(own.get("/plan"), notes, f"{prefix}/plan: topology and partitioners")
    kind = text(about.get("job-type")) or text(plan.get("type"))
    if kind == "BATCH":
        raise UserError(f"{folder}: found a batch job, expected a streaming job: no barriers there")
    vertices = read_vertices(about, plan, [(a, a.path.removeprefix(prefix)) for a in ordered])
    if not vertices:
        expected = "the answer of /jobs/:id or of /jobs/:id/plan"
        raise UserError(f"{folder}: found no vertex of the job, expected {expected}")
    checkpointing = _object(
        own.get("/checkpoints/config"), notes, f"{prefix}/checkpoints/config: options"
    )
    checkpoints, lacking = read_checkpoints(own)
    return Recording(
        version=_version(answers),
        job_id=job_id,
        job_name=text(about.get("name")) or "job",
        job_state=text(about.get("state")),
        job_type=kind,
        options=_options(answers, prefix, notes),
        checkpointing=checkpointing,
        vertices=vertices,
        task_managers=tuple(_task_managers(answers)),
        checkpoints=checkpoints,
        duration_ms=_duration_ms(ordered),
        files=_files(answers, prefix),
        notes=tuple(notes) + lacking,
    )


def job_of(answers: Answers, wanted: str | None) -> str:
    """Return the job's id. Raises UserError where there is none, or several and none is named."""
    counts: dict[str, int] = {}
    for answer in answers.all:
        match = _JOB.match(answer.path)
        if match is not None and match[1] not in _NO_JOBS:
            counts[match[1]] = counts.get(match[1], 0) + 1
    if wanted is not None:
        if wanted not in counts:
            known = ", ".join(counts) or "no job at all"
            raise UserError(f"--job: found {wanted!r}, expected one of the recorded: {known}")
        return wanted
    if not counts:
        raise UserError(f"{answers.folder}: found no answer about a job, expected /jobs/:id/...")
    if len(counts) > 1:
        raise UserError(
            f"{answers.folder}: found {len(counts)} jobs, expected `--job` with one of "
            + ", ".join(counts)
        )
    return next(iter(counts))


def _object(answer: Answer | None, notes: list[Note], what: str) -> Mapping[str, Any]:
    place, _, says = what.partition(": ")
    if answer is None:
        notes.append(Note(place, f"no such answer ({says})"))
        return {}
    if not isinstance(answer.body, dict) or "errors" in answer.body:
        notes.append(Note(answer.file, f"no answer of {place} ({says})"))
        return {}
    return answer.body


def _bodies(answers: Answers, path: str) -> Iterator[Any]:
    return (answer.body for answer in answers.all if answer.path == path)


def _version(answers: Answers) -> str | None:
    for path in ("/config", "/overview"):
        for body in _bodies(answers, path):
            if isinstance(body, dict) and text(body.get("flink-version")):
                return str(text(body["flink-version"]))[:40]
    return None


def _options(answers: Answers, prefix: str, notes: list[Note]) -> dict[str, str]:
    """Return what the configuration of the cluster has set. An archive has it below the job."""
    paths = ("/jobmanager/config", f"{prefix}/jobmanager/config")
    for body in (body for path in paths for body in _bodies(answers, path)):
        return {
            printable(str(entry["key"])): printable(str(entry["value"]))
            for entry in objects(body)
            if "key" in entry and "value" in entry
        }
    notes.append(Note("/jobmanager/config", "no such answer (options of network and storage)"))
    return {}


def _task_managers(answers: Answers) -> Iterator[TaskManagerAnswer]:
    """Yield the task managers once each, from their list or from the answers of their own."""
    seen: dict[str, TaskManagerAnswer] = {}
    for answer in answers.all:
        if not isinstance(answer.body, dict) or not answer.path.startswith("/taskmanagers"):
            continue
        entries = answer.body.get("taskmanagers")
        for entry in objects([answer.body] if entries is None else entries):
            name = text(entry.get("id"))
            if name is None:
                continue
            hardware = entry.get("hardware")
            cores = whole(hardware.get("cpuCores"), 1) if isinstance(hardware, dict) else None
            host = text(entry.get("host")) or _host_of(text(entry.get("path")))
            seen.setdefault(name, TaskManagerAnswer(id=name, host=host, cores=cores))
    yield from seen.values()


def _host_of(path: str | None) -> str | None:
    """Return the host in the address of an actor system, `pekko.tcp://flink@HOST:PORT/...`."""
    match = re.match(r"[a-z.]+://[^@/]+@([^/]+?)(?::\d+)?/", path or "")
    return None if match is None else match[1]


def _duration_ms(answers: list[Answer]) -> int:
    times = [answer.at_ms for answer in answers if answer.at_ms is not None]
    return max(times) - min(times) if times else 0


def _files(answers: Answers, prefix: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for answer in answers.all:
        path = answer.path.removeprefix(prefix) or "/job"
        kind = re.sub(r"/(vertices|details|subtasks)/[^/?]+", r"/\1/:id", path).partition("?")
        found.setdefault(kind[0] + (kind[1] and "?get"), []).append(answer.file)
    return {kind: tuple(files) for kind, files in found.items()}
