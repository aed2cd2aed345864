"""Small random jobs on buffers whose barriers overtake data that are queued at many places.

Barriers overtake in any job with backlogs; what they meet there decides which fault would show.
Where a checkpoint is aligned and the next one is not, the places of its barriers are still
remembered when that begins.  Where hundreds of records are in flight and their receivers are
rescaled, some are of the key groups at either end of each new subtask's range: the groups of one
old subtask are half a hundred or more, so a few records in flight hardly ever meet an end.
"""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.small.parts import subtask_of

_MS = 1_000_000
_US = 1_000


def uneven(choose: Choices) -> dict[str, Any]:
    """Return a job in which a checkpoint that was aligned is followed by one that times out.

    Barriers of one sender come late by then, so it begins over queued data of a channel whose
    barrier is still to come.  Most of these jobs fail later on.
    """
    source = _source(choose.of((2, 2, 3)), records=choose.integer(50, 90), per_s=1_000.0)
    readers = _readers(choose, source, load=choose.of((1.5, 1.2, 2.0)))
    job = _job(choose, [source, *readers])
    interval_ns = choose.of((24, 30)) * _MS
    job["checkpointing"] |= {"mode": "aligned_timeout", "interval_ns": interval_ns}
    # The first one comes before there is much of a backlog, so it is aligned in its time.
    job["checkpointing"]["first_trigger_ns"] = choose.of((2, 1, 4)) * _MS
    job["checkpointing"]["aligned_timeout_ns"] = choose.of((12, 16)) * _MS
    faults: list[dict[str, Any]] = []
    for number in range(2, 6):
        if number == 2 or choose.flag():
            late: dict[str, Any] = {"kind": "delay_trigger", "vertex": source["name"]}
            late["subtask"] = choose.integer(0, source["parallelism"] - 1)
            late |= {"checkpoint": number, "delay_ns": choose.integer(10, 40) * _MS}
            faults.append(late)
    if choose.integer(0, 3) == 3:  # and a checkpoint that ends before all have taken part in it
        at = {"vertex": readers[0]["name"], "subtask": 0, "checkpoint": choose.integer(1, 3)}
        faults.append({"kind": "fail_snapshot"} | at)
    if choose.integer(0, 2) < 2:  # what was overtaken is put back, at the sender and the receiver
        job["restart"] = {"kind": "fixed_delay", "delay_ns": 0}
        job["recovery"] = {"timed": choose.integer(0, 2) == 2}
        if choose.flag():  # some files are under way then
            rate = choose.of((300_000, 1_000_000))
            job["storage"] = {"write_bytes_per_s": rate, "shared_limit": True}
        vertex = choose.of((source, *readers))
        crash: dict[str, Any] = {"kind": "crash_task", "vertex": vertex["name"]}
        crash["subtask"] = choose.integer(0, vertex["parallelism"] - 1)
        faults.append(
            crash | {"at_ns": choose.integer(2, 5) * interval_ns + choose.integer(0, 20) * _MS}
        )
    return _document(job, faults)


def rescaled(choose: Choices) -> dict[str, Any]:
    """Return a job whose keyed vertex is rescaled with hundreds of small records in flight.

    Of one in four a few are in flight, in buffers that their senders still fill.
    """
    few = choose.integer(0, 3) == 3
    per_s = 2_000.0 if few else choose.of((50_000.0, 20_000.0))
    source = _source(choose.integer(1, 3), records=choose.integer(200, 400), per_s=per_s)
    readers = _readers(choose, source, load=0.3 if few else choose.of((16.0, 8.0)))
    job = _job(choose, [source, *readers])
    job["network"] |= {
        "record_bytes": choose.of((20, 50)),
        "segment_bytes": choose.of((1_000, 256, 4_096)),
    }
    if few:
        job["network"]["buffer_timeout_ns"] = choose.of((20, 50)) * _MS
    job["checkpointing"]["mode"] = choose.of(("unaligned", "unaligned", "aligned_timeout"))
    job["checkpointing"] |= {"aligned_timeout_ns": _MS, "interval_ns": 20 * _MS}
    at_ns = job["checkpointing"]["first_trigger_ns"] = choose.of((4, 3, 6)) * _MS
    job["restart"] = {"kind": "fixed_delay", "delay_ns": choose.of((0, 5)) * _MS}
    job["recovery"] = {"timed": choose.flag()}
    faults: list[dict[str, Any]] = []
    for _ in range(choose.of((2, 1, 2))):
        at_ns += choose.integer(18, 34) * _MS  # a checkpoint takes some 20 ms
        vertex = choose.of((readers[0], readers[0], readers[-1]))
        others = [count for count in range(1, 5) if count != vertex["parallelism"]]
        fault = {"kind": "rescale", "vertex": vertex["name"], "at_ns": at_ns}
        faults.append(fault | {"parallelism": choose.of(others)})
        at_ns += 10 * _MS
    return _document(job, faults)


