"""Small random jobs on records that are restored, at other parallelisms, with much in flight.

They are short: a few vertices and records, a checkpoint or two behind a backlog, a failure, and
another checkpoint that comes while what was restored is still being read.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.job_environment import CHANNEL_STATES, give_broadcast_state

_MS = 1_000_000
_PARTITIONERS = ("hash", "rescale", "custom", "forward", "rebalance", "broadcast", "rescale")
_FAILURES = (
    *("crash_task", "crash_task", "rescale", "rescale", "rescale", "resubmit"),
    *("crash_task_manager", "crash_job_manager"),
)
# How what is in flight is kept: more often the ways in which records of ordered edges are, too.
_KEPT = tuple(
    MappingProxyType(table)
    for table in (
        {},
        {"ordered_edges": "reassigned"},
        {"spilling": "continuous", "replay_from": "file_index"},
        {"ordered_edges": "reassigned"},
        {"handled_by": "downstream"},
    )
)


def document(choose: Choices) -> dict[str, Any]:
    """Return a job with failures as the document of a scenario file, in base units."""
    vertices = [_source(choose, number) for number in range(choose.integer(1, 2))]
    for number in range(choose.of((1, 2, 1, 2, 3))):
        vertices.append(_operator(choose, number, vertices))
    if choose.integer(0, 2) == 2:
        vertices[-1] |= {"kind": "sink", "opens_after_finish": choose.flag()}
    interval_ns = choose.of((10, 6, 20)) * _MS
    job: dict[str, Any] = {
        "vertices": vertices,
        "channels": {
            "sender_records": choose.of((8, 4, 20)),
            "receiver_records": choose.of((4, 2, 8)),
            "latency_ns": choose.of((0, _MS // 10, 3 * _MS)),
            "record_buffers": choose.of((1, 3, 2)),
        },
        "checkpointing": {
            "mode": choose.of(("unaligned", "unaligned", "aligned_timeout")),
            "interval_ns": interval_ns,
            "aligned_timeout_ns": _MS,
            "timeout_ns": 600_000 * _MS,
            "min_pause_ns": 0,
        },
        "channel_state": dict(choose.of((*_KEPT, choose.of(CHANNEL_STATES)))),
        "costs": {
            "rpc_ns": choose.of((0, _MS // 2)),
            "read_record_ns": choose.of((_MS // 4, 0, _MS)),
            "restore_ns": choose.of((0, 0, 3 * _MS)),
        },
        "restart": {"kind": "fixed_delay", "delay_ns": choose.of((0, 5)) * _MS},
        "recovery": {"heartbeat_interval_ns": 3 * _MS, "heartbeat_timeout_ns": 10 * _MS},
    }
    if choose.integer(0, 3) == 3:
        job["event_time"] = {"watermark_interval_ns": choose.of((1, 3)) * _MS}
        idle_ns = choose.of((0, _MS, 2 * _MS))  # about the time between two records of a subtask
        job["event_time"] |= {"idle_timeout_ns": idle_ns} if idle_ns else {}
    return {
        "name": "random_job",
        "link": "barrier_protocol",
        "says": "a small random job that is restored with much in flight",
        "job": job,
        "faults": _failures(choose, vertices, interval_ns),
    }


def on_buffers(choose: Choices) -> dict[str, Any]:
    """Return such a job on buffers, of which few are lent and records fill several or share one."""
    text = document(choose)
    job = text["job"]
    for table in ("channels", "channel_state", "costs", "event_time"):
        job.pop(table, None)
    job["network"] = {
        "record_bytes": choose.of((300, 1_500, 6_000)),
        "segment_bytes": choose.of((4096, 4096, 1_000)),
        "exclusive_buffers": choose.of((2, 0, 1)),
        "floating_buffers": 8,
        "max_buffers_per_channel": 10,
        "buffer_timeout_ns": choose.of((1, 5, 0)) * _MS,
        "latency_ns": choose.of((_MS // 10, _MS)),
        "send_ns": choose.of((_MS // 25, 0)),
    }
    job["placement"] = choose.of(("remote", "remote", "mixed"))
    job["recovery"]["timed"] = choose.flag()
    job["engine"] = choose.of(("processes", "auto", "auto", "auto"))
    job["duration_ns"] = 8_000 * _MS  # a job that hangs is seen to
    job["checkpointing"]["interval_ns"] *= 2
    for vertex in job["vertices"]:
        if "rate_per_s" in vertex:
            vertex["hot_ratio"] = choose.of((0.0, 0.5))
            vertex["records"] *= choose.of((1, 2))  # failovers are later here: some read on then
        vertex["record_variation"] = choose.of((0.0, 0.0, 0.5))
        for one in vertex.get("inputs", ()):
            one["partitioner"] = one["partitioner"].replace("custom", "hash")
    give_broadcast_state(job["vertices"])
    for fault in text["faults"]:
        if "at_ns" in fault:
            fault["at_ns"] *= 2
    return text | {"link": "barriers"}


def _source(choose: Choices, number: int) -> dict[str, Any]:
    parallelism = choose.integer(1, 3)
    return {
        "name": f"source{number}",
        "kind": "source",
        "parallelism": parallelism,
        "rate_per_s": 1000.0 * parallelism / choose.of((1, 2)),
        # Some have finished when the first checkpoint is taken.
        "records": choose.of((choose.integer(12, 30), choose.integer(12, 30), 2)) * parallelism,
        "records_step": choose.of((0, 0, 15)),
    }


def _operator(choose: Choices, number: int, before: list[dict[str, Any]]) -> dict[str, Any]:
    """Return an operator that reads what nobody reads yet, or a vertex that is read already."""
    read = {one["upstream"] for vertex in before for one in vertex.get("inputs", ())}
    unread = [one for one in before if one["name"] not in read]
    again = [one for one in before if one["name"] in read]
    upstream = [choose.of(again)] if again and choose.integer(0, 2) == 2 else unread or again[-1:]
    partitioners = [choose.of(_PARTITIONERS) for _ in upstream]
    forwarded = [u for u, p in zip(upstream, partitioners, strict=True) if p == "forward"]
    parallelism = forwarded[0]["parallelism"] if forwarded else choose.integer(1, 3)
    inputs = [
        {"upstream": u["name"], "partitioner": p}
        if p != "forward" or u["parallelism"] == parallelism
        else {"upstream": u["name"], "partitioner": "rescale"}
        for u, p in zip(upstream, partitioners, strict=True)
    ]
    return {
        "name": f"operator{number}",
        "kind": "operator",
        "parallelism": parallelism,
        "service_ns": choose.of((2, 1, 4)) * _MS,
        "inputs": inputs,
    }


def _failures(
    choose: Choices, vertices: list[dict[str, Any]], interval_ns: int
) -> list[dict[str, Any]]:
    """Return failures that come one after the other, each with a checkpoint soon behind it."""
    found: list[dict[str, Any]] = []
    at_ns = interval_ns
    for _ in range(choose.integer(2, 3)):
        at_ns += choose.integer(1, 2) * interval_ns + choose.integer(1, 6) * _MS
        fault = _failure(choose, choose.of(tuple(vertices))) | {"at_ns": at_ns}
        soon_ns = at_ns + choose.integer(1, 8) * _MS
        # Behind a savepoint that has completed a restart begins from the checkpoint before it.
        asked = choose.of(("request_checkpoint", "request_checkpoint", "request_savepoint"))
        found += [fault, {"kind": asked, "at_ns": soon_ns}]
        if choose.integer(0, 2) > (0 if fault.get("symptom") == "silent" else 1):
            found.append(_crash_meanwhile(choose, vertices, at_ns))
    if choose.integer(0, 1) == 1:  # a file of data in flight breaks, those behind it do not
        vertex: dict[str, Any] = choose.of(tuple(vertices))
        subtask = choose.integer(0, vertex["parallelism"] - 1)
        at = {"vertex": vertex["name"], "subtask": subtask, "checkpoint": choose.integer(1, 2)}
        found.append({"kind": "fail_channel_state"} | at)
    return found


def _crash_meanwhile(
    choose: Choices, vertices: list[dict[str, Any]], before_ns: int
) -> dict[str, Any]:
    """Return a failure of a task while another one is not known yet, or is being recovered from."""
    vertex: dict[str, Any] = choose.of(tuple(vertices))
    subtask = choose.integer(0, vertex["parallelism"] - 1)
    at_ns = before_ns + choose.of((1, 2, 4, 20, 60)) * _MS
    return {"kind": "crash_task", "vertex": vertex["name"], "subtask": subtask, "at_ns": at_ns}


def _failure(choose: Choices, vertex: dict[str, Any]) -> dict[str, Any]:
    """Return what has the job restart, as often as not with a vertex at another parallelism."""
    kind = choose.of(_FAILURES)
    if kind == "crash_job_manager":
        return {"kind": kind}
    fault = {"kind": kind, "vertex": vertex["name"]}
    if kind in ("rescale", "resubmit"):
        mode = {"mode": choose.of(("as_before", "aligned", "unaligned"))}
        return fault | {"parallelism": choose.integer(1, 4)} | (mode if kind == "resubmit" else {})
    fault["subtask"] = choose.integer(0, vertex["parallelism"] - 1)
    symptom = {"symptom": choose.of(("silent", "unreachable"))}
    return fault | (symptom if kind == "crash_task_manager" else {})
