"""What meets a savepoint, which subsumes no checkpoint and which no restart begins from.

A failure behind it that restores an older checkpoint, a resubmission that begins from it, and
checkpoints that are triggered, stored and completed while it is still being written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ckptsim.scenarios.generators.choices import Choices

_MS = 1_000_000


def around_a_savepoint(
    choices: Choices, job: dict[str, Any], mode: Callable[[], str]
) -> list[dict[str, Any]]:
    """Return a savepoint and what meets it, in base units; fits the job's document to it.

    mode: draws the mode that the job is submitted again with.
    """
    interval_ns = job["checkpointing"]["interval_ns"]
    number = choices.integer(1, 4)
    at_ns = max(1, number * interval_ns + choices.of((interval_ns // 4, _MS, -_MS)))
    found: list[dict[str, Any]] = [{"kind": "request_savepoint", "at_ns": at_ns}]
    if job["checkpointing"]["mode"] in ("aligned", "at_least_once") and choices.flag():
        return found + _written_slowly(choices, job, number + (at_ns > number * interval_ns))
    crash_ns = at_ns + choices.of((interval_ns // 4, interval_ns // 2, interval_ns))
    found.append({"kind": "crash_task", "at_ns": crash_ns} | _subtask(choices, job))
    if choices.flag():
        again_ns = crash_ns + choices.of((interval_ns // 4, 8 * _MS, 20 * _MS))
        found.append({"kind": "resubmit", "mode": mode(), "at_ns": again_ns})
    return found


def keep_in_a_log(choices: Choices, job: dict[str, Any], faults: list[dict[str, Any]]) -> None:
    """Have a log service keep what is in flight in half of the jobs that nothing else says it of.

    Of jobs on records, that is, of which a savepoint is asked for.

    It is cut for the newest checkpoint, and a savepoint is none of those.
    """
    table = job.get("channel_state", {"buffers": None})
    if not any(one["kind"] == "request_savepoint" for one in faults):
        return
    if not set(table) - {"write_record_ns"} and choices.flag():
        table["persistence"] = "log_service"
        job["checkpointing"]["retained"] = 1


def crowd(choices: Choices, job: dict[str, Any], at_ns: int) -> list[dict[str, Any]]:
    """Let few requests wait for their turn, and more than these come at about one instant."""
    job["checkpointing"]["max_queued"] = choices.of((1, 2))
    kinds = ("request_checkpoint", "request_savepoint")
    return [
        {"kind": choices.of(kinds), "at_ns": at_ns + choices.of((0, 0, _MS))}
        for _ in range(choices.integer(2, 4))
    ]


def _written_slowly(choices: Choices, job: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Have a savepoint, and the checkpoint behind it, still pending when a later one completes."""
    job["checkpointing"] |= {"max_concurrent": 3, "min_pause_ns": 0}
    interval_ns = job["checkpointing"]["interval_ns"]
    slow = {"kind": "delay_acknowledgement"} | _subtask(choices, job)
    delays = (choices.of((2, 3, 4)) * interval_ns, choices.of((2, 3, 1)) * interval_ns)
    return [
        slow | {"checkpoint": number + behind, "delay_ns": delay_ns}
        for behind, delay_ns in enumerate(delays)
    ]


def _subtask(choices: Choices, job: dict[str, Any]) -> dict[str, Any]:
    vertex: dict[str, Any] = choices.of(tuple(job["vertices"]))
    return {"vertex": vertex["name"], "subtask": choices.integer(0, vertex["parallelism"] - 1)}
