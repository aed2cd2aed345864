"""Random pipelines, and random jobs on records without barriers, with fault plans.

All designs drawn are sound.  Every fault fails at most one attempt, and a plan has fewer than the
platform forgives.  So every pipeline has to complete with each record stored once.

On buffers, where a barrier costs milliseconds, the same pipelines are slower in every respect.
"""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios.composed import Pipeline
from ckptsim.scenarios.generators.choices import Choices, drawn, fitted, slower
from ckptsim.scenarios.generators.faults import expected, with_faults
from ckptsim.scenarios.generators.hazards import with_hazards
from ckptsim.scenarios.generators.jobs import FAULTS_MAX as JOB_FAULTS_MAX
from ckptsim.scenarios.generators.jobs import MODES, US, graph
from ckptsim.scenarios.job import Plane
from ckptsim.scenarios.limits import without_refused
from ckptsim.scenarios.spec import Scenario

MS = 1_000_000
FAULTS_MAX = 4
# How much longer everything takes on buffers, where a barrier costs milliseconds.
SLOWER = 10
_SLOWER = ("source", "stages", "sink", "checkpointing", "store")
_REFUSED = ("autocommit_ns", "replay_row_ns")  # which mean nothing in a pipeline
PARTITIONERS = ("hash", "rebalance", "rescale", "global", "forward")
NETWORK = {"record_bytes": 100, "segment_bytes": 1_000, "buffer_timeout_ns": 5 * MS}
_STREAM = {
    "records": (20, 0, 50, 35),
    "partition_records": (20, 7, 50),
    "record_bytes": (100, 3_000),
}
_SOURCE = {
    "round_readers": (1, 2, 3),
    "packet_records": (5, 1, 25),
    "open_ns": (MS, 0, 10 * MS),
    "log_partition_records": (20, 7),
    "reader_limit_ns": ("none", "none", "none", 2 * MS),
}
_STEP = {
    "parallelism": (1, 2, 3),
    "partitioner": PARTITIONERS,
    "service_ns": (MS // 5, 0, MS // 2, MS),
}
_CHANNELS = {
    "sender_records": (4, 1, 20),
    "receiver_records": (4, 1, 20),
    "latency_ns": (0, MS // 10, MS),
    "record_buffers": (1, 1, 2, 3),  # barriers come between the buffers of a record
}
_CHECKPOINTING = {
    "mode": MODES,
    "interval_ns": (10 * MS, 3 * MS, 25 * MS),
    "aligned_timeout_ns": (2 * MS, 0, 10 * MS),
    "timeout_ns": (600_000 * MS, 30 * MS),
    "min_pause_ns": (0, 3 * MS),
    "max_concurrent": (1, 2, 3),
    "retained": (1, 2),
    "immediate_final": (True, False),
}
_COSTS = {
    "rpc_ns": (0, MS // 2),
    "rpc_jitter_ns": (0, MS),
    "notification_jitter_ns": (0, 10 * MS),
    "notification_loss_ratio": (0.0, 0.3),
    "snapshot_sync_ns": (0, MS // 2),
    "snapshot_async_ns": (0, 2 * MS),
    "snapshot_jitter_ns": (0, 8 * MS),
    "completion_ns": (0, MS),
}
_STEP_COSTS = {
    "transaction_ns": (5 * MS, MS, 15 * MS, 30 * MS),  # some take longer than checkpoints
    "flush_ns": (5 * MS, MS, 15 * MS, 30 * MS),
}
_ON_BUFFERS = {
    "segment_bytes": (1_000, 256, 32_768),
    "exclusive_buffers": (2, 1),
    "floating_buffers": (8, 1),
    "buffer_timeout_ns": (5 * MS, 0, 100 * MS),
    "record_bytes": (100, 100, 700),  # of 256 it takes up to four
}


def composed(choices: Choices) -> Scenario:
    """Return a random pipeline on either plane with a fault plan."""
    return pipeline(choices, choices.of(("records", "buffers")))


def pipeline(choices: Choices, plane: str) -> Scenario:
    """Return a random pipeline on a plane with a fault plan."""
    kind = choices.of(("stream", "global", "snapshot"))
    readers = choices.integer(1, 3)
    steps = [drawn(choices, _STEP) for _ in range(choices.integer(1, 3))]
    for before, step in zip([{"parallelism": readers}, *steps], steps, strict=False):
        if step["partitioner"] == "forward" and step["parallelism"] != before["parallelism"]:
            step["partitioner"] = "rescale"
    sink = steps.pop()
    placement = choices.of(("colocated", "external", "consumer_group_blob"))
    release = drawn(choices, {"send_ns": (MS // 2, 0, 5 * MS)})
    if choices.integer(0, 7) == 7:  # commits are reported long after the sync waits for little else
        release |= {"end_wait_ns": 2 * MS, "end_poll_ns": MS}
    text: dict[str, Any] = {
        "state_kind": kind,
        "streams": [
            {"name": name} | drawn(choices, _STREAM)
            for name in ("users", "orders")[: choices.integer(1, 2)]
        ],
        "source": drawn(choices, _SOURCE),
        "sockets": {"count": choices.integer(1, 4)},
        "readers": {
            "parallelism": readers,
            "rate_per_s": choices.of((10_000.0 * readers, "none", 2_000.0 * readers)),
            "buffer_records": choices.of((40, 1, 10)),
        },
        "stages": [{"name": f"stage{number}"} | step for number, step in enumerate(steps)],
        "sink": sink,
        "channels": drawn(choices, _CHANNELS),
        "checkpointing": drawn(choices, _CHECKPOINTING),
        "costs": drawn(choices, _COSTS),
        "store": {
            "placement": placement,
            "writes": choices.of(("upsert", "append")) if placement == "colocated" else "upsert",
            "costs": drawn(choices, _STEP_COSTS),
            "report_ns": choices.of((0, 20 * MS, 200 * MS)),
        },
        "release": release,
    }
    text["source"]["log_records"] = 0 if kind == "stream" else choices.integer(0, 40)
    if plane == "buffers":
        text = on_buffers(text) | {"placement": choices.of(("remote", "mixed", "local"))}
        text["network"] = NETWORK | drawn(choices, _ON_BUFFERS)
        text["storage"] = {"inline_threshold_bytes": choices.of((20_480, 0))}
    if choices.integer(0, 2) == 2:
        _with_backlog(choices, text)
    scenario = fitted(
        {
            "name": "random_pipeline",
            "link": "composed",
            "says": "a random pipeline with a random fault plan",
            "pipeline": text,
        }
    )
    times = expected(scenario, step_ns=4 * MS * (SLOWER if plane == "buffers" else 1), steps=10)
    return with_hazards(with_faults(choices, scenario, times, most=FAULTS_MAX))


def on_buffers(text: dict[str, Any]) -> dict[str, Any]:
    """Return a pipeline on buffers, slowed down, without the options of records."""
    readers = text["readers"]
    if readers["rate_per_s"] != "none":
        readers = readers | {"rate_per_s": readers["rate_per_s"] / SLOWER}
    slow = {name: slower(text[name], SLOWER, but=_REFUSED) for name in _SLOWER}
    text = text | slow | {"readers": readers, "plane": "buffers"}
    return without_refused(text, Pipeline, Plane.BUFFERS)


def _with_backlog(choices: Choices, text: dict[str, Any]) -> None:
    times = SLOWER if text.get("plane") else 1
    text["checkpointing"] |= {
        "mode": "unaligned",
        "max_concurrent": 1,
        "min_pause_ns": 0,
        "interval_ns": choices.of((10, 5)) * MS * times,
        "timeout_ns": 600_000 * MS,
    }
    text["readers"]["rate_per_s"] = "none"
    text["sink"] |= {"service_ns": choices.of((1, 2)) * MS * times, "partitioner": "hash"}


_OF_ITS_TASKS = {
    "sender_records": (20, 2, 60),
    "receiver_records": (2, 8),
    "record_buffers": (1, 3, 2),
    "latency_ns": (0, 3 * MS),
}
_OF_ITS_MESSAGES = {
    "rpc_ns": (0, 500 * US, 2 * MS),
    "snapshot_sync_ns": (0, 300 * US),
    "snapshot_async_ns": (0, 2 * MS),
    "snapshot_jitter_ns": (0, 8 * MS),
    "log_message_ns": (0, 20 * US),
    "carry_index_ns": (0, 10 * US),
}


def uncoordinated(choices: Choices) -> Scenario:
    """Return a random job on records without barriers, with crashes."""
    interval_ns = choices.of((10, 3, 25)) * MS
    vertices = graph(choices, on_buffers=False, sinks=False)
    for vertex in vertices:
        vertex.pop("ends_at_ns", None)
    text = {
        "vertices": vertices,
        "channels": drawn(choices, _OF_ITS_TASKS),
        "checkpointing": {
            "protocol": choices.of(("uncoordinated", "communication_induced")),
            "interval_ns": interval_ns,
            "message_logs": choices.of((True, True, False)),
        },
        "costs": drawn(choices, _OF_ITS_MESSAGES),
        "storage": {"failure_ratio": choices.of((0.0, 0.0, 0.3))},
        "restart": {"kind": "fixed_delay", "delay_ns": choices.of((5 * MS, 0))},
    }
    scenario = fitted(
        {
            "name": "random_job",
            "link": "barrier_protocol",
            "says": "a random job without barriers",
            "job": text,
            "faults": [],
        }
    )
    times = expected(scenario, step_ns=interval_ns, steps=6)
    # Of many jobs a task fails again before all have stored a checkpoint since.
    return with_faults(
        choices, scenario, times, most=JOB_FAULTS_MAX, kinds=("crash_task", "fail_snapshot")
    )
