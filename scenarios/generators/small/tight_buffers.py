"""Tiny random jobs on buffers that lack nothing but buffers, credit and time on the wire.

A few records of about one, two or three buffers each go through two or three vertices, and every
one of them meets what larger jobs meet seldom: a thread that stands inside a record, a flush that
is asked for behind one that was not met yet, a barrier that times out as the last of its queue, a
credit that comes as the channel ends.  So little happens in a run that both drivers take a tenth of
a second for it, and so close together that faults of either show.
"""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.job_environment import give_broadcast_state

_MS = 1_000_000
_US = 1_000
_PARTITIONERS = ("hash", "rebalance", "broadcast", "forward", "rescale")
_MODES = ("aligned_timeout", "unaligned", "aligned_timeout", "aligned", "at_least_once")
_INTERVALS_NS = (12 * _MS, 20 * _MS)
# Records, against a buffer: exactly so many, or a little less or more, or a part of one.
_OF_A_BUFFER = (1.0, 2.0, 0.3, 3.0, 1.5, 0.5, 2.7, 0.34)
_SELECTIVITY = (2.0, 3.0, 1.5, 1.0, 0.5, 2.5)
_SERVICE_NS = (_MS, 300 * _US, 2 * _MS, 0)


def document(choose: Choices) -> dict[str, Any]:
    """Return such a job as the document of a scenario file, in base units."""
    theme = choose.of(_THEMES)
    is_slow = theme is _debloated  # long enough for debloaters to look more than once
    vertices = _vertices(choose, is_slow=is_slow)
    job: dict[str, Any] = {
        "vertices": vertices,
        "placement": choose.of(("remote", "local", "mixed", "local")),
        "network": _network(choose),
        "checkpointing": _checkpointing(choose, is_slow=is_slow),
        "storage": {"read_bytes_per_s": choose.of((20_000_000, 1_000_000))},
        "engine": "auto",
        "duration_ns": (2_800 if is_slow else 400) * _MS,
    }
    theme(choose, job)
    faults = _faults(choose, job, fails=theme in (_restored, _in_turns))
    if faults:
        job["restart"] = {"kind": "fixed_delay", "delay_ns": choose.of((0, 2)) * _MS}
        job["recovery"] = {"timed": theme is _restored or choose.flag()}
    elif choose.integer(0, 7) == 7:
        stop = {"stop_at_ns": choose.integer(5, 60) * _MS}
        job["ending"] = stop | {"stop_kind": choose.of(("drain", "no_drain"))}
    return {
        "name": "random_job",
        "link": "barriers",
        "says": "a tiny random job that lacks buffers",
        "job": job,
        "faults": faults,
    }


def _vertices(choose: Choices, *, is_slow: bool) -> list[dict[str, Any]]:
    """Return one or two sources, and one or two operators, the first of which reads them all."""
    rates = (100.0, 50.0) if is_slow else (1000.0, None, 500.0)
    vertices: list[dict[str, Any]] = []
    for number in range(choose.of((1, 1, 2))):
        source: dict[str, Any] = {"name": f"source{number}", "kind": "source"}
        source |= {"parallelism": choose.of((1, 2)), "hot_ratio": choose.of((0.0, 0.0, 0.5))}
        source["records"] = choose.integer(8, 40) * source["parallelism"]
        rate = choose.of(rates)
        if rate is not None:
            source["rate_per_s"] = rate * source["parallelism"]
        vertices.append(source)
    upstream = list(vertices)
    for number in range(choose.of((2, 2, 1))):
        operator: dict[str, Any] = {"name": f"operator{number}", "kind": "operator"}
        operator |= {"parallelism": choose.of((1, 2)), "service_ns": choose.of(_SERVICE_NS)}
        operator["inputs"] = [_input(choose, one, operator) for one in upstream]
        operator["two_input"] = len(upstream) == 2 and choose.flag()
        vertices.append(operator)
        upstream = [operator]
    for vertex in vertices[:-1]:
        if vertex["kind"] == "operator":
            vertex["selectivity"] = choose.of(_SELECTIVITY)
        vertex["record_variation"] = choose.of((0.0, 0.0, 0.0, 0.5))
    if choose.flag():
        vertices[-1]["kind"] = "sink"
    give_broadcast_state(vertices)
    return vertices


