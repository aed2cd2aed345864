"""Random jobs with fault plans, record by record, as documents of scenario files.

A right job breaks nothing but the hazards of released Flink, which `final_checkpoint` names; it may
end in any way, as its restart strategy may give up.
"""

from __future__ import annotations

import json
from typing import Any

from ckptsim.scenarios.files import from_json
from ckptsim.scenarios.generators import buffer_jobs
from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.job_environment import add_environment, give_broadcast_state
from ckptsim.scenarios.generators.small import (
    closing,
    harmless,
    in_flight,
    situations,
    tight_buffers,
)
from ckptsim.scenarios.job import Job, Plane
from ckptsim.scenarios.job.names import PROPERTIES
from ckptsim.scenarios.limits import without_refused
from ckptsim.scenarios.spec import Scenario

MS = 1_000_000
_LINK = "final_checkpoint"
PARTITIONERS = ("hash", "rebalance", "broadcast", "global", "forward", "rescale")
MODES = ("aligned", "unaligned", "aligned_timeout", "at_least_once")
# What released Flink does on either plane: a stop waits for a lost word without end; a tracker with
# one channel left loses the clock of a checkpoint and fails its task; a savepoint completes behind
# tasks that have closed with records queued; channels stay blocked for a checkpoint that was given
# up, whose last barrier waits behind one of a newer one.  On records alone: a final watermark in
# flight is restored for a subtask with another share.  On buffers alone: inside a record that lacks
# buffers a task takes no trigger.  Each has a property of its own.
# Under the FLIP's rules any later completion ends a stop, so there a stop has to end.
STOP_HAZARD = "stop_ends"
HAZARDS = (
    STOP_HAZARD,
    "single_channel_keeps_the_clock",
    "closed_tasks_leave_nothing_queued",
    "given_up_checkpoints_free_channels",
    "closed_tasks_owe_no_shared_file",
    "records_let_triggers_pass",
    "restored_watermarks_stay_true",
)


def final_checkpoint(choices: Choices) -> Scenario:
    """Return a random job with a fault plan; `violates` has the hazards that it may run into."""
    # Jobs on records are the cheaper ones, and have more happen to them.
    kind = choices.integer(0, 11)
    if kind < 4:
        text = add_environment(choices, document(choices))
    elif kind == 4:
        text = buffer_jobs.short(buffer_jobs.crashing_document(choices))
        text = add_environment(choices, _on_buffers(text))
    elif kind == 5:
        text = _on_buffers(in_flight.on_buffers(choices))
    elif kind < 8:
        text = _on_buffers(tight_buffers.document(choices))
    elif kind < 10:
        text = situations.for_final_checkpoint(choices) | {"link": _LINK}
    else:
        text = closing.document(choices)
        text = _on_buffers(text) if text["link"] == "barriers" else text | {"link": _LINK}
    text = ending_soundly(harmless.with_harmless_faults(choices, text))
    return scenario_of(fitting(choices, text) | {"violates": hazards_of(text)})


def _on_buffers(text: dict[str, Any]) -> dict[str, Any]:
    job = text["job"] | {"plane": "buffers"}
    return text | {"link": _LINK, "job": job}


def ending_soundly(text: dict[str, Any]) -> dict[str, Any]:
    """Return the document; where barriers overtake data, none of its tasks ends for itself.

    One that does leaves a backlog in its channels that no checkpoint knows of, before FLIP-147.
    """
    job, overtakes = text["job"], ("unaligned", "aligned_timeout")
    ending = job.get("ending", {})
    parts = [job.get("checkpointing", {}), *text.get("faults", ())]
    if ending.get("protocol") != "naive" or all(one.get("mode") not in overtakes for one in parts):
        return text
    return text | {"job": job | {"ending": ending | {"protocol": "flink"}}}


def fitting(choices: Choices, text: dict[str, Any]) -> dict[str, Any]:
    """Return the document as its plane takes it, with sources that drop records or keep them.

    That is drawn last, so that the same choices continue giving the same jobs but for this.
    """
    job = text["job"]
    if job.get("plane", text["link"]) not in ("buffers", "barriers"):
        return text
    # A job on records has costs that mean nothing on buffers.
    text["job"] = job = without_refused(job, Job, Plane.BUFFERS)
    paced = [one for one in job["vertices"] if "rate_per_s" in one]
    if not paced or choices.integer(0, 3) == 3:
        return text
    for vertex in paced:
        vertex["replayable"] = vertex["in_step"] = vertex.get("replayable", False)
    return text


