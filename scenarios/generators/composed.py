"""Random pipelines with fault plans, as documents of scenario files.

All designs drawn are sound, every fault fails at most one attempt, and a plan has fewer than the
platform forgives, so every one of them has to complete with each record stored once.

On buffers, where a barrier costs milliseconds, the same pipelines are slower in every respect.
"""

from __future__ import annotations

import json
from typing import Any

from ckptsim.scenarios.composed import Pipeline
from ckptsim.scenarios.files import from_json
from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.final_checkpoint import task_fault
from ckptsim.scenarios.job import Plane
from ckptsim.scenarios.limits import without_refused
from ckptsim.scenarios.spec import Scenario
from ckptsim.scenarios.sync import Point

MS = 1_000_000
FAULTS_MAX = 4
MODES = ("aligned", "unaligned", "aligned_timeout", "at_least_once")
PARTITIONERS = ("hash", "rebalance", "rescale", "global", "forward")
# How much longer everything takes on buffers, where a barrier costs milliseconds.
SLOWER = 10
_SLOWER = (
    "aligned_timeout_ns",
    "at_ns",
    "delay_ns",
    "duration_ns",
    "flush_ns",
    "interval_ns",
    "min_pause_ns",
    "open_ns",
    "own_flush_ns",
    "service_ns",
    "timeout_ns",
    "transaction_ns",
)
NETWORK = {"record_bytes": 100, "segment_bytes": 1_000, "buffer_timeout_ns": 5 * MS}
# What released Flink does to a job that takes no savepoints and is never rescaled.
HAZARDS = ("single_channel_keeps_the_clock",)
POINTS = tuple(point.value for point in Point)


