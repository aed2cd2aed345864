"""Turn the `config` of a measured Flink run into the parameters of a simulated job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scenarios.dataflow import (
    CheckpointMode,
    CheckpointTable,
    DataflowModel,
    InputTable,
    NetworkTable,
    OperatorTable,
    Partitioner,
    PlacementKind,
    SourceTable,
    StorageTable,
)

_MS = 1_000_000
_US = 1_000
_SHARED = "all streams together"


def model_of(
    config: Mapping[str, Any],
    *,
    first_trigger_ns: int | None = None,
    checkpoints: int | None = None,
    stops_ns: Mapping[str, int] | None = None,
    duration_ns: int,
) -> DataflowModel:
    """Return the job that a measured configuration describes.

    first_trigger_ns: the coordinator's phase, which Flink draws at random; checkpoints: completed
    ones after which the run ends; stops_ns: per source, when it ended, where that is known better
    than by the configuration.

    Raises KeyError, TypeError or ValueError for a configuration that is not in the schema.
    """
    return DataflowModel(
        sources=tuple(_source(entry, stops_ns or {}) for entry in config["sources"]),
        operators=tuple(_operator(entry, config) for entry in config["operators"]),
        placement=PlacementKind(config["placement"]),
        network=_network(config),
        checkpoint=_checkpoint(config["checkpoint"], first_trigger_ns, checkpoints),
        storage=_storage(config["storage"]),
        duration_ns=duration_ns,
    )


def _source(entry: Mapping[str, Any], stops_ns: Mapping[str, int]) -> SourceTable:
    stop = entry.get("stops_after_ms")
    stop_ns = stops_ns.get(entry["name"], None if stop is None else int(stop) * _MS)
    return SourceTable(
        name=entry["name"],
        parallelism=int(entry["parallelism"]),
        rate_per_s=_optional_float(entry.get("rate_limit_per_s_total")),
        hot_ratio=float(entry.get("hot_fraction_to_subtask0") or 0),
        stop_after_ns=stop_ns,
    )


def _operator(entry: Mapping[str, Any], config: Mapping[str, Any]) -> OperatorTable:
    inputs = tuple(
        InputTable(upstream=edge["from"], partitioner=Partitioner(edge["partitioner"]))
        for edge in entry["inputs"]
    )
    return OperatorTable(
        name=entry["name"],
        parallelism=int(entry["parallelism"]),
        inputs=inputs,
        two_input=len(inputs) == 2 and config.get("two_input_merge") == "connect",
        service_ns=round(float(entry["service_time_us"]) * _US),
        slow_subtask_factor=float(entry.get("slow_subtask0_factor") or 1),
        state_bytes=int(entry.get("state_bytes_total") or 0),
    )


def _network(config: Mapping[str, Any]) -> NetworkTable:
    timeout = int(config["buffer_timeout_ms"])
    return NetworkTable(
        record_bytes=int(config["record_bytes_on_wire"]),
        segment_bytes=int(config["memory_segment_bytes"]),
        exclusive_buffers=int(config["exclusive_buffers_per_channel"]),
        floating_buffers=int(config["floating_buffers_per_gate"]),
        max_buffers_per_channel=int(config["max_buffers_per_channel"]),
        max_overdraft_buffers=int(config["max_overdraft_buffers_per_gate"]),
        buffer_timeout_ns=max(0, timeout) * _MS,
        debloat=bool(config["buffer_debloat_enabled"]),
        debloat_target_ns=int(config["buffer_debloat_target_ms"]) * _MS,
    )


def _checkpoint(
    entry: Mapping[str, Any], first_trigger_ns: int | None, checkpoints: int | None
) -> CheckpointTable:
    return CheckpointTable(
        mode=CheckpointMode(entry["mode"]),
        aligned_timeout_ns=int(entry.get("aligned_timeout_ms") or 0) * _MS,
        interval_ns=int(entry["interval_ms"]) * _MS,
        min_pause_ns=int(entry.get("min_pause_ms") or 0) * _MS,
        max_concurrent=int(entry.get("max_concurrent") or 1),
        tolerable_failures=1_000_000,
        first_trigger_ns=first_trigger_ns,
        count=checkpoints,
    )


def _storage(entry: Mapping[str, Any]) -> StorageTable:
    rate = entry.get("write_bytes_per_s")
    return StorageTable(
        write_bytes_per_s=None if rate is None else int(rate),
        shared_limit=entry.get("limit_scope") == _SHARED,
        create_latency_ns=int(entry.get("create_latency_ms") or 0) * _MS,
        inline_threshold_bytes=int(entry.get("inline_threshold_bytes", 20_480)),
    )


def _optional_float(value: object) -> float | None:
    return None if value is None else float(str(value))
