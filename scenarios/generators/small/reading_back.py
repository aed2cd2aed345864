"""The situation of a task that reads back what was in flight at one gate longer than at another."""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.small.parts import subtask_of

_MS = 1_000_000


def reads_beside(
    choose: Choices, job: dict[str, Any], faults: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Have a gate read for long what was in flight, when the other one of its task is through.

    Only what comes to one of them moves at the rescale; a barrier comes through that one meanwhile.
    """
    del faults
    sources = [
        {
            "name": f"source{number}",
            "kind": "source",
            "parallelism": choose.of((1, 2)),
            "records": choose.integer(40, 60),
            "rate_per_s": 2_000.0,
        }
        for number in range(2)
    ]
    reader: dict[str, Any] = {"name": "operator0", "kind": choose.of(("operator", "sink"))}
    reader |= {"parallelism": choose.of((1, 2)), "service_ns": choose.of((1, 2)) * _MS}
    reader["inputs"] = [
        {"upstream": one["name"], "partitioner": choose.of(("hash", "rebalance"))}
        for one in sources
    ]
    job["vertices"] = [*sources, reader]
    job["checkpointing"] |= {"mode": "unaligned", "interval_ns": 20 * _MS}
    job["channel_state"] = {}
    job["channels"] |= {"sender_records": choose.of((2, 4)), "receiver_records": 8}
    job["costs"] |= {"read_record_ns": choose.of((_MS, 2 * _MS)), "restore_ns": 0}
    at_ns = choose.integer(30, 45) * _MS
    moved = choose.of((sources[0], sources[1], reader))
    rescale = {"kind": "rescale", "vertex": moved["name"], "at_ns": at_ns}
    found = [rescale | {"parallelism": choose.of((3, 1, 2))}]
    for _ in range(2):
        at_ns += choose.integer(3, 12) * _MS
        found.append({"kind": "request_checkpoint", "at_ns": at_ns})
    crash = {"kind": "crash_task"} | subtask_of(choose, choose.of(job["vertices"]))
    return [*found, crash | {"at_ns": at_ns + choose.integer(8, 20) * _MS}]