def _input(choose: Choices, up: dict[str, Any], down: dict[str, Any]) -> dict[str, Any]:
    partitioner = choose.of(_PARTITIONERS)
    if partitioner == "forward" and up["parallelism"] != down["parallelism"]:
        partitioner = "rebalance"
    return {"upstream": up["name"], "partitioner": partitioner}


def _network(choose: Choices) -> dict[str, Any]:
    segment_bytes = choose.of((1_000, 4_096))
    record_bytes = max(1, round(segment_bytes * choose.of(_OF_A_BUFFER)))
    exclusive = choose.of((1, 0, 1, 2))
    # Without buffers of their own channels need enough of their gate's, or a record that takes more
    # than the pool and its overdraft have keeps its thread, and barriers, for good.
    own = exclusive or record_bytes < segment_bytes
    floating = choose.of((1, 1, 3)) if own else 8
    return {
        "record_bytes": record_bytes,
        "segment_bytes": segment_bytes,
        "exclusive_buffers": exclusive,
        "floating_buffers": floating,
        "max_buffers_per_channel": choose.of((10, 2, 3)),
        "max_overdraft_buffers": choose.of((0, 1, 5)),
        "buffer_timeout_ns": choose.of((_MS, 2 * _MS, 5 * _MS, 300 * _US, 0)),
        "debloat": choose.integer(0, 5) == 5,
        "debloat_target_ns": choose.of((20, 5, 1000)) * _MS,
        "latency_ns": choose.of((100, 1_000, 10)) * _US,
        "jitter_ns": choose.of((0, 100)) * _US,
        "send_ns": choose.of((40, 1_000, 0, 2_000)) * _US,
    }


def _checkpointing(choose: Choices, *, is_slow: bool) -> dict[str, Any]:
    interval_ns = choose.of(_INTERVALS_NS) * (20 if is_slow else 1)
    return {
        "mode": choose.of(_MODES),
        "interval_ns": interval_ns,
        "first_trigger_ns": choose.of((5, 3, 8)) * _MS,
        "aligned_timeout_ns": choose.of((8, 10, 6, 14)) * _MS,
        "timeout_ns": 600_000 * _MS,
        "min_pause_ns": 0,
        "tolerable_failures": 1_000,
    }


def _anything(choose: Choices, job: dict[str, Any]) -> None:
    """Leave a job as it is."""


def _timed_out(choose: Choices, job: dict[str, Any]) -> None:
    """Have barriers time out as the last of their queue, after a flush that came for what is gone.

    The receiver is long at a record, or the wire, and the sender writes nothing more for a while.
    """
    checkpointing, network = job["checkpointing"], job["network"]
    checkpointing |= {"mode": "aligned_timeout", "interval_ns": choose.of((60, 45)) * _MS}
    checkpointing["aligned_timeout_ns"] = choose.of((12, 9, 16)) * _MS
    job["placement"] = choose.of(("local", "remote"))
    network["record_bytes"] = network["segment_bytes"] // choose.of((1, 3, 2))
    network |= {"exclusive_buffers": 1, "floating_buffers": 1, "debloat": False}
    network |= {"buffer_timeout_ns": _MS, "send_ns": choose.of((8, 4)) * _MS}
    for vertex in job["vertices"]:
        if vertex["kind"] == "source":
            vertex["rate_per_s"] = choose.of((50.0, 75.0)) * vertex["parallelism"]
            vertex["records"] = choose.integer(12, 24) * vertex["parallelism"]
        else:
            vertex |= {"service_ns": choose.of((6, 9)) * _MS, "selectivity": 1.0}


def _inside_records(choose: Choices, job: dict[str, Any]) -> None:
    """Have threads stand inside a record, or between two that one record of the input gives."""
    network = job["network"]
    network["record_bytes"] = network["segment_bytes"] * choose.of((2, 1, 3)) + choose.of(
        (0, 1, -1)
    )
    network |= {"exclusive_buffers": 1, "floating_buffers": 1}
    network["max_overdraft_buffers"] = choose.of((0, 1))
    for vertex in job["vertices"][:-1]:
        if vertex["kind"] != "source":
            vertex["selectivity"] = choose.of((2.0, 3.0, 1.5))
            vertex["service_ns"] = choose.of((300 * _US, _MS))
    job["vertices"][-1]["service_ns"] = choose.of((2 * _MS, _MS))