def hazards_of(text: dict[str, Any]) -> list[str]:
    """Return the hazards that the job of a document may run into."""
    job = text["job"]
    flink = job.get("ending", {}).get("protocol", "flink") == "flink"
    on_buffers = job.get("plane", text["link"]) in ("buffers", "barriers")
    known = PROPERTIES[Plane.BUFFERS if on_buffers else Plane.RECORDS]
    return [name for name in HAZARDS if name in known and (flink or name != STOP_HAZARD)]


def document(
    choose: Choices, *, modes: tuple[str, ...] = MODES, faults: bool = True
) -> dict[str, Any]:
    """Return a random job scenario as the document of a scenario file, in base units."""
    layers = choose.integer(1, 3)
    sources = range(choose.integer(1, 2))
    vertices = [_source(choose, f"source{number}") for number in sources]
    last = [vertex["name"] for vertex in vertices]
    for layer in range(layers):
        kind = "sink" if layer == layers - 1 else "operator"
        vertex = _vertex(choose, f"{kind}{layer}", kind)
        vertices.append(vertex)
        by_name = {v["name"]: v for v in vertices}
        vertex["inputs"] = [_input(choose, by_name[upstream], vertex) for upstream in last]
        last = [vertex["name"]]
    mode = choose.of(modes)
    job: dict[str, Any] = {
        "vertices": vertices,
        "channels": {
            "sender_records": choose.of((4, 1, 2, 20)),
            "receiver_records": choose.of((4, 1, 2, 20)),
            "latency_ns": choose.of((0, MS // 10, 3 * MS)),
        },
        "checkpointing": {
            "mode": mode,
            "interval_ns": choose.of((20, 5, 50)) * MS,
            "aligned_timeout_ns": choose.of((2, 1, 10)) * MS,
            "timeout_ns": choose.of((600_000, 40, 100)) * MS,
            "min_pause_ns": choose.of((0, 5 * MS)),
            "max_concurrent": choose.of((1, 2, 3)) if mode in ("aligned", "at_least_once") else 1,
            "retained": choose.of((1, 3)),
            "immediate_final": choose.of((True, False)),
        },
        "costs": _costs(choose),
        "ending": _ending(choose, vertices),
    }
    planned = _faults(choose, vertices) if faults else []
    if faults and mode in ("unaligned", "aligned_timeout"):
        planned += _in_flight_faults(choose, vertices, job)
    _with_rare_features(choose, job, planned, faults=faults)
    return {
        "name": "random_job",
        "link": _LINK,
        "says": "a random job with a random fault plan",
        "job": job,
        "faults": planned,
    }


def _with_rare_features(
    choose: Choices, job: dict[str, Any], planned: list[dict[str, Any]], *, faults: bool
) -> None:
    """Give some jobs what few jobs have."""
    vertices = job["vertices"]
    # Drawn last, so that the same seeds continue giving the same jobs but for this.
    if choose.integer(0, 7) == 7:
        vertices[0]["ends_at_ns"] = choose.integer(0, 60) * MS
    _chain_and_unite(choose, vertices, protocol=job["ending"]["protocol"])
    if faults and choose.integer(0, 7) == 7:
        planned.append(_stray(choose, vertices))
    job["costs"]["restore_ns"] = choose.of((0, 0, 8 * MS))
    job["costs"]["closing_ns"] = choose.of((0, 0, 2 * MS))
    job["costs"]["messages_in_order"] = choose.of((True, True, True, False))
    _start_from_checkpoint(choose, vertices)
    if choose.integer(0, 7) == 7:
        vertices[-1]["inputs"][0]["partitioner"] = "shuffle"
    give_broadcast_state(vertices)
    if choose.integer(0, 5) == 5:
        job["restart"] = _restart(choose)
    _as_on_buffers(choose, job)


def _restart(choose: Choices) -> dict[str, Any]:
    """Return a restart strategy; each gives up after some failures."""
    kind = choose.of(("fixed_delay", "fixed_delay", "none", "failure_rate", "exponential_delay"))
    restart: dict[str, Any] = {"kind": kind}
    delay_ns = choose.of((10, 0, 40)) * MS
    if kind == "fixed_delay":
        restart |= {"delay_ns": delay_ns, "attempts": choose.integer(0, 2)}
    elif kind == "failure_rate":
        restart |= {"delay_ns": delay_ns, "interval_ns": choose.of((1_000, 50)) * MS}
    elif kind == "exponential_delay":
        restart |= {"initial_backoff_ns": max(1, delay_ns), "max_backoff_ns": 100 * MS}
        restart["attempts"] = choose.integer(1, 2)
    return restart


def _start_from_checkpoint(choose: Choices, vertices: list[dict[str, Any]]) -> None:
    """Start some jobs from a checkpoint in which vertices had finished; some may not start."""
    if choose.integer(0, 9) < 9:
        return
    for vertex in vertices:
        several = ("partial",) if vertex["parallelism"] > 1 else ()
        vertex["recorded"] = choose.of(("full", "running", "none", *several))


def _as_on_buffers(choose: Choices, job: dict[str, Any]) -> None:
    """Give some jobs what was of the other plane alone once: savepoints, bad files, hot keys."""
    if choose.integer(0, 7) == 7 and "stop_at_ns" not in job["ending"]:
        job["checkpointing"]["savepoint_at_ns"] = choose.integer(1, 80) * MS
    if choose.integer(0, 15) == 15:
        job["checkpointing"]["count"] = choose.integer(1, 6)
    job["storage"] = {"failure_ratio": choose.of((0.0, 0.0, 0.0, 0.2))}
    for vertex in job["vertices"]:
        if vertex["kind"] == "source":
            vertex["hot_ratio"] = choose.of((0.0, 0.0, 0.5))


def _chain_and_unite(choose: Choices, vertices: list[dict[str, Any]], *, protocol: str) -> None:
    """Give one vertex in some jobs a chain of operators, and one union list state.

    Union state only under released Flink's rules: under the FLIP's a lost word blocks such a job
    for good (FLINK-21080), which has a scenario of its own.
    """
    if choose.integer(0, 3) == 3:
        choose.of(tuple(vertices))["chain"] = choose.integer(2, 3)
    if choose.integer(0, 3) == 3 and protocol == "flink":
        choose.of(tuple(vertices))["union_state"] = True


def _source(choose: Choices, name: str) -> dict[str, Any]:
    endless = choose.integer(0, 5) == 5
    parallelism = choose.integer(1, 3)
    vertex: dict[str, Any] = {
        "name": name,
        "kind": "source",
        "parallelism": parallelism,
        "rate_per_s": 1000.0 * parallelism / choose.of((1, 2, 4)),
        "records_step": choose.of((0, 5)),
    }
    if not endless:
        vertex["records"] = choose.integer(0, 30) * parallelism
    return vertex


def _vertex(choose: Choices, name: str, kind: str) -> dict[str, Any]:
    return {
        "name": name,
        "kind": kind,
        "parallelism": choose.integer(1, 3),
        "service_ns": choose.of((1, 0, 2, 5)) * MS,
        "service_step_ns": choose.of((0, 2)) * MS,
        "opens_after_finish": kind == "sink" and choose.of((False, True)),
    }


def _input(choose: Choices, up: dict[str, Any], down: dict[str, Any]) -> dict[str, Any]:
    partitioner = choose.of(PARTITIONERS)
    if partitioner == "forward" and up["parallelism"] != down["parallelism"]:
        partitioner = "rescale"
    return {"upstream": up["name"], "partitioner": partitioner}


def _costs(choose: Choices) -> dict[str, Any]:
    return {
        "rpc_ns": choose.of((0, MS // 2)),
        "rpc_jitter_ns": choose.of((0, MS)),
        "notification_jitter_ns": choose.of((0, 2 * MS)),
        "notification_loss_ratio": choose.of((0.0, 0.3)),
        "snapshot_sync_ns": choose.of((0, MS)),
        "snapshot_async_ns": choose.of((0, 2 * MS)),
        "snapshot_jitter_ns": choose.of((0, 8 * MS)),
        "completion_ns": choose.of((0, MS)),
    }


def _ending(choose: Choices, vertices: list[dict[str, Any]]) -> dict[str, Any]:
    endless = any(v["kind"] == "source" and "records" not in v for v in vertices)
    ending: dict[str, Any] = {"protocol": choose.of(("flink", "flip"))}
    if endless or choose.integer(0, 3) == 3:
        ending["stop_at_ns"] = choose.integer(1, 150) * MS
        ending["stop_kind"] = choose.of(("drain", "no_drain"))
    return ending


def _faults(choose: Choices, vertices: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [_fault(choose, vertices) for _ in range(choose.integer(0, 3))]


def _fault(choose: Choices, vertices: list[dict[str, Any]]) -> dict[str, Any]:
    vertex = choose.of(tuple(vertices))
    return task_fault(choose, vertex["name"], vertex["parallelism"], until_ms=200, checkpoints=12)


def task_fault(
    choose: Choices, name: str, parallelism: int, *, until_ms: int, checkpoints: int
) -> dict[str, Any]:
    """Return a fault of a subtask of a vertex.

    until_ms: the latest instant; checkpoints: the highest number at which it can strike.
    """
    kind = choose.of(
        (
            "crash_task",
            "crash_at_checkpoint",
            "fail_snapshot",
            "delay_acknowledgement",
            "lose_notification",
            "delay_notification",
            "delay_trigger",
            "stall_task",
        )
    )
    subtask = choose.integer(0, parallelism - 1)
    fault: dict[str, Any] = {"kind": kind, "vertex": name, "subtask": subtask}
    if kind in ("crash_task", "stall_task"):
        fault["at_ns"] = choose.integer(0, until_ms) * MS
    else:
        fault["checkpoint"] = choose.integer(1, checkpoints)
    if kind.startswith("delay_"):
        fault["delay_ns"] = choose.integer(1, 30) * MS
    if kind == "stall_task":
        fault["lasts_ns"] = choose.integer(1, 30) * MS
    return fault


def _stray(choose: Choices, vertices: list[dict[str, Any]]) -> dict[str, Any]:
    vertex = choose.of(tuple(vertices))
    return {
        "kind": "stray_notification",
        "vertex": vertex["name"],
        "subtask": choose.integer(0, vertex["parallelism"] - 1),
        "checkpoint": choose.integer(1, 6),
        "delay_ns": choose.integer(1, 60) * MS,
    }


def _in_flight_faults(
    choose: Choices, vertices: list[dict[str, Any]], job: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return faults around records in flight; those of a cancellation shape the job for it."""
    kind = choose.integer(0, 3)
    checkpoint = choose.integer(1, 4)
    if kind == 0:
        return []
    if kind == 1:
        vertex = choose.of(tuple(vertices))
        at = {"vertex": vertex["name"], "subtask": choose.integer(0, vertex["parallelism"] - 1)}
        return [{"kind": "fail_channel_state", **at, "checkpoint": checkpoint}]
    if vertices[1]["kind"] != "source":
        return []
    return _cut_short(choose, vertices, job, checkpoint)


def _cut_short(
    choose: Choices, vertices: list[dict[str, Any]], job: dict[str, Any], checkpoint: int
) -> list[dict[str, Any]]:
    """Have a checkpoint declined while its barriers wait behind the records of a busy source.

    The marker of the other source, which hears of the decline first, comes through an idle channel.
    """
    busy, idle, first = vertices[0], vertices[1], vertices[2]
    busy["rate_per_s"] = 1000.0 * busy["parallelism"]
    busy["records"] = choose.integer(20, 40) * busy["parallelism"]
    idle["rate_per_s"] = 1000.0 / 30 * idle["parallelism"]
    first["service_ns"] = choose.of((5, 3)) * MS
    job["channels"] |= {"sender_records": 20, "receiver_records": 20}
    job["checkpointing"]["aligned_timeout_ns"] = choose.of((20, 10)) * MS
    job["costs"] |= {"snapshot_async_ns": 0, "snapshot_jitter_ns": 0}
    at_idle = {"vertex": idle["name"], "subtask": choose.integer(0, idle["parallelism"] - 1)}
    delay_ns = choose.integer(2, 8) * MS
    return [
        {"kind": "fail_snapshot", "vertex": busy["name"], "subtask": 0, "checkpoint": checkpoint},
        {"kind": "delay_trigger", **at_idle, "checkpoint": checkpoint, "delay_ns": delay_ns},
    ]


def scenario_of(text: dict[str, Any]) -> Scenario:
    """Build the scenario of a document; it is valid by construction."""
    return from_json(json.dumps(text))
