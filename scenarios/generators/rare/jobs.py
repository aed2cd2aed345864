"""Rare options of jobs on either data plane."""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.rare.changes import Change, for_each_subtask, one_of, together
from ckptsim.scenarios.job import Plane
from ckptsim.scenarios.job.names import PROPERTIES

_MS = 1_000_000
_FASTER = [{"at_ns": 20 * _MS, "factor": 3.0}]
_BURSTS = {"rate_changes": [{"at_ns": 5 * _MS, "factor": 3.0}], "rate_period_ns": 10 * _MS}
# What is lost where the external system does not wait for the commit (docs/hazards.md).
_TIMED_OUT = (
    "transaction_ends_once",
    "exactly_once_output",
    "at_least_once",
    "restored_checkpoint_gives_the_same_output",
)

_LEFT_OUT = ("restored_checkpoint_is_a_cut", "restored_checkpoint_gives_the_same_output")


def _placed(choices: Choices, text: Any) -> None:
    """Say of every subtask which of three task managers it runs on."""
    job = text["job"]
    job["placement"] = "map"
    for vertex in job["vertices"]:
        vertex["task_managers"] = [choices.integer(0, 2) for _ in range(vertex["parallelism"])]


def _shared(choices: Choices, text: Any) -> None:
    """Let the subtasks of a vertex get unequal shares of the records that come by key."""
    keyed = [
        (one, vertex["parallelism"])
        for vertex in text["job"]["vertices"]
        for one in vertex["inputs"]
        if one["partitioner"] == "hash"
    ]
    if keyed:
        one, parallelism = choices.of(keyed)
        one["shares"] = [choices.of((1.0, 3.0, 0.5)) for _ in range(parallelism)]


def _keeps_parallelism(text: Any) -> bool:
    return not any(one["kind"] in ("rescale", "resubmit") for one in text["faults"])


def _forced(choices: Choices, text: Any) -> None:
    """Let barriers overtake on every edge, which is safe while no parallelism changes."""
    del choices
    if _keeps_parallelism(text):
        text["job"]["channel_state"]["ordered_edges"] = "forced"


def _carried(choices: Choices, text: Any) -> None:
    """Give subtasks out anew at restarts, with all their state.

    It is of no use where a parallelism changes, nor to a partitioner of the user's, which knows
    indices alone.
    """
    del choices
    edges = (one for vertex in text["job"]["vertices"] for one in vertex["inputs"])
    if _keeps_parallelism(text) and not any(one["partitioner"] == "custom" for one in edges):
        text["job"]["channel_state"]["subtask_indices"] = "carried"


def _told_at_recovery(choices: Choices, text: Any) -> None:
    """Replay logs from where receivers say when they come back: needs the channels of before."""
    del choices
    if _keeps_parallelism(text):
        both = {"handled_by": "both", "recovered": "joined"}
        table = text["job"]["channel_state"]
        table |= both | {"spilling": "continuous", "replay_from": "told_at_recovery"}


def _timed_out(choices: Choices, text: Any) -> None:
    """Have the external system wait for some time only, and expect what is lost then."""
    text["job"]["costs"]["transaction_timeout_ns"] = choices.of((200, 60, 20)) * _MS
    _expect(text, _TIMED_OUT)


def _left_out(choices: Choices, text: Any) -> None:
    """Leave out what is in flight in one checkpoint, and expect that it is missing from there."""
    text["job"]["checkpointing"]["recover_without_channel_state"] = choices.of((1, 2, 3))
    _expect(text, _LEFT_OUT)


def _expect(text: Any, broken: tuple[str, ...]) -> None:
    known = PROPERTIES[Plane(text["job"]["plane"])]
    more = (name for name in broken if name in known)
    text["violates"] = list(dict.fromkeys((*text["violates"], *more)))


JOB_OPTIONS: tuple[Change, ...] = (
    one_of("job.event_time.watermark_interval_ns", 2 * _MS, 10 * _MS),
    together("job.event_time", {"watermark_interval_ns": 2 * _MS, "idle_timeout_ns": 5 * _MS}),
    one_of("job.channel_state.read_piece_ns", _MS),
    one_of("job.channel_state.order_required", True),
    _forced,
    _carried,
    _told_at_recovery,
    one_of("job.channels.buffer_sizes", "flushed", "debloated"),
    one_of("job.channels.preloaded_records", 3, 20),
    one_of("job.checkpointing.first_trigger_ns", 0, 5 * _MS),
    one_of("job.checkpointing.subtasks_per_file", 1, 2),
    one_of("job.checkpointing.max_queued", 1, 2),
    _left_out,
    _timed_out,
    one_of("job.costs.messages_in_order", False),
    together("job.costs", {"closing_ns": 10 * _MS}, {"restore_ns": 10 * _MS}),
    one_of("job.ending.horizon_ns", 150 * _MS, 400 * _MS),
    together("job.vertices.*", {"rate_changes": _FASTER}, _BURSTS),
    for_each_subtask("rate_shares", (1.0, 3.0, 0.5), "source"),
    together("job.vertices.*", {"hot_ratio": 0.5}, {"records_step": 3}),
    one_of("job.vertices.*.repeat", 2),
    one_of("job.vertices.*.selectivity", 0.5, 2.0),
    together("job.vertices.*", {"service_variation": 0.5}, {"service_step_ns": 300_000}),
    for_each_subtask("service_factors", (1.0, 3.0, 0.5)),
    together("job.vertices.*", {"snapshot_sync_ns": _MS}, {"chain": 2}, {"state_bytes": 1_000_000}),
    for_each_subtask("subtask_state_bytes", (0, 1_000, 100_000)),
    together("job.vertices.*", {"record_bytes": 5_000}, {"record_variation": 0.5}),
    together("job.vertices.*.inputs.*", {"record_bytes": 5_000}, {"record_variation": 0.5}),
    one_of("job.vertices.*.inputs.*.keeps_key", True, False),
    _shared,
    _placed,
    together("job.machine", {"cores": 1}, {"cost_factor": 2.0}),
)