def _restored(choose: Choices, job: dict[str, Any]) -> None:
    """Have records be restored of which a part was at the receiver and the rest at the sender."""
    job["checkpointing"]["mode"] = choose.of(("unaligned", "aligned_timeout"))
    network = job["network"]
    network["record_bytes"] = network["segment_bytes"] * choose.of((5, 3, 7)) // 2
    network |= {"exclusive_buffers": choose.of((1, 2)), "buffer_timeout_ns": _MS}
    for vertex in job["vertices"]:
        if vertex["kind"] == "source":
            vertex["rate_per_s"] = choose.of((600.0, 1000.0)) * vertex["parallelism"]
        else:
            vertex["service_ns"] = choose.of((2 * _MS, 4 * _MS))


def _debloated(choose: Choices, job: dict[str, Any]) -> None:
    """Have buffers get smaller while the last vertex holds the others up, and larger behind that.

    A debloater goes by the bytes of the time in which its task was not idle, and comes close to
    what it wants in some looks, of which there are five a second.
    """
    network, last = job["network"], job["vertices"][-1]
    network |= {"debloat": True, "debloat_target_ns": choose.of((2, 1)) * _MS}
    network |= {"segment_bytes": 1_000, "record_bytes": choose.of((2_000, 1_500, 3_000))}
    for vertex in job["vertices"]:
        if vertex["kind"] == "source":
            vertex["rate_per_s"] = choose.of((100.0, 140.0))
            vertex["rate_changes"] = [{"at_ns": 700 * _MS, "factor": choose.of((0.15, 0.1))}]
            vertex["records"] = 120
        else:
            vertex |= {"service_ns": 300 * _US, "selectivity": 1.0}
    last["service_ns"] = choose.of((20, 30)) * last["parallelism"] * _MS


def _in_turns(choose: Choices, job: dict[str, Any]) -> None:
    """Have a task take records of two inputs in turn, and set aside the rest of their buffers."""
    vertices, network = job["vertices"], job["network"]
    if vertices[1]["kind"] != "source":
        vertices.insert(1, vertices[0] | {"name": "source1"})
        vertices[2]["inputs"].append(vertices[2]["inputs"][0] | {"upstream": "source1"})
    vertices[2] |= {"two_input": True, "service_ns": choose.of((_MS, 2 * _MS))}
    job["checkpointing"]["mode"] = choose.of(("unaligned", "aligned_timeout"))
    network["record_bytes"] = network["segment_bytes"] // choose.of((3, 6, 4))
    network["buffer_timeout_ns"] = choose.of((5, 2)) * _MS


# What is met seldom all the same has more of them.
_THEMES = (
    *(_anything, _timed_out, _inside_records, _restored, _in_turns),
    *(_timed_out, _debloated, _timed_out, _restored, _inside_records, _in_turns),
)


def _faults(choose: Choices, job: dict[str, Any], *, fails: bool) -> list[dict[str, Any]]:
    """Return a failure behind the first checkpoints in some jobs, and a checkpoint soon behind it.

    So checkpoints are taken while what was in flight is still being read.
    """
    kinds = ("crash_task", "crash_task", "rescale")
    kind = choose.of(kinds if fails else ("none", "none", "none", *kinds))
    if kind == "none":
        return []
    interval_ns = job["checkpointing"]["interval_ns"]
    at_ns = choose.integer(1, 3) * interval_ns + choose.integer(4, 20) * _MS
    vertices: list[dict[str, Any]] = job["vertices"]
    if kind == "rescale":  # a checkpoint does not tell how far each subtask was in what it gives
        for one in vertices:
            one["selectivity"] = 1.0
    vertex = choose.of(vertices)
    fault = {"kind": kind, "vertex": vertex["name"], "at_ns": at_ns}
    if kind == "rescale":
        fault["parallelism"] = choose.integer(1, 3)
    else:
        fault["subtask"] = choose.integer(0, vertex["parallelism"] - 1)
    return [fault]
