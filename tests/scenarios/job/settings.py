"""Scenarios in which fields show that no scenario of the library brings to light."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.files import from_json, loads, plain
from ckptsim.scenarios.generators.pipelines import NETWORK
from ckptsim.scenarios.limits import BUFFERS, RECORDS
from ckptsim.scenarios.planning import with_parameters
from tests.composed.plans import slow_down


def _on_buffers(name: str, more: Mapping[str, Any] | None = None) -> Callable[[], Scenario]:
    def make() -> Scenario:
        scenario = by_name(name)
        given: dict[str, Any] = {"job.plane": "buffers", "job.costs": {}, "job.channels": {}}
        return with_parameters(scenario, given | {"goals": [], "violates": []} | (more or {}))

    return make


_LOG = """
name = "log"
link = "barriers"
says = "a source whose rate changes, and tasks that crash"

[job]
duration = "6 s"

[[job.vertices]]
name = "source"
kind = "source"
parallelism = 2
rate = "100 /s"
rate_changes = [{ at = "1 s", factor = 3.0 }, { at = "2 s", factor = 0.5 }]
rate_period = "3 s"

[[job.vertices]]
name = "sink"
kind = "sink"
parallelism = 2
inputs = [{ upstream = "source", partitioner = "hash" }]
service = "1 ms"
state = "1 MB"

[job.checkpointing]
interval = "500 ms"

[job.storage]
write = "20 MB/s"
read = "20 MB/s"

[job.restart]
kind = "fixed_delay"
delay = "200 ms"

[job.recovery]
timed = true
"""
_FILES = (
    _LOG.replace(
        'state = "1 MB"', "keys = 1000\nvalue_bytes = 1000\nhot_keys = 10\nhot_share = 0.5"
    )
    + """
[job.state]
backend = "rocksdb"
incremental = true
"""
)
_CRASHES = "".join(
    f"""
[[faults]]
kind = "crash_task"
vertex = "sink"
at = "{at_ms} ms"
"""
    for at_ms in (1_600, 2_900, 3_900)
)
_REQUESTS = "".join(
    f"""
[[faults]]
kind = "request_checkpoint"
at = "{at_ms} ms"
"""
    for at_ms in (1_501, 1_502, 1_503)
)

_SUBMITTED = """
[[faults]]
kind = "request_savepoint"
at = "1700 ms"

[[faults]]
kind = "resubmit"
at = "1900 ms"

[[faults]]
kind = "resubmit"
at = "3900 ms"
"""

_HUNTED = """
name = "hunted_log"
link = "barrier_protocol"
says = "a keyed job record by record, a task and a task manager of which crash"

[job]
placement = "mixed"

[[job.vertices]]
name = "source"
kind = "source"
parallelism = 2
rate = "1000 /s"
records = 60

[[job.vertices]]
name = "map"
parallelism = 2
inputs = [{ upstream = "source" }]
service = "2 ms"

[[job.vertices]]
name = "sink"
kind = "sink"
parallelism = 2
inputs = [{ upstream = "map" }]
service = "1 ms"

[job.channels]
latency = "1 ms"

[job.checkpointing]
interval = "10 ms"

[job.costs]
rpc = "500 us"
snapshot_async = "2 ms"

[job.event_time]
watermark_interval = "4 ms"

[job.recovery]
heartbeat_interval = "10 ms"
heartbeat_timeout = "20 ms"

[[faults]]
kind = "crash_task"
vertex = "sink"
at = "25 ms"

