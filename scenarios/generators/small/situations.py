"""Small random jobs on records that have in common what one rare situation asks for.

Each takes several choices that seldom come together where all are drawn by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.small import in_flight, late_barriers, reading_back
from ckptsim.scenarios.generators.small.parts import subtask_of

_MS = 1_000_000
_Arrange = Callable[[Choices, dict[str, Any], list[dict[str, Any]]], list[dict[str, Any]]]


def document(choose: Choices) -> dict[str, Any]:
    """Return a job with failures as the document of a scenario file, in base units."""
    return arranged(choose, choose.of(_SITUATIONS))


def each() -> tuple[Callable[[Choices], dict[str, Any]], ...]:
    """Return what draws such jobs, of each situation one: they take turns where kinds do."""
    return tuple(partial(arranged, arrange=arrange) for arrange in _SITUATIONS)


def for_final_checkpoint(choose: Choices) -> dict[str, Any]:
    """Return such a job, in one of those situations that matter to transactions or event time."""
    return arranged(choose, choose.of(_FOR_FINAL_CHECKPOINT))


def arranged(choose: Choices, arrange: _Arrange) -> dict[str, Any]:
    """Return such a job in the situation that a function puts it into."""
    text = in_flight.document(choose)
    faults = arrange(choose, text["job"], text["faults"])
    return text | {"says": "a small random job in a rare situation", "faults": faults}


def _reads_several_splits(
    choose: Choices, job: dict[str, Any], faults: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Have subtasks of a source read several splits, whose first records come one by one.

    Of some they have had a record, and of others none yet, when they tell their first watermark.
    """
    source = _with_several_subtasks(choose, job)
    source["rate_per_s"] = 250.0 * source["parallelism"]  # several marks come between two records
    shares = choose.of(((1.0, 3.0, 9.0), (9.0, 3.0, 1.0), (3.0, 1.0, 3.0)))
    source["rate_shares"] = list(shares[: source["parallelism"]])
    job["event_time"] = {"watermark_interval_ns": choose.of((1, 2)) * _MS}
    idle_ns = choose.of((0, 4, 0, 1)) * _MS
    job["event_time"] |= {"idle_timeout_ns": idle_ns} if idle_ns else {}
    fewer = choose.integer(1, source["parallelism"] - 1)
    return _rescaled_first(faults, source, fewer)


