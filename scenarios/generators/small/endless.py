"""Small random jobs on buffers whose source has no end, and is rescaled or fails."""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.small.parts import MODES, document_of, job_of

_MS = 1_000_000
_SAYS = "a small random job whose source has no end"


def document(choose: Choices) -> dict[str, Any]:
    """Return a job whose source gets more subtasks than it has splits, or fewer, while it runs."""
    source: dict[str, Any] = {"name": "source", "kind": "source"}
    source["parallelism"] = choose.of((1, 2))
    source["rate_per_s"] = 400.0 * source["parallelism"]
    reader: dict[str, Any] = {"name": "reader", "kind": choose.of(("sink", "operator"))}
    reader |= {"parallelism": choose.of((1, 2)), "service_ns": _MS // 2}
    reader["inputs"] = [{"upstream": "source", "partitioner": choose.of(("rebalance", "hash"))}]
    job = job_of(choose, [source, reader], on_buffers=True, mode=choose.of(MODES))
    job["duration_ns"] = choose.of((400, 600)) * _MS
    timed = choose.flag()
    job["recovery"] = {"timed": timed}
    job["restart"] = {"kind": "fixed_delay", "delay_ns": choose.of((0, 10)) * _MS}
    faults: list[dict[str, Any]] = []
    at_ns = choose.integer(20, 60) * _MS
    for _ in range(choose.integer(1, 3)):
        kind = choose.of(("rescale", "rescale", "rescale", "crash_task", "resubmit"))
        fault: dict[str, Any] = {"kind": kind, "at_ns": at_ns}
        if kind == "rescale":
            fault |= {"vertex": "source", "parallelism": choose.integer(1, 4)}
        elif kind == "crash_task":
            fault |= {"vertex": "reader", "subtask": 0}
        else:
            fault["mode"] = "as_before"
        faults.append(fault)
        # A restart takes 140 ms and more where it takes time: another one may come within.
        at_ns += choose.integer(20, 240 if timed else 80) * _MS
    return document_of(job, faults, on_buffers=True, says=_SAYS)