def document(choose: Choices, plane: str = "records") -> dict[str, Any]:
    """Return a random pipeline as the document of a scenario file, in base units."""
    stages = [_stage(choose, f"stage{number}") for number in range(choose.integer(0, 2))]
    readers = choose.integer(1, 3)
    sink = {
        "parallelism": choose.integer(1, 3),
        "partitioner": choose.of(PARTITIONERS),
        "service_ns": choose.of((1, 0, 5)) * MS // 10,
    }
    before = readers
    for step in [*stages, sink]:
        if step["partitioner"] == "forward" and step["parallelism"] != before:
            step["partitioner"] = "rescale"
        before = step["parallelism"]
    kind = choose.of(("stream", "global", "snapshot"))
    streams = [_stream(choose, name) for name in ("users", "orders")[: choose.integer(1, 2)]]
    pipeline: dict[str, Any] = {
        "state_kind": kind,
        "streams": streams,
        "source": _source(choose, kind),
        "sockets": {"count": choose.integer(1, 4)},
        "readers": {
            "parallelism": readers,
            "rate_per_s": choose.of((10_000.0 * readers, "none", 2_000.0 * readers)),
            "buffer_records": choose.of((40, 1, 10)),
        },
        "stages": stages,
        "sink": sink,
        "channels": {
            "sender_records": choose.of((4, 1, 20)),
            "receiver_records": choose.of((4, 1, 20)),
            "latency_ns": choose.of((0, MS // 10, MS)),
            "record_buffers": choose.of((1, 1, 2, 3)),  # barriers come between those of a record
        },
        "checkpointing": _checkpointing(choose),
        "costs": _costs(choose),
        "store": _store(choose),
        "release": {"send_ns": choose.of((5, 0, 50)) * MS // 10},
    }
    found = {
        "name": "random_pipeline",
        "link": "composed",
        "says": "a random pipeline with a random fault plan",
        "violates": list(HAZARDS),
        "pipeline": pipeline,
        "faults": [drawn_fault(choose, pipeline) for _ in range(choose.integer(0, FAULTS_MAX))],
    }
    if plane == "buffers":
        _put_on_buffers(choose, found)
    return found


def _put_on_buffers(choose: Choices, found: dict[str, Any]) -> None:
    """Put a pipeline on buffers of any size."""
    slow_down(found)
    pipeline = found["pipeline"]
    pipeline["placement"] = choose.of(("remote", "mixed", "local"))
    pipeline["network"] = NETWORK | {
        "segment_bytes": choose.of((1_000, 256, 32_768)),
        "exclusive_buffers": choose.of((2, 1)),
        "floating_buffers": choose.of((8, 1)),
        "buffer_timeout_ns": choose.of((5, 0, 100)) * MS,
        "record_bytes": choose.of((100, 100, 700)),  # of 256 it takes up to four
    }
    pipeline["storage"] = {"inline_threshold_bytes": choose.of((20_480, 0))}


def slow_down(found: dict[str, Any]) -> None:
    """Put a pipeline on buffers, all of it as slow as barriers are there.

    What only records can do is left at what buffers do.
    """
    found["pipeline"] = pipeline = without_refused(found["pipeline"], Pipeline, Plane.BUFFERS)
    pipeline["plane"] = "buffers"
    readers, tables = pipeline["readers"], [*pipeline["stages"], *found["faults"]]
    if readers["rate_per_s"] != "none":
        readers["rate_per_s"] /= SLOWER
    tables += [pipeline[name] for name in ("source", "sink", "checkpointing", "store")]
    tables.append(pipeline["store"]["costs"])
    for table in tables:
        for key in _SLOWER:
            if isinstance(table.get(key), int):
                table[key] *= SLOWER


def _stream(choose: Choices, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "records": choose.integer(0, 50),
        "partition_records": choose.of((20, 7, 50)),
        "record_bytes": choose.of((100, 3000)),
    }


def _source(choose: Choices, kind: str) -> dict[str, Any]:
    return {
        "round_readers": choose.integer(1, 3),
        "packet_records": choose.of((5, 1, 25)),
        "open_ns": choose.of((1, 0, 10)) * MS,
        "log_records": 0 if kind == "stream" else choose.integer(0, 40),
        "log_partition_records": choose.of((20, 7)),
        "reader_limit_ns": "none" if choose.integer(0, 3) else 2 * MS,
    }


def _stage(choose: Choices, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "parallelism": choose.integer(1, 3),
        "partitioner": choose.of(PARTITIONERS),
        "service_ns": choose.of((2, 0, 10)) * MS // 10,
    }


def _checkpointing(choose: Choices) -> dict[str, Any]:
    mode = choose.of(MODES)
    one_at_a_time = mode in ("unaligned", "aligned_timeout")
    return {
        "mode": mode,
        "interval_ns": choose.of((10, 3, 25)) * MS,
        "aligned_timeout_ns": choose.of((2, 0, 10)) * MS,
        "timeout_ns": choose.of((600_000, 30)) * MS,
        "min_pause_ns": choose.of((0, 3)) * MS,
        "max_concurrent": 1 if one_at_a_time else choose.integer(1, 3),
        "retained": choose.of((1, 2)),
        "immediate_final": choose.of((True, False)),
    }


def _costs(choose: Choices) -> dict[str, Any]:
    return {
        "rpc_ns": choose.of((0, MS // 2)),
        "rpc_jitter_ns": choose.of((0, MS)),
        "notification_jitter_ns": choose.of((0, 10 * MS)),
        "notification_loss_ratio": choose.of((0.0, 0.3)),
        "snapshot_sync_ns": choose.of((0, MS // 2)),
        "snapshot_async_ns": choose.of((0, 2 * MS)),
        "snapshot_jitter_ns": choose.of((0, 8 * MS)),
        "completion_ns": choose.of((0, MS)),
    }


def _store(choose: Choices) -> dict[str, Any]:
    placement = choose.of(("colocated", "external", "consumer_group_blob"))
    colocated = placement == "colocated"
    return {
        "placement": placement,
        "writes": choose.of(("upsert", "append")) if colocated else "upsert",
        "costs": {
            "transaction_ns": choose.of((5, 1, 15)) * MS,
            "flush_ns": choose.of((5, 1, 15)) * MS,
        },
        "report_ns": choose.of((0, 20 * MS)),
    }


def drawn_fault(choose: Choices, pipeline: dict[str, Any]) -> dict[str, Any]:
    """Return a fault of any part of a pipeline, crashes most often."""
    which = choose.integer(0, 4)
    if which == 0:
        return _sync_fault(choose)
    if which == 1:
        return _job_fault(choose, pipeline)
    if which == 2:
        return _store_fault(choose, pipeline)
    return _crash(choose)


def _crash(choose: Choices) -> dict[str, Any]:
    """Return a crash of the destination that most runs reach."""
    kind = choose.of(("crash_point", "crash_in_commit", "crash_at"))
    match kind:
        case "crash_point":
            side = choose.of(("destination", "destination", "source"))
            point = {"point": choose.of(POINTS), "occurrence": choose.integer(1, 4)}
            return {"kind": kind, "side": side} | point
        case "crash_in_commit":
            return {"kind": kind, "commit": choose.integer(1, 5)}
        case _:
            return {"kind": kind, "at_ns": choose.integer(0, 250) * MS // 10}


def _sync_fault(choose: Choices) -> dict[str, Any]:
    kind = choose.of(
        (
            "crash_point",
            "crash_at",
            "socket_stall",
            "fail_send",
            "slow_send",
            "reader_failure",
            "state_flood",
        )
    )
    fault: dict[str, Any] = {"kind": kind}
    match kind:
        case "crash_point":
            fault |= {"point": choose.of(POINTS), "occurrence": choose.integer(1, 8)}
            fault["side"] = choose.of(("destination", "source"))
        case "crash_at":
            fault |= {"at_ns": choose.integer(0, 40) * MS}
            fault["side"] = choose.of(("destination", "source"))
        case "socket_stall":
            fault |= {"socket": choose.integer(0, 3), "at_ns": choose.integer(0, 30) * MS}
            fault["duration_ns"] = choose.integer(1, 50) * MS
        case "fail_send":
            fault |= {"occurrence": choose.integer(1, 8), "sends": choose.integer(1, 4)}
            fault["at_end"] = choose.flag()
        case "slow_send":
            fault |= {"at_ns": choose.integer(0, 50) * MS, "duration_ns": 50 * MS}
            fault["factor"] = choose.of((100.0, 5.0))
        case "reader_failure":
            fault |= {"feed": choose.integer(0, 2), "reader": choose.integer(0, 4)}
            fault["packets"] = choose.integer(0, 4)
        case _:
            fault |= {"feed": choose.integer(0, 2), "states": choose.integer(1, 20)}
            fault["round"] = choose.integer(0, 2)
    return fault


def _job_fault(choose: Choices, pipeline: dict[str, Any]) -> dict[str, Any]:
    vertices = [("readers", pipeline["readers"]), ("sink", pipeline["sink"])]
    vertices += [(stage["name"], stage) for stage in pipeline["stages"]]
    name, vertex = choose.of(tuple(vertices))
    return task_fault(choose, name, vertex["parallelism"], until_ms=40, checkpoints=5)


def _store_fault(choose: Choices, pipeline: dict[str, Any]) -> dict[str, Any]:
    kinds = ("crash_in_commit", "refuse_commits", "slow_store", "delay_report", "lose_store")
    colocated = pipeline["store"]["placement"] == "colocated"
    kind = choose.of(kinds[:-1] if colocated else kinds)
    fault: dict[str, Any] = {"kind": kind}
    match kind:
        case "refuse_commits":
            fault |= {"commit": choose.integer(1, 10), "commits": choose.integer(1, 5)}
            if choose.flag():  # of one subtask for longer, while the others' commits succeed
                parallelism = pipeline["sink"]["parallelism"]
                fault["subtask"] = choose.integer(0, parallelism - 1)
                fault["commits"] *= parallelism
        case "slow_store":
            fault |= {"at_ns": choose.integer(0, 50) * MS, "factor": float(choose.of((3, 20)))}
            fault["duration_ns"] = choose.of((50, 10, 200)) * MS
        case "lose_store":
            # Of a checkpoint that is gone nothing is lost: what it covered is committed again.
            fault |= {"attempt": choose.integer(2, 4), "what": "checkpoint"}
        case "delay_report":
            fault |= {"commit": choose.integer(1, 10), "delay_ns": choose.integer(1, 50) * MS}
        case _:
            fault["commit"] = choose.integer(1, 6)
    return fault


def composed(choices: Choices) -> Scenario:
    """Return a random pipeline on either plane with a fault plan."""
    plane = choices.of(("records", "buffers"))
    found = document(choices, plane)
    match choices.integer(0, 7):
        case 7:
            _break_off(choices, found)
        case 6:
            fail_with_data_in_flight(choices, found)
        case 5:
            _append_again(choices, found)
        case 4:
            _commit_late(choices, found)
        case 3:
            _report_late(choices, found)
    return from_json(json.dumps(found))


def _times(found: dict[str, Any]) -> int:
    """Return how much longer everything takes on the plane of a pipeline."""
    return SLOWER if found["pipeline"].get("plane") else 1


def _commit_late(choose: Choices, found: dict[str, Any]) -> None:
    """Let commits take longer than checkpoints, and crash with several transactions pending."""
    pipeline, times = found["pipeline"], _times(found)
    pipeline["checkpointing"] |= {"interval_ns": choose.of((3, 5)) * MS * times, "min_pause_ns": 0}
    if choose.integer(0, 2) == 2:  # what is read again is in the transactions before and after
        pipeline["checkpointing"]["mode"] = "at_least_once"
    slow_ns = choose.of((20, 12, 30)) * MS * times
    pipeline["store"]["costs"] |= {"transaction_ns": slow_ns, "flush_ns": slow_ns}
    crash: dict[str, Any] = {"kind": "crash_at", "side": "destination"}
    crash["at_ns"] = choose.integer(200, 700) * MS * times // 10
    found["faults"] = [*found["faults"][: FAULTS_MAX - 1], crash]


def fail_with_data_in_flight(choose: Choices, found: dict[str, Any]) -> None:
    """Let barriers overtake what waits for a slow sink, and the job crash behind a checkpoint."""
    pipeline, times = found["pipeline"], _times(found)
    interval_ns = choose.of((10, 5)) * MS * times
    pipeline["checkpointing"] |= {"mode": "unaligned", "max_concurrent": 1, "min_pause_ns": 0}
    pipeline["checkpointing"] |= {"interval_ns": interval_ns, "timeout_ns": 600_000 * MS}
    pipeline["readers"]["rate_per_s"] = "none"
    pipeline["sink"] |= {"service_ns": choose.of((1, 2)) * MS * times, "partitioner": "hash"}
    crash: dict[str, Any] = {"kind": "crash_at", "side": "destination"}
    crash["at_ns"] = choose.integer(1, 4) * interval_ns + choose.integer(2, 9) * MS * times
    found["faults"] = [*found["faults"][: FAULTS_MAX - 1], crash]


def _break_off(choose: Choices, found: dict[str, Any]) -> None:
    """Let the source crash in the middle of its streams, most often with its only socket."""
    pipeline = found["pipeline"]
    pipeline["sockets"]["count"] = choose.of((1, 1, 2))
    pipeline["source"]["packet_records"] = choose.of((5, 1))
    for stream in pipeline["streams"]:
        stream["records"] = max(stream["records"], 20)
    crash: dict[str, Any] = {"kind": "crash_point", "side": "source"}
    crash |= {"point": choose.of(("after_packet", "after_packet", "after_absorb"))}
    found["faults"] = [crash | {"occurrence": choose.integer(1, 6)}, *found["faults"][:1]]


def _report_late(choose: Choices, found: dict[str, Any]) -> None:
    """Let commits be reported long after the job has ended, and the sync wait for little else."""
    pipeline = found["pipeline"]
    pipeline["release"] |= {"end_wait_ns": choose.of((2, 10)) * MS, "end_poll_ns": MS}
    pipeline["store"]["report_ns"] = choose.of((50, 20, 200)) * MS


def _append_again(choose: Choices, found: dict[str, Any]) -> None:
    """Let a store of appended rows refuse commits: what is tried again must double none of them."""
    found["pipeline"]["store"] |= {"placement": "colocated", "writes": "append"}
    refused = {"kind": "refuse_commits", "commit": choose.integer(1, 4)}
    refused["commits"] = choose.integer(1, 3)
    kept = [one for one in found["faults"] if one["kind"] != "lose_store"]
    found["faults"] = [*kept[: FAULTS_MAX - 1], refused]
