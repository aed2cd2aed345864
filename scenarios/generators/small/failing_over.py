"""Small random jobs that fail, or whose user submits them again, in the midst of a failover."""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.small.parts import (
    MODES,
    document_of,
    few_and_many,
    job_of,
    subtask_of,
)

_MS = 1_000_000
_SAYS = "a small random job with more than one failure, close together"
# What heartbeats of a machine lost in silence take, against some 80 ms from another failure to the
# end of the tasks that can be cancelled.
_SLOW_HEARTBEATS = {"heartbeat_interval_ns": 40 * _MS}


def lost(choose: Choices, *, on_buffers: bool = True) -> dict[str, Any]:
    """Return a job that fails over while the loss of a task manager is unknown.

    Failovers take time on buffers, and heartbeats are missed later than all other tasks are
    cancelled.
    """
    vertices = few_and_many(choose)
    many, reader = vertices[1:]
    machines = many["parallelism"] = reader["parallelism"] = choose.of((3, 2, 3))
    job = job_of(choose, vertices, on_buffers=on_buffers, mode=choose.of((*MODES, "unaligned")))
    if not on_buffers:  # files are being written when the machine goes
        job["costs"] |= {"snapshot_async_ns": choose.of((10, 0)) * _MS}
        job["costs"] |= {"snapshot_jitter_ns": choose.of((20, 10)) * _MS}
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
    return document_of(job, faults, on_buffers=on_buffers, says=_SAYS)


def lost_while_restoring(choose: Choices) -> dict[str, Any]:
    """Return a job on buffers that loses a task manager while its tasks restore.

    Some of its sources were to end by an instant that has passed by then.  It may be that no
    further restart is allowed by then, or that the user wants one, too.
    """
    vertices = few_and_many(choose)
    few, many, reader = vertices
    many["parallelism"] = reader["parallelism"] = 2
    if choose.flag():  # some subtasks of a vertex have finished when others are restored
        few |= {"parallelism": 2, "records": 2, "records_step": 60, "rate_per_s": 1000.0}
    job = job_of(choose, vertices, on_buffers=True, mode=choose.of(MODES))
    job["recovery"] = {"timed": True, "heartbeat_interval_ns": 10 * _MS}
    job["recovery"]["heartbeat_timeout_ns"] = choose.of((50, 100)) * _MS
    job["restart"] = {"kind": "fixed_delay", "delay_ns": choose.of((0, 10)) * _MS}
    if choose.integer(0, 3) == 3:
        job["restart"]["attempts"] = 1
    at_ns = choose.integer(30, 90) * _MS
    if choose.flag():
        del many["records"]
        many["ends_at_ns"] = at_ns + choose.integer(1, 250) * _MS
    # From a failure to the first task that restores it takes some 140 ms, to the last 250.
    gone_ns = at_ns + choose.integer(110, 260) * _MS
    faults = [
        {"kind": "crash_task", "vertex": many["name"], "subtask": 1, "at_ns": at_ns},
        {"kind": "crash_task_manager", "vertex": many["name"], "subtask": 0, "at_ns": gone_ns},
    ]
    faults[-1]["symptom"] = choose.of(("silent", "unreachable"))
    if choose.integer(0, 2) == 2:
        by_user: dict[str, Any] = choose.of(
            (
                {"kind": "rescale", "vertex": reader["name"], "parallelism": choose.integer(1, 3)},
                {"kind": "resubmit", "mode": choose.of(("as_before", *MODES))},
            )
        )
        faults.append(by_user | {"at_ns": at_ns + choose.integer(150, 260) * _MS})
    return document_of(job, faults, on_buffers=True, says=_SAYS)


def used_up(choose: Choices) -> dict[str, Any]:
    """Return a job on buffers of which other tasks fail before it is known that one has failed.

    What they report comes while the job is cancelled or deployed, and it may be one too many.
    """
    vertices = few_and_many(choose)
    many, reader = vertices[1:]
    many["parallelism"] = reader["parallelism"] = 2
    job = job_of(choose, vertices, on_buffers=True, mode=choose.of(MODES))
    job["recovery"] = {"timed": True}
    job["restart"] = {"kind": "fixed_delay", "delay_ns": choose.of((0, 10)) * _MS}
    job["restart"]["attempts"] = choose.of((1, 1, 2))
    at_ns = choose.integer(5, 90) * _MS
    faults = [{"kind": "crash_task", **subtask_of(choose, many), "at_ns": at_ns}]
    for _ in range(choose.integer(1, 2)):
        # A failure is known some 50 ms later, and its tasks are gone within 30 ms from then.
        later_ns = at_ns + choose.integer(20, 80) * _MS
        faults.append({"kind": "crash_task", **subtask_of(choose, reader), "at_ns": later_ns})
    return document_of(job, faults, on_buffers=True, says=_SAYS)


def resubmitted(choose: Choices, *, on_buffers: bool = True) -> dict[str, Any]:
    """Return a job that fails behind a savepoint, and that its user submits again soon.

    No checkpoint of the attempt that runs then is complete: the job begins from the one that the
    restart has gone back to, whose sinks have given up what they had for the savepoint.
    """
    vertices = few_and_many(choose)
    vertices[-1]["kind"] = "sink"
    job = job_of(choose, vertices, on_buffers=on_buffers, mode=choose.of(MODES))
    job["checkpointing"]["interval_ns"] = choose.of((400, 150)) * _MS
    job["restart"] = {"kind": "fixed_delay", "delay_ns": choose.of((0, 5)) * _MS}
    saved_ns = choose.integer(20, 40) * _MS
    fails_ns = saved_ns + choose.integer(10, 40) * _MS
    again_ns = fails_ns + choose.of((200, 140) if on_buffers else (60, 20)) * _MS
    faults = [
        {"kind": "request_savepoint", "at_ns": saved_ns},
        {"kind": "crash_task", **subtask_of(choose, vertices[1]), "at_ns": fails_ns},
        {"kind": "resubmit", "mode": "as_before", "at_ns": again_ns},
    ]
    return document_of(job, faults, on_buffers=on_buffers, says=_SAYS)
