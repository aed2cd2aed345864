"""What users and a real environment do to a job besides: further faults of random jobs.

Where several things are drawn they are drawn to meet: most instants lie around those at which a
checkpoint is triggered, and most faults strike the same few checkpoints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import Any

from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.completing import (
    allow_time,
    let_checkpoints_complete,
    spare_files,
)
from ckptsim.scenarios.generators.event_time import add_event_time
from ckptsim.scenarios.generators.restarts.restores import restoring
from ckptsim.scenarios.generators.restarts.savepoints import (
    around_a_savepoint,
    crowd,
    keep_in_a_log,
)
from ckptsim.scenarios.generators.restarts.strategies import restart_strategy

_MS = 1_000_000
_MOST = 5
_LATE = (
    "repeat_acknowledgement",
    "stray_decline",
    "delay_acknowledgement",
    "stray_notification",
    "delay_trigger",
    "slow_file",
)
_AT_CHECKPOINT = (
    "lose_acknowledgement",
    "crash_at_checkpoint",
    "fail_snapshot",
    "lose_trigger",
    "refuse_trigger",
    "fail_channel_state",
)
_GIVES_UP = ("stray_decline", "fail_snapshot", "refuse_trigger", "fail_channel_state")
_OF_USERS = ("request_checkpoint", "request_savepoint", "resubmit")
_CRASHES = ("crash_task", "crash_job_manager", "crash_task_manager")
_SILENT = ("unreachable", "silent")
KINDS = (*_OF_USERS, *_LATE, *_AT_CHECKPOINT, "stall_task", *_CRASHES)
# Ways to keep in-flight data, and to put it back, that all properties hold with.  Offsets that are
# told at the snapshot are none: a task that closes can wait for one for ever.
CHANNEL_STATES = tuple(
    MappingProxyType(table)  # all runs of a process share them, and some change their own
    for table in (
        {"handled_by": "downstream"},
        {"handled_by": "downstream", "recovered": "atomic"},
        {"spilling": "continuous", "replay_from": "file_index"},
        {"ordered_edges": "reassigned"},
        {"rescaling": "keyed"},
        {"rescaling": "refused"},
        {"persistence": "log_service"},
    )
)
# A heartbeat that is missed later than this is for longer runs than random ones.
_TIMEOUT_NS_MAX = 1_000 * _MS
# What comes as late as that comes together with what is timed, if it is not too late for a run.
_LATEST_NS = 200 * _MS
_IN_TIME = {"heartbeat_interval_ns": 10 * _MS, "heartbeat_timeout_ns": 50 * _MS}


def add_environment(choices: Choices, text: dict[str, Any]) -> dict[str, Any]:
    """Return a job's document with what else happens to it, and with options that matter then."""
    job = text["job"]
    on_records = job.get("plane", text["link"]) not in ("buffers", "barriers")
    present = choices.features(KINDS)
    if "resubmit" in present and not job["checkpointing"].get("enabled", True):
        present.remove("resubmit")  # it resumes a checkpoint
    if "crash_task_manager" in present or not on_records:
        # On records a failover takes no time.
        job["recovery"] = _IN_TIME | {"timed": not on_records and choices.flag()}
    found: list[dict[str, Any]] = []
    while present and len(found) < _MOST and choices.integer(0, 2) > 0:
        before = [one["at_ns"] for one in (*text["faults"], *found) if "at_ns" in one]
        found.append(job_fault(choices, job, present, before))
    if choices.integer(0, 5) == 5 and job["checkpointing"].get("enabled", True):
        found += around_a_savepoint(choices, job, lambda: _mode(choices, job))
    silent = [one["at_ns"] for one in found if one.get("symptom") in _SILENT]
    if silent and choices.flag():  # something else fails before the loss is known
        found.append(job_fault(choices, job, _CRASHES, silent))
    _options(choices, job, on_records=on_records)
    keep_in_a_log(choices, job, found)
    rescaled = choices.integer(0, 2) == 2
    rescales = _rescales(choices, job, on_records=on_records) if rescaled else []
    faults = [*text["faults"], *found]
    if rescales:
        faults = [one for one in faults if _fits(one, job["vertices"])] + rescales
    if rescales and on_records and choices.flag():
        faults = _much_in_flight(choices, job, rescales)
    faults += _around_the_end(choices, job, on_records=on_records)
    let_checkpoints_complete(choices, job, faults)
    if rescales and not on_records:
        allow_time(job)
    # Drawn last, so that the same choices continue giving the same jobs but for this.
    _recovery(choices, job, on_records=on_records)
    if choices.integer(0, 19) == 19:
        faults.append({"kind": "cancel", "at_ns": _instant(choices, job)})
    if choices.integer(0, 4) == 4 and job["checkpointing"].get("enabled", True):
        faults += crowd(choices, job, _instant(choices, job))
    faults = [_fitting_mode(one, job) for one in faults]
    faults += _of_given_up(choices, job, faults)
    if on_records:
        add_event_time(choices, job, rescaled=bool(rescales))
    text = text | {"faults": faults}
    return restoring(choices, text, on_records=on_records) if choices.flag() else text