def given_up(choose: Choices) -> dict[str, Any]:
    """Return a job of chained operators whose checkpoints are given up while files are written.

    The first one's state waits for the file with what was overtaken, which takes some time.
    """
    source = _source(choose.of((2, 1)), records=choose.integer(60, 120), per_s=1_000.0)
    readers = _readers(choose, source, load=choose.of((1.5, 1.2, 2.0)))
    job = _job(choose, [source, *readers])
    table = job["checkpointing"]
    table |= {"mode": choose.of(("unaligned", "unaligned", "aligned_timeout"))}
    table |= {"aligned_timeout_ns": _MS, "interval_ns": choose.of((20, 40)) * _MS}
    table["first_trigger_ns"] = 10 * _MS
    for vertex in readers:
        vertex |= {"chain": 2, "state_bytes": 100_000}
    job["storage"] = {"create_latency_ns": choose.of((20, 10)) * _MS}
    job["storage"]["inline_threshold_bytes"] = 0
    faults: list[dict[str, Any]] = []
    if choose.flag():
        table["timeout_ns"] = choose.of((40, 60)) * _MS
        for number in range(2, 5):  # those behind it complete
            one = choose.of((source, *readers))
            at = {"vertex": one["name"], "checkpoint": number}
            at["subtask"] = choose.integer(0, one["parallelism"] - 1)
            faults.append({"kind": "slow_file", **at, "delay_ns": 60 * _MS})
    for number in range(1, 4):
        vertex = choose.of((source, *readers))
        at = {"vertex": vertex["name"], "subtask": choose.integer(0, vertex["parallelism"] - 1)}
        kinds = ("stray_decline", "fail_channel_state", "fail_snapshot")
        fault = {"kind": choose.of(kinds), **at, "checkpoint": number}
        if fault["kind"] == "stray_decline":
            fault["delay_ns"] = choose.integer(0, 20) * _MS
        faults.append(fault)
    if choose.integer(0, 2):  # a task fails while it writes, and others go on for a while
        job["recovery"] = {"timed": True}
        job["restart"] = {"kind": "fixed_delay", "delay_ns": choose.of((0, 5)) * _MS}
        crash = {"kind": "crash_task"} | subtask_of(choose, choose.of((source, *readers)))
        at_ns = 10 * _MS + choose.integer(0, 2) * table["interval_ns"] + choose.integer(2, 30) * _MS
        faults.append(crash | {"at_ns": at_ns})
    return _document(job, faults)


def _source(parallelism: int, *, records: int, per_s: float) -> dict[str, Any]:
    """Return a source each of whose subtasks emits so much, and so fast."""
    source: dict[str, Any] = {"name": "source", "kind": "source", "parallelism": parallelism}
    return source | {"records": records * parallelism, "rate_per_s": per_s * parallelism}


def _readers(choose: Choices, source: dict[str, Any], *, load: float) -> list[dict[str, Any]]:
    """Return one or two vertices that read each other, the last of which may be a sink.

    load: how much of the time of its subtasks what is emitted in that time takes.
    """
    readers: list[dict[str, Any]] = []
    upstream = source
    for number in range(choose.of((1, 1, 2))):
        reader: dict[str, Any] = {"name": f"operator{number}", "kind": "operator"}
        reader["parallelism"] = choose.integer(1, 3)
        reader["service_ns"] = round(load * reader["parallelism"] * 1e9 / source["rate_per_s"])
        partitioner = choose.of((*("hash",) * 6, "rebalance", "custom"))
        reader["inputs"] = [{"upstream": upstream["name"], "partitioner": partitioner}]
        readers.append(reader)
        upstream = reader
    if choose.flag():
        readers[-1]["kind"] = "sink"
    return readers


def _job(choose: Choices, vertices: list[dict[str, Any]]) -> dict[str, Any]:
    segment_bytes = choose.of((1_000, 4_096))
    return {
        "vertices": vertices,
        "placement": choose.of(("remote", "remote", "remote", "mixed")),
        "network": {
            "record_bytes": segment_bytes // choose.of((1, 2, 3)),
            "segment_bytes": segment_bytes,
            "exclusive_buffers": choose.of((2, 1, 4)),
            "floating_buffers": choose.of((8, 8, 1)),
            "max_buffers_per_channel": 10,
            "buffer_timeout_ns": choose.of((1, 0)) * _MS,
            "latency_ns": choose.of((100, 500)) * _US,
            "send_ns": choose.of((40, 0)) * _US,
        },
        "checkpointing": {
            "timeout_ns": 600_000 * _MS,
            "min_pause_ns": 0,
            "tolerable_failures": 1_000,
        },
        "engine": "auto",
        "duration_ns": 6_000 * _MS,
    }


def _document(job: dict[str, Any], faults: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": "random_job",
        "link": "barriers",
        "says": "a small random job whose barriers overtake data at many places",
        "job": job,
        "faults": faults,
    }
