"""Random jobs that restore what was in flight: they fail behind checkpoints taken under a backlog.

Where everything is drawn by itself a job seldom has both.  Most fail before their first checkpoint
is complete, and what is complete by then holds nothing in flight.
"""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios.generators.choices import Choices

_MS = 1_000_000
_FAILURES = (
    "crash_task",
    "crash_task_manager",
    "crash_job_manager",
    "crash_at_checkpoint",
    "rescale",
    "resubmit",
)
# Intervals between checkpoints that pass before the first failure.
_BEFORE = 3
# What a vertex takes for a record, against the time in which its sources emit one for each subtask.
_OF_THEIR_PACE = (1.5, 0.8, 2.0)


def restoring(choices: Choices, text: dict[str, Any], *, on_records: bool) -> dict[str, Any]:
    """Return a job's document in which failures come behind checkpoints with much in flight."""
    job = text["job"]
    _checkpoints(choices, job, on_records=on_records)
    _backlog(choices, job, on_records=on_records)
    faults = [_later(one, job) for one in text["faults"]]
    if not any(one["kind"] in _FAILURES for one in faults):
        faults.append(_crash(choices, job))
    return text | {"faults": faults}


def _checkpoints(choices: Choices, job: dict[str, Any], *, on_records: bool) -> None:
    """Let checkpoints come often, overtake data, and complete; let the job be restarted."""
    table = job["checkpointing"]
    shortest_ns = (20 if on_records else 40) * _MS
    interval_ns = table["interval_ns"] = min(max(table["interval_ns"], shortest_ns), 60 * _MS)
    table |= {
        "enabled": True,
        "mode": choices.of(("unaligned", "unaligned", "aligned_timeout", "aligned")),
        "max_concurrent": 1,
        "min_pause_ns": min(table["min_pause_ns"], interval_ns // 2),
        "timeout_ns": max(table["timeout_ns"], 10 * interval_ns),
        "aligned_timeout_ns": min(table["aligned_timeout_ns"], interval_ns // 4),
    }
    table.pop("count", None)
    job["storage"]["failure_ratio"] = job["costs"]["checkpoint_failure_ratio"] = 0.0
    restart = job.get("restart", {})
    if restart.get("kind") == "none" or restart.get("attempts") == 0:
        restart = {}
    job["restart"] = restart or {"kind": "fixed_delay", "delay_ns": 0, "attempts": 5}


def _backlog(choices: Choices, job: dict[str, Any], *, on_records: bool) -> None:
    """Let sources emit for some intervals, more than the operators below them can process."""
    vertices = job["vertices"]
    lasts_ns = (_BEFORE + choices.integer(2, 5)) * job["checkpointing"]["interval_ns"]
    total_per_s = 0.0
    for source in (one for one in vertices if one.get("kind") == "source"):
        rate = source["rate_per_s"] = choices.of((200.0, 100.0, 400.0)) * source["parallelism"]
        total_per_s += rate
        if "records" in source or source.pop("ends_at_ns", None) is not None:
            source["records"] = round(rate * lasts_ns / 1e9)
    for vertex in vertices:
        if vertex.get("inputs"):
            as_fast_ns = 1e9 * vertex["parallelism"] / total_per_s
            vertex["service_ns"] = round(as_fast_ns * choices.of(_OF_THEIR_PACE))
    if on_records:
        job["channels"] |= {"sender_records": choices.of((4, 8)), "receiver_records": 4}
    else:
        job["duration_ns"] = max(job["duration_ns"], 3_000 * _MS)
        job["network"] |= {"record_bytes": choices.of((1024, 300)), "debloat": False}


def _later(fault: dict[str, Any], job: dict[str, Any]) -> dict[str, Any]:
    """Return a fault, one that is a failure behind the first checkpoints."""
    if fault["kind"] not in _FAILURES:
        return fault
    if "checkpoint" in fault:
        return fault | {"checkpoint": max(fault["checkpoint"], _BEFORE)}
    return fault | {"at_ns": fault["at_ns"] + _BEFORE * job["checkpointing"]["interval_ns"]}


def _crash(choices: Choices, job: dict[str, Any]) -> dict[str, Any]:
    vertex: dict[str, Any] = choices.of(tuple(job["vertices"]))
    return {
        "kind": "crash_task",
        "vertex": vertex["name"],
        "subtask": choices.integer(0, vertex["parallelism"] - 1),
        "at_ns": _BEFORE * job["checkpointing"]["interval_ns"] + choices.integer(0, 40) * _MS,
    }
