"""Random jobs with fault plans, on either data plane.

A right job breaks nothing but the hazards of released Flink that `violates` names.  It may end in
any way, as its restart strategy may give up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ckptsim.scenarios.generators.choices import Choices, drawn, fitted, slower
from ckptsim.scenarios.generators.faults import expected, with_faults
from ckptsim.scenarios.generators.hazards import with_hazards
from ckptsim.scenarios.generators.options import situate
from ckptsim.scenarios.job import Job, Plane
from ckptsim.scenarios.job.faults import JOB_FAULTS
from ckptsim.scenarios.limits import without_refused
from ckptsim.scenarios.spec import Scenario

MS = 1_000_000
US = 1_000
# How much longer everything takes on buffers, where a barrier costs milliseconds.
SLOWER = 3
FAULTS_MAX = 5
MODES = ("aligned", "unaligned", "aligned_timeout", "at_least_once")
PARTITIONERS = (
    *("hash", "rebalance", "forward", "rescale"),
    *("broadcast", "global", "shuffle", "custom"),
)
_OVERTAKING = ("unaligned", "aligned_timeout")
# No drawn run takes so long, and ten minutes would be too many watermarks.  An assumption.
_NEVER_NS = 10_000 * MS
# Ways to keep in-flight data, and to put it back, that all properties hold with.  Offsets at the
# snapshot are none: a task that closes can wait for one for ever.
CHANNEL_STATES: tuple[Mapping[str, str], ...] = (
    {"handled_by": "downstream"},
    {"handled_by": "downstream", "recovered": "atomic"},
    {"spilling": "continuous", "replay_from": "file_index"},
    {"ordered_edges": "reassigned"},
    {"rescaling": "keyed"},
    {"rescaling": "refused"},
    {"persistence": "log_service"},
)
# Of unbounded restarts each begins anew: whatever fails in each attempt would go on for ever.
_BOUNDED: tuple[Mapping[str, Any], ...] = (
    {"kind": "fixed_delay", "delay_ns": 5 * MS, "attempts": 4},
    {"kind": "fixed_delay", "delay_ns": 0, "attempts": 1},
    {"kind": "exponential_delay", "initial_backoff_ns": MS, "attempts": 2},
    {"kind": "failure_rate", "delay_ns": 5 * MS, "interval_ns": 1_000 * MS},
)
_RESTARTS: tuple[Mapping[str, Any], ...] = (
    *({"kind": "fixed_delay", "delay_ns": delay_ns} for delay_ns in (10 * MS, 0, 5 * MS)),
    *_BOUNDED,
    {
        "kind": "exponential_delay",
        "initial_backoff_ns": 5 * MS,
        "max_backoff_ns": 100 * MS,
        "reset_backoff_threshold_ns": 30 * MS,
    },
    {"kind": "exponential_delay", "initial_backoff_ns": MS, "backoff_multiplier": 3.0},
    {"kind": "exponential_delay", "initial_backoff_ns": 10 * MS, "jitter_factor": 0.5},
    {"kind": "exponential_delay", "initial_backoff_ns": 10 * MS, "jitter_factor": 0.0},
    {"kind": "failure_rate", "delay_ns": 0, "interval_ns": 50 * MS, "max_failures_per_interval": 2},
    {"kind": "none"},
)
_CHECKPOINTING = {
    "interval_ns": (20 * MS, 5 * MS, 50 * MS),
    "aligned_timeout_ns": (2 * MS, MS, 10 * MS),
    "timeout_ns": (_NEVER_NS, _NEVER_NS, 100 * MS, 40 * MS),
    "min_pause_ns": (0, 0, 5 * MS, 20 * MS),
    "max_concurrent": (1, 1, 2, 3),
    "retained": (1, 3),
    "immediate_final": ("none", True, False),
    "skip_missed_ticks": (False, False, True),
}
_COSTS = {
    "rpc_ns": (0, MS // 2, 0, 8 * MS),
    "rpc_jitter_ns": (0, MS, 0, 15 * MS),  # some come when their attempt is long over
    "notification_jitter_ns": (0, 2 * MS),
    "notification_loss_ratio": (0.0, 0.0, 0.3),
    "snapshot_sync_ns": (0, MS),
    "snapshot_async_ns": (0, 2 * MS, 0, 10 * MS),
    "snapshot_jitter_ns": (0, 8 * MS),
    "completion_ns": (0, MS, 0, 15 * MS),
    "checkpoint_failure_ratio": (0.0, 0.0, 0.0, 0.3),
    "restore_ns": (0, 0, 8 * MS),
    "closing_ns": (0, 0, 2 * MS),
    "read_record_ns": (0, MS // 4, MS),
    "messages_in_order": (True, True, True, False),
}
_CHANNELS = {
    "sender_records": (4, 1, 2, 20),
    "receiver_records": (4, 1, 2, 20),
    "latency_ns": (0, MS // 10, 3 * MS),
    "record_buffers": (1, 1, 2, 3),
    # Below tasks that are known to have FINISHED some inputs have ended and others have not.
    "end_of_partition_ns": (0, 0, 0, 3 * MS, 30 * MS),
}
_NETWORK = {
    "record_bytes": (1_024, 300, 5_000, 12_000),
    "segment_bytes": (4_096, 1_000, 32_768),
    "exclusive_buffers": (2, 0, 1),
    "max_buffers_per_channel": (10, 2, 4),
    "max_overdraft_buffers": (5, 0, 1),
    "buffer_timeout_ns": (5 * MS, 0, MS, 50 * MS),
    "debloat": (False, False, False, True),
    "debloat_target_ns": (1_000 * MS, 20 * MS),
    "latency_ns": (150 * US, US, 3 * MS),
    "jitter_ns": (100 * US, 0),
    "send_ns": (40 * US, 0, MS),
}
_STORAGE = {
    "shared_limit": (False, True),
    "create_latency_ns": (0, 2 * MS, 20 * MS),
    "tail_ratio": (0.0, 0.2),
    "tail_latency_ns": (10 * MS, 60 * MS),
    "inline_threshold_bytes": (20_480, 0),
    "write_bytes_per_s": ("none", 5_000_000, 1_000_000),
    "read_bytes_per_s": (20_000_000, 1_000_000),
}
_AMONG = tuple(kind for kind in JOB_FAULTS if not kind.endswith("_storage"))
# A heartbeat that is missed later is for longer runs than random ones.
_HEARTBEATS = {"heartbeat_interval_ns": 10 * MS, "heartbeat_timeout_ns": 50 * MS}


def job(
    choices: Choices,
    link: str,
    plane: str,
    *,
    modes: Sequence[str] = MODES,
    among: Sequence[str] = _AMONG,
) -> Scenario:
    """Return a random job of a link on a plane. among: the kinds of faults that may strike it."""
    on_buffers, kinds = plane == "buffers", choices.features(among)
    if "cancel" in kinds and choices.integer(0, 7) < 7:
        kinds.remove("cancel")  # few jobs are: nothing follows
    mode = choices.of(modes)
    vertices = graph(choices, on_buffers=on_buffers)
    table = {"mode": mode} | drawn(choices, _CHECKPOINTING)
    text: dict[str, Any] = {
        "vertices": vertices,
        "checkpointing": table,
        "costs": drawn(choices, _COSTS),
        "storage": {},
        "ending": _ending(choices, vertices, table),
        "restart": dict(choices.of(_RESTARTS)),
        "recovery": _HEARTBEATS | {"heartbeat_rpc_failure_threshold": choices.of((2, 1, 4))},
    }
    (_on_buffers if on_buffers else _on_records)(choices, text)
    text["storage"]["failure_ratio"] = choices.of((0.0, 0.0, 0.1))
    _let_checkpoints_complete(choices, text, kinds)
    backlog = bool(among) and choices.flag()
    if backlog:
        _with_backlog(choices, text, on_buffers=on_buffers)
    if on_buffers:
        # What takes no time on records takes some here.
        text = slower(text, SLOWER) | {"plane": "buffers"}
        text["duration_ns"] = 6 * text["checkpointing"]["interval_ns"] + 900 * MS
        text = without_refused(text, Job, Plane.BUFFERS)
    scenario = fitted(
        {
            "name": "random_job",
            "link": link,
            "says": "a random job with a random fault plan",
            "job": text,
            "faults": [],
        }
    )
    interval_ns = text["checkpointing"]["interval_ns"]
    times = expected(scenario, step_ns=interval_ns, steps=6)
    if backlog:  # a failure comes after checkpoints with much in flight
        failures = _failures(kinds, among)
        found = with_faults(choices, scenario, times, least=1, most=2, kinds=failures)
        late = [
            replace(one, at_ns=one.at_ns % (2 * interval_ns) + 3 * interval_ns)  # type: ignore[type-var,attr-defined]
            for one in found.faults
        ]
        scenario = replace(scenario, faults=tuple(late))
    if kinds:
        scenario = with_faults(choices, scenario, times, most=FAULTS_MAX, kinds=kinds)
    return with_hazards(scenario)


def _failures(kinds: Sequence[str], among: Sequence[str]) -> list[str]:
    known = ("crash_task", "rescale", "resubmit", "crash_task_manager", "crash_job_manager")
    return [kind for kind in known if kind in kinds] or [one for one in among if one in known[:1]]


def graph(choices: Choices, *, on_buffers: bool, sinks: bool = True) -> list[dict[str, Any]]:
    """Return the vertices of a job: one or two sources, and up to three that read them."""
    vertices = [_source(choices, number, on_buffers) for number in range(choices.integer(1, 2))]
    for number in range(choices.integer(1, 3)):
        vertices.append(_operator(choices, number, vertices, on_buffers=on_buffers))
    read = {one["upstream"] for vertex in vertices for one in vertex.get("inputs", ())}
    for vertex in vertices:
        if sinks and vertex["name"] not in read and choices.integer(0, 2) < 2:
            vertex |= {"kind": "sink", "opens_after_finish": choices.of((False, False, True))}
    give_broadcast_state(vertices)
    return vertices


def _source(choices: Choices, number: int, on_buffers: bool) -> dict[str, Any]:  # noqa: FBT001
    count = choices.integer(1, 3)
    source: dict[str, Any] = {"name": f"source{number}", "kind": "source", "parallelism": count}
    rate = choices.of((1_000.0, 500.0, 250.0, None if on_buffers else 2_000.0))
    if rate is not None:
        source["rate_per_s"] = rate * count / (SLOWER if on_buffers else 1)
    source["records"] = choices.of((choices.integer(0, 30), choices.integer(10, 40), 2)) * count
    source |= drawn(choices, {"records_step": (0, 0, 5), "hot_ratio": (0.0, 0.0, 0.5)})
    if choices.integer(0, 7) == 7:
        source["ends_at_ns"] = choices.integer(0, 60) * MS
    return source


def _operator(
    choices: Choices, number: int, before: list[dict[str, Any]], *, on_buffers: bool
) -> dict[str, Any]:
    """Return a vertex that reads all unread ones, or one that is read already, too."""
    read = {one["upstream"] for vertex in before for one in vertex.get("inputs", ())}
    upstream = [one for one in before if one["name"] not in read]
    # On records, where channels hold a record or two, a branch that joins again can stop for good.
    if number and on_buffers and choices.integer(0, 3) == 3:
        again = choices.of([one for one in before if one["name"] in read])
        upstream = [again, *upstream] if choices.flag() else [again]
    partitioners = [choices.of(PARTITIONERS) for _ in upstream]
    width = [
        u["parallelism"] for u, p in zip(upstream, partitioners, strict=True) if p == "forward"
    ]
    count = width[0] if width else choices.integer(1, 3)
    inputs = [
        {"upstream": u["name"], "partitioner": p}
        if p != "forward" or u["parallelism"] == count
        else {"upstream": u["name"], "partitioner": "rescale"}
        for u, p in zip(upstream, partitioners, strict=True)
    ]
    # What a source without a rate emits as fast as an operator takes it would have no end.
    services = (MS, 130 * US, 500 * US) if on_buffers else (MS, 0, 2 * MS, 5 * MS)
    return {
        "name": f"operator{number}",
        "kind": "operator",
        "parallelism": count,
        "inputs": inputs,
        "service_ns": choices.of(services),
        "service_step_ns": choices.of((0, 0, 2 * MS)),
        "two_input": len(inputs) == 2 and choices.flag(),
    }


def give_broadcast_state(vertices: Sequence[dict[str, Any]]) -> None:
    """Give broadcast state to every vertex that can have it: all that come to it are alike."""
    for vertex in vertices:
        into = [one["partitioner"] for one in vertex.get("inputs", ())]
        vertex["broadcast_state"] = bool(into) and set(into) == {"broadcast"}


def _ending(
    choices: Choices, vertices: Sequence[dict[str, Any]], checkpointing: dict[str, Any]
) -> dict[str, Any]:
    """Return how a job ends, and fit some to it: a stop, tasks that have finished, union state."""
    protocols = ("flink", "flink", "flip")
    # Where barriers overtake data, a task that ends for itself leaves what no checkpoint knows of.
    naive = ("naive",) if checkpointing["mode"] not in _OVERTAKING else ()
    ending: dict[str, Any] = {"protocol": choices.of((*protocols, *naive))}
    rare = choices.integer(0, 7)
    if rare > 5 and ending["protocol"] != "naive":
        ending |= {"stop_at_ns": choices.integer(1, 150) * MS}
        ending["stop_kind"] = choices.of(("drain", "no_drain"))
    elif rare == 5:
        checkpointing["savepoint_at_ns"] = choices.integer(1, 80) * MS
    elif rare == 4:
        checkpointing["count"] = choices.integer(1, 6)
    if all(vertex["kind"] != "sink" for vertex in vertices):
        # Without a checkpoint after its end a sink loses its last transaction.
        checkpointing["after_finish"] = choices.of((True, True, False))
        checkpointing["enabled"] = choices.of((*[True] * 7, False))
    if choices.integer(0, 3) == 3:
        choices.of(vertices)["chain"] = choices.integer(2, 3)
    if choices.integer(0, 3) == 3 and ending["protocol"] == "flink":
        # Under the FLIP's rules a lost completion blocks union state for good (FLINK-21080).
        choices.of(vertices)["union_state"] = True
    if choices.integer(0, 15) == 15:  # begin from a checkpoint, if that may be
        for vertex in vertices:
            several = ("partial",) if vertex["parallelism"] > 1 else ()
            vertex["recorded"] = choices.of(("full", "running", "none", *several))
    return ending


def _on_records(choices: Choices, text: dict[str, Any]) -> None:
    text["channels"] = drawn(choices, _CHANNELS)
    text["channel_state"] = dict(choices.of(({}, {}, {}, {}, *CHANNEL_STATES)))
    text["channel_state"]["write_record_ns"] = choices.of((0, 0, MS // 10, MS))
    if text["channel_state"].get("persistence") == "log_service":
        text["checkpointing"]["retained"] = 1  # it is cut for the newest checkpoint
    if choices.integer(0, 3) == 3:
        text["event_time"] = {"watermark_interval_ns": choices.of((5, 1, 20)) * MS}
        text["event_time"]["idle_timeout_ns"] = choices.of(("none", 2 * MS, 10 * MS))
    situate(choices, text)


def _on_buffers(choices: Choices, text: dict[str, Any]) -> None:
    text["network"] = network = drawn(choices, _NETWORK)
    # With few floating buffers a record that needs more than the pool has keeps its thread until
    # receivers read, and no barrier is sent inside one: tasks may wait for each other for good.
    network["floating_buffers"] = choices.of((8, 1, 3)) if network["exclusive_buffers"] else 8
    text["storage"] = drawn(choices, _STORAGE)
    text["placement"] = choices.of(("remote", "mixed", "local"))
    text["engine"] = choices.of(("processes", "auto", "auto", "auto"))
    text["recovery"]["timed"] = choices.flag()
    endless = choices.integer(0, 5) == 5  # a run ends at its duration
    pace = {"replayable": choices.of((True, True, False)), "in_step": choices.flag()}
    for vertex in text["vertices"]:
        vertex["record_variation"] = choices.of((0.0, 0.0, 0.0, 0.5))
        vertex["state_bytes"] = choices.of((0, 300_000, 100_000))
        if "rate_per_s" in vertex:
            vertex.update(pace | ({"records": "none"} if endless else {}))
        if "inputs" in vertex:
            vertex["slow_subtask_factor"] = choices.of((1.0, 1.0, 3.0))
            vertex["snapshot_sync_ns"] = choices.of((0, MS))


def _let_checkpoints_complete(choices: Choices, text: dict[str, Any], kinds: Sequence[str]) -> None:
    """Let checkpoints complete in spite of the faults, so that one is the last."""
    table = text["checkpointing"]
    table["tolerable_failures"] = 1_000
    if choices.integer(0, 3) == 3:
        table["tolerable_failures"] = choices.integer(0, 2)
        text["restart"] = dict(choices.of(_BOUNDED))
    if "lose_acknowledgement" in kinds or "lose_trigger" in kinds:
        table["timeout_ns"] = choices.of((100, 40)) * MS
    rescaled = "rescale" in kinds or "resubmit" in kinds
    if rescaled:
        table["enabled"] = True
        text["ending"]["protocol"] = text["ending"]["protocol"].replace("naive", "flink")
        # Barriers of checkpoints that expired are sent on all the same.
        table["timeout_ns"] = max(table["timeout_ns"], 20 * MS * len(text["vertices"]))
        if text["restart"]["kind"] == "none":
            text["restart"] = dict(_BOUNDED[0])
    if rescaled or sum(vertex["parallelism"] for vertex in text["vertices"]) > 7:
        text["storage"]["failure_ratio"] = min(text["storage"]["failure_ratio"], 0.02)
        text["costs"]["checkpoint_failure_ratio"] = 0.0


def _with_backlog(choices: Choices, text: dict[str, Any], *, on_buffers: bool) -> None:
    """Let checkpoints come often, overtake much and complete, so that a failure restores one."""
    table = text["checkpointing"]
    interval_ns = table["interval_ns"] = choices.of((20, 10, 30)) * MS
    table |= {
        "enabled": True,
        "mode": choices.of(("unaligned", "unaligned", "aligned_timeout", "aligned")),
        "max_concurrent": 1,
        "min_pause_ns": 0,
        "timeout_ns": _NEVER_NS,
        "aligned_timeout_ns": interval_ns // 4,
    }
    for key in ("count", "savepoint_at_ns"):
        table.pop(key, None)
    text["ending"]["protocol"] = text["ending"]["protocol"].replace("naive", "flink")
    text["storage"]["failure_ratio"] = text["costs"]["checkpoint_failure_ratio"] = 0.0
    if text["restart"]["kind"] == "none" or text["restart"].get("attempts") == 1:
        text["restart"] = dict(_BOUNDED[0])
    lasts_ns, total_per_s = choices.integer(4, 8) * interval_ns, 0.0
    for source in (one for one in text["vertices"] if one["kind"] == "source"):
        rate = choices.of((400.0, 200.0, 1_000.0)) * source["parallelism"]
        total_per_s += rate
        source["rate_per_s"] = rate / (SLOWER if on_buffers else 1)
        source.pop("ends_at_ns", None)
        if source["records"] != "none":
            source["records"] = round(rate * lasts_ns / 1e9)
    for vertex in text["vertices"]:
        if "inputs" in vertex:
            as_fast_ns = 1e9 * vertex["parallelism"] / total_per_s
            vertex["service_ns"] = round(as_fast_ns * choices.of((1.5, 0.8, 2.0)))
            vertex["service_step_ns"] = 0
        for one in vertex.get("inputs", ()):  # the groups of keys that move are the hard ones
            if one["partitioner"] != "forward":
                one["partitioner"] = choices.of(("hash", one["partitioner"]))
    give_broadcast_state(text["vertices"])
    if on_buffers:
        text["network"] |= {"record_bytes": choices.of((1_024, 300)), "debloat": False}
        text["storage"] |= {"write_bytes_per_s": "none", "create_latency_ns": 0, "tail_ratio": 0.0}
    else:
        text["channels"] |= {"sender_records": choices.of((4, 8)), "receiver_records": 4}
