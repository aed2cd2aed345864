"""Turn the `config` of a measured Flink run into the parameters of a simulated job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ckptsim.scenarios import job as jobs

_MS = 1_000_000
_US = 1_000
_SHARED = "all streams together"
_RESTART_DELAY_MS = 1_000  # the engine's own


def model_of(
    config: Mapping[str, Any],
    *,
    first_trigger_ns: int | None = None,
    checkpoints: int | None = None,
    stops_ns: Mapping[str, int] | None = None,
    duration_ns: int,
) -> jobs.Job:
    """Return the job that a measured configuration describes.

    first_trigger_ns: the coordinator's phase, which Flink draws at random. checkpoints: completed
    ones after which the run ends. stops_ns: per source, when it ended, where that is known better
    than by the configuration.

    Raises KeyError, TypeError or ValueError for a configuration that is not in the schema.
    """
    return jobs.Job(
        plane=jobs.Plane.BUFFERS,
        vertices=(
            *(_source(entry, stops_ns or {}) for entry in config["sources"]),
            *(_operator(entry, config) for entry in config["operators"]),
        ),
        placement=jobs.PlacementKind(config["placement"]),
        network=_network(config),
        checkpointing=_checkpointing(config["checkpoint"], first_trigger_ns, checkpoints),
        storage=_storage(config.get("storage") or {}),
        restart=jobs.NoRestart(),
        duration_ns=duration_ns,
    )


def recovering_model_of(config: Mapping[str, Any], *, duration_ns: int) -> jobs.Job:
    """Return the recovering job of a measured configuration. Raises as `model_of` does."""
    model = model_of(config, duration_ns=duration_ns)
    rate = (config.get("storage") or {}).get("read_bytes_per_s_each_stream")
    read_bytes_per_s = None if rate is None else max(1, int(rate))
    restart = config.get("restart") or {}
    return replace(
        model,
        storage=replace(model.storage, read_bytes_per_s=read_bytes_per_s),
        restart=jobs.FixedDelay(delay_ns=_ns(restart.get("delay_ms", _RESTART_DELAY_MS))),
        recovery=jobs.Recovery(timed=True),
    )


def _source(entry: Mapping[str, Any], stops_ns: Mapping[str, int]) -> jobs.Vertex:
    stop, clock = entry.get("stops_after_ms"), entry.get("rate_per_s_total")
    stop_ns = stops_ns.get(entry["name"], None if stop is None else max(1, _ns(stop)))
    return jobs.Vertex(
        name=entry["name"],
        kind=jobs.VertexKind.SOURCE,
        parallelism=int(entry["parallelism"]),
        rate_per_s=_optional_float(entry.get("rate_limit_per_s_total", clock)),
        replayable=clock is not None,
        in_step=clock is not None,
        hot_ratio=min(1.0, float(entry.get("hot_fraction_to_subtask0") or 0)),
        ends_at_ns=stop_ns,
    )


def _operator(entry: Mapping[str, Any], config: Mapping[str, Any]) -> jobs.Vertex:
    inputs = tuple(
        jobs.Input(upstream=edge["from"], partitioner=_partitioner(edge["partitioner"]))
        for edge in entry["inputs"]
    )
    return jobs.Vertex(
        name=entry["name"],
        parallelism=int(entry["parallelism"]),
        inputs=inputs,
        two_input=len(inputs) == 2 and config.get("two_input_merge") == "connect",
        service_ns=round(float(entry["service_time_us"]) * _US),
        slow_subtask_factor=float(entry.get("slow_subtask0_factor") or 1),
        state_bytes=int(entry.get("state_bytes_total") or 0),
    )


def _partitioner(name: str) -> jobs.Partitioner:
    """Return the partitioner that a measurement names by the method of Flink's API."""
    return jobs.Partitioner.HASH if name == "keyBy" else jobs.Partitioner(name)


def _network(config: Mapping[str, Any]) -> jobs.Network:
    usual = jobs.Network()

    def whole(key: str, default: int) -> int:
        value = config.get(key)
        return default if value is None else int(value)

    timeout = config.get("buffer_timeout_ms")
    target = config.get("buffer_debloat_target_ms")
    return jobs.Network(
        record_bytes=int(config["record_bytes_on_wire"]),
        segment_bytes=whole("memory_segment_bytes", usual.segment_bytes),
        exclusive_buffers=whole("exclusive_buffers_per_channel", usual.exclusive_buffers),
        floating_buffers=whole("floating_buffers_per_gate", usual.floating_buffers),
        max_buffers_per_channel=whole("max_buffers_per_channel", usual.max_buffers_per_channel),
        max_overdraft_buffers=whole("max_overdraft_buffers_per_gate", usual.max_overdraft_buffers),
        buffer_timeout_ns=usual.buffer_timeout_ns if timeout is None else _flush_ns(timeout),
        debloat=bool(config.get("buffer_debloat_enabled") or False),
        debloat_target_ns=usual.debloat_target_ns if target is None else _ns(target),
    )


def _checkpointing(
    entry: Mapping[str, Any], first_trigger_ns: int | None, checkpoints: int | None
) -> jobs.Checkpointing:
    return jobs.Checkpointing(
        mode=jobs.Mode(entry["mode"]),
        aligned_timeout_ns=_ns(entry.get("aligned_timeout_ms")),
        interval_ns=_ns(entry["interval_ms"]),
        min_pause_ns=_ns(entry.get("min_pause_ms")),
        max_concurrent=int(entry.get("max_concurrent") or 1),
        tolerable_failures=1_000_000,
        first_trigger_ns=first_trigger_ns,
        count=checkpoints,
    )


def _storage(entry: Mapping[str, Any]) -> jobs.Storage:
    rate = entry.get("write_bytes_per_s")
    inline = entry.get("inline_threshold_bytes")
    return jobs.Storage(
        write_bytes_per_s=None if rate is None else max(1, int(rate)),
        shared_limit=entry.get("limit_scope") == _SHARED,
        create_latency_ns=_ns(entry.get("create_latency_ms")),
        inline_threshold_bytes=jobs.Storage().inline_threshold_bytes
        if inline is None
        else int(inline),
    )


def _flush_ns(timeout_ms: float) -> int:
    """Return the flush interval: 0 for never, and 1 ms (assumption) for after every record."""
    return 0 if timeout_ms < 0 else max(_MS, _ns(timeout_ms))


def _ns(milliseconds: float | None) -> int:
    return round((milliseconds or 0) * _MS)


def _optional_float(value: object) -> float | None:
    return None if value is None else float(str(value))