[[faults]]
kind = "crash_task_manager"
vertex = "map"
subtask = 1
at = "51 ms"
symptom = "silent"
"""


def _pipeline(name: str, given: Mapping[str, Any], plane: str = "") -> Callable[[], Scenario]:
    """Return a pipeline of the library with changes, put on buffers or left where it is."""

    def make() -> Scenario:
        changed: Any = plain(with_parameters(by_name(name), {"goals": [], "violates": []} | given))
        if plane == BUFFERS:
            slow_down(changed)
            changed["pipeline"]["network"] |= NETWORK
        return from_json(json.dumps(changed))

    return make


def _log() -> Scenario:
    return loads(_LOG, source="log.toml")


def _hunted(given: Mapping[str, Any]) -> Callable[[], Scenario]:
    return lambda: with_parameters(loads(_HUNTED, source="log.toml"), given)


def _crashing_log() -> Scenario:
    return loads(_LOG + _CRASHES, source="log.toml")


def _varied(**given: Any) -> Callable[[], Scenario]:
    """Return the log with other values, a double underscore standing for each dot of a path."""
    parameters = {f"job.{path.replace('__', '.')}": value for path, value in given.items()}
    return lambda: with_parameters(_crashing_log(), parameters)


# One subtask of the source has ended when the other fails.
_PARTLY: dict[str, Any] = {
    "job.vertices[0].rate_per_s": 200.0,
    "job.vertices[0].records": 40,
    "job.vertices[0].records_step": 100,
    "job.checkpointing.interval_ns": 200_000_000,
    "job.restart.delay_ns": 100_000_000,
    "faults": [{"kind": "crash_task", "vertex": "source", "subtask": 1, "at_ns": 800_000_000}],
}
_SHARED = {"job.checkpointing.mode": "unaligned", "job.placement": "local"}
_THROTTLED: dict[str, Any] = {
    "job.storage.requests_per_s": 2.0,
    "job.storage.throttling": "retry",
    "job.storage.retries": 2,
    "job.vertices[1].parallelism": 4,
}
_MERGING: dict[str, Any] = {
    "job.placement": "local",
    "job.vertices[1].parallelism": 4,
    "job.storage.host_transfers": 1,
    "job.storage.create_latency_ns": 30_000_000,
    "job.storage.file_merging": True,
}
_SLOW = {"job.storage.write_bytes_per_s": 600_000, "job.recovery.timed": False}
_MAPPED: dict[str, Any] = {"job.placement": "map", "job.vertices[*].task_managers": [0, 1]}
_BROADCAST = {"job.vertices[1].inputs[0].partitioner": "broadcast"}

# What jobs on records have beside, by the name of the setting.
_OF_HUNTED: Mapping[str, Mapping[str, Any]] = {
    "mapped": _MAPPED,
    "unaligned": {"job.checkpointing.mode": "unaligned"},
    "timed": {"job.checkpointing.mode": "aligned_timeout"},
    "endless": {"job.vertices[0].records": "none", "job.ending.horizon_ns": 100_000_000},
    "failing": {"job.costs.checkpoint_failure_ratio": 0.5},
    "unreachable": {"faults[1].symptom": "unreachable"},
    "rated": {"job.restart.kind": "failure_rate", "job.restart.delay_ns": 10_000_000},
    "patient": {
        "job.restart.kind": "exponential_delay",
        "job.restart.initial_backoff_ns": 10_000_000,
    },
}
# What pipelines have beside, by the name of the setting: a scenario of the library and changes.
_P = "pipeline"
_CRASH = {"kind": "crash_at", "side": "destination", "at_ns": 40_000_000}
_READ_LATE: dict[str, Any] = {
    f"{_P}.streams": [{"name": "users", "records": 400, "partition_records": 400}],
    f"{_P}.source.log_records": 10,
    f"{_P}.source.log_partition_records": 5,
    f"{_P}.source.record_ns": 200_000,
    "faults": [_CRASH],
}
_UNSENT: dict[str, Any] = {
    "faults": [{"kind": "fail_send", "occurrence": 1, "sends": 9, "at_end": True}],
    f"{_P}.store.report_ns": 200_000_000,
    f"{_P}.release.end_wait_ns": 2_000_000,
    f"{_P}.release.end_poll_ns": 1_000_000,
}
_HASTY = {
    "faults": [],
    f"{_P}.release.stall_limit_ns": 1_000_000,
    f"{_P}.platform.empty_in_a_row": 1,
}
_CROWDED: dict[str, Any] = {
    f"{_P}.costs.rpc_ns": 1_000_000,
    f"{_P}.checkpointing.interval_ns": 1_000_000,
    f"{_P}.checkpointing.max_concurrent": 3,
}
_PIPELINES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "unlocked": ("pipeline_change_log", {f"{_P}.source.checkpoint_lock": "unlocked"}),
    "read late": ("pipeline_change_log", _READ_LATE),
    "timed": ("pipeline_timed_out", {}),
    "failing": ("pipeline_timed_out", {f"{_P}.costs.checkpoint_failure_ratio": 0.5}),
    "unsent": ("pipeline_aligned", _UNSENT),
    "hasty": ("pipeline_aligned", _HASTY),
    "crowded": ("pipeline_aligned", _CROWDED),
    "grouped": ("pipeline_group", {}),
    "not hooked": ("pipeline_not_hooked", {}),
    "appended": ("pipeline_append", {}),
    "external": ("pipeline_external", {}),
    "refused": ("pipeline_refused_commits", {}),
}
# Of these the base is on buffers already.
_TIGHT = {
    f"{_P}.network.segment_bytes": 256,
    f"{_P}.network.record_bytes": 4_096,
    f"{_P}.network.max_buffers_per_channel": 2,
    f"{_P}.network.floating_buffers": 1,
}
_ON_BUFFERS: Mapping[str, Mapping[str, Any]] = {
    "tight": _TIGHT,
    "local": {f"{_P}.placement": "local"},
    "limited": {
        f"{_P}.storage.write_bytes_per_s": 100_000,
        f"{_P}.storage.inline_threshold_bytes": 0,
        f"{_P}.storage.tail_ratio": 0.2,
        f"{_P}.storage.tail_latency_ns": 20_000_000,
    },
    "debloated": {f"{_P}.network.debloat": True, f"{_P}.network.debloat_target_ns": 20_000_000},
}
_INDUCED = {"job.checkpointing.protocol": "communication_induced"}
_TWO_VERSIONS = {"store.input.versions": 2}

# By name: a log with a rate that changes, and jobs of the library on the other plane.
SETTINGS: Mapping[str, Callable[[], Scenario]] = {
    "log": _log,
    "crashing log": _crashing_log,
    "crashing lanes": lambda: loads(
        _LOG.replace('partitioner = "hash"', 'partitioner = "forward"') + _CRASHES,
        source="lanes.toml",
    ),
    "rig pipeline": lambda: with_parameters(
        by_name("pipeline_buffers"), {"pipeline.profile": "rig"}
    ),
    "files": lambda: loads(_FILES, source="files.toml"),
    "crashing files": lambda: loads(_FILES + _CRASHES, source="files.toml"),
    "starting log": lambda: with_parameters(_log(), {"job.vertices[0].startup_ns": 2_000_000_000}),
    "throttled log": lambda: with_parameters(_log(), _THROTTLED),
    "merging log": lambda: with_parameters(_log(), _MERGING),
    "logged files": lambda: with_parameters(
        loads(_FILES + _CRASHES, source="files.toml"), {"job.state.changelog": True}
    ),
    "submitted files": lambda: loads(_FILES + _SUBMITTED, source="files.toml"),
    "asked log": lambda: loads(_LOG + _REQUESTS, source="log.toml"),
    "slow calm log": lambda: with_parameters(_log(), _SLOW),
    "slow log": _varied(storage__write_bytes_per_s=300_000),
    "mapped log": lambda: with_parameters(_crashing_log(), _MAPPED),
    "broadcast log": lambda: with_parameters(_crashing_log(), _BROADCAST),
    "hunted log": _hunted({}),
    **{f"{name} hunted log": _hunted(given) for name, given in _OF_HUNTED.items()},
    "induced": lambda: with_parameters(by_name("uncoordinated_crash"), _INDUCED),
    **{
        f"{name} pipeline on {plane}": _pipeline(base, given, plane)
        for name, (base, given) in _PIPELINES.items()
        for plane in (RECORDS, BUFFERS)
    },
    **{
        f"{name} pipeline": _pipeline("pipeline_buffers", given)
        for name, given in _ON_BUFFERS.items()
    },
    "rig on buffers": _on_buffers("resubmitted", {"job.profile": "rig"}),
    "partly on buffers": _on_buffers("flink_restore_partly", _PARTLY),
    "rescaled broadcast on buffers": _on_buffers("flink_22815_broadcast"),
    "shared files on buffers": _on_buffers("saturated_crash", _SHARED),
    "two versions": lambda: with_parameters(by_name("s05_low_traffic_stopped"), _TWO_VERSIONS),
    **{
        f"{name} on buffers": _on_buffers(name)
        for name in (
            "final_backlog_unaligned",
            "final_pair",
            "final_race",
            "final_subtasks",
            "flink_drain",
            "flink_restore_union",
            "out_of_reach",
            "resubmitted",
            "saturated_crash",
        )
    },
}
