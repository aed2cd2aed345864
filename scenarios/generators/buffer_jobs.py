"""Random jobs on buffers with fault plans, as documents of scenario files.

A right job breaks nothing but the hazards of released Flink; it may end in any way.
"""

from __future__ import annotations

import json
from typing import Any

from ckptsim.scenarios.files import from_json
from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.job_environment import give_broadcast_state
from ckptsim.scenarios.generators.restarts.strategies import restart_strategy
from ckptsim.scenarios.spec import Scenario

MS = 1_000_000
US = 1_000
_SLOW_PER_S = 10.0
_RECORDS_MAX = 120
_SERVICE_NS_MIN = 400 * US
MODES = ("aligned", "unaligned", "aligned_timeout", "at_least_once")
PARTITIONERS = ("hash", "rebalance", "shuffle", "rescale", "broadcast", "global", "forward")
NUMBERED = (
    "fail_snapshot",
    "fail_channel_state",
    "slow_file",
    "lose_trigger",
    "delay_trigger",
    "refuse_trigger",
    "lose_acknowledgement",
    "delay_acknowledgement",
    "lose_notification",
    "delay_notification",
    "stray_notification",
)


def document(choose: Choices) -> dict[str, Any]:
    """Return a random job with faults as the document of a scenario file, in base units."""
    mode = choose.of(MODES)
    sources = [_source(choose, f"source{number}") for number in range(choose.integer(1, 2))]
    operators = _operators(choose, sources)
    job: dict[str, Any] = {
        "sources": sources,
        "operators": operators,
        "placement": choose.of(("remote", "mixed", "local")),
        "network": _network(choose),
        "checkpointing": _checkpointing(choose, mode),
        "storage": _storage(choose),
        "duration_ns": choose.of((500, 300, 900)) * MS,
    }
    faults = [_fault(choose, job) for _ in range(choose.integer(0, 4))]
    if mode == "aligned_timeout" and choose.flag():
        faults = _cut_short(choose, job)
    if choose.integer(0, 4) == 4:
        job["checkpointing"]["savepoint_at_ns"] = choose.integer(1, 400) * MS
    job["vertices"] = job.pop("sources") + job.pop("operators")
    _sinks(choose, job["vertices"])
    give_broadcast_state(job["vertices"])
    _end(choose, job)
    _recorded(choose, job["vertices"])
    job["engine"] = choose.of(("processes", "auto", "auto", "auto"))
    network = choose.of(("drawn", "drawn", "wide records", "borrowed buffers"))
    if network == "borrowed buffers":
        _borrow(choose, job)
    elif network == "wide records":
        # Records that want more than the pools have: threads wait inside them, for several outputs.
        job["network"] |= {"record_bytes": 12_000, "segment_bytes": 4096, "exclusive_buffers": 1}
        job["network"] |= {"floating_buffers": 1, "max_overdraft_buffers": choose.of((0, 1))}
    if choose.integer(0, 2) == 2:
        for vertex in job["vertices"]:
            vertex["record_variation"] = choose.of((0.5, 1.0, 0.0))
    return {
        "name": "random_job",
        "link": "barriers",
        "says": "a random job on buffers with a random fault plan",
        "job": job,
        "faults": faults,
    }


def _borrow(choose: Choices, job: dict[str, Any]) -> None:
    """Have busy channels without buffers of their own stand in line for those of their gate."""
    # Sources that end each for itself leave a backlog behind them that no checkpoint knows of.
    job["ending"]["protocol"] = job["ending"]["protocol"].replace("naive", "flink")
    job["placement"] = "remote"
    job["network"] |= {"exclusive_buffers": 0, "max_buffers_per_channel": 10, "debloat": False}
    job["network"] |= {"record_bytes": 1024, "segment_bytes": choose.of((4096, 8192))}
    for vertex in job["vertices"]:
        vertex["parallelism"] = max(vertex["parallelism"], 2)
        vertex.pop("rate_per_s", None)
        if "service_ns" in vertex:
            vertex["service_ns"] = choose.of((1000, 400)) * US
        for one in vertex.get("inputs", ()):
            one["partitioner"] = choose.of(("rebalance", "hash"))
    give_broadcast_state(job["vertices"])


