"""Checkpoints and restores as spans: what the engine reports to OpenTelemetry, as OTLP JSON.

A file has one export, or one a line, as the file exporter of a collector writes it.
Source: FLIP-384, FLIP-386 and the page "Traces" of Apache Flink: the spans `Checkpoint` and
`JobInitialization` of the scope CheckpointStatsTracker, with their attributes.  Since 2.2 a
checkpoint has maxima and sums over its subtasks, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.recording.answers import FILE_BYTES_MAX, flag, number, objects, text, whole
from ckptsim.sim.recording.recording import (
    CheckpointAnswer,
    InitializationAnswer,
    Note,
    Recording,
    SubtaskPart,
    VertexAnswer,
    VertexInput,
)

_SCOPE = "CheckpointStatsTracker"
_CHECKPOINT, _INITIALIZATION = "Checkpoint", "JobInitialization"
_JOB_ID, _JOB_NAME = ("job_id", "job.id"), ("job_name", "job.name")
_STATUSES = ("COMPLETED", "FAILED")
_NS_PER_MS = 1_000_000
_SOURCE, _OPERATOR = "source", "operator"
_EXPECTED = "spans as OTLP JSON: an object with resourceSpans, or one a line"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """The checkpoints and the restores of one job, oldest first, and what could not be read."""

    job_id: str
    job_name: str
    checkpoints: tuple[CheckpointAnswer, ...]
    initializations: tuple[InitializationAnswer, ...]
    is_unaligned: bool | None
    notes: tuple[Note, ...]


def has_spans(place: Path) -> bool:
    """Return whether a file begins as spans do."""
    try:
        with place.open("rb") as file:
            return b'"resourceSpans"' in file.read(4096)
    except OSError:
        return False


def read_spans(place: Path, *, job: str | None = None) -> Spans:
    """Read the spans of one job, by id if there are several. Raises UserError."""
    notes: list[Note] = []
    checkpoints: dict[str, list[dict[str, Any]]] = {}
    initializations: dict[str, list[dict[str, Any]]] = {}
    for name, found in _spans(_documents(place, notes)):
        kinds = checkpoints if name == _CHECKPOINT else initializations
        kinds.setdefault(_first(found, _JOB_ID) or "", []).append(found)
    jobs = list(dict.fromkeys([*checkpoints, *initializations]))
    if not jobs:
        raise UserError(f"{place}: found no span {_CHECKPOINT} or {_INITIALIZATION}, "
                        f"expected those of {_SCOPE}")  # fmt: skip
    if job is None and len(jobs) > 1:
        raise UserError(f"{place}: found {len(jobs)} jobs, expected `--job` with one of "
                        + ", ".join(jobs))  # fmt: skip
    if job is not None and job not in jobs and jobs != [""]:
        raise UserError(f"{place}: found spans of {', '.join(jobs)}, expected those of {job}")
    chosen = job if job in jobs else jobs[0]
    taken = [_checkpoint(one, notes) for one in checkpoints.get(chosen, [])]
    known = {one.id: one for one in taken if one is not None}
    restores = [_initialization(one) for one in initializations.get(chosen, [])]
    every = checkpoints.get(chosen, []) + initializations.get(chosen, [])
    flags = [flag(one.get("isUnaligned")) for one in checkpoints.get(chosen, [])]
    flags += [True for one in known.values() if one.persisted_bytes]
    return Spans(
        job_id=chosen,
        job_name=_first(every[0], _JOB_NAME) or "job",
        checkpoints=tuple(known[id_] for id_ in sorted(known)),
        initializations=tuple(sorted(restores, key=lambda one: one.start_ms)),
        is_unaligned=next((one for one in reversed(flags) if one is not None), None),
        notes=tuple(notes),
    )


def with_spans(recording: Recording, spans: Spans) -> Recording:
    """Return a recording with the checkpoints of the spans that its answers have no more."""
    found = {one.id: replace(one, parts={}) for one in spans.checkpoints}
    found |= {one.id: one for one in recording.checkpoints}
    return replace(
        recording,
        checkpoints=tuple(found[id_] for id_ in sorted(found)),
        initializations=spans.initializations,
        notes=recording.notes + spans.notes,
    )


def recording_of(spans: Spans) -> Recording:
    """Return what spans alone say of a job: one source and one operator hold its state."""
    note = "spans name no vertex: one source and one operator are assumed, see `import --spans`"
    inputs = (VertexInput(upstream=_SOURCE, ship="HASH"),)
    vertices = (_vertex(_SOURCE, ()), _vertex(_OPERATOR, inputs))
    times = [one.trigger_ms or 0 for one in spans.checkpoints]
    options = {} if spans.is_unaligned is None else {"unaligned_checkpoints": spans.is_unaligned}
    return Recording(
        version=None,
        job_id=spans.job_id,
        job_name=spans.job_name,
        job_state=None,
        job_type="STREAMING",
        options={},
        checkpointing=options,
        vertices=vertices,
        task_managers=(),
        checkpoints=spans.checkpoints,
        duration_ms=max(times) - min(times) if times else 0,
        files={},
        notes=(Note("spans", note), *spans.notes),
        initializations=spans.initializations,
    )


def _vertex(name: str, inputs: tuple[VertexInput, ...]) -> VertexAnswer:
    return VertexAnswer(
        id=name, name=name, parallelism=1, max_parallelism=None, status=None, operators=(name,),
        inputs=inputs, metrics=frozenset(), subtasks=(),
    )  # fmt: skip


def _part(found: Mapping[str, Any], duration_ms: float) -> SubtaskPart:
    """Return one part for all subtasks, with the maxima of the phases. 0 is unknown."""
    figures = _figures(found)

    def of(name: str) -> float:
        return figures.get(name, 0.0)

    return SubtaskPart(
        subtask=0,
        end_to_end_ms=duration_ms,
        start_delay_ms=of("MaxCheckpointStartDelayMs"),
        alignment_ms=of("MaxAlignmentDurationMs"),
        sync_ms=of("MaxSyncCheckpointDurationMs"),
        async_ms=of("MaxAsyncCheckpointDurationMs"),
        checkpointed_bytes=whole(found.get("checkpointedSize")) or 0,
        processed_bytes=int(of("SumProcessedDataBytes")),
        persisted_bytes=int(of("SumPersistedDataBytes")),
        unaligned=of("SumPersistedDataBytes") > 0,
        full_bytes=whole(found.get("fullSize")) or 0,
    )


def _figures(found: Mapping[str, Any]) -> dict[str, float]:
    """Return the maxima and sums over subtasks. Releases begin them with `Max` or `max`."""
    return {
        key[:1].upper() + key[1:]: value
        for key in found
        if key.lower().startswith(("max", "sum")) and (value := number(found[key])) is not None
    }


# Files -------------------------------------------------------------------------------------------


def _documents(place: Path, notes: list[Note]) -> Iterator[Mapping[str, Any]]:
    """Yield the exports of a file. A torn line is noted."""
    try:
        if place.stat().st_size > FILE_BYTES_MAX:
            most = f"at most {FILE_BYTES_MAX >> 20} MiB"
            raise UserError(f"{place}: found {place.stat().st_size:,} bytes, expected {most}")
        content = place.read_text("utf-8-sig")
    except OSError as error:
        raise UserError(f"{place}: found {error.strerror}, expected {_EXPECTED}") from error
    except UnicodeDecodeError:
        raise UserError(f"{place}: found no text in UTF-8, expected {_EXPECTED}") from None
    try:
        whole_file = json.loads(content)
    except (ValueError, RecursionError):
        pass
    else:
        yield from objects(whole_file if isinstance(whole_file, list) else [whole_file])
        return
    for number_, line in enumerate(content.splitlines(), start=1):
        try:
            yield from objects([json.loads(line)]) if line.strip() else ()
        except (ValueError, RecursionError):
            notes.append(Note(f"{place.name}, line {number_}", "not JSON, or torn"))


def _spans(documents: Iterator[Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and attributes of each span of ours, and add the ones of its resource."""
    for document in documents:
        for resource in objects(document.get("resourceSpans")):
            about = resource.get("resource")
            outer = _attributes(about.get("attributes") if isinstance(about, dict) else None)
            for scope in objects(resource.get("scopeSpans")):
                for span in objects(scope.get("spans")):
                    name = text(span.get("name"))
                    if name in (_CHECKPOINT, _INITIALIZATION):
                        times = {"startTs": _ms(span.get("startTimeUnixNano")),
                                 "endTs": _ms(span.get("endTimeUnixNano"))}  # fmt: skip
                        known = {key: value for key, value in times.items() if value is not None}
                        yield name, {**outer, **known, **_attributes(span.get("attributes"))}


