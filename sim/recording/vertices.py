"""The vertices of a recorded job: from the job, its plan, and what each vertex answers."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from ckptsim.sim.recording.answers import Answer, objects
from ckptsim.sim.recording.recording import (
    Sample,
    SubtaskAnswer,
    VertexAnswer,
    VertexInput,
)
from ckptsim.sim.recording.values import number, text, whole

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
    """What the answers of one vertex have said so far."""

    metrics: set[str] = field(default_factory=set)
    samples: dict[int, list[Sample]] = field(default_factory=dict)
    lifetime: dict[int, list[Sample]] = field(default_factory=dict)
    places: dict[int, dict[str, Any]] = field(default_factory=dict)


def read_vertices(
    job: Mapping[str, Any], plan: Mapping[str, Any], answers: Sequence[tuple[Answer, str]]
) -> tuple[VertexAnswer, ...]:
    """Return the vertices in the order of the job. The ones of the plan where that is missing.

    answers: with their paths inside the job, in the order in which they were asked for.
    """
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
    """Sort what the vertices answer."""
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
