"""The checkpoints of a recorded job: the history, and the details that were asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ckptsim.sim.recording.answers import Answer, objects
from ckptsim.sim.recording.recording import CheckpointAnswer, Note, SubtaskPart
from ckptsim.sim.recording.values import number, text, whole

_DETAILS = re.compile(r"/checkpoints/details/(\d{1,12})(?:/subtasks/([^/?]+))?")


def read_checkpoints(
    own: Mapping[str, Answer],
) -> tuple[tuple[CheckpointAnswer, ...], tuple[Note, ...]]:
    """Return the checkpoints, oldest first, and what of them is missing.

    own: path inside the job -> its answer.
    """
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
