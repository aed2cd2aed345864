"""Options that few scenarios need, so that all are explored, and the surroundings of a random job.

Only those with which every property holds but what `violates` names then.  An option that does not
fit a scenario is left out.

Each has a slot of its own.  A core in it is explored in jobs that have the situation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

from ckptsim.scenarios.errors import ScenarioError
from ckptsim.scenarios.files import plain, read
from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.hazards import with_hazards
from ckptsim.scenarios.job import Job, Plane
from ckptsim.scenarios.job.names import PROPERTIES
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.spec import Scenario

_MOST = 4
_MS = 1_000_000
Change: TypeAlias = Callable[[Choices, Any], None]
Option: TypeAlias = Change | tuple[str, Sequence[Any]]
"""Values for a place such as `job.vertices.*.repeat`, of which one is put there; * is any item.

A table is put into the one that is there.  `[]` behind a place is a value for each subtask.
"""


def varied(generate: Callable[[Choices], Scenario]) -> Callable[[Choices], Scenario]:
    """Return a generator of the same scenarios with up to four rare options."""

    def with_options(choices: Choices) -> Scenario:
        scenario = generate(choices)
        options = OPTIONS[LINKS[scenario.link].key]
        for option in choices.several(lambda: choices.of(options), most=_MOST):
            text: Any = plain(scenario)
            if callable(option):
                option(choices, text)
            else:
                _put(choices, text, *option)
            try:
                scenario = read(text, source="a rare option")
            except ScenarioError:
                continue
        return with_hazards(scenario)

    return with_options


def _put(choices: Choices, text: Any, place: str, values: Sequence[Any]) -> None:
    *way, last = place.removesuffix("[]").split(".")
    for step in way:
        if step == "*" and not text:
            return
        text = choices.of(text) if step == "*" else text[step]
    if place.endswith("[]"):
        text[last] = [choices.of(values) for _ in range(text["parallelism"])]
        return
    key: Any = last
    if last == "*":
        if not text:
            return
        key = choices.integer(0, len(text) - 1)
    value = choices.of(values)
    text[key] = text[key] | value if isinstance(value, Mapping) else value


def _placed(choices: Choices, text: Any) -> None:
    text["job"]["placement"] = "map"
    for vertex in text["job"]["vertices"]:
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


def _in_channel_state(table: Mapping[str, Any], *, not_for: str = "") -> Change:
    """Keep in-flight data while no parallelism changes. not_for: a partitioner."""

    def change(choices: Choices, text: Any) -> None:
        del choices
        edges = [one for vertex in text["job"]["vertices"] for one in vertex["inputs"]]
        rescaled = any(one["kind"] in ("rescale", "resubmit") for one in text["faults"])
        if not rescaled and all(one["partitioner"] != not_for for one in edges):
            text["job"]["channel_state"].update(table)

    return change


def _expecting(place: str, values: Sequence[Any], *broken: str) -> Change:
    """Put one of the values at a place, and expect the loss (docs/hazards.md)."""

    def change(choices: Choices, text: Any) -> None:
        _put(choices, text, place, values)
        known = PROPERTIES[Plane(text["job"]["plane"])]
        more = [name for name in broken if name in known]
        text["violates"] = list(dict.fromkeys((*text["violates"], *more)))

    return change


_LOGGED = {"handled_by": "both", "recovered": "joined", "spilling": "continuous"}
_JOB: tuple[Option, ...] = (
    ("job.event_time", ({"watermark_interval_ns": 2 * _MS}, {"watermark_interval_ns": 10 * _MS})),
    ("job.event_time", ({"watermark_interval_ns": 2 * _MS, "idle_timeout_ns": 5 * _MS},)),
    ("job.channel_state", ({"read_piece_ns": _MS}, {"order_required": True})),
    _in_channel_state({"ordered_edges": "forced"}),
    # A partitioner of the user's knows indices alone.
    _in_channel_state({"subtask_indices": "carried"}, not_for="custom"),
    # Needs the channels of before.
    _in_channel_state(_LOGGED | {"replay_from": "told_at_recovery"}),
    ("job.channels.buffer_sizes", ("flushed", "debloated")),
    ("job.channels.preloaded_records", (3, 20)),
    ("job.checkpointing", ({"first_trigger_ns": 0}, {"first_trigger_ns": 5 * _MS})),
    ("job.checkpointing", ({"subtasks_per_file": 1}, {"subtasks_per_file": 2})),
    ("job.checkpointing.max_queued", (1, 2)),
    _expecting(
        "job.checkpointing.recover_without_channel_state",
        (1, 2, 3),
        "restored_checkpoint_is_a_cut",
        "restored_checkpoint_gives_the_same_output",
    ),
    _expecting(
        "job.costs.transaction_timeout_ns",
        (200 * _MS, 60 * _MS, 20 * _MS),
        "transaction_ends_once",
        "exactly_once_output",
        "at_least_once",
        "restored_checkpoint_gives_the_same_output",
    ),
    ("job.costs", ({"messages_in_order": False}, {"closing_ns": 10 * _MS})),
    ("job.costs.restore_ns", (10 * _MS,)),
    ("job.ending.horizon_ns", (150 * _MS, 400 * _MS)),
    ("job.vertices.*.rate_changes", ([{"at_ns": 20 * _MS, "factor": 3.0}],)),
    (
        "job.vertices.*",
        ({"rate_changes": [{"at_ns": 5 * _MS, "factor": 3.0}], "rate_period_ns": 10 * _MS},),
    ),
    ("job.vertices.*.rate_shares[]", (1.0, 3.0, 0.5)),
    ("job.vertices.*", ({"hot_ratio": 0.5}, {"records_step": 3}, {"repeat": 2})),
    ("job.vertices.*.selectivity", (0.5, 2.0)),
    ("job.vertices.*", ({"service_variation": 0.5}, {"service_step_ns": 300_000})),
    ("job.vertices.*.service_factors[]", (1.0, 3.0, 0.5)),
    ("job.vertices.*", ({"snapshot_sync_ns": _MS}, {"chain": 2}, {"state_bytes": 1_000_000})),
    ("job.vertices.*.subtask_state_bytes[]", (0, 1_000, 100_000)),
    ("job.vertices.*", ({"record_bytes": 5_000}, {"record_variation": 0.5})),
    ("job.vertices.*.inputs.*", ({"record_bytes": 5_000}, {"record_variation": 0.5})),
    ("job.vertices.*.inputs.*.keeps_key", (True, False)),
    _shared,
    _placed,
    ("job.machine", ({"cores": 1}, {"cost_factor": 2.0})),
)
_SYNC: tuple[Option, ...] = (
    ("sync.source", ({"checkpoint_ns": 5 * _MS}, {"open_spread": 0.5})),
    ("sync.source.complete_on_every_socket", (False, True)),
    ("sync.source.final_drain", ("skip", "wait")),
    # Of two characters they collide in attempt after attempt, until the platform gives up.
    ("sync.source.partition_id_characters", (8, 3)),
    ("sync.source", ({"keys_on_stdio": True}, {"repeat_states": True})),
    ("sync.destination.upload_bandwidth_bytes_per_s", (100_000,)),
    ("sync.sockets.pipe_bytes", (500, 5_000)),
    ("sync.platform.count_check", ("reject", "report")),
    ("sync.platform", ({"empty_attempts": 6}, {"empty_in_a_row": 6}, {"partial_attempts": 6})),
    ("sync.streams.*", ({"namespace": "public"}, {"state_bytes": 3_000}, {"state_bytes": 64})),
)
_STORE: tuple[Option, ...] = (
    ("store.input", ({"partitions": 1}, {"partitions": 3})),
    ("store.input", ({"switch_every": 30, "remote_ahead": 7, "switch_after_ns": 5 * _MS},)),
    ("store.input.record_bytes", (10, 1_000)),
    *((f"store.process.{name}_ns", (_MS,)) for name in ("apply", "restart", "reopen", "retry")),
    *((f"store.costs.{name}_ns", (_MS // 10,)) for name in ("autocommit", "fsync", "remote")),
    *((f"store.costs.{name}_ns", (_MS, 20 * _MS)) for name in ("flush", "transaction", "wal")),
    *((f"store.costs.{name}_row_ns", (_MS // 10,)) for name in ("flush", "replay", "transaction")),
    ("store.costs.flush_bytes_per_s", (100_000,)),
    ("store.costs", ({"remote_ns": 20 * _MS}, {"remote_ns_p99": 500 * _MS})),
    ("store", ({"watchdog_ns": 60_000 * _MS}, {"rework_records_max": 1_000})),
    (
        "store.dictionary",  # only where values are compressed
        (
            {"size_bytes": 1_000, "request_ns": _MS, "clients": 5, "capacity": 1, "queue": 1},
            {"request_ns": _MS, "clients": 9, "spread_ns": 3 * _MS, "answer_bytes_per_s": 1_000},
            {"size_bytes": 2_000, "kept": "copied", "copy_bytes_per_s": 1_000_000},
            {"size_bytes": 1_000, "kept": "copied", "read_bytes_per_s": 1_000_000},
        ),
    ),
)
_PIPELINE: tuple[Option, ...] = (
    ("pipeline.channels", ({"end_of_partition_ns": 3 * _MS}, {"record_buffers": 2})),
    ("pipeline.checkpointing", ({"first_trigger_ns": 0}, {"subtasks_per_file": 1})),
    ("pipeline.checkpointing", ({"max_queued": 1}, {"skip_missed_ticks": True})),
    ("pipeline.checkpointing.savepoint_at_ns", (10 * _MS,)),
    # Where barriers wait longer in a full channel than a checkpoint may take, all of them expire.
    ("pipeline.checkpointing", ({"tolerable_failures": 5, "timeout_ns": 600_000 * _MS},)),
    ("pipeline.costs", ({"closing_ns": 2 * _MS}, {"restore_ns": 2 * _MS})),
    ("pipeline.costs", ({"messages_in_order": False}, {"checkpoint_failure_ratio": 0.2})),
    ("pipeline.machine", ({"cores": 2}, {"cost_factor": 2.0})),
    ("pipeline.network", ({"debloat": True, "debloat_target_ns": 20 * _MS},)),
    ("pipeline.network", ({"latency_ns": 3 * _MS}, {"jitter_ns": 0}, {"send_ns": 0})),
    ("pipeline.network", ({"max_overdraft_buffers": 0}, {"max_buffers_per_channel": 2})),
    ("pipeline.platform", ({"backoff_ns": [_MS]}, {"empty_attempts": 6})),
    ("pipeline.platform", ({"empty_in_a_row": 6}, {"partial_attempts": 6})),
    ("pipeline.release.end_poll_ns", (_MS, 5 * _MS)),
    ("pipeline.release.end_wait_ns", (_MS, 5 * _MS)),
    ("pipeline.release", ({"heartbeat_ns": 5 * _MS}, {"stall_limit_ns": 1_000 * _MS})),
    ("pipeline.release", ({"record_ns": _MS // 10}, {"send_spread": 2.0}, {"send_tries": 2})),
    ("pipeline.sockets", ({"bandwidth_bytes_per_s": 100_000}, {"latency_ns": 2 * _MS})),
    ("pipeline.sockets.pipe_bytes", (1_000,)),
    ("pipeline.source", ({"complete_on_every_socket": True}, {"connections": 1})),
    ("pipeline.source.final_drain", ("skip", "wait")),
    ("pipeline.source", ({"open_spread": 2.0}, {"record_ns": _MS // 10})),
    # Ids of fewer characters collide by chance.  In syncs they may, which then name the hazard.
    ("pipeline.source.partition_id_characters", (8, 4)),
    ("pipeline.source.state_bytes", (20_000,)),
    ("pipeline.storage", ({"create_latency_ns": 2 * _MS}, {"failure_ratio": 0.1})),
    ("pipeline.storage", ({"tail_ratio": 0.2, "tail_latency_ns": 20 * _MS},)),
    ("pipeline.storage", ({"write_bytes_per_s": 5_000_000, "shared_limit": True},)),
    ("pipeline.store.costs.fsync_ns", (5 * _MS,)),
    ("pipeline.store.costs", ({"flush_row_ns": _MS // 10}, {"transaction_row_ns": _MS // 10})),
    ("pipeline.store.costs", ({"remote_ns": 20 * _MS}, {"remote_ns_p99": 100 * _MS})),
    # One flush may have to write a megabyte, and a pipeline takes a second of silence for its end.
    ("pipeline.store.costs", ({"wal_ns": 2 * _MS}, {"flush_bytes_per_s": 5_000_000})),
    ("pipeline.store", ({"report_ns": 100 * _MS}, {"retry_ns": _MS}, {"spread": 0.5})),
    ("pipeline.stages.*.partitioner", ("custom", "shuffle")),
    ("pipeline.sink.partitioner", ("custom", "shuffle")),
    ("pipeline.streams.*", ({"namespace": "public"}, {"state_bytes": 20_000})),
)
OPTIONS: Mapping[str, tuple[Option, ...]] = {
    "job": _JOB,
    "sync": _SYNC,
    "store": _STORE,
    "pipeline": _PIPELINE,
}


SITUATIONS: Mapping[str, Callable[[Job], bool]] = {
    "global_committer": lambda job: any(one.global_committer for one in job.vertices),
    "acknowledger": lambda job: any(one.acknowledges for one in job.vertices),
    "shared_state": lambda job: job.state.incremental,
    "enumerator": lambda job: any(one.splits is not None for one in job.vertices),
}
"""Slot -> whether a job is in its situation."""


def has(scenario: Scenario, wanted: Collection[str]) -> bool:
    """Return whether a scenario has situations, named by their slots."""
    model = scenario.model
    return isinstance(model, Job) and all(SITUATIONS[slot](model) for slot in wanted)


def situate(choices: Choices, text: dict[str, Any]) -> None:
    """Put a job into some of them, and into all that are wanted."""
    if "global_committer" in choices.wanted or choices.flag():
        _commit_together(choices, text, wanted="global_committer" in choices.wanted)
    if {"enumerator", "acknowledger", "shared_state"}.intersection(choices.wanted):
        text["checkpointing"]["enabled"] = True
        text["ending"]["protocol"] = text["ending"]["protocol"].replace("naive", "flink")
    outlives = "acknowledger" in choices.wanted or choices.flag()
    for vertex in text["vertices"] if outlives else ():
        if vertex["kind"] == "source":
            vertex["acknowledges"] = True
    if outlives or "shared_state" in choices.wanted:
        text["state"] = {"incremental": True}
    if "shared_state" in choices.wanted:
        text["checkpointing"].pop("count", None)  # few checkpoints share few files
        if choices.flag():
            text["checkpointing"]["savepoint_at_ns"] = choices.integer(20, 80) * 1_000_000
    is_coordinated = text["checkpointing"].get("enabled", True)
    if is_coordinated and ("enumerator" in choices.wanted or choices.integer(0, 3) == 3):
        _enumerate(choices, text)


def _enumerate(choices: Choices, text: dict[str, Any]) -> None:
    """Let an enumerator assign the splits of sources. Short ones are asked for often."""
    text.pop("event_time", None)
    for vertex in text["vertices"]:
        vertex.pop("recorded", None)
        if vertex["kind"] == "source":
            vertex |= {"splits": choices.of((6, 3, 12)), "records_step": 0}
            vertex.pop("ends_at_ns", None)


def _commit_together(choices: Choices, text: dict[str, Any], *, wanted: bool) -> None:
    """Let sinks have global committers. Few records lead to writers that have none."""
    ending, vertices = text["ending"], text["vertices"]
    if wanted:
        ending["protocol"] = ending["protocol"].replace("naive", "flink")
        vertices[-1]["kind"] = "sink"
        text["checkpointing"] |= {"enabled": True, "after_finish": True}
    if ending["protocol"] == "naive":
        return
    for sink in (one for one in vertices if one["kind"] == "sink"):
        sink |= {"global_committer": True, "opens_after_finish": False}
        sink["file_records"] = choices.of(("none", 3, 1))