def _attributes(found: object) -> dict[str, Any]:
    """Return attributes by name. A value is in an object that names its type."""
    return {
        key: next(iter(value.values()))
        for one in objects(found)
        if (key := text(one.get("key"))) is not None
        and isinstance(value := one.get("value"), dict)
        and value
    }


def _ms(value: object) -> int | None:
    found = whole(value)
    return None if found is None else round(found / _NS_PER_MS)


def _first(found: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((word for name in names if (word := text(found.get(name))) is not None), None)


def _checkpoint(found: Mapping[str, Any], notes: list[Note]) -> CheckpointAnswer | None:
    id_, start, end = (whole(found.get(key)) for key in ("checkpointId", "startTs", "endTs"))
    if id_ is None or start is None or end is None or end < start:
        notes.append(Note("span Checkpoint", "without checkpointId, start or end"))
        return None
    status = (text(found.get("checkpointStatus")) or "").upper()
    kind = (text(found.get("checkpointType")) or "").lower()
    figures = _figures(found)
    return CheckpointAnswer(
        id=id_,
        status=status if status in _STATUSES else "UNKNOWN",
        is_savepoint="savepoint" in kind,
        trigger_ms=start,
        duration_ms=float(end - start),
        checkpointed_bytes=whole(found.get("checkpointedSize")),
        processed_bytes=whole(figures.get("SumProcessedDataBytes")),
        persisted_bytes=whole(figures.get("SumPersistedDataBytes")),
        parts={_OPERATOR: (_part(found, float(end - start)),)},
        full_bytes=whole(found.get("fullSize")),
    )


def _initialization(found: Mapping[str, Any]) -> InitializationAnswer:
    start, end = whole(found.get("startTs")) or 0, whole(found.get("endTs")) or 0
    return InitializationAnswer(
        start_ms=start,
        duration_ms=float(max(0, end - start)),
        checkpoint_id=whole(found.get("checkpointId")),
        full_bytes=whole(found.get("fullSize")),
        figures=_figures(found),
    )
