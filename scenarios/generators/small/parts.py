"""What small random jobs are put together from, on either data plane."""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios.generators.choices import Choices

_MS = 1_000_000
_NETWORK = {"record_bytes": 300, "segment_bytes": 4096, "buffer_timeout_ns": _MS}
MODES = ("aligned", "unaligned", "at_least_once", "aligned_timeout")


def few_and_many(choose: Choices) -> list[dict[str, Any]]:
    """Return a source that ends soon, one that ends late, and what reads both."""
    sources = []
    for name, least, most in (("few", 1, 4), ("many", 60, 120)):
        parallelism = choose.of((1, 2))
        source = {"name": name, "kind": "source", "parallelism": parallelism}
        source["rate_per_s"] = 500.0 * parallelism
        source["records"] = choose.integer(least, most) * parallelism
        sources.append(source)
    inputs = [
        {"upstream": one["name"], "partitioner": choose.of(("rebalance", "hash"))}
        for one in sources
    ]
    reader: dict[str, Any] = {"name": "reader", "kind": choose.of(("sink", "operator"))}
    reader["parallelism"] = choose.of((1, 2))
    reader |= {"inputs": inputs, "service_ns": _MS // 2}
    return [*sources, reader]


def job_of(
    choose: Choices, vertices: list[dict[str, Any]], *, on_buffers: bool, mode: str
) -> dict[str, Any]:
    """Return the job table of vertices on one of the planes, with frequent checkpoints."""
    job: dict[str, Any] = {
        "vertices": vertices,
        "checkpointing": {
            "mode": mode,
            "interval_ns": choose.of((20, 30)) * _MS,
            "aligned_timeout_ns": 5 * _MS,
            "timeout_ns": 600_000 * _MS,
            "min_pause_ns": 0,
        },
        "costs": {},
        "ending": {"protocol": choose.of(("flink", "flip"))},
    }
    if on_buffers:
        job |= {"network": dict(_NETWORK), "placement": choose.of(("remote", "mixed"))}
        job |= {"duration_ns": 8_000 * _MS, "engine": choose.of(("processes", "auto"))}
    else:
        job["channels"] = {"sender_records": 4, "receiver_records": 4, "latency_ns": _MS // 10}
    return job


def subtask_of(choose: Choices, vertex: dict[str, Any]) -> dict[str, Any]:
    """Return which subtask of a vertex a fault strikes."""
    return {"vertex": vertex["name"], "subtask": choose.integer(0, vertex["parallelism"] - 1)}


def document_of(
    job: dict[str, Any], faults: list[dict[str, Any]], *, on_buffers: bool, says: str
) -> dict[str, Any]:
    """Return the document of a scenario file, of the link of the job's plane."""
    return {
        "name": "random_job",
        "link": "barriers" if on_buffers else "barrier_protocol",
        "says": says,
        "job": job,
        "faults": faults,
    }
