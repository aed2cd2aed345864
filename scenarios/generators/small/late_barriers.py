"""A small job in which barriers come for a checkpoint that is over at their receivers."""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.small.parts import subtask_of

_MS = 1_000_000


def late_barriers(
    choose: Choices, job: dict[str, Any], faults: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Have one source tell that a checkpoint has expired, while a barrier of another one queues.

    The sender of that barrier has stopped behind it, and continues only if its receiver says so.
    """
    del faults  # of other vertices
    timeout_ns = choose.of((8, 5, 12)) * _MS
    table = job["checkpointing"]
    table |= {"mode": choose.of(("aligned", "aligned", "aligned_timeout"))}
    table |= {"interval_ns": choose.of((20, 30)) * _MS, "timeout_ns": timeout_ns}
    table["aligned_timeout_ns"] = choose.of((60, 40)) * _MS
    # Behind the busy source barriers queue, behind the idle one nothing does.
    job["channels"] |= {"sender_records": 20, "receiver_records": choose.of((8, 4))}
    sources = [
        {
            "name": "busy",
            "kind": "source",
            "rate_per_s": 2000.0,
            "records": choose.integer(60, 120),
        },
        {"name": "idle", "kind": "source", "rate_per_s": 100.0, "records": choose.integer(5, 12)},
    ]
    partitioner = choose.of(("hash", "rebalance"))
    join = {
        "name": "join",
        "kind": "operator",
        "parallelism": choose.integer(1, 2),
        "service_ns": choose.of((_MS, 2 * _MS)),
        "inputs": [{"upstream": one["name"], "partitioner": partitioner} for one in sources],
    }
    job["vertices"] = [*(one | {"parallelism": 1} for one in sources), join]
    late = {"kind": "delay_trigger", "vertex": "idle", "subtask": 0}
    found: list[dict[str, Any]] = [
        late | {"checkpoint": number, "delay_ns": timeout_ns + choose.integer(1, 6) * _MS}
        for number in range(1, 4)
    ]
    if choose.integer(0, 2) == 2:
        crash = {"kind": "crash_task"} | subtask_of(choose, choose.of(job["vertices"]))
        found.append(crash | {"at_ns": choose.integer(30, 90) * _MS})
    return found
