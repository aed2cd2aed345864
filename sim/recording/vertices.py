"""The vertices and the checkpoints of a recorded job, each from the answers that tell of it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from ckptsim.sim.recording.answers import Answer, number, objects, text, whole
from ckptsim.sim.recording.recording import (
    CheckpointAnswer,
    Note,
    Sample,
    SubtaskAnswer,
    SubtaskPart,
    VertexAnswer,
    VertexInput,
)

_VERTEX = re.compile(r"/vertices/([^/?]+)(/[a-z]+)?(\?.*)?")
_METRIC = re.compile(r"(\d{1,6})\.(.+)")
_TAG = re.compile(r"<[^>]*>")
# Assumption: more subtasks than any cluster has. A larger number is a torn or hostile answer.
_PARALLELISM_MAX = 1 << 15

# What /vertices/:id says of a subtask, by the names of the same counters among the metrics.
_LIFETIME = {
    "accumulated-busy-time": "accumulateBusyTimeMs",
    "accumulated-backpressured-time": "accumulateBackPressuredTimeMs",
    "accumulated-idle-time": "accumulateIdleTimeMs",
    "read-records": "numRecordsIn",
    "write-records": "numRecordsOut",
    "read-bytes": "numBytesIn",
    "write-bytes": "numBytesOut",
}

# Metrics that are together how long a subtask has run.
_CLOCK = ("accumulateBusyTimeMs", "accumulateBackPressuredTimeMs", "accumulateIdleTimeMs")


@dataclass(slots=True)
class _Found:
    metrics: set[str] = field(default_factory=set)
    samples: dict[int, list[Sample]] = field(default_factory=dict)
    lifetime: dict[int, list[Sample]] = field(default_factory=dict)
    places: dict[int, dict[str, Any]] = field(default_factory=dict)


def read_vertices(
    job: Mapping[str, Any], plan: Mapping[str, Any], answers: Sequence[tuple[Answer, str]]
) -> tuple[VertexAnswer, ...]:
    """Return the vertices in the order of the job, or of the plan. answers: with their paths."""
    nodes = _nodes(plan)
    entries = {i: e for e in objects(job.get("vertices")) if (i := text(e.get("id"))) is not None}
    found = _found(answers)
    names = list(entries) or list(nodes)[::-1]  # a plan has the last ones first
    return _clocked(
        [
            vertex
            for name in names
            if (vertex := _vertex(name, entries.get(name, {}), nodes.get(name, {}), found))
            is not None
        ]
    )


def _clocked(vertices: Sequence[VertexAnswer]) -> tuple[VertexAnswer, ...]:
    """Return vertices in which all subtasks with times have a busy time.

    Sources of the old interface do not know when they are busy.  All times of a subtask together
    are its clock, and the clocks of a job go alike, which the one of the answers does not: what
    they say is older than they are.
    """
    known = [
        tuple(sum(sample.values[name] for name in _CLOCK) for sample in subtask.samples)
        for vertex in vertices
        for subtask in vertex.subtasks
        if all(name in sample.values for sample in subtask.samples for name in _CLOCK)
    ]

    def whole(subtask: SubtaskAnswer) -> SubtaskAnswer:
        clocks = [clock for clock in known if len(clock) == len(subtask.samples)]
        busy, *rest = _CLOCK
        if not clocks or any(
            busy in sample.values or not all(name in sample.values for name in rest)
            for sample in subtask.samples
        ):
            return subtask
        samples = [
            replace(
                sample,
                values=dict(sample.values)
                | {busy: max(0.0, median(now) - sum(sample.values[name] for name in rest))},
            )
            for sample, now in zip(subtask.samples, zip(*clocks, strict=True), strict=True)
        ]
        return replace(subtask, samples=tuple(samples))

    return tuple(replace(v, subtasks=tuple(map(whole, v.subtasks))) for v in vertices)


def _vertex(
    name: str, entry: Mapping[str, Any], node: Mapping[str, Any], found: Mapping[str, _Found]
) -> VertexAnswer | None:
    parallelism = whole(entry.get("parallelism"), 1) or whole(node.get("parallelism"), 1)
    if parallelism is None or parallelism > _PARALLELISM_MAX:
        return None
    own = found.get(name, _Found())
    operators = _operators(text(node.get("description")))
    return VertexAnswer(
        id=name,
        name=text(entry.get("name")) or " -> ".join(operators) or name,
        parallelism=parallelism,
        max_parallelism=whole(entry.get("maxParallelism"), 1),
        status=text(entry.get("status")),
        operators=operators or tuple((text(entry.get("name")) or name).split(" -> ")),
        inputs=tuple(
            VertexInput(upstream=upstream, ship=text(one.get("ship_strategy")))
            for one in objects(node.get("inputs"))
            if (upstream := text(one.get("id"))) is not None
        ),
        metrics=frozenset(own.metrics),
        subtasks=tuple(_subtask(index, own) for index in range(parallelism)),
    )


def _subtask(index: int, found: _Found) -> SubtaskAnswer:
    place = found.places.get(index, {})
    samples = found.samples.get(index) or found.lifetime.get(index, [])
    return SubtaskAnswer(
        index=index,
        task_manager=text(place.get("taskmanager-id")),
        host=text(place.get("endpoint")) or text(place.get("host")),
        attempt=whole(place.get("attempt")) or 0,
        samples=tuple(samples),
    )


def _nodes(plan: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    inner = plan.get("plan")
    nodes = inner.get("nodes") if isinstance(inner, dict) else plan.get("nodes")
    return {name: node for node in objects(nodes) if (name := text(node.get("id"))) is not None}


def _operators(description: str | None) -> tuple[str, ...]:
    """Return the operators of a chain, from the tree that the plan draws of it."""
    lines = re.split(r"<br/?>|\n", html.unescape(description or ""))
    # Branches of a chain begin with `+-` after bars and blanks, one per level.
    bare = (_TAG.sub("", line).strip().lstrip(":|+- ").strip() for line in lines)
    return tuple(line for line in bare if line)


def _found(answers: Iterable[tuple[Answer, str]]) -> dict[str, _Found]:
    found: dict[str, _Found] = {}
    for answer, path in answers:
        match = _VERTEX.fullmatch(path)
        if match is None:
            continue
        own = found.setdefault(match[1], _Found())
        if match[2] == "/metrics":
            _take_metrics(own, answer, is_list=not match[3])
        elif match[2] is None and isinstance(answer.body, dict):
            _take_subtasks(own, answer)
    return found


def _take_metrics(own: _Found, answer: Answer, *, is_list: bool) -> None:
    values: dict[int, dict[str, float]] = {}
    for entry in objects(answer.body):
        match = _METRIC.fullmatch(str(entry.get("id")))
        if match is None:
            continue
        own.metrics.add(match[2])
        value = number(entry.get("value"))
        if not is_list and value is not None:
            values.setdefault(int(match[1]), {})[match[2]] = value
    for subtask, metrics in values.items():
        sample = Sample(at_ms=answer.at_ms or 0, values=metrics)
        own.samples.setdefault(subtask, []).append(sample)


def _take_subtasks(own: _Found, answer: Answer) -> None:
    for entry in objects(answer.body.get("subtasks")):
        index = whole(entry.get("subtask"))
        if index is None:
            continue
        own.places[index] = entry
        metrics = entry.get("metrics")
        if not isinstance(metrics, dict):
            continue
        values = {
            ours: value
            for theirs, ours in _LIFETIME.items()
            if (value := number(metrics.get(theirs))) is not None
        }
        # Counters begin at 0 with the task, so one answer says how far they have grown.
        began = Sample(at_ms=whole(entry.get("start-time")) or 0, values=dict.fromkeys(values, 0.0))
        samples = own.lifetime.setdefault(index, [began])
        samples.append(Sample(at_ms=answer.at_ms or 0, values=values))


_DETAILS = re.compile(r"/checkpoints/details/(\d{1,12})(?:/subtasks/([^/?]+))?")


def read_checkpoints(
    own: Mapping[str, Answer],
) -> tuple[tuple[CheckpointAnswer, ...], tuple[Note, ...]]:
    """Return the checkpoints, oldest first, and the missing parts. own: path -> answer."""
    entries: dict[int, Mapping[str, Any]] = {}
    parts: dict[int, dict[str, tuple[SubtaskPart, ...]]] = {}
    notes: list[Note] = []
    history = own.get("/checkpoints")
    if history is None:
        notes.append(Note("/checkpoints", "no such answer (durations and sizes)"))
    elif isinstance(history.body, dict):
        entries |= {
            number_: entry
            for entry in objects(history.body.get("history"))
            if (number_ := whole(entry.get("id"))) is not None
        }
    for path, answer in own.items():
        match = _DETAILS.fullmatch(path)
        if match is None or not isinstance(answer.body, dict):
            continue
        checkpoint = int(match[1])
        if match[2] is None:
            entries.setdefault(checkpoint, answer.body)
        else:
            parts.setdefault(checkpoint, {})[match[2]] = _parts(answer.body)
    found = tuple(_checkpoint(id_, entries[id_], parts.get(id_, {})) for id_ in sorted(entries))
    if found and not parts:
        notes.append(Note("/checkpoints/details", "no such answer (parts of the subtasks)"))
    return found, tuple(notes)


def _checkpoint(
    id_: int, entry: Mapping[str, Any], parts: Mapping[str, tuple[SubtaskPart, ...]]
) -> CheckpointAnswer:
    return CheckpointAnswer(
        id=id_,
        status=text(entry.get("status")) or "UNKNOWN",
        is_savepoint=entry.get("is_savepoint") is True,
        trigger_ms=whole(entry.get("trigger_timestamp"), 1),
        duration_ms=_least_0(entry.get("end_to_end_duration")),
        checkpointed_bytes=_size(entry),
        processed_bytes=whole(entry.get("processed_data")),
        persisted_bytes=whole(entry.get("persisted_data")),
        parts=parts,
    )


def _size(entry: Mapping[str, Any]) -> int | None:
    """Return what a checkpoint has written, which is less than its state where it is incremental.

    Source: Apache Flink, FLINK-13390 (1.14): `checkpointed_size`. Before that `state_size` only.
    """
    found = whole(entry.get("checkpointed_size"))
    return whole(entry.get("state_size")) if found is None else found


def _parts(body: Mapping[str, Any]) -> tuple[SubtaskPart, ...]:
    return tuple(
        _part(entry, index)
        for entry in objects(body.get("subtasks"))
        if (index := whole(entry.get("index"))) is not None
        and str(entry.get("status", "completed")).lower() == "completed"
        and entry.get("aborted") is not True
    )


def _part(entry: Mapping[str, Any], index: int) -> SubtaskPart:
    snapshot = _inner(entry, "checkpoint")
    alignment = _inner(entry, "alignment")
    return SubtaskPart(
        subtask=index,
        end_to_end_ms=_least_0(entry.get("end_to_end_duration")) or 0.0,
        start_delay_ms=_least_0(entry.get("start_delay")) or 0.0,
        alignment_ms=_least_0(alignment.get("duration")) or 0.0,
        sync_ms=_least_0(snapshot.get("sync")) or 0.0,
        async_ms=_least_0(snapshot.get("async")) or 0.0,
        checkpointed_bytes=_size(entry) or 0,
        processed_bytes=whole(alignment.get("processed")) or 0,
        persisted_bytes=whole(alignment.get("persisted")) or 0,
        unaligned=entry.get("unaligned_checkpoint") is True,
        full_bytes=whole(entry.get("state_size")) or 0,
    )


def _inner(entry: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = entry.get(key)
    return value if isinstance(value, dict) else {}


def _least_0(value: object) -> float | None:
    """Return a time. The engine says -1 for one that it does not know."""
    found = number(value)
    return found if found is not None and found >= 0 else None