def _copies_in_flight(
    choose: Choices, job: dict[str, Any], faults: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Rescale a vertex whose records in flight every new subtask gets, and keeps its own of."""
    vertex = choose.of([one for one in job["vertices"] if "inputs" in one])
    parallelism = vertex["parallelism"]
    for one in vertex["inputs"]:
        one["partitioner"] = choose.of(("custom", "custom", "hash"))
    vertex["service_ns"] = choose.of((4, 2)) * _MS
    job["channel_state"].pop("rescaling", None)  # none is refused
    if choose.integer(0, 2) == 2:  # both parts of what a channel holds are put into its receiver
        job["channel_state"] = {"handled_by": "downstream"}
    other = choose.of([count for count in range(1, 5) if count != parallelism])
    return _rescaled_first(faults, vertex, other)


def _read_ahead(
    choose: Choices, job: dict[str, Any], faults: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Have a barrier come late at receivers that have a barrier of the checkpoint, and read on.

    What they read meanwhile is in flight for the checkpoint, and in their senders' logs alone.
    """
    source = _with_several_subtasks(choose, job)
    table = job["checkpointing"]
    table |= {"mode": "unaligned", "interval_ns": choose.of((20, 10)) * _MS}
    # Replayed from where the sizes of buffers say, what is right hangs on options drawn elsewhere.
    job["channel_state"] = {"spilling": "continuous", "replay_from": "file_index"}
    job["channels"] |= {"receiver_records": choose.of((2, 1)), "record_buffers": choose.of((1, 3))}
    for vertex in job["vertices"]:
        if "inputs" in vertex:
            vertex["service_ns"] = choose.of((_MS, _MS // 2))
    late = {"kind": "delay_trigger", "vertex": source["name"]}
    late["subtask"] = choose.integer(0, source["parallelism"] - 1)
    return faults + [
        late | {"checkpoint": number, "delay_ns": choose.integer(4, 15) * _MS}
        for number in range(1, 4)
    ]


def _newest_is_saved(
    choose: Choices, job: dict[str, Any], faults: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Have a task fail when a savepoint is the newest of all that is complete, or a user begin."""
    # It is aligned, so what is queued in front of its barriers is little; no checkpoint follows
    # soon, so that it is still the newest at the failure; and the data have not ended by then.
    interval_ns = job["checkpointing"]["interval_ns"]
    job["checkpointing"]["min_pause_ns"] = choose.of((60, 30)) * _MS
    job["channels"] |= {"sender_records": 2, "receiver_records": 2}
    for one in job["vertices"]:
        if one["kind"] == "source":
            one["records"] = choose.integer(40, 60) * one["parallelism"]
    asked_ns = choose.integer(1, 2) * interval_ns + choose.integer(1, 5) * _MS
    crash = {"kind": "crash_task"} | subtask_of(choose, choose.of(job["vertices"]))
    saved = [
        {"kind": "request_savepoint", "at_ns": asked_ns},
        crash | {"at_ns": asked_ns + choose.of((25, 15, 40)) * _MS},
    ]
    later_ns = saved[-1]["at_ns"]
    if choose.integer(0, 2):
        # The user begins anew before another one is complete: from what the restart went back to.
        later_ns += choose.of((10, 5, 20)) * _MS
        saved.append({"kind": "resubmit", "at_ns": later_ns})
    return saved + [one for one in faults if one.get("at_ns", later_ns) >= later_ns]


def _given_out_anew(
    choose: Choices, job: dict[str, Any], faults: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Give subtasks out anew at each restart, those too that a forwarded edge joins.

    Their state carries who they are; what is in flight between them goes with both.
    """
    del faults
    count = choose.of((3, 2))
    sources = [one for one in job["vertices"] if one["kind"] == "source"]
    before = [source["name"] for source in sources]
    operators = []
    for number, (partitioner, service_ns) in enumerate(
        ((choose.of(("hash", "hash", "rebalance")), _MS // 2), ("forward", choose.of((4, 2)) * _MS))
    ):
        inputs = [{"upstream": name, "partitioner": partitioner} for name in before]
        one = {"name": f"operator{number}", "kind": "operator", "parallelism": count}
        operators.append(one | {"inputs": inputs, "service_ns": service_ns})
        before = [operators[-1]["name"]]
    for source in sources:
        source["records"] = choose.integer(15, 30) * source["parallelism"]
    job["vertices"] = [*sources, *operators]
    job["channel_state"] = {"ordered_edges": "reassigned", "subtask_indices": "carried"}
    at_ns = 2 * job["checkpointing"]["interval_ns"] + choose.integer(1, 8) * _MS
    crash = {"kind": "crash_task", "vertex": choose.of(("operator1", "operator0"))}
    # Behind a checkpoint of the attempt in which they are others than their indices.
    again_ns = at_ns + choose.of((3, 2, 5)) * job["checkpointing"]["interval_ns"] + 5 * _MS
    return [crash | {"at_ns": at_ns}, crash | {"at_ns": again_ns, "subtask": count - 1}]


def _restored_again(
    choose: Choices, job: dict[str, Any], faults: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Take a checkpoint while restored records are being read, in pieces, and begin from it."""
    del faults
    table = job["checkpointing"]
    table |= {"mode": "unaligned", "interval_ns": choose.of((10, 6)) * _MS}
    job["channels"] |= {"record_buffers": choose.of((3, 2)), "receiver_records": choose.of((4, 8))}
    job["costs"]["read_record_ns"] = choose.of((_MS // 4, 0, _MS))
    found: list[dict[str, Any]] = []
    at_ns = table["interval_ns"]
    for _ in range(3):
        at_ns += table["interval_ns"] + choose.integer(2, 12) * _MS
        crash = {"kind": "crash_task"} | subtask_of(choose, choose.of(job["vertices"]))
        asked = {"kind": "request_checkpoint", "at_ns": at_ns + choose.integer(1, 8) * _MS}
        found += [crash | {"at_ns": at_ns}, asked]
    return found


def _given_up_while_stored(
    choose: Choices, job: dict[str, Any], faults: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Have a task fail while a checkpoint that all have acknowledged is being stored.

    It may be the first one; and a task fails again, or not, before another one is complete.
    """
    interval_ns = job["checkpointing"]["interval_ns"] = choose.of((20, 10)) * _MS
    job["costs"]["completion_ns"] = choose.of((15, 30)) * _MS
    job["channels"] |= {"sender_records": 2, "receiver_records": 2}
    job["restart"] = {"kind": "fixed_delay", "delay_ns": choose.of((0, 1, 5)) * _MS}
    for one in job["vertices"]:
        if one["kind"] == "source":
            one["records"] = choose.integer(40, 70) * one["parallelism"]
    at_ns = choose.integer(1, 3) * interval_ns + choose.integer(4, 14) * _MS
    crash = {"kind": "crash_task"} | subtask_of(choose, choose.of(job["vertices"]))
    found = [crash | {"at_ns": at_ns}]
    if choose.flag():
        again_ns = at_ns + choose.integer(10, 40) * _MS
        found.append(crash | {"at_ns": again_ns})
    return found + [one for one in faults if one["kind"] == "request_savepoint"]


def _triggers_side_by_side(
    choose: Choices, job: dict[str, Any], faults: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Have several checkpoints under way whose triggers take times of their own to each task."""
    job["costs"]["rpc_jitter_ns"] = choose.of((15, 5)) * _MS
    job["checkpointing"] |= {"mode": "aligned", "max_concurrent": choose.of((3, 2))}
    job["checkpointing"]["interval_ns"] = choose.of((4, 8)) * _MS
    kinds = ("request_savepoint", "request_checkpoint")
    asked = [
        {"kind": choose.of(kinds), "at_ns": choose.integer(4, 24) * _MS}
        for _ in range(choose.integer(1, 3))
    ]
    # What overtakes does so one at a time, so nobody submits the job again in such a mode.
    kept = [one | {"mode": "as_before"} if "mode" in one else one for one in faults]
    return kept + asked


def _dealt_out_anew(
    choose: Choices, job: dict[str, Any], faults: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Rescale one side of an edge each of whose receivers reads some of its senders alone."""
    source = _with_several_subtasks(choose, job)
    name = source["name"]
    readers = [one for one in job["vertices"] if "inputs" in one]
    vertex = choose.of([one for one in readers if name in _upstream(one)])
    vertex["parallelism"] = max(vertex["parallelism"], choose.of((2, 3)))
    for reader in readers:
        for one in reader["inputs"]:
            if vertex["name"] in (reader["name"], one["upstream"]):
                one["partitioner"] = "rescale"
        reader["service_ns"] = choose.of((4, 2)) * _MS
    job["checkpointing"]["mode"] = "unaligned"
    job["channel_state"].pop("rescaling", None)  # none is refused
    if choose.integer(0, 2):  # else barriers overtake nothing on such an edge
        job["channel_state"]["ordered_edges"] = "reassigned"
    if choose.integer(0, 2) == 2:
        return _rescaled_first(faults, source, choose.integer(1, source["parallelism"] - 1))
    other = choose.of([count for count in range(1, 5) if count != vertex["parallelism"]])
    return _rescaled_first(faults, vertex, other)


def _fewer_sinks(
    choose: Choices, job: dict[str, Any], faults: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Rescale a sink to fewer subtasks, which take over what the others have pre-committed."""
    sink = job["vertices"][-1]
    before = sink["parallelism"]
    sink |= {"kind": "sink", "parallelism": max(before, choose.of((3, 2)))}
    for one in sink["inputs"]:
        one["partitioner"] = choose.of(("hash", "rebalance"))
    return _rescaled_first(faults, sink, choose.integer(1, sink["parallelism"] - 1))


def _half_told(
    choose: Choices, job: dict[str, Any], faults: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Have checkpoints given up of which a task, or two, never hear, and the others do."""
    for one in job["vertices"]:
        if one["kind"] == "source":
            one["records"] = choose.integer(25, 40) * one["parallelism"]
    job["checkpointing"]["tolerable_failures"] = 1_000
    # A file that fails would give them up at all who share it, each of which knows by itself.
    found = [one for one in faults if one["kind"] != "fail_channel_state"]
    for number in range(1, choose.integer(2, 4)):
        at = {"checkpoint": number}
        kind = choose.of(("fail_snapshot", "stray_decline"))
        fault = {"kind": kind} | at | subtask_of(choose, choose.of(job["vertices"]))
        found.append(fault | ({"delay_ns": 0} if kind == "stray_decline" else {}))
        found += [
            {"kind": "lose_notification"} | at | subtask_of(choose, choose.of(job["vertices"]))
            for _ in range(choose.integer(1, 2))
        ]
    return found


def _marks_of_several(
    choose: Choices, job: dict[str, Any], faults: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Rescale a reader for whose channels watermarks of several old ones are in flight."""
    source = _with_several_subtasks(choose, job)
    reader = choose.of([one for one in job["vertices"] if source["name"] in _upstream(one)])
    reader["parallelism"] = max(reader["parallelism"], choose.of((3, 2)))
    for vertex in job["vertices"]:
        for one in vertex.get("inputs", ()):
            if vertex is reader:
                one["partitioner"] = choose.of(("hash", "rebalance"))
            elif one["upstream"] == reader["name"]:
                one["partitioner"] = "rebalance"
    reader["service_ns"] = choose.of((4, 2)) * _MS
    job["event_time"] = {"watermark_interval_ns": _MS}
    job["checkpointing"]["mode"] = "unaligned"
    job["channel_state"].pop("rescaling", None)  # none is refused
    return _rescaled_first(faults, reader, choose.integer(1, reader["parallelism"] - 1))


def _messages_outlive_attempts(
    choose: Choices, job: dict[str, Any], faults: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Have messages take longer than a restart, so that those of an attempt come in the next one.

    Among them are those of subtasks that have finished, or have no place in the next one.
    """
    del faults
    source = _with_several_subtasks(choose, job)
    source |= {"records": choose.integer(2, 8) * source["parallelism"], "records_step": 20}
    job["costs"]["rpc_ns"] = choose.of((8, 15, 4)) * _MS
    job["restart"] = {"kind": "fixed_delay", "delay_ns": 0}
    found: list[dict[str, Any]] = []
    at_ns = 0
    for _ in range(choose.integer(2, 4)):
        at_ns += choose.integer(10, 60) * _MS
        vertex: dict[str, Any] = choose.of(job["vertices"])
        kind = choose.of(("resubmit", "rescale", "crash_task"))
        if kind == "crash_task":
            found.append({"kind": kind, "at_ns": at_ns} | subtask_of(choose, vertex))
            continue
        count = vertex["parallelism"] if choose.flag() else choose.integer(1, 3)
        fault = {"kind": kind, "vertex": vertex["name"], "parallelism": count, "at_ns": at_ns}
        found.append(fault | ({"mode": "as_before"} if kind == "resubmit" else {}))
    return found


def _lost_while_writing(
    choose: Choices, job: dict[str, Any], faults: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Have a task manager be lost in silence while its tasks write what they have in flight."""
    interval_ns = job["checkpointing"]["interval_ns"] = choose.of((20, 30)) * _MS
    job["checkpointing"]["mode"] = "unaligned"
    job["costs"]["snapshot_async_ns"] = choose.of((2, 0)) * _MS
    job["costs"]["snapshot_jitter_ns"] = choose.of((2, 8)) * _MS
    job["channel_state"]["write_record_ns"] = choose.of((_MS, _MS // 2))
    job["recovery"] = {"heartbeat_interval_ns": 20 * _MS}
    job["recovery"]["heartbeat_timeout_ns"] = choose.of((60, 40)) * _MS
    for vertex in job["vertices"]:
        if "inputs" in vertex:
            vertex["service_ns"] = choose.of((4, 2)) * _MS
        else:
            vertex["records"] = choose.integer(30, 50) * vertex["parallelism"]
    gone = {"kind": "crash_task_manager", "symptom": choose.of(("silent", "unreachable"))}
    gone |= subtask_of(choose, choose.of(job["vertices"]))
    at_ns = choose.integer(1, 2) * interval_ns + choose.integer(4, 18) * _MS
    lost = [gone | {"at_ns": at_ns}]
    return lost + [one for one in faults if one.get("at_ns", 0) > at_ns and choose.flag()]


def _upstream(vertex: dict[str, Any]) -> list[str]:
    return [one["upstream"] for one in vertex.get("inputs", ())]


def _with_several_subtasks(choose: Choices, job: dict[str, Any]) -> dict[str, Any]:
    """Return a source of the job, which has several subtasks now."""
    source: dict[str, Any] = choose.of([one for one in job["vertices"] if one["kind"] == "source"])
    before = source["parallelism"]
    count = max(before, choose.of((2, 3)))
    source |= {
        "parallelism": count,
        "rate_per_s": source["rate_per_s"] * count / before,
        "records": choose.integer(12, 30) * count,
    }
    for vertex in job["vertices"]:
        for one in vertex.get("inputs", ()):
            ends = one["upstream"], one["partitioner"]
            if ends == (source["name"], "forward") and vertex["parallelism"] != count:
                one["partitioner"] = "rescale"
    return source


def _rescaled_first(
    faults: list[dict[str, Any]], vertex: dict[str, Any], parallelism: int
) -> list[dict[str, Any]]:
    """Return the faults, of which the first failure is a rescale of a vertex."""
    first = min((one for one in faults if "at_ns" in one), key=lambda one: one["at_ns"])
    rescale = {"kind": "rescale", "vertex": vertex["name"], "parallelism": parallelism}
    return [rescale | {"at_ns": first["at_ns"]} if one is first else one for one in faults]


_SITUATIONS: tuple[_Arrange, ...] = (
    _reads_several_splits,
    _copies_in_flight,
    _read_ahead,
    _lost_while_writing,
    _newest_is_saved,
    _given_out_anew,
    _restored_again,
    _given_up_while_stored,
    _triggers_side_by_side,
    _dealt_out_anew,
    _fewer_sinks,
    _half_told,
    _marks_of_several,
    _messages_outlive_attempts,
    reading_back.reads_beside,
    late_barriers.late_barriers,
)
_FOR_FINAL_CHECKPOINT = (
    _fewer_sinks,
    _given_up_while_stored,
    _half_told,
    _newest_is_saved,
    _reads_several_splits,
)