def _of_given_up(
    choices: Choices, job: dict[str, Any], faults: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return, once in three, that a task hears late or never of what a fault gives up."""
    numbers = [one["checkpoint"] for one in faults if one["kind"] in _GIVES_UP]
    if not numbers or choices.integer(0, 2) < 2:
        return []
    vertex = choices.of(tuple(job["vertices"]))
    at = {"vertex": vertex["name"], "subtask": choices.integer(0, vertex["parallelism"] - 1)}
    at["checkpoint"] = choices.of(numbers)
    if choices.flag():
        late_ns = choices.integer(1, 60) * _MS
        return [{"kind": "delay_notification", **at, "delay_ns": late_ns}]
    return [{"kind": "lose_notification", **at}]


def _fitting_mode(fault: dict[str, Any], job: dict[str, Any]) -> dict[str, Any]:
    """Return the fault; it leaves a job with concurrent checkpoints in an aligned mode."""
    concurrent = job["checkpointing"].get("max_concurrent", 1) > 1
    overtakes = fault.get("mode") in ("unaligned", "aligned_timeout")
    return fault | {"mode": "as_before"} if concurrent and overtakes else fault


def job_fault(
    choices: Choices,
    job: dict[str, Any],
    present: Sequence[str] = KINDS,
    before: Sequence[int] = (),
) -> dict[str, Any]:
    """Return a fault of one of the kinds; job: as a document has it; before: instants of others."""
    kind = choices.of(present)
    fault: dict[str, Any] = {"kind": kind}
    if kind in _OF_USERS or kind == "crash_job_manager":
        fault["at_ns"] = _instant(choices, job, before)
        return fault | ({"mode": _mode(choices, job)} if kind == "resubmit" else {})
    vertices = job["vertices"]
    if kind.endswith("_trigger"):
        vertices = [one for one in vertices if one.get("kind") == "source"]
    vertex = choices.of(tuple(vertices))
    fault |= {"vertex": vertex["name"]}
    fault["subtask"] = choices.integer(0, vertex["parallelism"] - 1)
    if kind == "stall_task":
        fault["lasts_ns"] = choices.integer(1, 40) * _MS
    if kind == "crash_task_manager":
        fault["symptom"] = _symptom(choices, job)
    if kind in ("stall_task", "crash_task", "crash_task_manager"):
        return fault | {"at_ns": _instant(choices, job, before)}
    fault["checkpoint"] = choices.integer(1, 5)
    if kind in _LATE:
        table = job["checkpointing"]
        times = (table.get(name) for name in ("timeout_ns", "interval_ns", "aligned_timeout_ns"))
        timed = [one for one in times if isinstance(one, int) and one <= _LATEST_NS]
        fault["delay_ns"] = choices.of((0, 1, choices.integer(1, 60) * _MS, *timed))
    return fault


def _mode(choices: Choices, job: dict[str, Any]) -> str:
    """Return the mode that a job is submitted again with."""
    one_at_a_time = job["checkpointing"].get("max_concurrent", 1) == 1
    overtaking = ("unaligned", "aligned_timeout") if one_at_a_time else ()
    mode: str = choices.of(("as_before", "aligned", "at_least_once", *overtaking))
    return mode


def _symptom(choices: Choices, job: dict[str, Any]) -> str:
    """Return what others see of a task manager that fails; silence where it is noticed soon."""
    timeout_ns: int = job.get("recovery", {}).get("heartbeat_timeout_ns", _TIMEOUT_NS_MAX + 1)
    silent = _SILENT if timeout_ns <= _TIMEOUT_NS_MAX else ()
    symptom: str = choices.of(("connections_break", *silent))
    return symptom


def _instant(choices: Choices, job: dict[str, Any], before: Sequence[int] = ()) -> int:
    """Return an instant around that of a periodic trigger, of another fault, or of a source's end.

    Tasks close soon behind the end of the data, or behind the next checkpoint.
    """
    interval_ns: int = job["checkpointing"]["interval_ns"]
    ends = _ends(job)
    if ends and choices.integer(0, 4) == 4:
        behind_ns = choices.of((0, 1, _MS, 3 * _MS, 10 * _MS, interval_ns, interval_ns + 3 * _MS))
        return max(1, choices.of(ends) + behind_ns)
    if before and choices.integer(0, 2) == 2:
        # In each stage of a failover: reported, cancelled, deployed, restored.
        behind_ns = choices.of((0, 1, *(part * _MS for part in (1, 5, 20, 40, 60, 200))))
        return max(1, choices.of(before) + behind_ns)
    near_ns = choices.of((0, 1, _MS // 2, 3 * _MS, interval_ns // 2, -1))
    sources = [one for one in job["vertices"] if one.get("kind") == "source"]
    # What strikes long after the end of all data strikes nobody.
    most = 6 if len(ends) < len(sources) else min(6, max(ends) // interval_ns + 2)
    return max(1, choices.integer(1, most) * interval_ns + near_ns)


def _recovery(choices: Choices, job: dict[str, Any], *, on_records: bool) -> None:
    """Change how some jobs come back: after which delays, in which time, and when losses show."""
    recovery = job.setdefault("recovery", {})
    if "heartbeat_timeout_ns" in recovery:
        recovery["heartbeat_rpc_failure_threshold"] = choices.of((2, 1, 4))
    if on_records:
        return  # restart strategies are drawn with the job there, and failovers take no time
    if job.get("restart", {}).get("kind") == "fixed_delay":
        job["restart"] = restart_strategy(choices, job["restart"])
    if recovery.get("timed") or choices.integer(0, 5) == 5:
        recovery["timed"] = True
        job["storage"]["read_bytes_per_s"] = choices.of((20_000_000, 1_000_000))
        if choices.flag():
            for vertex in job["vertices"]:
                if vertex.get("kind") == "source" and "rate_per_s" in vertex:
                    vertex["replayable"] = True


def _ends(job: dict[str, Any]) -> list[int]:
    """Return when the sources of a job have emitted all that they have, as far as that is set."""
    sources = [one for one in job["vertices"] if one.get("kind") == "source"]
    paced = [(one.get("records"), one.get("rate_per_s")) for one in sources]
    known = [(count, rate) for count, rate in paced if isinstance(count, int) and count]
    return [round(1e9 * n / rate) for n, rate in known if isinstance(rate, int | float) and rate]


def _options(choices: Choices, job: dict[str, Any], *, on_records: bool) -> None:
    """Change options around which what happens in between matters."""
    checkpointing, costs = job["checkpointing"], job.setdefault("costs", {})
    interval_ns = checkpointing["interval_ns"]
    pause_ns = choices.of((None, None, interval_ns // 2, interval_ns, 2 * interval_ns))
    if pause_ns is not None:
        checkpointing["min_pause_ns"] = pause_ns
    tolerable = choices.of((None, None, None, 0, 1, 2))
    if tolerable is not None:
        # Restarts have a bound, as whatever makes a checkpoint fail may do so in each attempt.
        checkpointing["tolerable_failures"] = tolerable
        job["restart"] = {"kind": "fixed_delay", "delay_ns": 5 * _MS}
        job["restart"]["attempts"] = choices.integer(1, 5)
    # Behind a restart that comes soon, messages of the attempt before are still on their way.
    again_ns = choices.of((None, 0, 0, _MS, 10 * _MS))
    if again_ns is not None and "restart" not in job:
        job["restart"] = {"kind": "fixed_delay", "delay_ns": again_ns}
    if on_records:  # those on buffers have it drawn
        checkpointing["skip_missed_ticks"] = choices.of((False, False, True))
        completion_ns = choices.of((None, None, 15 * _MS, interval_ns))
        if completion_ns is not None:
            costs["completion_ns"] = completion_ns
        costs["checkpoint_failure_ratio"] = choices.of((0.0, 0.0, 0.0, 0.3))
        if choices.integer(0, 3) == 3:
            costs["rpc_jitter_ns"] = 15 * _MS  # some come when their attempt is long over
        job["channel_state"] = dict(choices.of(({}, {}, {}, {}, *CHANNEL_STATES)))
        job["channel_state"]["write_record_ns"] = choices.of((0, 0, _MS // 10))
        if job["channel_state"].get("persistence") == "log_service":
            checkpointing["retained"] = 1  # it is cut for the newest checkpoint
        job["channels"]["record_buffers"] = choices.of((1, 1, 1, 2, 3))
        # Below tasks that are known to have FINISHED some inputs have ended and others have not.
        job["channels"]["end_of_partition_ns"] = choices.of((0, 0, 0, 3 * _MS, 30 * _MS))


def _rescales(choices: Choices, job: dict[str, Any], *, on_records: bool) -> list[dict[str, Any]]:
    """Return changes of parallelism, and fit the job to them."""
    names = [vertex["name"] for vertex in job["vertices"]]
    spare_files(job)
    if on_records:
        job["costs"]["read_record_ns"] = choices.of((0, _MS // 4, 2 * _MS))
    else:
        _rescaled_on_buffers(choices, job)
    if "tolerable_failures" not in job["checkpointing"]:
        job["restart"] = {"kind": "fixed_delay", "delay_ns": choices.of((0, 5 * _MS))}
    return [_rescale(choices, job, names) for _ in range(choices.integer(1, 3))]


def _rescale(choices: Choices, job: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return a change of parallelism, some with the whole job submitted again."""
    fault: dict[str, Any] = {"kind": "rescale", "vertex": choices.of(names)}
    fault |= {"parallelism": choices.integer(1, 6), "at_ns": _instant(choices, job)}
    if choices.integer(0, 3) == 3:
        fault |= {"kind": "resubmit", "mode": _mode(choices, job)}
    return fault


def _around_the_end(
    choices: Choices, job: dict[str, Any], *, on_records: bool
) -> list[dict[str, Any]]:
    """Return what happens around the end of a job's data, if anything does, and fit the job."""
    late = on_records and _ends(job) and choices.integer(0, 7) == 7
    found = _written_at_the_end(choices, job) if late else []
    if "stop_at_ns" in job.get("ending", {}) and choices.integer(0, 2) == 2:
        found += _unheard_stop(choices, job)
    return found


def _written_at_the_end(choices: Choices, job: dict[str, Any]) -> list[dict[str, Any]]:
    """Have tasks still write parts of checkpoints, and of the savepoints returned, at their end."""
    job["costs"]["snapshot_async_ns"] = choices.of((5, 12)) * _MS
    if job["checkpointing"]["mode"] in ("aligned", "at_least_once"):
        job["checkpointing"] |= {"max_concurrent": 3, "min_pause_ns": 0}
    last_ns = max(_ends(job))
    return [
        {"kind": "request_savepoint", "at_ns": max(1, last_ns + choices.integer(-10, 30) * _MS)}
        for _ in range(choices.integer(1, 3))
    ]


def _unheard_stop(choices: Choices, job: dict[str, Any]) -> list[dict[str, Any]]:
    """Have no source hear of the savepoint of a stop, so that none ends its data for it.

    It expires, and the job goes on.  Which number it has depends on the checkpoints before.
    """
    # The stop is asked for again later than periodic triggers have to begin again.
    job["checkpointing"] |= {"tolerable_failures": 1_000, "min_pause_ns": 0}
    job["restart"] = {"kind": "fixed_delay", "delay_ns": 5 * _MS, "attempts": 5}
    number = int(job["ending"]["stop_at_ns"] // job["checkpointing"]["interval_ns"]) + 1
    return [
        {"kind": "lose_trigger", "vertex": one["name"], "subtask": subtask, "checkpoint": at}
        for one in job["vertices"]
        if one.get("kind") == "source"
        for subtask in range(one["parallelism"])
        for at in range(max(1, number - choices.integer(0, 2)), number + 1)
    ]


def _much_in_flight(
    choices: Choices, job: dict[str, Any], rescales: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Have a rescale come behind a checkpoint that has overtaken long queues, with their last mark.

    Returns the faults: nothing else keeps checkpoints from being complete by then.
    """
    interval_ns = choices.of((20, 10)) * _MS
    job["checkpointing"] |= {"mode": "unaligned", "max_concurrent": 1, "min_pause_ns": 0}
    job["checkpointing"] |= {"interval_ns": interval_ns, "timeout_ns": 600_000 * _MS}
    job["channels"] |= {"sender_records": 20, "receiver_records": 20}
    job["costs"] |= {"snapshot_jitter_ns": 0, "completion_ns": 0, "checkpoint_failure_ratio": 0.0}
    job["storage"] = {"failure_ratio": 0.0}
    for vertex in job["vertices"]:
        if vertex.get("kind") == "source":
            vertex["rate_per_s"] = 1000.0 * vertex["parallelism"]
        else:
            vertex["service_ns"] = choices.of((2, 5)) * _MS
        for one in vertex.get("inputs", ()):  # what barriers overtake
            one["partitioner"] = choices.of(("hash", "rebalance"))
        vertex["broadcast_state"] = False
    for fault in rescales:
        fault["at_ns"] = choices.integer(2, 5) * interval_ns + choices.of((8, 4, 1)) * _MS
    return rescales


def _rescaled_on_buffers(choices: Choices, job: dict[str, Any]) -> None:
    """Fit a job on buffers to changes of parallelism; let much be in flight in half of them."""
    job["checkpointing"]["enabled"] = True  # what nothing coordinates cannot be rescaled
    # Tasks that end one by one leave data behind them that no checkpoint knows of.
    job["ending"]["protocol"] = job["ending"]["protocol"].replace("naive", "flink")
    if not choices.flag():
        return
    job["checkpointing"] |= {"mode": choices.of(("unaligned", "aligned_timeout"))}
    job["checkpointing"]["max_concurrent"] = 1
    # Many small records, so that some are of the key groups at the edges of each subtask.
    job["network"] |= {"record_bytes": 300, "debloat": False}
    job["storage"] |= {"create_latency_ns": 0, "failure_ratio": 0.0, "tail_ratio": 0.0}
    for vertex in job["vertices"]:
        vertex.pop("rate_per_s", None)
        if vertex.get("kind") != "source":
            vertex["service_ns"] = max(vertex["service_ns"], _MS // 10)
        for one in vertex.get("inputs", ()):
            if one["partitioner"] != "forward":
                one["partitioner"] = choices.of(("hash", one["partitioner"]))
    give_broadcast_state(job["vertices"])


def give_broadcast_state(vertices: Iterable[dict[str, Any]]) -> None:
    """Give broadcast state to every vertex that can have it: all that come to it are alike."""
    for vertex in vertices:
        into = [one["partitioner"] for one in vertex.get("inputs", ())]
        vertex["broadcast_state"] = bool(into) and set(into) == {"broadcast"}


def _fits(fault: dict[str, Any], vertices: Sequence[dict[str, Any]]) -> bool:
    parallelism = {vertex["name"]: vertex["parallelism"] for vertex in vertices}
    vertex = fault.get("vertex")
    return vertex is None or fault.get("subtask", 0) < parallelism[vertex]