def _source(choose: Choices, name: str) -> dict[str, Any]:
    source: dict[str, Any] = {
        "name": name,
        "kind": "source",
        "parallelism": choose.integer(1, 3),
        "hot_ratio": choose.of((0.0, 0.5)),
    }
    rate = choose.of((None, 300.0, 2_000.0, 10.0))
    if rate is not None:
        source["rate_per_s"] = rate
    bounded = choose.of(("no", "count", "time"))
    if bounded == "count":
        source["records"] = choose.of((choose.integer(1, 300), choose.integer(1, 3)))
    elif bounded == "time":
        source["ends_at_ns"] = choose.integer(1, 400) * MS
    return source


def _operators(choose: Choices, sources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one to three operators; the first reads every source, the others any task before."""
    before = list(sources)
    operators = []
    for index in range(choose.integer(1, 3)):
        readable = before if index == 0 else [before[choose.integer(0, len(before) - 1)]]
        if index and choose.integer(0, 2) == 2 and before[-1] is not readable[0]:
            readable = [*readable, before[-1]]
        operator = _operator(choose, f"operator{index}", readable)
        operators.append(operator)
        before.append(operator)
    return operators


def _operator(choose: Choices, name: str, upstream: list[dict[str, Any]]) -> dict[str, Any]:
    parallelism = choose.integer(1, 3)
    inputs = []
    for up in upstream:
        partitioner = choose.of(PARTITIONERS)
        if partitioner == "forward" and up["parallelism"] != parallelism:
            partitioner = "hash"
        inputs.append({"upstream": up["name"], "partitioner": partitioner})
    return {
        "name": name,
        "parallelism": parallelism,
        "inputs": inputs,
        "two_input": len(inputs) == 2 and choose.of((False, True)),
        "service_ns": choose.of((1000, 0, 100, 400)) * US,
        "slow_subtask_factor": choose.of((1.0, 3.0)),
        "state_bytes": choose.of((0, 300_000)),
        "snapshot_sync_ns": choose.of((0, 3 * MS)),
    }


def _sinks(choose: Choices, vertices: list[dict[str, Any]]) -> None:
    """Give some of the vertices that nobody reads transactions."""
    read = {one["upstream"] for vertex in vertices for one in vertex.get("inputs", ())}
    for vertex in vertices:
        if "inputs" in vertex and vertex["name"] not in read and choose.integer(0, 1):
            vertex["kind"] = "sink"
            vertex["opens_after_finish"] = choose.of((False, False, True))


def _end(choose: Choices, job: dict[str, Any]) -> None:
    """Change how some jobs end, what their users wish, and what of their messages chance loses."""
    checkpointing, vertices = job["checkpointing"], job["vertices"]
    job["ending"] = {"protocol": choose.of(("flink", "flink", "flip", "naive"))}
    checkpointing["immediate_final"] = choose.of(("none", "none", True, False))
    checkpointing["skip_missed_ticks"] = choose.of((False, False, True))
    if all(vertex.get("kind") != "sink" for vertex in vertices):
        # Without a checkpoint behind its end a sink loses its last transaction.
        checkpointing["after_finish"] = choose.of((True, True, True, False))
        checkpointing["enabled"] = choose.of((*[True] * 7, False))
    job["costs"] = {
        "notification_jitter_ns": choose.of((0, 0, 20 * MS)),
        "notification_loss_ratio": choose.of((0.0, 0.0, 0.3)),
        "checkpoint_failure_ratio": choose.of((0.0, 0.0, 0.2)),
    }
    if choose.integer(0, 5) == 5:
        kind = choose.of(("drain", "no_drain"))
        # Tasks that end each for itself know no stop, and its mode least of all.
        job["ending"]["protocol"] = job["ending"]["protocol"].replace("naive", "flink")
        job["ending"] |= {"stop_at_ns": choose.integer(1, 400) * MS, "stop_kind": kind}
    for vertex in vertices:
        vertex["chain"] = choose.of((1, 1, 3))
        # Under the FLIP's rules a lost completion blocks union state for good (FLINK-21080).
        united = choose.of((False, False, False, True))
        vertex["union_state"] = united and job["ending"]["protocol"] == "flink"


def _recorded(choose: Choices, vertices: list[dict[str, Any]]) -> None:
    """Start some jobs from a checkpoint in which vertices had finished; some may not start."""
    if choose.integer(0, 9) < 9:
        return
    for vertex in vertices:
        several = ("partial",) if vertex["parallelism"] > 1 else ()
        vertex["recorded"] = choose.of(("full", "running", "none", *several))


def _network(choose: Choices) -> dict[str, Any]:
    return {
        "record_bytes": choose.of((1024, 300, 5_000, 12_000)),
        "segment_bytes": choose.of((4096, 8192, 32_768)),
        "exclusive_buffers": choose.of((2, 0, 1)),
        "floating_buffers": choose.of((8, 1, 3)),
        "max_buffers_per_channel": choose.of((10, 2, 4)),
        "max_overdraft_buffers": choose.of((5, 0, 1)),
        "buffer_timeout_ns": choose.of((50, 0, 7)) * MS,
        "debloat": choose.of((False, False, True)),
        "debloat_target_ns": choose.of((1000, 20)) * MS,
        "latency_ns": choose.of((150, 1, 3_000)) * US,
        "jitter_ns": choose.of((100, 0)) * US,
        "send_ns": choose.of((40, 0)) * US,
    }


def _checkpointing(choose: Choices, mode: str) -> dict[str, Any]:
    several = mode in ("aligned", "at_least_once")
    return {
        "mode": mode,
        "aligned_timeout_ns": choose.of((20, 5, 60)) * MS,
        "interval_ns": choose.of((60, 20, 150)) * MS,
        "min_pause_ns": choose.of((0, 30)) * MS,
        "timeout_ns": choose.of((600_000, 60, 150)) * MS,
        "max_concurrent": choose.of((1, 2, 3)) if several else 1,
        "retained": choose.of((1, 3)),
        "tolerable_failures": choose.of((1000, 1000, 0)),
    }


def _storage(choose: Choices) -> dict[str, Any]:
    storage: dict[str, Any] = {
        "shared_limit": choose.of((False, True)),
        "create_latency_ns": choose.of((0, 2)) * MS,
        "tail_ratio": choose.of((0.0, 0.2)),
        "tail_latency_ns": choose.of((10, 60)) * MS,
        "failure_ratio": choose.of((0.0, 0.0, 0.1)),
        "inline_threshold_bytes": choose.of((20_480, 0)),
    }
    rate = choose.of((None, 5_000_000))
    if rate is not None:
        storage["write_bytes_per_s"] = rate
    return storage


def _fault(choose: Choices, job: dict[str, Any]) -> dict[str, Any]:
    kind = choose.of((*NUMBERED, "stall_task"))
    tasks = job["sources"] if kind.endswith("_trigger") else job["sources"] + job["operators"]
    task = choose.of(tuple(tasks))
    fault = {"kind": kind, "vertex": task["name"]}
    fault["subtask"] = choose.integer(0, task["parallelism"] - 1)
    if kind == "stall_task":
        return fault | {"at_ns": choose.integer(0, 400) * MS, "lasts_ns": _delay_ns(choose)}
    fault["checkpoint"] = choose.integer(1, 8)
    if kind.startswith(("delay_", "slow_", "stray_")):
        fault["delay_ns"] = _delay_ns(choose)
    return fault


CRASHES = ("crash_task", "crash_task_manager", "crash_job_manager", "crash_at_checkpoint")


def crashing_document(choose: Choices) -> dict[str, Any]:
    """Return a random job that fails up to three times and comes to its end, if it is restarted.

    Its checkpoints are far enough apart for records to be processed between them.
    """
    text = document(choose)
    job = text["job"]
    for vertex in job["vertices"]:
        if vertex.get("kind") == "source":
            vertex.pop("ends_at_ns", None)
            vertex["records"] = choose.of((200, 20, 500))
    job["duration_ns"] = 60_000 * MS
    job["checkpointing"]["tolerable_failures"] = 1_000
    job["checkpointing"]["interval_ns"] = choose.of((60, 40, 150)) * MS
    job["checkpointing"]["max_concurrent"] = 1
    job["restart"] = {"kind": "fixed_delay", "delay_ns": choose.of((0, 30)) * MS}
    for _ in range(choose.integer(1, 3)):
        text["faults"].append(_crash(choose, job, text["faults"]))
    job["restart"] = restart_strategy(choose, job["restart"])
    return text


def _crash(choose: Choices, job: dict[str, Any], before: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a crash, soon behind another one in many jobs: within its failover."""
    kind = choose.of(CRASHES)
    last_ns = 6 * int(job["checkpointing"]["interval_ns"])
    crashed = [one["at_ns"] for one in before if one["kind"] in CRASHES and "at_ns" in one]
    if crashed and choose.integer(0, 1):
        at_ns = crashed[-1] + choose.of((1, 5, 20, 40, 60, 200, 600)) * MS
    else:
        at_ns = choose.integer(1, last_ns)
    if kind == "crash_job_manager":
        return {"kind": kind, "at_ns": at_ns}
    vertex = choose.of(tuple(job["vertices"]))
    fault = {"kind": kind, "vertex": vertex["name"]}
    fault["subtask"] = choose.integer(0, vertex["parallelism"] - 1)
    if kind == "crash_at_checkpoint":
        return fault | {"checkpoint": choose.integer(1, 5)}
    return fault | {"at_ns": at_ns}


def _delay_ns(choose: Choices) -> int:
    return choose.integer(1, 80) * MS


def _cut_short(choose: Choices, job: dict[str, Any]) -> list[dict[str, Any]]:
    """Have a checkpoint given up while its barriers wait behind the records of a busy source.

    Another source refuses it, and hears of the trigger only after the coordinator's word that all
    is over; so its cancellation comes to a task that knows the checkpoint by an announcement only.
    """
    busy = {"name": "source0", "kind": "source", "parallelism": choose.integer(1, 2)}
    idle = {"name": "source1", "kind": "source", "parallelism": 2, "rate_per_s": 300.0}
    first = job["operators"][0]
    job["sources"][:] = [busy, idle]
    first["inputs"] = [
        {"upstream": source["name"], "partitioner": "rebalance"} for source in job["sources"]
    ]
    first |= {"two_input": False, "service_ns": MS}
    for operator in job["operators"][1:]:
        operator["inputs"] = [{"upstream": "operator0", "partitioner": "hash"}]
        operator["two_input"] = False
    job["placement"] = "remote"
    job["network"] |= {"debloat": False, "record_bytes": 1024, "max_buffers_per_channel": 10}
    job["checkpointing"] |= {"aligned_timeout_ns": 200 * MS, "tolerable_failures": 1000}
    number = choose.integer(1, 2)
    at = {"vertex": "source1", "checkpoint": number}
    late_ns = choose.integer(15, 40) * MS
    return [
        {"kind": "refuse_trigger", **at, "subtask": 0},
        {"kind": "delay_trigger", **at, "subtask": 1, "delay_ns": late_ns},
    ]


def _fed(text: dict[str, Any]) -> dict[str, Any]:
    """Give a job without exclusive buffers enough floating ones: with few it can stop for good.

    A record that needs more segments than the pool and its overdraft have keeps its thread until
    receivers read, and no barrier is sent inside a record.  Where the receivers wait for a task
    that aligns with this very barrier, all wait for each other, in every checkpoint anew.
    """
    network = text["job"]["network"]
    if network["exclusive_buffers"] == 0:
        network["floating_buffers"] = 8
    return text


def short(text: dict[str, Any]) -> dict[str, Any]:
    """Let a job be over within a second or two: what is long explores nothing more."""
    job = _fed(text)["job"]
    last_ns = max((one.get("at_ns", 0) for one in text["faults"]), default=0)
    job["duration_ns"] = min(job["duration_ns"], last_ns + 900 * MS)
    for vertex in job["vertices"]:
        slow = vertex.get("rate_per_s") == _SLOW_PER_S
        if slow:
            vertex["rate_per_s"] = 10 * _SLOW_PER_S
        if "records" in vertex:
            vertex["records"] = min(vertex["records"], 20 if slow else _RECORDS_MAX)
        if "service_ns" in vertex:  # what sources without a rate emit as fast as that
            vertex["service_ns"] = max(vertex["service_ns"], _SERVICE_NS_MIN)
    return text


def scenario_of(text: dict[str, Any]) -> Scenario:
    """Build the scenario of a document; it is valid by construction."""
    return from_json(json.dumps(text))
