"""Random jobs on records whose tasks take checkpoints by themselves, with crashes.

A right job breaks nothing, and always ends.
"""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios.generators.choices import Choices

MS = 1_000_000
US = 1_000
PARTITIONERS = ("hash", "rebalance", "shuffle", "broadcast", "rescale", "forward")


def document(choose: Choices) -> dict[str, Any]:
    """Return a job with crashes as the document of a scenario file, in base units."""
    vertices = [_source(choose, number) for number in range(choose.integer(1, 2))]
    for number in range(choose.integer(1, 3)):
        vertices.append(_operator(choose, number, vertices))
    protocol = choose.of(("uncoordinated", "communication_induced"))
    interval_ns = choose.of((10, 3, 25)) * MS
    checkpointing = {
        "protocol": protocol,
        "interval_ns": interval_ns,
        "message_logs": choose.of((True, True, False)),
    }
    costs = {
        "rpc_ns": choose.of((0, 500, 2_000)) * US,
        "snapshot_sync_ns": choose.of((0, 300)) * US,
        "snapshot_async_ns": choose.of((0, 2)) * MS,
        "snapshot_jitter_ns": choose.of((0, 8)) * MS,
        "log_message_ns": choose.of((0, 20)) * US,
        "carry_index_ns": choose.of((0, 10)) * US,
    }
    channels = {
        "sender_records": choose.of((20, 2, 60)),
        "receiver_records": choose.of((2, 8)),
        "record_buffers": choose.of((1, 3, 2)),
        "latency_ns": choose.of((0, 3)) * MS,
    }
    delay_ns = choose.of((5, 0)) * MS
    return {
        "name": "random_job",
        "link": "barrier_protocol",
        "says": "a random job without barriers",
        "job": {
            "vertices": vertices,
            "channels": channels,
            "checkpointing": checkpointing,
            "costs": costs,
            "storage": {"failure_ratio": choose.of((0.0, 0.0, 0.3))},
            "restart": {"kind": "fixed_delay", "delay_ns": delay_ns},
        },
        "faults": _faults(choose, vertices, delay_ns, interval_ns),
    }


def _source(choose: Choices, number: int) -> dict[str, Any]:
    return {
        "name": f"source{number}",
        "kind": "source",
        "parallelism": choose.integer(1, 3),
        "rate_per_s": choose.of((1_000.0, 4_000.0)),
        "records": choose.integer(0, 60),
    }


def _operator(choose: Choices, number: int, before: list[dict[str, Any]]) -> dict[str, Any]:
    unread = [v for v in before if not any(_reads(w, v) for w in before)]
    upstream = unread if choose.integer(0, 1) else unread[-1:]
    if number == 2:
        upstream = unread
    parallelism = choose.integer(1, 3)
    return {
        "name": f"operator{number}",
        "kind": "operator",
        "parallelism": parallelism,
        "service_ns": choose.of((0, 200, 1_500)) * US,
        "inputs": [
            {
                "upstream": v["name"],
                "partitioner": choose.of(
                    PARTITIONERS if v["parallelism"] == parallelism else PARTITIONERS[:-1]
                ),
            }
            for v in upstream
        ],
    }


def _reads(vertex: dict[str, Any], upstream: dict[str, Any]) -> bool:
    return any(one["upstream"] == upstream["name"] for one in vertex.get("inputs", ()))


def _faults(
    choose: Choices, vertices: list[dict[str, Any]], delay_ns: int, interval_ns: int
) -> list[dict[str, Any]]:
    """Return faults; of many jobs a task fails again before all have stored a checkpoint since."""
    faults = [_fault(choose, vertices) for _ in range(choose.integer(0, 4))]
    crashed = next((one for one in faults if one["kind"] == "crash_task"), None)
    if crashed is not None and choose.integer(0, 1) == 1:
        # The phases of the tasks lie spread over the interval: the first ends soon.
        behind_ns = delay_ns + choose.of((1, 3, 1, 6)) * interval_ns // 10
        faults.append(crashed | {"at_ns": crashed["at_ns"] + behind_ns})
    return faults


def _fault(choose: Choices, vertices: list[dict[str, Any]]) -> dict[str, Any]:
    vertex = vertices[choose.integer(0, len(vertices) - 1)]
    place = {"vertex": vertex["name"], "subtask": choose.integer(0, vertex["parallelism"] - 1)}
    at_ns = choose.integer(1, 80) * MS
    if choose.integer(0, 3) == 3:
        return {"kind": "fail_snapshot", **place, "checkpoint": choose.integer(1, 6)}
    return {"kind": "crash_task", **place, "at_ns": at_ns}
