"""A measured run of state, storage or recovery: one JSON object a line, with its configuration.

A prediction takes from the measurement only what Flink draws at random or an operator decided: the
phase of the periodic trigger, and how long after a checkpoint the failure struck.

The keys are written before the run begins, so time 0 of the measurement lies some intervals after
the begin of the simulation: by then a checkpoint has uploaded all keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ckptsim.scenarios import job as jobs
from ckptsim.sim.job.buffers.constants import PLAIN, Constants
from ckptsim.sim.validate.fields import FIGURE, Field

KINDS = ("keyed", "forward", "flat")
BACKENDS = ("hashmap", "rocksdb")

STEADY = (
    "end_to_end_ms",
    "sync_ms",
    "async_ms",
    "state_bytes",
    "checkpointed_bytes_min",
    "checkpointed_bytes_mean",
    "files_created",
    "trigger_gap_ms",
)
RECOVERY = (
    "running_again_after_ms",
    "restore_ms",
    "restore_read_bytes",
    "records_again",
    "record_age_back_after_ms",
    "tasks_restarted",
)

_FAILURE = (
    Field("kind", "text", required=True),
    Field("at_ms", "number", minimum=0),
    Field("after_checkpoint_ms", "number", minimum=0),
    Field("subtask", "whole", minimum=0),
)
_CLUSTER = (Field("slots", "whole", minimum=1), Field("options", "object"))
_RECOVERY = (
    Field("failed_at_ms", "number", minimum=0),
    *(Field(name, "list" if name == "tasks_restarted" else "number") for name in RECOVERY),
)
_CONFIG = (
    Field("kind", "text", required=True, words=KINDS),
    Field("backend", "text", required=True, words=BACKENDS),
    Field("parallelism", "whole", required=True, minimum=1),
    Field("keys", "whole", required=True, minimum=1),
    Field("value_bytes", "whole", required=True, minimum=0),
    Field("interval_ms", "number", required=True, minimum=1),
    Field("min_pause_ms", "number", minimum=0),
    Field("steady_ms", "number", required=True, minimum=1),
    Field("records_per_s", "number", minimum=0, above=True),
    Field("service_us", "number", minimum=0),
    Field("hot_share", "number", minimum=0),
    Field("hot_keys", "whole", minimum=0),
    Field("flat_out", "number", minimum=0),
    Field("payload", "whole", minimum=0),
    Field("restart_delay_ms", "number", minimum=0),
    Field("operator_state_bytes_per_subtask", "number", minimum=0),
    Field("failed_after_completion_of_restored_checkpoint_ms", "number", minimum=0),
    Field("limits", "object", each=FIGURE),
    Field("cluster", "object", inside=_CLUSTER),
    Field("failures", "list", inside=_FAILURE),
)
_CHECKPOINT = (Field("trigger_ms", "number"), Field("phase", "text"))
LINE = (
    Field("run_id", "text", required=True),
    Field("cell", "text"),
    Field("family", "text"),
    Field("config", "object", required=True, inside=_CONFIG),
    Field("jobs_before_in_this_cluster", "whole", minimum=0),
    Field("checkpoints", "list", inside=_CHECKPOINT),
    Field("steady", "object", each=FIGURE),
    Field("recovery", "object", inside=_RECOVERY),
)
_WARM = 20  # an assumption for a line without the number of jobs before it


@dataclass(frozen=True, slots=True, kw_only=True)
class StateRun:
    """One line. phase_ms: of the periodic trigger, if known. jobs_before: in these processes."""

    run_id: str
    cell_id: str
    family: str
    config: Mapping[str, Any]
    phase_ms: float | None
    jobs_before: int
    steady: Mapping[str, Any]
    recovery: Mapping[str, Any]


def is_state_run(entry: object) -> bool:
    """Return whether a line is a run of state or storage: its configuration names a backend."""
    config = entry.get("config") if isinstance(entry, Mapping) else None
    return isinstance(config, Mapping) and "backend" in config


def run_of(entry: Mapping[str, Any]) -> StateRun:
    """Return a line that has no problems as a run."""
    jobs_before = entry.get("jobs_before_in_this_cluster")
    steady = [
        one["trigger_ms"]
        for one in entry.get("checkpoints") or ()
        if one.get("phase") == "first_steady"
    ]
    return StateRun(
        run_id=entry["run_id"],
        cell_id=entry.get("cell") or entry["run_id"],
        family=entry.get("family") or "-",
        config=entry["config"],
        jobs_before=_WARM if jobs_before is None else int(jobs_before),
        phase_ms=float(steady[0]) if steady else None,
        steady=entry.get("steady") or {},
        recovery=entry.get("recovery") or {},
    )


SOURCE, OPERATOR = "src", "op"
_MS = 1_000_000
_US = 1_000
_WIRE_BYTES = 29  # around the payload of a record, as measured: 45 with 16
_PAYLOAD_BYTES = 16
_CORES = 2  # the measured machine
_COLD, _COLD_ALONE, _FIRST_JOBS = 2.3, 1.7, 8
_HEAP_FACTOR = 4 / 3  # found: 50 and 80 MB take 55 and 90 ms
_SOURCE_BYTES = 258  # measured: the part of a source
_FOREVER = 1_000_000
_RESTART_DELAY_MS = 1_000  # the engine's own


def steady_from_ms(config: Mapping[str, Any]) -> float:
    """Return when the steady phase begins: whole intervals, in which all state was uploaded."""
    interval_ms, limits = float(config["interval_ms"]), config.get("limits") or {}
    size = config["keys"] * (config["value_bytes"] + 16) / config["parallelism"]
    alone = limits.get("write_per_stream_bytes_per_s")
    host = limits.get("write_shared_bytes_per_s")
    longest_ms = 1_000 * size / alone if alone else 0.0
    if host:
        longest_ms = max(longest_ms, 1_000 * size * config["parallelism"] / host)
    return interval_ms * (2 + longest_ms // interval_ms)


def model_of(config: Mapping[str, Any], phase_ms: float | None) -> jobs.Job:
    """Return the job of a configuration. phase_ms: of a trigger, from the steady phase on."""
    begin_ms, interval_ms = steady_from_ms(config), float(config["interval_ms"])
    phase_ms = interval_ms / 2 if phase_ms is None else phase_ms
    cluster = config.get("cluster") or {}
    options = cluster.get("options") or {}
    debloat = str(options.get("taskmanager.network.memory.buffer-debloat.enabled", "")).lower()
    payload = int(config.get("payload") or _PAYLOAD_BYTES)
    return jobs.Job(
        plane=jobs.Plane.BUFFERS,
        vertices=_vertices(config, begin_ms),
        placement=jobs.PlacementKind.MAP,
        network=jobs.Network(record_bytes=payload + _WIRE_BYTES, debloat=debloat == "true"),
        checkpointing=jobs.Checkpointing(
            interval_ns=round(interval_ms * _MS),
            min_pause_ns=round(float(config.get("min_pause_ms") or 0) * _MS),
            first_trigger_ns=round((phase_ms % interval_ms or interval_ms) * _MS),
            tolerable_failures=_FOREVER,
        ),
        state=jobs.StateTable(
            backend=jobs.Backend.ROCKSDB if config["backend"] == "rocksdb" else jobs.Backend.HEAP,
            incremental=bool(config.get("incremental")),
            local_recovery=bool(config.get("local_recovery")),
        ),
        storage=_storage(config.get("limits") or {}),
        machine=jobs.Machine(cores=_CORES),
        restart=jobs.FixedDelay(
            delay_ns=round(float(config.get("restart_delay_ms", _RESTART_DELAY_MS)) * _MS)
        ),
        recovery=_recovery(options),
        duration_ns=round((begin_ms + float(config["steady_ms"])) * _MS),
    )


def machine_of(config: Mapping[str, Any], jobs_before: int) -> Constants:
    """Return what the measured machine costs, on which state is serialised more slowly.

    jobs_before: in the same processes.  First jobs are slow: their code is not compiled, and memory
    is touched for the first time.  Found: one process runs all jobs of families I and S.  Work for
    state takes 2.7 times as long there in the first eight.  In processes of one or two slots the
    first job is slow in Java code, and the fourth is as usual.
    """
    slow = 1.0
    if config.get("cluster"):
        factor = 1 + _COLD / 2**jobs_before
    else:
        factor = slow = 1 + _COLD_ALONE * (jobs_before < _FIRST_JOBS)
    return replace(
        PLAIN,
        state_ns_per_mb=round(_HEAP_FACTOR * factor * PLAIN.state_ns_per_mb),
        sst_ns_per_mb=round(factor * PLAIN.sst_ns_per_mb),
        flush_ns=round(slow * PLAIN.flush_ns),
        flush_ns_per_mb=round(slow * PLAIN.flush_ns_per_mb),
        update_ns=round(slow * PLAIN.update_ns),
    )


def _vertices(config: Mapping[str, Any], begin_ms: float) -> tuple[jobs.Vertex, ...]:
    count, kind = int(config["parallelism"]), config["kind"]
    cluster = config.get("cluster") or {}
    slots = int(cluster.get("slots") or count)
    places = tuple(subtask // slots for subtask in range(count))
    rate = config.get("records_per_s")
    begins = jobs.RateChange(at_ns=round(begin_ms * _MS), factor=1.0)
    pauses = (jobs.RateChange(at_ns=0, factor=0.0), begins) if rate else ()
    source = jobs.Vertex(
        name=SOURCE,
        kind=jobs.VertexKind.SOURCE,
        parallelism=count,
        rate_per_s=None if rate is None else float(rate),
        rate_changes=pauses,
        subtask_state_bytes=(_SOURCE_BYTES,) * count,
        task_managers=places,
    )
    own = float(config.get("operator_state_bytes_per_subtask") or 0)
    partitioner = {"keyed": jobs.Partitioner.HASH, "forward": jobs.Partitioner.FORWARD}
    behind = OPERATOR if kind != "flat" else "flat"
    flat = jobs.Vertex(
        name="flat",
        parallelism=count,
        inputs=(jobs.Input(upstream=SOURCE, partitioner=jobs.Partitioner.REBALANCE),),
        service_ns=0,
        selectivity=float(config.get("flat_out") or 1),
        task_managers=places,
    )
    upstream = SOURCE if behind == OPERATOR else flat.name
    way = partitioner.get(kind, jobs.Partitioner.REBALANCE)
    operator = jobs.Vertex(
        name=OPERATOR,
        parallelism=count,
        inputs=(jobs.Input(upstream=upstream, partitioner=way),),
        service_ns=round(float(config.get("service_us") or 0) * _US),
        keys=int(config["keys"]) if kind == "keyed" and config["value_bytes"] else None,
        value_bytes=int(config["value_bytes"]),
        hot_share=float(config.get("hot_share") or 0),
        hot_keys=int(config.get("hot_keys") or 0),
        state_bytes=round(own * count),
        task_managers=places,
    )
    return (source, operator) if behind == OPERATOR else (source, flat, operator)


def _storage(limits: Mapping[str, Any]) -> jobs.Storage:
    def whole(key: str) -> int | None:
        value = limits.get(key)
        return None if value is None else max(1, int(value))

    def ns(key: str) -> int:
        return round(float(limits.get(key) or 0) * _MS)

    requests = limits.get("max_requests_per_s")
    return jobs.Storage(
        write_bytes_per_s=whole("write_per_stream_bytes_per_s"),
        write_host_bytes_per_s=whole("write_shared_bytes_per_s"),
        read_bytes_per_s=whole("read_per_stream_bytes_per_s"),
        read_host_bytes_per_s=whole("read_shared_bytes_per_s"),
        create_latency_ns=ns("create_latency_ms"),
        open_latency_ns=ns("open_latency_ms"),
        requests_per_s=None if requests is None else float(requests),
    )


def _recovery(options: Mapping[str, Any]) -> jobs.Recovery:
    usual = jobs.Recovery()

    def ns(key: str, default: int) -> int:
        value = options.get(key)
        return default if value is None else round(float(value) * _MS)

    return jobs.Recovery(
        timed=True,
        heartbeat_interval_ns=ns("heartbeat.interval", usual.heartbeat_interval_ns),
        heartbeat_timeout_ns=ns("heartbeat.timeout", usual.heartbeat_timeout_ns),
    )
