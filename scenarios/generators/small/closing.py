"""Small random jobs whose tasks close one after the other, in the midst of what else happens.

Where everything is drawn by itself, a failure, a barrier or the loss of a machine seldom comes
within the few ms between a task's end and the coordinator's knowing it.  Each kind of job here is
made for one such meeting; what is drawn decides who is first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ckptsim.scenarios.generators.choices import Choices

_MS = 1_000_000
_MODES = ("aligned", "unaligned", "at_least_once", "aligned_timeout")
_NETWORK = {"record_bytes": 300, "segment_bytes": 4096, "buffer_timeout_ns": _MS}
# What heartbeats of a machine lost in silence take, against some 80 ms from another failure to the
# end of the tasks that can be cancelled.
_SLOW_HEARTBEATS = {"heartbeat_interval_ns": 40 * _MS}


def document(choose: Choices) -> dict[str, Any]:
    """Return one of these jobs as the document of a scenario file, in base units."""
    draw: Callable[[Choices], dict[str, Any]] = choose.of(
        (failing, aligning, stopped, lost, aligning)
    )
    return draw(choose)


def failing(choose: Choices) -> dict[str, Any]:
    """Return a job on either plane that fails while tasks close, and is deployed at once.

    What the tasks of an attempt have sent is then on its way, and comes to the next one.
    """
    on_buffers = choose.integer(0, 2) == 2
    vertices = _few_and_many(choose)
    job = _job(choose, vertices, on_buffers=on_buffers, mode=choose.of(_MODES))
    job["restart"] = {"kind": "fixed_delay", "delay_ns": choose.of((0, 0, _MS))}
    timed = on_buffers and choose.flag()
    if timed:
        job["recovery"] = {"timed": True}
    if not on_buffers:
        # A message takes as long as a failover: one of three comes when the next attempt runs.
        job["costs"] |= {"rpc_ns": choose.of((5, 2)) * _MS, "rpc_jitter_ns": 15 * _MS}
    # From the start of an attempt to the end of its first checkpoint, and a bit more.
    soonest_ms, latest_ms = (20, 60) if on_buffers else (50, 90)
    latest_ms += 160 if timed else 0  # tasks are there again later
    at_ns = choose.of((0, choose.integer(1, 12))) * _MS  # the data end, and some hear of it late
    faults = []
    if at_ns:
        faults.append({"kind": "crash_task", **_subtask(choose, vertices[1]), "at_ns": at_ns})
    for _ in range(choose.integer(2, 4)):
        at_ns += choose.integer(soonest_ms, latest_ms) * _MS
        faults.append({"kind": "crash_task", **_subtask(choose, vertices[1]), "at_ns": at_ns})
    return _document(job, faults, on_buffers=on_buffers)


def aligning(choose: Choices) -> dict[str, Any]:
    """Return a job on buffers in which the last end of a channel completes an alignment.

    One subtask of a source hears late of a checkpoint's trigger, and closes before; the others send
    the barrier and close behind it.  All wait for the notification of the checkpoint before.
    """
    vertices = _few_and_many(choose)
    few = vertices[0] | {"parallelism": choose.integer(2, 3)}
    few["records"] = choose.integer(1, 3) * few["parallelism"]
    sink = vertices[-1] | {"inputs": [{"upstream": few["name"], "partitioner": "rebalance"}]}
    # Where channels are blocked behind a barrier, an end that comes behind one is none of the last.
    mode = choose.of((*("at_least_once",) * 9, *_MODES))
    job = _job(choose, [few, sink], on_buffers=True, mode=mode)
    job["checkpointing"] |= {"interval_ns": 20 * _MS, "immediate_final": choose.flag()}
    late = choose.integer(0, few["parallelism"] - 1)
    first = choose.of((1, 1, 1, 2))  # that all take part in behind their end
    faults: list[dict[str, Any]] = []
    for subtask in range(few["parallelism"]):
        at = {"vertex": few["name"], "subtask": subtask}
        told_ns = (choose.integer(36, 60) if subtask == late else choose.integer(20, 36)) * _MS
        faults.append(
            {"kind": "delay_notification", **at, "checkpoint": first, "delay_ns": told_ns}
        )
    at = {"vertex": few["name"], "subtask": late, "checkpoint": first + 1}
    faults.append({"kind": "delay_trigger", **at, "delay_ns": choose.integer(60, 90) * _MS})
    return _document(job, faults, on_buffers=True)


def stopped(choose: Choices) -> dict[str, Any]:
    """Return a job on buffers that a stop with savepoint ends in the midst of its data."""
    vertices = _few_and_many(choose)
    job = _job(choose, vertices, on_buffers=True, mode=choose.of(_MODES))
    ending = job["ending"] = {"stop_at_ns": choose.integer(20, 90) * _MS}
    ending["stop_kind"] = choose.of(("drain", "no_drain"))
    faults: list[dict[str, Any]] = []
    job["restart"] = {"kind": "fixed_delay", "delay_ns": 0, "attempts": 5}
    if choose.integer(0, 2) == 2:  # the stop fails, and the job goes on
        at = _subtask(choose, choose.of(tuple(vertices)))
        faults.append({"kind": "fail_snapshot", **at, "checkpoint": choose.integer(1, 4)})
    return _document(job, faults, on_buffers=True)


def lost(choose: Choices, *, on_buffers: bool = True) -> dict[str, Any]:
    """Return a job that fails over while the loss of a task manager is unknown.

    Failovers take time on buffers, and heartbeats are missed later than all other tasks are
    cancelled.
    """
    vertices = _few_and_many(choose)
    many, reader = vertices[1:]
    machines = many["parallelism"] = reader["parallelism"] = choose.of((3, 2, 3))
    job = _job(choose, vertices, on_buffers=on_buffers, mode=choose.of(_MODES))
    timeout_ns = choose.of((160, 240)) * _MS
    job["recovery"] = _SLOW_HEARTBEATS | {"timed": on_buffers, "heartbeat_timeout_ns": timeout_ns}
    job["recovery"]["heartbeat_rpc_failure_threshold"] = choose.of((4, 5))
    job["restart"] = {"kind": "fixed_delay", "delay_ns": choose.of((0, 10)) * _MS}
    at_ns = choose.integer(10, 90) * _MS
    gone = {"kind": "crash_task_manager", "symptom": choose.of(("silent", "unreachable"))}
    faults = [gone | {"vertex": many["name"], "subtask": 0, "at_ns": at_ns}]
    fails_ns = at_ns
    if machines > 2:  # another one, whose loss is known later
        # A heartbeat later, and before the job manager hears of what fails besides.
        later_ns = at_ns + choose.integer(40, 54) * _MS
        faults.append(gone | {"vertex": many["name"], "subtask": 1, "at_ns": later_ns})
        fails_ns = at_ns if on_buffers else later_ns  # on records a failure is known at once
    kinds = ("crash_task", "crash_task", "rescale", "resubmit", "crash_task", "crash_job_manager")
    for _ in range(choose.integer(1, 2)):
        kind = choose.of(kinds)
        fault: dict[str, Any] = {"kind": kind, "at_ns": fails_ns + choose.integer(1, 40) * _MS}
        if kind == "crash_task":
            fault |= {"vertex": many["name"], "subtask": machines - 1}
        elif kind == "rescale":
            fault |= {"vertex": reader["name"], "parallelism": choose.integer(1, 3)}
        elif kind == "resubmit":
            fault |= {"mode": "as_before"}
        faults.append(fault)
    return _document(job, faults, on_buffers=on_buffers)


def lost_while_restoring(choose: Choices) -> dict[str, Any]:
    """Return a job on buffers that loses a task manager while its tasks restore.

    Some of its sources were to end by an instant that has passed by then.
    """
    vertices = _few_and_many(choose)
    few, many, reader = vertices
    many["parallelism"] = reader["parallelism"] = 2
    if choose.flag():  # some subtasks of a vertex have finished when others are restored
        few |= {"parallelism": 2, "records": 2, "records_step": 60, "rate_per_s": 1000.0}
    job = _job(choose, vertices, on_buffers=True, mode=choose.of(_MODES))
    job["recovery"] = {"timed": True, "heartbeat_interval_ns": 10 * _MS}
    job["recovery"]["heartbeat_timeout_ns"] = choose.of((50, 100)) * _MS
    job["restart"] = {"kind": "fixed_delay", "delay_ns": choose.of((0, 10)) * _MS}
    at_ns = choose.integer(30, 90) * _MS
    if choose.flag():
        del many["records"]
        many["ends_at_ns"] = at_ns + choose.integer(1, 250) * _MS
    # From a failure to the first task that restores it takes some 140 ms, to the last 250.
    gone_ns = at_ns + choose.integer(120, 260) * _MS
    faults = [
        {"kind": "crash_task", "vertex": many["name"], "subtask": 1, "at_ns": at_ns},
        {"kind": "crash_task_manager", "vertex": many["name"], "subtask": 0, "at_ns": gone_ns},
    ]
    faults[-1]["symptom"] = choose.of(("silent", "unreachable"))
    return _document(job, faults, on_buffers=True)


def lost_on_records(choose: Choices) -> dict[str, Any]:
    """Return a job on records that fails over while the loss of a task manager is unknown."""
    return lost(choose, on_buffers=False)


def resubmitted(choose: Choices, *, on_buffers: bool = True) -> dict[str, Any]:
    """Return a job that fails behind a savepoint, and that its user submits again soon.

    No checkpoint of the attempt that runs then is complete: the job begins from the one that the
    restart has gone back to, whose sinks have given up what they had for the savepoint.
    """
    vertices = _few_and_many(choose)
    vertices[-1]["kind"] = "sink"
    job = _job(choose, vertices, on_buffers=on_buffers, mode=choose.of(_MODES))
    job["checkpointing"]["interval_ns"] = choose.of((400, 150)) * _MS
    job["restart"] = {"kind": "fixed_delay", "delay_ns": choose.of((0, 5)) * _MS}
    saved_ns = choose.integer(20, 40) * _MS
    fails_ns = saved_ns + choose.integer(10, 40) * _MS
    again_ns = fails_ns + choose.of((200, 140) if on_buffers else (60, 20)) * _MS
    faults = [
        {"kind": "request_savepoint", "at_ns": saved_ns},
        {"kind": "crash_task", **_subtask(choose, vertices[1]), "at_ns": fails_ns},
        {"kind": "resubmit", "mode": "as_before", "at_ns": again_ns},
    ]
    return _document(job, faults, on_buffers=on_buffers)


def resubmitted_on_records(choose: Choices) -> dict[str, Any]:
    """Return such a job on records."""
    return resubmitted(choose, on_buffers=False)


def partly_finished(choose: Choices, *, on_buffers: bool = True) -> dict[str, Any]:
    """Return a job of which some subtasks have finished when their vertices are rescaled."""
    count = choose.of((2, 3))
    source = {"name": "source", "kind": "source", "parallelism": count, "records": count}
    source |= {"records_step": choose.of((60, 90)), "rate_per_s": 500.0 * count}
    # Each subtask of the mapper ends with that of the source in front of it.
    mapper = {"name": "mapper", "parallelism": count, "service_ns": choose.of((1, 2)) * _MS}
    mapper["inputs"] = [{"upstream": "source", "partitioner": "forward"}]
    reader: dict[str, Any] = {"name": "reader", "kind": choose.of(("operator", "sink"))}
    reader |= {"parallelism": choose.of((2, 1)), "service_ns": _MS // 2}
    reader["inputs"] = [{"upstream": "mapper", "partitioner": choose.of(("hash", "rebalance"))}]
    vertices = [source, mapper, reader]
    job = _job(choose, vertices, on_buffers=on_buffers, mode=choose.of(_MODES))
    job["restart"] = {"kind": "fixed_delay", "delay_ns": choose.of((0, 10)) * _MS}
    if on_buffers:
        job["recovery"] = {"timed": choose.flag()}
    faults: list[dict[str, Any]] = []
    at_ns = 25 * _MS
    for _ in range(choose.integer(1, 2)):
        at_ns += choose.integer(40, 100) * _MS
        fault = {"kind": choose.of(("rescale", "rescale", "resubmit")), "vertex": "mapper"}
        faults.append(fault | {"parallelism": choose.integer(1, 4), "at_ns": at_ns})
    return _document(job, faults, on_buffers=on_buffers)


def partly_finished_on_records(choose: Choices) -> dict[str, Any]:
    """Return such a job on records."""
    return partly_finished(choose, on_buffers=False)


def _few_and_many(choose: Choices) -> list[dict[str, Any]]:
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


def _job(
    choose: Choices, vertices: list[dict[str, Any]], *, on_buffers: bool, mode: str
) -> dict[str, Any]:
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


def _subtask(choose: Choices, vertex: dict[str, Any]) -> dict[str, Any]:
    """Return which subtask of a vertex a fault strikes."""
    return {"vertex": vertex["name"], "subtask": choose.integer(0, vertex["parallelism"] - 1)}


def _document(
    job: dict[str, Any], faults: list[dict[str, Any]], *, on_buffers: bool
) -> dict[str, Any]:
    return {
        "name": "random_job",
        "link": "barriers" if on_buffers else "barrier_protocol",
        "says": "a small random job whose tasks close in the midst of what else happens",
        "job": job,
        "faults": faults,
    }
