"""Small random jobs whose tasks close one after the other, in the midst of what else happens.

Where everything is drawn by itself, a failure, a barrier or the loss of a machine seldom comes
within the few ms between a task's end and the coordinator's knowing it.  Each kind of job here is
made for one such meeting; what is drawn decides who is first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.small.failing_over import lost, lost_while_restoring
from ckptsim.scenarios.generators.small.parts import (
    MODES,
    document_of,
    few_and_many,
    job_of,
    subtask_of,
)

_MS = 1_000_000
_SAYS = "a small random job whose tasks close in the midst of what else happens"


def document(choose: Choices) -> dict[str, Any]:
    """Return one of these jobs as the document of a scenario file, in base units."""
    draw: Callable[[Choices], dict[str, Any]] = choose.of(
        (
            *(failing, aligning, stopped, lost, aligning, partly_finished),
            *(lost_while_restoring, saved, given_up),
        )
    )
    return draw(choose)


def failing(choose: Choices) -> dict[str, Any]:
    """Return a job on either plane that fails while tasks close, and is deployed at once.

    What the tasks of an attempt have sent is then on its way, and comes to the next one.
    """
    on_buffers = choose.integer(0, 2) == 2
    vertices = few_and_many(choose)
    job = job_of(choose, vertices, on_buffers=on_buffers, mode=choose.of(MODES))
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
        faults.append({"kind": "crash_task", **subtask_of(choose, vertices[1]), "at_ns": at_ns})
    for _ in range(choose.integer(2, 4)):
        at_ns += choose.integer(soonest_ms, latest_ms) * _MS
        faults.append({"kind": "crash_task", **subtask_of(choose, vertices[1]), "at_ns": at_ns})
    return document_of(job, faults, on_buffers=on_buffers, says=_SAYS)


def aligning(choose: Choices) -> dict[str, Any]:
    """Return a job on buffers in which the last end of a channel completes an alignment.

    One subtask of a source hears late of a checkpoint's trigger, and closes before; the others send
    the barrier and close behind it.  All wait for the notification of the checkpoint before.
    """
    vertices = few_and_many(choose)
    few = vertices[0] | {"parallelism": choose.integer(2, 3)}
    few["records"] = choose.integer(1, 3) * few["parallelism"]
    sink = vertices[-1] | {"inputs": [{"upstream": few["name"], "partitioner": "rebalance"}]}
    # Where channels are blocked behind a barrier, an end that comes behind one is none of the last.
    mode = choose.of((*("at_least_once",) * 9, *MODES))
    job = job_of(choose, [few, sink], on_buffers=True, mode=mode)
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
    return document_of(job, faults, on_buffers=True, says=_SAYS)


def given_up(choose: Choices) -> dict[str, Any]:
    """Return a job of which a checkpoint behind the end of the data is given up half-way.

    One subtask of the source hears that before its trigger, so a cancellation comes from it, where
    barriers of the others wait already.  The next checkpoint is far away.
    """
    on_buffers = choose.flag()
    count = choose.integer(2, 3)
    source = {"name": "few", "kind": "source", "parallelism": count, "rate_per_s": 500.0 * count}
    source["records"] = choose.integer(1, 3) * count
    reader = {"name": "reader", "kind": choose.of(("sink", "operator")), "service_ns": _MS // 2}
    reader |= {"parallelism": choose.of((1, 2))}
    reader["inputs"] = [{"upstream": "few", "partitioner": choose.of(("rebalance", "hash"))}]
    mode = choose.of(("aligned", "aligned", *MODES))
    job = job_of(choose, [source, reader], on_buffers=on_buffers, mode=mode)
    pause_ns = choose.of((200, 60)) * _MS
    job["checkpointing"] |= {"interval_ns": 30 * _MS, "min_pause_ns": pause_ns}
    job["checkpointing"]["tolerable_failures"] = 5
    late = choose.integer(0, count - 1)
    at = {"vertex": "few", "checkpoint": choose.of((1, 1, 2))}
    late_ns, slow_ns = choose.integer(20, 50) * _MS, choose.integer(0, 10) * _MS
    failing = at | {"subtask": (late + 1) % count}
    faults = [
        {"kind": "delay_trigger", **at, "subtask": late, "delay_ns": late_ns},
        {"kind": "fail_snapshot", **failing},
        {"kind": "slow_file", **failing, "delay_ns": slow_ns},
    ]
    return document_of(job, faults, on_buffers=on_buffers, says=_SAYS)


def stopped(choose: Choices) -> dict[str, Any]:
    """Return a job on buffers that a stop with savepoint ends in the midst of its data.

    The stop may fail, and the job goes on, or a task fails soon after it was asked for.  It may be
    refused, while tasks are restored or because some have finished, and is asked for again.
    """
    vertices = few_and_many(choose)
    job = job_of(choose, vertices, on_buffers=True, mode=choose.of(MODES))
    stop_ns = choose.integer(20, 90) * _MS
    job["ending"] = {"stop_at_ns": stop_ns, "stop_kind": choose.of(("drain", "no_drain"))}
    faults: list[dict[str, Any]] = []
    job["restart"] = {"kind": "fixed_delay", "delay_ns": 0, "attempts": 5}
    at = subtask_of(choose, choose.of(tuple(vertices)))
    went_wrong = choose.integer(0, 5)
    if went_wrong == 2:
        faults.append({"kind": "fail_snapshot", **at, "checkpoint": choose.integer(1, 4)})
    elif went_wrong == 3:
        fails_ns = stop_ns + choose.integer(1, 20) * _MS
        faults.append({"kind": "crash_task", **at, "at_ns": fails_ns})
    elif went_wrong == 4:
        vertices[-1]["kind"] = "operator"  # a sink would lose its last transaction
        job["checkpointing"]["after_finish"] = False
    elif went_wrong == 5:
        job["recovery"] = {"timed": True}
        fails_ns = stop_ns - choose.integer(5, 60) * _MS
        faults.append({"kind": "crash_task", **at, "at_ns": max(0, fails_ns)})
    return document_of(job, faults, on_buffers=True, says=_SAYS)


def saved(choose: Choices) -> dict[str, Any]:
    """Return a job whose final checkpoint is complete while it still writes for a savepoint.

    What is written late fails, or does not.
    """
    on_buffers = choose.flag()
    vertices = few_and_many(choose)
    mode = choose.of(("aligned", "at_least_once"))  # others wait until the savepoint is complete
    job = job_of(choose, vertices, on_buffers=on_buffers, mode=mode)
    job["checkpointing"]["max_concurrent"] = 2
    interval_ns = job["checkpointing"]["interval_ns"]
    number = choose.integer(2, 4)
    many = vertices[1]
    asked_ns = (number - 1) * interval_ns + choose.integer(1, interval_ns // _MS - 1) * _MS
    ends_ns = asked_ns + choose.integer(0, 6) * _MS
    many["records"] = ends_ns // (2 * _MS) * many["parallelism"]  # each has one in 2 ms
    at = subtask_of(choose, choose.of(tuple(vertices))) | {"checkpoint": number}
    faults: list[dict[str, Any]] = [{"kind": "request_savepoint", "at_ns": asked_ns}]
    faults.append({"kind": "slow_file", **at, "delay_ns": choose.integer(30, 80) * _MS})
    if choose.integer(0, 2):
        faults.append({"kind": "fail_snapshot", **at})
    return document_of(job, faults, on_buffers=on_buffers, says=_SAYS)


def partly_finished(choose: Choices, *, on_buffers: bool = True) -> dict[str, Any]:
    """Return a job of which some subtasks have finished when it restarts or is rescaled."""
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
    rescaled: tuple[str, ...] = ("mapper",)
    if choose.integer(0, 2) == 2:  # or one that nothing of has finished, in front of them
        other = {"name": "other", "kind": "source", "parallelism": choose.of((2, 1))}
        other |= {"records": choose.integer(80, 120), "rate_per_s": 500.0}
        reader["inputs"].append({"upstream": "other", "partitioner": "rebalance"})
        vertices, rescaled = [other, *vertices], ("other", "mapper")
    job = job_of(choose, vertices, on_buffers=on_buffers, mode=choose.of(MODES))
    job["restart"] = {"kind": "fixed_delay", "delay_ns": choose.of((0, 10)) * _MS}
    if on_buffers:
        job["recovery"] = {"timed": choose.of((True, False, True))}
    faults: list[dict[str, Any]] = []
    at_ns = 25 * _MS
    for _ in range(choose.integer(1, 2)):
        at_ns += choose.integer(40, 100) * _MS
        kind = choose.of(("rescale", "crash_task", "rescale", "resubmit", "crash_task"))
        fault = {"kind": kind, "vertex": choose.of(rescaled), "at_ns": at_ns}
        if kind != "crash_task":
            fault["parallelism"] = choose.integer(1, 4)
        elif fault["vertex"] == "mapper":
            fault["subtask"] = count - 1  # which ends last
        faults.append(fault)
    return document_of(job, faults, on_buffers=on_buffers, says=_SAYS)
