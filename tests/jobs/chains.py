"""Chains of tasks whose end has a closed form: one cost per hop, checkpoints that take `c`.

Only EndOfPartition takes time per hop; barriers, acknowledgements and notifications take none.
Times are in seconds.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

from scenarios import Scenario
from scenarios.document import from_json
from sim.rows import RunResult

S = 1_000_000_000
HOP_NS = S // 10


def chain(
    *,
    depth: int = 4,
    end: int = 25,
    backlog: int = 0,
    interval: int = 10,
    duration_ns: int = S,
    first: int | None = None,
    mode: str = "aligned",
    protocol: str = "flink",
    immediate: bool = False,
    **more: dict[str, Any],
) -> Scenario:
    """Return a chain of `depth` + 1 tasks whose source ends at the instant `end`.

    backlog: records that wait in front of every task when the source ends; each takes a second.
    more: further parameters per table, such as `costs={...}`.
    """
    names = ["source", *(f"task{number}" for number in range(1, depth)), "sink"][: depth + 1]
    kinds = ["source", *["operator"] * (depth - 1), "sink"]
    vertices: list[dict[str, Any]] = [
        {"name": name, "kind": kind, "service_ns": S if backlog else 0}
        for name, kind in zip(names, kinds, strict=True)
    ]
    every_ns = S if backlog else end * S
    vertices[0] |= {
        "records": end * S // every_ns + backlog * depth if end else 0,
        "emit_interval_ns": every_ns or 1,
    }
    checkpointing: dict[str, Any] = {
        "interval_ns": interval * S,
        "mode": mode,
        "skip_missed_ticks": True,
        "immediate_final": immediate,
    }
    if first is not None:
        checkpointing["first_trigger_ns"] = first * S
    document = {
        "name": "chain",
        "link": "final_checkpoint",
        "says": "a chain with a closed form",
        "job": {
            "vertices": vertices,
            "edges": [
                {"upstream": up, "downstream": down, "partitioner": "keyed"}
                for up, down in itertools.pairwise(names)
            ],
            "channels": {
                "end_of_partition_ns": HOP_NS,
                "preloaded_records": backlog,
                "sender_records": 100,
                "receiver_records": 100,
            },
            "checkpointing": checkpointing | more.get("checkpointing", {}),
            "costs": {"completion_ns": duration_ns} | more.get("costs", {}),
            "ending": {"protocol": protocol} | more.get("ending", {}),
        },
        "faults": list(more.get("faults", [])),
    }
    return from_json(json.dumps(document))


def closes_ns(result: RunResult) -> list[int]:
    """Return when each task closed, in the order of the tasks."""
    return [row.finished_ns or -1 for row in result.tasks]


def since(result: RunResult, instant: int) -> list[int]:
    """Return when the checkpoints were triggered that count: from `instant` until the end, in s."""
    return [c.triggered_ns // S for c in result.checkpoints if c.triggered_ns >= instant * S]
