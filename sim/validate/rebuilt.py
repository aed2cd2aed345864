"""A measured summary worked out again from the measured checkpoints, where a line has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ckptsim.sim.validate.statistics import stats

Checkpoint = Mapping[str, Any]
_TIMES = ("end_to_end_ms", "start_delay_ms", "alignment_ms", "sync_ms", "async_ms")
_BYTES = ("persisted_bytes", "processed_bytes", "checkpointed_bytes")


def rebuilt_summary(checkpoints: Sequence[Checkpoint]) -> dict[str, Any] | None:
    """Return the summary of completed checkpoints in the order of their triggers.

    None without checkpoints, or where they do not say how long they took.
    """
    if not checkpoints or any(c.get("end_to_end_duration_ms") is None for c in checkpoints):
        return None
    found: dict[str, Any] = {
        key: stats([float(c[key]) for c in checkpoints if c.get(key) is not None])
        for key in ("end_to_end_duration_ms", *_BYTES)
    }
    gaps = [
        float(after["trigger_ms"] - before["trigger_ms"]) for before, after in pairwise(checkpoints)
    ]
    found["trigger_gap_ms"] = stats(gaps)
    names = dict.fromkeys(name for c in checkpoints for name in c.get("vertices") or {})
    found["vertices"] = {name: _vertex(checkpoints, name) for name in names}
    return found


def _vertex(checkpoints: Sequence[Checkpoint], name: str) -> dict[str, Any]:
    parts = [
        [part for part in (c.get("vertices") or {}).get(name, ()) if "end_to_end_ms" in part]
        for c in checkpoints
    ]
    parts = [subtasks for subtasks in parts if subtasks]
    found: dict[str, Any] = {}
    for key in _TIMES:
        found[f"max_{key}"] = stats([float(max(p.get(key, 0) for p in s)) for s in parts])
    for key in _BYTES:
        found[f"sum_{key}"] = stats([float(sum(p.get(key, 0) for p in s)) for s in parts])
    total = sum(len(subtasks) for subtasks in parts)
    unaligned = sum(1 for subtasks in parts for part in subtasks if part.get("unaligned"))
    found["unaligned_subtask_fraction"] = round(unaligned / total, 3) if total else 0.0
    return found
